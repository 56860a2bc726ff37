"""``echo question | partners chat``: one message in, one answer out."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.command_line.talk import small_model
from bots.terminal.receive import decoded
from core.i18n import words_for
from core.llm.detect import LocalServer
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


def test_the_packaged_model_answers_and_says_aside_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "partners.toml").write_text(
        "[capabilities.chat]\nresponding.max_tokens = 24\n", encoding="utf-8"
    )
    # A model in this process shares the cores with everything else that runs.
    done = pipe(Installation(tmp_path), "Say hello.", within=4 * PATIENCE)
    assert done.status == 0
    assert done.out.strip()
    assert "small offline model" not in done.out
    assert done.err.count("small offline model") == 1
    assert "OPENAI_API_KEY" in done.err


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
    processes = {word: begin(installation) for word in ("red", "green")}
    for word, process in processes.items():
        done = end(process, word.encode())
        assert (done.status, done.out, done.err) == (0, f"You said: {word}\n", "")
    assert [len(request.json["messages"]) for request in openai.chats] == [3, 3]


def test_odd_bytes_come_in_and_what_the_output_cannot_write_is_left_out(
    tmp_path: Path, openai: OpenAIServer
) -> None:
    openai.default = Reply("The root of 2 is written √2, in Chinese 根号2.")
    narrow = Installation(tmp_path, openai=openai, PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    (tmp_path / "partners.toml").write_text("unheard_of = 1\n", encoding="utf-8")
    done = pipe(narrow, b"private caf\xc3\xa9\x00 \x1b[31mFrench?\n")
    assert (done.status, done.out) == (0, "The root of 2 is written ?2, in Chinese ??2.\n")
    assert question(openai.chats[0]) == "private café [31mFrench?"
    lines = [json.loads(line) for line in done.err.splitlines()]
    assert [line["level"] for line in lines] == ["WARNING"]
    assert "unheard_of" in lines[0]["message"]
    assert "private" not in done.err


def test_a_command_or_nothing_asks_no_model_in_the_language_that_is_set(
    tmp_path: Path, openai: OpenAIServer
) -> None:
    chinese = Installation(tmp_path, openai=openai, PARTNERS_LANGUAGE="zh")
    shown = pipe(chinese, "/help\r\n")
    assert (shown.status, shown.err) == (0, "")
    assert "/new 开始新的对话" in shown.out
    assert "Ask me anything" not in shown.out
    empty = pipe(chinese, b" \r\n\x00\n")
    assert (empty.status, empty.out) == (1, "")
    assert "没有收到问题" in empty.err
    assert openai.requests == []


def test_settings_that_name_no_model_are_told_before_anything_is_asked(tmp_path: Path) -> None:
    done = pipe(Installation(tmp_path, PARTNERS_MODEL="some-model"), "why?")
    assert (done.status, done.out) == (1, "")
    assert "PARTNERS_MODEL is “some-model”, but there is no OPENAI_API_KEY" in done.err
    assert "Traceback" not in done.err


def test_the_notice_of_the_small_model_names_the_servers_that_are_running() -> None:
    en = words_for("en")
    alone = small_model(en, [])
    assert "small offline model" in alone
    assert "is running here" not in alone
    ollama = LocalServer("Ollama", "http://127.0.0.1:11434/v1")
    told = small_model(en, [ollama]).removeprefix(alone)
    assert told.startswith(
        "\nOllama is running here: set OPENAI_BASE_URL=http://127.0.0.1:11434/v1"
    )


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
