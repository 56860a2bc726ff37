"""What a learner says while a question is open: an answer, a wish, or something else.

Something else is served like any message; so in doubt an answer that can be graded is one, and
what reads as a question or a request is none.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

from core.learning.grading import Verdict, grade, plain_words
from core.learning.items import ItemKind as Kind
from core.learning.items import Question

LONGEST: Final = 1_500
"""Characters of an answer that somebody is expected to give to one question of a quiz."""

_SKIP: Final = frozenset(
    {"skip", "pass", "next", "next one", "next question", "i don't know", "i dont know", "idk"}
    | {"don't know", "dont know", "no idea", "dunno", "give up", "i give up", "?", "跳过", "过"}
    | {
        "下一题",
        "不知道",
        "我不知道",
        "不会",
        "我不会",
        "放弃",
        "没想法",
        "just tell me",
        "直接告诉我",
    }
)
_HINT: Final = frozenset(
    {"hint", "a hint", "hint please", "give me a hint", "help", "help me", "提示", "给个提示"}
    | {"提示一下", "给我提示", "给点提示"}
)
_STOP: Final = frozenset(
    {"stop", "stop the quiz", "stop quiz", "end the quiz", "end quiz", "quit", "quit the quiz"}
    | {"enough", "结束", "停", "停止", "结束测验", "不做了", "不想做了", "停止测验"}
)
_ASKS: Final = re.compile(
    r"^(?:what|why|how|when|where|who|which|can you|could you|would you|do you|does|is it|are you|"
    r"please|tell me|explain|show me|let'?s|i want|i'd like|remind|wait|hold on|"
    r"什么|为什么|为啥|怎么|如何|请|能不能|可不可以|可以|帮我|解释|讲|给我|我想|等一下|等等)",
    re.IGNORECASE,
)
_WORDED: Final = frozenset({Kind.FREE, Kind.CLOZE, Kind.CODE, Kind.EXPRESSION, Kind.NUMBER})


class Said(Enum):
    """What a message is, while a question is open."""

    ANSWER = auto()
    """Code can grade it."""
    PERHAPS = auto()
    """It reads like an answer, and somebody who can read has to grade it."""
    SKIP = auto()
    HINT = auto()
    STOP = auto()
    OTHER = auto()
    """Something else: to be answered as if no question were open."""


def said(question: Question, text: str, *, seed: str, reply: bool = False) -> Said:
    """Tell what a message is. ``seed`` is the item's id; ``reply``: it replies to the question."""
    plain = plain_words(text) or text.strip()
    if grade(question.key, text, seed=seed).verdict is not Verdict.UNDECIDED:
        return Said.ANSWER
    for wishes, wish in ((_SKIP, Said.SKIP), (_HINT, Said.HINT), (_STOP, Said.STOP)):
        if plain in wishes:
            return wish
    if question.kind not in _WORDED or len(text) > LONGEST:
        return Said.OTHER
    asks = text.rstrip().endswith(("?", "？")) or bool(_ASKS.match(text.strip()))
    if question.kind is Kind.NUMBER and not (reply or any(c.isdigit() for c in text)):
        return Said.OTHER
    if asks and not reply:
        return Said.OTHER
    return Said.PERHAPS
