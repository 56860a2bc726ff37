"""The labels of the labelled protocol: what each may do, and the machine that reads them.

A label counts at the beginning of a line outside a code fence, however the stream was split. What
a model writes after the label of a result is not read: results come from us alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from typing import Final

from core.loop.scrub import Hidden, Piece, Retract, Visible


class Does(Flag):
    """What a step under a label may do. Nothing of it: the step is a thought."""

    NOTHING = 0
    SPEAK = auto()
    """Its text is part of the answer."""
    CALL = auto()
    """Its text is a call of a tool."""
    END = auto()
    """It ends the turn."""
    ASK = auto()
    """It ends the turn with a question to the learner."""


@dataclass(frozen=True, slots=True)
class Label:
    """A label. ``hint`` tells the model in one phrase what to write under it."""

    name: str
    does: Does
    hint: str

    @property
    def last(self) -> bool:
        """The turn is over after it."""
        return bool(self.does & (Does.END | Does.ASK))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The labels of a capability. Raises ValueError for names that cannot be told from prose."""

    labels: tuple[Label, ...]

    def __post_init__(self) -> None:
        names = [label.name for label in self.labels]
        if len(set(names)) != len(names):
            raise ValueError("two labels have the same name")
        for label in self.labels:
            if not _NAME.fullmatch(label.name) or label.name in RESULTS:
                raise ValueError(f"{label.name!r} cannot be a label")
            if label.last and not label.does & Does.SPEAK:
                raise ValueError(f"{label.name} ends the turn, so it has to speak")
            if label.does & Does.CALL and label.does != Does.CALL:
                raise ValueError(f"{label.name} is a call and can be nothing else")
        if not any(label.does & Does.END for label in self.labels):
            raise ValueError("no label ends the turn")

    @property
    def call(self) -> Label | None:
        """The first label that calls."""
        return next((label for label in self.labels if label.does & Does.CALL), None)

    @property
    def end(self) -> Label:
        """The first label that ends the turn."""
        return next(label for label in self.labels if label.does & Does.END)

    @property
    def thought(self) -> Label | None:
        """The first label under which nothing is said or done."""
        return next((label for label in self.labels if not label.does), None)


_NAME: Final = re.compile(r"[A-Z][A-Z_]{1,19}")
RESULTS: Final = ("RESULT", "OBSERVATION")
"""Labels of results. Ours is the first; models know the other from elsewhere."""

COMMON: Final = Vocabulary(
    (
        Label("THINK", Does.NOTHING, "what you consider; nobody sees it"),
        Label(
            "TOOL",
            Does.CALL,
            'one call: the tool\'s name, then its arguments as a JSON object, as in {"a": 1}',
        ),
        Label("FINISH", Does.SPEAK | Does.END, "your whole answer to the learner; the end"),
    )
)
"""THINK, TOOL and FINISH."""


def openers(name: str) -> tuple[str, ...]:
    """Return the ways models write a label at the beginning of a line; none begins another."""
    plain = tuple(f"{name}{colon}" for colon in (":", "：", " :", "\n"))
    bold = tuple(f"**{name}{end}" for end in (":**", "**:", "**：", "**\n"))
    heads = tuple(f"{marks} {name}{end}" for marks in ("#", "##", "###") for end in (":", "\n"))
    return (*plain, *bold, *heads)


@dataclass(slots=True)
class Segment:
    """What stands under one label; ``label`` None is what came before any."""

    label: Label | None
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text, trimmed."""
        return "".join(self.parts).strip()


class LabelReader:
    """Sorts the visible text of one reply under its labels. Feed the pieces, then ``finish``.

    ``labels`` maps beginnings of lines to labels, None to the end of all reading (``openers``).
    ``first`` is the label of text that comes before any.
    """

    def __init__(self, labels: Mapping[str, Label | None], first: Label | None = None) -> None:
        self._labels = labels
        self._first = first
        self.segments = [Segment(first)]
        self.cut = False
        """The model went on where it had to stop; nothing more of the reply is read."""
        self.explored = 0
        """Characters under labels that do not speak."""
        self._held = ""  # the beginning of a line that may become a label
        self._fresh = True  # at the beginning of a line

    def feed(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Take pieces of the scrubber; return what is to be shown, and what was thought."""
        out: list[Piece] = []
        for piece in pieces:
            match piece:
                case Hidden():
                    out.append(piece)
                case Retract():
                    self._again()
                    out.append(piece)
                case Visible(text, code):
                    self._take(text, code, out)
        return out

    def finish(self) -> list[Piece]:
        """Return the rest."""
        out: list[Piece] = []
        if self._held:
            # A label may be the last line, without a line end after it.
            self._line(self._held + "\n", out, whole=True)
        return out

    @property
    def spoken(self) -> str:
        """What of the reply is said to the learner so far."""
        said = [s.text for s in self.segments if s.label is not None and s.label.does & Does.SPEAK]
        return "\n\n".join(text for text in said if text)

    def _again(self) -> None:
        """All that was visible so far was thinking."""
        self.segments = [Segment(self._first)]
        self.cut = False
        self.explored = 0
        self._held = ""
        self._fresh = True

    def _take(self, text: str, code: bool, out: list[Piece]) -> None:
        if code:
            self._release(out)
            self._add(text, out)
            self._fresh = text.endswith("\n")
            return
        while text:
            if not self._fresh:
                line, end, text = text.partition("\n")
                self._add(line + end, out)
                self._fresh = bool(end)
                continue
            line, end, text = text.partition("\n")
            self._line(self._held + line + end, out)

    def _line(self, held: str, out: list[Piece], *, whole: bool = False) -> None:
        """Decide about the beginning of a line: a label, none, or too early to say."""
        self._held = ""
        text = held.lstrip(" \t")
        for opener, label in self._labels.items():
            if text.startswith(opener):
                self._open(label)
                rest = text[len(opener) :]
                self._fresh = opener.endswith("\n") or rest.endswith("\n")
                self._add(rest.removesuffix("\n") if whole else rest, out)
                return
        undecided = not text or any(opener.startswith(text) for opener in self._labels)
        if undecided and not whole:
            self._held = held
            return
        self._add(held.removesuffix("\n") if whole else held, out)
        self._fresh = held.endswith("\n")

    def _release(self, out: list[Piece]) -> None:
        held, self._held = self._held, ""
        self._add(held, out)

    def _open(self, label: Label | None) -> None:
        if label is None:
            self.cut = True
        if self.cut:
            return
        calling = any(_does(segment, Does.CALL) for segment in self.segments)
        over = self.segments[-1].label is not None and self.segments[-1].label.last
        # After its answer the model has nothing to say, and none can follow a call unheard.
        if over or (calling and label is not None and label.does & Does.SPEAK):
            self.cut = True
            return
        self.segments.append(Segment(label))

    def _add(self, text: str, out: list[Piece]) -> None:
        if not text or self.cut:
            return
        segment = self.segments[-1]
        if not segment.parts:
            text = text.lstrip()
            if not text:
                return
            if self.spoken and _does(segment, Does.SPEAK):
                out.append(Visible("\n"))  # a paragraph of its own
        segment.parts.append(text)
        if _does(segment, Does.SPEAK):
            out.append(Visible(text))
        elif segment.label is not None:
            self.explored += len(text)
            if not segment.label.does:
                out.append(Hidden(text))


def _does(segment: Segment, what: Does) -> bool:
    return segment.label is not None and bool(segment.label.does & what)
