"""What every channel promises: answers, places, commands, buttons, languages, strangers."""

from __future__ import annotations

import re

from core.access import AccessMode
from tests.contract.conftest import MakeHome
from tests.contract.home import StageHome
from tests.contract.stage import AnyRemote, AnyStage, RemoteStage
from tests.house.home import code_in, spoken
from tests.servers.openai import OpenAIServer, Reply

CODE = re.compile(r"\b[0-9A-Z]{4}-[0-9A-Z]{2}\b")


async def test_a_question_in_private_is_answered_there_once_and_formatted(
    home: StageHome, stage: AnyStage, openai: OpenAIServer
) -> None:
    ada = stage.person()
    openai.default = Reply("A **limit** of 2*3:\n\n```python\nx = 1\n```\n")
    answer = await home.tell(ada, "what is a limit?")
    assert "A limit of 2*3:" in answer.text
    assert answer.bold == (("limit",) if stage.styled else ())
    assert answer.code == ("x = 1",)
    assert [text for _, text in spoken(home.prompts[0])] == ["what is a limit?"]


async def test_a_long_answer_arrives_whole_and_in_order_with_its_code_in_blocks(
    home: StageHome, stage: AnyStage, openai: OpenAIServer
) -> None:
    ada = stage.person()
    words = [f"word{number}" for number in range(3000)]
    lines = [f"line{number} = {number}" for number in range(400)]
    paragraphs = [" ".join(words[at : at + 60]) for at in range(0, len(words), 60)]
    code = "\n".join(lines)
    half = len(paragraphs) // 2
    source = [*paragraphs[:half], f"```python\n{code}\n```", *paragraphs[half:]]
    openai.default = Reply("\n\n".join(source))
    answers = await home.ask(stage.private(ada), ada, "tell me everything")
    if stage.remote:
        assert len(answers) > 1
    said = "\n".join(answer.text for answer in answers)
    assert re.findall(r"word\d+", said) == words
    shown = [
        line.strip() for answer in answers for block in answer.code for line in block.split("\n")
    ]
    assert shown == lines
    assert said.index("line399") < said.index(words[half * 60])


async def test_a_group_is_answered_when_it_speaks_to_the_tutor_and_only_then(
    home: StageHome, remote: AnyRemote
) -> None:
    ada, ben = remote.person("Ada"), remote.person("Ben")
    group = remote.group(ada, ben)
    assert await home.ask(group, ada, "zebra7 to all of you") == []
    assert await home.ask(group, ada, f"{remote.name_of(ben)} zebra7?") == []
    assert home.prompts == []
    assert b"zebra7" not in (home.folder / "partners.db").read_bytes()
    asked = await remote.say(group, ada, "what is a limit?", mention=True)
    await home.quiet()
    [answer] = remote.shown(group)
    assert answer.text == "Go on."
    assert answer.quotes == asked.message_id
    assert spoken(home.prompts[0]) == [("user", "what is a limit?")]


async def test_a_mention_without_words_is_asked_what_it_wants(
    home: StageHome, remote: AnyRemote
) -> None:
    ada = remote.person()
    [answer] = await home.ask(remote.group(ada), ada, "", mention=True)
    assert "What shall we work on?" in answer.text
    assert home.prompts == []


async def test_a_reply_to_the_tutor_joins_its_conversation(
    home: StageHome, remote: AnyRemote, openai: OpenAIServer
) -> None:
    ada, ben = remote.person("Ada"), remote.person("Ben")
    group = remote.group(ada, ben)
    openai.script(Reply("To Ada."), Reply("To Ben."))
    [to_ada] = await home.ask(group, ada, "one?", mention=True)
    [to_ben] = await home.ask(group, ben, "why?", reply_to=to_ada)
    assert to_ben.text == "To Ben."
    assert spoken(home.prompts[1]) == [
        ("user", "Ada: one?"),
        ("assistant", "To Ada."),
        ("user", "why?"),
    ]


