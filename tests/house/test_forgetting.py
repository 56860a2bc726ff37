"""A learner is erased: rows, files, history and indexes; the others keep all that is theirs."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import zipfile
from functools import partial

import pytest
from sqlmodel import func, select

from core.belongings import forgetting
from core.belongings.export import collect, packed
from core.belongings.rows import person, rows_of
from core.i18n import words_for
from core.store.tables import (
    AccessState,
    Account,
    Evidence,
    Inbound,
    Item,
    Learner,
    Line,
    Outgoing,
    QuizAnswer,
)
from memory import Profile
from memory.history import Cause, amend
from memory.layers import LearnerFolder
from tests.house.home import Home
from tests.house.test_linking import Pair
from tests.house.test_quiz import letter
from tests.house.test_quiz_group import Group
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import Person, TelegramServer


@pytest.fixture
def pair(home: Home, telegram: TelegramServer) -> Pair:
    return Pair(home, telegram)


async def forget(home: Home, learner_id: str) -> None:
    await asyncio.to_thread(
        forgetting.forget, home.store, home.memory, learner_id, home.clock.now()
    )


def bytes_of(home: Home) -> bytes:
    """Every byte in the data folder, names of files among them."""
    found = [path for path in home.folder.rglob("*") if path.is_file()]
    names = (path.relative_to(home.folder).as_posix().encode() for path in found)
    return b"\n".join((*names, *(path.read_bytes() for path in found)))


async def everything(home: Home, who: Person) -> None:
    """Somebody uses all there is, so that it lies wherever something can lie."""
    word = f"zebra{who.id}"
    await home.tell(who, f"why {word}?")
    await home.tell(who, f"/remember {word} note")
    folder = await home.memory_of(who)
    with folder.lock():
        amend(folder, folder.profile(Profile.PROFILE), lambda _: b"- other\n", Cause.EDIT)
    await home.tell(who, f"/add {word} front :: {word} back")
    shown = await home.tell(who, "/review")
    shown, _ = await home.press(shown, "Show answer")
    await home.press(shown, next(label for label in shown.labels if "Good" in label))
    await home.tell(who, "/link")
    await home.tell(who, "/link AAAA-AAAA")
    await home.tell(who, "/persona euler")


async def test_no_byte_of_a_learner_is_left_and_no_byte_of_anothers_is_gone(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, bea = telegram.user(7001, "Adaname"), telegram.user(7002, "Beaname")
    openai.default = Reply("An answer about zebra7002.")
    await everything(home, bea)
    openai.default = Reply("An answer about zebra7001.")
    await everything(home, ada)
    await home.tell(bea, "last")
    learner, other = await home.learner(ada), await home.learner(bea)
    who = await home.read(partial(person, learner_id=other))
    openai.default = Reply("ok")

    async def of_bea() -> dict[str, int]:
        own = rows_of(who)
        return {
            str(table.__tablename__): await home.read(
                lambda session, table=table: session.exec(  # type: ignore[misc]
                    select(func.count()).select_from(table).where(own[table])
                ).one()
            )
            for table in own
        }

    before = await of_bea()
    files = {p: p.read_bytes() for p in (home.memory / other).rglob("*") if p.is_file()}
    assert b"zebra7001 front" in bytes_of(home)
    await forget(home, learner)
    assert await of_bea() == before
    assert files == {p: p.read_bytes() for p in (home.memory / other).rglob("*") if p.is_file()}
    left = bytes_of(home)
    for trace in (b"zebra7001 ", b"zebra7001?", b"Adaname", learner.encode(), b":7001", b"7001:"):
        assert trace not in left, trace
    assert b"zebra7002 front" in left
    assert not (home.memory / learner).exists()


async def test_somebody_who_was_forgotten_begins_anew(home: Home, telegram: TelegramServer) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/remember tea")
    before = await home.learner(ada)
    await forget(home, before)
    assert "tea" not in (await home.tell(ada, "/memory")).text
    assert await home.learner(ada) != before


@pytest.mark.parametrize("state", [AccessState.APPROVED, AccessState.DENIED, AccessState.OWNER])
async def test_a_decision_about_an_account_stays_and_nothing_else_of_it(
    home: Home, telegram: TelegramServer, state: AccessState
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "hello")
    await home.decide(ada, state)
    await forget(home, await home.learner(ada))
    [account] = await home.read(lambda s: s.exec(select(Account)).all())
    assert dict(account) == {
        "id": "telegram:7",
        "learner_id": None,
        "name": "telegram:7",
        "language": None,
        "access": state,
        "turned_away_at": None,
        "created_at": home.clock.now(),
    }


async def test_both_sides_of_a_join_are_forgotten_together(pair: Pair) -> None:
    home = pair.home
    await pair.live()
    await pair.join()
    await forget(home, await home.learner(pair.ada))
    assert await home.read(lambda s: s.exec(select(Learner)).all()) == []
    left = bytes_of(home)
    for word in (b"adaword", b"beaword", b"both", b"have it"):
        assert word not in left, word


async def test_the_newest_event_stays_without_words_or_sender(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "one?")
    await home.tell(ada, "two?")
    await forget(home, await home.learner(ada))
    [row] = await home.read(lambda s: s.exec(select(Inbound)).all())
    assert (row.sender, row.message, row.learner_id, row.conversation_id) == ("", None, None, None)
    assert await home.read(lambda s: s.exec(select(Outgoing)).all()) == []


async def test_what_others_answered_in_a_group_stays_theirs(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    group = Group(home, telegram, openai)
    shown = await group.begin()
    shown, _ = await group.press(shown, letter(shown, "mitochondria"), group.bea)
    shown, _ = await group.press(shown, letter(shown, "mitochondria"), group.ada)
    await group.press(shown, "Close and go on", group.ada)
    assert await group.right(group.bea) == [True]
    ada, bea = await home.learner(group.ada), await home.learner(group.bea)
    await forget(home, ada)
    assert await group.right(group.bea) == [True]
    assert await home.read(lambda s: s.exec(select(Evidence.learner_id)).all()) == [bea]
    assert await home.read(lambda s: s.exec(select(Item.learner_id)).all()) == [bea]


async def test_forgetting_that_was_interrupted_is_done_by_the_next_call(
    home: Home, telegram: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/remember tea")
    learner = await home.learner(ada)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(forgetting, "erase_rows", killed)
        forgetting.forget(home.store, home.memory, learner, home.clock.now())
    assert await home.learner(ada) == learner
    await forget(home, learner)
    assert await home.read(lambda s: s.exec(select(Line)).all()) == []


async def test_forgetting_somebody_who_is_gone_does_no_harm(home: Home) -> None:
    await forget(home, "01JDQZ7Y3WJ5M8RKT2V4X6A0AD")
    assert not home.memory.exists()


async def test_an_export_holds_everything_of_a_learner_and_nothing_of_another(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, bea = telegram.user(7001, "Adaname"), telegram.user(7002, "Beaname")
    for who in (bea, ada):
        openai.default = Reply(f"An answer about zebra{who.id}.")
        await everything(home, who)
    learner = await home.learner(ada)
    found = await asyncio.to_thread(collect, home.store, home.memory, learner, words_for("en"))
    with zipfile.ZipFile(io.BytesIO(packed(found, home.clock.now()))) as archive:
        assert archive.testzip() is None
        files = {name: archive.read(name) for name in archive.namelist()}
    text = {name: data.decode("utf-8-sig") for name, data in files.items()}
    [card] = csv.DictReader(io.StringIO(text["cards.csv"]))
    assert (card["front"], card["back"]) == ("zebra7001 front", "zebra7001 back")
    [review] = csv.DictReader(io.StringIO(text["reviews.csv"]))
    assert review["rating"] == "3"
    said = [row["text"] for row in csv.DictReader(io.StringIO(text["conversations.csv"]))]
    assert said == ["why zebra7001?", "An answer about zebra7001."]
    settings = json.loads(text["settings.json"])
    assert [one["id"] for one in settings["accounts"]] == ["telegram:7001"]
    assert text["memory/profile/profile.md"] == "- other\n"
    assert any("/.history/profile/profile/" in name for name in files)
    assert any("zebra7001 note" in data for name, data in text.items() if "history" in name)
    assert any(name.startswith("memory/events/") for name in files)
    assert not any(".lock" in name or ".index" in name for name in files)
    for data in files.values():
        assert b"7002" not in data and b"Beaname" not in data


async def test_answers_of_others_in_ones_own_group_quiz_are_not_exported(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    group = Group(home, telegram, openai)
    shown = await group.begin()
    await group.press(shown, letter(shown, "vacuoles"), group.bea)
    answers = await home.read(lambda s: s.exec(select(QuizAnswer)).all())
    assert len(answers) == 1
    ada = await home.learner(group.ada)
    found = await asyncio.to_thread(collect, home.store, home.memory, ada, words_for("en"))
    assert "quizzes.csv" in found.files and "quiz-answers.csv" not in found.files
    assert LearnerFolder(home.memory, ada).learner == ada
