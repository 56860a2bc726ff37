"""Strangers cost nothing (invariant 13), and whoever is let in hears of it."""

from __future__ import annotations

import pytest
from sqlmodel import select

from bots.app import Ground, user_name
from bots.terminal.receive import account_of
from core.access import AccessMode, Verdict
from core.settings import Settings
from core.store.tables import AccessState, Inbound
from core.tuning import Tuning
from tests.house.conftest import MakeHome
from tests.house.home import Home, code_in
from tests.servers.telegram import TelegramServer, media


def _calls(telegram: TelegramServer, *names: str) -> list[str]:
    return [request.name for request in telegram.requests if request.name in names]


async def _wordless(home: Home, secret: str) -> None:
    rows = await home.read(lambda s: s.exec(select(Inbound)).all())
    assert rows
    assert all(row.message is None and row.learner_id is None for row in rows)
    assert secret.encode() not in (home.folder / "partners.db").read_bytes()
    assert secret.encode() not in (home.folder / "partners.db-wal").read_bytes()
    assert secret not in home.log


async def test_a_stranger_gets_a_code_and_costs_nothing(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home = await make_home(mode=AccessMode.PAIRING)
    ada = telegram.user(7, "Ada")
    first = await home.tell(ada, "zebra7 what is a limit?")
    code = code_in(first.text)
    media.photo(ada.private, ada, b"zebra7", caption="zebra7")
    media.voice(ada.private, ada, b"zebra7")
    await home.quiet()
    assert [code_in(m.text) for m in ada.private.from_bot] == [code] * 3
    assert home.prompts == []
    assert not _calls(telegram, "sendChatAction", "getFile", "download", "sendMessageDraft")
    assert not home.memory.exists()
    await _wordless(home, "zebra7")


async def test_a_code_stays_the_same_for_a_day_and_then_is_a_new_one(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home = await make_home(mode=AccessMode.PAIRING)
    ada = telegram.user(7, "Ada")
    code = code_in((await home.tell(ada, "hello")).text)
    home.clock.advance(hours=23, minutes=59)
    assert code_in((await home.tell(ada, "hello?")).text) == code
    home.clock.advance(minutes=2)
    assert await home.approve(code) is None, "an expired code lets nobody in"
    new = code_in((await home.tell(ada, "hello??")).text)
    assert new != code
    assert await home.approve(code) is None
    assert await home.approve(new) is not None


async def test_a_stranger_who_keeps_writing_gets_five_answers_an_hour(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home = await make_home(mode=AccessMode.PAIRING)
    ada, ben = telegram.user(7, "Ada"), telegram.user(8, "Ben")
    for number in range(8):
        ada.say(f"let me in {number}")
    await home.quiet()
    assert len(ada.private.from_bot) == 5
    assert "let you in" in (await home.tell(ben, "hello")).text
    home.clock.advance(minutes=61)
    assert len(await home.ask(ada.private, ada, "and now?")) == 1


async def test_a_stranger_in_a_group_is_sent_to_the_private_chat_once_a_day(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home = await make_home(mode=AccessMode.PAIRING)
    ada, group = telegram.user(7, "Ada"), telegram.supergroup()
    [answer] = await home.ask(group, ada, "@tutor_bot what is a limit?")
    assert "privately" in answer.text
    assert await home.ask(group, ada, "/start@tutor_bot") == []
    home.clock.advance(hours=25)
    [again] = await home.ask(group, ada, "@tutor_bot and now?")
    assert again.text == answer.text
    private = await home.tell(ada, "hello")
    assert code_in(private.text) not in answer.text + again.text
    assert home.prompts == []
    assert not _calls(telegram, "sendChatAction")


async def test_a_strangers_press_and_edit_run_nothing(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home = await make_home(mode=AccessMode.PAIRING, allow=["telegram:7"])
    ada, eve, group = telegram.user(7, "Ada"), telegram.user(8, "Eve"), telegram.supergroup()
    [tutors] = await home.ask(group, ada, "/persona@tutor_bot")
    shown, below = await home.press(tutors, "Euler", eve)
    assert shown.text == tutors.text
    assert ["privately" in m.text for m in below] == [True]
    asked = eve.say("/start")
    await home.quiet()
    said = len(eve.private.from_bot)
    eve.private.edit(asked, "what is a limit?")
    await home.quiet()
    assert len(eve.private.from_bot) == said
    assert home.prompts == []


async def test_whoever_is_approved_is_welcomed_at_once_and_then_taught(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home = await make_home(mode=AccessMode.PAIRING)
    ada, eve = telegram.user(7, "Ada"), telegram.user(8, "小艾", language_code="zh-hans")
    code = code_in((await home.tell(ada, "hello")).text)
    await home.approve(code.lower())
    welcome = await ada.private.wait_message(lambda m: "You're in" in m.text)
    assert welcome.labels == ["Choose a tutor", "How this works"]
    assert (await home.tell(ada, "what is a limit?")).text == "Go on."
    code = code_in((await home.tell(eve, "你好")).text)
    await home.approve(code.replace("-", ""))
    told = eve.private.from_bot[-1]
    welcome = await eve.private.wait_message(after=told)
    assert welcome.labels == ["选一位导师", "怎么用"]
    assert len(home.prompts) == 1


async def test_whoever_is_denied_hears_nothing_more(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home = await make_home(mode=AccessMode.OPEN)
    ada, group = telegram.user(7, "Ada"), telegram.supergroup()
    await home.tell(ada, "hello")
    await home.decide(ada, AccessState.DENIED)
    assert await home.ask(ada.private, ada, "zebra7 hello?") == []
    assert await home.ask(group, ada, "@tutor_bot hello?") == []
    assert len(home.prompts) == 1
    await home.decide(ada, AccessState.APPROVED)
    assert (await home.tell(ada, "hello again")).text == "Go on."


async def test_an_owner_by_setting_or_by_decision_is_in_without_a_code(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home = await make_home(mode=AccessMode.PAIRING, owners=["telegram:7"])
    ada, ben = telegram.user(7, "Ada"), telegram.user(8, "Ben")
    assert (await home.tell(ada, "hello")).text == "Go on."
    await home.decide(ben, AccessState.OWNER)
    assert (await home.tell(ben, "hello")).text == "Go on."
    assert "Model: scripted" in (await home.tell(ben, "/status")).text


async def test_an_empty_allow_list_admits_nobody_and_gives_no_codes(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home = await make_home(mode=AccessMode.ALLOWLIST)
    answer = await home.tell(telegram.user(7, "Ada"), "hello")
    assert "private" in answer.text
    assert "code" not in answer.text
    assert home.prompts == []


async def test_an_allow_list_admits_those_on_it_and_the_approved(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home = await make_home(mode=AccessMode.ALLOWLIST, allow=["telegram:7"])
    ada, ben, eve = telegram.user(7, "Ada"), telegram.user(8, "Ben"), telegram.user(9, "Eve")
    await home.decide(ben, AccessState.APPROVED)
    assert (await home.tell(ada, "hello")).text == "Go on."
    assert (await home.tell(ben, "hello")).text == "Go on."
    await home.tell(eve, "hello")
    assert len(home.prompts) == 2


async def test_an_open_house_teaches_everybody(home: Home, telegram: TelegramServer) -> None:
    assert (await home.tell(telegram.user(7, "Ada"), "hello")).text == "Go on."


async def test_the_person_at_the_terminal_is_an_owner_in_every_mode(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTNERS_DATA", str(home.folder))
    for mode in AccessMode:
        monkeypatch.setenv("PARTNERS_ACCESS", mode.value)
        policy = Ground(Settings.load(), Tuning(), home.store).policy
        assert policy.mode is mode
        assert policy.judge(account_of(user_name()), None) is Verdict.OWNER
        assert policy.judge("telegram:7", None) is not Verdict.OWNER
