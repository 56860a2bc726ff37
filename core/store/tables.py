"""The tables, named for the domain.

Values that the database never looks into (messages, documents, addresses) are stored as the JSON
of their pydantic type. Instants are UTC; days are the learner's study days.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import DateTime, Dialect, Index, String, TypeDecorator, UniqueConstraint
from sqlmodel import Field, SQLModel


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC instant, also on SQLite, which knows no zones.

    Raises ValueError for a naive value: a wall-clock time is never stored as an instant.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert to UTC, without the zone where the database has none."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a naive time is not an instant")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the instant its zone back."""
        return None if value is None else value.replace(tzinfo=value.tzinfo or UTC)


def _instant(**options: Any) -> Any:
    return Field(sa_type=UtcDateTime, **options)


class AccessState(StrEnum):
    """What the one who runs the tutor decided about an account."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    OWNER = "owner"


class Learner(SQLModel, table=True):
    """One person, on however many accounts."""

    id: str = Field(primary_key=True)
    language: str | None = None
    """Chosen with /language; None follows the platform."""
    zone: str
    """IANA name."""
    reminders: bool = True
    """False once the learner has switched them off."""
    reminders_from: datetime | None = _instant(default=None)
    """When the first saved card told of them, which is the consent; None before."""
    reminder_time: str = "09:00"
    """Wall-clock time of the digest, ``HH:MM`` in the learner's zone."""
    reminder_days: str = Field(default="1234567", sa_column_kwargs={"server_default": "1234567"})
    """Days of the week on which it comes, Monday is 1."""
    reminder_cards: int | None = None
    """Questions of a digest at most; None is the usual number."""
    snoozed_until: datetime | None = _instant(default=None)
    """No digest comes before this moment."""
    home: str | None = None
    """JSON ``ReplyTarget`` of the learner's own chat: where reminders go."""
    home_language: str | None = None
    """Locale of the account behind ``home``, for reminders when ``language`` is not chosen."""
    merged_into: str | None = Field(default=None, foreign_key="learner.id")
    """The learner that this one was joined with: all accounts are that one's now."""
    seen_at: datetime = _instant()
    """When the learner last wrote or pressed."""
    created_at: datetime = _instant()


class Account(SQLModel, table=True):
    """An account on a channel, known since it first wrote."""

    id: str = Field(primary_key=True)
    learner_id: str | None = Field(default=None, foreign_key="learner.id", index=True)
    name: str
    language: str | None = None
    access: AccessState = Field(default=AccessState.PENDING, sa_type=String)
    turned_away_at: datetime | None = _instant(default=None)
    """When a refusal was last answered in a group."""
    created_at: datetime = _instant()


class AccessRequest(SQLModel, table=True):
    """A stranger's pairing code and where to write once it is approved."""

    account_id: str = Field(primary_key=True, foreign_key="account.id")
    code: str = Field(unique=True)
    target: str
    language: str | None = None
    """They are spoken with in this one."""
    created_at: datetime = _instant()
    expires_at: datetime = _instant()


class Conversation(SQLModel, table=True):
    """A lane: the messages that are answered one after the other and share a history."""

    id: str = Field(primary_key=True)
    key: str = Field(unique=True)
    shared: bool = False
    history_from: int = 0
    """Lines with a smaller or equal id are before the last /new."""
    created_at: datetime = _instant()


class InboundState(StrEnum):
    """How far an inbound event has come."""

    QUEUED = "queued"
    DONE = "done"
    REFUSED = "refused"


class Inbound(SQLModel, table=True):
    """The inbox: one row an event, committed before the event counts as received."""

    __table_args__ = (
        UniqueConstraint("channel", "account", "message_id"),
        Index("ix_inbound_waiting", "state", "channel", "account"),
    )

    id: int | None = Field(default=None, primary_key=True)
    channel: str
    account: str
    message_id: str
    sender: str
    conversation_id: str | None = Field(default=None, foreign_key="conversation.id")
    learner_id: str | None = Field(default=None, foreign_key="learner.id")
    message: str | None = None
    """JSON ``InboundMessage``; None for a refused stranger, whose words are not kept."""
    state: InboundState = Field(default=InboundState.QUEUED, sa_type=String)
    part_of: int | None = Field(default=None, index=True)
    """The first message of the question that this one was answered as a part of; None for that
    one itself."""
    preview: str | None = None
    """Handle of the preview that stands where the answer will be (``Channel.preview``)."""
    rounds: str | None = None
    """JSON of ``core.turns.rounds.Kept``: how far its turn has come, until it has ended."""
    received_at: datetime = _instant()


