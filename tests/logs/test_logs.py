"""What a real handler writes: fields, shapes, and above all what must not be there."""

import asyncio
import gc
import io
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import logs
from core.logs import configure, log_context, redact, reference, register_secret

log = logging.getLogger("tests.logs")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give the process back as it was: hooks, levels, the root's handlers, known secrets."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setattr(logs, "_secrets", set())
    monkeypatch.setattr(logs, "_secrets_pattern", None)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()  # those of pytest; it adds others for the call
    yield
    logging.captureWarnings(capture=False)
    root.handlers[:], root.level = handlers, level


@pytest.fixture
def human() -> Terminal:
    stream = Terminal()
    configure("INFO", stream)
    return stream


@pytest.fixture
def machine() -> io.StringIO:
    stream = io.StringIO()
    configure("INFO", stream)
    return stream


def objects(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().split("\n") if line]


# --- shapes -------------------------------------------------------------------------------------


def test_a_terminal_gets_a_line_for_people(human: Terminal) -> None:
    log.warning("took %s s", 3, extra={"channel": "post"})
    line = human.getvalue()
    assert line.endswith(" WARNING tests.logs: took 3 s (channel=post)\n")
    assert line[2] == line[5] == ":"


def test_anything_else_gets_json_lines(machine: io.StringIO) -> None:
    log.info("started", extra={"port": 80, "ratio": float("nan"), "path": "a\nb"})
    (entry,) = objects(machine)
    assert entry.pop("at").endswith("Z")
    assert entry == {
        "level": "INFO",
        "logger": "tests.logs",
        "message": "started",
        "port": 80,
        "ratio": "nan",
        "path": "a\nb",
    }


@pytest.mark.parametrize("chosen", [True, False])
def test_the_shape_can_be_chosen(chosen: bool) -> None:
    for stream in (Terminal(), io.StringIO()):
        configure(logging.INFO, stream, json=chosen)
        log.info("said")
        assert stream.getvalue().startswith("{") is chosen


def test_configuring_again_replaces_the_stream(machine: io.StringIO) -> None:
    second = io.StringIO()
    configure("WARNING", second)
    log.warning("once")
    log.info("below the level")
    assert machine.getvalue() == ""
    assert [entry["message"] for entry in objects(second)] == ["once"]


def test_an_exception_is_shown_with_its_trace(human: Terminal, machine: io.StringIO) -> None:
    try:
        raise LookupError("no such card")
    except LookupError:
        log.exception("failed")
    (entry,) = objects(machine)
    assert entry["exception"].startswith("Traceback")
    assert entry["exception"].endswith("LookupError: no such card")


# --- context ------------------------------------------------------------------------------------


def test_turn_and_learner_are_on_every_record_inside_also_of_libraries(
    machine: io.StringIO,
) -> None:
    with log_context(turn="01JDABCDEFGHJKMNPQRSTV8f3a", learner="01LEARNER"):
        logging.getLogger("library").warning("inside")
        with log_context(learner="01OTHER"):
            log.info("deeper")
    log.info("outside")
    inside, deeper, outside = objects(machine)
    assert (inside["turn"], inside["learner"], inside["ref"]) == (
        "01JDABCDEFGHJKMNPQRSTV8f3a",
        "01LEARNER",
        "8F3A",
    )
    assert (deeper["turn"], deeper["learner"]) == (inside["turn"], "01OTHER")
    assert not {"turn", "learner", "ref"} & set(outside)


async def test_turns_side_by_side_keep_their_own_context(machine: io.StringIO) -> None:
    both = asyncio.Barrier(2)

    async def turn(name: str) -> None:
        with log_context(turn=name):
            await both.wait()
            log.info("said by %s", name)

    await asyncio.gather(turn("one"), turn("two"))
    assert {entry["message"]: entry["turn"] for entry in objects(machine)} == {
        "said by one": "one",
        "said by two": "two",
    }


@pytest.mark.parametrize(
    ("turn", "short"), [("01JD-8f3a", "8F3A"), ("abc", "ABC"), ("", ""), ("a-b-c-d-e", "BCDE")]
)
def test_a_reference_is_the_end_of_the_turns_id(turn: str, short: str) -> None:
    assert reference(turn) == short


# --- secrets ------------------------------------------------------------------------------------

TOKEN = "123456789:AAHfiqksKZ8WmR2zSjiQ7-v4TMAKdiHm9T0"

