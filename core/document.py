"""An answer as the house knows it: Markdown source and buttons, no platform's markup.

Channels parse the source into blocks and render them within their own limits
(``bots/rendering``). Capabilities and commands write only this.
"""

from __future__ import annotations

import re
from typing import Final

from pydantic import ConfigDict, Field

from core.context import Value

LARGEST_FILE: Final = 8_000_000
"""Bytes. Every channel takes a file of this size."""


class Button(Value):
    """One button. ``action`` carries all a press needs, so a button survives a restart."""

    label: str
    """Already in the learner's language; at most 32 characters."""
    action: str
    """``<handler>:<arguments>``, at most 64 bytes of UTF-8, the smallest limit of any channel."""


class File(Value):
    """A file that goes with a document; one of type ``image/*`` is shown as a picture."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    name: str
    """File name without a path, with its extension."""
    mime: str
    data: bytes
    """At most ``LARGEST_FILE`` bytes."""
    alt: str = ""
    """What a picture shows, for those who cannot see it, in the learner's language."""


class Document(Value):
    """What is said: CommonMark with tables, fenced code and TeX mathematics, plus buttons."""

    markdown: str
    """Source text. A blank source is never sent."""
    buttons: tuple[tuple[Button, ...], ...] = Field(default=())
    """Rows of buttons, shown under the last part of the text."""
    files: tuple[File, ...] = Field(default=())
    """Sent after the text, each as a part of its own."""


def plain(text: str) -> str:
    r"""Escape text so that Markdown shows it letter for letter: ``2*3`` gives ``2\*3``.

    For words that come from people or settings and are placed inside our own sentences. An opening
    bracket is not escaped by a backslash, since ``\(`` and ``\[`` begin a formula.
    """
    escaped = "".join("\\" + c if c in "\\`*_{}]<>)#+-.!|~$&=" else c for c in text)
    escaped = escaped.replace("[", "&#91;").replace("\n", "  \n")
    # Spaces that begin a line would be dropped, or make it a block of code.
    return re.sub(r"(?m)^[ \t]", lambda space: f"&#{ord(space[0])};", escaped)
