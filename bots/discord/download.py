"""Files from the platform's own hosts, and from no other address whatever a message says."""

from __future__ import annotations

from typing import Final

from aiohttp import ClientSession
from yarl import URL

from core.channel import AttachmentGone, AttachmentTooLarge, AttachmentUnreachable

HOSTS: Final = frozenset({"cdn.discordapp.com", "media.discordapp.net"})
_CHUNK: Final = 64 * 1024
_GONE: Final = frozenset({401, 403, 404, 410})


class Expired(AttachmentGone):
    """The address leads nowhere, or not any more: the message may know a newer one."""


class Downloads:
    """Gets files of messages."""

    def __init__(self, api_base: str) -> None:
        """An API that is not the platform's own may serve the files itself."""
        self._own = URL(api_base).origin()

    def trusts(self, address: str) -> bool:
        """Tell whether a file may be fetched from there: nobody may point us into our network."""
        try:
            url = URL(address)
            origin = url.origin()
        except ValueError:
            return False
        if url.user is not None or url.password is not None:
            return False
        on_platform = url.scheme == "https" and url.host in HOSTS and url.port == 443
        return on_platform or origin == self._own

    async def get(self, address: str, most: int) -> bytes:
        """Return a file of at most ``most`` bytes; what is larger is not read to its end.

        Raises a FetchError, or what the HTTP client raises.
        """
        if not self.trusts(address):
            raise AttachmentGone("an address that is not the platform's")
        # A redirection could lead anywhere.
        async with ClientSession() as session, session.get(address, allow_redirects=False) as got:
            if got.status in _GONE:
                raise Expired(f"answered with {got.status}")
            if got.status != 200:
                raise AttachmentUnreachable(f"answered with {got.status}")
            if (got.content_length or 0) > most:
                raise AttachmentTooLarge(f"{got.content_length} bytes")
            data = bytearray()
            async for piece in got.content.iter_chunked(_CHUNK):
                data += piece
                if len(data) > most:
                    raise AttachmentTooLarge(f"more than {most} bytes")
            return bytes(data)
