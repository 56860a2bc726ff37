"""A process that sweeps at every moment it reads and writes how many reminders it planned.

``partners nudge`` does the same once and ends; two of these, told at the same time, begin their
sweeps within a millisecond of each other. Run in an installation's folder.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime

from bots.command_line.start import ground
from core.clock import SystemClock
from core.scheduling.nudges import sweep


def main() -> None:
    """Read ISO 8601 moments from stdin, one a line, until it ends."""
    with ground(quiet=True) as base:
        language = base.settings.words.language
        for line in sys.stdin:
            moment = datetime.fromisoformat(line.strip()).astimezone(UTC)
            swept = asyncio.run(sweep(base.store, moment, SystemClock().now(), language))
            sys.stdout.write(f"{swept.sent}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
