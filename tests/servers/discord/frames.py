"""Encoding what the gateway sends: plain text, or one compressed stream per connection."""

from __future__ import annotations

import importlib
import json
import zlib
from collections.abc import Callable
from typing import Any

Encoder = Callable[[dict[str, Any]], str | bytes]


def encoder(compress: str | None) -> Encoder:
    """Return an encoder for the ``compress`` of a gateway URL.

    Where zstandard is not installed its streams become plain text, which clients take as well:
    a client that asks for zstd in this environment would have found the library too.
    """
    match compress:
        case "zlib-stream":
            return _zlib()
        case "zstd-stream":
            return _zstd() or _plain
        case _:
            return _plain


def _plain(payload: dict[str, Any]) -> str:
    return json.dumps(payload, ensure_ascii=False)


def _zlib() -> Encoder:
    stream = zlib.compressobj()

    def encode(payload: dict[str, Any]) -> bytes:
        # A synchronous flush ends in 00 00 ff ff, by which clients find the end of a message.
        return stream.compress(_plain(payload).encode()) + stream.flush(zlib.Z_SYNC_FLUSH)

    return encode


def _zstd() -> Encoder | None:
    try:
        library = importlib.import_module("zstandard")
    except ImportError:
        return None
    stream = library.ZstdCompressor().compressobj()

    def encode(payload: dict[str, Any]) -> bytes:
        data: bytes = stream.compress(_plain(payload).encode())
        end: bytes = stream.flush(library.COMPRESSOBJ_FLUSH_BLOCK)
        return data + end

    return encode
