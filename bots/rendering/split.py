"""Cutting styled text into messages at the places where a reader would.

Rules (invariant 8): a cut falls at the end of a block, line, sentence or word, in this order of
preference. It never falls inside an atom (link, formula, table row, code in a line) or a line of a
block of code, unless that alone is longer than a whole piece; never inside a character, be it made
of several code points; each piece keeps its styles, so a block of code goes on as code in the same
language. Each piece is shorter than the text it was cut from; only white space at cuts is dropped.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate

from wcwidth import grapheme_boundary_before

from bots.rendering.clean import is_blank
from bots.rendering.styled import Kind, Quality, Span, Styled

Measure = Callable[[str], int]
"""Size of one code point in a platform's unit, at least 1."""

_SPACE = re.compile(r"\s+")
_SENTENCE_END = re.compile(r"(?:(?<!\d)\.|[!?…])[\"')\]”’]*$|[。！？；][\"')\]”’」』]*$")
_CHINESE_END = re.compile(r"[。！？；…]+[”’」』）]*(?=[^\s。！？；…”’」』）])")
_CHINESE_PAUSE = re.compile(r"[，、：](?=\S)")
_LOOK_BACK = 128
"""Code points looked at for the beginning of a composed character; longer ones are cut."""
_CODE_LINE = len(Quality)

# (quality, least share of the piece that must be filled to accept it), tried in this order.
_PREFERENCES = (
    (Quality.BLOCK, 0.3),
    (Quality.LINE, 0.5),
    (Quality.SENTENCE, 0.5),
    (_CODE_LINE, 0.5),
    (Quality.WORD, 0.5),
    (Quality.BLOCK, 0.0),
    (Quality.LINE, 0.0),
    (_CODE_LINE, 0.0),
    (Quality.SENTENCE, 0.0),
    (Quality.WORD, 0.0),
)


def utf16(character: str) -> int:
    """Size of a code point in UTF-16 code units."""
    return 2 if character > "\uffff" else 1


def split(styled: Styled, limit: int, measure: Measure = utf16) -> list[Styled]:
    """Cut styled text into pieces of at most ``limit`` units each; none is blank.

    The work grows with the length of the text, not faster. Raises ValueError when the limit is
    smaller than the largest code point can be (4 units).
    """
    if limit < 4:
        raise ValueError("a piece must have room for one character")
    text = styled.text
    sizes = [0, *accumulate(map(measure, text))]
    blocks = [s for s in styled.spans if s.kind in (Kind.PRE, Kind.GRID)]
    whole = [(a, b) for a, b in styled.atoms if sizes[b] - sizes[a] <= limit]
    cuts = _cuts(styled, blocks, whole, sizes, limit)
    pieces: list[Styled] = []
    start = 0
    while True:
        start = _skip_space(text, start, blocks)
        if start >= len(text):
            return pieces
        end = bisect_right(sizes, sizes[start] + limit) - 1
        if end < len(text):
            end = _best(text, start, end, sizes, limit, cuts) or _hard(text, start, end, whole)
        last = start + len(text[start:end].rstrip())
        if not is_blank(text[start:last]):
            pieces.append(styled.slice(start, last))
        start = end


def _skip_space(text: str, start: int, blocks: list[Span]) -> int:
    """Return where the next piece begins; the indentation of code is kept."""
    match = _SPACE.match(text, start)
    if match is None:
        return start
    end = match.end()
    index = bisect_right(blocks, end, key=lambda span: span.start) - 1
    if index >= 0 and end < blocks[index].end:
        line = text.rfind("\n", start, end) + 1
        return max(line, blocks[index].start, start)
    return end


def _best(
    text: str, start: int, end: int, sizes: list[int], limit: int, cuts: list[list[int]]
) -> int:
    """Return the best cut after ``start`` and not after ``end``, or 0."""
    for quality, share in _PREFERENCES:
        positions = cuts[quality]
        index = bisect_right(positions, end) - 1
        if index < 0 or positions[index] <= start:
            continue
        cut = positions[index]
        if sizes[cut] - sizes[start] >= share * limit and not is_blank(text[start:cut]):
            return cut
    return 0


def _hard(text: str, start: int, end: int, whole: list[tuple[int, int]]) -> int:
    """Return a cut inside a word: before an atom, else between two characters."""
    index = bisect_left(whole, (end, 0)) - 1
    if index >= 0 and start < whole[index][0] < end < whole[index][1]:
        return whole[index][0]
    cut = _character_start(text, start, end)
    return cut if cut > start else end


def _character_start(text: str, start: int, end: int) -> int:
    """Return the last boundary between characters as people see them, not after ``end``."""
    base = max(start, end - _LOOK_BACK)
    window = text[base : end + 1]
    if len(window) <= end - base:
        return end
    return base + grapheme_boundary_before(window, len(window))


def _cuts(
    styled: Styled,
    blocks: list[Span],
    whole: list[tuple[int, int]],
    sizes: list[int],
    limit: int,
) -> list[list[int]]:
    """Return the positions where the text may be cut, sorted, for each quality."""
    text = styled.text
    found: dict[int, int] = {}
    for match in _SPACE.finditer(text):
        at = match.end()
        if "\n" in match[0]:
            # The indentation of a line belongs to the piece that begins with it.
            at = match.start() + match[0].rindex("\n") + 1
            found[at] = Quality.LINE
        elif _SENTENCE_END.search(text, max(0, match.start() - 4), match.start()):
            found[at] = Quality.SENTENCE
        else:
            found[at] = Quality.WORD
    for match in _CHINESE_END.finditer(text):
        found.setdefault(match.end(), Quality.SENTENCE)
    for match in _CHINESE_PAUSE.finditer(text):
        found.setdefault(match.end(), Quality.WORD)
    found.update(styled.breaks)
    cuts: list[list[int]] = [[] for _ in range(_CODE_LINE + 1)]
    for at in sorted(found):
        if _inside(at, whole):
            continue
        block = _block_around(at, blocks)
        if block is None:
            cuts[found[at]].append(at)
        elif text[at - 1] == "\n":
            cuts[_CODE_LINE].append(at)
        elif _line_size(text, at, block, sizes) > limit:
            cuts[Quality.WORD].append(at)
    return cuts


def _inside(at: int, ranges: list[tuple[int, int]]) -> bool:
    index = bisect_left(ranges, (at, 0)) - 1
    return index >= 0 and ranges[index][0] < at < ranges[index][1]


def _block_around(at: int, blocks: list[Span]) -> Span | None:
    index = bisect_left(blocks, at, key=lambda span: span.start) - 1
    return blocks[index] if index >= 0 and at < blocks[index].end else None


def _line_size(text: str, at: int, block: Span, sizes: list[int]) -> int:
    start = max(text.rfind("\n", block.start, at) + 1, block.start)
    end = text.find("\n", at, block.end)
    return sizes[block.end if end < 0 else end] - sizes[start]
