"""``/link``: two accounts become one learner, and two again; nothing is lost, nothing leaks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from sqlmodel import Session, select

from core.learning.evidence import read
from core.linking.codes import GUESSES
from core.linking.linking import UNDOABLE
from core.store.tables import Account, Card, Learner, Link, LinkState, Review
from memory.layers import LearnerFolder, Profile
from tests.house.home import Home, system
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import Person, Shown, TelegramServer

CODE = re.compile(r"\b[2-9A-HJKMNP-Z]{4}-[2-9A-HJKMNP-Z]{4}\b")


def link_code(text: str) -> str:
    found = CODE.search(text)
    assert found, text
    return found[0]


def _named(shown: Shown, word: str) -> str:
    return next(label for label in shown.labels if word in label)


class Pair:
    """Ada and Bea, who may be the same person."""

    def __init__(self, home: Home, telegram: TelegramServer) -> None:
        self.home = home
        self.ada = telegram.user(7, "Ada")
        self.bea = telegram.user(8, "Bea")

    async def tell(self, person: Person, text: str) -> str:
        self.home.clock.advance(seconds=10)
        said = (await self.home.tell(person, text)).text
        self.home.clock.advance(seconds=1)
        return said

    async def live(self) -> None:
        """Each has a talk, a note, a card of their own and one that both have."""
        for person, word in ((self.ada, "adaword"), (self.bea, "beaword")):
            await self.tell(person, f"why {word}?")
            await self.tell(person, f"/remember {word} is mine")
            await self.tell(person, f"/add {word} :: back of {word}")
            await self.tell(person, "/add both :: have it")

    async def grade(self, person: Person, front: str) -> None:
        """Review until a card was graded Good."""
        self.home.clock.advance(seconds=10)
        shown = await self.home.tell(person, "/review")
        while front not in shown.text:
            shown, _ = await self.home.press(shown, "Show answer")
            shown, below = await self.home.press(shown, _named(shown, "Hard"))
            shown = below[-1] if below else shown
        shown, _ = await self.home.press(shown, "Show answer")
        await self.home.press(shown, _named(shown, "Good"))
        self.home.clock.advance(seconds=1)

    async def code(self) -> str:
        """A code of Ada's."""
        return link_code(await self.tell(self.ada, "/link"))

    async def asked(self) -> Shown:
        """Bea has written it and is asked whether she means it."""
        code = await self.code()
        self.home.clock.advance(seconds=1)
        return await self.home.tell(self.bea, f"/link {code}")

    async def join(self) -> Shown:
        """They are one; return what Bea reads."""
        shown, below = await self.home.press(await self.asked(), "Join")
        assert below == [] and "one learner now" in shown.text
        self.home.clock.advance(seconds=1)
        return shown

    async def undo(self, shown: Shown) -> str:
        self.home.clock.advance(seconds=10)
        after, _ = await self.home.press(shown, "Undo")
        return after.text

    async def rows(self) -> dict[str, list[dict[str, object]]]:
        """All that the database says of cards, accounts and learners."""

        def load(session: Session) -> dict[str, list[dict[str, object]]]:
            return {
                table.__name__: sorted(
                    (dict(row) for row in session.exec(select(table))),
                    key=str,
                )
                for table in (Card, Review, Account)
            }

        return await self.home.read(load)

    def files(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.home.memory).as_posix(): path.read_bytes()
            for path in sorted(self.home.memory.rglob("*"))
            if path.is_file() and path.name != ".lock"
        }


@pytest.fixture
async def pair(home: Home, telegram: TelegramServer) -> Pair:
    return Pair(home, telegram)


async def test_two_accounts_become_one_learner_with_one_memory_and_all_cards(pair: Pair) -> None:
    home = pair.home
    await pair.live()
    asked = await pair.asked()
    assert "Bea (telegram:8, 2 cards)" in asked.text and "Ada (telegram:7, 2 cards)" in asked.text
    joined, _ = await home.press(asked, "Join")
    assert "one learner now" in joined.text
    assert await home.learner(pair.ada) == await home.learner(pair.bea)
    for person in (pair.ada, pair.bea):
        known = await pair.tell(person, "/memory")
        assert "adaword is mine" in known and "beaword is mine" in known
        assert "3 questions" in await pair.tell(person, "/due")
        await pair.tell(person, "and now?")
        assert "adaword is mine" in system(home.prompts[-1])
        assert "beaword is mine" in system(home.prompts[-1])
    journal = await home.journal_of(pair.ada)
    assert "why adaword" in journal and "why beaword" in journal
    ids = re.findall(r"\^e_(\w+)", journal)
    assert ids == sorted(ids)


