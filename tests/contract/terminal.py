"""The stage of the terminal: one person, one window, no platform."""

from __future__ import annotations

import io
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from bots.terminal.adapter import TerminalChannel
from bots.terminal.receive import account_of
from core.clock import Clock
from core.i18n import words_for
from tests.contract.stage import Seen, Stage

_SAVED = re.compile(r"Saved: (.+)")
_CHOICE = re.compile(r"\[\d+\] (.+?)(?=  \[|$)")


class _Paper(io.StringIO):
    """A file that keeps what was written at once together."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def write(self, text: str, /) -> int:
        self.pieces.append(text)
        return super().write(text)


class TerminalStage(Stage[str, str, int]):
    """A person at the machine. A message is its place among all that was printed."""

    remote = False
    styled = False

    def __init__(self) -> None:
        self._paper = _Paper()
        self._chinese = False
        self._temporary = TemporaryDirectory()
        self.folder = Path(self._temporary.name)
        self._door: TerminalChannel | None = None

    def open(self) -> None:
        """Nothing to open."""

    def close(self) -> None:
        self._temporary.cleanup()

    def channel(self, clock: Clock) -> TerminalChannel:
        self._door = TerminalChannel(
            user="ada",
            window="main",
            language="zh_CN" if self._chinese else "en",
            out=self._paper,
            converses=True,
            clock=clock,
            words=words_for("en"),
            files=self.folder,
        )
        return self._door

    def all_taken(self) -> bool:
        return True

    async def taken(self) -> None:
        """A line is committed when ``say`` returns."""

    def person(self, name: str = "Ada", *, chinese: bool = False) -> str:
        """Name the person at the machine, whose language counts from the next opening on."""
        self._chinese = chinese
        return account_of("ada")

    def private(self, person: str) -> str:
        return person

    async def say(
        self,
        place: str,
        person: str,
        text: str,
        *,
        mention: bool = False,
        reply_to: Seen[int] | None = None,
    ) -> int:
        assert self._door is not None
        await self._door.enter(text)
        return len(self._paper.pieces)

    async def hand_over(
        self,
        place: str,
        person: str,
        name: str,
        data: bytes,
        words: str = "",
        *,
        mention: bool = False,
    ) -> None:
        path = self.folder / name
        path.write_bytes(data)
        await self.say(place, person, f'/file "{path}" {words}')

    async def press(self, place: str, person: str, seen: Seen[int], label: str) -> None:
        await self.say(place, person, str(seen.labels.index(label) + 1))

    def shown(self, place: str) -> list[Seen[int]]:
        return [_seen(number, piece) for number, piece in enumerate(self._paper.pieces)]


def _seen(number: int, piece: str) -> Seen[int]:
    lines = piece.rstrip("\n").split("\n")
    choices = [label for line in lines for label in _CHOICE.findall(line)]
    code = "\n".join(line.strip() for line in lines if line.startswith("    "))
    kept = _SAVED.fullmatch(piece.strip())
    file = (Path(kept[1]).name, Path(kept[1]).read_bytes()) if kept else None
    blocks = (code,) if code else ()
    return Seen(number, number, piece, tuple(choices), (), blocks, None, False, file)
