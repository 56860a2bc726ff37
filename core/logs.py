r"""What the log shows, and what it never shows.

One handler on the root logger: a line for people on a terminal, a JSON object a line elsewhere.
Turn and learner of the running task are attached to every record, also to those of libraries.
Secrets are taken out here, at the sink, from the finished text: message, arguments, exception and
extra fields alike, so no caller has to remember. A line break or control character in a value
cannot start a second line or steer a terminal.

The text of a message that a person wrote is never logged at INFO or above; that is the callers'
rule, this module cannot know.
"""

from __future__ import annotations

import datetime as dt
import logging
import math
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from json import dumps
from types import TracebackType
from typing import Any, Final, TextIO
from urllib.parse import quote

_REMOVED: Final = "[removed]"

QUIET: Final = ("httpx", "httpx2", "httpcore", "openai", "aiohttp.access", "alembic", "apscheduler")
"""Loggers of libraries that tell every request or job; they speak from WARNING on."""

_context: ContextVar[Mapping[str, str]] = ContextVar("log_context", default={})  # noqa: B039 - never changed in place


# --- who and which turn -------------------------------------------------------------------------


@contextmanager
def log_context(
    *, door: str | None = None, turn: str | None = None, learner: str | None = None
) -> Iterator[None]:
    """Attach a door, a turn and a learner to all that this task, and tasks it starts, will log.

    What is None keeps the value of the surrounding context.
    """
    given = (("door", door), ("turn", turn), ("learner", learner))
    fields = {key: value for key, value in given if value}
    token = _context.set({**_context.get(), **fields})
    try:
        yield
    finally:
        _context.reset(token)


def reference(turn_id: str) -> str:
    """Return the short name of a turn that is told to people and stands in its log lines as
    ``ref``: the last four letters or digits of the id, for example ``8F3A``."""
    return "".join(character for character in turn_id if character.isalnum())[-4:].upper()


# --- secrets ------------------------------------------------------------------------------------

_SHORTEST_SECRET: Final = 6
"""Characters; anything shorter would blacken ordinary words and protects nothing."""

_PATTERNS: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # A bot token as part of a path: /bot123:ABC/method, /file/bot123:ABC/photo.jpg
        (r"(?i)(/bot)\d+(?::|%3a)[^/\s?#'\"<>\\]+", rf"\1{_REMOVED}"),
        # The same on its own.
        (r"(?<![\w-])\d{6,}:[A-Za-z0-9_-]{30,}", _REMOVED),
        # Keys of model providers; they mask part of them with asterisks in their messages.
        (r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_*-]{6,}", _REMOVED),
        (r"(?i)\b(bearer\s+)[A-Za-z0-9._~+/=*-]{6,}", rf"\1{_REMOVED}"),
        (
            r"(?i)\b(authorization['\"]?\s*[:=,]\s*b?['\"]?(?:(?:basic|bot|token)\s+)?)"
            r"(?!bearer\b)[^\s'\",;\[\]]{6,}",
            rf"\1{_REMOVED}",
        ),
        # In a query or a form: ?key=…&token=…
        (
            r"(?i)([?&;](?:key|api[-_]?key|token|access_token|refresh_token|secret|app_secret"
            r"|client_secret|password|signature|sig)=)[^&\s'\"#<>\\]+",
            rf"\1{_REMOVED}",
        ),
        # As a keyword, a header or a field of JSON: api_key='…', "app_secret": "…", x-api-key: …
        (
            r"(?i)\b((?:[a-z0-9]+[-_])*(?:api[-_]?key|access_token|refresh_token|bot_token"
            r"|app_secret|client_secret|password)\\?['\"]?\s*[:=]\s*b?\\?['\"]?)"
            r"(?!\[removed\])[^\s'\",;&)}\]\\]{3,}",
            rf"\1{_REMOVED}",
        ),
        # In the address of a database or a proxy: scheme://user:password@host
        (r"(://[^/\s:@'\"]*:)[^/\s'\"]+(?=@)", rf"\1{_REMOVED}"),
    )
)

_secrets: set[str] = set()
_secrets_pattern: re.Pattern[str] | None = None


def register_secret(value: str) -> None:
    """Never show ``value`` again, wherever it turns up; also not as written in an address."""
    global _secrets_pattern
    if len(value) < _SHORTEST_SECRET:
        return
    escaped = value.encode("unicode_escape").decode("ascii")
    _secrets.update((value, quote(value, safe=""), quote(value), escaped))
    longest_first = sorted(_secrets, key=lambda secret: (-len(secret), secret))
    _secrets_pattern = re.compile("|".join(map(re.escape, longest_first)))


def redact(text: str) -> str:
    """Return ``text`` without registered secrets and without anything shaped like one."""
    if _secrets_pattern is not None:
        text = _secrets_pattern.sub(_REMOVED, text)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


_ECHO: Final = 8
"""Characters; anything shorter that two texts share is chance."""


