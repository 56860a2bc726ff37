"""The inbox: an event is committed here before it counts as received, once, or turned away.

Access is judged before anything is fetched, shown or asked of a model. Of a stranger's message
only the fact that it came is kept.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlmodel import Session, col, select

from core.access import Verdict
from core.clock import Clock, standing
from core.context import (
    ChatKind,
    Command,
    InboundMessage,
    Joined,
    LearnerId,
    Moved,
    ReplyTarget,
)
from core.i18n import Language, language_from, words_for
from core.ids import new_id
from core.partners import Partner, Partners
from core.store.session import Store
from core.store.tables import (
    Account,
    Conversation,
    Inbound,
    InboundState,
    Learner,
)
from core.turns.inbox import (
    EditedJob,
    conversation_of,
    insert_event,
    known,
    put_edit,
    read_event,
)
from core.turns.lanes import Job
from core.turns.moved import moved
from core.turns.strangers import turn_away

log = logging.getLogger(__name__)

ADMITTED = frozenset({Verdict.OWNER, Verdict.ADMITTED})


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a new learner starts with."""

    zone: str
    language: Language


_Album = tuple[str, str, str, str, str | None]
_ALBUMS = 500
"""Albums that are remembered as meant for the tutor."""


def _album(message: InboundMessage) -> _Album:
    """Name an album: in a group one of its messages has the words that call the tutor."""
    target = message.target
    sender = message.sender.account
    return target.channel, target.account, target.chat, sender, message.album


@dataclass(slots=True)
class Taken:
    """What a batch came to, once it is committed."""

    jobs: list[Job] = field(default_factory=list)
    edits: list[EditedJob] = field(default_factory=list)
    answered: bool = False
    """A stranger was answered: the outbox has something new."""


