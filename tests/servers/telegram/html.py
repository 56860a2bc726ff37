"""HTML of ``parse_mode=HTML``: a text and its entities, or a refusal that names the byte.

The tags and their meaning are those of the Bot API reference ("HTML style"); everything else is
refused as the platform refuses it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tests.servers.telegram.entities import Entity, link_entity, units, without_style_in_code
from tests.servers.telegram.errors import Refusal, unparsable

_STYLES = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
}
_TAGS = {*_STYLES, "a", "pre", "code", "blockquote", "tg-emoji", "tg-time"}
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_REFERENCE = re.compile(r"&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|(lt|gt|amp|quot)(?![A-Za-z]));?")
_NAME_END = re.compile(r"[\s>]")
_ATTRIBUTE_END = re.compile(r"[\s=>]")
_TOKEN = re.compile(r"[A-Za-z0-9.-]*")


@dataclass(slots=True)
class _Open:
    tag: str
    attributes: dict[str, str]
    offset: int
    """UTF-16 offset where its content starts."""
    position: int
    """Index in the collected text where its content starts."""


@dataclass(slots=True)
class _Parser:
    source: str
    at: int = 0
    text: list[str] = field(default_factory=list)
    offset: int = 0
    open: list[_Open] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)

    def byte(self, at: int) -> int:
        return len(self.source[:at].encode("utf-8", "surrogatepass"))

    def put(self, piece: str) -> None:
        self.text.append(piece)
        self.offset += units(piece)

    def run(self) -> None:
        source = self.source
        while self.at < len(source):
            if source.startswith("</", self.at):
                self.end_tag()
            elif source[self.at] == "<":
                self.start_tag()
            else:
                stop = source.find("<", self.at)
                stop = len(source) if stop < 0 else stop
                self.put(decoded(source[self.at : stop]))
                self.at = stop
        if self.open:
            tag = self.open[-1].tag
            raise unparsable(f'Can\'t find end tag corresponding to start tag "{tag}"')

    def start_tag(self) -> None:
        begin = self.at
        here = self.byte(begin)
        name_end = _NAME_END.search(self.source, begin + 1)
        if name_end is None:
            raise unparsable(f"Unclosed start tag at byte offset {here}")
        tag = self.source[begin + 1 : name_end.start()].lower()
        if tag not in _TAGS:
            raise unparsable(f'Unsupported start tag "{tag}" at byte offset {here}')
        self.at = name_end.start()
        attributes = self.attributes(tag, here)
        if tag == "span" and attributes.get("class") != "tg-spoiler":
            raise unparsable(f'Tag "span" must have class "tg-spoiler" at byte offset {here}')
        self.open.append(_Open(tag, attributes, self.offset, len(self.text)))

    def skip_space(self) -> None:
        while self.at < len(self.source) and self.source[self.at].isspace():
            self.at += 1

    def attributes(self, tag: str, here: int) -> dict[str, str]:
        unclosed = unparsable(f'Unclosed start tag "{tag}" at byte offset {here}')
        result: dict[str, str] = {}
        while True:
            self.skip_space()
            if self.at >= len(self.source):
                raise unclosed
            if self.source[self.at] == ">":
                self.at += 1
                return result
            end = _ATTRIBUTE_END.search(self.source, self.at)
            if end is None:
                raise unclosed
            name = self.source[self.at : end.start()].lower()
            if not name:
                raise unparsable(f'Empty attribute name in the tag "{tag}" at byte offset {here}')
            self.at = end.start()
            self.skip_space()
            if self.source.startswith("=", self.at):
                self.at += 1
                self.skip_space()
                result[name] = self.value(unclosed)
            elif tag == "blockquote" and name == "expandable":
                result[name] = ""
            else:
                raise unparsable(
                    "Expected equal sign in declaration of an attribute of the tag "
                    f'"{tag}" at byte offset {here}'
                )

    def value(self, unclosed: Refusal) -> str:
        if self.at >= len(self.source):
            raise unclosed
        quote = self.source[self.at]
        if quote in "'\"":
            end = self.source.find(quote, self.at + 1)
            if end < 0:
                raise unclosed
            value = decoded(self.source[self.at + 1 : end])
            self.at = end + 1
            return value
        token = _TOKEN.match(self.source, self.at)
        assert token is not None
        if token.end() >= len(self.source) or not _NAME_END.match(self.source, token.end()):
            raise unparsable(f"Unexpected end of name token at byte offset {self.byte(self.at)}")
        self.at = token.end()
        return token[0].lower()

    def end_tag(self) -> None:
        here = self.byte(self.at)
        if not self.open:
            raise unparsable(f"Unexpected end tag at byte offset {here}")
        end = self.source.find(">", self.at)
        name = self.source[self.at + 2 : end].strip().lower()
        if end < 0 or " " in name or "<" in name:
            raise unparsable(f"Unclosed end tag at byte offset {here}")
        opened = self.open.pop()
        if name and name != opened.tag:
            raise unparsable(
                f"Unmatched end tag at byte offset {here}, "
                f'expected "</{opened.tag}>", found "</{name}>"'
            )
        self.at = end + 1
        self.close(opened)

    def close(self, opened: _Open) -> None:
        length = self.offset - opened.offset
        if not length:
            return
        tag, given = opened.tag, opened.attributes
        base: Entity = {"type": _STYLES.get(tag, tag), "offset": opened.offset, "length": length}
        match tag:
            case "a":
                link = given.get("href") or "".join(self.text[opened.position :])
                found = link_entity(opened.offset, length, link)
                if found is not None:
                    self.entities.append(found)
                return
            case "pre":
                last = self.entities[-1] if self.entities else None
                if last and last["type"] == "code" and _same_range(last, base):
                    # <pre><code class="language-x"> is one block with a language.
                    self.entities.pop()
                    if "language" in last:
                        base["language"] = last["language"]
            case "code":
                kind, _, language = given.get("class", "").partition("-")
                if kind == "language" and language:
                    base["language"] = language
            case "blockquote" if "expandable" in given:
                base["type"] = "expandable_blockquote"
            case "tg-emoji":
                if not given.get("emoji-id", "").isdigit():
                    raise unparsable("Invalid custom emoji identifier specified")
                base |= {"type": "custom_emoji", "custom_emoji_id": given["emoji-id"]}
            case "tg-time":
                if not given.get("unix", "").isdigit():
                    raise unparsable("Invalid Unix time specified")
                base |= {"type": "date_time", "unix_time": int(given["unix"])}
        self.entities.append(base)


def _same_range(one: Entity, other: Entity) -> bool:
    return bool(one["offset"] == other["offset"] and one["length"] == other["length"])


def decoded(text: str) -> str:
    """Return text with the four named and the numeric character references resolved."""

    def resolve(match: re.Match[str]) -> str:
        if match[3]:
            return _NAMED[match[3]]
        code = int(match[1], 16) if match[1] else int(match[2])
        return chr(code) if 0 < code < 0x10FFFF and not 0xD800 <= code < 0xE000 else match[0]

    return _REFERENCE.sub(resolve, text)


def parse_html(source: str) -> tuple[str, list[Entity]]:
    """Return the plain text and the entities; raises Refusal for broken markup."""
    parser = _Parser(source)
    parser.run()
    entities = parser.entities
    for entity in entities:
        if entity["type"] == "code":
            entity.pop("language", None)
    return "".join(parser.text), without_style_in_code(entities)
