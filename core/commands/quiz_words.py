"""How a quiz reads: its open question with the buttons below, and what is said of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.document import Button, Document, plain
from core.i18n import Words
from core.learning.grading import Note, Verdict
from core.learning.items import ChoiceKey, OrderKey, label, options, right_answer
from core.learning.judge import Judgement, Why
from core.learning.quiz import Asked, Graded, Sheet

_IN_A_ROW: Final = 4


def asked_in(words: Words, sheet: Sheet, before: str = "") -> Document:
    """The open question, below what is said of the one before it."""
    asked = sheet.current
    assert asked is not None
    key = asked.question.key
    parts = asking(asked, sheet.position, len(sheet.items))
    if isinstance(key, OrderKey):
        parts.append(words("Write the letters in the right order."))
    if sheet.hint_level and asked.question.hint:
        parts.append(f"💡 {asked.question.hint}")
    stem = f"quiz:{sheet.id}:{sheet.position}"
    rows: list[tuple[Button, ...]] = []
    if isinstance(key, ChoiceKey):
        rows += letters(asked, stem)
    ways = [
        Button(label=words("Skip"), action=f"{stem}:skip"),
        Button(label=words("Stop the quiz"), action=f"{stem}:stop"),
    ]
    if asked.question.hint and not sheet.hint_level:
        ways.insert(0, Button(label=words("Hint"), action=f"{stem}:hint"))
    rows.append(tuple(ways))
    return Document(markdown=below(before, parts), buttons=tuple(rows))


def asking(asked: Asked, position: int, count: int) -> list[str]:
    """The paragraphs of a question: its number and text, and what there is to choose from."""
    parts = [f"**{position + 1}/{count}** {asked.question.text}"]
    shown = options(asked.question.key, asked.item_id)
    if shown:
        parts.append("  \n".join(f"**{label(n)}** {each}" for n, each in enumerate(shown)))
    return parts


def letters(asked: Asked, stem: str) -> list[tuple[Button, ...]]:
    """The buttons of a choice; ``stem`` begins their actions."""
    count = len(options(asked.question.key, asked.item_id))
    buttons = [Button(label=label(n), action=f"{stem}:{label(n)}") for n in range(count)]
    return [tuple(buttons[n : n + _IN_A_ROW]) for n in range(0, count, _IN_A_ROW)]


def below(before: str, parts: Sequence[str]) -> str:
    """Paragraphs below what is said of the question before, if anything is."""
    body = "\n\n".join(parts)
    return f"{before}\n\n---\n\n{body}" if before else body


def feedback(words: Words, asked: Asked, found: Graded, about: Note | Judgement | None) -> str:
    """What is said of an answer, gently: what it was, what would be right, and why."""
    lines = [first_line(asked)]
    answer = words("The answer: {answer}", answer=right_answer(asked.question.key, asked.item_id))
    comment = plain(about.comment) if isinstance(about, Judgement) else ""
    match found.verdict:
        case Verdict.RIGHT:
            lines.append(" ".join(filter(None, (words("✓ Right."), comment))))
        case Verdict.PARTIAL:
            note = words("The unit is missing.") if about is Note.UNIT_MISSING else comment
            lines += [" ".join(filter(None, (words("◐ Partly right."), note))), answer]
        case Verdict.WRONG:
            note = (
                words("That unit measures something else.") if about is Note.UNIT_WRONG else comment
            )
            lines += [" ".join(filter(None, (words("✗ Not this time."), note))), answer]
        case Verdict.UNDECIDED:
            unreachable = isinstance(about, Judgement) and about.why is Why.UNREACHABLE
            lines.append(
                words("I can't check that right now, so it doesn't count.")
                if unreachable
                else words("I can't say for sure whether that is right, so it doesn't count.")
            )
            lines.append(answer)
        case None:
            lines.append(answer)
    if found.verdict is not Verdict.RIGHT and asked.question.explanation:
        lines.append(asked.question.explanation)
    return "\n\n".join(lines)


def first_line(asked: Asked) -> str:
    """The first line of a question, cut to what a line of feedback may have."""
    line = asked.question.text.strip().split("\n", 1)[0]
    return line if len(line) <= 120 else f"{line[:119]}…"
