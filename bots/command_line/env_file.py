"""Changing ``.env`` for a person: their lines and comments stay, and it is written whole or not at
all, for their eyes only."""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from core.i18n import Words

_PLAIN: Final = re.compile(r"[^\s'\"#\\$`]*")
"""A value that every reader of such files takes as it stands."""
_REMARK: Final = re.compile(r"[ \t]+#[^'\"\r\n]*(?=[\r\n]*\Z)")
"""A comment behind a value; where quotation marks are in it, it may be a part of the value."""


def values_in(text: str) -> dict[str, str]:
    """Return what is set in a text, without blank values."""
    from dotenv import dotenv_values

    found = dotenv_values(stream=io.StringIO(text), interpolate=False)
    return {name: value for name, value in found.items() if value}


def changed(text: str, values: Mapping[str, str]) -> str:
    """Return the text with these variables set; all else stays as it is.

    A variable that is there is set where it stands, one that stands in a comment (``#NAME=``) below
    that, any other one at the end. Raises ValueError for a value that cannot be written.
    """
    from dotenv.parser import parse_stream

    end = "\r\n" if "\r\n" in text else "\n"
    lines = {name: f"{name}={_written(value)}" for name, value in values.items()}
    bindings = list(parse_stream(io.StringIO(text, newline="")))
    missing = lines.keys() - {binding.key for binding in bindings}
    parts: list[str] = []
    for binding in bindings:
        part = binding.original.string
        if binding.key in lines and not binding.error:
            parts.append(_replaced(part, lines[binding.key]))
            continue
        parts.append(part)
        for name in sorted(missing):
            if re.match(rf"\s*#\s?{re.escape(name)}=", part):
                missing.discard(name)
                parts[-1] = part if part.endswith(("\n", "\r")) else part + end
                parts.append(lines[name] + end)
    whole = "".join(parts)
    if missing and whole and not whole.endswith(("\n", "\r")):
        whole += end
    # In the order they were given, which is the one people were asked in.
    return whole + "".join(lines[name] + end for name in values if name in missing)


def write(path: Path, text: str, words: Words) -> None:
    """Write the file, which nobody else may read where the system knows such rights.

    Whoever reads meanwhile sees the old file or the new one, and a link stays a link. Raises
    SettingsError.
    """
    from core.environment import SettingsError

    target = path.resolve()
    try:
        # Made with mode 0600; on Windows the profile's folder keeps others out.
        handle, temporary = tempfile.mkstemp(prefix=".env-", dir=target.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(target)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SettingsError(
            words(
                "{file} cannot be written ({reason}). Correct the permissions of its folder.",
                file=path,
                reason=error.strerror or type(error).__name__,
            )
        ) from None


def _replaced(part: str, line: str) -> str:
    """Return a binding as it stood, with another value: its place, its remark, its line end."""
    body = part.lstrip()
    before = part[: len(part) - len(body)]
    exported = "export " if body.startswith("export ") else ""
    remark = found[0] if (found := _REMARK.search(body)) else ""
    ending = body[len(body.rstrip("\r\n")) :]
    return f"{before}{exported}{line}{remark}{ending}"


def _written(value: str) -> str:
    """Return a value as it has to stand in the file. Raises ValueError."""
    if not value.isprintable() or "${" in value:  # what stands in braces would be filled in
        raise ValueError(value)
    if _PLAIN.fullmatch(value):
        return value
    if "'" not in value and "\\" not in value:
        return f"'{value}'"
    if value.strip() == value and value[0] not in "'\"" and not re.search(r"\s#", value):
        return value
    raise ValueError(value)