class Turn(SQLModel, table=True):
    """One answered event: why it ended and what it cost."""

    __table_args__ = (Index("ix_turn_spent", "ended_at", "learner_id"),)

    id: str = Field(primary_key=True)
    inbound_id: int = Field(foreign_key="inbound.id", index=True)
    conversation_id: str = Field(foreign_key="conversation.id")
    learner_id: str = Field(foreign_key="learner.id")
    reason: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model: str | None = None
    """The model that answered; None where none was asked."""
    cost: float | None = None
    """Money, in the currency of the prices; None where no price is known."""
    persona: str | None = None
    """Id of the persona that answered; None where none was asked."""
    capability: str | None = None
    """Name of the capability that answered; None where the model was not asked."""
    events: str | None = Field(default=None)
    """JSON of memory events not yet known to be in the learner's journal; None once they are."""
    started_at: datetime = _instant()
    ended_at: datetime = _instant()


class Line(SQLModel, table=True):
    """One line of a conversation's history."""

    __table_args__ = (Index("ix_line_history", "conversation_id", "id"),)

    id: int | None = Field(default=None, primary_key=True)
    conversation_id: str = Field(foreign_key="conversation.id")
    turn_id: str
    role: str
    speaker: str | None = None
    learner_id: str = Field(foreign_key="learner.id")
    message_id: str | None = None
    """Of the learner's message, on both lines: a late edit finds the question by it, a second
    try finds the answer."""
    text: str
    superseded_by: str | None = None
    """Id of the turn whose answer took the place of this one; None while it stands."""


class OutgoingState(StrEnum):
    """How far an outgoing document has come."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    UNKNOWN = "unknown"
    FAILED = "failed"


class Outgoing(SQLModel, table=True):
    """The outbox: one row a document, written with the change that caused it."""

    __table_args__ = (Index("ix_outgoing_waiting", "state", "channel", "account"),)

    id: str = Field(primary_key=True)
    key: str = Field(unique=True)
    """Names the cause (``inbound:17``), so that one cause has one answer."""
    channel: str
    account: str
    chat: str
    target: str
    document: str
    conversation_id: str | None = None
    learner_id: str | None = None
    language: str = "en"
    edits: str | None = None
    """Platform id of the message to replace; None sends a new one."""
    more_edits: str | None = None
    """JSON list of the ids of the messages that further parts replace."""
    preview: str | None = None
    """Handle of the preview whose place the first part takes; None where there is none."""
    state: OutgoingState = Field(default=OutgoingState.PENDING, sa_type=String)
    part: int = 0
    """Parts before this one have their receipt."""
    tried_at: datetime | None = _instant(default=None)
    """When this part was first sent without a known outcome; None while it surely was not."""
    attempts: int = 0
    not_before: datetime = _instant()
    created_at: datetime = _instant()


class Delivered(SQLModel, table=True):
    """A receipt: the platform's id of one delivered part."""

    __table_args__ = (Index("ix_delivered_message", "channel", "account", "chat", "message_id"),)

    outgoing_id: str = Field(primary_key=True, foreign_key="outgoing.id")
    part: int = Field(primary_key=True)
    channel: str
    account: str
    chat: str
    message_id: str
    at: datetime = _instant()


class PersonaChoice(SQLModel, table=True):
    """Which tutor a learner wants in a conversation."""

    learner_id: str = Field(primary_key=True, foreign_key="learner.id")
    conversation_id: str = Field(primary_key=True, foreign_key="conversation.id")
    persona_id: str


class Card(SQLModel, table=True):
    """A question that comes back, with its place on the forgetting curve."""

    __table_args__ = (
        UniqueConstraint("learner_id", "normal"),
        Index("ix_card_due", "learner_id", "due_day"),
    )

    id: str = Field(primary_key=True)
    learner_id: str = Field(foreign_key="learner.id")
    front: str
    back: str
    normal: str
    """``core.learning.cards.duplicate_key``; a second card with it is refused."""
    created_day: date
    due_day: date
    """Study day from which it is asked again; for a new card, the day after it was made."""
    last_day: date | None = None
    stability: float | None = None
    difficulty: float | None = None
    state: str | None = None
    """``core.learning.spacing.State``; None, like the three above, for a card never asked."""
    reps: int = 0
    lapses: int = 0
    created_at: datetime = _instant()


