"""The model server: takes strict requests, says what the test has scripted."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable
from typing import Any

from aiohttp import web

from tests.servers.base import Answer, Asked, CutConnection, LocalServer, Stream, json_response
from tests.servers.faults import RecordedRequest
from tests.servers.multipart import parts
from tests.servers.openai.replies import Reply, Script, Trouble, error_object
from tests.servers.openai.sound import checked
from tests.servers.openai.validation import Invalid, validate
from tests.servers.openai.wire import CREATED, Chunks, completion, event

CHAT = "chat.completions"
MODELS = "models"
TRANSCRIPTIONS = "audio.transcriptions"
_NAMES = {
    ("POST", "/v1/chat/completions"): CHAT,
    ("POST", "/v1/audio/transcriptions"): TRANSCRIPTIONS,
    ("GET", "/v1/models"): MODELS,
}
_EVENTS = "text/event-stream; charset=utf-8"

NOTHING_SCRIPTED = Reply.failing(
    500, "The test scripted no reply for this request.", code="nothing_scripted"
)


class OpenAIServer(LocalServer):
    """``POST /v1/chat/completions``, ``POST /v1/audio/transcriptions`` and ``GET /v1/models``.

    ``script(...)`` queues replies, each used once, in the order of the requests; a function gets
    the recorded request and returns the reply. ``default`` answers when the queue is empty; unset,
    the request fails with 500, so that no test passes by accident. Names for faults and waits:
    ``chat.completions``, ``audio.transcriptions``, ``models``.
    """

    cancel_on_hangup = True

    def __init__(
        self,
        *,
        api_key: str | None = None,
        models: Iterable[str] | None = None,
        unsupported: Iterable[str] = (),
        keep_requests: int | None = None,
    ) -> None:
        """``api_key`` None takes any key, ``models`` None any model name.

        ``unsupported`` names parameters that every model here refuses.
        """
        super().__init__(keep_requests=keep_requests)
        self.api_key = api_key
        self.models = None if models is None else tuple(models)
        self.unsupported = set(unsupported)
        self.default: Script = NOTHING_SCRIPTED
        self.stops = True
        """Answers end before the request's stop sequences; False plays a server that ignores them.
        """
        self.sees = True
        """The models here take pictures."""
        self.system_first = False
        """A system message is refused anywhere but at the beginning, as templates do."""
        self.hears: str | None = None
        """What every recording says; None means that there is no such model."""
        self._queue: deque[Script] = deque()

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL."""
        return f"{self.url}/v1"

    def script(self, *replies: Script) -> None:
        """Queue replies behind those that wait."""
        with self.changes.lock:
            self._queue.extend(replies)

    @property
    def unused(self) -> int:
        """Number of scripted replies nobody has asked for yet."""
        with self.changes.lock:
            return len(self._queue)

    @property
    def transcriptions(self) -> list[RecordedRequest]:
        """The requests for a transcript."""
        return self.requests_of(TRANSCRIPTIONS)

    @property
    def chats(self) -> list[RecordedRequest]:
        """The requests for a completion."""
        return self.requests_of(CHAT)

    async def identify(self, request: web.BaseRequest, body: bytes) -> Asked:
        """Name the endpoint."""
        try:
            data = json.loads(body) if body else {}
        except ValueError:
            data = {}
        name = _NAMES.get((request.method, request.path), request.path)
        return Asked(name, data if isinstance(data, dict) else {})

    async def respond(self, request: web.BaseRequest, record: RecordedRequest) -> Answer:
        """Check the key and the request, then play the next reply."""
        try:
            self._authorize(request)
            if record.name == MODELS:
                return json_response(self._list())
            if record.name == TRANSCRIPTIONS:
                return await self._transcript(request, record)
            if record.name != CHAT:
                raise Invalid(
                    f"Invalid URL ({request.method} {request.path})", None, "unknown_url", 404
                )
            self._check(record)
        except Invalid as refusal:
            return json_response(refusal.body, refusal.status)
        with self.changes.lock:
            scripted = self._queue.popleft() if self._queue else self.default
        reply = scripted if isinstance(scripted, Reply) else scripted(record)
        if self.stops:
            stop = record.json.get("stop") or []
            reply = reply.stopped_at([stop] if isinstance(stop, str) else stop)
        if reply.status != 200:
            return json_response({"error": reply.error}, reply.status, reply.headers)
        if record.json.get("stream"):
            return Stream(lambda http: self._stream(http, record, reply))
        return await self._whole(record, reply)

    def _authorize(self, request: web.BaseRequest) -> None:
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or not key:
            raise Invalid("You didn't provide an API key.", None, None, 401)
        if self.api_key is not None and key != self.api_key:
            raise Invalid("Incorrect API key provided.", None, "invalid_api_key", 401)

    def _list(self) -> dict[str, Any]:
        models = self.models or ("test-model",)
        data = [
            {"id": name, "object": "model", "created": CREATED, "owned_by": "tests"}
            for name in models
        ]
        return {"object": "list", "data": data}

    async def _transcript(self, request: web.BaseRequest, record: RecordedRequest) -> web.Response:
        try:
            fields = checked(await parts(request, record.body))
        except (ValueError, AssertionError):  # what aiohttp says of a body that is none
            raise Invalid("Could not parse multipart form") from None
        record.json.update(fields)
        if self.hears is None:
            raise Invalid("The model does not exist.", None, "model_not_found", 404)
        return json_response({"text": self.hears})

    def _check(self, record: RecordedRequest) -> None:
        if not record.json:
            raise Invalid("We could not parse the JSON body of your request.")
        validate(record.json)
        if self.models is not None and record.json["model"] not in self.models:
            raise Invalid(
                f"The model `{record.json['model']}` does not exist or you do not have access "
                "to it.",
                None,
                "model_not_found",
                404,
            )
        if not self.sees and b'"image_url"' in record.body:
            raise Invalid(
                "Invalid content type. image_url is only supported by certain models.",
                "messages",
            )
        later = [one["role"] for one in record.json["messages"][1:]]
        if self.system_first and "system" in later:
            raise Invalid("System message must be at the beginning.", status=500)
        for name in sorted(self.unsupported & record.json.keys()):
            raise Invalid(
                f"Unsupported parameter: '{name}' is not supported with this model.",
                name,
                "unsupported_parameter",
            )

    async def _whole(self, record: RecordedRequest, reply: Reply) -> web.Response:
        if reply.gate is not None:
            await self.stand_at(reply.gate, record)
        if reply.trouble is Trouble.DROP:
            raise CutConnection
        if reply.trouble is Trouble.ERROR:
            return json_response({"error": _overloaded()}, 500)
        body = json.dumps(completion(reply, record.json["model"]), ensure_ascii=False).encode()
        if reply.trouble is not None:
            body = body[: len(body) // 2]
        kind = reply.content_type or "application/json"
        return web.Response(body=body, headers={"Content-Type": kind, **reply.headers})

    async def _stream(
        self, request: web.BaseRequest, record: RecordedRequest, reply: Reply
    ) -> web.StreamResponse:
        options = record.json.get("stream_options") or {}
        chunks = Chunks(reply, record.json["model"], options.get("include_usage") is True)
        kind = reply.content_type or _EVENTS
        response = web.StreamResponse(headers={"Content-Type": kind, **reply.headers})
        await response.prepare(request)
        await response.write(chunks.opening())
        sent = 0
        for delta in chunks.deltas():
            if await self._broken(response, record, reply, sent):
                return response
            await response.write(delta)
            sent += 1
        # A break ordered after more deltas than there are comes at the end.
        if await self._broken(response, record, reply, max(sent, reply.trouble_after)):
            return response
        for closing in chunks.closing():
            await response.write(closing)
        await response.write_eof()
        return response

    async def _broken(
        self, response: web.StreamResponse, record: RecordedRequest, reply: Reply, sent: int
    ) -> bool:
        """Do what is to happen after this many deltas; return whether the stream ends here."""
        if sent != reply.trouble_after:
            return False
        if reply.gate is not None:
            await self.stand_at(reply.gate, record)
        match reply.trouble:
            case Trouble.DROP:
                raise CutConnection
            case Trouble.GARBAGE:
                await response.write(b"data: {not json\n\n")
            case Trouble.ERROR:
                await response.write(event({"error": _overloaded()}))
            case Trouble.NO_END:
                pass
            case None:
                return False
        await response.write_eof()
        return True


def _overloaded() -> dict[str, Any]:
    return error_object("The server is overloaded.", "server_error", "overloaded")
