"""How much of a long talk goes into a prompt. Pure.

The beginning moves in steps, not with every turn: between two steps a prompt begins as the one
before it did, and a provider that keeps the beginning of a prompt can reuse it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

STEP: Final = 20
"""Lines by which the beginning moves."""
MOST_LINES: Final = 60
"""Lines of a talk that a prompt has at most; ``MOST_LINES - STEP`` at least, where they fit."""


def beginning(sizes: Sequence[int], before: int, room: int) -> int:
    """Return the index of the first line that a prompt has.

    ``sizes`` are the tokens of the newest lines, oldest first, at most ``MOST_LINES``; ``before``
    is the number of lines that are older. The lines from there on have ``room`` tokens at most,
    except that the last step is there in any case: the loop cuts what is too long in it.
    """
    steps = [i for i in range(len(sizes)) if (before + i) % STEP == 0]
    left = [*accumulate(reversed(sizes), initial=0)][::-1]
    return next((i for i in steps if left[i] <= room), steps[-1] if steps else 0)
