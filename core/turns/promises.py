"""What an answer promises, held against what was done: no "I'll remember" without a receipt. Pure.

A model says such things out of politeness, and the learner relies on them. A promise is kept when
the tool that keeps it said so in this turn; of one that is not, the learner is told. Only what the
tutor says of itself, and not as a question, counts: "remember that 2 + 2 = 4", "let me remind you
that …" and a quoted sentence promise nothing. English and Chinese, as the tutor's own words are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from enum import Enum
from types import MappingProxyType
from typing import Final

from core.i18n import N_, Words
from core.llm.port import ChatMessage


class Promise(Enum):
    """What can be promised; the value is what a learner is told when nothing was done."""

    REMEMBER = N_(
        "I wrote that I will remember something, but nothing was noted. To be sure, send it with "
        "/remember."
    )
    REMIND = N_(
        "I wrote that I will remind you, but no reminder was set. To be sure, ask again and name "
        "the day and the time."
    )


_RECEIPTS: Final = MappingProxyType(
    {"memory_remember": Promise.REMEMBER, "schedule_reminder": Promise.REMIND}
)
"""The tools that keep a promise."""
_KEPT: Final = re.compile(r"^(?:Kept|That was kept)\b", re.MULTILINE)
"""How their results begin when they have; a result stands on lines of its own between marks."""

_WILL: Final = r"\bI(?:['’]ll|\s+will|\s+shall|(?:['’]m|\s+am)\s+going\s+to)\s+(?:\w+\s+){0,2}?"
_HAVE: Final = r"\bI(?:['’]ve|\s+have)\s+(?:now\s+|just\s+|already\s+)?"
_IT: Final = r"(?:that|this|it)"

_REMEMBER: Final = re.compile(
    rf"""
    {_WILL}(?<!\bnot\s)(?<!\bnever\s)(?:
        remember | not\s+forget | never\s+forget | keep\s+(?:\w+\s+){{1,3}}?in\s+mind
      | make\s+a\s+note | write\s+{_IT}\s+down | note\s+{_IT}(?:\s+down)?(?=\s*(?:[.,;!]|for\b|$))
      | save\s+{_IT}(?=\s*(?:[.,;!]|for\b|in\s+your|to\s+your|$))
    )\b(?!\s+not\b)
  | {_HAVE}(?:
        noted | remembered | written\s+{_IT}\s+down | made\s+a\s+note
      | (?:saved|stored)\s+(?:{_IT}|your)
    )\b
  | ^\W*(?:(?:got\s+it|ok|okay|alright|sure|great|thanks)\W+)?noted(?=\s*[.!,;:–—-])
  | (?<![们自])我(?:一定|肯定)?(?:会|将|将会|已经?|都|先)*
        (?:帮你|替你|为你|给你|把(?:它|这点|这个|这些))?(?:好好)?(?:都)?(?:记住|记下|记好|记在|存下|保存下)
  | (?<![们自])我(?:一定|肯定)?(?:会|将)(?:一直|永远)?记(?:得|着)
  | 我(?:绝对?|一定)?不会忘
  | ^\W*(?:好的?|行|没问题|嗯|收到|OK|ok)?[，,！!\s]*(?:已经?|帮你|都)*(?:记住|记下|记好)(?:了|来了)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_REMIND: Final = re.compile(
    rf"""
    {_WILL}(?<!\bnot\s)(?<!\bnever\s)(?:
        remind\s+you(?!\s+(?:that|how|what|why|where)\b)
          (?!\s+of\b(?!.*(?:tomorrow|tonight|later|next|\bon\b|\bat\b|\bin\s+\d|before|morning)))
      | (?:set|schedule|send)\s+(?:you\s+|up\s+)?a\s+reminder
    )
  | {_HAVE}(?:set|scheduled)\s+(?:up\s+)?(?:a|your|the)\s+reminder
  | (?<![们自])我(?:一定|到时候?|届时|明天|明早|今晚|[^，。！？]{{0,8}}?)(?:会|将|再|来)+
        (?:准时|及时|再)?(?:提醒你|叫你|发提醒)
  | (?:已经?)(?:帮你|为你|给你)?(?:设(?:好|置|定)(?:好|了)*|安排好?了?)(?:[^，。！？]{{0,12}})提醒
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PATTERNS: Final = ((Promise.REMEMBER, _REMEMBER), (Promise.REMIND, _REMIND))
_CARDS: Final = re.compile(r"\b(?:cards?|reviews?|due)\b|卡片|复习", re.IGNORECASE)
"""Of cards that are due the house reminds by itself."""

_NOT_SAID: Final = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|^[ \t]*>[^\n]*$"
    r"|“[^”\n]*”|\"[^\"\n]*\"|「[^」\n]*」|『[^』\n]*』|‘[^’\n]*’(?!\w)|«[^»\n]*»",
    re.DOTALL | re.MULTILINE,
)
"""Code, quotes of earlier messages, and what stands between quotation marks."""
_MARKUP: Final = re.compile(r"[*_~#]+")
_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+(?:\.(?=\w)[^.!?。！？\n]*)*[.!?。！？]*")


def receipts(history: Iterable[ChatMessage]) -> frozenset[Promise]:
    """Return what was kept, by what a turn has added to its request."""
    calls: dict[str, str] = {}
    kept: set[Promise] = set()
    for message in history:
        calls.update({call.id: call.name for call in message.tool_calls})
        promise = _RECEIPTS.get(calls.get(message.tool_call_id or "", ""))
        if promise is not None and _KEPT.search(message.content):
            kept.add(promise)
    return frozenset(kept)


def promised(text: str) -> frozenset[Promise]:
    """Return what an answer, in Markdown, promises."""
    said = _MARKUP.sub("", _NOT_SAID.sub(" ", text))
    return frozenset(
        promise
        for sentence in _SENTENCE.findall(said)
        for promise, pattern in _PATTERNS
        if not _asks(sentence)
        and pattern.search(sentence)
        and not (promise is Promise.REMIND and _CARDS.search(sentence))
    )


def with_truth(text: str, kept: Collection[Promise], words: Words) -> str:
    """Return an answer with a note for each promise that was not kept."""
    open_ = promised(text).difference(kept)
    notes = [f"*{words(promise.value)}*" for promise in Promise if promise in open_]
    return "\n\n".join((text, *notes))


def _asks(sentence: str) -> bool:
    return sentence.rstrip().endswith(("?", "？")) or "吗" in sentence[-4:]
