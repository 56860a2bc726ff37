"""``make bench``, or ``python -m bench``: what Partners costs on this machine.

It measures real processes on loopback and prints tables without verdicts:

- starting: time, memory and heavy imports of the commands;
- a turn on each platform: turns a second, waits and processor time under 1, 50 and 200
  conversations, beside a bare bot (``bench/bare``) that uses the same library and the same model,
  in the same run and the same layout;
- lasting: memory over many turns, the cost of a turn as one conversation grows;
- the loop: what a round adds to the model, and what of a long talk's prompts can be reused;
- the journal: one event appended;
- memory: append, the notes for a prompt and search as a history grows, beside a search without
  an index;
- grading: one answer graded by code;
- notes: calls and tokens of consolidation, beside two simpler ways.

The model answers at once, in four chunks, and no server has rates, so what is left is the bot's own
work. All servers and the learners run outside the bot's process, whose processor
time is the operating system's count. Learners write again as soon as they are answered: under 50
conversations a wait is mostly the queue of the other 49. Other work on the machine shows in every
figure; compare within a run.

A quarter of an hour on two quiet cores; ``--quick`` takes five minutes and says less.
"""

from __future__ import annotations

import argparse
import sys

from bench.consolidation import consolidating
from bench.figures import machine
from bench.grading import grading
from bench.journal import appending
from bench.loop import rounds, talk
from bench.platforms import PLATFORMS, BenchError
from bench.recall import remembering
from bench.starting import starting
from bench.turns import Load, compare, last
from bench.world import model_server

SECTIONS = ("starting", *PLATFORMS, "lasting", "loop", "journal", "memory", "grading", "notes")


def main() -> int:
    """Run the sections asked for; 1 when a bot did not do its work."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure what Partners costs on this machine.",
        epilog="example: python -m bench --quick telegram",
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    options = parser.parse_args()
    sections = options.sections or SECTIONS
    if unknown := [name for name in sections if name not in SECTIONS]:
        parser.error(f"no section {unknown[0]}; there are {', '.join(SECTIONS)}")
    quick: bool = options.quick
    print(machine())
    try:
        with model_server() as base_url:
            if "starting" in sections:
                starting(base_url, runs=2 if quick else 5)
            for platform in (name for name in PLATFORMS if name in sections):
                turns = (20, 100, 200) if quick else (60, 300, 400)
                loads = [Load(*pair) for pair in zip((1, 50, 200), turns, strict=True)]
                compare(base_url, runs=2 if quick else 5, loads=loads, platform=platform)
            if "lasting" in sections:
                last(base_url, turns=400 if quick else 2000, one=200 if quick else 1000)
            if "loop" in sections:
                rounds(times=50 if quick else 300)
                talk()
            if "journal" in sections:
                appending(times=100 if quick else 300)
            if "memory" in sections:
                remembering((1_000,) if quick else (1_000, 10_000, 100_000), 20 if quick else 100)
            if "grading" in sections:
                grading(times=200 if quick else 1000)
            if "notes" in sections:
                consolidating(events=1_000)
                if not quick:
                    consolidating(events=5_000)
    except BenchError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
