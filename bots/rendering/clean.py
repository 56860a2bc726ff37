"""Which characters of a model's text may reach a screen.

A model (or a text that it quotes) must not drive a terminal, hide a word or turn a line around.
Joiners and direction marks that scripts need (ZWJ, ZWNJ, LRM, RLM) stay.
"""

from __future__ import annotations

import re

from memory import characters

_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_HARMFUL = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # C0, DEL and C1 controls, ESC and CSI among them
    "\u202a-\u202e\u2066-\u2069"  # bidirectional embeddings, overrides and isolates
    "\u206a-\u206f\ufff9-\ufffb\ufeff\ufffe\uffff]"  # deprecated, annotation, non-characters
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    """Return the text with line ends as ``\\n`` and without controls and direction overrides.

    A tab stays. A lone surrogate, which no channel can encode, becomes U+FFFD.
    """
    text = _HARMFUL.sub("", _LINE_ENDS.sub("\n", text))
    return _SURROGATE.sub("\ufffd", text)


def is_blank(text: str) -> bool:
    """Tell whether nothing of the text can be seen (spaces, format characters, fillers)."""
    return characters.is_blank(text)
