"""Keys pressed while the tutor writes: kept for the next prompt, not shown in between."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


@contextmanager
def unechoed(keyboard: TextIO | None) -> Iterator[None]:
    """Let the terminal show no key for a while, so that none lands in a picture being redrawn.

    Ctrl-C stays a signal. Where ``keyboard`` is no terminal, and on Windows, whose console shows
    keys only while they are read, there is nothing to do.
    """
    silenced = _set_echo(keyboard, on=False)
    try:
        yield
    finally:
        if silenced:
            _set_echo(keyboard, on=True)


def _set_echo(keyboard: TextIO | None, *, on: bool) -> bool:
    """Switch the echo; True when that changed anything."""
    if sys.platform == "win32" or keyboard is None or not keyboard.isatty():
        return False
    import termios

    # The terminal may be gone by the end of a turn.
    with suppress(termios.error, OSError):
        modes = termios.tcgetattr(keyboard)
        local = modes[3] | termios.ECHO if on else modes[3] & ~termios.ECHO
        if local == modes[3]:
            return False
        modes[3] = local
        termios.tcsetattr(keyboard, termios.TCSANOW, modes)
        return True
    return False
