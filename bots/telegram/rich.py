"""Documents as rich messages: headings, tables and formulas that Telegram draws itself.

Pure, and free of the client library; blocks are in the wire's form (Bot API 10.2, InputRichBlock).
Text goes in as text, never as markup, and entities are not looked for in it, so nothing rings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from markdown_it.token import Token

from bots.rendering.clean import is_blank, printable
from bots.rendering.markdown import parse, readable_url

MOST_CHARACTERS: Final = 30_000
MOST_BLOCKS: Final = 200
DEEPEST: Final = 8
"""Blocks inside each other."""
LONG_QUOTE: Final = 500
"""Characters from which a quotation is folded up."""

Block: TypeAlias = dict[str, Any]
Inline: TypeAlias = "str | dict[str, Any] | list[Inline]"

_WORTH: Final = frozenset({"heading_open", "table_open", "math_block"})
_SPANS: Final = {"strong": "bold", "em": "italic", "s": "strikethrough"}
_TASK: Final = re.compile(r"\[([ xX])\] ")
_LINKS: Final = ("http://", "https://", "mailto:")


def rich(source: str) -> tuple[Block, ...] | None:
    """Return Markdown source as blocks.

    None where it has nothing that a plain message could not show as well, and where it is nested
    deeper or longer than is sensible.
    """
    tokens = parse(printable(source))
    if tokens is None or not any(map(_is_worth, tokens)):
        return None
    builder = _Builder()
    for token in tokens:
        builder.take(token)
    blocks = tuple(builder.blocks)
    if not blocks or builder.made > MOST_BLOCKS or builder.deepest > DEEPEST:
        return None
    return blocks if len(text_of(blocks)) <= MOST_CHARACTERS else None


def text_of(blocks: Sequence[Any]) -> str:
    """Return the words of a rich message, sent or received, a line for each block."""
    return "\n".join(filter(None, (" ".join(_words(block)).strip() for block in blocks)))


def _words(value: Any) -> Iterator[str]:
    """The texts in a block, in their order, whatever its type."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _words(each)
    elif isinstance(value, dict):
        for key in ("label", "expression", "summary", "text", "cells", "blocks", "items"):
            yield from _words(value.get(key))


def _is_worth(token: Token) -> bool:
    if token.type in _WORTH:
        return True
    return any(child.type == "math_inline" for child in token.children or ())


@dataclass(slots=True)
class _Open:
    """A container that is being filled."""

    blocks: list[Block] = field(default_factory=list)
    number: int | None = None
    """Of the next item, in an ordered list."""
    items: list[Block] = field(default_factory=list)
    rows: list[list[Block]] = field(default_factory=list)


