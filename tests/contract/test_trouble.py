"""What every channel keeps when things go wrong, or come twice, or at once."""

from __future__ import annotations

from itertools import pairwise

from sqlmodel import select

from core.store.tables import Outgoing, OutgoingState
from tests.contract.home import StageHome
from tests.contract.stage import AnyRemote, AnyStage, RemoteStage
from tests.house.home import hanging, spoken
from tests.house.indoors import KEY
from tests.servers.faults import Stage
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.openai.replies import Trouble


async def test_an_event_told_again_is_answered_once(
    home: StageHome, remote: AnyRemote, openai: OpenAIServer
) -> None:
    ada = remote.person()
    private = remote.private(ada)
    reply, gate = hanging()
    openai.script(reply)
    asked = await remote.say(private, ada, "one?")
    await gate.wait_reached()
    await remote.again(asked)
    await home.taken()
    gate.release()
    await home.quiet()
    await remote.again(asked)
    assert [m.text for m in await home.ask(private, ada, "two?")] == ["Go on."]
    await home.restart()
    await remote.again(asked)
    assert [m.text for m in await home.ask(private, ada, "three?")] == ["Go on."]
    assert [m.text for m in remote.shown(private)] == ["late answer", "Go on.", "Go on."]
    assert len(home.prompts) == 3


async def test_what_was_written_while_the_platform_was_away_is_answered_afterwards(
    home: StageHome, remote: AnyRemote
) -> None:
    ada, ben = remote.person("Ada"), remote.person("Ben")
    await home.tell(ada, "one?")
    await home.tell(ben, "one?")
    async with remote.cut_off():
        await remote.say(remote.private(ada), ada, "two?")
        await remote.say(remote.private(ben), ben, "two?")
    await home.quiet()
    for person in (ada, ben):
        assert [m.text for m in remote.shown(remote.private(person))] == ["Go on."] * 2
    assert (await home.tell(ada, "three?")).text == "Go on."
    assert len(home.prompts) == 5


async def test_a_stop_and_a_start_lose_nothing_that_was_written_between(
    home: StageHome, remote: AnyRemote
) -> None:
    ada = remote.person()
    await home.tell(ada, "one?")
    await home.restart()
    assert (await home.tell(ada, "two?")).text == "Go on."
    assert [text for _, text in spoken(home.prompts[-1])] == ["one?", "Go on.", "two?"]


async def test_a_restart_in_the_middle_leaves_exactly_one_answer(
    home: StageHome, stage: AnyStage, openai: OpenAIServer
) -> None:
    ada = stage.person()
    reply, gate = hanging()
    openai.script(reply)
    await stage.say(stage.private(ada), ada, "one?")
    await gate.wait_reached()
    await home.restart()
    await home.quiet()
    assert [m.text.strip() for m in stage.shown(stage.private(ada))] == ["Go on."]
    gate.drop()


async def test_flood_control_is_obeyed_and_holds_no_other_chat(
    home: StageHome, remote: AnyRemote
) -> None:
    ada, ben = remote.person("Ada"), remote.person("Ben")
    private = remote.private(ada)
    flood = remote.flood(private)
    await remote.say(private, ada, "one?")
    await flood.wait_refused()
    await remote.say(remote.private(ben), ben, "one?")
    await remote.server.wait_for(
        lambda: remote.shown(remote.private(ben)), what="another chat was held up"
    )
    assert remote.shown(private) == []
    flood.lift()
    await home.quiet()
    assert [m.text for m in remote.shown(private)] == ["Go on."]
    calls = flood.calls
    assert calls[-1].status == 200
    for refused, following in pairwise(calls):
        assert refused.ended is not None
        assert following.started - refused.ended >= flood.seconds * 0.99


async def test_an_answer_without_a_receipt_is_shown_once(
    home: StageHome, remote: AnyRemote
) -> None:
    ada = remote.person()
    private = remote.private(ada)
    await home.tell(ada, "one?")
    remote.server.drop(remote.sends(private), stage=Stage.ANSWER)
    answers = await home.ask(private, ada, "two?")
    assert [m.text for m in answers if not m.labels] == ["Go on."]
    repeatable = home.channel().capabilities.repeatable_for > 0
    assert [m.labels for m in answers if m.labels] == ([] if repeatable else [("Show again",)])


async def test_a_chat_that_is_closed_to_us_is_recorded_and_others_go_on(
    home: StageHome, remote: AnyRemote, openai: OpenAIServer
) -> None:
    ada, ben = remote.person("Ada"), remote.person("Ben")
    reply, gate = hanging()
    openai.script(reply)
    await remote.say(remote.private(ada), ada, "one?")
    await gate.wait_reached()
    remote.shut(ada)
    gate.release()
    await home.quiet()
    assert (await home.tell(ben, "one?")).text == "Go on."
    assert remote.shown(remote.private(ada)) == []
    rows = await home.read(lambda s: s.exec(select(Outgoing).order_by(Outgoing.id)).all())
    assert [row.state for row in rows] == [OutgoingState.FAILED, OutgoingState.SENT]
    assert "cannot be delivered" in home.log


