r"""Parsing: CommonMark with GFM tables and strikethrough, and TeX in its four delimiters.

Raw HTML stays text. A dollar opens a formula under pandoc's rule (``tex_math_dollars``): no space
after the opening one, none before the closing one, no digit after it; so ``$5 and $6`` is money.
``\(…\)``, ``\[…\]`` and ``$$…$$`` are always formulas, and so is a command like ``\frac{1}{2}``
that a model left without delimiters. Inside code nothing is one.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token

MAX_NESTING = 40
"""Containers inside each other; a source that nests deeper is shown as it was written."""

_MAX_INLINE_TEX = 2000
_MAX_BARE_TEX = 300
_MAX_BLOCK_LINES = 200
_CLOSERS = {"$$": "$$", "\\[": "\\]", "\\(": "\\)"}
_COMMAND = re.compile(r"\\[A-Za-z]{2}")
_BARE_COMMAND = re.compile(r"\\(?:[dtc]?frac|sqrt|[dt]?binom|text|overline|mathbb|boxed)(?=[{\[])")
_DOLLAR_END = re.compile(r"(?<![\s\\$])\$(?!\$)(?!\d)(?!(?!(?:st|nd|rd|th|s)\b)[A-Za-z_])")


def parse(source: str) -> list[Token] | None:
    """Return the source as markdown-it tokens, with ``math_inline`` and ``math_block`` among them.

    ``content`` of these two is the TeX; ``markup`` of ``math_inline`` is its opening delimiter.
    None when containers nest deeper than ``MAX_NESTING``.
    """
    tokens = _parser().parse(source)
    for token in tokens:
        if token.level >= MAX_NESTING - 1 and token.type in ("blockquote_open", "list_item_open"):
            return None
    return tokens


def readable_url(url: str) -> str:
    """Return a URL as people read it, with percent codes of letters decoded."""
    return _parser().normalizeLinkText(url)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    # A definition shows nothing; as text, its bare URL can at least be followed.
    parser.disable("reference")
    parser.inline.ruler.before("escape", "math_inline", _math_inline)
    parser.inline.ruler.at("emphasis", _emphasis)
    parser.block.ruler.before(
        "fence", "math_block", _math_block, {"alt": ["paragraph", "reference", "blockquote"]}
    )
    return parser


def _emphasis(state: StateInline, silent: bool) -> bool:
    """Read a run of emphasis marks as CommonMark does, but let them touch East Asian letters.

    CommonMark tells by the spaces around punctuation whether a mark opens or closes; where words
    are written without spaces, ``**注意：**后面`` would close nothing.
    """
    start, source = state.pos, state.src
    marker = source[start]
    if silent or marker not in "*_":
        return False
    run = state.scanDelims(start, marker == "*")
    opens, closes = run.can_open, run.can_close
    before = source[start - 1 : start] or " "
    after = source[start + run.length : state.posMax][:1] or " "
    if marker == "*":
        opens = opens or (_is_east_asian(before) and not after.isspace())
        closes = closes or (_is_east_asian(after) and not before.isspace())
    for _ in range(run.length):
        token = state.push("text", "", 0)
        token.content = marker
        state.delimiters.append(
            Delimiter(
                marker=ord(marker),
                length=run.length,
                token=len(state.tokens) - 1,
                end=-1,
                open=opens,
                close=closes,
            )
        )
    state.pos += run.length
    return True


def _is_east_asian(character: str) -> bool:
    """Tell whether a character is a letter of a script that is written without spaces."""
    wide = unicodedata.east_asian_width(character) in "WF"
    return wide and unicodedata.category(character).startswith("L")


def _math_inline(state: StateInline, silent: bool) -> bool:
    source, start = state.src, state.pos
    if source[start] not in "$\\":
        return False
    opener = source[start : start + 2]
    if bare := _BARE_COMMAND.match(source, start):
        opener = closer = ""
        begin, end = start, _arguments_end(source, bare.end())
    elif opener in _CLOSERS:
        closer = _CLOSERS[opener]
        begin = start + 2
        end = _find_closer(source, closer, begin, min(state.posMax, begin + _MAX_INLINE_TEX))
    elif source[start] == "$":
        opener = closer = "$"
        begin = start + 1
        end = _dollar_end(state, begin)
    else:
        return False
    if end < 0 or not source[begin:end].strip() or "`" in source[begin:end]:
        return False
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content = source[begin:end].strip()
        token.markup = opener
    state.pos = end + len(closer)
    return True


def _find_closer(source: str, closer: str, begin: int, limit: int) -> int:
    """Return where the closer stands first, not being the end of an escape, or -1.

    In ``\\\\[2pt]`` the bracket belongs to the line break, so pairs are skipped.
    """
    at = source.find(closer, begin, limit)
    while at >= 0:
        backslashes = 0
        while at - backslashes > begin and source[at - backslashes - 1] == "\\":
            backslashes += 1
        if backslashes % 2 == 0:
            return at
        at = source.find(closer, at + 1, limit)
    return -1


def _arguments_end(source: str, at: int) -> int:
    """Return where the bracketed arguments of a command without delimiters end, or -1."""
    depth = 0
    for position in range(at, min(len(source), at + _MAX_BARE_TEX)):
        character = source[position]
        if character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0 and source[position + 1 : position + 2] not in ("{", "["):
                return position + 1
    return -1


def _dollar_end(state: StateInline, begin: int) -> int:
    """Return the position of the closing dollar of a formula that begins here, or -1."""
    source = state.src
    if begin >= state.posMax:
        return -1
    before = source[begin - 2] if begin >= 2 else " "
    if before == "$" or (before.isascii() and before.isalnum()):
        return -1
    end = _find_closer(source, "$", begin, min(state.posMax, begin + _MAX_INLINE_TEX))
    if end < 0:
        return -1
    if source[begin].isspace():
        # Some models pad their formulas; a command inside tells them from money.
        return end if _COMMAND.search(source, begin, end) else -1
    return end if _DOLLAR_END.match(source, end) else -1


def _math_block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    if state.is_code_block(start_line):
        return False
    begin = state.bMarks[start_line] + state.tShift[start_line]
    opener = state.src[begin : begin + 2]
    if opener not in ("$$", "\\["):
        return False
    closer = _CLOSERS[opener]
    end_line = min(end_line, start_line + _MAX_BLOCK_LINES)
    if state.src.find(closer, begin + 2, state.eMarks[end_line - 1]) < 0:
        return False
    lines: list[str] = []
    for line in range(start_line, end_line):
        if line > start_line and state.sCount[line] < state.blkIndent and not state.isEmpty(line):
            return False  # the container ended before the formula did
        first = begin + 2 if line == start_line else state.bMarks[line] + state.tShift[line]
        last = state.eMarks[line]
        end = _find_closer(state.src, closer, first, last) if first <= last else -1
        if end < 0:
            lines.append(state.src[first:last])
            continue
        rest = state.src[end + 2 : last].strip()
        if rest not in ("", ".", ",", ";", "。", "，", "；"):
            return False  # prose goes on in this line: a paragraph with a formula in it
        tex = "\n".join([*lines, state.src[first:end]]).strip()
        if not tex:
            return False
        if silent:
            return True
        token = state.push("math_block", "math", 0)
        token.block = True
        token.content = tex
        token.info = rest
        token.markup = opener
        token.map = [start_line, line + 1]
        state.line = line + 1
        return True
    return False
