"""The checks a transcription request goes through: multipart, a model, a file it can be."""

from __future__ import annotations

from collections.abc import Sequence

from tests.servers.multipart import Part
from tests.servers.openai.validation import Invalid

KNOWN = frozenset(
    {
        "file",
        "model",
        "language",
        "prompt",
        "response_format",
        "temperature",
        "timestamp_granularities[]",
        "include[]",
        "stream",
        "chunking_strategy",
    }
)
MAGIC = {
    "flac": (b"fLaC",),
    "m4a": (b"\0\0\0",),
    "mp3": (b"ID3", b"\xff\xfb", b"\xff\xf3"),
    "mp4": (b"\0\0\0",),
    "ogg": (b"OggS",),
    "wav": (b"RIFF",),
    "webm": (b"\x1aE\xdf\xa3",),
}
"""What a file of each supported extension begins with."""
LARGEST = 25 * 1024 * 1024


def checked(parts: Sequence[Part]) -> dict[str, str]:
    """Return the fields of a request that the API takes, without the file. Raises Invalid."""
    fields = {part.name: part for part in parts}
    for name in fields:
        if name not in KNOWN:
            raise Invalid(f"Unrecognized request argument supplied: {name}")
    if not fields.get("model") or not fields["model"].text:
        raise Invalid("you must provide a model parameter")
    sound = fields.get("file")
    if sound is None or not sound.filename:
        raise Invalid("Missing required parameter: 'file'.", "file")
    if len(sound.data) > LARGEST:
        raise Invalid("Maximum content size limit (26214400) exceeded", None, None, 413)
    magic = MAGIC.get(sound.filename.rpartition(".")[2])
    if magic is None or not sound.data.startswith(magic):
        raise Invalid(f"Invalid file format. Supported formats: {sorted(MAGIC)}", "file")
    return {name: part.text for name, part in fields.items() if name != "file"}
