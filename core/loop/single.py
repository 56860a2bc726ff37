"""One call of a model whose answer is data for us, not words for a learner."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

from core.llm.port import (
    ChatMessage,
    ChatModel,
    ChatRequest,
    Completed,
    ContentDelta,
    ModelError,
    ModelErrorKind,
)
from core.loop.gates import answer_limit
from core.loop.history import estimate_messages
from core.loop.scrub import scrub

_BACKSLASH: Final = re.compile(r"\\\\|\\u[0-9a-fA-F]{4}|\\([A-Za-z]+|.)?", re.DOTALL)
_AS_JSON_KNOWS: Final = 'bfnrt"\\/'
_TEX: Final = (
    "bar beta begin big bigl bigr binom bmatrix bmod boldsymbol bot boxed bullet "
    "fbox flat forall frac "
    "nabla natural nearrow neg neq ngeq nleq nmid not notin nsubseteq nu "
    "rangle rbrace rceil Re rfloor rho right rightarrow rightleftharpoons rm "
    "tan tanh tau text textbf textit tfrac therefore theta tilde times to top triangle"
)
"""Commands that begin like an escape of JSON."""
_COMMANDS: Final = frozenset(_TEX.split())


_HALF: Final = frozenset({"length", "content_filter"})
"""Reasons to finish with which an answer is not whole."""
_REFUSED: Final = frozenset({ModelErrorKind.REFUSED, ModelErrorKind.CONTEXT_EXCEEDED})
"""Failures that are about this very request: a smaller one may do."""


class Unanswered(Exception):
    """The model did not answer; the text, which is for the log, says why."""

    def __init__(self, reason: str, *, of_request: bool = False) -> None:
        super().__init__(reason)
        self.of_request = of_request
        """It is about this very request: the same one would fail again."""


async def single(
    model: ChatModel,
    messages: Sequence[ChatMessage],
    *,
    max_tokens: int,
    seconds: float,
    temperature: float | None = 0.0,
    json_object: bool = False,
    whole: bool = False,
) -> str:
    """Return what the model says, its thinking left out. Raises Unanswered.

    ``max_tokens`` of the answer are cut to what the model's window leaves; ``seconds`` is all the
    time there is, retries included. See ``ChatRequest.json_object``; with ``whole``, an answer that
    was cut off is none.
    """
    wanted = answer_limit(max_tokens, estimate_messages(messages), model.window)
    request = ChatRequest(tuple(messages), (), wanted, temperature, json_object=json_object)
    said: list[str] = []
    finish: str | None = None
    try:
        async with asyncio.timeout(seconds):
            deadline = asyncio.get_running_loop().time() + seconds
            async with aclosing(model.stream(request, deadline=deadline)) as events:
                async for event in events:
                    if isinstance(event, ContentDelta):
                        said.append(event.text)
                    elif isinstance(event, Completed):
                        finish = event.finish_reason
    except ModelError as error:
        raise Unanswered(error.kind.value, of_request=error.kind in _REFUSED) from None
    except TimeoutError:
        raise Unanswered("no answer in time") from None
    if whole and finish in _HALF:
        raise Unanswered(f"cut off ({finish})", of_request=True)
    return scrub("".join(said))


def object_in(text: str) -> Mapping[str, Any] | None:
    """Return the last JSON object that a text holds, whatever stands around it; None for none.

    Models put objects into fences, and words before and behind them; and they write formulas with
    single backslashes, which JSON would take for a tab in ``\\times`` and refuse in ``\\sqrt``.
    """
    decoder = json.JSONDecoder(strict=False)  # a line break inside a text is one
    text = _BACKSLASH.sub(_kept, text)
    found: Mapping[str, Any] | None = None
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found = value
        at = text.find("{", end)
    return found


def _kept(found: re.Match[str]) -> str:
    """An escape as it is, where JSON knows it and TeX does not; else a backslash that stays one."""
    whole, name = found[0], found[1]
    if whole == "\\\\" or (name is None and len(whole) > 1):
        return whole  # an escaped backslash, or a character by its number
    if name and name[0] in _AS_JSON_KNOWS and name not in _COMMANDS:
        return whole
    return f"\\{whole}"
