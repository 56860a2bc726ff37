"""``partners chat`` as a person at a terminal has it: real keys, a real screen."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.command_line.piping import begin
from tests.process import PATIENCE, Installation
from tests.servers.faults import Gate
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer
from tests.terminal.pty_process import CHAT, CTRL_C, CTRL_D, ENTER, PASTE, Terminal


@pytest.fixture
def installation(tmp_path: Path, openai: OpenAIServer) -> Installation:
    return Installation(tmp_path, openai=openai)


def said(openai: OpenAIServer) -> list[list[str]]:
    """What every request said beside the system's own words."""
    return [
        [m["content"] for m in chat.json["messages"] if m["role"] != "system"]
        for chat in openai.chats
    ]


def test_an_answer_grows_on_the_screen_is_printed_once_and_is_remembered(
    installation: Installation, openai: OpenAIServer
) -> None:
    gate = Gate()
    openai.script(Reply.hanging(gate, "**Try** `x = 2` and\n\n- look\n- again", after=3, chunks=4))
    openai.default = Reply("Well done.")
    with Terminal(installation) as window:
        window.wait_prompt()
        assert window.text.count("Ask me anything.") == 1
        window.enter("why?")
        gate.wait_reached_blocking(PATIENCE)
        window.wait_text("`x = 2` and")  # the preview, as the model writes it
        gate.release()
        window.wait_prompt()
        assert "Try x = 2 and\n\n• look\n• again" in window.text
        assert window.text.count("x = 2") == 1  # the preview is gone
        assert "\x1b[1mTry\x1b[0m" in window.raw
        window.ask("it is 4")
        assert said(openai)[-1] == ["why?", "**Try** `x = 2` and\n\n- look\n- again", "it is 4"]
        window.enter("   ")  # an empty line asks nothing
        window.type(CTRL_D)
        assert window.wait_end() == 0
    assert len(openai.chats) == 2
    assert "Traceback" not in window.text


def test_numbers_press_the_buttons_of_a_review_to_its_end(
    installation: Installation, openai: OpenAIServer
) -> None:
    openai.default = Reply("Three what?")
    with Terminal(installation) as window:
        window.wait_prompt()
        window.ask("/add 1 + 1? :: two")
        window.ask("/add 2 + 2? :: four")
        window.ask("/review")
        assert "1/2\n\n1 + 1?\n\n[1] Show answer" in window.text
        assert "two" not in window.text.rpartition("1/2")[2]
        window.ask("1")
        assert re.search(r"\[1\] Again .*\[2\] Hard .*\s+\[3\] Good .*\[4\] Easy", window.text)
        window.ask("4")
        assert "✓ Easy" in window.text
        assert "2/2\n\n2 + 2?" in window.text
        window.ask("1")
        window.ask("1")
        assert "Again (next tomorrow, in 1 day)" in window.text
        assert "Done for today: 2 of 2." in window.text
        window.ask("3")  # no button is left: a number is what it is
        assert said(openai) == [["3"]]


def test_ctrl_c_stops_an_answer_and_leaves_at_the_prompt(
    installation: Installation, openai: OpenAIServer
) -> None:
    openai.script(Reply.hanging(Gate(), "Half an answer and more", after=2, chunks=4))
    openai.default = Reply("Here I am.")
    with Terminal(installation) as window:
        window.wait_prompt()
        window.enter("tell me everything")
        window.wait_text("Half an")
        window.type(CTRL_C)
        window.wait_text("Stopped. I remember what you asked.")
        window.wait_prompt()
        assert "Half an" not in window.text
        window.ask("still there?")
        assert "Here I am." in window.text
        assert said(openai)[-1][0] == "tell me everything"
        window.type(CTRL_C)
        assert window.wait_end() == 0
    assert "Traceback" not in window.text


def test_the_programs_own_lines_break_between_words(installation: Installation) -> None:
    with Terminal(installation, columns=30) as window:
        window.wait_prompt()
        assert "Ask me anything. /help shows\nwhat I can do, Ctrl-D ends.\n" in window.text


def test_what_is_typed_while_an_answer_grows_is_asked_next_and_leaves_no_trace_in_it(
    installation: Installation, openai: OpenAIServer
) -> None:
    gate = Gate()
    openai.script(Reply.hanging(gate, "Half an answer\nand more", after=2, chunks=4))
    openai.default = Reply("Here I am.")
    with Terminal(installation) as window:
        window.wait_prompt()
        window.enter("tell me everything")
        window.wait_text("Half an")
        window.enter("still there?")
        gate.release()
        window.wait(lambda: "Here I am." in window.screen.text, "no second answer")
        assert window.text.count("Half an") == 1
        assert window.text.count("still there?") == 1
        assert said(openai)[-1][-1] == "still there?"


def test_pasted_lines_wide_characters_and_stray_bytes_arrive_as_one_message(
    installation: Installation, openai: OpenAIServer
) -> None:
    wide = "导数在极大值处为零，因为切线是水平的。" * 4
    openai.script(Reply(wide, chunks=9), Reply("Yes."))
    with Terminal(installation, columns=50) as window:
        window.wait_prompt()
        window.type(PASTE.format("为什么？\r\n\r\n  f(x) = x²"))
        window.wait_text("f(x) = x²")
        window.type(ENTER)
        window.wait(lambda: "水平的。" in window.screen.text, "no answer")
        window.wait_prompt()
        assert said(openai) == [["为什么？\n\n  f(x) = x²"]]
        answer = window.text.partition("f(x) = x²")[2].strip("\n› ")
        assert answer.replace("\n", "") == wide
        assert max(map(len, answer.splitlines())) == 25  # two columns each
        window.ask("a\udcffb")  # a byte of no encoding
        assert said(openai)[-1][-1] == "a\ufffdb"


