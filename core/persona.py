"""Which persona answers, and how: the learner's choice for this conversation, else the account's.

Nothing that anybody writes in a message has a say in it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Final

from sqlalchemy import bindparam
from sqlmodel import Session, select

from core.loop.gates import Budget
from core.store.session import insert_new
from core.store.tables import PersonaChoice
from personas.persona import Persona, PersonaLibrary, PersonaUnknown

SMALL_ANSWER_TOKENS: Final = 400
"""A small model rambles; what it has to say comes first."""

_CHOICE = select(PersonaChoice.persona_id).where(
    PersonaChoice.learner_id == bindparam("learner"),
    PersonaChoice.conversation_id == bindparam("conversation"),
)


def chosen_persona(
    session: Session,
    personas: PersonaLibrary,
    learner_id: str,
    conversation_id: str,
    default: str | None = None,
) -> Persona:
    """The learner's choice for a conversation, else ``default``, else the library's default.

    One that is not there any more is passed over.
    """
    choice = session.exec(_CHOICE, params={"learner": learner_id, "conversation": conversation_id})
    return resolve(personas, choice.first(), default)


def resolve(personas: PersonaLibrary, *ids: str | None) -> Persona:
    """The first persona of these that is there; the library's default where none is."""
    for persona_id in ids:
        if persona_id:
            with suppress(PersonaUnknown):
                return personas.get(persona_id)
    return personas.default


def tuned(budget: Budget, persona: Persona, *, small: bool) -> Budget:
    """Return a capability's budget as it holds for a persona, and for a ``small`` model.

    A persona may want less than the settings allow, never more.
    """
    if persona.model.temperature is not None:
        budget = replace(budget, temperature=persona.model.temperature)
    least = persona.budget
    budget = replace(
        budget,
        max_rounds=min(budget.max_rounds, least.max_rounds or budget.max_rounds),
        max_tool_calls=budget.max_tool_calls
        if least.max_tool_calls is None
        else min(budget.max_tool_calls, least.max_tool_calls),
        deadline_seconds=min(
            budget.deadline_seconds, least.deadline_seconds or budget.deadline_seconds
        ),
        # No limit is written as 0.
        cost_limit=min(filter(None, (budget.cost_limit, least.cost)), default=0.0),
    )
    if small:
        most = min(budget.responding_max_tokens, SMALL_ANSWER_TOKENS)
        budget = replace(budget, responding_max_tokens=most, answer_now_max_tokens=most)
    return budget


def choose(session: Session, learner_id: str, conversation_id: str, persona_id: str) -> None:
    """Remember a choice; the last one counts."""
    key = {"learner_id": learner_id, "conversation_id": conversation_id}
    insert_new(session, PersonaChoice, {**key, "persona_id": persona_id}, *key)
    session.get_one(PersonaChoice, (learner_id, conversation_id)).persona_id = persona_id
