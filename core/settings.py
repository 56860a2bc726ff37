"""What the one who runs the tutor sets for every part of the house.

Variables of a channel are declared in the channel's own folder (see ``core.environment``); this
module knows none of them. Tuning that is no secret is ``core.tuning``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

import tzlocal
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from core.clock import ZoneUnknown, resolve_zone, zone
from core.context import AccountId
from core.environment import (
    AbsolutePath,
    EnvSettings,
    RefusedError,
    SettingsError,
    Token,
    WebAddress,
)
from core.i18n import LANGUAGES, N_, Language, Words, host_language, language_from, words_for

__all__ = [
    "AbsolutePath",
    "Access",
    "EnvSettings",
    "Settings",
    "SettingsError",
    "Token",
    "WebAddress",
    "account_id",
    "host_zone",
]

DATABASE_FILE: Final = "partners.db"

Access = Literal["pairing", "allowlist", "open"]


def account_id(text: str) -> AccountId:
    """Return a linked account, ``channel:id``. Raises ValueError for anything else."""
    channel, _, rest = (part.strip() for part in text.partition(":"))
    known = channel.isascii() and channel.isidentifier()
    if not known or not rest or any(character.isspace() for character in rest):
        raise ValueError(text)
    return AccountId(f"{channel.lower()}:{rest}")


def _accounts(value: object) -> object:
    if not isinstance(value, str):
        return value
    return tuple(account_id(part) for part in value.replace("，", ",").split(",") if part.strip())


def _database(value: SecretStr) -> SecretStr:
    """Accept what people copy from a provider, with or without a driver's name."""
    address = value.get_secret_value()
    scheme, mark, rest = address.partition("://")
    kinds = {"postgres": "postgresql", "postgresql": "postgresql", "sqlite": "sqlite"}
    kind = kinds.get(scheme.lower().partition("+")[0])
    urlsplit(address)  # raises ValueError for a host in broken brackets
    if not mark or kind is None:
        raise ValueError("no database that is supported")
    return SecretStr(f"{kind}://{rest}")


_UTC_NAMES = frozenset(
    {"Etc/UTC", "Etc/UCT", "Etc/Universal", "Etc/Zulu", "UCT", "Universal", "Zulu"}
)
"""What the time zone database links to UTC."""


def host_zone() -> str:
    """Return the IANA zone of this machine, UTC where it does not tell.

    Learners read the name, so a server's ``Etc/UTC`` is called what people call it.
    """
    try:
        key = zone(tzlocal.get_localzone_name() or "UTC").key
        return "UTC" if key in _UTC_NAMES else key
    except (ValueError, LookupError, OSError):  # what tzlocal raises for a host it cannot read
        return "UTC"


def _zone(value: str) -> str:
    """Accept an IANA name, or what stands for exactly one, such as ``asia/shanghai``."""
    try:
        return zone(value).key
    except ZoneUnknown as error:
        meant = resolve_zone(value)
        if len(meant) == 1:
            return meant[0]
        if error.suggestions:
            near = ", ".join(error.suggestions)
            raise RefusedError(N_("Did you mean one of these: {zones}?"), zones=near) from None
        raise


def _language(value: str) -> str:
    """Accept a locale too, such as ``zh_CN``: a known one gives the same whatever the default."""
    readings = {language_from(value, default) for default in LANGUAGES}
    return readings.pop() if len(readings) == 1 else value