LEAKS = [
    (f"POST https://api.example/bot{TOKEN}/sendMessage", TOKEN),
    (f"GET https://api.example/file/bot{TOKEN}/photos/1.jpg?x=1", TOKEN),
    ("GET http://127.0.0.1:8081/bot123:ABC/getMe", "123:ABC"),
    ("/bot123%3AABC/getMe", "ABC"),
    ("url='/bot123:ABC'", "ABC"),
    (f"the token {TOKEN} was refused", TOKEN),
    ("Incorrect API key provided: sk-proj-abc_DEF-0123456789.", "abc_DEF"),
    ("Incorrect API key provided: sk-abcde***********wxyz.", "wxyz"),
    ("{'Authorization': 'Bearer abcdef123456'}", "abcdef123456"),
    ("authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ("Authorization=abcdef123456", "abcdef123456"),
    ("[(b'authorization', b'Bearer abcdef123456')]", "abcdef123456"),
    ("[(b'Authorization', b'Bot abcdef123456')]", "abcdef123456"),
    ("bearer eyJhbGciOi.eyJzdWIi.c2ln-_", "eyJhbGciOi"),
    ("GET https://api.example/v1?key=abcdef&alt=json", "abcdef"),
    ("https://api.example/v1?alt=json&api_key=abcdef", "abcdef"),
    ("https://api.example/v1?access_token=abcdef#x", "abcdef"),
    ("Client(api_key='abcdef', base_url='x')", "abcdef"),
    ('{"app_secret": "abcdef"}', "abcdef"),
    ('{\\"app_secret\\": \\"abcdef\\"}', "abcdef"),
    ("x-api-key: abcdef", "abcdef"),
    ("OPENAI_API_KEY=abcdef", "abcdef"),
    ("postgresql+asyncpg://tutor:hunter@2@db.example/tutor", "hunter"),
    ("postgresql+asyncpg://tutor:hunter@2@db.example/tutor", "@2@"),
]


@pytest.mark.parametrize(("text", "secret"), LEAKS)
def test_what_is_shaped_like_a_secret_is_removed_and_the_rest_stays(text: str, secret: str) -> None:
    cleaned = redact(text)
    assert secret not in cleaned
    assert "[removed]" in cleaned
    assert cleaned.split("[removed]")[0] == text[: len(cleaned.split("[removed]")[0])]


@pytest.mark.parametrize(
    "text",
    [
        "learner 01JDABCDEFGHJKMNPQRSTV8F3A asked at 14:02:11",
        "a task-oriented, risk-aware plan",
        "https://example.org/bots/123/about?page=2&sort=asc",
        "listening on http://127.0.0.1:8080/healthz",
        "turn 12345678:ok",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("shape", [Terminal, io.StringIO])
@pytest.mark.parametrize("secret", ['q"uo\\te-ключ', "plain-secret/with+signs", "пароль!"])
def test_a_registered_secret_is_removed_wherever_it_turns_up(
    shape: type[io.StringIO], secret: str
) -> None:
    stream = shape()
    configure("DEBUG", stream)
    register_secret(secret)
    log.info("message " + secret)
    log.info("argument %s and %r", secret, {"nested": [secret]})
    log.info("field", extra={"url": secret, "list": [secret], secret: "a key"})
    try:
        try:
            raise ValueError(secret)
        except ValueError as cause:
            raise RuntimeError("outer") from cause
    except RuntimeError:
        log.exception("exception")
    log.info("stack", stack_info=True)
    with log_context(learner=secret):
        log.info("context")
    written = stream.getvalue()
    assert "RuntimeError: outer" in written
    for form in (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
        assert form not in written


def test_a_secret_inside_an_address_is_removed(machine: io.StringIO) -> None:
    register_secret("a b/c+d=é")
    log.info("https://example.org/a%20b%2Fc%2Bd%3D%C3%A9/x")
    assert objects(machine)[0]["message"] == "https://example.org/[removed]/x"


def test_of_two_secrets_the_longer_is_removed_whole() -> None:
    register_secret("abcdef")
    register_secret("abcdef-123456")
    assert redact("x abcdef-123456 y abcdef z") == "x [removed] y [removed] z"


def test_a_short_value_does_not_blacken_ordinary_words() -> None:
    register_secret("")
    register_secret("test")
    assert redact("a test") == "a test"


@given(st.text(min_size=6), st.text(), st.text())
def test_no_text_around_a_registered_secret_saves_it(secret: str, before: str, after: str) -> None:
    register_secret(secret)
    # The mark itself may hold the secret ("remove"); the secret is gone where it is not.
    assert secret not in redact(before + secret + after).replace("[removed]", "\0")


async def test_a_real_client_error_with_a_token_in_its_address_shows_no_token(
    machine: io.StringIO,
) -> None:
    aiohttp = pytest.importorskip("aiohttp")
    async with aiohttp.ClientSession() as session:
        for address in (f"http:///bot{TOKEN}/getMe", f"http://127.0.0.1:1/bot{TOKEN}/getMe"):
            try:
                await session.get(address)
            except aiohttp.ClientError:
                log.exception("request to %s failed", address)
    assert len(objects(machine)) == 2
    assert "InvalidUrl" in machine.getvalue()
    assert TOKEN not in machine.getvalue()
    assert TOKEN.split(":")[1] not in machine.getvalue()


def test_a_real_status_error_with_a_key_in_its_address_shows_no_key(machine: io.StringIO) -> None:
    httpx = pytest.importorskip("httpx2")
    request = httpx.Request(
        "GET",
        f"http://127.0.0.1/bot{TOKEN}/getMe?key=abcdef123456",
        headers={"Authorization": "Bearer zyxwvu987654"},
    )
    try:
        httpx.Response(401, request=request).raise_for_status()
    except httpx.HTTPStatusError as error:
        log.exception("refused, headers %s", error.request.headers.raw)
        log.warning("%r", error.request.url)
    written = machine.getvalue()
    assert "401" in written
    for secret in (TOKEN, "abcdef123456", "zyxwvu987654"):
        assert secret not in written


def test_libraries_that_tell_every_request_are_quiet(machine: io.StringIO) -> None:
    configure("DEBUG", machine, quiet=["platform.event"])
    for name in (*logs.QUIET, "platform.event", "httpx._client"):
        logging.getLogger(name).info("HTTP Request: POST …")
        logging.getLogger(name).warning("trouble in %s", name)
    assert all(entry["level"] == "WARNING" for entry in objects(machine))
    assert len(objects(machine)) == len(logs.QUIET) + 2


def test_a_record_that_cannot_be_formatted_is_named_without_its_arguments(
    machine: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    root = logging.getLogger()
    root.handlers[:] = root.handlers[:1]  # without those of pytest, which raise
    log.error("%d cards", "sk-abcdef0123456789")
    (entry,) = objects(machine)
    assert entry["message"].startswith("a log line could not be written: ")
    assert "test_logs.py" in entry["message"]
    captured = capsys.readouterr()
    assert "abcdef" not in machine.getvalue() + captured.out + captured.err


# --- nothing steers the reader ------------------------------------------------------------------

HOSTILE = "ok\r\n12:00:00 CRITICAL core: forged\x1b[2J\u2028\u202e\x85\ud800"


def test_a_value_cannot_start_a_second_line_or_steer_a_terminal(human: Terminal) -> None:
    with log_context(learner=HOSTILE):
        log.info("said %s", HOSTILE, extra={"path": HOSTILE})
    assert human.getvalue().count("\n") == 1
    assert len(human.getvalue().splitlines()) == 1
    assert "\x1b" not in human.getvalue()
    human.getvalue().encode("utf-8")


def test_the_text_of_an_exception_cannot_pass_for_a_record(human: Terminal) -> None:
    try:
        raise ValueError(HOSTILE)
    except ValueError:
        log.exception("failed")
    first, *rest = human.getvalue().splitlines()
    assert first.endswith("failed")
    assert rest
    assert all(line.startswith("    | ") for line in rest)
    assert "\x1b" not in human.getvalue()


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_is_one_json_object_on_one_line(text: str) -> None:
    stream = io.StringIO()
    configure("INFO", stream)
    log.info("%s", text, extra={"path": text})
    assert len(stream.getvalue().splitlines()) == 1
    stream.getvalue().encode("utf-8")
    assert json.loads(stream.getvalue())["message"] == redact(text)


def test_what_the_stream_cannot_encode_is_escaped() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="cp1252")
    configure("INFO", stream, json=False)
    log.info("学习 é")
    stream.flush()
    assert "\\u5b66\\u4e60 é" in raw.getvalue().decode("cp1252")


# --- what nobody caught -------------------------------------------------------------------------


async def test_an_exception_in_a_forgotten_task_is_logged(machine: io.StringIO) -> None:
    async def fail() -> None:
        raise LookupError("with sk-abcdef0123456789")

    task = asyncio.create_task(fail())
    await asyncio.wait([task])
    del task
    gc.collect()
    (entry,) = [entry for entry in objects(machine) if entry["logger"] == "asyncio"]
    assert "LookupError" in entry["exception"]
    assert "abcdef" not in machine.getvalue()


def test_an_exception_of_a_thread_is_logged(machine: io.StringIO) -> None:
    def fail() -> None:
        raise LookupError("with sk-abcdef0123456789")

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    (entry,) = objects(machine)
    assert "LookupError" in entry["exception"]
    assert "abcdef" not in machine.getvalue()


def test_an_exception_that_ends_the_program_shows_no_secret() -> None:
    program = (
        "from core.logs import configure; configure();raise LookupError('with sk-abcdef0123456789')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert json.loads(done.stderr)["level"] == "CRITICAL"
    assert "LookupError: with [removed]" in done.stderr


def test_what_a_failure_quotes_of_a_person_is_left_out() -> None:
    said = ["Why is the sky blue, I wonder?", "天空为什么是蓝色的呢？"]
    quoting = "Error 400: cannot process 'Why is the sky blue, I wonder?' at 0"
    assert logs.unspoken(quoting, said) == "Error 400: cannot process '[…]' at 0"
    assert logs.unspoken("bad: 天空为什么是蓝色的呢？", said) == "bad: […]"
    assert logs.unspoken("part: the sky blue, I w", said) == "part:[…]"
    assert logs.unspoken("The model `x` does not exist", said) == "The model `x` does not exist"
    assert logs.unspoken("nothing was said", []) == "nothing was said"