async def test_a_reply_that_calls_somebody_else_first_is_left_to_them(
    home: StageHome, remote: AnyRemote
) -> None:
    ada, ben = remote.person("Ada"), remote.person("Ben")
    group = remote.group(ada, ben)
    [answer] = await home.ask(group, ada, "one?", mention=True)
    to_ben = f"{remote.name_of(ben)} is that so?"
    assert await home.ask(group, ada, to_ben, reply_to=answer) == []
    [both] = await home.ask(group, ada, f"is that so, {remote.name_of(ben)}?", reply_to=answer)
    assert both.text == "Go on."
    assert "is that so, @ben" in spoken(home.prompts[-1])[-1][1].casefold()


async def test_a_thread_keeps_answers_errors_commands_and_what_buttons_bring(
    home: StageHome, remote: AnyRemote, openai: OpenAIServer
) -> None:
    ada, ben = remote.person("Ada"), remote.person("Ben")
    thread = remote.thread(ada, ben)
    [answer] = await home.ask(thread, ada, "one?", mention=True)
    assert answer.text == "Go on."
    openai.script(Reply.failing(401, "no"))
    [trouble] = await home.ask(thread, ben, "two?", mention=True)
    assert trouble.labels == ("Try again",)
    _, [second] = await home.press(thread, ben, trouble, "Try again")
    assert second.text == "Go on."
    before = remote.shown(thread)
    await remote.command(thread, ada, "status")
    await home.quiet()
    [status] = home.new(thread, before)
    assert "ready" in status.text.casefold()
    openai.default = Reply("\n\n".join("word " * 100 for _ in range(80)))
    assert len(await home.ask(thread, ada, "and at length?", mention=True)) > 1
    inside = {message.id for message in remote.shown(thread)}
    assert {message.id for message in remote.shown(remote.around(thread))} <= inside
    assert "Ada: one?" in [text for _, text in spoken(home.prompts[2])], "a thread is shared"


async def test_a_command_works_from_the_menu_and_written_out(
    home: StageHome, remote: AnyRemote
) -> None:
    ada = remote.person()
    private, group = remote.private(ada), remote.group(ada)
    await remote.command(private, ada, "add", "2+2? :: 4")
    await home.quiet()
    [added] = remote.shown(private)
    assert "Saved" in added.text
    assert "1 question is waiting" in (await home.tell(ada, "/due")).text
    await remote.command(group, ada, "help")
    await home.quiet()
    [by_menu] = remote.shown(group)
    assert "/status" in by_menu.text
    [by_text] = await home.ask(group, ada, "/help", mention=True)
    assert by_text.text == by_menu.text
    assert home.prompts == []


async def test_a_command_written_out_works_and_one_nobody_knows_shows_the_way(
    home: StageHome, stage: AnyStage
) -> None:
    ada = stage.person()
    assert "Saved" in (await home.tell(ada, "/add 2+2? :: 4")).text
    assert "Did you mean /review?" in (await home.tell(ada, "/reveiw")).text
    assert home.prompts == []


async def test_a_review_is_pressed_to_its_end(home: StageHome, stage: AnyStage) -> None:
    ada = stage.person()
    private = stage.private(ada)
    await home.tell(ada, "/add zebra? :: lion")
    message = await home.tell(ada, "/review")
    assert "lion" not in message.text
    for label, expected in ((0, "lion"), (2, "Done for today")):
        shown, below = await home.press(private, ada, message, message.labels[label])
        message = below[0] if below else shown
        assert bool(below) is not stage.remote, "in place where messages can be replaced"
        assert expected in message.text


async def test_a_button_acts_for_the_presser_and_changes_only_what_was_said_to_them(
    home: StageHome, remote: AnyRemote
) -> None:
    ada, eve = remote.person("Ada"), remote.person("Eve")
    group = remote.group(ada, eve)
    [tutors] = await home.ask(group, ada, "/persona", mention=True)
    shown, [below] = await home.press(group, eve, tutors, "Euler")
    assert shown.text == tutors.text, "what was said to Ada stays as it is"
    assert "you learn with Euler" in below.text
    [still] = await home.ask(group, ada, "/persona", mention=True)
    assert "● Socrates" in still.text
    shown, more = await home.press(group, ada, still, "Euler")
    assert ("you learn with Euler" in shown.text, more) == (True, [])