async def test_the_maker_of_the_code_hears_of_it_and_can_undo_it(pair: Pair) -> None:
    await pair.live()
    await pair.join()
    notice = pair.ada.private.from_bot[-1]
    assert "Bea (telegram:8) has joined you with your code" in notice.text
    assert "two learners again" in await pair.undo(notice)
    assert await pair.home.learner(pair.ada) != await pair.home.learner(pair.bea)


async def test_conversations_of_both_stay_as_they_are(pair: Pair) -> None:
    await pair.live()
    await pair.join()
    await pair.tell(pair.bea, "and now?")
    talk = str([m for m in pair.home.prompts[-1].json["messages"] if m["role"] != "system"])
    assert "why beaword" in talk and "why adaword" not in talk


async def test_settings_of_the_maker_hold(pair: Pair) -> None:
    await pair.tell(pair.ada, "/timezone Tokyo")
    await pair.tell(pair.bea, "/timezone Lima")
    await pair.join()
    assert "Asia/Tokyo" in await pair.tell(pair.bea, "/timezone")


async def test_of_a_card_that_both_have_the_one_with_more_reviews_is_kept(pair: Pair) -> None:
    await pair.live()
    await pair.grade(pair.bea, "both")
    before = await pair.rows()
    shown = await pair.join()

    ada = await pair.home.learner(pair.ada)

    def kept(session: Session) -> tuple[int, str]:
        mine = select(Card).where(Card.learner_id == ada, Card.front == "both")
        card = session.exec(mine).one()
        return card.reps, card.id

    reps, card_id = await pair.home.read(kept)
    assert reps == 1
    reviews = [row for row in (await pair.rows())["Review"] if row["card_id"] == card_id]
    assert [row["learner_id"] for row in reviews] == [ada]
    await pair.undo(shown)
    assert await pair.rows() == before


async def test_cards_changed_into_each_other_meanwhile_part_all_the_same(pair: Pair) -> None:
    await pair.live()
    await pair.grade(pair.bea, "both")
    shown = await pair.join()
    changed = await pair.home.tell(pair.ada, "/cards have it")
    _, [card] = await pair.home.press(changed, "both")
    sign = card.text.split()[-1]
    assert (await pair.tell(pair.ada, f"/cards {sign} hers :: now")).startswith("Changed.")
    assert "Saved" in await pair.tell(pair.ada, "/add both :: have it")
    assert "two learners again" in await pair.undo(shown)
    rows = (await pair.rows())["Card"]
    bea = await pair.home.learner(pair.bea)
    fronts = {row["front"] for row in rows if row["learner_id"] == bea}
    assert fronts == {"beaword", "hers"}
    ada = await pair.home.learner(pair.ada)
    assert {row["front"] for row in rows if row["learner_id"] == ada} == {"adaword", "both"}


async def test_undone_at_once_everything_is_exactly_where_it_was(pair: Pair) -> None:
    await pair.live()
    rows, files = await pair.rows(), pair.files()
    shown = await pair.join()
    assert await pair.rows() != rows and pair.files() != files
    assert "two learners again" in await pair.undo(shown)
    assert await pair.rows() == rows
    # Only what the commands themselves left in the journal may differ, and they leave nothing.
    assert pair.files() == files


async def test_no_word_of_the_one_reaches_the_other_once_it_is_undone(pair: Pair) -> None:
    home = pair.home
    await pair.live()
    shown = await pair.join()
    for person, word in ((pair.ada, "adasince"), (pair.bea, "beasince")):
        await pair.tell(person, f"why {word}?")
        await pair.tell(person, f"/remember {word} is new")
        await pair.tell(person, f"/add {word} :: {word}")
    await pair.undo(shown)
    folders = [LearnerFolder(home.memory, await home.learner(p)) for p in (pair.ada, pair.bea)]
    for folder, own, others in (
        (folders[0], ("adaword", "adasince"), ("beaword", "beasince")),
        (folders[1], ("beaword", "beasince"), ("adaword", "adasince")),
    ):
        held = "\n".join(
            path.read_text("utf-8") for path in folder.path.rglob("*") if path.suffix == ".md"
        )
        assert all(word in held for word in own)
        assert not any(word in held for word in others)
        notes = folder.read(folder.profile(Profile.PROFILE)).decode()
        assert f"{own[1]} is new" in notes
    for person, name, foreign in ((pair.ada, "ada", "bea"), (pair.bea, "bea", "ada")):
        known = await pair.tell(person, "/memory")
        assert f"{name}since is new" in known
        assert f"{foreign}word" not in known and f"{foreign}since" not in known
        assert "3 questions" in await pair.tell(person, "/due")
        asked = len(home.prompts)
        await pair.tell(person, "what do you know?")
        for request in home.prompts[asked:]:
            assert f"{foreign}word" not in str(request.json)
            assert f"{foreign}since" not in str(request.json)


