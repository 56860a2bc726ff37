"""The house: everything that answers, put together. Doors are opened into it and closed again.

``receive`` is what a channel calls with a batch of messages: when it returns, they are committed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from core.access import AccessPolicy
from core.capabilities.chat import CHAT
from core.capabilities.quiz import QUIZ
from core.channel import Channel, ChannelStartError, Known, LooksBack
from core.clock import Clock
from core.commands import ask, cards, collection, memory, people, remind, talk
from core.commands import link as linking_commands
from core.commands.book import CommandBook
from core.commands.export import export
from core.commands.quiz import Quizzes
from core.commands.settings import settings
from core.context import InboundMessage, LearnerId, ReplyTarget
from core.forms import OpensForms
from core.limits import Limits
from core.linking.linking import Linking
from core.llm.port import ChatModel
from core.logs import log_context
from core.loop.gates import Budget
from core.memory_tuning import MemoryTuning
from core.partners import Partner, Partners
from core.reading.reader import Reader
from core.scheduling.consolidation import Consolidator
from core.scheduling.nudges import Swept, sweep
from core.spending import Spending
from core.store.session import Store
from core.tools.own import own_tools
from core.tools.registry import Tool, ToolRegistry
from core.turns.chat import ChatTurn
from core.turns.choices import pick
from core.turns.consent import consent, expire
from core.turns.delivery import Delivery
from core.turns.forms import Forms
from core.turns.intake import Defaults, Intake, runs_at_once
from core.turns.journal import Journal
from core.turns.lanes import Job, Lanes
from core.turns.owners import admit
from core.turns.places import known
from core.turns.regenerate import again, regenerate
from core.turns.runner import Runner, show_again
from core.turns.stopping import stop
from personas.persona import PersonaLibrary

if TYPE_CHECKING:
    from core.llm.transcribe import Transcriber

log = logging.getLogger(__name__)

SETTLE_EVERY = 5.0
"""Seconds between marks that journal entries are written."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the house is made of; the composition root provides it."""

    store: Store
    clock: Clock
    policy: AccessPolicy
    defaults: Defaults
    personas: PersonaLibrary
    model: ChatModel
    budgets: Mapping[str, Budget]
    """By the name of the capability; one that is left out has its built-in budget."""
    memory: Path
    join_within: timedelta
    """Messages that wait for their turn are one question when no more lies between them."""
    transcriber: Transcriber | None = None
    """Understands speech; None where nothing does."""
    limits: Limits = field(default_factory=Limits)
    """What may be spent on models in a day."""
    tools: tuple[Tool, ...] = ()
    """Tools beside the house's own."""
    offers_anew: bool = False
    """Answers in private chats carry a button that has them answered anew."""
    consolidation: MemoryTuning = field(default_factory=MemoryTuning)
    """When memory is consolidated, and with how much."""