def test_no_answer_drives_the_terminal(installation: Installation, openai: OpenAIServer) -> None:
    hostile = [
        "**safe** \x1b",
        "]0;owned\x07 \x1b[2",
        "J\x9b31m \u202egnorw",
        " \x08\x08end\r\nline",
    ]
    openai.default = Reply(chunks=hostile)
    with Terminal(installation, environment={"NO_COLOR": "1"}) as window:
        window.wait_prompt()
        window.ask("hello")
        assert "\x1b[1m" not in window.raw  # nor colours where they are not wanted
        assert window.screen.titles == []
        assert not re.search("\x1b\\[2J|\x9b|\x07|\x08\x08|\u202e", window.raw)
        assert "safe" in window.text
        assert "line" in window.text


def test_every_window_and_pipe_is_a_conversation_of_its_own(
    installation: Installation, openai: OpenAIServer
) -> None:
    openai.default = Reply("Good.")
    with Terminal(installation) as first, Terminal(installation) as second:
        first.wait_prompt()
        second.wait_prompt()
        first.ask("one")
        second.ask("two")
        assert installation.say("chat", stdin="three") == "Good.\n"
        first.ask("four")
        assert said(openai) == [["one"], ["two"], ["three"], ["one", "Good.", "four"]]
        assert first.text.count("Good.") == 2
        assert second.text.count("Good.") == 1
        second.type(CTRL_D)
        assert second.wait_end() == 0


def test_a_window_killed_in_the_middle_of_an_answer_answers_when_it_is_opened_again(
    installation: Installation, openai: OpenAIServer
) -> None:
    gate = Gate()
    openai.script(Reply.hanging(gate, "lost", after=1, chunks=2))
    openai.default = Reply("The answer after all.")
    with Terminal(installation) as window:
        window.wait_prompt()
        window.enter("do not forget me")
        gate.wait_reached_blocking(PATIENCE)
        window.kill()
    gate.drop()
    with Terminal(installation) as window:
        window.wait_text("The answer after all.")
        window.wait_prompt()
        assert window.text.count("The answer after all.") == 1
        window.type(CTRL_D)
        assert window.wait_end() == 0
    assert said(openai) == [["do not forget me"], ["do not forget me"]]


def test_the_small_model_is_announced_once_before_the_first_prompt(tmp_path: Path) -> None:
    with Terminal(Installation(tmp_path)) as window:
        window.wait_prompt()
        window.ask("/status")
        assert window.text.count("This is a small offline model") == 1
        assert window.text.index("small offline model") < window.text.index("Ask me anything.")
        window.type(CTRL_D)
        assert window.wait_end() == 0


def test_a_dumb_terminal_gets_no_colours(installation: Installation, openai: OpenAIServer) -> None:
    openai.default = Reply("**Bold** words.")
    with Terminal(installation, environment={"TERM": "dumb"}) as window:
        window.wait_prompt()
        window.enter("hello")
        window.wait_text("Bold words.")
        window.wait_prompt()
        assert "\x1b[1m" not in window.raw
        window.type(CTRL_C)
        assert window.wait_end() == 0


def test_answers_sent_to_a_file_hold_no_prompt(
    installation: Installation, openai: OpenAIServer
) -> None:
    openai.default = Reply("For the file.")
    with Terminal(installation, "sh", "-c", 'exec "$@" > answers', "sh", *CHAT) as window:
        window.wait_prompt()
        window.enter("why?")
        window.wait(lambda: window.screen.text.count("›") == 2, "no second prompt")
        window.wait_prompt()
        window.type(CTRL_D)
        assert window.wait_end() == 0
    assert (installation.folder / "answers").read_text("utf-8") == "For the file.\n"


def test_a_log_that_a_person_reads_is_in_lines_for_people(
    telegram: TelegramServer, tmp_path: Path
) -> None:
    installation = Installation(tmp_path, telegram, TELEGRAM_BOT_TOKEN="42:WRONG")
    serve = (*CHAT[:-1], "serve")
    with Terminal(installation, *serve, columns=300) as window:
        assert window.wait_end() == 1
        lines = window.text.splitlines()
    assert "@BotFather" in window.text
    assert [line for line in lines if re.match(r"\d\d:\d\d:\d\d ERROR bots\.app: telegram: ", line)]
    assert not [line for line in lines if line.startswith("{")]
    assert "No channel could start." in lines[-1]
    assert "WRONG" not in window.raw


def test_a_closed_input_asks_nothing(installation: Installation) -> None:
    with Terminal(installation, "sh", "-c", 'exec "$@" <&-', "sh", *CHAT) as window:
        assert window.wait_end() == 1
        assert "There is no question" in window.text


def test_an_interrupted_pipe_ends_without_a_traceback(
    installation: Installation, openai: OpenAIServer
) -> None:
    gate = Gate()
    openai.script(Reply.hanging(gate, "too late"))
    process = begin(installation)
    assert process.stdin
    process.stdin.write(b"why?")
    process.stdin.close()
    process.stdin = None
    gate.wait_reached_blocking(PATIENCE)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode not in (0, None)
    assert out == b""
    assert b"Traceback" not in err, err