async def test_a_reminder_finds_the_private_chat_of_somebody_not_seen_since_the_start(
    home: StageHome, remote: AnyRemote
) -> None:
    ada, ben = remote.person("Ada"), remote.person("Ben")
    group = remote.group(ada, ben)
    await home.tell(ada, "/add zebra? :: lion")
    await home.ask(group, ada, "one?", mention=True)
    before = remote.shown(remote.private(ada)), remote.shown(group)
    await home.restart()
    home.clock.advance(hours=24)
    for _ in range(2):
        await home.house.sweep()
        await home.quiet()
    [nudge] = home.new(remote.private(ada), before[0])
    assert "zebra?" in nudge.text
    assert "Show answer" in nudge.labels
    assert home.new(group, before[1]) == []
    shown, below = await home.press(remote.private(ada), ada, nudge, "Show answer")
    assert ("lion" in shown.text, below) == (True, [])


async def test_a_chinese_learner_is_served_in_chinese(make_home: MakeHome, stage: AnyStage) -> None:
    ada = stage.person(chinese=True)
    home = await make_home()
    if isinstance(stage, RemoteStage):
        await stage.command(stage.private(ada), ada, "status")
        await home.quiet()
        [status] = stage.shown(stage.private(ada))
        assert "准备好了" in status.text
    assert "准备好了" in (await home.tell(ada, "/status")).text


async def test_a_stranger_gets_a_code_in_private_and_never_in_a_group(
    make_home: MakeHome, remote: AnyRemote
) -> None:
    home = await make_home(mode=AccessMode.PAIRING)
    ada = remote.person()
    group, private = remote.group(ada), remote.private(ada)
    [answer] = await home.ask(group, ada, "let me in", mention=True)
    assert "privately" in answer.text
    assert not CODE.search(answer.text)
    await remote.sticker(private, ada)
    await home.quiet()
    [refusal] = remote.shown(private)
    code = code_in(refusal.text)
    assert code_in((await home.tell(ada, "hello")).text) == code
    assert (home.prompts, remote.working(private)) == ([], False)
    before = remote.shown(private)
    assert await home.approve(code) is not None
    home.house.delivery.look()
    await home.quiet()
    [welcome] = home.new(private, before)
    assert welcome.text
    assert (await home.tell(ada, "and now?")).text == "Go on."


async def test_what_the_model_says_notifies_nobody(
    home: StageHome, remote: AnyRemote, openai: OpenAIServer
) -> None:
    ada, ben = remote.person("Ada"), remote.person("Ben")
    group = remote.group(ada, ben)
    alarms = remote.alarms(ben)
    openai.default = Reply(f"{alarms}\n\n| a |\n|---|\n| {alarms} |\n\n```\n{alarms}\n```")
    [answer] = await home.ask(group, ada, "call everybody", mention=True)
    assert not answer.rings
    await home.tell(ada, f"/remember {alarms}")
    [memory] = [(await home.tell(ada, "/memory"))]
    assert not memory.rings


async def test_an_answer_made_anew_takes_the_place_of_the_old_one_where_it_can(
    home: StageHome, stage: AnyStage, openai: OpenAIServer
) -> None:
    ada = stage.person()
    place = stage.private(ada)
    openai.script(Reply("First."), Reply("**Second.**"))
    first = await home.tell(ada, "why?")
    new = await home.ask(place, ada, "/regenerate")
    if stage.channel(home.clock).capabilities.can_edit:
        assert new == []
        assert home.now(place, first).text.strip() == "Second."
    else:
        assert [one.text.strip() for one in new] == ["Second."]


async def test_the_button_below_an_answer_makes_it_anew(
    make_home: MakeHome, stage: AnyStage, openai: OpenAIServer
) -> None:
    home = await make_home(offers_anew=True)
    ada = stage.person()
    openai.script(Reply("First."), Reply("Second."))
    first = await home.tell(ada, "why?")
    if not stage.channel(home.clock).capabilities.can_edit:
        assert first.labels == ()
        return
    assert first.labels == ("↻",)
    now, new = await home.press(stage.private(ada), ada, first, "↻")
    assert now.text.startswith("Second.")
    assert (now.labels, new) == (("↻",), [])
