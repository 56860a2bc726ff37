"""The composition root: settings become a house with its doors.

Nothing else knows all the parts. A channel's library is imported only when that channel is on.
"""

from __future__ import annotations

import asyncio
import getpass
import logging
import signal
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from bots.doors import Door, configured, full_account
from bots.terminal.receive import account_of
from core.access import AccessMode, AccessPolicy, Verdict
from core.capabilities.chat import CHAT
from core.channel import Channel, ChannelStartError, ChannelUnreachable
from core.clock import SystemClock
from core.context import AccountId
from core.house import House, Parts
from core.i18n import Words
from core.llm.choose import ModelSettingsError, choose, choose_ears, with_fallback
from core.llm.port import ChatModel
from core.partner_tables import PartnerTable
from core.partners import Partner
from core.scheduling.consolidation import Consolidator
from core.settings import Settings, SettingsError
from core.spending import Spending
from core.store.session import Store
from core.tuning import Tuning
from core.turns.intake import Defaults
from personas.persona import PersonaLibrary, PersonaUnknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bots.health import HealthServer
    from core.llm.transcribe import Transcriber

log = logging.getLogger(__name__)

SHUTDOWN_SECONDS = 4.0
"""Given to what is under way at SIGTERM; the whole stop stays under five seconds."""


FIRST_RETRY, LONGEST_RETRY = 0.5, 30.0
"""Seconds between tries to reach a channel; the wait doubles from one to the other."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What every command needs: settings, tuning, the open store."""

    settings: Settings
    tuning: Tuning
    store: Store

    @property
    def memory(self) -> Path:
        """Folder of all learners' memory."""
        return self.settings.data / "memory"

    @property
    def policy(self) -> AccessPolicy:
        """Who may learn here. The person at the terminal always may."""
        return self._policy(None)

    def judge(self, account: str, state: str | None) -> Verdict:
        """Say what an account may do with the partner that lets it do most."""
        policies = [self.policy, *map(self._policy, self.tuning.partners)]
        verdicts = [policy.judge(account, state) for policy in policies]
        return min(verdicts, key=list(Verdict).index)

    def partner(self, table: PartnerTable) -> Partner:
        """The partner of a table, with what the table leaves to the house."""
        return Partner(self._policy(table), table.name, table.persona, table.language)

    def full_account(self, account: str) -> AccountId:
        """Return an account as it is stored, however a person wrote it. Raises SettingsError."""
        return full_account(account, self.tuning)

    def _policy(self, table: PartnerTable | None) -> AccessPolicy:
        access = table.access if table else None
        allow = table.allow if table else None
        return AccessPolicy(
            mode=AccessMode(access or self.settings.access),
            owners=frozenset(
                {*map(self.full_account, self.settings.owners), account_of(user_name())}
            ),
            allow=frozenset(map(self.full_account, self.tuning.allow if allow is None else allow)),
        )