async def test_a_group_never_shows_a_code(pair: Pair, telegram: TelegramServer) -> None:
    group = telegram.supergroup()
    [said] = await pair.home.ask(group, pair.ada, "/link@tutor_bot")
    assert "write to me privately" in said.text
    code = await pair.code()
    [said] = await pair.home.ask(group, pair.bea, f"/link@tutor_bot {code}")
    assert "write to me privately" in said.text
    assert await pair.home.read(lambda session: session.exec(select(Link)).all()) == []


async def test_wrong_old_used_and_own_codes_are_told_apart(
    pair: Pair, telegram: TelegramServer
) -> None:
    code = await pair.code()
    assert "your own" in await pair.tell(pair.ada, f"/link {code.lower().replace('-', ' ')}")
    assert "don't know this code" in await pair.tell(pair.bea, "/link 2222-2222")
    pair.home.clock.advance(minutes=10)
    assert "out of date" in await pair.tell(pair.bea, f"/link {code}")
    await pair.join()
    used = link_code(pair.ada.private.from_bot[-2].text)
    cleo = telegram.user(9, "Cleo")
    assert "used already" in await pair.tell(cleo, f"/link {used}")
    fresh = await pair.code()
    newer = await pair.code()
    assert "don't know this code" in await pair.tell(cleo, f"/link {fresh}")
    assert "one learner of two" in await pair.tell(cleo, f"/link {newer}")


async def test_a_code_cannot_be_guessed(pair: Pair) -> None:
    code = await pair.code()
    for number in range(GUESSES):
        assert "don't know" in await pair.tell(pair.bea, f"/link 2222-222{number + 2}")
    assert "Too many codes" in await pair.tell(pair.bea, f"/link {code}")
    pair.home.clock.advance(hours=1)
    assert "out of date" in await pair.tell(pair.bea, f"/link {code}")
    assert "one learner of two" in await pair.tell(pair.bea, f"/link {await pair.code()}")


async def test_cancelled_nothing_is_joined_and_a_second_tap_joins_nothing_twice(pair: Pair) -> None:
    await pair.live()
    rows = await pair.rows()
    cancelled, _ = await pair.home.press(await pair.asked(), "Cancel")
    assert cancelled.text == "Nothing was joined."
    assert await pair.rows() == rows
    asked = await pair.asked()
    await pair.home.press(asked, "Join")
    assert (
        await pair.home.press_forged(pair.bea, asked, asked.button("Join")["callback_data"]) == []
    )
    assert "one learner now" in asked.chat.now(asked).text
    assert len(await pair.home.read(lambda session: session.exec(select(Link)).all())) == 1


async def test_a_press_by_somebody_else_joins_nobody(pair: Pair, telegram: TelegramServer) -> None:
    await pair.live()
    asked = await pair.asked()
    cleo = telegram.user(9, "Cleo")
    theirs = await pair.home.tell(cleo, "/start")
    await pair.home.press(asked, "Join")
    done = pair.bea.private.from_bot[-1]
    said = await pair.home.press_forged(cleo, theirs, asked.button("Join")["callback_data"])
    assert "used already" in said[-1].text
    said = await pair.home.press_forged(cleo, theirs, done.button("Undo")["callback_data"])
    assert "Nothing is joined" in said[-1].text
    assert await pair.home.learner(pair.ada) == await pair.home.learner(pair.bea)


async def test_after_a_day_it_stays(pair: Pair) -> None:
    await pair.live()
    shown = await pair.join()
    pair.home.clock.instant += UNDOABLE
    await pair.home.house.sweep()
    assert "more than a day ago" in await pair.undo(shown)
    assert "more than a day ago" in await pair.tell(pair.ada, "/link undo")
    [link] = await pair.home.read(lambda session: session.exec(select(Link)).all())
    assert link.state == LinkState.FINAL
    assert list(pair.home.memory.glob("*/.history/joined/*")) == []
    assert "beaword is mine" in await pair.tell(pair.ada, "/memory")


