"""Files at a terminal: those a person hands over by their paths, and those that are saved for them.

A path is typed as ``/file PATH words``, in quotes where it holds spaces. Files that are dropped
into the window arrive as a line of nothing but paths, quoted or escaped as that terminal does it.
"""

from __future__ import annotations

import base64
import errno
import mimetypes
import os
import re
import stat
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from bots.kinds import PICTURES, kind_of
from core.channel import AttachmentGone, AttachmentTooLarge
from core.context import Attachment
from core.document import File

COMMAND: Final = "/file"
_WORD: Final = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|((?:\\.|[^\s\\])+))""")
_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*]+')
_RESERVED: Final = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)")
"""Names that are devices on Windows, with any ending."""
_LONGEST_NAME: Final = 100


def handed_over(line: str) -> tuple[tuple[Path, ...], str] | None:
    """Return the paths and the words of a line that hands files over; None for any other line.

    A line of paths alone counts when every one of them leads to a file; a path amid words does not,
    since nobody may have meant to show it.
    """
    text = line.strip()
    if text == COMMAND:
        return ((Path(),), "")
    if text.startswith(f"{COMMAND} "):
        rest = text[len(COMMAND) :].strip()
        found = _WORD.match(rest)
        if found is None or _is_file(_local(rest)):  # a path with spaces that nobody quoted
            return ((_local(rest),), "")
        return ((_path(found),), rest[found.end() :].strip())
    dropped = tuple(_paths(text))
    if dropped and all(path.is_absolute() and _is_file(path) for path in dropped):
        return (dropped, "")
    return None


def attachment(path: Path) -> Attachment:
    """Return a file as an attachment. Raises OSError when it cannot be read."""
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):  # a pipe may never end, or never begin
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path))
    with path.open("rb"):
        pass  # perhaps it is not ours to read
    mime = mimetypes.guess_type(path.name)[0]
    return Attachment(
        id=str(path.resolve()),
        kind=kind_of(mime),
        name=path.name,
        mime=mime,
        size=status.st_size,
    )


def fetched(wanted: Attachment, most: int) -> bytes:
    """Read a file that was handed over. Raises a FetchError."""
    try:
        with Path(wanted.id).open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise AttachmentGone(error.strerror or type(error).__name__) from error
    if len(data) > most:
        raise AttachmentTooLarge(f"more than {most} bytes")
    return data


def saved(file: File, folder: Path) -> Path:
    """Save a file under its name, or the next free one like it. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    name = Path(_UNSAFE.sub("_", file.name).strip(". ") or "file")
    stem = name.stem[:_LONGEST_NAME]
    if _RESERVED.fullmatch(stem.partition(".")[0].strip()):
        stem = f"_{stem}"
    for number in count(1):
        path = folder / (f"{stem}-{number}{name.suffix}" if number > 1 else stem + name.suffix)
        try:
            place = path.open("xb")
        except FileExistsError:
            continue
        with place:
            place.write(file.data)
        return path
    raise AssertionError("there is always a next number")


def drawn(file: File, environment: Mapping[str, str] = os.environ) -> str:
    """Return what makes a terminal that shows pictures show this one; empty for all others.

    iTerm2 and WezTerm take any format in their own way, Kitty and Ghostty take PNG in theirs.
    """
    if file.mime not in PICTURES or "TMUX" in environment:  # which keeps pictures to itself
        return ""
    data = base64.b64encode(file.data).decode()
    if environment.get("TERM_PROGRAM") in ("iTerm.app", "WezTerm"):
        return f"\x1b]1337;File=inline=1;size={len(file.data)}:{data}\a\n"
    kitty = environment.get("TERM") in ("xterm-kitty", "xterm-ghostty")
    if (kitty or "KITTY_WINDOW_ID" in environment) and file.mime == "image/png":
        pieces = [data[at : at + 4096] for at in range(0, len(data), 4096)]
        more = [1] * (len(pieces) - 1) + [0]
        first = "a=T,f=100,"
        return (
            "".join(
                f"\x1b_G{first if number == 0 else ''}m={m};{piece}\x1b\\"
                for number, (m, piece) in enumerate(zip(more, pieces, strict=True))
            )
            + "\n"
        )
    return ""


def _paths(text: str) -> Iterator[Path]:
    """Yield the words of a line as paths."""
    at = 0
    while found := _WORD.match(text, at):
        yield _path(found)
        at = found.end()


def _path(found: re.Match[str]) -> Path:
    double, single, bare = found.groups()
    if double is not None or single is not None:
        return _local(double if double is not None else single)
    # Backslashes part the folders of a Windows path, and guard spaces in all others.
    return _local(bare if os.name == "nt" else re.sub(r"\\(.)", r"\1", bare))


def _local(written: str) -> Path:
    """Return a path as it is written: with ``~``, or as the address of a file."""
    if written.startswith("file://"):
        written = url2pathname(urlsplit(written).path)
    # Unlike Path.expanduser this leaves the home of somebody unknown as it is.
    return Path(os.path.expanduser(written))  # noqa: PTH111


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long for a name, or with a null in it
        return False
