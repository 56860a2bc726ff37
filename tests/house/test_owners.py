"""Owners hear of strangers in their own chats and let them in by a button."""

from __future__ import annotations

from core.access import AccessMode
from core.turns.owners import NOTICES_AN_HOUR
from tests.house.conftest import MakeHome
from tests.house.home import Home, code_in
from tests.servers.telegram import Person, TelegramServer


async def with_owner(make_home: MakeHome, telegram: TelegramServer) -> tuple[Home, Person]:
    home = await make_home(mode=AccessMode.PAIRING, owners={"telegram:1"})
    owner = telegram.user(1, "Olga")
    await home.tell(owner, "hello")
    return home, owner


async def test_an_owner_lets_a_stranger_in_by_a_button(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home, owner = await with_owner(make_home, telegram)
    ada = telegram.user(7, "Ada *the* [first]")
    code = code_in((await home.tell(ada, "zebra7?")).text)
    await home.tell(ada, "and again?")
    notices = [m for m in owner.private.from_bot if m.labels]
    assert len(notices) == 1, "one notice a request"
    [notice] = notices
    assert (
        notice.text
        == f"Ada *the* [first] (telegram:7) would like to learn here. Their code is {code}."
    )
    assert "zebra7" not in notice.text
    assert notice.labels == ["Let in", "Not this person"]
    await home.press(notice, "Let in")
    assert owner.private.now(notice).text == "Ada *the* [first] is in."
    assert not owner.private.now(notice).labels
    assert "You're in" in ada.private.from_bot[-1].text
    assert (await home.tell(ada, "why?")).text == "Go on."


async def test_a_second_press_says_that_it_is_decided(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home, owner = await with_owner(make_home, telegram)
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "hello")
    notice = owner.private.from_bot[-1]
    action = notice.buttons[0]["callback_data"]
    await home.press(notice, "Not this person")
    assert "stays out" in owner.private.now(notice).text
    await home.press_forged(owner, notice, action)
    assert "decided already" in owner.private.now(notice).text
    assert await home.ask(ada.private, ada, "hello?") == []


async def test_nobody_but_an_owner_can_decide(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home, owner = await with_owner(make_home, telegram)
    ada, ben = telegram.user(7, "Ada"), telegram.user(8, "Ben")
    await home.tell(ada, "hello")
    ada_code = code_in(ada.private.from_bot[-1].text)
    await home.press(owner.private.from_bot[-1], "Let in")
    answer = await home.tell(ada, "why?")
    await home.tell(ben, "hello")
    code = code_in(ben.private.from_bot[-1].text)
    assert code != ada_code
    said = await home.press_forged(ada, answer, f"admit:yes:{code}")
    assert "Only the one who runs me" in said[-1].text
    assert "by invitation" not in (await home.tell(ben, "in?")).text
    assert code_in(ben.private.from_bot[-1].text) == code, "Ben still waits"


async def test_a_flood_of_strangers_does_not_flood_the_owner(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home, owner = await with_owner(make_home, telegram)
    before = len(owner.private.from_bot)
    for number in range(NOTICES_AN_HOUR + 5):
        telegram.user(100 + number, f"Stranger {number}").say("hello")
    await home.quiet()
    told = owner.private.from_bot[before:]
    assert len(told) == NOTICES_AN_HOUR + 1
    assert "partners access list" in told[-1].text
    home.clock.advance(hours=1)
    await home.tell(telegram.user(99, "Late"), "hello")
    assert "Late" in owner.private.from_bot[-1].text
