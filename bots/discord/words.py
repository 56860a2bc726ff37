"""Words as people wrote them: marks of the platform turned into what the app shows.

``<@7>`` becomes a name, ``<#5>`` a channel, ``<:wave:9>`` the name of an emoji. Inside code they
are letters like any others and stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bots.names import shown_name

_MARK = re.compile(
    r"(?P<code>```.*?```|`[^`\n]+`)"
    r"|<@!?(?P<user>\d+)>|<@&(?P<role>\d+)>|<#(?P<channel>\d+)>"
    r"|<a?:(?P<emoji>\w+):\d+>|<t:(?P<instant>-?\d{1,12})(?::[a-zA-Z])?>|</(?P<command>[^:>]+):\d+>",
    re.DOTALL,
)
_FIRST_MENTION = re.compile(r"\s*<@[!&]?(\d+)>")


@dataclass(frozen=True, slots=True)
class Known:
    """Names of what a message mentions, by id, and which of the ids are us."""

    users: Mapping[int, str] = field(default_factory=dict)
    roles: Mapping[int, str] = field(default_factory=dict)
    channels: Mapping[int, str] = field(default_factory=dict)
    ours: frozenset[int] = frozenset()
    """Id of the bot, and of its own role in this server."""


def own_words(content: str, known: Known) -> tuple[str, bool]:
    """Return the text without our own mention, all else spelled out; and whether we are in it."""
    written = ""
    mentioned = False
    at = 0
    for mark in _MARK.finditer(content):
        written += content[at : mark.start()]
        at = mark.end()
        if _ours(mark, known):
            mentioned = True
            at += _swallowed(content[at:], bool(written.strip()), written[-1:].isspace())
        else:
            written += _spelled(mark, known)
    return (written + content[at:]).replace("\x00", "").strip(), mentioned


def names_another_first(content: str, ours: frozenset[int]) -> bool:
    """Tell whether a message begins with the mention of somebody else."""
    first = _FIRST_MENTION.match(content)
    return first is not None and int(first[1]) not in ours


def _ours(mark: re.Match[str], known: Known) -> bool:
    number = mark["user"] or mark["role"]
    return number is not None and int(number) in known.ours


def _swallowed(rest: str, something_before: bool, space_before: bool) -> int:
    """Count what goes with our mention: a comma that would begin the text, a double space."""
    if not something_before:
        return len(rest) - len(rest.lstrip(" ,:，：、"))
    return 1 if space_before and rest.startswith(" ") else 0


def _spelled(mark: re.Match[str], known: Known) -> str:
    spellings: Mapping[str, Callable[[str], str]] = {
        "code": str,
        "user": lambda number: "@" + shown_name(known.users.get(int(number), "")),
        "role": lambda number: "@" + shown_name(known.roles.get(int(number), "")),
        "channel": lambda number: "#" + shown_name(known.channels.get(int(number), "")),
        "emoji": lambda name: f":{name}:",
        "instant": _instant,
        "command": lambda name: f"/{name}",
    }
    kind = mark.lastgroup or "code"
    text = spellings[kind](mark[kind])
    return mark[0] if text in ("@", "#", "") else text


def _instant(seconds: str) -> str:
    try:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return ""  # no moment of any calendar: stays as it was written
