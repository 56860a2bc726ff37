"""The model server in a process of its own: answers at once, in four chunks.

Started by ``bench.world``; prints its base URL and ends with its standard input.
"""

from __future__ import annotations

import sys

from tests.servers.openai import OpenAIServer, Reply

MARK = "plug it back in"
"""Stands in every answer, so that an apology is not counted as one."""

ANSWER = Reply(
    "Good start. You wrote **2x + 3 = 11** and took 3 from *both* sides, which keeps the balance. "
    "What is left on each side now?\n\n"
    "1. Write down `2x = ...`\n"
    "2. Then ask what undoes the *times two*.\n\n"
    f"When you have a value for x, {MARK} and see whether both sides agree.",
    chunks=4,
)


def main() -> None:
    """Serve until standard input ends."""
    with OpenAIServer(keep_requests=1) as server:
        server.default = ANSWER
        print(server.base_url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
