"""Runs the worker: one process for one file, ended when its time is up or nobody waits any more."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.llm.port import Picture
from core.reading.kinds import Kind
from core.reading.trouble import Trouble

log = logging.getLogger(__name__)

SIDE: Final = 1_568
"""Pixels of a picture's longer side; providers shrink what is larger, and are paid for it."""
PIXELS: Final = 60_000_000
CHARACTERS: Final = 400_000
"""Of one file's text: more than any prompt takes."""
PAGES: Final = 300
SECONDS: Final = 20.0
"""One file may take; the worker stops by itself a little earlier, with what it has."""
UNPACKED: Final = 100_000_000
"""Bytes of what a Word file unpacks to."""
SIDE_BY_SIDE: Final = 2

_SCRIPT: Final = Path(__file__).with_name("worker.py")


@dataclass(frozen=True, slots=True)
class Opened:
    """What the worker told."""

    text: str = ""
    pages: tuple[int, int] | None = None
    """Pages that were read, and all."""
    picture: Picture | None = None
    trouble: Trouble | None = None


class Workshop:
    """Opens files; no more than two at once, so that the answers of others go on."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._places = asyncio.Semaphore(SIDE_BY_SIDE)

    async def open(self, kind: Kind, data: bytes) -> Opened:
        """Open a file. Cancelling ends its process."""
        async with self._places:
            lines, ended = await self._run(kind, data)
        opened = _opened(lines)
        if opened.trouble or opened.text or opened.picture:
            return opened
        return Opened(trouble=Trouble.BROKEN if ended else Trouble.TOO_SLOW)

    async def _run(self, kind: Kind, data: bytes) -> tuple[list[bytes], bool]:
        """Return the lines that the worker wrote, and whether it came to its end."""
        limits = {
            "side": SIDE,
            "pixels": PIXELS,
            "characters": CHARACTERS,
            "pages": PAGES,
            "seconds": self._seconds * 0.7,
            "unpacked": UNPACKED,
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-X", "utf8", str(_SCRIPT), kind.value, json.dumps(limits)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        lines: list[bytes] = []
        try:
            async with asyncio.timeout(self._seconds):
                await asyncio.gather(_feed(process, data), _collect(process, lines))
                code = await process.wait()
            if code:
                log.warning("a file of kind %s broke its process: %d", kind.value, code)
            return lines, True
        except TimeoutError:
            log.warning("a file of kind %s took too long to open", kind.value)
            return lines, False
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _feed(process: asyncio.subprocess.Process, data: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it ended without reading on
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()


async def _collect(process: asyncio.subprocess.Process, lines: list[bytes]) -> None:
    assert process.stdout is not None
    rest = b""
    while piece := await process.stdout.read(65_536):
        *whole, rest = (rest + piece).split(b"\n")
        lines.extend(whole)


def _opened(lines: list[bytes]) -> Opened:
    text: list[str] = []
    pages: tuple[int, int] | None = None
    picture: Picture | None = None
    trouble: Trouble | None = None
    for line in lines:
        told = json.loads(line)
        match told:
            case {"text": str(piece)}:
                text.append(piece)
            case {"pages": [int(read), int(count)]}:
                pages = read, count
            case {"picture": str(encoded), "mime": str(mime)}:
                picture = Picture(mime, base64.b64decode(encoded))
            case {"trouble": str(word)}:
                trouble = Trouble(word)
    return Opened("".join(text).strip(), pages, picture, trouble)
