"""Styled text in Discord's Markdown, so that nothing but our own styles is read as markup.

Pure, and free of the client library. The rules are those of the apps ("Markdown Text 101", and
the client's own grammar where the page is silent): a backslash escapes any punctuation, ``*`` must
touch its word, a block of code ends at the next three backticks, a style does not go over a line
end here because quotations and headings begin anew on each line. Where a style could be misread
(a star inside italics) it is left out; the words never are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from urllib.parse import quote

from bots.rendering.clean import is_blank
from bots.rendering.styled import SOLID, Kind, Span, Styled

_JOINER = "\u2060"
"""Invisible; keeps apart what together would mean something."""

_URL = re.compile(r"https?://[!-;=?-~]+")
_SPECIAL = re.compile(r"[\\*_`~|\[\]<]|:(?=[\w+-]+:)")
_LINE_MARK = re.compile(r"(\s*)(#{1,3}(?=\s)|-(?=[#\s])|\+(?=\s)|>)")
_NUMBER_MARK = re.compile(r"(\s*\d+)([.)])(?=\s)")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+.#-]+")
_MENTION = re.compile(r"@(?=everyone|here|[!&]?\d)")
_BLOCKS = (Kind.PRE, Kind.GRID)


def muted(styled: Styled) -> Styled:
    """Put an invisible character into everything outside code that could ring at somebody's."""
    solid = [s for s in styled.spans if s.kind in SOLID]

    def in_code(at: int) -> bool:
        before = bisect_right(solid, at, key=lambda span: span.start) - 1
        return before >= 0 and at < solid[before].end

    rings = [m.end() for m in _MENTION.finditer(styled.text) if not in_code(m.start())]
    return styled.insert(rings, _JOINER)


def write(styled: Styled) -> str:
    """Return a piece of styled text as the content of one message."""
    blocks = [span for span in styled.spans if span.kind in _BLOCKS]
    written: list[str] = []
    at = 0
    for block in blocks:
        before = "".join(_lines(styled, at, block.start))
        written.append(_on_own_line(before, at > 0))
        written.append(_fence(styled.text[block.start : block.end], block))
        at = block.end
    after = "".join(_lines(styled, at, len(styled.text)))
    if blocks and after and not after.startswith("\n"):
        after = "\n" + after
    return "".join([*written, after])


def escaped(text: str, *, line_start: bool = False) -> str:
    """Return text that Discord shows letter for letter; an address in it stays one."""
    parts: list[str] = []
    at = 0
    for url in _URL.finditer(text):
        parts += [_SPECIAL.sub(r"\\\g<0>", text[at : url.start()]), _address(url[0])]
        at = url.end()
    parts.append(_SPECIAL.sub(r"\\\g<0>", text[at:]))
    whole = "".join(parts)
    if line_start:
        whole = _LINE_MARK.sub(r"\1\\\2", whole, count=1) if _LINE_MARK.match(whole) else whole
        number = _NUMBER_MARK.match(whole)
        if number:
            whole = f"{number[1]}\\{whole[number.end(1) :]}"
    return whole


def _on_own_line(text: str, follows_block: bool) -> str:
    if follows_block and not text.startswith("\n"):
        text = "\n" + text
    return text if not text or text.endswith("\n") else text + "\n"


def _fence(code: str, block: Span) -> str:
    language = block.value if block.kind is Kind.PRE and _LANGUAGE.fullmatch(block.value) else ""
    return f"```{language}\n{code.replace('``', f'`{_JOINER}`')}\n```"


def _lines(styled: Styled, start: int, end: int) -> Iterator[str]:
    """Yield the lines of a range without blocks of code, and the line ends between them."""
    text = styled.text
    first, last = start, end
    while start <= end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        # What lies between a block and the end of its line is no line of its own.
        beside_block = (start == first and first > 0) or (stop == last and last < len(text))
        if start < stop or not beside_block:
            yield _line(styled, start, stop)
        if stop == end:
            return
        yield "\n"
        start = stop + 1


def _line(styled: Styled, start: int, end: int) -> str:
    around = [s for s in styled.spans if s.start < end and s.end > start]
    # An empty line has no character that could lie in a quotation, so its place is looked at.
    quoted = [s for s in styled.spans if s.kind is Kind.QUOTE and s.start <= start < s.end]
    prefix = "> " if quoted or any(s.kind is Kind.QUOTE for s in around) else ""
    heading = next((s for s in around if s.kind is Kind.HEADING and s.start <= start), None)
    if heading is not None:
        prefix += "#" * min(int(heading.value), 3) + " "
    return prefix + _runs(styled.text, start, end, around, plain_heading=heading is not None)


def _runs(text: str, start: int, end: int, spans: list[Span], *, plain_heading: bool) -> str:
    """Write a line run by run: a run is a range that looks the same all over."""
    edges = sorted({start, end, *(x for s in spans for x in (s.start, s.end) if start < x < end)})
    written = ""
    link: Span | None = None
    for a, b in pairwise(edges):
        here = [s for s in spans if s.start <= a and s.end >= b]
        inside = next((s for s in here if s.kind is Kind.LINK), None)
        if inside is not link:
            written += _closed(link)
            written += "[" if inside else ""
            link = inside
        kinds = {s.kind for s in here}
        if Kind.HEADING in kinds and not plain_heading:
            kinds.add(Kind.BOLD)  # a title inside a line, behind the mark of a list
        run = _run(text[a:b], kinds, line_start=a == start)
        if written[-1:] in ("*", "~", "`") and run[:1] in ("*", "~", "`"):
            written += _JOINER
        written += run
    return written + _closed(link)


def _closed(link: Span | None) -> str:
    return "" if link is None else f"]({_address(link.value, in_link=True)})"


def _run(text: str, kinds: set[Kind], *, line_start: bool) -> str:
    if is_blank(text):
        return text
    if Kind.CODE in kinds:
        return _code(text)
    inner = text.strip()
    lead, tail = text[: text.index(inner)], text[text.index(inner) + len(inner) :]
    marks = ""
    if Kind.STRIKE in kinds and "~" not in inner:
        marks += "~~"
    if Kind.BOLD in kinds:
        marks += "**"
    if Kind.ITALIC in kinds and "*" not in inner:
        marks += "*"
    at_start = line_start and not marks
    return f"{lead}{marks}{escaped(inner, line_start=at_start)}{marks[::-1]}{tail}"


def _code(text: str) -> str:
    if "`" not in text:
        return f"`{text}`"
    kept = text.replace("``", f"`{_JOINER}`").replace("``", f"`{_JOINER}`")
    before = " " if kept.startswith("`") else ""
    after = " " if kept.endswith("`") else ""
    return f"``{before}{kept}{after}``"


def _address(url: str, *, in_link: bool = False) -> str:
    """Return an address without characters that are markup; they are spelled in percent."""
    risky = r"[\s<>()\\*`|]" if in_link else r"[\\*`|]"
    safe = re.sub(risky, lambda found: quote(found[0], safe=""), url)
    return safe.replace("~~", "%7E%7E")
