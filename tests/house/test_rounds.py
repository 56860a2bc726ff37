"""A turn that was interrupted goes on at its last round and repeats nothing that changes things."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlmodel import select

from core.store.tables import Inbound, Turn
from tests.house.conftest import MakeHome
from tests.house.home import hanging, spoken
from tests.house.tools import Bells, with_handy
from tests.servers.faults import Gate
from tests.servers.openai import OpenAIServer, Reply, ToolCall
from tests.servers.telegram import TelegramServer

RING = Reply.calls(ToolCall("ring", {"times": 3}))


async def test_a_turn_goes_on_at_its_last_round_and_repeats_nothing(
    tmp_path: Path, make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    bells = Bells()
    with_handy(tmp_path)
    home = await make_home(tools=(bells.ring(needs_consent=False),))
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/persona handy")
    reply, gate = hanging()
    openai.script(RING, reply, Reply("Rung."))
    ada.say("wake me?")
    await gate.wait_reached()
    ada.say("no, 3 times is too much")
    await home.taken()
    await home.restart()
    gate.release()
    await home.quiet()
    assert bells.rung == [3]
    assert ada.private.from_bot[-1].text == "Rung."
    last = home.prompts[-1].json["messages"]
    assert [m["role"] for m in last if m["role"] != "system"] == [
        "user",
        "assistant",
        "tool",
        "user",
    ]
    assert last[-1]["content"] == "no, 3 times is too much"
    [turn] = await home.read(lambda s: s.exec(select(Turn).where(Turn.reason == "answered")).all())
    assert turn.prompt_tokens >= 200, "what the first process used is counted as well"
    rows = await home.read(lambda s: s.exec(select(Inbound)).all())
    assert all(row.rounds is None for row in rows)


async def test_a_correction_that_had_joined_is_not_said_twice_after_a_restart(
    tmp_path: Path, make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    bells = Bells()
    with_handy(tmp_path)
    home = await make_home(tools=(bells.ring(needs_consent=False),))
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/persona handy")
    first, last = Gate(), Gate()
    second = Reply.calls(ToolCall("ring", {"times": 2}))
    openai.script(
        Reply(tool_calls=RING.tool_calls, gate=first),
        second,
        Reply.hanging(last, "late"),
        Reply("Rung."),
    )
    ada.say("wake me?")
    await first.wait_reached()
    ada.say("no, twice")
    await home.taken()
    first.release()
    await last.wait_reached()
    await home.restart()
    last.release()
    await home.quiet()
    assert bells.rung == [3, 2]
    assert ada.private.from_bot[-1].text == "Rung."
    said = [m["content"] for m in home.prompts[-1].json["messages"] if m["role"] == "user"]
    assert said == ["wake me?", "no, twice"]
    await home.tell(ada, "thanks")
    assert spoken(home.prompts[-1])[0] == ("user", "wake me?\nno, twice")
    assert "asked: wake me?\n  no, twice" in await home.journal_of(ada)


async def test_a_call_that_was_cut_off_is_not_made_again(
    tmp_path: Path, make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    bells = Bells()
    bells.hangs = True
    with_handy(tmp_path)
    home = await make_home(tools=(bells.ring(needs_consent=False),))
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/persona handy")
    openai.script(RING, Reply("Perhaps it rang."))
    ada.say("wake me?")
    await bells.began.wait()
    await home.restart()
    await home.quiet()
    assert bells.rung == [3]
    assert ada.private.from_bot[-1].text == "Perhaps it rang."
    assert "may have been carried out" in home.prompts[-1].json["messages"][-1]["content"]


async def test_a_round_that_cannot_be_read_begins_the_turn_anew(
    tmp_path: Path, make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    bells = Bells()
    with_handy(tmp_path)
    home = await make_home(tools=(bells.ring(needs_consent=False),))
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/persona handy")
    reply, gate = hanging()
    openai.script(RING, reply, Reply("From the beginning."))
    ada.say("wake me?")
    await gate.wait_reached()
    await home.close()
    gate.release()
    with closing(sqlite3.connect(tmp_path / "partners.db")) as database, database:
        database.execute("UPDATE inbound SET rounds = '{}' WHERE rounds IS NOT NULL")
    await home.open()
    await home.quiet()
    assert ada.private.from_bot[-1].text == "From the beginning."
    assert spoken(home.prompts[-1]) == [("user", "wake me?")]
