"""Reading multipart bodies that have been read for the log already."""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import BodyPartReader, MultipartReader, web
from aiohttp.streams import StreamReader
from multidict import CIMultiDict


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a multipart body."""

    name: str
    data: bytes
    filename: str | None
    content_type: str | None

    @property
    def text(self) -> str:
        """The part as text; bytes that are no UTF-8 are replaced."""
        return self.data.decode("utf-8", "replace")


async def parts(request: web.BaseRequest, body: bytes) -> list[Part]:
    """Return the named parts of a body; raises ValueError when it is no multipart body."""
    # The reader wants a stream, so the body is fed to one once more: one that is large enough
    # never to stop the connection it belongs to.
    stream = StreamReader(request.protocol, limit=len(body) + 1)
    stream.feed_data(body)
    stream.feed_eof()
    reader = MultipartReader(CIMultiDict(request.headers), stream)
    found = []
    while (part := await reader.next()) is not None:
        if isinstance(part, BodyPartReader) and part.name:
            data = bytes(await part.read(decode=True))
            kind = part.headers.get("Content-Type")
            found.append(Part(part.name, data, part.filename, kind))
    return found
