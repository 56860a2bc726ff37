"""How a turn without an answer is worded: one clear sentence, and the way on."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from core.document import Button, Document
from core.i18n import N_, Words
from core.limits import Scope
from core.logs import reference
from core.loop.gates import StopReason
from memory.recall import estimate_tokens
from personas.persona import Persona

_LIMITS = {
    Scope.LEARNER: N_("That was all I may answer you today."),
    Scope.TOTAL: N_("That was all I may answer today: everybody's share is used up."),
}
_FAILURES = {
    StopReason.PROVIDER_ERROR: N_("My model isn't answering right now. I've kept your question."),
    StopReason.DEADLINE: N_("That took longer than I may take. I've kept your question."),
    StopReason.ROUNDS: N_("I went round in circles there. I've kept your question."),
    StopReason.CONTEXT_FULL: N_("This conversation has grown too long for me. /new starts afresh."),
    StopReason.COST: N_("That would cost more than I may spend on it. I've kept your question."),
    StopReason.TOOL_CALLS: N_("I looked up too much and found no end. I've kept your question."),
    StopReason.MALFORMED: N_("I could not put my answer together. I've kept your question."),
    StopReason.EMPTY: N_("I found nothing to say to that. I've kept your question."),
}


def failure(
    words: Words, persona: Persona, reason: StopReason, turn_id: str, message_id: str
) -> Document:
    """Say why there is no answer, in the persona's words where it has some, with a second try."""
    own = persona.error(reason.value, words.language)
    text = own or words(_FAILURES.get(reason, _FAILURES[StopReason.PROVIDER_ERROR]))
    ref = words("(ref {ref})", ref=reference(turn_id))
    again = Button(label=words("Try again"), action=f"again:{message_id}")
    return Document(markdown=f"{text} {ref}", buttons=((again,),))


def stays(words: Words, turn_id: str) -> Document:
    """Say that there is no new answer, so that the earlier one stays."""
    text = words("I found no new answer, so my earlier one stays.")
    ref = words("(ref {ref})", ref=reference(turn_id))
    return Document(markdown=f"{text} {ref}")


def out_of_budget(
    words: Words, scope: Scope, now: datetime, again: datetime, zone: str, message_id: str
) -> Document:
    """Say that nothing may be spent on a question today, and from when it may be asked again."""
    local = ZoneInfo(zone)
    text = words(_LIMITS[scope])
    when = words(
        "I answer again {day} at {time}; cards and reviews still work.",
        day=words.day(again.astimezone(local).date(), now.astimezone(local).date()),
        time=words.time(again, zone),
    )
    button = Button(label=words("Try again"), action=f"again:{message_id}")
    return Document(markdown=f"{text} {when}", buttons=((button,),))


def too_long(words: Words, text: str, limit: int) -> str:
    """Say that a message is longer than a prompt may be; ``limit`` is in tokens."""
    # The limit is in tokens; a person counts characters.
    return words(
        "That is {length} characters, more than I can read at once (about {limit}). Send me the "
        "part that matters, please.",
        length=words.number(len(text)),
        limit=words.number(limit * len(text) // max(1, estimate_tokens(text)) // 100 * 100),
    )