async def test_of_several_the_latest_is_undone_first(pair: Pair, telegram: TelegramServer) -> None:
    first = await pair.join()
    cleo = telegram.user(9, "Cleo")
    await pair.tell(cleo, "/remember cleo was here")
    code = await pair.code()
    asked = await pair.home.tell(cleo, f"/link {code}")
    await pair.home.press(asked, "Join")
    assert "Undo that first" in await pair.undo(first)
    assert "two learners again" in await pair.tell(pair.ada, "/link undo")
    assert "cleo was here" not in await pair.tell(pair.ada, "/memory")
    assert "two learners again" in await pair.tell(pair.ada, "/link undo")
    assert "Nothing is joined" in await pair.tell(pair.ada, "/link undo")


async def test_reminders_come_once_and_to_the_joined_learner(pair: Pair) -> None:
    await pair.live()
    await pair.join()
    pair.home.clock.advance(hours=24)
    before = len(pair.ada.private.from_bot) + len(pair.bea.private.from_bot)
    await pair.home.house.sweep()
    await pair.home.quiet()
    after = len(pair.ada.private.from_bot) + len(pair.bea.private.from_bot)
    assert after == before + 1


@pytest.mark.parametrize("killed_in", ["joining", "undoing"])
async def test_what_a_killed_process_left_is_finished_at_the_next_start(
    pair: Pair, killed_in: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await pair.live()
    rows, files = await pair.rows(), pair.files()

    def die(*_: object) -> None:
        raise OSError("the process is gone")

    if killed_in == "joining":
        with monkeypatch.context() as dead:
            dead.setattr("memory.joined.unite", die)
            await pair.join()
        assert "beaword is mine" not in await pair.tell(pair.ada, "/memory")
        await pair.home.restart()
        assert "beaword is mine" in await pair.tell(pair.ada, "/memory")
        return
    shown = await pair.join()
    with monkeypatch.context() as dead:
        dead.setattr("memory.joined.part", die)
        assert "in a minute" in await pair.undo(shown)
    assert await pair.home.learner(pair.ada) == await pair.home.learner(pair.bea)
    await pair.home.restart()
    assert (await pair.rows(), pair.files()) == (rows, files)


async def test_what_was_under_way_while_they_were_joined_is_not_lost(
    pair: Pair, telegram: TelegramServer
) -> None:
    await pair.live()
    other = await pair.home.learner(pair.bea)
    await pair.join()
    folder = LearnerFolder(pair.home.memory, other)
    assert not folder.events.exists()
    from memory.notes import remember

    remember(folder, "written too late")
    await pair.home.house.sweep()
    assert "written too late" in await pair.tell(pair.ada, "/memory")


async def test_a_learner_that_went_is_found_by_the_old_id(pair: Pair, tmp_path: Path) -> None:
    from bots.command_line.people import find_learner

    await pair.live()
    other = await pair.home.learner(pair.bea)
    await pair.join()
    ada = await pair.home.learner(pair.ada)
    assert await pair.home.read(lambda session: find_learner(session, other.lower())) == ada
    assert await pair.home.read(lambda s: s.get_one(Learner, other).merged_into) == ada


async def test_what_was_answered_is_one_learners_and_two_learners_again(
    home: Home, openai: OpenAIServer, telegram: TelegramServer
) -> None:
    pair = Pair(home, telegram)
    await pair.live()

    async def quiz(person: Person, question: str, answer: str) -> None:
        draft = {"kind": "number", "question": question, "value": "7"}
        openai.script(
            Reply(json.dumps({"items": [draft, {**draft, "question": f"more {question}"}]}))
        )
        await pair.tell(person, f"/quiz {question} 2")
        await pair.tell(person, answer)

    async def answers(person: Person) -> list[bool]:
        learner = await home.learner(person)
        rows = await home.read(lambda session: read(session, learner))
        return [row.correct for row in sorted(rows, key=lambda row: row.at)]

    await quiz(pair.ada, "ada's?", "7")
    await quiz(pair.bea, "bea's?", "8")
    await pair.join()
    assert await answers(pair.ada) == [True, False]
    # Each goes on in the chat where it was asked.
    assert "2/2" in await pair.tell(pair.bea, "/quiz")
    assert "1 of 2 right" in await pair.tell(pair.bea, "7")
    await pair.tell(pair.bea, "/link undo")
    assert await answers(pair.ada) == [True]
    assert await answers(pair.bea) == [False, True]
    assert "2/2" in await pair.tell(pair.ada, "/quiz")
    assert "2 right" in await pair.tell(pair.ada, "7")
