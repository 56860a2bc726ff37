"""The inbox: an event is committed here before it counts as received, once, or turned away.

Access is judged before anything is fetched, shown or asked of a model. Of a stranger's message
only the fact that it came is kept.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from pydantic import ValidationError
from sqlalchemy import bindparam
from sqlmodel import Session, col, insert, select, update

from core.access import Verdict
from core.clock import Clock, standing
from core.context import (
    ChatKind,
    Command,
    InboundMessage,
    LearnerId,
    Press,
    ReplyTarget,
    Role,
    Text,
)
from core.i18n import Language, language_from, words_for
from core.ids import new_id
from core.outbox import addressee_of
from core.partners import Partner, Partners
from core.store.session import Store, insert_new
from core.store.tables import (
    Account,
    Conversation,
    Inbound,
    InboundState,
    Learner,
    Line,
)
from core.turns.conversation import Whose, conversation_key, whose
from core.turns.finish import as_said
from core.turns.joining import question_of
from core.turns.lanes import Job
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


class EditedJob(NamedTuple):
    """A new version of a message that may still be waiting."""

    inbound_id: int
    conversation_id: str
    message: InboundMessage


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
                    row.preview,
                    row.rounds,
                )
                for row, learner, conversation, account in rows
                if (message := _read(row)) is not None
                and (verdict := self._verdict(message, account.access)) in ADMITTED
            ]

        return await self._store.read(load)

    def _record(self, session: Session, batch: Sequence[InboundMessage], now: datetime) -> Taken:
        taken = Taken()
        people = _known(session, {message.sender.account for message in batch})
        active: dict[str, Learner] = {}
        for message in batch:
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
                taken.edits += _edit(session, message)
                continue
            conversation_id, shared = _conversation(session, message, learner.id, now)
            row_id = _insert(session, message, learner.id, conversation_id, now)
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
        row_id = _insert(session, message, None, None, now)
        if row_id is None or verdict is Verdict.DENIED or message.edited:
            return False
        words = words_for(language_from(message.sender.language, self._defaults.language))
        return turn_away(session, message, account, partner.policy, words, row_id, now)


_KNOWN = (
    select(Account, Learner)
    .join(Learner, col(Learner.id) == col(Account.learner_id), isouter=True)
    .where(col(Account.id).in_(bindparam("accounts", expanding=True)))
)
_CONVERSATION = select(col(Conversation.id)).where(Conversation.key == bindparam("key"))


def _known(session: Session, accounts: Iterable[str]) -> dict[str, tuple[Account, Learner | None]]:
    rows = session.exec(_KNOWN, params={"accounts": list(accounts)}).all()
    return {account.id: (account, learner) for account, learner in rows}


def _in_known_language(message: InboundMessage, language: str | None) -> InboundMessage:
    """Give a message the language its sender's platform told with an earlier one."""
    if message.sender.language or not language:
        return message
    return _speaking(message, language)


def _speaking(message: InboundMessage, language: str) -> InboundMessage:
    """Let a message's sender be one who is spoken with in ``language`` unless they chose."""
    sender = message.sender.model_copy(update={"language": language})
    return message.model_copy(update={"sender": sender})


def _insert(
    session: Session,
    message: InboundMessage,
    learner_id: str | None,
    conversation_id: str | None,
    now: datetime,
) -> int | None:
    """Insert an event; None when it is there already. Without a learner it is wordless."""
    row = {
        "channel": message.target.channel,
        "account": message.target.account,
        "message_id": message.message_id,
        "sender": message.sender.account,
        "conversation_id": conversation_id,
        "learner_id": learner_id,
        "message": _stored(message) if learner_id else None,
        "state": InboundState.QUEUED if learner_id else InboundState.REFUSED,
        "received_at": now,
    }
    written = insert_new(session, Inbound, row, "channel", "account", "message_id")
    return written[0] if written else None


def _stored(message: InboundMessage) -> str:
    # Defaults are written out: the kind of a content is one, and it cannot be read back without.
    return message.model_dump_json(exclude_none=True)


def _read(row: Inbound) -> InboundMessage | None:
    try:
        return InboundMessage.model_validate_json(row.message or "")
    except ValidationError as error:  # its text would show what was written
        log.error("stored event %s cannot be read: %s", row.id, error.title)
        return None


def _conversation(
    session: Session, message: InboundMessage, learner_id: str, now: datetime
) -> tuple[str, bool]:
    """Id of the message's conversation, made when new, and whether several people share it."""
    sharing = whose(message)
    if sharing is Whose.ASKER:
        joined = _joined(session, message, learner_id)
        if joined:
            return joined, True
    shared = sharing is not Whose.LEARNER
    key = conversation_key(message)
    found = session.exec(_CONVERSATION, params={"key": key}).first()
    if found:
        return found, shared
    made = new_id()
    session.exec(
        insert(Conversation).values(id=made, key=key, shared=shared, history_from=0, created_at=now)
    )
    return made, shared


def _joined(session: Session, message: InboundMessage, learner_id: str) -> str | None:
    """The conversation of the tutor's message that this one replies to, or whose button it is.

    A button said to somebody else is pressed for oneself, so it joins nothing.
    """
    quote, content = message.quote, message.content
    if isinstance(content, Press):
        said = addressee_of(session, message.target, content.origin)
        return said.conversation_id if said and said.learner_id == learner_id else None
    if quote is None or not quote.from_tutor or quote.message_id is None:
        return None
    said = addressee_of(session, message.target, quote.message_id)
    return said.conversation_id if said else None


def _edit(session: Session, message: InboundMessage) -> list[EditedJob]:
    """Put an edit where it belongs: the queued message, or the history. It never runs anything."""
    row = session.exec(
        select(Inbound).where(
            Inbound.channel == message.target.channel,
            Inbound.account == message.target.account,
            Inbound.message_id == message.message_id,
        )
    ).first()
    if row is None or row.message is None or row.sender != message.sender.account:
        return []
    before = InboundMessage.model_validate_json(row.message)
    if not isinstance(before.content, Text) or not isinstance(message.content, Text):
        return []  # a command or a button is not rewritten by an edit
    row.message = _stored(message)
    if row.state == InboundState.QUEUED:
        return [EditedJob(row.id or 0, row.conversation_id or "", message)]
    session.flush()
    question = question_of(session, row.id or 0)
    if question is not None:
        session.exec(
            update(Line)
            .where(
                col(Line.conversation_id) == row.conversation_id,
                col(Line.message_id) == question.message_id,
                col(Line.role) == Role.LEARNER,
            )
            .values(text=as_said(question, message.content.text))
        )
    return []


def runs_at_once(job: Job, immediate: Callable[[str], bool]) -> bool:
    """True for a command that never waits for a turn (``/stop``, ``/status``)."""
    return isinstance(job.message.content, Command) and immediate(job.message.content.name)
