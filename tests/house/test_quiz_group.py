"""Quizzes in a group: one question for all, answers that nobody sees, a result in numbers."""

from __future__ import annotations

import json

import pytest
from sqlmodel import col, select

from core.learning.evidence import read
from core.store.tables import Card, QuizAnswer
from tests.house.home import Home
from tests.house.test_quiz import CHOICE, OTHER, letter, written
from tests.servers.openai import OpenAIServer
from tests.servers.telegram import Chat, Person, Shown, TelegramServer

WATER = {**CHOICE, "question": "What crosses the membrane?", "right": "water", "hint": ""}


class Group:
    """Ada, Bea and Cleo study together."""

    def __init__(self, home: Home, telegram: TelegramServer, openai: OpenAIServer) -> None:
        self.home, self.openai = home, openai
        self.ada, self.bea, self.cleo = (
            telegram.user(n, name) for n, name in ((7, "Ada"), (8, "Bea"), (9, "Cleo"))
        )
        self.chat: Chat = telegram.supergroup()

    async def begin(self, *drafts: object) -> Shown:
        self.openai.script(written(*(drafts or (CHOICE, WATER))))
        [shown] = await self.home.ask(
            self.chat, self.ada, f"/quiz@tutor_bot cells {len(drafts) or 2}"
        )
        return shown

    async def press(self, shown: Shown, button: str, person: Person) -> tuple[Shown, list[Shown]]:
        self.home.clock.advance(seconds=10)
        return await self.home.press(shown, button, person)

    async def right(self, person: Person) -> list[bool]:
        learner = await self.home.learner(person)
        rows = await self.home.read(lambda session: read(session, learner))
        return [row.correct for row in sorted(rows, key=lambda row: row.at)]


@pytest.fixture
def group(home: Home, telegram: TelegramServer, openai: OpenAIServer) -> Group:
    return Group(home, telegram, openai)


async def test_a_question_is_for_all_and_its_answers_are_nobodys_to_see(group: Group) -> None:
    first = await group.begin()
    assert first.text.startswith("1/2 Where is ATP made?")
    assert "Nobody sees what you chose" in first.text
    one, more = await group.press(first, letter(first, "mitochondria"), group.bea)
    assert more == []
    assert "1 has answered." in one.text
    two, more = await group.press(one, letter(one, "vacuoles"), group.cleo)
    assert more == []
    assert "2 have answered." in two.text
    for shown in (one, two):
        assert "Bea" not in shown.text and "Cleo" not in shown.text
        assert "Respiration" not in shown.text
    closed, more = await group.press(two, "Close and go on", group.ada)
    assert more == []
    assert "mitochondria" in closed.text
    assert "1 of 2 had it." in closed.text
    assert "2/2 What crosses the membrane?" in closed.text
    assert "Bea" not in closed.text and "Cleo" not in closed.text
    end, _ = await group.press(closed, "Close and go on", group.ada)
    assert "Nobody answered this one." in end.text
    assert "Together you had 1 of 2 right." in end.text
    assert end.labels == []
    assert await group.right(group.bea) == [True]
    assert await group.right(group.cleo) == [False]
    assert await group.right(group.ada) == []
    assert await group.home.read(lambda s: list(s.exec(select(Card)))) == []


async def test_the_last_choice_before_it_closes_counts_once(group: Group) -> None:
    shown = await group.begin()
    for option in ("vacuoles", "vacuoles", "mitochondria"):
        shown, more = await group.press(shown, letter(shown, option), group.bea)
        assert more == []
        assert "1 has answered." in shown.text
    late = shown
    shown, _ = await group.press(shown, "Close and go on", group.ada)
    assert await group.right(group.bea) == [True]
    [said] = await group.home.press_forged(group.bea, late, late.buttons[0]["callback_data"])
    assert "closed already" in said.text
    assert await group.right(group.bea) == [True]


async def test_only_who_asked_closes_and_stops(group: Group) -> None:
    shown = await group.begin()
    _, [said] = await group.press(shown, "Close and go on", group.bea)
    assert "one who asked" in said.text
    [said] = await group.home.ask(group.chat, group.bea, "/quiz@tutor_bot stop")
    assert "one who asked" in said.text
    [said] = await group.home.ask(group.chat, group.bea, "/quiz@tutor_bot")
    assert said.text.startswith("1/2")
    [said] = await group.home.ask(group.chat, group.ada, "/quiz@tutor_bot stop")
    assert said.text == "Stopped."
    _, [said] = await group.press(shown, letter(shown, "vacuoles"), group.bea)
    assert "over" in said.text
    for text in ("/quiz@tutor_bot stop", "/quiz@tutor_bot"):
        [said] = await group.home.ask(group.chat, group.ada, text)
        assert "ATP" not in said.text


async def test_a_group_is_asked_by_choices_and_told_nothing_of_the_asker(group: Group) -> None:
    group.openai.script(written(OTHER))
    await group.home.tell(group.ada, "/quiz speeds 1")
    await group.home.tell(group.ada, "/remember canary")
    await group.begin()
    system, *rest = group.home.prompts[-1].json["messages"]
    asked = json.dumps([system, *rest])
    assert '\\"kind\\": \\"choice\\"' in asked
    assert '\\"kind\\": \\"free\\"' not in asked
    assert "72 km/h" not in asked
    assert "canary" not in asked
    assert "Not these again" not in asked


async def test_words_in_the_group_are_no_answers(group: Group) -> None:
    shown = await group.begin()
    [said] = await group.home.ask(group.chat, group.bea, "@tutor_bot mitochondria", reply_to=shown)
    assert "Go on." in said.text
    rows = await group.home.read(lambda s: list(s.exec(select(QuizAnswer))))
    assert rows == []


async def test_a_private_quiz_and_one_of_a_group_do_not_meet(group: Group) -> None:
    shown = await group.begin()
    group.openai.script(written(OTHER))
    private = await group.home.tell(group.ada, "/quiz speeds 1")
    action = shown.buttons[0]["callback_data"]
    [said] = await group.home.press_forged(group.ada, private, action)
    assert "over" in said.text
    [said] = await group.home.press_forged(group.ada, shown, private.buttons[0]["callback_data"])
    assert "over" in said.text
    assert "Done. All 1 right." in (await group.home.tell(group.ada, "20 m/s")).text
    assert "1 has answered." in (await group.press(shown, "A", group.ada))[0].text


async def test_a_restart_keeps_what_was_answered(group: Group) -> None:
    shown = await group.begin()
    shown, _ = await group.press(shown, letter(shown, "mitochondria"), group.bea)
    await group.home.restart()
    shown, _ = await group.press(shown, letter(shown, "mitochondria"), group.cleo)
    assert "2 have answered." in shown.text
    shown, _ = await group.press(shown, "Close and go on", group.ada)
    assert "2 of 2 had it." in shown.text
    nth = await group.home.read(
        lambda s: list(s.exec(select(QuizAnswer.verdict).order_by(col(QuizAnswer.learner_id))))
    )
    assert nth == ["right", "right"]