async def test_what_cannot_be_read_gets_one_sentence(home: StageHome, remote: AnyRemote) -> None:
    ada = remote.person()
    await remote.sticker(remote.private(ada), ada)
    await home.quiet()
    [answer] = remote.shown(remote.private(ada))
    assert answer.text.startswith("That kind of message is beyond me. Write it out, please")
    await remote.sticker(remote.group(ada), ada)
    assert (await home.tell(ada, "one?")).text == "Go on."
    assert len(home.prompts) == 1


async def test_a_kind_of_event_that_nobody_knows_is_harmless(
    home: StageHome, remote: AnyRemote
) -> None:
    ada = remote.person()
    await home.tell(ada, "one?")
    await remote.strange()
    assert (await home.tell(ada, "two?")).text == "Go on."
    assert home.house.health() == {home.channel().name: None}
    assert "Traceback" not in home.log


async def test_an_edit_counts_while_the_question_waits_and_later_as_context(
    home: StageHome, remote: AnyRemote, openai: OpenAIServer
) -> None:
    ada = remote.person()
    private = remote.private(ada)
    reply, gate = hanging()
    openai.script(reply)
    first = await remote.say(private, ada, "one?")
    await gate.wait_reached()
    waiting = await remote.say(private, ada, "tow?")
    await home.taken()
    await remote.edit(private, waiting, "two?")
    await home.taken()
    gate.release()
    await home.quiet()
    assert spoken(home.prompts[1])[-1] == ("user", "two?")
    await remote.edit(private, first, "uno?")
    await home.quiet()
    assert [m.text for m in await home.ask(private, ada, "three?")] == ["Go on."]
    said = [text for role, text in spoken(home.prompts[-1]) if role == "user"]
    assert said == ["uno?", "two?", "three?"]
    assert len(remote.shown(private)) == 3


async def test_an_edit_into_a_command_runs_nothing(home: StageHome, remote: AnyRemote) -> None:
    ada = remote.person()
    private = remote.private(ada)
    asked = await remote.say(private, ada, "one?")
    await home.quiet()
    await remote.edit(private, asked, "/add two :: three")
    assert "no cards" in (await home.tell(ada, "/due")).text
    assert len(remote.shown(private)) == 2


async def test_a_turn_is_stopped_at_once_and_its_answer_never_comes(
    home: StageHome, stage: AnyStage, openai: OpenAIServer
) -> None:
    ada = stage.person()
    private = stage.private(ada)
    reply, gate = hanging()
    openai.script(reply)
    await stage.say(private, ada, "one?")
    await gate.wait_reached()
    [stopped] = await home.ask(private, ada, "/stop")
    assert "Stopped." in stopped.text
    gate.release()
    answer = await home.tell(ada, "two?")
    assert answer.text.strip() == "Go on."
    assert len(stage.shown(private)) == 2


async def test_the_sign_of_work_is_shown_where_it_was_asked_and_taken_away(
    home: StageHome, remote: AnyRemote, openai: OpenAIServer
) -> None:
    ada = remote.person()
    place, elsewhere = remote.thread(ada), remote.private(ada)
    reply, gate = hanging()
    openai.script(reply)
    await remote.say(place, ada, "one?", mention=True)
    await remote.server.wait_for(lambda: remote.working(place), what="no sign of work")
    await gate.wait_reached()
    assert not remote.working(elsewhere)
    gate.release()
    await home.quiet()
    await remote.server.wait_for(lambda: not remote.working(place), what="the sign stays")
    assert [m.text for m in remote.shown(place)] == ["late answer"]


async def test_neither_secrets_nor_traces_are_ever_shown(
    home: StageHome, stage: AnyStage, openai: OpenAIServer
) -> None:
    ada = stage.person()
    private = stage.private(ada)
    spilt = f"Traceback (most recent call last): {KEY}"
    openai.script(
        Reply.failing(401, spilt),
        Reply.failing(400, spilt),
        Reply("half", trouble=Trouble.GARBAGE, trouble_after=1),
    )
    for number in range(3):
        assert await home.ask(private, ada, f"question {number}?")
    secrets = [KEY]
    if isinstance(stage, RemoteStage):
        async with stage.cut_off():
            await stage.say(private, ada, "are you there?")
        await home.quiet()
        secrets += stage.secrets()
    said = "\n".join(message.text for message in stage.shown(private))
    for hidden in ("Traceback", "Error(", 'File "', *secrets):
        assert hidden not in said
    for secret in secrets:
        assert secret not in home.log
