"""Attachments and the address they are fetched from."""

from __future__ import annotations

import mimetypes
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.servers.discord.limits import FILE_SECONDS

if TYPE_CHECKING:
    from tests.servers.discord.state import State

_UNSAFE = re.compile(r"[^\w.\-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that comes with a request, or that a person is about to send."""

    filename: str
    data: bytes
    content_type: str | None = None
    description: str | None = None
    size: int | None = None
    """Claims this many bytes instead of those there are."""
    duration: float | None = None
    """Seconds of a voice message."""


@dataclass(frozen=True, slots=True, eq=False)
class File:
    """An attachment of a message."""

    file_id: int
    chat_id: int
    filename: str
    """With everything but letters, digits, dots and dashes turned into underscores."""
    data: bytes
    content_type: str | None
    size: int
    """Bytes it claims to have."""
    description: str | None = None
    duration: float | None = None

    def json(self, state: State) -> dict[str, Any]:
        """Return the Attachment object; its link works for a day."""
        ends = int(state.now() + FILE_SECONDS)
        path = f"/attachments/{self.chat_id}/{self.file_id}/{self.filename}"
        link = f"{state.origin()}{path}?ex={ends:x}&is={int(state.now()):x}&hm=0"
        data: dict[str, Any] = {
            "id": str(self.file_id),
            "filename": self.filename,
            "size": self.size,
            "url": link,
            "proxy_url": link,
        }
        if self.content_type is not None:
            data["content_type"] = self.content_type
            if self.content_type.startswith("image/"):
                data |= {"width": 640, "height": 480}
        if self.description is not None:
            data["description"] = self.description
        if self.duration is not None:
            data |= {"duration_secs": self.duration, "waveform": "AAAA"}
        return data


def stored(state: State, chat_id: int, upload: Upload) -> File:
    """Keep a file for downloads and return it as an attachment."""
    name = _UNSAFE.sub("_", upload.filename) or "unknown"
    kind = upload.content_type or mimetypes.guess_type(name)[0]
    file = File(
        state.snowflake(),
        chat_id,
        name,
        upload.data,
        kind,
        len(upload.data) if upload.size is None else upload.size,
        upload.description,
        upload.duration,
    )
    state.files[file.file_id] = file
    return file
