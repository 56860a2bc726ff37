"""``/healthz`` on loopback: can whatever watches this process leave it alone?"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from core.i18n import Words, words_for
from core.logs import redact
from core.settings import SettingsError

if TYPE_CHECKING:
    from aiohttp import web

HOST: Final = "127.0.0.1"

Probe = Callable[[], Mapping[str, str | None]]
"""Name of each channel that should run, with None while it works, else what is wrong."""


class HealthServer:
    """Answers ``GET /healthz`` between ``start`` and ``stop``.

    200 and ``{"status": "ok", "channels": {"terminal": "ok"}}`` while every channel works, else
    503, ``"status": "trouble"`` and the sentence of each channel. aiohttp is loaded by ``start``.
    """

    def __init__(self, port: int, probe: Probe, *, words: Words | None = None) -> None:
        self.port = port
        """The port; after ``start`` the real one where 0 was given."""
        self._probe = probe
        self.words = words or words_for("en")
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Open the port. Raises SettingsError when it cannot be opened."""
        try:
            from aiohttp import web
        except ModuleNotFoundError:
            raise SettingsError(
                self.words(
                    "PARTNERS_HEALTH_PORT needs a package that is not installed. Run "
                    "{command}, or remove the setting.",
                    command="pip install 'partners[health]'",
                )
            ) from None

        async def healthz(_request: web.Request) -> web.Response:
            trouble = dict(self._probe())
            well = not any(trouble.values())
            return web.json_response(
                {
                    "status": "ok" if well else "trouble",
                    "channels": {name: redact(said or "ok") for name, said in trouble.items()},
                },
                status=200 if well else 503,
                headers={"Cache-Control": "no-store"},
            )

        application = web.Application()
        application.router.add_get("/healthz", healthz)
        # Nothing is gained by a line for every look of a watcher.
        runner = web.AppRunner(application, access_log=None, handle_signals=False)
        await runner.setup()
        try:
            await web.TCPSite(runner, HOST, self.port).start()
        except OSError as error:
            await runner.cleanup()
            raise SettingsError(self._refused(error)) from None
        self._runner = runner
        self.port = runner.addresses[0][1]

    async def stop(self) -> None:
        """Close the port. Safe to call twice, and without ``start``."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    def _refused(self, error: OSError) -> str:
        if error.errno == errno.EADDRINUSE:
            return self.words(
                "Port {port} is taken by another program. Choose another PARTNERS_HEALTH_PORT, or "
                "stop that program.",
                port=self.port,
            )
        return self.words(
            "Port {port} cannot be opened ({reason}). Choose a PARTNERS_HEALTH_PORT above 1023.",
            port=self.port,
            reason=error.strerror or type(error).__name__,
        )