def unspoken(text: str, spoken: Iterable[str]) -> str:
    """Return ``text`` without the passages that it repeats of ``spoken``.

    For what others say of a failure: they may quote what a person wrote.
    """
    whole = "\n".join(spoken)
    kept: list[str] = []
    at = 0
    while at < len(text):
        end = at + _ECHO
        if end <= len(text) and text[at:end] in whole:
            while end < len(text) and text[at : end + 1] in whole:
                end += 1
            kept.append("[…]")
        else:
            end = at + 1
            kept.append(text[at])
        at = end
    return "".join(kept)


# --- the two shapes of a line -------------------------------------------------------------------

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

# Control characters, other line separators, marks that turn the direction of text, lone halves of
# surrogate pairs (no encoding can write them).
_UNSAFE: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    short = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}
    return short.get(code) or f"\\u{code:04x}"


def _clean(value: object) -> object:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return redact(str(value))


class _Safe(logging.Formatter):
    """What both shapes share: the fields of a record, cleaned."""

    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        """Return context and extra fields: finite numbers, booleans, None or clean text."""
        found: dict[str, Any] = dict(_context.get())
        found.update((key, value) for key, value in vars(record).items() if key not in _STANDARD)
        if found.get("turn"):
            found["ref"] = reference(str(found["turn"]))
        return {redact(key): _clean(value) for key, value in found.items()}

    def trace(self, record: logging.LogRecord) -> str:
        """Return exception and stack of a record, cleaned; empty when it has none."""
        parts = []
        if record.exc_info:
            parts.append(self.formatException(record.exc_info))
        elif record.exc_text:
            parts.append(record.exc_text)
        if record.stack_info:
            parts.append(self.formatStack(record.stack_info))
        return redact("\n".join(parts))


class HumanFormatter(_Safe):
    """``14:02:11 WARNING core.turns: took long (ref=8F3A)``; a trace is indented below."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line, and one indented line for each line of an exception."""
        clock = dt.datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        line = f"{clock} {record.levelname} {record.name}: {redact(record.getMessage())}"
        fields = self.fields(record)
        if fields:
            line += " (" + " ".join(f"{key}={value}" for key, value in fields.items()) + ")"
        lines = [_UNSAFE.sub(_escape, line)]
        # A line break inside an exception's text looks like one of its own lines: indented, it
        # can at least never pass for a record.
        lines += ("    | " + _UNSAFE.sub(_escape, part) for part in self.trace(record).splitlines())
        return "\n".join(lines)


class JsonFormatter(_Safe):
    """One JSON object a line: ``at`` (UTC, ISO 8601), ``level``, ``logger``, ``message``, the
    context's and the caller's fields, ``exception``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the object as one line."""
        at = dt.datetime.fromtimestamp(record.created, dt.UTC)
        data: dict[str, Any] = {
            "at": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        for key, value in self.fields(record).items():
            data.setdefault(key, value)
        if trace := self.trace(record):
            data["exception"] = trace
        # Left after dumps are only characters inside strings, where \uXXXX means the same.
        return _UNSAFE.sub(_escape, dumps(data, ensure_ascii=False))


# --- the handler --------------------------------------------------------------------------------


class _Sink(logging.StreamHandler[TextIO]):
    """Writes to one stream; what its encoding cannot write is escaped, and a record that cannot
    be formatted is named without its arguments (the standard handler would print them raw)."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        return text.encode(encoding, "backslashreplace").decode(encoding)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the standard name
        if getattr(self.stream, "closed", False) or isinstance(sys.exc_info()[1], OSError):
            return  # a closed stream, a full disk, a broken pipe: there is nowhere to tell it
        broken = logging.LogRecord(
            record.name,
            logging.ERROR,
            record.pathname,
            record.lineno,
            f"a log line could not be written: {record.pathname}:{record.lineno}",
            None,
            None,
        )
        self.stream.write(self.format(broken) + self.terminator)


def configure(
    level: int | str = logging.INFO,
    stream: TextIO | None = None,
    *,
    json: bool | None = None,
    quiet: Iterable[str] = (),
) -> None:
    """Send all logging of the process to ``stream`` (default stderr); may be called again.

    ``json`` None means: a line for people where the stream is a terminal, else JSON.
    ``quiet`` names further loggers that speak only from WARNING on. Uncaught exceptions of the
    main thread and of others are logged too; those of asyncio's tasks are by asyncio itself.
    """
    target = sys.stderr if stream is None else stream
    if json is None:
        json = not target.isatty()
    handler = _Sink(target)
    handler.setFormatter(JsonFormatter() if json else HumanFormatter())
    root = logging.getLogger()
    for old in [known for known in root.handlers if isinstance(known, _Sink)]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    logging.captureWarnings(capture=True)
    for name in (*QUIET, *quiet):
        logger = logging.getLogger(name)
        logger.setLevel(max(logging.WARNING, root.level))
    sys.excepthook = _log_uncaught
    threading.excepthook = _log_uncaught_in_thread


def _log_uncaught(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return  # the interpreter's exit status says it
    logging.getLogger("partners").critical(
        "stopped by an unexpected error", exc_info=(kind, error, trace)
    )


def _log_uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is None or issubclass(args.exc_type, SystemExit):
        return
    logging.getLogger("partners").critical(
        "a thread was stopped by an unexpected error",
        exc_info=(args.exc_type, args.exc_value, args.exc_traceback),
    )
