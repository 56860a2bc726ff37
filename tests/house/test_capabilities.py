"""Which capability answers: by command, by persona, by the model's choice; and so again."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlmodel import col, select

from core.capabilities.quiz import QUIZ
from core.capabilities.solve import SOLVE
from core.store.tables import Turn
from tests.house.conftest import MakeHome
from tests.house.home import Home, hanging, spoken, system, tools_of
from tests.house.test_quiz import written
from tests.house.tools import HANDY
from tests.servers.openai import OpenAIServer, Reply, ToolCall
from tests.servers.telegram import TelegramServer, media

TASK = SOLVE.prompts.of("en", small=False)
ONE, OTHER = "capabilities: [chat]", "id: handy"


def persona(folder: Path, name: str, capabilities: str) -> None:
    (folder / "personas").mkdir(exist_ok=True)
    text = HANDY.replace(ONE, capabilities).replace(OTHER, f"id: {name}")
    assert capabilities in text
    (folder / "personas" / f"{name}.md").write_text(text, encoding="utf-8")


async def test_a_problem_is_solved_by_command_with_that_ones_prompt_tools_and_history(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/persona euler")
    openai.script(Reply("**x = 3**"), Reply("Because."))
    assert (await home.tell(ada, "/solve 2x + 1 = 7")).text == "x = 3"
    [request] = home.prompts
    assert TASK in system(request)
    assert spoken(request) == [("user", "2x + 1 = 7")]
    assert "calculate" in tools_of(request) and "show_progress" not in tools_of(request)
    assert request.json["temperature"] == pytest.approx(home.budget.temperature)
    await home.tell(ada, "why?")
    assert TASK not in system(home.prompts[-1])
    assert spoken(home.prompts[-1])[:2] == [("user", "2x + 1 = 7"), ("assistant", "**x = 3**")]
    journal = await home.journal_of(ada)
    assert journal.count("asked: 2x + 1 = 7") == 1 and "/solve" not in journal


async def test_the_problem_may_be_in_the_message_that_is_replied_to(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, bob = telegram.user(7, "Ada"), telegram.user(8, "Bob")
    group = telegram.group("Club")
    puzzle = group.say(bob, "What is 17 mod 5?")
    openai.script(Reply("2"))
    [answer] = await home.ask(group, ada, "/solve@tutor_bot", reply_to=puzzle)
    assert answer.text == "2"
    assert "17 mod 5" in system(home.prompts[-1]) and TASK in system(home.prompts[-1])


async def test_a_file_under_the_command_is_the_problem(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(Reply("4"))
    media.document(ada.private, ada, "task.txt", b"2 + 2", "/solve the second one")
    await home.quiet()
    [request] = home.prompts
    assert TASK in system(request)
    assert request.json["messages"][-1]["content"].startswith("the second one\n\n[file task.txt")


async def test_a_command_alone_is_answered_with_how_it_is_used(
    home: Home, telegram: TelegramServer
) -> None:
    answer = await home.tell(telegram.user(7, "Ada"), "/solve")
    assert answer.text == "Write it like this: /solve PROBLEM"
    assert not home.prompts


async def test_a_tutor_that_does_not_solve_says_so_and_shows_who_may(
    tmp_path: Path, make_home: MakeHome, telegram: TelegramServer
) -> None:
    persona(tmp_path, "talker", ONE)
    home = await make_home()
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/persona talker")
    answer = await home.tell(ada, "/solve 1 + 1")
    assert "does not do that" in answer.text and answer.labels == ["Choose a tutor"]
    assert not home.prompts
    await home.tell(ada, "1 + 1")
    answer = await home.tell(ada, "/regenerate capability=solve")
    assert "does not do that" in answer.text
    assert len(home.prompts) == 1


async def test_a_persona_whose_first_way_is_solving_solves_what_is_written(
    tmp_path: Path, make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    persona(tmp_path, "solver", "capabilities: [solve, chat]")
    home = await make_home()
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/persona solver")
    openai.script(Reply("2"))
    await home.tell(ada, "1 + 1")
    assert TASK in system(home.prompts[-1])


async def test_the_model_chooses_where_a_persona_wishes_so_and_is_not_asked_again(
    tmp_path: Path, make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    persona(tmp_path, "both", "capabilities: [chat, solve]\nrouting: classifier")
    home = await make_home()
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/persona both")
    openai.script(Reply("solve"), Reply("2"), Reply("two"), Reply("chat"), Reply("Hello."))
    await home.tell(ada, "1 + 1")
    chosen, solved = home.prompts
    assert "1 + 1" in chosen.json["messages"][-1]["content"] and TASK in system(solved)
    turn = await home.read(lambda s: s.exec(select(Turn).order_by(col(Turn.id).desc())).first())
    assert turn is not None
    assert (turn.capability, turn.prompt_tokens) == ("solve", 200), "both calls are counted"
    ada.say("/regenerate")
    await home.quiet()
    assert len(home.prompts) == 3 and TASK in system(home.prompts[-1])
    await home.tell(ada, "hello")
    assert len(home.prompts) == 5 and TASK not in system(home.prompts[-1])


async def test_an_answer_is_made_anew_in_another_way(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(Reply("What have you tried?"), Reply("2"), Reply("two"))
    await home.tell(ada, "1 + 1")
    ada.say("/regenerate capability=solve")
    await home.quiet()
    assert TASK in system(home.prompts[-1]) and spoken(home.prompts[-1]) == [("user", "1 + 1")]
    ada.say("/retry")
    await home.quiet()
    assert TASK in system(home.prompts[-1])
    assert [m.text for m in ada.private.from_bot] == ["two"]
    answer = await home.tell(ada, "/regenerate capability=dance")
    assert answer.text == "I can answer in these ways: chat, solve, quiz."


async def test_what_was_asked_by_command_is_kept_when_it_is_stopped(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(reply)
    ada.say("/solve 1 + 1")
    await gate.wait_reached()
    await home.ask(ada.private, ada, "/stop")
    gate.drop()
    await home.quiet()
    assert "asked: 1 + 1" in await home.journal_of(ada)
    openai.script(Reply("2"))
    ada.say("/regenerate")
    await home.quiet()
    assert spoken(home.prompts[-1]) == [("user", "1 + 1")] and TASK in system(home.prompts[-1])


async def test_a_tool_that_the_way_does_not_use_cannot_be_called(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.script(Reply.calls(ToolCall("show_progress")), Reply("2"))
    await home.tell(ada, "/solve 1 + 1")
    [result] = [m for m in home.prompts[-1].json["messages"] if m["role"] == "tool"]
    assert "show_progress" in result["content"] and "There is no tool" in result["content"]


async def test_a_quiz_that_is_asked_for_in_words_is_a_quiz(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    topic = {"topic": "cells", "questions": 3}
    openai.script(Reply.calls(ToolCall("start_quiz", topic)), written())
    question = await home.tell(ada, "quiz me on cells")
    assert "1/3" in question.text and "A" in question.labels
    assert (await home.journal_of(ada)).count("asked: quiz me on cells") == 1
    turn = await home.read(lambda s: s.exec(select(Turn).order_by(col(Turn.id).desc())).first())
    assert turn is not None and turn.prompt_tokens == 200, "both calls are counted"
    message, _ = await home.press(question, "A")
    assert "2/3" in message.text


async def test_by_the_capability_too_and_a_persona_without_the_tool_starts_none(
    tmp_path: Path, make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    persona(tmp_path, "asker", "capabilities: [chat, quiz]\nrouting: classifier")
    home = await make_home()
    ada = telegram.user(7, "Ada")
    openai.script(Reply("What do you know?"))
    await home.tell(ada, "cells")
    openai.script(
        Reply.calls(ToolCall("start_quiz", {"topic": "cells", "questions": 3})), written()
    )
    ada.say("/regenerate capability=quiz")
    await home.quiet()
    assert QUIZ.prompts.of("en", small=False) in system(home.prompts[1])
    assert tools_of(home.prompts[1]) >= {"start_quiz"}
    await home.tell(ada, "/persona asker")
    openai.script(
        Reply("quiz"), Reply.calls(ToolCall("start_quiz", {"topic": "x"})), Reply("Try /quiz x.")
    )
    answer = await home.tell(ada, "ask me something")
    assert answer.text == "Try /quiz x."
    assert "start_quiz" not in tools_of(home.prompts[-1])
