"""Tuning that is no secret: ``partners.toml`` over the built-in defaults.

A value that cannot be used, or a key nobody knows, costs a warning and nothing else; what is not
TOML at all refuses to start, since nothing in it can be trusted then. Tables of channels are handed
to the channel of that name as they are.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypedDict

from core.capabilities.registry import CAPABILITIES
from core.context import AccountId
from core.environment import SettingsError, text_of
from core.i18n import Words, words_for
from core.limits import Limits
from core.loop.gates import Budget, LoopProtocol, Price, reserve
from core.memory_tuning import MemoryTuning, read_memory
from core.partner_tables import PartnerTable, read_tables
from core.settings import account_id
from core.tuning_values import Number, Values

TUNING_FILE: Final = Path("partners.toml")
"""Default place, relative to the working directory."""

DEFAULTS: Final[Mapping[str, Budget]] = MappingProxyType(
    {one.name: one.budget for one in CAPABILITIES}
)
"""The capabilities there are, with their built-in tuning."""


_NUMBERS: Final = MappingProxyType(
    {
        "temperature": Number("temperature", 0, 2, whole=False),
        "max_rounds": Number("max_rounds", 1, 100),
        "max_tool_calls": Number("max_tool_calls", 0, 1_000),
        "exploring.max_tokens": Number("exploring_max_tokens", 16, 1_000_000),
        "responding.max_tokens": Number("responding_max_tokens", 16, 1_000_000),
        "answer_now.max_tokens": Number("answer_now_max_tokens", 16, 1_000_000),
        "deadline_seconds": Number("deadline_seconds", 1, 86_400, whole=False),
        "context_tokens": Number("context_tokens", 1_000, 10_000_000),
        "reserve_tokens": Number("reserve_tokens", 0, 2_500_000),
        "cost_limit": Number("cost_limit", 0, 1_000_000, whole=False),
    }
)

_PROTOCOL: Final = "protocol"
_PRICES: Final = ("prompt", "completion")
_MONEY: Final = Number("price", 0, 1_000_000, whole=False)

_LIMITS: Final = MappingProxyType(
    {
        "learner_tokens_per_day": Number("learner_tokens_per_day", 0, 10**12),
        "learner_cost_per_day": Number("learner_cost_per_day", 0, 10**9, whole=False),
        "total_tokens_per_day": Number("total_tokens_per_day", 0, 10**12),
        "total_cost_per_day": Number("total_cost_per_day", 0, 10**9, whole=False),
    }
)

JOIN_SECONDS: Final = 8.0
_JOIN: Final = Number("join_seconds", 0, 600, whole=False)
_BUTTON: Final = "regenerate_button"
_SWITCH: Final = ("true", "false")

_OTHER_SHAPES: Final = MappingProxyType(
    {
        "max_tokens": "responding.max_tokens",
        **{
            shape: f"{step}.max_tokens"
            for step in ("exploring", "responding", "answer_now")
            for shape in (step, f"{step}_max_tokens")
        },
    }
)
"""Flat ways to write a key, taken as what they mean."""


class Conversation(TypedDict, total=False):
    """What ``[conversation]`` says."""

    join_seconds: float
    regenerate_button: bool


@dataclass(frozen=True, slots=True)
class Tuning:
    """What ``partners.toml`` says, complete."""

    capabilities: Mapping[str, Budget] = field(default_factory=lambda: DEFAULTS)
    join_seconds: float = JOIN_SECONDS
    """Messages that wait for their turn are one question when no more time lies between them."""
    regenerate_button: bool = True
    """Answers in private chats carry a button that has them answered anew."""
    limits: Limits = field(default_factory=Limits)
    """Of ``[limits]``: what may be spent on models in a day."""
    memory: MemoryTuning = field(default_factory=MemoryTuning)
    """Of ``[memory]``: when memory is consolidated, and with how much."""
    allow: tuple[AccountId, ...] = ()
    """Accounts of ``[access] allow``."""
    partners: tuple[PartnerTable, ...] = ()
    """Of ``[[partner]]``; none where variables alone set up the one there is."""
    channels: Mapping[str, Mapping[str, object]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    warnings: tuple[str, ...] = ()
    """One sentence for each key that is unknown or whose value is of no use."""

    def channel(self, name: str) -> Mapping[str, object]:
        """Return the table of a channel as it is written; empty when there is none."""
        return self.channels.get(name, {})


def load_tuning(path: Path = TUNING_FILE, words: Words | None = None) -> Tuning:
    """Read ``partners.toml``; a missing file gives the defaults.

    ``words`` are those of the one who runs the tutor, English when None. Raises SettingsError when
    the file cannot be read, is not TOML, or may hold a token.
    """
    words = words or words_for("en")
    text = text_of(path, words)
    if text is None:
        return Tuning()
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(_syntax(path, str(error), text, words)) from None
    return _Reader(path.name, words).read(tables)


def _syntax(path: Path, message: str, text: str, words: Words) -> str:
    """Say where a file stops to be TOML; at its end the place is the last line."""
    place = re.search(r"\(at line (\d+), column (\d+)\)", message)
    lines = text.rstrip().splitlines() or [""]
    line, column = place.groups() if place else (str(len(lines)), str(len(lines[-1]) + 1))
    return words(
        "{file}, line {line}, column {column}: this is not TOML ({reason}). Correct the line, or "
        "compare it with partners.toml.example.",
        file=path,
        line=line,
        column=column,
        reason=re.sub(r" \(at .*\)$", "", message),
    )


class _Reader(Values):
    """Turns the tables into a ``Tuning`` and collects what has to be said about them."""

    def read(self, tables: Mapping[str, object]) -> Tuning:
        known = (
            "capabilities",
            "prices",
            "limits",
            "memory",
            "conversation",
            "access",
            "channels",
            "partner",
        )
        for key in tables:
            if key not in known:
                self.unknown(key, "", known)
        prices = tuple(self.prices(self.table(tables, "prices")))
        capabilities = {name: replace(tuned, prices=prices) for name, tuned in DEFAULTS.items()}
        for name, table in self.table(tables, "capabilities").items():
            if name not in DEFAULTS:
                self.unknown(name, "capabilities.", tuple(DEFAULTS))
            elif isinstance(table, dict):
                prefix = f"capabilities.{name}."
                capabilities[name] = self.capability(prefix, table, capabilities[name])
            else:
                self.no_table(f"capabilities.{name}", table)
        access = self.table(tables, "access")
        for key in access:
            if key != "allow":
                self.unknown(key, "access.", ("allow",))
        channels = {}
        for name, table in self.table(tables, "channels").items():
            if isinstance(table, dict):
                channels[name] = MappingProxyType(table)
            else:
                self.no_table(f"channels.{name}", table)
        return Tuning(
            capabilities=MappingProxyType(capabilities),
            **self.conversation(self.table(tables, "conversation")),
            limits=self.limits(self.table(tables, "limits")),
            memory=read_memory(self, self.table(tables, "memory")),
            allow=tuple(self.accounts(access.get("allow", []), "access.allow")),
            partners=read_tables(
                tables.get("partner", []),
                self.file,
                self.words,
                self.warnings.append,
                self.accounts,
            ),
            channels=MappingProxyType(channels),
            warnings=tuple(self.warnings),
        )

    def capability(self, prefix: str, table: Mapping[str, object], default: Budget) -> Budget:
        values: dict[str, float] = {}
        for key, value in _flat(table):
            if key == _PROTOCOL:
                choices = tuple(LoopProtocol)
                chosen = self.choice(prefix + key, value, choices, default.protocol)
                default = replace(default, protocol=LoopProtocol(chosen))
                continue
            number = _NUMBERS.get(_OTHER_SHAPES.get(key, key))
            if number is None:
                self.unknown(key, prefix, (*_NUMBERS, _PROTOCOL))
                continue
            usable = self.number(prefix + key, value, number, getattr(default, number.name))
            if usable is not None:
                values[number.name] = usable
        wanted = replace(default, **values)  # type: ignore[arg-type]  # fields by checked name
        most = reserve(wanted, wanted.context_tokens)
        usable_tuning = replace(wanted, reserve_tokens=most)
        if "reserve_tokens" in values and usable_tuning != wanted:
            self.warnings.append(
                self.words(
                    "{file}: {key} is more than a quarter of context_tokens; {limit} is used.",
                    file=self.file,
                    key=f"{prefix}reserve_tokens",
                    limit=usable_tuning.reserve_tokens,
                )
            )
        return usable_tuning

    def prices(self, table: Mapping[str, object]) -> Iterator[Price]:
        """The prices of models; one that is not complete is none."""
        for model, costs in table.items():
            key = f"prices.{model}"
            if not isinstance(costs, dict):
                self.no_table(key, costs)
                continue
            values: dict[str, float] = {}
            for name, value in costs.items():
                if name not in _PRICES:
                    self.unknown(name, f"{key}.", _PRICES)
                elif (price := self.number(f"{key}.{name}", value, _MONEY, 0)) is not None:
                    values[name] = price
            if len(values) == len(_PRICES):
                yield Price(model, values["prompt"], values["completion"])
            else:
                self.warnings.append(
                    self.words(
                        "{file}: {key} needs both prompt and completion, the price of a million "
                        "tokens each; without them {model} has no limit on its cost.",
                        file=self.file,
                        key=key,
                        model=model,
                    )
                )

    def limits(self, table: Mapping[str, object]) -> Limits:
        values: dict[str, float] = {}
        for key, value in table.items():
            number = _LIMITS.get(key)
            if number is None:
                self.unknown(key, "limits.", tuple(_LIMITS))
            elif (usable := self.number(f"limits.{key}", value, number, 0)) is not None:
                values[key] = usable
        return Limits(**values)  # type: ignore[arg-type]  # fields by checked name

    def conversation(self, table: Mapping[str, object]) -> Conversation:
        found = Conversation()
        for key, value in table.items():
            name = f"conversation.{key}"
            if key == _JOIN.name:
                usable = self.number(name, value, _JOIN, JOIN_SECONDS)
                if usable is not None:
                    found["join_seconds"] = usable
            elif key == _BUTTON:
                found["regenerate_button"] = self.choice(name, value, _SWITCH, "true") == "true"
            else:
                self.unknown(key, "conversation.", (_JOIN.name, _BUTTON))
        return found

    def accounts(self, value: object, key: str) -> Iterator[AccountId]:
        if isinstance(value, str):
            value = [part for part in value.split(",") if part.strip()]
        for item in value if isinstance(value, list) else [value]:
            try:
                yield account_id(item if isinstance(item, str) else "")
            except ValueError:
                self.warnings.append(
                    self.words(
                        "{file}: {key} holds “{value}”, which is no account and lets nobody in. "
                        "Write accounts as channel:id.",
                        file=self.file,
                        key=key,
                        value=str(item)[:80],
                    )
                )


def _flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
