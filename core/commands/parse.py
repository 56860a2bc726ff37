"""Commands written as text, for channels that have none of their own."""

from __future__ import annotations

import re

_COMMAND = re.compile(r"/([A-Za-z][A-Za-z0-9_]{0,31})(?:\s+(.*))?\s*", re.DOTALL)


def split_command(text: str) -> tuple[str, str] | None:
    """Return name (lower case) and arguments of ``/name arguments``; None for any other text."""
    found = _COMMAND.fullmatch(text.strip())
    return (found[1].lower(), (found[2] or "").strip()) if found else None
