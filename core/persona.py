"""Which persona answers: the learner's choice for this conversation, else the default.

Nothing that anybody writes in a message has a say in it.
"""

from __future__ import annotations

from sqlalchemy import bindparam
from sqlmodel import Session, select

from core.store.session import insert_new
from core.store.tables import PersonaChoice
from personas.persona import Persona, PersonaLibrary, PersonaUnknown

_CHOICE = select(PersonaChoice.persona_id).where(
    PersonaChoice.learner_id == bindparam("learner"),
    PersonaChoice.conversation_id == bindparam("conversation"),
)


def chosen_persona(
    session: Session, personas: PersonaLibrary, learner_id: str, conversation_id: str
) -> Persona:
    """The persona of a learner in a conversation; a removed one gives the default."""
    choice = session.exec(_CHOICE, params={"learner": learner_id, "conversation": conversation_id})
    return resolve(personas, choice.first())


def resolve(personas: PersonaLibrary, persona_id: str | None) -> Persona:
    """The persona with this id; the default for None and for one that is not there any more."""
    try:
        return personas.get(persona_id) if persona_id else personas.default
    except PersonaUnknown:
        return personas.default


def choose(session: Session, learner_id: str, conversation_id: str, persona_id: str) -> None:
    """Remember a choice; the last one counts."""
    key = {"learner_id": learner_id, "conversation_id": conversation_id}
    insert_new(session, PersonaChoice, {**key, "persona_id": persona_id}, *key)
    session.get_one(PersonaChoice, (learner_id, conversation_id)).persona_id = persona_id
