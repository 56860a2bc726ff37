"""Groups of environment variables, and one clear sentence for each that is of no use.

Values come from the environment and from ``.env``; the environment wins, a blank value means
unset. What a room or a channel needs is declared there, as a small class on ``EnvSettings``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Self, TypeVar
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, SecretStr, ValidationError, create_model, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from core.i18n import Language, Words, host_language, language_from, words_for
from core.logs import register_secret

ENV_FILE: Final = Path(".env")
"""Default place, relative to the working directory."""


class SettingsError(Exception):
    """The settings cannot be used. ``problems`` are sentences for the one who runs the tutor."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems: Final[Sequence[str]] = problems


class RefusedError(ValueError):
    """A validator's refusal with advice of its own, a message id and its values."""

    def __init__(self, advice: str, **values: object) -> None:
        super().__init__(advice)
        self.advice: Final = advice
        self.values: Final = values


class EnvSettings(BaseSettings):
    """Base of a group of variables; read one with ``load``.

    A field names its variable as ``validation_alias`` and says as ``description`` what to write
    there, a sentence marked with ``N_`` that is shown when the value is of no use::

        class PostSettings(EnvSettings):
            bot_token: Token | None = Field(
                None, validation_alias="POST_BOT_TOKEN", description=N_("Copy it from …")
            )
    """

    model_config = SettingsConfigDict(
        case_sensitive=True,
        env_file_encoding="utf-8-sig",  # some editors put a mark in front
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _blank_is_unset(cls, values: dict[str, Any]) -> dict[str, Any]:
        stripped = {k: v.strip() if isinstance(v, str) else v for k, v in values.items()}
        return {key: value for key, value in stripped.items() if value != ""}

    @classmethod
    def load(
        cls,
        env_file: Path | None = ENV_FILE,
        given: Mapping[str, str] = MappingProxyType({}),
        words: Words | None = None,
    ) -> Self:
        """Read the variables; a missing file is fine, None reads the environment alone.

        What is ``given`` by name counts before both. ``words`` are those of the one who runs the
        tutor. Every secret among them is made known to the log, which will not show it. Raises
        SettingsError with a sentence for each problem.
        """
        words = words or words_for(language_of_messages())
        values: dict[str, Any] = dict(given)
        try:
            settings = cls(_env_file=env_file, **values)
        except (UnicodeDecodeError, OSError) as error:
            raise _unreadable(env_file, error, words) from None
        except ValidationError as error:
            raise SettingsError(*_problems(cls, error, words)) from None
        for value in settings.__dict__.values():
            if isinstance(value, SecretStr):
                _hide(value.get_secret_value())
        return settings


Group = TypeVar("Group", bound=EnvSettings)


def text_of(path: Path, words: Words) -> str | None:
    """Return the text of a settings file with its line ends, None when there is none.

    Raises SettingsError.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except (UnicodeDecodeError, OSError) as error:
        raise _unreadable(path, error, words) from None


def variable(model: type[EnvSettings], field: str) -> str:
    """Return the name of the environment variable that sets ``field``."""
    alias = model.model_fields[field].validation_alias
    return alias if isinstance(alias, str) else field


def secrets(model: type[EnvSettings]) -> frozenset[str]:
    """Return the names of the variables whose values are not shown."""
    return frozenset(
        variable(model, name) for name, info in model.model_fields.items() if _is_secret(info)
    )


def renamed(model: type[Group], variables: Mapping[str, str]) -> type[Group]:
    """Return a group whose fields (the keys of ``variables``) are set by variables of other names.

    So one group serves accounts of which each has variables of its own.
    """
    fields: dict[str, Any] = {}
    for name, wanted in variables.items():
        info = copy(model.model_fields[name])
        info.validation_alias = wanted
        fields[name] = (info.annotation, info)
    return create_model(model.__name__, __base__=model, __module__=model.__module__, **fields)


def _unreadable(
    path: Path | None, error: UnicodeDecodeError | OSError, words: Words
) -> SettingsError:
    if isinstance(error, UnicodeDecodeError):
        return SettingsError(
            words("{file} is not a UTF-8 text. Save it again as UTF-8.", file=path)
        )
    return SettingsError(
        words(
            "{file} cannot be read ({reason}). Correct its permissions.",
            file=path,
            reason=error.strerror or type(error).__name__,
        )
    )


def _problems(model: type[EnvSettings], error: ValidationError, words: Words) -> list[str]:
    """One sentence for each variable that is wrong. Values are shown unless they are secret."""
    fields = {variable(model, name): info for name, info in model.model_fields.items()}
    found: dict[str, str] = {}
    for detail in error.errors(include_url=False):
        name = str(detail["loc"][0])
        if name in found:
            continue
        info = fields[name]
        cause = detail.get("ctx", {}).get("error")
        if detail["type"] == "missing":
            said = words("{name} is not set.", name=name)
        elif _is_secret(info):
            said = words("{name} cannot be used.", name=name)
        else:
            value = str(detail["input"])[:80]
            said = words("{name} is “{value}”, which cannot be used.", name=name, value=value)
        if isinstance(cause, RefusedError):
            said += " " + words(cause.advice, **cause.values)
        elif info.description:
            said += " " + words(info.description)
        found[name] = said
    return list(found.values())


def _is_secret(info: FieldInfo) -> bool:
    return "Secret" in str(info.annotation)


def language_of_messages() -> Language:
    """Return the language for the one who runs the tutor, as long as no settings could be read."""
    return language_from(os.environ.get("PARTNERS_LANGUAGE"), host_language())


def _hide(secret: str) -> None:
    """Register a secret with the log; of an address also the password in it."""
    register_secret(secret)
    if "://" in secret and (password := urlsplit(secret).password):
        register_secret(password)
        register_secret(unquote(password))


# --- kinds of values ----------------------------------------------------------------------------


def _token(value: SecretStr) -> SecretStr:
    text = value.get_secret_value()
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError("a token is one word of ASCII")
    return value


def _web_address(value: str) -> str:
    parts = urlsplit(value)
    # Asking for the port raises ValueError when it is none.
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError(value)
    return value.rstrip("/")


def _path(value: Path) -> Path:
    try:
        return value.expanduser().absolute()
    except RuntimeError as error:  # ``~somebody`` whose home nobody knows
        raise ValueError(str(error)) from error


Token = Annotated[SecretStr, AfterValidator(_token)]
"""A secret that goes into a header or an address: one word of printable ASCII."""

WebAddress = Annotated[str, AfterValidator(_web_address)]
"""An http or https address, without a slash at its end."""

AbsolutePath = Annotated[Path, AfterValidator(_path)]
"""A path made absolute at once, so that a later change of folder changes nothing."""
