"""The script behind ``make``: what it starts gets the signals, what it installs is found."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

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


def test_the_project_is_found_in_a_folder_whose_name_the_machines_encoding_lacks(
    tmp_path: Path,
) -> None:
    project, packages = tmp_path / "我的 导师's", tmp_path / "site-packages"
    project.mkdir()
    packages.mkdir()
    (project / "found_there.py").write_text("", encoding="utf-8")
    (packages / "_editable_impl_partners.pth").write_text(str(project), encoding="utf-8")
    write = (
        "import pathlib, runpy, sys\n"
        'script = runpy.run_path(".ci/dev.py")\n'
        'script["write_path_file"].__globals__["ROOT"] = pathlib.Path(sys.argv[1])\n'
        'script["write_path_file"](pathlib.Path(sys.argv[2]))\n'
    )
    subprocess.run([sys.executable, "-c", write, project, packages], cwd=ROOT, check=True)
    read = "import site, sys; site.addsitedir(sys.argv[1]); import found_there"
    plain = {**os.environ, "LC_ALL": "C"}
    plain.pop("PYTHONUTF8", None)
    subprocess.run([sys.executable, "-c", read, packages], env=plain, check=True)
