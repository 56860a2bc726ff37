"""Learners, events and texts for the memory tests."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

from hypothesis import strategies as st
from ulid import ULID

from memory import Event, LearnerFolder, Surface

ADA = "01JDQZ7Y3WJ5M8RKT2V4X6A0AD"
BOB = "01JDQZ7Y3WJ5M8RKT2V4X6B0BB"
SHANGHAI = timezone(timedelta(hours=8))
NOON = datetime(2026, 11, 30, 12, 0, 0, tzinfo=SHANGHAI)

PIECES = st.sampled_from(
    [
        "\n", "\n\n", "\r\n", "\r", " ", "  ", "\t", "\x00", "\x1b[31m", "\x85", "\u2028", "\ufeff",
        "- 14:02:11 [chat] ", "- ", "# ", "## Notes", "---", "- - -", "```", "~~~", "[^1]: e_", "&",
        "&#94;", "&#38;#94;", "&#", ";", "\\", "^e_", f" ^e_{ADA}", f"<!--m_{ADA} 2026-11-30 ",
        "shareable-->", "private-->", "<!--", "-->", "数学", "为什么？", "👩‍🏫", "é", "x", "9",
    ]
)  # fmt: skip
HUMAN = st.sampled_from(
    [
        "---\ntitle: notes\ntags: [a, b]\n---\n", "# Heading #\n", "Setext\n======\n", "\ufeff",
        "\n", "- one\n  - two\n    - three\n", "* star\n+ plus\n1. first\n2) second\n",
        "- [ ] to do\n",
        "A claim.[^mine] Another[^1].\n", "[^mine]: what I read\n",
        "[^1]: e_01JDQZ7Y3WJ5M8RKT2V4X6A0AD\n",
        "线性代数：矩阵的秩。\r\n", "家庭👩‍👩‍👧‍👦 和 🇨🇳\n", "e\u0301 vs é\n",
        "a\rb\r\nc\n\r", "nul\x00nul\n",
        "| a | b |\n|---|---|\n", "```py\n- x <!--m_ -->\n```\n", "<!-- aside\n-->\n", "> quote\n",
        "$x^2 < y$\n", "\u2028\u2029\x85\x0c\x0b\n", "x" * 70_000 + "\n",
        "no end", "\t- tabbed\n", "\\\n",
        "- Knows it [^1] <!--m_01JDQZ7Y3WJ5M8RKT2V4X6A0AD 2026-11-30 private-->\n",
    ]
)  # fmt: skip
"""Pieces of files as people write them."""
NASTY = st.lists(PIECES | st.text(max_size=4), max_size=12).map("".join)


def folder(root: Path, learner: str = ADA) -> LearnerFolder:
    return LearnerFolder(root, learner)


def event(text: str, *, at: datetime = NOON, key: str | None = None) -> Event:
    return Event(key or str(ULID()), at, Surface.CHAT, text)


def fact(text: str, audience: str = "private", key: str = BOB) -> str:
    return f"- {text} [^1] <!--m_{key} 2026-11-30 {audience}-->\n"


def put(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