class Intake:
    """Records batches of inbound messages."""

    def __init__(
        self,
        store: Store,
        partners: Partners,
        defaults: Defaults,
        clock: Clock,
        proactive: Callable[[ReplyTarget], bool],
    ) -> None:
        """``proactive`` tells of an address whether one can write there first (reminders)."""
        self._store = store
        self._partners = partners
        self._defaults = defaults
        self._clock = clock
        self._proactive = proactive
        self._albums: deque[_Album] = deque(maxlen=_ALBUMS)

    async def take(self, batch: Sequence[InboundMessage]) -> Taken:
        """Commit a batch. Duplicates and unaddressed messages leave no trace.

        Raises whatever the database raises, with nothing of the batch committed.
        """
        self._albums.extend(_album(one) for one in batch if one.addressed and one.album)
        addressed = [one for one in batch if one.addressed or _album(one) in self._albums]
        if len(addressed) < len(batch):
            log.debug("not addressed: %d of %d messages", len(batch) - len(addressed), len(batch))
        if not addressed:
            return Taken()
        now = self._clock.now()
        return await self._store.write(
            lambda session: self._record(session, addressed, now), durable=True
        )

    async def unfinished(self, channel: str, account: str) -> list[Job]:
        """The jobs of a channel that an earlier process left unanswered, oldest first.

        Those of people who may not learn here any more stay where they are, and so does what a
        later version stored and this one cannot read: it holds up nothing else.
        """

        def load(session: Session) -> list[Job]:
            rows = session.exec(
                select(Inbound, Learner, Conversation, Account)
                .join(Account, col(Account.id) == col(Inbound.sender))
                # Not the row's own: the account may have been joined with another since.
                .join(Learner, col(Learner.id) == col(Account.learner_id))
                .join(Conversation, col(Conversation.id) == col(Inbound.conversation_id))
                .where(
                    Inbound.state == InboundState.QUEUED,
                    Inbound.channel == channel,
                    Inbound.account == account,
                )
                .order_by(col(Inbound.id))
            ).all()
            return [
                self._job(
                    row.id or 0,
                    message,
                    learner,
                    conversation.id,
                    conversation.shared,
                    verdict,
                    again=True,
                    preview=row.preview,
                    rounds=row.rounds,
                )
                for row, learner, conversation, account in rows
                if (message := read_event(row)) is not None
                and (verdict := self._verdict(message, account.access)) in ADMITTED
            ]

        return await self._store.read(load)

    def _record(self, session: Session, batch: Sequence[InboundMessage], now: datetime) -> Taken:
        taken = Taken()
        senders = {one.sender.account for one in batch if not isinstance(one.content, Moved)}
        people = known(session, senders)
        active: dict[str, Learner] = {}
        for message in batch:
            if isinstance(message.content, Moved):
                to = message.target
                moved(session, to.channel, to.account, message.content.before, to.chat)
                continue
            account, learner = people.get(message.sender.account, (None, None))
            verdict = self._verdict(message, account.access if account else None)
            if account is None:
                account = Account(
                    id=message.sender.account,
                    name=message.sender.name,
                    language=message.sender.language,
                    created_at=now,
                )
                session.add(account)
                session.flush()
            else:
                message = _in_known_language(message, account.language)
                told = (message.sender.name, message.sender.language)
                if (account.name, account.language) != told:
                    account.name, account.language = told
            partner = self._partners.of(message.target)
            if partner.language:
                message = _speaking(message, partner.language)
            if verdict not in ADMITTED:
                people[account.id] = (account, None)
                taken.answered |= self._refuse(session, message, account, partner, verdict, now)
                continue
            if learner is None:
                learner = self._welcome(session, account, now)
            people[account.id] = (account, learner)
            if message.edited:
                taken.edits += put_edit(session, message)
                continue
            conversation_id, shared = conversation_of(session, message, learner.id, now)
            row_id = insert_event(session, message, learner.id, conversation_id, now)
            if row_id is None:
                log.info("duplicate event %s", message.message_id)
                continue
            active[learner.id] = learner
            if message.chat_kind is ChatKind.PRIVATE and self._proactive(message.target):
                home = message.target.model_copy(update={"reply_to": None})
                learner.home = home.model_dump_json(exclude_defaults=True)
                learner.home_language = message.sender.language
            taken.jobs.append(self._job(row_id, message, learner, conversation_id, shared, verdict))
        for learner in active.values():
            learner.seen_at = now
        return taken

    def _verdict(self, message: InboundMessage, state: str | None) -> Verdict:
        return self._partners.of(message.target).policy.judge(message.sender.account, state)

    def _job(
        self,
        inbound_id: int,
        message: InboundMessage,
        learner: Learner,
        conversation_id: str,
        shared: bool,
        verdict: Verdict,
        *,
        again: bool = False,
        preview: str | None = None,
        rounds: str | None = None,
    ) -> Job:
        locale = message.sender.language
        return Job(
            inbound_id=inbound_id,
            message=message,
            learner_id=LearnerId(learner.id),
            language=learner.language or language_from(locale, self._defaults.language),
            zone=standing(learner.zone),
            owner=verdict is Verdict.OWNER,
            conversation_id=conversation_id,
            shared=shared,
            again=again,
            preview=preview,
            rounds=rounds,
        )

    def _welcome(self, session: Session, account: Account, now: datetime) -> Learner:
        learner = Learner(id=new_id(), zone=self._defaults.zone, seen_at=now, created_at=now)
        session.add(learner)
        session.flush()
        account.learner_id = learner.id
        return learner

    def _refuse(
        self,
        session: Session,
        message: InboundMessage,
        account: Account,
        partner: Partner,
        verdict: Verdict,
        now: datetime,
    ) -> bool:
        """Record that somebody came who may not learn here; True when they were answered."""
        row_id = insert_event(session, message, None, None, now)
        if row_id is None or verdict is Verdict.DENIED or message.edited:
            return False
        if isinstance(message.content, Joined):
            return False  # who may not learn here asked for nothing: the group hears nothing
        words = words_for(language_from(message.sender.language, self._defaults.language))
        return turn_away(session, message, account, partner.policy, words, row_id, now)


def _in_known_language(message: InboundMessage, language: str | None) -> InboundMessage:
    """Give a message the language its sender's platform told with an earlier one."""
    if message.sender.language or not language:
        return message
    return _speaking(message, language)


def _speaking(message: InboundMessage, language: str) -> InboundMessage:
    """Let a message's sender be one who is spoken with in ``language`` unless they chose."""
    sender = message.sender.model_copy(update={"language": language})
    return message.model_copy(update={"sender": sender})


def runs_at_once(job: Job, immediate: Callable[[str], bool]) -> bool:
    """True for a command that never waits for a turn (``/stop``, ``/status``)."""
    return isinstance(job.message.content, Command) and immediate(job.message.content.name)
