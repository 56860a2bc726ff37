"""An answer that grows before one's eyes ends as one whole message, whatever happens meanwhile."""

from __future__ import annotations

from typing import Any

from sqlmodel import create_engine, update

from bots.previews import WORDLESS
from core.store.tables import Inbound
from tests.contract.home import StageHome
from tests.contract.stage import AnyRemote
from tests.servers.faults import Gate
from tests.servers.openai import OpenAIServer, Reply

WHOLE = "First we look at one side, and then we look at the other side of it."


async def half_shown(home: StageHome, remote: AnyRemote, openai: OpenAIServer) -> tuple[Any, Gate]:
    """Ask in a group, and wait until a half of the answer stands there."""
    ada = remote.person()
    group = remote.group(ada)
    gate = Gate()
    openai.script(Reply.hanging(gate, WHOLE, after=2, chunks=4))
    await remote.say(group, ada, "how?", mention=True)
    await remote.server.wait_for(lambda: remote.shown(group), what="nothing of the answer is shown")
    [half] = remote.shown(group)
    assert half.text.strip("… ") in WHOLE
    assert half.text != WHOLE
    return group, gate


async def test_a_half_becomes_the_whole_in_its_place(
    home: StageHome, remote: AnyRemote, openai: OpenAIServer
) -> None:
    group, gate = await half_shown(home, remote, openai)
    [half] = remote.shown(group)
    gate.release()
    await home.quiet()
    [answer] = remote.shown(group)
    assert (answer.id, answer.text) == (half.id, WHOLE)
    assert answer.quotes == half.quotes


async def test_a_restart_leaves_no_half_beside_the_answer(
    home: StageHome, remote: AnyRemote, openai: OpenAIServer
) -> None:
    group, gate = await half_shown(home, remote, openai)
    openai.default = Reply(WHOLE)
    gate.drop()
    await home.restart()
    await home.quiet()
    assert [answer.text for answer in remote.shown(group)] == [WHOLE]


async def test_a_half_that_a_kill_left_unnoted_is_found_where_the_platform_can_do_that(
    home: StageHome, remote: AnyRemote, openai: OpenAIServer
) -> None:
    group, gate = await half_shown(home, remote, openai)
    [half] = remote.shown(group)
    openai.default = Reply.failing(400, "no")  # not a word to show
    await home.close()
    gate.drop()
    engine = create_engine(home.database)
    with engine.begin() as connection:
        connection.execute(update(Inbound).values(preview=None))
    engine.dispose()
    await home.open()
    await home.quiet()
    shown = {message.id: message.text for message in remote.shown(group)}
    if home.channel().capabilities.repeatable_for > 0:
        assert shown.keys() == {half.id}
        assert shown[half.id] not in (half.text, WORDLESS)
    else:
        assert shown.keys() > {half.id}


async def test_what_is_stopped_stays_as_far_as_it_was_shown(
    home: StageHome, remote: AnyRemote, openai: OpenAIServer
) -> None:
    ada = remote.person()
    place = remote.private(ada)
    gate = Gate()
    openai.script(Reply.hanging(gate, WHOLE, after=2, chunks=4))
    await remote.say(place, ada, "how?")
    await gate.wait_reached()
    await remote.command(place, ada, "stop")
    await home.quiet()
    texts = [message.text for message in remote.shown(place)]
    assert sorted(texts)[-1] == "Stopped. I remember what you asked."
    [half] = [text for text in texts if not text.startswith("Stopped")]
    assert half.endswith("…")
    assert WHOLE.startswith(half.removesuffix("…").rstrip())
