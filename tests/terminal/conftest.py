"""Which files of this folder this machine can run."""

from __future__ import annotations

import sys

# Windows has no pseudo-terminals of this kind; what is pure is tested there all the same.
collect_ignore = ["test_init.py", "test_interactive.py"] if sys.platform == "win32" else []
