"""``kill -9`` at each step of a turn: nothing is lost, nothing is said twice.

A real ``serve`` is brought to an exact step by a server that holds its answer, killed there and
started again. What counts is what the servers were asked and what the chats show. The one named
exception: a kill between a send and its receipt leaves one short notice that offers the message
again.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.journeys.scene import (
    CHAT,
    NOTICE,
    SHOW_AGAIN,
    Scene,
    all_notices,
    answer,
    answers,
    mark,
    notices,
    scene,
)
from tests.servers.faults import Stage
from tests.servers.openai import Reply, ToolCall
from tests.servers.telegram.shown import Shown

BERLIN = ZoneInfo("Europe/Berlin")
ROUNDS = 3
"""Of the random kills."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """One installation for all kills; every test brings learners of its own."""
    with scene(tmp_path_factory.mktemp("kills")) as one:
        yield one


@pytest.fixture
def house(stage: Scene) -> Iterator[Scene]:
    """The running ``serve``; a failed test leaves the next one nothing behind."""
    stage.ready()
    yield stage
    stage.tidy()


def assert_answered_once(house: Scene, *questions: Shown) -> None:
    """One answer, no notice, and the journal tells it once."""
    for question in questions:
        assert len(answers(question)) == 1
        assert notices(question) == []
        assert house.journal(f"asked: {question.text}") == 1
        assert house.journal(f"answered: {answer(question)}") == 1


def assert_offered_again(house: Scene, question: Shown, *, shown: int) -> None:
    """One notice below the question, whose button shows the answer; the journal tells it once."""
    assert len(answers(question)) == shown
    (notice,) = notices(question)
    assert notice.labels == [SHOW_AGAIN]
    assert house.journal(f"asked: {question.text}") == 1
    assert house.journal(f"answered: {answer(question)}") == 1
    question.chat.press(notice, SHOW_AGAIN).wait_answered_blocking()
    question.chat.wait_message_blocking(lambda m: m.text == answer(question), after=notice)


# --- before the answer is written ---------------------------------------------------------------


def test_killed_before_an_update_arrives(house: Scene) -> None:
    ada = house.learner()
    house.kill()
    poll = house.hold("getUpdates")
    house.start()
    question = ada.say(house.question())
    poll.wait_reached_blocking()
    house.restart()
    house.settled(ada)
    assert_answered_once(house, question)


def test_killed_before_the_commit(house: Scene) -> None:
    ada = house.learner()
    with house.database_held():
        question = ada.say(house.question())
        house.telegram.wait_for_blocking(lambda: _was_delivered(house, question))
        with pytest.raises(TimeoutError):  # as long as the commit waits, so does the platform
            house.telegram.wait_for_blocking(
                lambda: question.update not in house.telegram.pending_updates, within=0.5
            )
        house.kill()
    house.start()
    house.settled(ada)
    assert_answered_once(house, question)


def _was_delivered(house: Scene, message: Shown) -> bool:
    polls = house.telegram.requests_of("getUpdates")
    return any(message.update in poll.answer.get("result", ()) for poll in polls if poll.answer)


def test_killed_after_the_commit_and_before_the_platform_hears_of_it(house: Scene) -> None:
    ada = house.learner()
    confirmation = house.hold("getUpdates", stage=Stage.REQUEST)
    model = house.hold_model()
    question = ada.say(house.question())
    model.wait_reached_blocking()
    confirmation.wait_reached_blocking()
    assert question.update in house.telegram.pending_updates
    house.restart()
    house.settled(ada)
    assert_answered_once(house, question)


def test_killed_in_the_middle_of_turns(house: Scene) -> None:
    """The model silent, speaking, between two rounds; turns side by side, one waiting behind."""
    silent, speaking, rounds = (house.learner(name) for name in ("Ada", "Ben", "Eve"))
    model = house.hold_model()
    first = silent.say(house.question())
    model.wait_reached_blocking()

    word = house.kept_gate()
    house.openai.script(Reply.hanging(word, "Half of an answer that", after=3, chunks=6))
    second = speaking.say(house.question())
    word.wait_reached_blocking()

    round_two = house.kept_gate()
    house.openai.script(Reply.calls(ToolCall("current_time")), Reply.hanging(round_two, "unsaid"))
    third = rounds.say(house.question())
    assert round_two.wait_reached_blocking().json["messages"][-1]["role"] == "tool"

    behind = silent.say(house.question())
    house.telegram.wait_for_blocking(lambda: behind.update not in house.telegram.pending_updates)
    house.restart()
    for person in (silent, speaking, rounds):
        house.settled(person)
    assert_answered_once(house, first, behind, second, third)
    assert answers(first)[0].message_id < answers(behind)[0].message_id
    assert not [m for m in speaking.private.from_bot if "Half of" in m.text]


# --- while the answer is sent -------------------------------------------------------------------


def test_killed_in_the_middle_of_sends(house: Scene) -> None:
    """Before a message took effect, before the receipt of one that is shown, between two parts."""
    lost, shown, longer = (house.learner(name) for name in ("Ada", "Ben", "Eve"))
    send = house.hold_send(lost.private, stage=Stage.REQUEST)
    unseen = lost.say(house.question())
    send.wait_reached_blocking()

    send = house.hold_send(shown.private)
    seen = shown.say(house.question())
    send.wait_reached_blocking()

    paragraphs = [f"Paragraph {n}. {'It goes on and on. ' * 60}" for n in range(1, 9)]
    house.openai.script(Reply("\n\n".join(paragraphs), chunks=8))
    send = house.hold_send(longer.private, part="Paragraph 5.")
    longer.say(house.question())
    send.wait_reached_blocking()

    asked = len(house.openai.chats)
    house.kill()
    notice = house.hold_send(shown.private)  # the notice is killed in its turn, and not repeated
    house.start()
    notice.wait_reached_blocking()
    for person in (lost, longer):  # theirs are told before the next kill
        person.private.wait_message_blocking(lambda m: m.text == NOTICE)
    house.restart()
    for person in (lost, shown, longer):
        house.settled(person)
    assert len(house.openai.chats) == asked
    assert_offered_again(house, unseen, shown=0)
    assert_offered_again(house, seen, shown=1)

    whole = "".join(m.text for m in longer.private.from_bot)
    assert whole.count("Paragraph 1.") == 1
    assert whole.count("Paragraph 5.") == 1
    (below,) = all_notices(longer.private)
    longer.private.press(below, SHOW_AGAIN)
    longer.private.wait_message_blocking(lambda m: "Paragraph 8." in m.text, after=below)
    again = "".join(m.text for m in longer.private.from_bot if m.message_id > below.message_id)
    assert [n for n in range(1, 9) if again.count(f"Paragraph {n}.") == 1] == [*range(1, 9)]


# --- commands, buttons, reminders ---------------------------------------------------------------


def test_killed_in_the_middle_of_a_command_and_a_button(house: Scene) -> None:
    """A card is saved once, a grade counts once; an edit may be repeated and shows once."""
    ada, ben = house.learner(), house.learner("Ben")
    reviewed = mark(house.question())
    ben.say(f"/add {reviewed} :: because")
    ben.say("/review")
    asked = ben.private.wait_message_blocking(lambda m: "Show answer" in m.labels)
    ben.private.press(asked, "Show answer")
    shown = ben.private.wait_message_blocking(lambda m: len(m.buttons) == 5)
    edit = house.hold_edit(ben.private, stage=Stage.REQUEST)
    ben.private.press(shown, shown.labels[2])
    edit.wait_reached_blocking()

    added = mark(house.question())
    send = house.hold_send(ada.private)
    ada.say(f"/add {added} :: because")
    send.wait_reached_blocking()

    house.restart()
    ada.say("/due")
    ada.private.wait_message_blocking(lambda m: "1 question is waiting." in m.text)
    assert len([m for m in ada.private.from_bot if m.text.startswith("Saved.")]) == 1
    assert len(all_notices(ada.private)) == 1
    assert house.journal(f"saved a card: {added}") == 1

    ended = ben.private.wait_message_blocking(lambda m: "Done for today: 1 of 1." in m.text)
    assert ended.message_id == asked.message_id
    house.settled(ben)
    assert all_notices(ben.private) == []
    assert house.journal(f"reviewed: {reviewed}") == 1


def test_a_reminder_planned_while_nobody_serves_comes_once(house: Scene) -> None:
    ada, ben = house.learner(), house.learner("Ben")
    front = mark(house.question())
    for person in (ada, ben):
        person.say(f"/add {front} :: because")
        house.settled(person)
    house.stop()
    due = _tomorrow_at_nine()
    assert "until `partners serve` runs" in house.installation.say("nudge", "--as-of", due)
    send = house.hold_send(ada.private)
    house.start()
    send.wait_reached_blocking()
    ben.private.wait_message_blocking(lambda m: "Show answer" in m.labels)
    house.settled(ben)
    house.restart()
    assert "0 reminders" in house.installation.say("nudge", "--as-of", due)
    for person in (ada, ben):
        house.settled(person)
        asked = [m for m in person.private.from_bot if "Show answer" in m.labels]
        assert len(asked) == 1
        assert front in asked[0].text
    # What answers nobody's message is below no message.
    (notice,) = [m for m in all_notices(ada.private) if m.reply_to is None]
    assert [m for m in all_notices(ben.private) if m.reply_to is None] == []
    ada.private.press(notice, SHOW_AGAIN)
    ada.private.wait_message_blocking(lambda m: front in m.text, after=notice)


def _tomorrow_at_nine() -> str:
    now = datetime.now(BERLIN)
    day = (now - timedelta(hours=4)).date() + timedelta(days=1)
    return datetime(day.year, day.month, day.day, 9, 5, tzinfo=BERLIN).isoformat()


# --- at any moment ------------------------------------------------------------------------------


def test_killed_at_random_moments_of_a_burst(house: Scene) -> None:
    """Also between steps that no server sees; the seed names the moments of a failing run."""
    chance = random.Random(20261201)
    people = [house.learner(name) for name in ("Ada", "Ben", "Eve", "Kim")]
    house.telegram.delay("sendMessage", 0.03, times=None)
    house.openai.delay(CHAT, 0.03, times=None)
    steps = [
        (house.telegram, "sendChatAction"),
        (house.openai, CHAT),
        (house.telegram, "sendMessage"),
        (house.telegram, "sendMessage"),
    ]
    questions: list[Shown] = []
    for _ in range(ROUNDS):
        server, step = chance.choice(steps)
        count = len(server.requests_of(step)) + chance.randint(1, len(people))
        questions += [person.say(house.question()) for person in people]
        server.wait_request_blocking(step, count=count, within=30)
        time.sleep(chance.random() * 0.05)  # the kill itself is what is random here
        house.restart()
    for person in people:
        house.settled(person)
    for question in questions:
        told, offered = answers(question), notices(question)
        assert len(told) == 1 or (not told and len(offered) == 1), question.text
        assert len(offered) <= 1
        assert house.journal(f"asked: {question.text}") == 1
        assert house.journal(f"answered: {answer(question)}") == 1
    for person in people:
        for notice in all_notices(person.private):
            person.private.press(notice, SHOW_AGAIN).wait_answered_blocking()
        house.settled(person)
    for question in questions:
        assert [m for m in question.chat.from_bot if m.text == answer(question)]
