"""MarkdownV2 of ``parse_mode=MarkdownV2``: a text and its entities, or a refusal.

The rules are those of the Bot API reference ("MarkdownV2 style"): every reserved character that
opens or closes nothing must be escaped, and entities end in the order they began.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tests.servers.telegram.entities import Entity, link_entity, units, without_style_in_code
from tests.servers.telegram.errors import Refusal, unparsable

_RESERVED = frozenset("_*[]()~`>#+-=|{}.!")
_OPENERS = ("```", "![", "__", "||", "_", "*", "~", "`", "[")
_NAMES = {
    "_": "Italic",
    "__": "Underline",
    "*": "Bold",
    "~": "Strikethrough",
    "||": "Spoiler",
    "`": "Code",
    "```": "Pre",
    "[": "TextUrl",
    "![": "CustomEmoji",
    ">": "BlockQuote",
}
_TYPES = {
    "_": "italic",
    "__": "underline",
    "*": "bold",
    "~": "strikethrough",
    "||": "spoiler",
    "`": "code",
    "```": "pre",
}
_ENDS = {"[": "]", "![": "]"}
_LANGUAGE = re.compile(r"([^\s`]+)(?=\s)")
_NEWLINE = re.compile(r"\r\n|\n\r|\n|\r")
_EMOJI = re.compile(r"tg://emoji/?\?id=([1-9]\d*)", re.IGNORECASE)


@dataclass(slots=True)
class _Open:
    mark: str
    offset: int
    byte: int
    position: int
    language: str = ""


@dataclass(slots=True)
class _Parser:
    source: str
    at: int = 0
    text: list[str] = field(default_factory=list)
    offset: int = 0
    open: list[_Open] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    quoted: bool = False

    def byte(self, at: int) -> int:
        return len(self.source[:at].encode("utf-8", "surrogatepass"))

    def put(self, piece: str) -> None:
        self.text.append(piece)
        self.offset += units(piece)

    def unended(self) -> Refusal:
        last = self.open[-1]
        name = "PreCode" if last.language else _NAMES[last.mark]
        return unparsable(f"Can't find end of {name} entity at byte offset {last.byte}")

    def run(self) -> None:
        while self.at < len(self.source):
            self.step()
        if self.quoted and self.open[-1].mark == ">":
            self.end_quote("blockquote")
        if self.open:
            raise self.unended()

    def step(self) -> None:
        source, at = self.source, self.at
        character = source[at]
        following = source[at + 1 : at + 2]
        top = self.open[-1].mark if self.open else ""
        if character == "\\" and following and 0 < ord(following) <= 126:
            self.put(following)
            self.at += 2
        elif top in ("`", "```"):
            if source.startswith(top, at):
                self.end(top)
            elif character == "`":
                # Three open, one found: taken for the start of code, which then lacks an end.
                self.begin("`")
            else:
                self.put(character)
                self.at += 1
        elif character == "\n":
            self.newline(following)
        elif self.at_line_start() and not self.quoted and source.startswith((">", "**>"), at):
            self.begin_quote()
        elif character in _RESERVED:
            self.mark(top)
        else:
            self.put(character)
            self.at += 1

    def at_line_start(self) -> bool:
        return self.at == 0 or self.source[self.at - 1] in "\r\n"

    def newline(self, following: str) -> None:
        self.put("\n")
        self.at += 1
        if self.quoted and following == ">":
            self.at += 1
        elif self.quoted:
            if self.open[-1].mark != ">":
                raise self.unended()
            self.end_quote("blockquote")

    def begin_quote(self) -> None:
        self.open.append(_Open(">", self.offset, self.byte(self.at), len(self.text)))
        self.at = self.source.index(">", self.at) + 1
        self.quoted = True

    def end_quote(self, kind: str) -> None:
        opened = self.open.pop()
        self.quoted = False
        if self.offset > opened.offset:
            length = self.offset - opened.offset
            self.entities.append({"type": kind, "offset": opened.offset, "length": length})

    def mark(self, top: str) -> None:
        source, at = self.source, self.at
        found = next((mark for mark in _OPENERS if source.startswith(mark, at)), "")
        closes = bool(top) and top != ">" and source.startswith(_ENDS.get(top, top), at)
        # `__` always closes or opens underline, so it never closes italic.
        if closes and not (top == "_" and source.startswith("__", at)):
            self.end(top)
        elif found == "||" and top == ">" and self.ends_quote(at + 2):
            self.at += 2
            breaking = _NEWLINE.match(source, self.at)
            if breaking:
                self.put(breaking[0])
                self.at = breaking.end()
            self.end_quote("expandable_blockquote")
        elif found:
            self.begin(found)
        else:
            raise unparsable(
                f"Character '{source[at]}' is reserved and must be escaped with the preceding '\\'"
            )

    def ends_quote(self, at: int) -> bool:
        breaking = _NEWLINE.match(self.source, at)
        if breaking is None:
            return at >= len(self.source)
        return not self.source.startswith(">", breaking.end())

    def begin(self, mark: str) -> None:
        opened = _Open(mark, self.offset, self.byte(self.at), len(self.text))
        self.at += len(mark)
        if mark == "```":
            language = _LANGUAGE.match(self.source, self.at)
            if language:
                opened.language = language[1]
                self.at = language.end()
            newline = _NEWLINE.match(self.source, self.at)
            if newline:
                self.at = newline.end()
        self.open.append(opened)

    def end(self, mark: str) -> None:
        opened = self.open.pop()
        self.at += len(_ENDS.get(mark, mark))
        length = self.offset - opened.offset
        entity: Entity | None = {
            "type": _TYPES.get(mark),
            "offset": opened.offset,
            "length": length,
        }
        if mark == "[":
            shown = "".join(self.text[opened.position :])
            url = self.target("a URL") if self.source.startswith("(", self.at) else shown
            entity = link_entity(opened.offset, length, url)
        elif mark == "![":
            entity = self.emoji(opened.offset, length)
        elif opened.language and entity is not None:
            entity["language"] = opened.language
        if entity is not None and length:
            self.entities.append(entity)

    def target(self, what: str) -> str:
        start = self.at + 1
        at, url = start, ""
        while at < len(self.source) and self.source[at] != ")":
            if self.source[at] == "\\" and at + 1 < len(self.source):
                at += 1
            url += self.source[at]
            at += 1
        if at >= len(self.source):
            raise unparsable(f"Can't find end of {what} at byte offset {self.byte(start)}")
        self.at = at + 1
        return url

    def emoji(self, offset: int, length: int) -> Entity:
        if not self.source.startswith("(", self.at):
            raise unparsable("Custom emoji entity must contain a tg://emoji URL")
        url = self.target("a custom emoji URL")
        found = _EMOJI.match(url)
        if found is None:
            raise unparsable("Invalid custom emoji identifier specified")
        return {
            "type": "custom_emoji",
            "offset": offset,
            "length": length,
            "custom_emoji_id": found[1],
        }


def parse_markdown(source: str) -> tuple[str, list[Entity]]:
    """Return the plain text and the entities; raises Refusal for broken markup."""
    parser = _Parser(source)
    parser.run()
    return "".join(parser.text), without_style_in_code(parser.entities)
