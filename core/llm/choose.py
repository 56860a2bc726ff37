"""Which model answers, from what the user set. One rule in one place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.i18n import N_
from core.llm.local import LocalModel, LocalModelError, check_weights
from core.llm.port import ChatModel

if TYPE_CHECKING:
    from core.llm.transcribe import Transcriber

LOCAL: Final = "local"
"""The model name that means the model in this process."""
_DUMMY_KEY: Final = "none"
"""Servers of one's own want no key, but the client library insists on one."""


class ModelSettingsError(Exception):
    """The settings name no model that can be used.

    ``sentence`` is a message id (``core.i18n``) with the way out, ``values`` fill it; the text of
    the error is English.
    """

    def __init__(self, sentence: str, **values: object) -> None:
        super().__init__(sentence.format(**values))
        self.sentence = sentence
        self.values = values


def choose(
    *,
    model: str | None,
    api_key: str | None,
    base_url: str | None,
    local_model: Path | None,
) -> ChatModel:
    """Return the model that these settings mean; nothing is loaded or called yet.

    ``local`` by name wins over a key. A key or a base URL needs a model by name. With none of
    them it is the local one, from the file ``local_model`` if set. Raises ModelSettingsError.
    """
    named = (model or "").strip()
    if named.lower() == LOCAL or not (named or api_key or base_url):
        if local_model is not None:
            try:
                check_weights(local_model)
            except LocalModelError as error:
                raise ModelSettingsError(error.sentence, **error.values) from error
        return LocalModel(local_model)
    if not named:
        raise ModelSettingsError(
            N_(
                "OPENAI_API_KEY or OPENAI_BASE_URL is set, but no model is named. Set "
                "PARTNERS_MODEL to a model of your provider, or to local."
            )
        )
    if not (api_key or base_url):
        raise ModelSettingsError(
            N_(
                "PARTNERS_MODEL is “{model}”, but there is no OPENAI_API_KEY and no "
                "OPENAI_BASE_URL to reach it. Set one of them, or PARTNERS_MODEL=local."
            ),
            model=named,
        )
    from core.llm.client import OpenAIModel

    return OpenAIModel(name=named, api_key=api_key or _DUMMY_KEY, base_url=base_url)


def with_fallback(
    first: ChatModel, *, model: str | None, api_key: str | None, base_url: str | None
) -> ChatModel:
    """Return ``first`` with the second model that these settings mean, if they mean one.

    Raises ModelSettingsError.
    """
    named = (model or "").strip()
    if not named:
        return first
    if named.lower() == LOCAL or first.small:
        raise ModelSettingsError(
            N_(
                "PARTNERS_FALLBACK_MODEL stands in for a model of a provider, and is one itself: "
                "the local model needs none and cannot be one. Remove it, or name another."
            )
        )
    if not (api_key or base_url):
        raise ModelSettingsError(
            N_(
                "PARTNERS_FALLBACK_MODEL is “{model}”, but there is neither a key nor an address "
                "for it. Set PARTNERS_FALLBACK_KEY or PARTNERS_FALLBACK_BASE_URL."
            ),
            model=named,
        )
    from core.llm.client import OpenAIModel
    from core.llm.fallback import FallbackModel

    second = OpenAIModel(name=named, api_key=api_key or _DUMMY_KEY, base_url=base_url)
    return FallbackModel(first, second)


def choose_ears(
    *, model: str | None, api_key: str | None, base_url: str | None
) -> Transcriber | None:
    """Return the model that understands speech, None where none is named.

    Raises ModelSettingsError.
    """
    named = (model or "").strip()
    if not named:
        return None
    if not (api_key or base_url):
        raise ModelSettingsError(
            N_(
                "PARTNERS_TRANSCRIPTION_MODEL is “{model}”, but there is neither a key nor an "
                "address for it. Set PARTNERS_TRANSCRIPTION_KEY or PARTNERS_TRANSCRIPTION_BASE_URL."
            ),
            model=named,
        )
    from core.llm.provider import OFFICIAL
    from core.llm.transcribe import Transcriber

    return Transcriber(name=named, api_key=api_key or _DUMMY_KEY, base_url=base_url or OFFICIAL)
