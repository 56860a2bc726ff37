"""What a file is, is seen in the file; what it is called, is made harmless."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from bots import kinds as channels
from core.context import Attachment, AttachmentKind
from core.reading.kinds import Kind, kind_of, shown_name, sound_suffix
from core.reading.worker import FORMATS
from tests.reading import made

IMAGE, VOICE, FILE = AttachmentKind.IMAGE, AttachmentKind.VOICE, AttachmentKind.FILE


def sent(
    kind: AttachmentKind = FILE, name: str | None = None, mime: str | None = None
) -> Attachment:
    return Attachment(id="1", kind=kind, name=name, mime=mime)


@pytest.mark.parametrize(
    ("data", "attachment", "kind"),
    [
        (made.pdf("x"), sent(name="notes.txt", mime="text/plain"), Kind.PDF),
        (b"\n%PDF-1.4", sent(), Kind.PDF),
        (made.docx("x"), sent(name="notes.doc"), Kind.WORD),
        (made.picture("PNG"), sent(mime="application/pdf"), Kind.PICTURE),
        (made.picture("JPEG"), sent(), Kind.PICTURE),
        (made.picture("WEBP"), sent(), Kind.PICTURE),
        (made.picture("BMP"), sent(), Kind.PICTURE),
        (b"BMI is a measure of weight", sent(), Kind.TEXT),
        (b"nothing", sent(IMAGE), Kind.PICTURE),
        (b"OggS", sent(VOICE), Kind.SOUND),
        (b"ID3", sent(mime="audio/mpeg"), Kind.SOUND),
        (b"\x7fELF\x02\x01\x01\0", sent(name="notes.txt"), Kind.UNKNOWN),
        (b"print('hi')", sent(name="hi.py"), Kind.TEXT),
        ("hi".encode("utf-16"), sent(), Kind.TEXT),
    ],
)
def test_a_file_is_what_it_begins_like(data: bytes, attachment: Attachment, kind: Kind) -> None:
    assert kind_of(data, attachment) is kind


@pytest.mark.parametrize(
    ("data", "suffix"),
    [
        (b"OggS", "ogg"),
        (b"ID3", "mp3"),
        (b"RIFF\0\0\0\0WAVE", "wav"),
        (b"\0\0\0\x20ftypM4A ", "m4a"),
        (b"\x1aE\xdf\xa3", "webm"),
        (b"?", "ogg"),
    ],
)
def test_a_recording_has_the_extension_that_providers_know(data: bytes, suffix: str) -> None:
    assert sound_suffix(data) == suffix


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("notes.pdf", "notes.pdf"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\x.txt", "x.txt"),
        ("a]\n[end 12 34]\x00.txt", "a end 12 34 .txt"),
        ("笔记 一.docx", "笔记 一.docx"),
        ("a" * 300 + ".pdf", "a" * 55 + "….pdf"),
        ("  ", None),
        (None, None),
    ],
)
def test_a_name_can_stand_in_a_sentence(name: str | None, shown: str | None) -> None:
    assert shown_name(sent(name=name)) == shown


@given(st.text())
def test_no_name_can_break_a_mark(name: str) -> None:
    shown = shown_name(sent(name=name)) or "x"
    assert not set(shown) & set("[]<>/\\\n\r\0")
    assert 0 < len(shown) <= 60


def test_channels_call_a_picture_what_can_be_opened_as_one() -> None:
    Image.init()
    opened = {Image.MIME[name] for name in FORMATS if name != "MPO"}  # told as image/jpeg
    assert opened == channels.PICTURES
    for mime in ("image/svg+xml", "image/tiff", "application/pdf", "", None):
        assert channels.kind_of(mime) is FILE
    assert channels.kind_of("audio/ogg") is VOICE
