"""Checking a body field by field: everything wrong with it is found before it is refused."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from tests.servers.discord.errors import Path, Refusal, nested


class Form:
    """Collects what is wrong with a body. Lengths are in Unicode code points."""

    def __init__(self, prefix: Path = ()) -> None:
        """Every place is named from ``prefix`` on."""
        self._prefix = prefix
        self._found: dict[Path, list[tuple[str, str]]] = {}

    def add(self, path: Path, code: str, message: str) -> None:
        """Note one thing wrong at this place."""
        self._found.setdefault((*self._prefix, *path), []).append((code, message))

    def check(self) -> None:
        """Raise Refusal when anything was wrong."""
        if self._found:
            raise Refusal(400, 50035, "Invalid Form Body", nested(self._found))

    def missing(self, path: Path) -> None:
        """Note that a field must be given."""
        self.add(path, "BASE_TYPE_REQUIRED", "This field is required")

    def length(self, path: Path, size: int, low: int, high: int) -> None:
        """Check the length of a text or list."""
        if low <= size <= high:
            return
        if low == 0:
            self.add(path, "BASE_TYPE_MAX_LENGTH", f"Must be {high} or fewer in length.")
        else:
            self.add(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {low} and {high} in length.")

    def text(
        self, path: Path, value: object, low: int, high: int, *, required: bool = False
    ) -> str:
        """Check a string and return it, empty where there is none."""
        if value is None or (value == "" and required):
            if required:
                self.missing(path)
            return ""
        if not isinstance(value, str):
            self.add(path, "STRING_TYPE_CONVERT", f'Could not interpret "{value}" as string.')
            return ""
        self.length(path, len(value), low, high)
        return value

    def choice(self, path: Path, value: object, allowed: Collection[object]) -> None:
        """Check that a value is one of a few."""
        if isinstance(value, bool) or not isinstance(value, (int, str)) or value not in allowed:
            listed = ", ".join(map(str, sorted(allowed, key=str)))
            self.add(path, "BASE_TYPE_CHOICES", f"Value must be one of {{{listed}}}.")

    def number(self, path: Path, value: object, low: int, high: int) -> int:
        """Check an integer and return it, 0 where it is none."""
        if isinstance(value, bool) or not isinstance(value, int):
            self.add(path, "NUMBER_TYPE_COERCE", f'Value "{value}" is not int.')
            return 0
        if value < low:
            self.add(
                path, "NUMBER_TYPE_MIN", f"int value should be greater than or equal to {low}."
            )
        if value > high:
            self.add(path, "NUMBER_TYPE_MAX", f"int value should be less than or equal to {high}.")
        return value

    def items(
        self, path: Path, value: object, low: int, high: int
    ) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Check a list of objects and yield each with its place."""
        if value is None:
            value = []
        if not isinstance(value, list):
            self.add(path, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
            return
        self.length(path, len(value), low, high)
        for index, item in enumerate(value[:high]):
            if isinstance(item, dict):
                yield (*path, index), item
            else:
                self.add(
                    (*path, index),
                    "DICT_TYPE_CONVERT",
                    "Only dictionaries may be used in a DictType",
                )

    def mapping(self, path: Path, value: object) -> dict[str, Any]:
        """Check an object and return it, empty where there is none."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.add(path, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
            return {}
        return value


def snowflake(value: object) -> int | None:
    """Return an id that may come as text or number, None when it is neither."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() else None
