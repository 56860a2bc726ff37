"""A PostgreSQL of the test's own, on a socket in a throwaway folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = "postgres"


def programs() -> Path | None:
    """Folder of ``initdb`` and ``pg_ctl``; None where PostgreSQL is not installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    packaged = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return packaged[-1].parent if packaged else None


@contextmanager
def cluster() -> Iterator[str]:
    """Run a server without any safety; yield the address of an empty database."""
    bin_ = programs()
    assert bin_ is not None
    # A server refuses to run as root; its own account may not enter pytest's folders.
    user = USER if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="partners-pg-"))
    try:
        if user:
            shutil.chown(folder, user)
        data = str(folder / "data")
        initdb = ["--auth=trust", f"--username={USER}", "--no-sync", "--encoding=UTF8"]
        _call(bin_ / "initdb", "-D", data, *initdb, folder=folder, user=user)
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        start = ["-w", "-l", str(folder / "log"), "-o", options, "start"]
        _call(bin_ / "pg_ctl", "-D", data, *start, folder=folder, user=user)
        try:
            yield f"postgresql://{USER}@/{USER}?host={folder}"
        finally:
            stop = ["-m", "immediate", "-w", "stop"]
            _call(bin_ / "pg_ctl", "-D", data, *stop, folder=folder, user=user)
    finally:
        shutil.rmtree(folder)


def _call(program: Path, *arguments: str, folder: Path, user: str | None) -> None:
    # Output goes to a file: the server inherits it and would keep a pipe open.
    with (folder / "setup.log").open("ab") as log:
        subprocess.run(
            [program, *arguments],
            cwd=folder,
            user=user,
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=True,
        )