class Settings(EnvSettings):
    """The variables every part of the house may need."""

    data: AbsolutePath = Field(
        default_factory=lambda: Path("data").absolute(),
        validation_alias="PARTNERS_DATA",
        description=N_("Write the path of a folder."),
    )
    """Folder of the memory files and the database."""
    database_url: Annotated[SecretStr, AfterValidator(_database)] | None = Field(
        default=None,
        validation_alias="PARTNERS_DATABASE_URL",
        description=N_(
            "Write an address that begins with postgresql:// or sqlite:///, or remove it to use "
            "a file in the data folder."
        ),
    )
    """With an asyncio driver; what to open is ``database``."""
    openai_api_key: Token | None = Field(
        default=None,
        validation_alias="OPENAI_API_KEY",
        description=N_("Copy the key again from your provider."),
    )
    openai_base_url: WebAddress | None = Field(
        default=None,
        validation_alias="OPENAI_BASE_URL",
        description=N_("Write an address such as http://127.0.0.1:11434/v1."),
    )
    model: str | None = Field(
        default=None,
        validation_alias="PARTNERS_MODEL",
        description=N_("Write a model's name, or local."),
    )
    fallback_model: str | None = Field(
        default=None,
        validation_alias="PARTNERS_FALLBACK_MODEL",
        description=N_("Write a model's name."),
    )
    """Answers where ``model`` cannot be had; of the same provider unless one is named."""
    fallback_base_url: WebAddress | None = Field(
        default=None,
        validation_alias="PARTNERS_FALLBACK_BASE_URL",
        description=N_("Write an address such as http://127.0.0.1:11434/v1."),
    )
    fallback_key: Token | None = Field(
        default=None,
        validation_alias="PARTNERS_FALLBACK_KEY",
        description=N_("Copy the key again from your provider."),
    )
    transcription_model: str | None = Field(
        default=None,
        validation_alias="PARTNERS_TRANSCRIPTION_MODEL",
        description=N_("Write a model's name."),
    )
    """Turns speech into text; of the same provider unless one is named."""
    transcription_base_url: WebAddress | None = Field(
        default=None,
        validation_alias="PARTNERS_TRANSCRIPTION_BASE_URL",
        description=N_("Write an address such as http://127.0.0.1:11434/v1."),
    )
    transcription_key: Token | None = Field(
        default=None,
        validation_alias="PARTNERS_TRANSCRIPTION_KEY",
        description=N_("Copy the key again from your provider."),
    )
    local_model: AbsolutePath | None = Field(
        default=None,
        validation_alias="PARTNERS_LOCAL_MODEL",
        description=N_("Write the path of a GGUF file."),
    )
    access: Annotated[Access, BeforeValidator(lambda value: str(value).lower())] = Field(
        default="pairing",
        validation_alias="PARTNERS_ACCESS",
        description=N_("Write pairing, allowlist or open."),
    )
    owners: Annotated[tuple[AccountId, ...], NoDecode, BeforeValidator(_accounts)] = Field(
        default=(),
        validation_alias="PARTNERS_OWNERS",
        description=N_("Write accounts as channel:id, with commas between them."),
    )
    timezone: Annotated[str, AfterValidator(_zone)] = Field(
        default_factory=host_zone,
        validation_alias="PARTNERS_TIMEZONE",
        description=N_("Write a zone such as Europe/Berlin or Asia/Shanghai."),
    )
    """IANA name; the zone of a learner who has not said another one."""
    language: Annotated[Language, BeforeValidator(_language)] = Field(
        default_factory=host_language,
        validation_alias="PARTNERS_LANGUAGE",
        description=N_("Write en or zh."),
    )
    """Language of the command line, and of a learner whose platform does not tell."""
    health_port: Annotated[int, Field(ge=1, le=65535)] | None = Field(
        default=None,
        validation_alias="PARTNERS_HEALTH_PORT",
        description=N_("Write a free port from 1 to 65535, or remove it."),
    )

    @property
    def database(self) -> SecretStr:
        """The SQLAlchemy address to open: the one set, else SQLite in the data folder."""
        if self.database_url is not None:
            return self.database_url
        return SecretStr(f"sqlite:///{(self.data / DATABASE_FILE).as_posix()}")

    @property
    def fallback_access(self) -> tuple[str | None, str | None]:
        """Key and address of the fallback model."""
        return self._beside_openai(self.fallback_key, self.fallback_base_url)

    @property
    def transcription_access(self) -> tuple[str | None, str | None]:
        """Key and address of the transcription model."""
        return self._beside_openai(self.transcription_key, self.transcription_base_url)

    def _beside_openai(
        self, key: SecretStr | None, address: str | None
    ) -> tuple[str | None, str | None]:
        """What is not named is OpenAI's; but its key is shown to no address other than its own."""
        address = address or self.openai_base_url
        if key is None and address == self.openai_base_url:
            key = self.openai_api_key
        return key.get_secret_value() if key else None, address

    @property
    def words(self) -> Words:
        """The words for the one who runs the tutor."""
        return words_for(self.language)

    def prepare_data(self) -> Path:
        """Create the data folder where it is missing, see that it can be written to, return it.

        Raises SettingsError.
        """
        probe = self.data / ".writable"
        try:
            self.data.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise SettingsError(
                self.words(
                    "The data folder {folder} cannot be written to ({reason}). Correct its "
                    "permissions, or name another folder in PARTNERS_DATA.",
                    folder=self.data,
                    reason=error.strerror or type(error).__name__,
                )
            ) from None
        return self.data