class Review(SQLModel, table=True):
    """The raw review log: immutable, enough to replay a card."""

    __table_args__ = (Index("ix_review_day", "learner_id", "study_day"),)

    card_id: str = Field(primary_key=True, foreign_key="card.id")
    nth: int = Field(primary_key=True)
    """``Card.reps`` before this review: a second tap on the same buttons is the same review."""
    learner_id: str = Field(foreign_key="learner.id")
    rating: int
    retention: float
    study_day: date
    at: datetime = _instant()


class Item(SQLModel, table=True):
    """A question that was, or will be, asked; never changed once it was."""

    id: str = Field(primary_key=True)
    learner_id: str = Field(foreign_key="learner.id", index=True)
    """For whom it was made; a question for a group belongs to the one who asked for it."""
    objective: str | None = Field(default=None, index=True)
    """Id of the objective it asks for; None outside any path."""
    topic: str
    kind: str
    """``core.learning.items.ItemKind``; like the next one it is in ``question`` as well, to be
    chosen by."""
    difficulty: int
    question: str
    """JSON ``core.learning.items.Question``: the text and the key."""
    created_from: str
    """What it was made for or from: ``quiz:ID``, ``path:ID``, ``card:ID``."""
    created_at: datetime = _instant()


class Evidence(SQLModel, table=True):
    """One judgement of one answer: immutable, and replaced only by a further row."""

    __table_args__ = (Index("ix_evidence_objective", "learner_id", "objective"),)

    id: str = Field(primary_key=True)
    learner_id: str = Field(foreign_key="learner.id")
    item_id: str = Field(foreign_key="item.id")
    objective: str | None = None
    kind: str
    difficulty: int
    correct: bool
    score: float
    hint_level: int
    first_attempt: bool
    grader: str
    confidence: float
    study_day: date
    at: datetime = _instant()
    source: str
    """``InboundMessage.message_id`` of the answer."""
    criteria: str
    """JSON object: the criteria of the rubric, each with whether it was met."""
    supersedes: str | None = Field(default=None, foreign_key="evidence.id")
    withdrawn: bool = False


class QuizState(StrEnum):
    """How far a quiz has come."""

    ASKING = "asking"
    DONE = "done"
    """Every question was answered or passed over."""
    STOPPED = "stopped"
    """It was ended before, by its learner or by a newer quiz in its place."""


class Quiz(SQLModel, table=True):
    """A few questions on a topic, asked one after the other in one conversation."""

    __table_args__ = (Index("ix_quiz_open", "conversation_id", "state"),)

    id: str = Field(primary_key=True)
    learner_id: str = Field(foreign_key="learner.id", index=True)
    """Who asked for it."""
    conversation_id: str = Field(foreign_key="conversation.id")
    target: str
    """JSON ``ReplyTarget``: where its questions go."""
    shared: bool = False
    """Everybody there answers; else only the one who asked for it."""
    topic: str
    language: str
    state: QuizState = Field(default=QuizState.ASKING, sa_type=String)
    position: int = 0
    """Number of the question that stands open, from 0."""
    items: str
    """JSON list of the ids of its items, in the order of asking."""
    asked_at: datetime = _instant()
    """When the open question was asked."""
    created_at: datetime = _instant()


class QuizAnswer(SQLModel, table=True):
    """What one learner did with one question of a quiz; the row begins with the first hint."""

    quiz_id: str = Field(primary_key=True, foreign_key="quiz.id")
    nth: int = Field(primary_key=True)
    learner_id: str = Field(primary_key=True, foreign_key="learner.id")
    hint_level: int = 0
    given: str | None = None
    """In the learner's words; None for a question passed over, or not answered yet."""
    verdict: str | None = None
    """``core.learning.grading.Verdict``; None while it is not answered."""
    score: float | None = None
    evidence_id: str | None = Field(default=None, foreign_key="evidence.id")
    """The judgement that counts; it supersedes earlier ones."""
    at: datetime = _instant()


class Nudge(SQLModel, table=True):
    """A reminder that was planned: at most one a learner, slot and local date."""

    learner_id: str = Field(primary_key=True, foreign_key="learner.id")
    slot: str = Field(primary_key=True)
    local_date: date = Field(primary_key=True)
    kind: str
    planned_at: datetime = _instant()
    """The moment it was judged as of."""
    created_at: datetime = _instant()
    """When the row was written; a learner seen later has not ignored it."""


