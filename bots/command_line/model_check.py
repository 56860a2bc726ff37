"""Does the model answer? A short real call, and what each way to fail means for the settings."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bots.findings import Finding, fault, ok, warning

if TYPE_CHECKING:
    from pathlib import Path

    from core.i18n import Words
    from core.llm.port import ChatModel, ModelError
    from core.settings import Settings

SECONDS: Final = 45.0
"""How long a model may take to answer one word; a local one is loaded from the disk first."""
_TOKENS: Final = 512
"""Room for a model that thinks before its one word."""
_LOCAL_TOKENS: Final = 8
_LIST_SECONDS: Final = 10.0
_MOST_NAMES: Final = 5


@dataclass(frozen=True, slots=True)
class Access:
    """A model, and the variables that say how it is reached."""

    model: str | None
    key: str | None
    address: str | None
    local: Path | None = None
    model_name: str = "PARTNERS_MODEL"
    key_name: str = "OPENAI_API_KEY"
    address_name: str = "OPENAI_BASE_URL"


def first_access(settings: Settings) -> Access:
    """The model that answers."""
    key = settings.openai_api_key
    return Access(
        settings.model,
        key.get_secret_value() if key else None,
        settings.openai_base_url,
        settings.local_model,
    )


def fallback_access(settings: Settings) -> Access | None:
    """The model that stands in for it, where one is named."""
    if settings.fallback_model is None:
        return None
    key, address = settings.fallback_access
    own_key, own_address = settings.fallback_key, settings.fallback_base_url
    return Access(
        settings.fallback_model,
        key,
        address,
        None,
        "PARTNERS_FALLBACK_MODEL",
        "PARTNERS_FALLBACK_KEY" if own_key or own_address else "OPENAI_API_KEY",
        "PARTNERS_FALLBACK_BASE_URL" if own_address else "OPENAI_BASE_URL",
    )


async def check_model(access: Access, words: Words, *, seconds: float = SECONDS) -> Finding:
    """Let the model say one word. Never raises."""
    from core.llm.choose import ModelSettingsError, choose

    try:
        model = choose(
            model=access.model,
            api_key=access.key,
            base_url=access.address,
            local_model=access.local,
        )
    except ModelSettingsError as error:
        return fault(
            words(error.sentence, **error.values),
            words("The README has a table of what to write for each kind of model."),
        )
    try:
        return await _asked(model, access, words, seconds)
    finally:
        await model.close()


async def _asked(model: ChatModel, access: Access, words: Words, seconds: float) -> Finding:
    from core.llm.port import (
        ChatMessage,
        ChatRequest,
        Completed,
        ContentDelta,
        ModelError,
        ModelErrorKind,
    )

    clock = asyncio.get_running_loop().time
    request = ChatRequest(
        messages=(ChatMessage(role="user", content="Answer with the one word: ready"),),
        tools=(),
        max_tokens=_LOCAL_TOKENS if model.small else _TOKENS,
        temperature=None,
    )
    began, said, ended = clock(), "", ""
    try:
        async with asyncio.timeout(seconds):
            async for event in model.stream(request, deadline=began + seconds):
                if isinstance(event, ContentDelta):
                    said += event.text
                elif isinstance(event, Completed):
                    ended = event.finish_reason or ""
    except TimeoutError:
        failure = ModelError(ModelErrorKind.UNAVAILABLE, f"no answer in {seconds:.0f} s")
        return await _explained(failure, model, access, words)
    except ModelError as error:
        return await _explained(error, model, access, words)
    if not said.strip():
        return warning(
            words("{model} answered without a word ({reason}).", model=model.name, reason=ended),
            words(
                "Ask again; if it stays so, choose another model in {name}.",
                name=access.model_name,
            ),
        )
    if model.small and access.local is None:
        return warning(
            words("The small offline model answers. It knows little and speaks English only."),
            words("For a real model run `partners init`."),
        )
    took = words.number(round(clock() - began, 1))
    return ok(words("{model} answers, in {seconds} seconds.", model=model.name, seconds=took))


async def _explained(error: ModelError, model: ChatModel, access: Access, words: Words) -> Finding:
    """Say what a failed call means, and what to do."""
    from core.llm.port import ModelErrorKind
    from core.llm.provider import OFFICIAL
    from core.logs import redact

    address = access.address or OFFICIAL
    detail = redact(" ".join(error.detail.split())[:200])
    match error.kind:
        case ModelErrorKind.UNAUTHORIZED:
            return fault(
                words("{address} does not accept the key.", address=address),
                words(
                    "Copy the key again into {key}, and see that it belongs to the address in "
                    "{name} and may use {model}.",
                    key=access.key_name,
                    name=access.address_name,
                    model=model.name,
                ),
            )
        case ModelErrorKind.UNKNOWN_MODEL:
            return fault(
                words("{address} has no model “{model}”.", address=address, model=model.name),
                " ".join(_other_names(await models_of(access), model.name, access, words)),
            )
        case ModelErrorKind.RATE_LIMITED:
            return fault(
                words(
                    "{address} takes no more calls just now ({reason}).",
                    address=address,
                    reason=detail,
                ),
                words(
                    "Look at your account there: is money or quota left? Else wait a minute and "
                    "try again."
                ),
            )
        case ModelErrorKind.UNAVAILABLE:
            return fault(
                words("{address} gives no answer ({reason}).", address=address, reason=detail),
                words(
                    "Check this machine's connection and {name}. A model server of your own has "
                    "to be running; its address mostly ends in /v1.",
                    name=access.address_name,
                ),
            )
        case ModelErrorKind.NOT_LOADED:
            return fault(
                words("The local model cannot be loaded ({reason}).", reason=detail),
                words(
                    "Run `make setup` again, or set PARTNERS_LOCAL_MODEL to another GGUF file, or "
                    "use a model of a provider: `partners init`."
                ),
            )
        case _:
            return fault(
                words(
                    "{address} does not take the request ({reason}).",
                    address=address,
                    reason=detail,
                ),
                words(
                    "Choose another model in {name}: it has to be one for conversations.",
                    name=access.model_name,
                ),
            )


def _other_names(known: Sequence[str], wanted: str, access: Access, words: Words) -> Iterator[str]:
    near = difflib.get_close_matches(wanted, known, _MOST_NAMES, 0.4) or known[:_MOST_NAMES]
    if near:
        yield words("It has: {models}.", models=", ".join(near))
    else:
        yield words(
            "It lists no models; does the address in {name} end in /v1?", name=access.address_name
        )
    yield words("Write the name into {name} as your provider writes it.", name=access.model_name)


async def models_of(access: Access) -> list[str]:
    """Return the names of the models at an address; none where it does not tell."""
    import openai

    client = openai.AsyncOpenAI(
        api_key=access.key or "none",
        base_url=access.address,
        max_retries=0,
        timeout=_LIST_SECONDS,
    )
    try:
        return sorted([model.id async for model in client.models.list()])
    except (openai.OpenAIError, ValueError, TypeError, AttributeError):
        return []  # not every server has a list, or one of this shape
    finally:
        await client.close()
