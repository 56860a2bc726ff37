"""Why an attachment is of no use, and how it is said: one sentence with a way out."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from core.context import Attachment, AttachmentKind
from core.i18n import N_, Words

LARGEST: Final = 20_000_000
"""Bytes of one attachment: as much as every channel gives."""


class Trouble(StrEnum):
    """What was the matter."""

    TOO_LARGE = "too_large"
    TOO_MUCH = "too_much"
    """Too large together with the others."""
    GONE = "gone"
    UNREACHABLE = "unreachable"
    TOO_SLOW = "too_slow"
    BROKEN = "broken"
    PROTECTED = "protected"
    SCANNED = "scanned"
    EMPTY = "empty"
    UNKNOWN_KIND = "unknown_kind"
    TOO_MANY_PIXELS = "too_many_pixels"
    UNSEEN = "unseen"
    """The model takes no pictures."""
    UNHEARD = "unheard"
    """Nothing here understands speech."""
    NO_WORDS = "no_words"
    NOT_NOW = "not_now"
    """Speech recognition does not answer."""


_SENTENCES: Final = {
    Trouble.TOO_LARGE: N_("I could not open {name}: it is larger than {size} MB."),
    Trouble.TOO_MUCH: N_("I did not open {name}: together that was more than I can take at once."),
    Trouble.GONE: N_("I could not open {name}: it is not there any more. Send it again, please."),
    Trouble.UNREACHABLE: N_("I could not get {name} just now. Send it again in a moment, please."),
    Trouble.TOO_SLOW: N_("Opening {name} took too long. Send me the part that matters, please."),
    Trouble.BROKEN: N_("I could not open {name}: it is damaged, or not what its name says."),
    Trouble.PROTECTED: N_(
        "I could not open {name}: it is locked with a password. Send me a copy without one, please."
    ),
    Trouble.SCANNED: N_(
        "There is no text in {name}, only pictures of pages. Send me the pages that matter as "
        "photos, please."
    ),
    Trouble.EMPTY: N_("There is nothing in {name}."),
    Trouble.UNKNOWN_KIND: N_(
        "I cannot read {name}. I know pictures (JPEG, PNG, WebP), PDF, Word (.docx) and plain text."
    ),
    Trouble.TOO_MANY_PIXELS: N_(
        "I could not open {name}: the picture is too large. Send me a smaller one, please."
    ),
    Trouble.UNSEEN: N_(
        "I cannot see {name}: the model I run on reads text only. Describe it to me, please, or "
        "write it out."
    ),
    Trouble.UNHEARD: N_(
        "I cannot listen to {name}: nobody has set up speech recognition here. Write it out, "
        "please."
    ),
    Trouble.NO_WORDS: N_("I heard no words in {name}. Say it again, please, or write it out."),
    Trouble.NOT_NOW: N_("I could not listen to {name} just now. Write it out, please."),
}

_NAMELESS: Final = {
    AttachmentKind.IMAGE: N_("your picture"),
    AttachmentKind.VOICE: N_("your voice message"),
    AttachmentKind.FILE: N_("your file"),
}


def said(trouble: Trouble, attachment: Attachment, name: str | None, words: Words) -> str:
    """Return the sentence, unescaped; ``name`` is one that can be shown, None without one."""
    called = words(_NAMELESS[attachment.kind]) if name is None else name
    size = words.number(LARGEST // 1_000_000)
    return words(_SENTENCES[trouble], name=called, size=size)
