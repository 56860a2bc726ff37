"""Keep thinking out of answers: a state machine over the pieces of a stream.

Models that think write it between tags (``<think>``, ``<thought>``, ``<|channel|>analysis``). It
decides what of a stream is answer and what is thinking, the same however the stream was split, and
leaves code alone: a lesson about such tags survives in fences and in inline code.

Rules:
- An opening tag outside code begins thinking, which ends at any closing tag of its family, or with
  the stream. A tag that breaks off before its ``>`` counts at the start of a line.
- A closing tag of thinking that nothing opened, last on its line, means that all before it was
  thinking (some templates open the tag in the prompt). Anywhere else it is dropped.
- Control tokens ``<|...|>`` of known chat formats never show; a channel other than ``final`` is
  thinking.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Visible:
    """Text of the answer."""

    text: str
    code: bool = False
    """It stands in a fence, where nothing means anything to us."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """Text of the thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class Retract:
    """All visible text so far was thinking."""


Piece = Visible | Hidden | Retract
_Mode = Literal["text", "fence", "inline", "hidden", "header", "channel"]

_THINKING: Final = ("think", "thinking", "thought", "thoughts", "reasoning", "reflection")
_CALLING: Final = ("tool_call", "tool_response")
"""Calls that a model wrote as text because its template does not know better."""
_TOKENS: Final = (
    "<|start|>",
    "<|channel|>",
    "<|message|>",
    "<|constrain|>",
    "<|call|>",
    "<|end|>",
    "<|return|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|channel>",
    "<channel|>",
)
_TAG: Final = re.compile(
    rf"<(?P<slash>/?)(?:(?P<thinking>{'|'.join(_THINKING)})|{'|'.join(_CALLING)})(?:\s*>|(?=\s))",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile("|".join(re.escape(token) for token in _TOKENS))
_ENDS_THINKING: Final = re.compile(rf"</(?:{'|'.join(_THINKING)})\s*>", re.IGNORECASE)
_ENDS_CALLING: Final = re.compile(rf"</(?:{'|'.join(_CALLING)})\s*>", re.IGNORECASE)
_ENDS_CHANNEL: Final = re.compile(
    r"<\|(?:end|start|channel|return|call|im_end|im_start|endoftext|eot_id)\|>|<channel\|>"
)
_STARTS: Final = tuple(f"<{s}{name}" for name in (*_THINKING, *_CALLING) for s in ("", "/"))
_WORDS: Final = (*_STARTS, *_TOKENS)
_LONGEST: Final = max(len(word) for word in _WORDS) + 1
_LONGEST_LABEL: Final = 80
_INTEREST: Final = re.compile(r"[<`~]")
_PREFIX: Final = frozenset(" \t>-*+.)0123456789")
"""Characters that may stand before a fence on its line (quotes and lists)."""
_ENDS_PARAGRAPH: Final = re.compile(r"\n[ \t>]*(?:\n|```|~~~)")
_MAY_END_PARAGRAPH: Final = re.compile(r"\n[ \t>]*(?:`{1,2}|~{1,2})?$")


class Scrubber:
    """Split one answer into visible and hidden text. Feed the pieces, then call ``finish``.

    A fence may follow one of the ``labels`` on its line, as in ``FINISH: ```python``.
    """

    def __init__(self, labels: Sequence[str] = ()) -> None:
        self._labels = tuple(labels)
        self._line = ""  # the line so far, as long as a label may be all it holds
        self._buffer = ""
        self._mode: _Mode = "text"
        self._run = 0  # length of the run that opened the fence or the inline code
        self._mark = "`"
        self._bare = True  # only prefix characters on this line so far
        self._blank = True  # only white space on this line so far
        self._fresh = True  # nothing on this line so far
        self._closer = _ENDS_THINKING
        self._header = ""
        self._out: list[Piece] = []

    def feed(self, delta: str) -> list[Piece]:
        """Take the next piece of the stream and return what is now certain."""
        self._buffer += delta
        return self._drain(final=False)

    def finish(self) -> list[Piece]:
        """Return the rest. The scrubber is used up."""
        return self._drain(final=True)

    def _drain(self, *, final: bool) -> list[Piece]:
        self._out = []
        while self._buffer and self._step(final):
            pass
        return self._out

    def _step(self, final: bool) -> bool:
        """Consume something from the buffer; False when more of the stream is needed."""
        if self._mode == "text":
            return self._in_text(final)
        if self._mode == "fence":
            return self._in_fence(final)
        if self._mode == "inline":
            return self._in_inline(final)
        if self._mode == "hidden":
            return self._in_hidden(self._closer, final)
        if self._mode == "channel":
            return self._in_hidden(_ENDS_CHANNEL, final)
        return self._in_header(final)

    def _show(self, length: int) -> None:
        text, self._buffer = self._buffer[:length], self._buffer[length:]
        if not text:
            return
        self._out.append(Visible(text, code=self._mode == "fence"))
        line = text.rpartition("\n")
        if line[1]:
            self._bare = self._blank = self._fresh = True
            self._line = ""
        if self._labels and len(self._line) <= _LONGEST_LABEL:
            self._line += line[2]
            self._bare = _PREFIX.issuperset(self._unlabelled(self._line))
        elif self._bare:
            self._bare = _PREFIX.issuperset(line[2])
        if self._blank:
            self._blank = not line[2].strip()
        if line[2]:
            self._fresh = False

    def _unlabelled(self, line: str) -> str:
        """The line without a label at its beginning."""
        text = line.lstrip(" \t")
        for label in self._labels:
            if text.startswith(label):
                return text[len(label) :]
        return line

    def _hide(self, length: int) -> None:
        if length:
            self._out.append(Hidden(self._buffer[:length]))
            self._buffer = self._buffer[length:]

    def _drop(self, length: int) -> None:
        self._buffer = self._buffer[length:]

    def _in_text(self, final: bool) -> bool:
        found = _INTEREST.search(self._buffer)
        if found is None:
            self._show(len(self._buffer))
            return True
        if found.start():
            self._show(found.start())
            return True
        first = self._buffer[0]
        if first == "<":
            return self._at_angle(final)
        return self._at_run(first, final)

    def _at_run(self, mark: str, final: bool) -> bool:
        """Backticks or tildes: the start of a fence, of inline code, or plain characters."""
        run = len(self._buffer) - len(self._buffer.lstrip(mark))
        if run == len(self._buffer) and not final:
            return False
        if run >= 3 and self._bare:
            line = self._buffer[run:].partition("\n")
            if "`" not in line[0] or mark == "~":
                if not line[1] and not final:
                    return False
                self._mode, self._mark, self._run = "fence", mark, run
                self._show(run + len(line[0]) + len(line[1]))
                return True
        if mark == "`":
            self._mode, self._run = "inline", run
        self._show(run)
        return True

    def _at_angle(self, final: bool) -> bool:
        token = _TOKEN.match(self._buffer)
        if token is not None:
            self._at_token(token.group())
            return True
        tag = _TAG.match(self._buffer)
        if tag is not None:
            return self._at_tag(tag, final)
        if self._may_grow():
            if not final:
                return False
            if self._buffer.lower() in _STARTS:  # broke off right before its ">"
                self._drop(len(self._buffer))
                return True
        self._show(1)
        return True

    def _may_grow(self) -> bool:
        """The buffer may still become a tag or a token."""
        head = self._buffer[:_LONGEST].lower()
        return any(word.startswith(head) for word in _WORDS)

    def _at_tag(self, tag: re.Match[str], final: bool) -> bool:
        closing, whole = bool(tag["slash"]), tag.group().endswith(">")
        if not whole:
            rest = self._buffer[tag.end() :]
            if not rest.strip() and not final:
                return False  # spaces, and perhaps a ">" to come
            if not self._blank:
                self._show(tag.end())
                return True
        if not closing:
            self._mode = "hidden"
            self._closer = _ENDS_THINKING if tag["thinking"] else _ENDS_CALLING
            self._drop(tag.end())
            return True
        line, newline, _ = self._buffer[tag.end() :].partition("\n")
        if not line.strip() and not newline and not final:
            return False  # last on its line, so far
        if tag["thinking"] and not line.strip():
            self._out.append(Retract())
        self._drop(tag.end())
        return True

    def _at_token(self, word: str) -> None:
        self._drop(len(word))
        if word in ("<|channel|>", "<|start|>", "<|im_start|>"):
            self._mode, self._header = "header", ""
        elif word == "<|channel>":
            self._mode = "channel"

    def _in_header(self, final: bool) -> bool:
        """Between a channel or role token and its text: the words that name it."""
        for end in ("<|message|>", "<|channel|>", "\n"):
            if self._buffer.startswith(end):
                self._drop(len(end))
                if end == "<|channel|>":
                    self._header = ""
                else:
                    named = self._header.split()
                    role = not named or named[0] in ("final", "assistant")
                    self._mode = "text" if role else "channel"
                return True
            if end.startswith(self._buffer) and not final:
                return False
        self._header += self._buffer[0]
        self._drop(1)
        return True

    def _in_hidden(self, closer: re.Pattern[str], final: bool) -> bool:
        found = closer.search(self._buffer)
        if found is not None:
            self._hide(found.start())
            # A token that opens the next part is left for the text mode to read.
            opens = found.group() in ("<|start|>", "<|channel|>", "<|im_start|>")
            self._drop(0 if opens else len(found.group()))
            self._mode = "text"
            return True
        if final:
            self._hide(len(self._buffer))
            return True
        # Keep back what may be the beginning of a closing tag.
        hold = self._buffer.rfind("<")
        if hold < 0 or ">" in self._buffer[hold:]:
            hold = len(self._buffer)
        self._hide(hold)
        return False

    def _in_fence(self, final: bool) -> bool:
        line, newline, _ = self._buffer.partition("\n")
        if not newline and not final:
            # Part of a line: it can be shown as soon as it cannot be the closing one.
            if not self._fresh or not self._may_close(line):
                self._show(len(line))
            return False
        closes = self._fresh and self._closes(line)
        self._show(len(line) + len(newline))
        if closes:
            self._mode = "text"
        return True

    def _may_close(self, line: str) -> bool:
        return not line.strip(" \t>").strip(self._mark).strip(" \t\r")

    def _closes(self, line: str) -> bool:
        bare = line.strip(" \t>\r")
        return len(bare) >= self._run and not bare.strip(self._mark)

    def _in_inline(self, final: bool) -> bool:
        found = re.search(r"[`\n]", self._buffer)
        if found is None:
            self._show(len(self._buffer))
            return True
        if found.start():
            self._show(found.start())
            return True
        if self._buffer[0] == "\n":
            if _ENDS_PARAGRAPH.match(self._buffer):
                self._mode = "text"  # the paragraph ended: it was no code after all
            elif _MAY_END_PARAGRAPH.match(self._buffer) and not final:
                return False
            self._show(1)
            return True
        run = len(self._buffer) - len(self._buffer.lstrip("`"))
        if run == len(self._buffer) and not final:
            return False
        if run == self._run:
            self._mode = "text"
        self._show(run)
        return True


def scrub(text: str) -> str:
    """Return what of a whole answer is visible, trimmed. The same rules as the stream."""
    scrubber = Scrubber()
    return joined([*scrubber.feed(text), *scrubber.finish()])


def joined(pieces: list[Piece]) -> str:
    """Return the visible text of ``pieces``, trimmed."""
    shown: list[str] = []
    for piece in pieces:
        if isinstance(piece, Retract):
            shown.clear()
        elif isinstance(piece, Visible):
            shown.append(piece.text)
    return "".join(shown).strip()