class House:
    """One running tutor with any number of doors."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._channels: dict[tuple[str, str], Channel] = {}
        self._shut: dict[str, str] = {}
        self.partners = Partners(Partner(parts.policy))
        self._background: set[asyncio.Task[None]] = set()
        self._immediate: set[asyncio.Task[None]] = set()
        self.delivery = Delivery(parts.store, parts.clock)
        self._journal = Journal(parts.store, parts.memory)
        self._intake = Intake(
            parts.store, self.partners, parts.defaults, parts.clock, self._proactive
        )
        self.forms = Forms(parts.store, self.partners, parts.defaults, lambda: self.book)
        tools = ToolRegistry((*own_tools(parts.store, parts.memory, parts.clock), *parts.tools))
        self._reader = Reader(parts.transcriber)
        self._spending = Spending(
            parts.limits, parts.defaults.zone, parts.defaults.language, parts.policy.owners
        )
        self._quizzes = Quizzes(
            parts.store, parts.model, parts.budgets.get(QUIZ.name, QUIZ.budget), self._spending
        )
        self._runner = Runner(
            store=parts.store,
            clock=parts.clock,
            delivery=self.delivery,
            journal=self._journal,
            chat=ChatTurn(
                store=parts.store,
                personas=parts.personas,
                partners=self.partners,
                model=parts.model,
                tools=tools,
                budgets=parts.budgets,
                reader=self._reader,
                spending=self._spending,
                memory=parts.memory,
                corrections=lambda job, known: self._lanes.corrections(job, known),
            ),
            quizzes=self._quizzes,
            book=lambda: self.book,
            channel=self._channel,
            offers_anew=parts.offers_anew,
        )
        self._lanes = Lanes(self._runner.work, within=parts.join_within)
        self._linking = Linking(
            parts.store,
            parts.memory,
            lambda accounts, learner_id: self._lanes.follow(accounts, LearnerId(learner_id)),
        )
        self.consolidator = Consolidator(
            parts.store,
            parts.clock,
            parts.memory,
            parts.model,
            parts.budgets.get(CHAT.name, Budget()),
            self._spending,
            parts.consolidation,
        )
        self.book = self._commands()

    async def start(self) -> None:
        """Settle what an earlier process left, then begin to look after the outbox."""
        await self._journal.recover()
        await self._linking.settle(self._parts.clock.now())
        self._keep(self.delivery.run())
        self._keep(self._settle())

    async def open(self, channel: Channel, partner: Partner | None = None) -> None:
        """Start a channel and take up what it left unfinished; ``partner`` is who teaches there.

        Raises ChannelStartError; the channel may be opened again then.
        """
        partner = partner or self.partners.own
        door = partner.label(channel.name)
        # Only a name is worth a field of every line; tasks of the channel inherit it.
        with log_context(door=door if partner.name else None):
            await self._open(channel, partner, door)

    async def _open(self, channel: Channel, partner: Partner, door: str) -> None:
        adopted = asyncio.Event()

        async def receive(batch: Sequence[InboundMessage]) -> None:
            await adopted.wait()  # what an earlier process left comes before anything new
            await self._receive(batch)

        if isinstance(channel, LooksBack):
            channel.look_back(partial(self._known, channel))
        if isinstance(channel, OpensForms):
            channel.open_forms(self.forms.find)
        try:
            await channel.start(receive, self.book.menus(partner.language))
        except ChannelStartError as error:
            self._shut[door] = str(error)
            raise
        self._shut.pop(door, None)
        if partner is not self.partners.own:
            self.partners.put(channel.name, channel.account, partner)
        self._channels[channel.name, channel.account] = channel
        await self.delivery.serve(channel, door if partner.name else None)
        jobs = await self._intake.unfinished(channel.name, channel.account)
        if jobs:
            log.info("%s: answering what came before the start: %d", channel.name, len(jobs))
        for job in jobs:
            self._enter(job)
        adopted.set()

    async def close(self, seconds: float = 4.0) -> None:
        """Finish what is under way within some seconds, then close every door.

        Messages that still arrive are committed and answered at the next start.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        await self._lanes.drain(seconds - 1.5)
        await self.delivery.drain(max(0.5, end - loop.time() - 0.5))
        await self.consolidator.close()
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self._settle_journal()
        try:
            async with asyncio.timeout(max(0.5, end - loop.time())):
                await asyncio.gather(*(channel.stop() for channel in self._channels.values()))
        except TimeoutError:
            log.warning("not every channel closed in time; it was cut off")
        await self._reader.close()
        await self._parts.model.close()

    async def idle(self) -> None:
        """Wait until nothing is under way: no turn, no immediate command, no send."""
        while self._immediate or self._lanes.busy:
            await asyncio.gather(*self._immediate)
            await self._lanes.idle()
        await self.delivery.settle()

    async def sweep(self) -> Swept:
        """Plan and send the nudges that are due now; write what the journal is behind with.

        Consolidation of memory is begun and not waited for.
        """
        await self._journal.catch_up()
        now = self._parts.clock.now()
        await self._linking.settle(now)
        expired = await self._parts.store.write(
            lambda session: expire(session, now, self._can_edit)
        )
        swept = await sweep(self._parts.store, now, now, self._parts.defaults.language)
        if swept.sent or expired:
            self.delivery.look()
        self.consolidator.look()
        return swept

    def health(self) -> Mapping[str, str | None]:
        """Each account by its label, with None while it works, else with what is wrong."""
        opened = {
            self.partners.label(*address): channel.health()
            for address, channel in self._channels.items()
        }
        return {**self._shut, **opened}

    async def _receive(self, batch: Sequence[InboundMessage]) -> None:
        taken = await self._intake.take(batch)
        for job in taken.jobs:
            self._enter(job)
        for edit in taken.edits:
            self._lanes.edit(edit.inbound_id, edit.conversation_id, edit.message)
        if taken.answered:
            self.delivery.look()

    def _enter(self, job: Job) -> None:
        job.busy = self.book.idle(job.message.content) and self._lanes.engaged(job.conversation_id)
        if not (job.busy or runs_at_once(job, self.book.immediate)):
            self._lanes.put(job)
            return
        task = asyncio.create_task(self._runner.work(job))
        self._immediate.add(task)
        task.add_done_callback(self._immediate.discard)

    def _keep(self, work: Coroutine[None, None, None]) -> None:
        self._background.add(asyncio.create_task(work))

    async def _settle(self) -> None:
        while True:
            await asyncio.sleep(SETTLE_EVERY)
            await self._settle_journal()

    async def _settle_journal(self) -> None:
        """Its one guard: what stays unmarked is marked at the next start, and not written twice."""
        try:
            await self._journal.settle()
        except Exception:
            log.exception("the journal could not be marked as written; the next start does it")

    async def _known(self, channel: Channel) -> Known | None:
        """How far a channel's events are known; asked when it has found out its account."""
        look = partial(known, channel=channel.name, account=channel.account)
        return await self._parts.store.read(look)

    def _channel(self, name: str, account: str) -> Channel:
        return self._channels[name, account]

    def _can_edit(self, target: ReplyTarget) -> bool:
        """False also for a channel that is not open."""
        channel = self._channels.get((target.channel, target.account))
        return channel is not None and channel.capabilities.can_edit

    def _proactive(self, target: ReplyTarget) -> bool:
        return self._channel(target.channel, target.account).capabilities.proactive

    def _busy(self, conversation_id: str) -> bool:
        return self._lanes.running(conversation_id) is not None

    def _commands(self) -> CommandBook:
        """Every command, in the order of the menu."""
        parts = self._parts
        help_command, *help_buttons = talk.help_(lambda: self.book.commands)
        persona_command, persona_button = people.persona(parts.personas, self.partners)
        language_command, language_button = people.language()
        timezone_command, timezone_button = people.timezone()
        link_command, link_button = linking_commands.link(
            self._linking, parts.store, parts.defaults.language
        )
        anew_command, anew_button = regenerate(parts.store, parts.personas, self._can_edit)
        asking = ask.commands(parts.store, parts.personas, self.partners)
        return CommandBook(
            (
                talk.start(parts.personas, self.partners, parts.model.small),
                help_command,
                talk.new(),
                stop(self._lanes, self._channel),
                anew_command,
                *asking,
                persona_command,
                *cards.commands(),
                collection.command(),
                self._quizzes.command(),
                memory.memory(parts.memory, lambda who: self.consolidator.refresh(who)),
                memory.remember_(parts.memory),
                export(parts.store, parts.memory),
                *remind.commands(),
                language_command,
                timezone_command,
                settings(parts.personas, self.partners, parts.model, parts.budgets),
                link_command,
                talk.status(parts.model.name, self.health, self._busy, self._spending),
            ),
            (
                *help_buttons,
                persona_button,
                language_button,
                timezone_button,
                link_button,
                people.reminder(),
                remind.later(),
                *cards.actions(),
                *collection.actions(),
                self._quizzes.action(),
                anew_button,
                again(parts.store, self._can_edit),
                consent(parts.store, self._can_edit),
                pick(parts.store, self._can_edit),
                show_again(),
                admit(parts.defaults.language),
            ),
        )
