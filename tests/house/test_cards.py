"""Cards in the chat: saving, reviewing, reminders, and hands that are not the learner's."""

from __future__ import annotations

from sqlmodel import col, select, update

from core.store.tables import Card, Learner, Outgoing, Review
from tests.house.home import Home
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import Person, TelegramServer


async def _cards(home: Home, person: Person) -> list[Card]:
    learner = await home.learner(person)
    chosen = select(Card).where(Card.learner_id == learner).order_by(col(Card.id))
    return await home.read(lambda s: list(s.exec(chosen).all()))


async def _reviews(home: Home) -> list[Review]:
    return await home.read(lambda s: list(s.exec(select(Review)).all()))


NO_CARDS = [
    ("", "with :: between them"),
    ("what is 7 x 8?", "can't tell the question from the answer"),
    (":: 56", "The question is missing"),
    ("what is 7 x 8? ::", "The answer is missing"),
    ("q" * 501 + " :: 56", "longer than 500 characters"),
    ("what? :: " + "a" * 1501, "longer than 1500 characters"),
    ("a : b", "can't tell the question from the answer"),
]


async def test_what_is_no_card_is_told_in_one_sentence(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    for arguments, sentence in NO_CARDS:
        assert sentence in (await home.tell(ada, f"/add {arguments}")).text, arguments
    assert await _cards(home, ada) == []


CARDS = [
    ("What is 7 × 8? :: 56", "What is 7 × 8?", "56"),
    ("七乘八等于几？：：五十六", "七乘八等于几？", "五十六"),
    ("std::vector :: a container", "std::vector", "a container"),
    ("Line one\nline two\n::\nx = 1\ny = 2", "Line one\nline two", "x = 1\ny = 2"),
    ("emoji 🦓? :: `code` & <b>", "emoji 🦓?", "`code` & <b>"),
]


async def test_a_card_is_read_in_every_way_people_write_one(
    home: Home, telegram: TelegramServer
) -> None:
    for number, (arguments, front, back) in enumerate(CARDS):
        ada = telegram.user(7 + number, "Ada")
        assert "Saved" in (await home.tell(ada, f"/add {arguments}")).text
        [card] = await _cards(home, ada)
        assert (card.front, card.back) == (front, back)
        question = await home.tell(ada, "/review")
        assert question.text.startswith("1/1")
        shown, _ = await home.press(question, "Show answer")
        for line in (*front.split("\n"), *back.replace("`", "").split("\n")):
            assert line in shown.text


async def test_a_new_card_counts_the_same_wherever_a_count_is_told(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    openai.default = Reply("Try it.")
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/add one :: two")
    assert "1 question is waiting." in (await home.tell(ada, "/due")).text
    assert "1 question is due." in (await home.tell(ada, "/status")).text
    assert "1 question is due." in (await home.tell(ada, "/memory")).text
    await home.tell(ada, "what shall I do?")
    assert "Cards due for review today: 1" in str(openai.chats[-1].json["messages"])


async def _spoil(at: Home, person: Person, **values: object) -> None:
    """Put into a learner's row what no door of ours would."""
    learner = await at.learner(person)
    chosen = update(Learner).where(col(Learner.id) == learner).values(**values)
    await at.store.write(lambda s: s.exec(chosen))


async def test_one_learner_whose_reminder_cannot_be_planned_holds_up_nobody_elses(
    home: Home, telegram: TelegramServer
) -> None:
    ada, ben = telegram.user(7, "Ada"), telegram.user(8, "Ben")
    await home.tell(ada, "/add Q :: A")
    await home.tell(ben, "/add Q :: A")
    await _spoil(home, ada, home="{")
    before = len(ben.private.from_bot)
    home.clock.advance(hours=24)
    assert (await home.house.sweep()).sent == 1
    await home.quiet()
    assert len(ben.private.from_bot) == before + 1


async def test_a_zone_that_this_machine_does_not_know_is_taken_for_utc(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/add Q :: A")
    await _spoil(home, ada, zone="Atlantis/Capital")
    assert (await home.tell(ada, "/due")).labels[0] == "Start"
    assert "UTC" in (await home.tell(ada, "/timezone")).text
    home.clock.advance(hours=24)  # 09:00 there
    await home.house.sweep()
    await home.quiet()
    assert "Show answer" in ada.private.from_bot[-1].labels
    assert "Europe/Paris" in (await home.tell(ada, "/timezone Paris")).text


async def test_only_the_first_card_tells_of_reminders(home: Home, telegram: TelegramServer) -> None:
    ada = telegram.user(7, "Ada")
    first = await home.tell(ada, "/add one :: two")
    assert "I'll ask you tomorrow at 09:00 (Europe/Berlin time)." in first.text
    assert first.labels == ["Change time", "No reminders", "Edit"]
    second = await home.tell(ada, "/add three :: four")
    assert second.text == "Saved. It is in /review at once."
    assert second.labels == ["Edit"]
    assert "have this card already" in (await home.tell(ada, "/add One  :: TWO.")).text
    assert len(await _cards(home, ada)) == 2


async def test_reminders_are_switched_off_on_and_to_another_hour_by_buttons(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")

    async def habits() -> tuple[bool, str]:
        learner_id = await home.learner(ada)
        learner = await home.read(lambda s: s.get_one(Learner, learner_id))
        return learner.reminders, learner.reminder_time

    message = await home.tell(ada, "/add one :: two")
    message, below = await home.press(message, "No reminders")
    assert ("No reminders, then." in message.text, below) == (True, [])
    assert await habits() == (False, "09:00")
    off = await home.tell(ada, "/due")
    assert "Reminders are off." in off.text
    assert off.labels == ["Start", "Turn reminders on"]
    home.clock.advance(days=2)
    await home.house.sweep()
    await home.quiet()
    assert ada.private.from_bot[-1].message_id == off.message_id, "off means off"
    message, _ = await home.press(message, "Turn reminders on")
    assert "When shall I come" in message.text
    message, _ = await home.press(message, "18:00")
    assert "I'll come at 18:00" in message.text
    assert await habits() == (True, "18:00")
    on = await home.tell(ada, "/due")
    assert "Next reminder: today at 18:00." in on.text
    assert on.labels == ["Start", "Change time", "No reminders"]
    home.clock.advance(hours=8)
    await home.house.sweep()
    await home.house.sweep()
    await home.quiet()
    [nudge] = [m for m in ada.private.from_bot if m.message_id > on.message_id]
    assert "one" in nudge.text
    assert nudge.labels == ["Show answer", "In an hour", "Change time", "No reminders"]


async def test_a_review_goes_to_its_end_in_one_message(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    for number in range(3):
        await home.tell(ada, f"/add question {number} :: answer {number}")
    message = await home.tell(ada, "/review")
    before = len(ada.private.from_bot)
    for number, grade in enumerate(("Again", "Hard", "Good")):
        assert f"{number + 1}/3" in message.text
        assert f"question {number}" in message.text
        assert f"answer {number}" not in message.text
        message, _ = await home.press(message, "Show answer")
        assert f"answer {number}" in message.text
        labels = [label.partition(" · ")[0] for label in message.labels]
        assert labels == ["Again", "Hard", "Good", "Easy", "Edit"]
        message, _ = await home.press(message, next(x for x in message.labels if grade in x))
        assert grade in message.text
    assert "Done for today: 3 of 3. The next ones come tomorrow." in message.text
    assert message.labels == []
    assert len(ada.private.from_bot) == before
    assert [review.rating for review in await _reviews(home)] == [1, 2, 3]
    assert (
        "Nothing is due now. The next ones come tomorrow." in (await home.tell(ada, "/review")).text
    )


async def test_a_double_tap_counts_once(home: Home, telegram: TelegramServer) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/add one :: two")
    question = await home.tell(ada, "/review")
    ada.private.press(question, "Show answer")
    ada.private.press(question, "Show answer")
    await home.quiet()
    shown = ada.private.now(question)
    for label in (shown.labels[2], shown.labels[2], shown.labels[3]):
        ada.private.press(shown, label)
    await home.quiet()
    assert [review.rating for review in await _reviews(home)] == [3]
    assert "Done for today" in ada.private.now(question).text


async def test_the_buttons_of_an_old_message_change_nothing(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/add one :: two")
    old = await home.tell(ada, "/review")
    message, _ = await home.press(await home.tell(ada, "/review"), "Show answer")
    await home.press(message, message.labels[2])
    _, [answer] = await home.press(old, "Show answer")
    assert "answered already" in answer.text
    assert len(await _reviews(home)) == 1
    home.clock.advance(days=30)
    _, [later] = await home.press(old, "Show answer")
    assert "answered already" in later.text


async def test_a_session_is_limited_and_says_so(home: Home, telegram: TelegramServer) -> None:
    ada = telegram.user(7, "Ada")
    for number in range(30):
        ada.say(f"/add question {number} :: answer {number}")
    await home.quiet()
    assert "20 questions are waiting." in (await home.tell(ada, "/due")).text
    message = await home.tell(ada, "/review")
    for number in range(20):
        assert f"{number + 1}/20" in message.text
        message, _ = await home.press(message, "Show answer")
        message, _ = await home.press(message, message.labels[3])
    assert "Done for today: 20 of 20." in message.text
    assert "enough for today" in (await home.tell(ada, "/review")).text
    assert len(await _reviews(home)) == 20
    home.clock.advance(days=1)
    assert "10 questions are waiting" in (await home.tell(ada, "/due")).text


async def test_without_cards_the_commands_show_the_way(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    for command in ("/due", "/review"):
        assert "Save one with /add" in (await home.tell(ada, command)).text


async def test_a_card_that_looks_like_markup_breaks_nothing(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    fronts = ["```", "**a", "[x](", "$\\frac{", "> q\n- l", "<b>", "# h", "|a|b|\n|-|-|", "\\", "&"]
    for front in fronts:
        await home.tell(ada, f"/add {front} :: answer of it")
    message = await home.tell(ada, "/review")
    for _ in fronts:
        message, _ = await home.press(message, "Show answer")
        assert "answer of it" in message.text
        message, _ = await home.press(message, message.labels[2])
    assert "Done for today" in message.text


async def test_nobody_reaches_the_cards_or_messages_of_another(
    home: Home, telegram: TelegramServer
) -> None:
    ada, eve, group = telegram.user(7, "Ada"), telegram.user(8, "Eve"), telegram.supergroup()
    await home.tell(ada, "/add zebra7? :: lion7")
    question = await home.tell(ada, "/review")
    shown, _ = await home.press(question, "Show answer")
    [card] = await _cards(home, ada)
    own = await home.tell(eve, "/start")
    outgoing = await home.read(lambda s: [row.id for row in s.exec(select(Outgoing)).all()])
    forged = [
        f"reveal:{card.id}:0:0",
        f"rate:{card.id}:0:3:0",
        "rate:::::",
        "rate:x:1:9:0",
        "reveal:",
        "reveal:x:99999999999999999999:-1",
        *(f"show:{one}" for one in outgoing[:2]),
        "show:",
        f"again:{ada.id}:1",
        "again:99999999999999999999999999",
        "reminder:at:25:99",
        "persona:../../etc/passwd",
        "language:xx",
        "timezone:../../etc/passwd",
        "gone:1",
        ":",
        "\U0001f993" * 16,
    ]
    for data in forged:
        answers = await home.press_forged(eve, own, data)
        assert answers, data
        for answer in answers:
            assert "zebra7" not in answer.text, data
            assert "lion7" not in answer.text, data
            assert "went wrong" not in answer.text, data
        [group_message] = await home.ask(group, eve, "/start@tutor_bot")
        for answer in await home.press_forged(eve, group_message, data):
            assert "zebra7" not in answer.text, data
    assert await _reviews(home) == []
    assert ada.private.now(shown).text == shown.text


async def test_another_person_in_a_group_presses_for_themself(
    home: Home, telegram: TelegramServer
) -> None:
    ada, eve, group = telegram.user(7, "Ada"), telegram.user(8, "Eve"), telegram.supergroup()
    [tutors] = await home.ask(group, ada, "/persona@tutor_bot")
    shown, [below] = await home.press(tutors, "Euler", eve)
    assert shown.text == tutors.text, "what was said to Ada stays as it is"
    assert "you learn with Euler" in below.text
    [still] = await home.ask(group, ada, "/persona@tutor_bot")
    assert "● Socrates" in still.text
    shown, more = await home.press(still, "Euler", ada)
    assert ("you learn with Euler" in shown.text, more) == (True, [])
    [languages] = await home.ask(group, ada, "/language@tutor_bot")
    await home.press(languages, "中文", eve)
    assert "ready" in (await home.tell(ada, "/status")).text
    assert "ready" not in (await home.tell(eve, "/status")).text
