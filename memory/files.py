"""How a file is replaced: whole or not at all, and never over what somebody else has just saved.

Everything here blocks.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

_REPLACE_TRIES: Final = 20
_REPLACE_PAUSE_SECONDS: Final = 0.02
_UNABLE: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})


def replace_file(path: Path, data: bytes) -> None:
    """Write ``data`` to a temporary neighbour, sync it, and put it in the place of ``path``.

    The neighbour's name is fixed: writers hold a lock, so a leftover belongs to a dead one.
    """
    neighbour = _beside(path, data)
    _rename_over(neighbour, path)
    sync_folder(path.parent)


def exchange_file(path: Path, data: bytes, was: bytes) -> bytes | None:
    """Replace a file as ``replace_file`` does, but only where it holds ``was``; then return None.

    Else somebody who takes no lock has written meanwhile: the file stays, and what it held is
    returned. A missing file holds nothing. On Linux and macOS the two files change places in one
    step and what came out is looked at, so not even a save at the same moment is lost; elsewhere,
    and on file systems that cannot do that, the file is looked at just before it is replaced.
    """
    neighbour = _beside(path, data)
    done, held = _exchanged(neighbour, path, data, was)
    while not done and held == was:  # it came or went just now
        done, held = _exchanged(neighbour, path, data, was)
    neighbour.unlink(missing_ok=True)
    sync_folder(path.parent)
    return None if done else held


def _exchanged(neighbour: Path, path: Path, data: bytes, was: bytes) -> tuple[bool, bytes]:
    """Try once; return whether it is done, and what the file held."""
    if not path.exists():
        return not was and _put_new(neighbour, path), _held(path)
    swapped = _swap(neighbour, path)
    if swapped:
        held = neighbour.read_bytes()
        if held != was:
            _back(neighbour, path, data)
        return held == was, held
    held = _held(path)
    if swapped is None and held == was:
        _rename_over(neighbour, path)
        return True, held
    return False, held


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder survive a power cut.

    Windows cannot open a folder and needs not: NTFS journals its names.
    """
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _beside(path: Path, data: bytes) -> Path:
    neighbour = path.with_name(f".{path.name}.tmp")
    with neighbour.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileNotFoundError):
        shutil.copymode(path, neighbour)
    return neighbour


def _held(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _put_new(source: Path, target: Path) -> bool:
    """Give a file its name unless the name is taken."""
    try:
        os.link(source, target)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if target.exists():
            return False
        _rename_over(source, target)
    return True


def _back(source: Path, target: Path, ours: bytes) -> None:
    """Undo a swap. What is newest ends at ``target``, also when it came during the undoing."""
    while _swap(source, target) and source.read_bytes() != ours:
        ours = target.read_bytes()


def _swap(one: Path, other: Path) -> bool | None:
    """Let two files change places in one step; None where that cannot be done.

    False when one of them is gone.
    """
    exchange = _exchange()
    if exchange is None:
        return None
    code = exchange(os.fsencode(one), os.fsencode(other))
    if code in _UNABLE:
        return None
    if code and code != errno.ENOENT:
        raise OSError(code, os.strerror(code), str(other))
    return not code


@cache
def _exchange() -> Callable[[bytes, bytes], int] | None:
    """The system's call for it (renameat2 of Linux, renamex_np of macOS), which returns errno."""
    if sys.platform not in ("linux", "darwin"):
        return None
    import ctypes  # ten milliseconds, and only writers need it

    library = ctypes.CDLL(None, use_errno=True)
    here, swap = -100, 2  # AT_FDCWD; RENAME_EXCHANGE and RENAME_SWAP have the same value
    try:
        call = library.renameat2 if sys.platform == "linux" else library.renamex_np
    except AttributeError:  # an old C library
        return None

    def exchange(one: bytes, other: bytes) -> int:
        given = (here, one, here, other) if sys.platform == "linux" else (one, other)
        return ctypes.get_errno() if call(*given, ctypes.c_uint(swap)) else 0

    return exchange


def _rename_over(source: Path, target: Path) -> None:
    """``os.replace``, patient on Windows, where a file that someone reads cannot be replaced."""
    for _ in range(_REPLACE_TRIES):
        try:
            source.replace(target)
        except PermissionError:
            if os.name != "nt":
                raise
            time.sleep(_REPLACE_PAUSE_SECONDS)
        else:
            return
    source.replace(target)
