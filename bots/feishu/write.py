"""Styled text in the Markdown of message cards, so that only our own styles are read as markup.

Pure, and free of the client library. What could mean something is spelled as a character
reference, the platform's own way of escaping ("Rich text component", special characters). Inside
code references are shown as they are, so there an invisible character keeps apart what would call
a person or ask for a picture.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Final
from urllib.parse import quote

from bots.rendering.clean import is_blank
from bots.rendering.styled import Kind, Span, Styled

_JOINER: Final = "\u2060"

_URL: Final = re.compile(r"https?://[!-;=?-~]+")
_SPECIAL: Final = re.compile(r"[\\*_`~|\[\]<>]|&(?=#?\w+;)|:(?=[\w+-]+:)|!(?=\[)")
_LINE_MARK: Final = re.compile(r"(\s*)([#+\-](?=[\s#-]|$))")
_NUMBER_MARK: Final = re.compile(r"(\s*\d+)([.)])(?=\s)")
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9_+.#-]+")
_CALL: Final = re.compile(r"<(?=/?\s*(?:at|person)\b)", re.IGNORECASE)
_PICTURE: Final = re.compile(r"!(?=\[[^\]]*\]\([^)\s]+\))")
_BLOCKS: Final = (Kind.PRE, Kind.GRID)


def write(styled: Styled) -> str:
    """Return a piece of styled text as the content of a markdown element."""
    written: list[str] = []
    at = 0
    for block in (span for span in styled.spans if span.kind in _BLOCKS):
        before = "".join(_lines(styled, at, block.start))
        written.append(_on_own_line(before, follows_block=at > 0))
        written.append(_fence(styled.text[block.start : block.end], block))
        at = block.end
    after = "".join(_lines(styled, at, len(styled.text)))
    if written and after and not after.startswith("\n"):
        after = "\n" + after
    return "".join([*written, after])


def unpinging(text: str) -> str:
    """Return text, not Markdown, in which no tag calls a person."""
    return _CALL.sub(f"<{_JOINER}", text)


def escaped(text: str, *, line_start: bool = False) -> str:
    """Return text that a card shows letter for letter; an address in it stays one."""
    parts: list[str] = []
    at = 0
    for url in _URL.finditer(text):
        parts += [_SPECIAL.sub(_reference, text[at : url.start()]), _address(url[0])]
        at = url.end()
    parts.append(_SPECIAL.sub(_reference, text[at:]))
    whole = "".join(parts)
    mark = (_LINE_MARK.match(whole) or _NUMBER_MARK.match(whole)) if line_start else None
    if mark is not None:
        whole = f"{mark[1]}&#{ord(mark[2])};{whole[mark.end() :]}"
    return whole


def _reference(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"


def _on_own_line(text: str, *, follows_block: bool) -> str:
    if follows_block and not text.startswith("\n"):
        text = "\n" + text
    return text if not text or text.endswith("\n") else text + "\n"


def _fence(code: str, block: Span) -> str:
    language = block.value if block.kind is Kind.PRE and _LANGUAGE.fullmatch(block.value) else ""
    return f"```{language}\n{_still(code).replace('```', f'``{_JOINER}`')}\n```"


def _still(code: str) -> str:
    return _PICTURE.sub(f"!{_JOINER}", unpinging(code))


def _lines(styled: Styled, start: int, end: int) -> Iterator[str]:
    """Yield the lines of a range without blocks of code, and the line ends between them."""
    text = styled.text
    while start <= end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        yield _line(styled, start, stop)
        if stop == end:
            return
        yield "\n"
        start = stop + 1


def _line(styled: Styled, start: int, end: int) -> str:
    around = [s for s in styled.spans if s.start < end and s.end > start]
    # An empty line has no character that could lie in a quotation, so its place is looked at.
    quoted = any(
        s.kind is Kind.QUOTE and (s in around or s.start <= start < s.end) for s in styled.spans
    )
    prefix = "> " if quoted else ""
    heading = next((s for s in around if s.kind is Kind.HEADING and s.start <= start), None)
    if heading is not None:
        prefix += "#" * int(heading.value) + " "
    return prefix + _runs(styled.text, start, end, around, titled=heading is not None)


def _runs(text: str, start: int, end: int, spans: list[Span], *, titled: bool) -> str:
    """Write a line run by run: a run is a range that looks the same all over."""
    edges = sorted({start, end, *(x for s in spans for x in (s.start, s.end) if start < x < end)})
    written = ""
    link: Span | None = None
    for a, b in pairwise(edges):
        here = [s for s in spans if s.start <= a and s.end >= b]
        inside = next((s for s in here if s.kind is Kind.LINK), None)
        if inside is not link:
            written += _closed(link) + ("[" if inside else "")
            link = inside
        kinds = {s.kind for s in here}
        if Kind.HEADING in kinds and not titled:
            kinds.add(Kind.BOLD)  # a title inside a line, behind the mark of a list
        around = (text[start:a][-1:], text[b:end][:1])
        run = _run(text[a:b], kinds, line_start=a == start, around=around)
        if written[-1:] in ("*", "~", "`") and run[:1] in ("*", "~", "`"):
            written += _JOINER
        written += run
    return written + _closed(link)


def _closed(link: Span | None) -> str:
    return "" if link is None else f"]({_address(link.value)})"


def _run(text: str, kinds: set[Kind], *, line_start: bool, around: tuple[str, str]) -> str:
    if is_blank(text):
        return text
    if Kind.CODE in kinds:
        return _code(text)
    marks = "".join(
        mark
        for kind, mark in ((Kind.STRIKE, "~~"), (Kind.BOLD, "**"), (Kind.ITALIC, "*"))
        if kind in kinds
    )
    if not marks:
        return escaped(text, line_start=line_start)
    inner = _bare(text.strip(), *around)
    lead = text[: text.index(inner)]
    tail = text[len(lead) + len(inner) :]
    return f"{escaped(lead)}{marks}{escaped(inner)}{marks[::-1]}{escaped(tail)}"


def _bare(text: str, before: str, after: str) -> str:
    """Return text without the punctuation at its ends, where a letter stands beyond.

    ``**Note:**then`` closes nothing: between punctuation and a letter a mark means nothing
    (CommonMark, flanking); ``**Note**:then`` shows nearly the same.
    """
    start, end = 0, len(text)
    while start < end and _is_letter(before) and _is_punctuation(text[start]):
        start += 1
    while start < end and _is_letter(after) and _is_punctuation(text[end - 1]):
        end -= 1
    return text[start:end].strip() or text


def _is_letter(neighbour: str) -> bool:
    return bool(neighbour) and not neighbour.isspace() and not _is_punctuation(neighbour)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _code(text: str) -> str:
    still = _still(text)
    if "`" not in still:
        return f"`{still}`"
    kept = still.replace("``", f"`{_JOINER}`").replace("``", f"`{_JOINER}`")
    before = " " if kept.startswith("`") else ""
    after = " " if kept.endswith("`") else ""
    return f"``{before}{kept}{after}``"


def _address(url: str) -> str:
    """Return an address without characters that are markup; they are spelled in percent."""
    return re.sub(
        r"[\s<>()\\*`|~\[\]]", lambda found: quote(found[0], safe="").replace("~", "%7E"), url
    )
