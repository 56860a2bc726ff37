"""A process that appends events for one learner and says so, one line each, until it is stopped.

``python -m tests.memory.writer ROOT LEARNER NAME COUNT``
"""

import sys
from pathlib import Path

from memory import append
from tests.memory.helpers import event, folder


def main(root: str, learner: str, name: str, count: str) -> None:
    home = folder(Path(root), learner)
    for number in range(int(count)):
        written = event(f"{name} {number}\n" + f"{name}\n" * 40)
        append(home, written)
        sys.stdout.write(f"{written.id}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