class _Builder:
    """Walks over the flat token stream once; nesting is kept in a stack, not in calls."""

    def __init__(self) -> None:
        self.made = 0
        self.deepest = 0
        self._stack = [_Open()]
        self._heading = 0
        self._cell: Block = {}

    @property
    def blocks(self) -> list[Block]:
        """What stands on its own."""
        return self._stack[0].blocks

    def take(self, token: Token) -> None:
        match token.type:
            case "inline":
                self._text(token.children or [])
            case "heading_open":
                self._heading = int(token.tag[1:])
            case "heading_close":
                self._heading = 0
            case "fence" | "code_block":
                self._code(token)
            case "math_block":
                self._add({"type": "mathematical_expression", "expression": token.content.strip()})
            case "hr":
                self._add({"type": "divider"})
            case "blockquote_open" | "list_item_open" | "bullet_list_open" | "table_open":
                self._open(_Open())
            case "ordered_list_open":
                self._open(_Open(number=int(token.attrGet("start") or 1)))
            case "blockquote_close":
                self._quote(self._stack.pop().blocks)
            case "list_item_close":
                self._item(self._stack.pop().blocks)
            case "bullet_list_close" | "ordered_list_close":
                if items := self._stack.pop().items:
                    self._add({"type": "list", "items": items})
            case "tr_open":
                self._stack[-1].rows.append([])
            case "th_open" | "td_open":
                style = str(token.attrGet("style") or "")
                align = style.removeprefix("text-align:") or "left"
                self._cell = {"align": align, "valign": "middle"}
                if token.type == "th_open":
                    self._cell["is_header"] = True
                self._stack[-1].rows[-1].append(self._cell)
            case "table_close":
                rows = self._stack.pop().rows
                self._add({"type": "table", "cells": rows, "is_bordered": True})

    def _open(self, container: _Open) -> None:
        self._stack.append(container)
        self.deepest = max(self.deepest, len(self._stack))

    def _add(self, block: Block) -> None:
        self.made += 1
        self._stack[-1].blocks.append(block)

    def _text(self, children: list[Token]) -> None:
        text = _inline(children)
        if self._stack[-1].rows:
            if not _blank(text):
                self._cell["text"] = text
        elif not _blank(text):
            if self._heading:
                self._add({"type": "heading", "text": text, "size": self._heading})
            else:
                self._add({"type": "paragraph", "text": text})

    def _code(self, token: Token) -> None:
        info = token.info.split()
        code = token.content.rstrip("\n")
        if is_blank(code):
            return
        if info and info[0] == "math":
            self._add({"type": "mathematical_expression", "expression": code.strip()})
            return
        block: Block = {"type": "pre", "text": code}
        if info:
            block["language"] = printable(info[0])
        self._add(block)

    def _quote(self, blocks: list[Block]) -> None:
        if not blocks:
            return
        texts = [block["text"] for block in blocks if block["type"] == "paragraph"]
        if len(texts) == len(blocks) and len(text_of(blocks)) > LONG_QUOTE:
            parts: list[Inline] = []
            for text in texts:
                parts += [*(["\n\n"] if parts else []), text]
            self._add({"type": "expandable_blockquote", "text": parts})
        else:
            self._add({"type": "blockquote", "blocks": blocks})

    def _item(self, blocks: list[Block]) -> None:
        current = self._stack[-1]
        item: Block = {"blocks": blocks or [{"type": "paragraph", "text": "–"}]}
        if current.number is not None:
            item |= {"value": current.number, "type": "1"}
            current.number += 1
        first = blocks[0].get("text") if blocks else None
        lead = first[0] if isinstance(first, list) else first
        if isinstance(lead, str) and (task := _TASK.match(lead)):
            rest = lead[task.end() :]
            blocks[0]["text"] = [rest, *first[1:]] if isinstance(first, list) else rest
            item |= {"has_checkbox": True, "is_checked": task[1] != " "}
        current.items.append(item)


def _inline(children: list[Token]) -> Inline:
    """Inline tokens as rich text."""
    stack: list[list[Inline]] = [[]]
    urls: list[str] = []
    for token in children:
        span = _SPANS.get(token.tag)
        match token.type:
            case "text":
                stack[-1].append(token.content)
            case "softbreak" | "hardbreak":
                stack[-1].append("\n")
            case "code_inline":
                stack[-1].append({"type": "code", "text": token.content})
            case "math_inline":
                stack[-1].append({"type": "mathematical_expression", "expression": token.content})
            case "link_open":
                urls.append(str(token.attrGet("href") or ""))
                stack.append([])
            case "link_close":
                label = _plain(stack.pop())
                stack[-1].append(_link(label, urls.pop()))
            case "image":
                stack[-1].append(_image(token))
            case _ if span is not None and token.nesting == 1:
                stack.append([])
            case _ if span is not None and token.nesting == -1:
                inside = _plain(stack.pop())
                if not _blank(inside):
                    stack[-1].append({"type": span, "text": inside})
            case _:
                pass
    return _plain(stack[0])


def _link(label: Inline, url: str) -> Inline:
    if not url.lower().startswith(_LINKS):
        return [label, f" ({readable_url(url)})"]
    return {"type": "url", "text": readable_url(url) if _blank(label) else label, "url": url}


def _image(token: Token) -> Inline:
    url = str(token.attrGet("src") or "")
    words = "".join(child.content for child in token.children or ()).strip()
    if not url.lower().startswith(_LINKS):
        return words
    return {"type": "url", "text": words or readable_url(url), "url": url}


def _plain(parts: list[Inline]) -> Inline:
    """Join neighbouring strings; one part alone stands for itself."""
    joined: list[Inline] = []
    for part in parts:
        before = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(before, str):
            joined[-1] = before + part
        elif part != "":
            joined.append(part)
    return joined[0] if len(joined) == 1 else joined or ""


def _blank(text: Inline) -> bool:
    return is_blank("".join(_words(text)))
