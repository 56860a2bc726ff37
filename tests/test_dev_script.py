"""The script behind ``make``: the command it starts is the one that signals reach."""

from __future__ import annotations

import signal
import subprocess
import sys

from tests.process import PATIENCE, ROOT

_WAITING = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print("ready", flush=True)
signal.pause()
"""
_START = f"""
import runpy, sys
script = runpy.run_path(".ci/dev.py")
script["become"](sys.executable, "-c", {_WAITING!r})
"""


def test_a_signal_to_the_script_reaches_the_command_and_its_status_comes_back() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _START], cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8"
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 7