def user_name() -> str:
    """The operating system's user, in the shape of an account id."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):  # no login name: a bare container, a bare Windows
        name = "me"
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in name) or "me"


def load_personas(settings: Settings) -> PersonaLibrary:
    """The packaged personas and those in the data folder; broken files are named in the log."""
    library = PersonaLibrary.load(settings.data / "personas")
    for problem in library.problems:
        log.warning("persona left out: %s", problem)
    return library


def build_house(ground: Ground, model: ChatModel, personas: PersonaLibrary | None = None) -> House:
    """Put the house together; the personas are loaded unless given."""
    settings = ground.settings
    return House(
        Parts(
            store=ground.store,
            clock=SystemClock(),
            policy=ground.policy,
            defaults=Defaults(zone=settings.timezone, language=settings.language),
            personas=personas or load_personas(settings),
            model=model,
            budgets=ground.tuning.capabilities,
            memory=ground.memory,
            join_within=timedelta(seconds=ground.tuning.join_seconds),
            transcriber=choose_transcriber(settings),
            limits=ground.tuning.limits,
            consolidation=ground.tuning.memory,
            offers_anew=ground.tuning.regenerate_button,
        )
    )


def build_consolidator(ground: Ground, model: ChatModel) -> Consolidator:
    """Put together what consolidates memory outside of a house."""
    settings = ground.settings
    spending = Spending(
        ground.tuning.limits, settings.timezone, settings.language, ground.policy.owners
    )
    return Consolidator(
        ground.store,
        SystemClock(),
        ground.memory,
        model,
        ground.tuning.capabilities[CHAT.name],
        spending,
        ground.tuning.memory,
    )


@contextmanager
def only_one(data: Path, name: str, words: Words) -> Iterator[None]:
    """Hold the lock of a role in this data folder. Raises SettingsError when it is taken."""
    lock = FileLock(data / f"{name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise SettingsError(
            words(
                "Another `partners {name}` uses the data folder {folder}. Stop it first, or "
                "choose another folder with PARTNERS_DATA.",
                name=name,
                folder=data,
            )
        ) from None
    try:
        yield
    finally:
        lock.release()


async def serve(ground: Ground) -> None:
    """Run every configured channel until SIGTERM or SIGINT.

    A channel that cannot be reached is tried again until it can: a network that comes up later
    needs nobody. Raises SettingsError when no channel is configured or none can ever start.
    """
    settings = ground.settings
    words = settings.words
    accounts = configured(ground.tuning, words)
    if not accounts:
        raise SettingsError(
            words(
                "No channel is set up. Put TELEGRAM_BOT_TOKEN, DISCORD_BOT_TOKEN or "
                "FEISHU_APP_ID into .env (the README shows how), or talk here with "
                "`partners chat`."
            )
        )
    from core.scheduling.scheduler import Scheduler

    stopped = _stop_signal()
    model = choose_model(settings)
    personas = load_personas(settings)
    house = build_house(ground, model, personas)
    health = await _health(settings, house)
    await house.start()
    scheduler = Scheduler(house.sweep)
    scheduler.start()
    opened = [(door.open(words, ground.tuning), _teaching(ground, door)) for door in accounts]
    for _, partner in opened:
        _check_persona(personas, partner, words)
    doors = asyncio.gather(*(_open(house, channel, partner) for channel, partner in opened))
    stopping = asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait((doors, stopping), return_when=asyncio.FIRST_COMPLETED)
        if not stopping.done() and not any(doors.result()):
            raise SettingsError(words("No channel could start. The lines above say why."))
        await stopping
        log.info("stopping")
    finally:
        doors.cancel()
        await asyncio.gather(doors, return_exceptions=True)
        stopping.cancel()
        scheduler.stop()
        await house.close(SHUTDOWN_SECONDS)
        if health is not None:
            await health.stop()


def choose_model(settings: Settings) -> ChatModel:
    """The model the settings name, with the one that stands in for it. Raises SettingsError."""
    key = settings.openai_api_key
    fallback_key, fallback_address = settings.fallback_access
    try:
        return with_fallback(
            choose(
                model=settings.model,
                api_key=key.get_secret_value() if key else None,
                base_url=settings.openai_base_url,
                local_model=settings.local_model,
            ),
            model=settings.fallback_model,
            api_key=fallback_key,
            base_url=fallback_address,
        )
    except ModelSettingsError as error:
        raise SettingsError(settings.words(error.sentence, **error.values)) from error


def choose_transcriber(settings: Settings) -> Transcriber | None:
    """The model that understands speech, where one is named. Raises SettingsError."""
    key, address = settings.transcription_access
    try:
        return choose_ears(model=settings.transcription_model, api_key=key, base_url=address)
    except ModelSettingsError as error:
        raise SettingsError(settings.words(error.sentence, **error.values)) from error


def _teaching(ground: Ground, door: Door) -> Partner:
    return ground.partner(door.table) if door.table else Partner(ground.policy)


def _check_persona(personas: PersonaLibrary, partner: Partner, words: Words) -> None:
    """Warn of a persona that is not there; the default one answers then."""
    if partner.persona is None:
        return
    try:
        personas.get(partner.persona)
    except PersonaUnknown:
        log.warning(
            "%s",
            words(
                "Partner “{name}”: there is no persona {persona}. These are there: {known}",
                name=partner.name,
                persona=partner.persona,
                known=", ".join(one.id for one in personas.all()),
            ),
        )


async def _open(house: House, channel: Channel, partner: Partner) -> bool:
    """Open a channel, however long its platform cannot be reached; False when it never can."""
    said, pause = "", FIRST_RETRY
    name = partner.label(channel.name)
    while True:
        try:
            await house.open(channel, partner)
        except ChannelUnreachable as error:
            level = logging.DEBUG if str(error) == said else logging.WARNING
            log.log(level, "%s: %s Trying again until it answers.", name, error)
            said = str(error)
        except ChannelStartError as error:
            log.error("%s: %s", name, error)
            return False
        except Exception:  # the one guard of a start: the other doors open all the same
            log.exception("%s failed to start in an unforeseen way", name)
            return False
        else:
            log.info("%s ready", name)
            return True
        await asyncio.sleep(pause)
        pause = min(LONGEST_RETRY, pause * 2)


async def _health(settings: Settings, house: House) -> HealthServer | None:
    if settings.health_port is None:
        return None
    from bots.health import HealthServer

    server = HealthServer(settings.health_port, house.health, words=settings.words)
    await server.start()
    return server


def _stop_signal() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set, also where loops take no signal handlers."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(stopped.set))
    return stopped
