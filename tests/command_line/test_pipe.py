"""``echo question | partners chat``: one message in, one answer out."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.terminal.receive import decoded
from tests.command_line.piping import begin, end, pipe
from tests.process import PATIENCE, Installation
from tests.servers.faults import Gate, RecordedRequest
from tests.servers.openai import OpenAIServer, Reply


@pytest.fixture
def installation(tmp_path: Path, openai: OpenAIServer) -> Installation:
    return Installation(tmp_path, openai=openai)


def question(request: RecordedRequest) -> str:
    said: str = request.json["messages"][-1]["content"]
    return said


def test_a_pipe_is_one_message_and_the_output_is_the_answer_alone(
    installation: Installation, openai: OpenAIServer
) -> None:
    openai.default = Reply("**Try it** with `x = 2` first.", chunks=4)
    done = pipe(installation, "first line\r\n\r\n  second line\n")
    assert (done.status, done.out, done.err) == (0, "Try it with x = 2 first.\n", "")
    (asked,) = openai.chats
    assert question(asked) == "first line\n\n  second line"
    assert "partners.db" in {file.name for file in installation.data.iterdir()}


def test_a_model_that_fails_is_told_in_a_sentence_and_the_status(
    installation: Installation, openai: OpenAIServer
) -> None:
    openai.default = Reply.failing(401, "Incorrect API key provided.", code="invalid_api_key")
    done = pipe(installation, "why?")
    assert done.status == 1
    assert "the fault is not yours" in done.out
    assert "(ref" in done.out
    assert "Try again" not in done.out  # nobody is there to press it
    assert "Traceback" not in done.err


@pytest.mark.parametrize("data", [b"", b" \r\n\x00\n"])
def test_an_empty_pipe_asks_nothing(
    installation: Installation, openai: OpenAIServer, data: bytes
) -> None:
    done = pipe(installation, data)
    assert (done.status, done.out) == (1, "")
    assert "There is no question" in done.err
    assert openai.requests == []


def test_a_piped_command_needs_no_model_and_its_notice(tmp_path: Path) -> None:
    done = pipe(Installation(tmp_path), "/help\n")
    assert done.status == 0
    assert "/review" in done.out
    assert done.err == ""


def test_the_packaged_model_answers_and_says_aside_what_it_is(tmp_path: Path) -> None:
    done = pipe(Installation(tmp_path), "Say hello.")
    assert done.status == 0
    assert done.out.strip()
    assert "small offline model" not in done.out
    assert done.err.count("small offline model") == 1
    assert "OPENAI_API_KEY" in done.err


def test_bytes_that_are_no_utf_8_are_read_as_far_as_they_can_be(
    installation: Installation, openai: OpenAIServer
) -> None:
    openai.default = Reply("Yes.")
    done = pipe(installation, b"is caf\xe9\x00 \x1b[31mFrench?\n")
    assert (done.status, done.err) == (0, "")
    assert question(openai.chats[0]) == "is caf\ufffd [31mFrench?"


def test_a_very_long_message_reaches_the_model_whole_or_is_turned_away_in_words(
    installation: Installation, openai: OpenAIServer
) -> None:
    openai.default = Reply("Long.")
    long = "".join(f"{n} bottles, " for n in range(8_000))[:100_000].strip()
    assert pipe(installation, long).out == "Long.\n"
    assert question(openai.chats[0]) == long

    (installation.folder / "partners.toml").write_text(
        "[capabilities.chat]\ncontext_tokens = 8000\n", encoding="utf-8"
    )
    refused = pipe(installation, long)
    assert refused.status == 1
    assert f"That is {len(long):,} characters" in refused.out
    assert len(openai.chats) == 1


def test_an_output_that_nobody_reads_any_more_ends_without_a_traceback(
    installation: Installation, openai: OpenAIServer
) -> None:
    gate = Gate()
    openai.script(Reply.hanging(gate, "an answer for nobody"))
    process = begin(installation)
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(b"why?")
    process.stdin.close()
    gate.wait_reached_blocking(PATIENCE)
    process.stdout.close()
    gate.release()
    err = process.stderr.read().decode()
    assert process.wait(PATIENCE) == 1
    process.stderr.close()
    assert "Traceback" not in err
    assert "Exception ignored" not in err


def test_pipes_at_once_get_each_their_own_answer(
    installation: Installation, openai: OpenAIServer
) -> None:
    openai.default = lambda request: Reply(f"You said: {question(request)}")
    processes = {word: begin(installation) for word in ("red", "green", "blue")}
    for word, process in processes.items():
        done = end(process, word.encode())
        assert (done.status, done.out, done.err) == (0, f"You said: {word}\n", "")
    assert [len(request.json["messages"]) for request in openai.chats] == [2, 2, 2]


def test_a_pipe_speaks_the_language_that_is_set(tmp_path: Path) -> None:
    chinese = Installation(tmp_path, PARTNERS_LANGUAGE="zh", PARTNERS_MODEL="local")
    shown = pipe(chinese, "/help")
    assert shown.status == 0
    assert "/new 开始新的对话" in shown.out
    assert "Ask me anything" not in shown.out
    empty = pipe(chinese, "")
    assert (empty.status, empty.out) == (1, "")
    assert "没有收到问题" in empty.err


def test_an_output_that_cannot_write_every_character_writes_the_others(
    tmp_path: Path, openai: OpenAIServer
) -> None:
    openai.default = Reply("The root of 2 is written √2, in Chinese 根号2.")
    narrow = Installation(tmp_path, openai=openai, PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    done = pipe(narrow, "how?")
    assert (done.status, done.err) == (0, "")
    assert done.out == "The root of 2 is written ?2, in Chinese ??2.\n"


def test_what_is_logged_from_a_pipe_is_json_without_the_words(
    installation: Installation, openai: OpenAIServer
) -> None:
    openai.default = Reply("Fine.")
    (installation.folder / "partners.toml").write_text("unheard_of = 1\n", encoding="utf-8")
    done = pipe(installation, "a private matter")
    assert done.out == "Fine.\n"
    lines = [json.loads(line) for line in done.err.splitlines()]
    assert [line["level"] for line in lines] == ["WARNING"]
    assert "unheard_of" in lines[0]["message"]
    assert "private" not in done.err


# --- what a pipe says, purely -------------------------------------------------------------------


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_every_encoding_that_marks_itself_is_understood(text: str) -> None:
    kept = text.strip("\r\n")
    assert decoded(text.encode("utf-8-sig"), "latin-1") == kept
    assert decoded(codecs.BOM_UTF16_LE + text.encode("utf-16-le"), "latin-1") == kept
    assert decoded(codecs.BOM_UTF16_BE + text.encode("utf-16-be"), "latin-1") == kept


@given(st.binary())
def test_no_bytes_are_an_error(data: bytes) -> None:
    assert isinstance(decoded(data, "ascii"), str)


def test_other_bytes_are_read_as_the_host_writes() -> None:
    assert decoded("为什么？\r\n".encode("gb18030"), "gb18030") == "为什么？"
