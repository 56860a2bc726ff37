"""The learner's cards in their own hands: looked through, changed, deleted, and nobody else's."""

from __future__ import annotations

from sqlmodel import col, select

from core.context import AccountId, ChatKind, InboundMessage, Press, ReplyTarget, Sender
from core.forms import Field
from core.learning.deck import sign
from core.store.tables import Card, Review
from tests.house.home import Home
from tests.servers.telegram import Person, Shown, TelegramServer


async def _cards(home: Home, person: Person) -> list[Card]:
    learner = await home.learner(person)
    chosen = select(Card).where(Card.learner_id == learner).order_by(col(Card.id))
    return await home.read(lambda s: list(s.exec(chosen).all()))


async def _reviews(home: Home) -> list[Review]:
    return await home.read(lambda s: list(s.exec(select(Review)).all()))


async def _opened(home: Home, person: Person, front: str) -> Shown:
    """The card with this question, chosen in the list."""
    listed = await home.tell(person, "/cards")
    _, [card] = await home.press(listed, front)
    return card


async def test_cards_are_listed_newest_first_and_found_by_a_word(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    assert "Save one with /add" in (await home.tell(ada, "/cards")).text
    for number in range(12):
        await home.tell(ada, f"/add question {number} :: answer {number}")
    listed = await home.tell(ada, "/cards")
    assert "12 cards, newest first" in listed.text
    assert listed.labels == [*(f"question {n}" for n in range(11, 1, -1)), "Older ones"]
    listed, below = await home.press(listed, "Older ones")
    assert below == []
    assert listed.labels == ["question 1", "question 0"]
    assert (await home.tell(ada, "/cards ANSWER 7")).labels == ["question 7"]
    assert "has “zebra” in it" in (await home.tell(ada, "/cards zebra")).text


async def test_a_card_is_shown_with_both_sides_and_when_it_comes(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/add one :: two")
    card = await _opened(home, ada, "one")
    assert "two" in card.text
    assert "It is in /review at once." in card.text
    assert card.labels == ["Edit", "Delete"]
    question = await home.tell(ada, "/review")
    question, _ = await home.press(question, "Show answer")
    await home.press(question, question.labels[3])
    [stored] = await _cards(home, ada)
    assert "It comes " in (await home.tell(ada, f"/cards {sign(stored).lower()}")).text


async def test_a_card_is_changed_in_words_and_keeps_its_place(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    saved = await home.tell(ada, "/add What is `7*8`?\nIn ten :: 54")
    question = await home.tell(ada, "/review")
    question, _ = await home.press(question, "Show answer")
    await home.press(question, question.labels[2])
    [before] = await _cards(home, ada)
    _, [how] = await home.press(saved, "Edit")
    line = f"/cards {sign(before)} What is `7*8`?\nIn ten :: 54"
    assert line in how.text
    changed = await home.tell(ada, line.replace("54", "56"))
    assert changed.text.startswith("Changed.")
    assert "56" in changed.text
    [after] = await _cards(home, ada)
    assert (after.front, after.back) == ("What is `7*8`?\nIn ten", "56")
    assert (after.due_day, after.reps, after.stability) == (
        before.due_day,
        before.reps,
        before.stability,
    )
    assert (
        "have this card already" in (await home.tell(ada, "/add what is `7*8`?  in ten :: 56")).text
    ), "twins are told by what it says now"


async def test_a_change_into_no_card_or_another_one_changes_nothing(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/add one :: two")
    await home.tell(ada, "/add three :: four")
    first, second = await _cards(home, ada)
    assert (
        "have this card already"
        in (await home.tell(ada, f"/cards {sign(first)} Three :: FOUR.")).text
    )
    for wrong, told in (("one", "can't tell"), ("one ::", "answer is missing")):
        assert told in (await home.tell(ada, f"/cards {sign(first)} {wrong}")).text
    assert [(c.front, c.back) for c in await _cards(home, ada)] == [
        ("one", "two"),
        ("three", "four"),
    ]
    assert (await home.tell(ada, f"/cards {sign(second)} Three :: four.")).text.startswith(
        "Changed."
    ), "a card is no twin of itself"


async def test_a_card_is_deleted_with_its_answers_once_that_is_sure(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/add one :: two")
    await home.tell(ada, "/add three :: four")
    question = await home.tell(ada, "/review")
    question, _ = await home.press(question, "Show answer")
    await home.press(question, question.labels[2])
    card = await _opened(home, ada, "one")
    card, _ = await home.press(card, "Delete")
    card, _ = await home.press(card, "Keep it")
    assert card.labels == ["Edit", "Delete"]
    assert len(await _reviews(home)) == 1
    card, _ = await home.press(card, "Delete")
    old = next(b for b in card.buttons if b["text"] == "Delete it")["callback_data"]
    card, below = await home.press(card, "Delete it")
    assert (card.text, below) == ("Deleted.", [])
    assert [stored.front for stored in await _cards(home, ada)] == ["three"]
    assert await _reviews(home) == []
    [again] = await home.press_forged(ada, card, old)
    assert "This card is gone." in again.text


async def test_somebody_elses_card_cannot_be_seen_changed_or_deleted(
    home: Home, telegram: TelegramServer
) -> None:
    ada, eve = telegram.user(7, "Ada"), telegram.user(8, "Eve")
    await home.tell(ada, "/add secretword :: two")
    mine = await home.tell(eve, "/add one :: two")
    [card] = await _cards(home, ada)
    for action in ("card", "keepcard", "editcard", "savecard", "dropcard", "dropped"):
        said = await home.press_forged(eve, mine, f"{action}:{card.id}")
        assert ["This card is gone" in one.text for one in said] == [True], action
    assert "secretword" not in (await home.tell(eve, f"/cards {sign(card)}")).text
    await home.tell(eve, f"/cards {sign(card)} hers :: now")
    assert [stored.front for stored in await _cards(home, ada)] == ["secretword"]


async def test_the_form_of_a_card_is_for_its_learner_alone(
    home: Home, telegram: TelegramServer
) -> None:
    ada, eve = telegram.user(7, "Ada"), telegram.user(8, "Eve")
    await home.tell(ada, "/add one :: two")
    await home.tell(eve, "/add three :: four")
    [card] = await _cards(home, ada)

    def press(person: Person, kind: ChatKind, action: str) -> InboundMessage:
        return InboundMessage(
            message_id="1",
            target=ReplyTarget(channel="telegram", account="42", chat="7"),
            chat_kind=kind,
            sender=Sender(account=AccountId(f"telegram:{person.id}"), name="…", language="zh"),
            content=Press(action=action, origin="1"),
            addressed=True,
            received_at=home.clock.now(),
        )

    find = home.house.forms.find
    form = await find(press(ada, ChatKind.PRIVATE, f"editcard:{card.id}"))
    assert form is not None
    assert form.title == "修改卡片"
    assert form.action == f"savecard:{card.id}"
    assert form.fields == (Field("问题", "one", 500), Field("答案", "two", 1500))
    for other in (
        press(eve, ChatKind.PRIVATE, f"editcard:{card.id}"),
        press(telegram.user(9, "Nobody"), ChatKind.PRIVATE, f"editcard:{card.id}"),
        press(ada, ChatKind.GROUP, f"editcard:{card.id}"),
        press(ada, ChatKind.PRIVATE, f"card:{card.id}"),
        press(ada, ChatKind.PRIVATE, "editcard:x"),
        press(ada, ChatKind.PRIVATE, "nothing"),
    ):
        assert await find(other) is None
