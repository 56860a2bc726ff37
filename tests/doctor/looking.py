"""What a look at an account found, short enough to compare."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from bots.findings import Finding, Level
from core.i18n import words_for

WORDS: Final = words_for("en")


async def found(findings: AsyncIterator[Finding]) -> list[Finding]:
    """Return everything; a fault or a warning without a way out fails the test."""
    everything = [finding async for finding in findings]
    for finding in everything:
        assert finding.text
        assert finding.level is Level.OK or finding.fix, finding
    return everything


def only(findings: list[Finding], level: Level) -> Finding:
    """Return the one finding of this level."""
    (one,) = [finding for finding in findings if finding.level is level]
    return one


def levels(findings: list[Finding]) -> set[Level]:
    """Return the levels there are."""
    return {finding.level for finding in findings}