class Reminder(SQLModel, table=True):
    """What a learner asked to be reminded of, once."""

    __table_args__ = (Index("ix_reminder_due", "sent_at", "due_at"),)

    id: str = Field(primary_key=True)
    learner_id: str = Field(foreign_key="learner.id", index=True)
    text: str
    wall: str
    """The time that was meant, on the learner's clock: ISO 8601 without a zone."""
    due_at: datetime = _instant()
    """The instant it is in the learner's zone."""
    sent_at: datetime | None = _instant(default=None)
    created_at: datetime = _instant()


class ConsentState(StrEnum):
    """What became of a question whether a tool may do something."""

    OPEN = "open"
    ALLOWED = "allowed"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    """The learner's question was answered anew meanwhile."""


class Consent(SQLModel, table=True):
    """A turn that waits for its learner's yes or no."""

    __table_args__ = (Index("ix_consent_waiting", "state", "expires_at"),)

    id: str = Field(primary_key=True)
    turn_id: str = Field(foreign_key="turn.id")
    """The turn that asked."""
    message_id: str
    """Of the learner's question."""
    calls: str
    """JSON list of the ids of the calls that wait."""
    rounds: str
    """JSON ``core.loop.saved.RoundDone``: where the turn goes on."""
    state: ConsentState = Field(default=ConsentState.OPEN, sa_type=String)
    decided_by: str | None = None
    """``InboundMessage.message_id`` of the press that decided."""
    expires_at: datetime = _instant()
    created_at: datetime = _instant()


class LinkCode(SQLModel, table=True):
    """A code by which another account joins its maker's learner, once."""

    code: str = Field(primary_key=True)
    learner_id: str = Field(foreign_key="learner.id", index=True)
    account_id: str = Field(foreign_key="account.id")
    """The account it was made on."""
    created_at: datetime = _instant()
    expires_at: datetime = _instant()
    used_at: datetime | None = _instant(default=None)


class LinkGuess(SQLModel, table=True):
    """A code that led nowhere: there are only so many in an hour."""

    id: int | None = Field(default=None, primary_key=True)
    account_id: str = Field(foreign_key="account.id", index=True)
    at: datetime = _instant()


class LinkState(StrEnum):
    """How far two learners are joined."""

    JOINING = "joining"
    """The rows are joined, the files perhaps not yet."""
    JOINED = "joined"
    """It can be undone."""
    UNDOING = "undoing"
    """It is being undone, files first."""
    UNDONE = "undone"
    FINAL = "final"
    """It cannot be undone any more."""


class Link(SQLModel, table=True):
    """Two learners that were joined: which stays, and what it would take to part them."""

    id: str = Field(primary_key=True)
    code: str = Field(unique=True)
    """The code that joined them."""
    kept_id: str = Field(foreign_key="learner.id", index=True)
    """The learner of the one who made the code."""
    other_id: str = Field(foreign_key="learner.id")
    state: LinkState = Field(default=LinkState.JOINING, sa_type=String, index=True)
    moved: str
    """JSON ``core.linking.rows.Moved``."""
    undo_cause: str | None = None
    """The event that asked to undo it."""
    at: datetime = _instant()


class ConsolidationOutcome(StrEnum):
    """What came of asking a model to consolidate."""

    DONE = "done"
    """The answer was judged; what holds of it is written."""
    UNREADABLE = "unreadable"
    """Nonsense, a refusal, or half of an answer: nothing was written."""
    FAILED = "failed"
    """The model could not be called, or did not answer."""
    DRIFTED = "drifted"
    """The files changed meanwhile, again and again."""


class Consolidation(SQLModel, table=True):
    """One call of a model about a learner's memory: what it cost and what came of it."""

    __table_args__ = (
        Index("ix_consolidation_spent", "ended_at", "learner_id"),
        Index("ix_consolidation_last", "learner_id", "ended_at"),
    )

    id: str = Field(primary_key=True)
    learner_id: str = Field(foreign_key="learner.id")
    stage: str
    """``memory.tasks.Stage``."""
    outcome: ConsolidationOutcome = Field(sa_type=String)
    model: str | None = None
    """The model that answered; None where none did."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """Money, in the currency of the prices; None where no price is known."""
    counts: str = "{}"
    """JSON: kind of operation → how many hold, ``refused:REASON`` → how many do not."""
    started_at: datetime = _instant()
    ended_at: datetime = _instant()
