"""Answering anew: ``/regenerate`` and its button, and [Try again] below an answer that failed.

A question is run again as it was stored, with its attachments and its persona, and without the
answer it had. That one is marked as superseded in the transaction that stores the new one; where no
new one comes it stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Final

from pydantic import ValidationError
from sqlmodel import Session, col, select

from core.capabilities.question import Question, question_in
from core.capabilities.registry import CAPABILITIES
from core.commands.ask import cannot
from core.commands.declare import Choice, CommandSpec
from core.commands.request import Action, Answer, Command, Reply, Request, Rerun
from core.context import Press, ReplyTarget, Role, Text
from core.document import Button, Document
from core.i18n import N_, Words
from core.persona import resolve
from core.store.session import Store
from core.store.tables import Conversation, Inbound, Line, Turn
from core.turns.answers import CanEdit, answer_of, shown_as
from core.turns.choices import picked
from core.turns.joining import question_of
from personas.persona import PersonaLibrary

_PAIR: Final = re.compile(r"(\w+)\s*=\s*(\S+)")


def button(message_id: str) -> tuple[Button, ...]:
    """Return the row of buttons below an answer, that answers its question anew."""
    return (Button(label="↻", action=f"anew:{message_id}"),)


def regenerate(store: Store, personas: PersonaLibrary, can_edit: CanEdit) -> tuple[Command, Action]:
    """``/regenerate``: the last question of the conversation is answered anew."""

    async def ask(request: Request) -> Answer:
        wanted = dict(_PAIR.findall(request.arguments))
        if trouble := _unusable(request, wanted, personas):
            return _say(trouble)
        return await store.read(
            lambda session: _anew(session, request, None, wanted, personas, can_edit)
        )

    async def press(request: Request) -> Answer:
        return await store.read(
            lambda session: _anew(session, request, request.arguments, {}, personas, can_edit)
        )

    def named(typed: str, language: str) -> list[Choice]:
        """Tutors who could answer instead."""
        part = typed.strip().casefold().removeprefix("persona=")
        return [
            Choice(one.name(language), f"persona={one.id}")
            for one in personas.all()
            if part in one.id or part in one.name(language).casefold()
        ]

    summary = N_("answer my last question anew")
    spec = CommandSpec(
        "regenerate",
        summary,
        N_("[persona=NAME] [capability=NAME]"),
        ("retry",),
        idle=True,
        choices=named,
    )
    return Command(spec, ask), Action("anew", press, idle=True)


def again(store: Store, can_edit: CanEdit) -> Action:
    """[Try again]: the question that had no answer."""

    def look(session: Session, request: Request) -> Reply | Rerun:
        words = request.words
        question = asked(session, request.message.target, request.arguments)
        if question is None or not _own(question, request):
            return _say(words("This button is out of date. /help shows what I can do."))
        found = once_more(session, request, question, can_edit)
        if found.answered:
            return _say(words("I have answered that already: see above."))
        return found

    async def handle(request: Request) -> Answer:
        return await store.read(partial(look, request=request))

    return Action("again", handle)


def busy(words: Words) -> str:
    """Say that a question is under way."""
    return words("I'm still working on something here. /stop ends that.")


def asked(session: Session, target: ReplyTarget, message_id: str) -> Question | None:
    """Return a question that was asked where ``target`` is, as it stands now."""
    row = session.exec(
        select(Inbound).where(
            Inbound.channel == target.channel,
            Inbound.account == target.account,
            Inbound.message_id == message_id,
        )
    ).first()
    if row is None or row.message is None:
        return None
    try:
        message = question_of(session, row.id or 0)
    except ValidationError:  # a later version stored it
        return None
    if message is None:
        return None
    if isinstance(message.content, Press):
        said = picked(session, message.content.action)
        if said is None:
            return None
        return Question(message.model_copy(update={"content": Text(text=said)}), None)
    return question_in(message)


def once_more(session: Session, request: Request, question: Question, can_edit: CanEdit) -> Rerun:
    """Return how a question is run again, with what is there of an answer."""
    line = session.exec(
        select(Line)
        .where(
            Line.conversation_id == request.conversation_id,
            Line.message_id == question.message.message_id,
            Line.role == Role.TUTOR,
            col(Line.superseded_by).is_(None),
        )
        .order_by(col(Line.id).desc())
    ).first()
    if line is None:
        return Rerun(question.message, capability=question.capability)
    turn = session.get_one(Turn, line.turn_id)
    target = request.message.target
    sent = answer_of(session, turn) if can_edit(target) else None
    return Rerun(
        question.message,
        persona=turn.persona,
        capability=turn.capability or question.capability,
        answered=True,
        replaces=shown_as(session, sent, target) if sent else (),
    )


def _anew(
    session: Session,
    request: Request,
    message_id: str | None,
    wanted: Mapping[str, str],
    personas: PersonaLibrary,
    can_edit: CanEdit,
) -> Reply | Rerun:
    """Look for the last question; ``message_id`` is the one that is meant, where one is."""
    words = request.words
    conversation = session.get_one(Conversation, request.conversation_id)
    last = session.exec(
        select(Line)
        .where(
            Line.conversation_id == conversation.id,
            col(Line.id) > conversation.history_from,
            Line.role == Role.LEARNER,
            col(Line.message_id).is_not(None),
        )
        .order_by(col(Line.id).desc())
    ).first()
    if message_id is not None and (last is None or last.message_id != message_id):
        return _say(words("I have answered something else since. Ask that again, please."))
    question = asked(session, request.message.target, last.message_id or "") if last else None
    if last is None or question is None:
        return _say(words("There is nothing here that I could answer anew. Ask me something."))
    if not _own(question, request):
        return _say(words("Only the person who asked can have that answered anew."))
    found = once_more(session, request, question, can_edit)
    before = session.get_one(Turn, last.turn_id)
    persona = _persona(personas, wanted.get("persona", ""), words)
    persona = persona or found.persona or before.persona
    way = wanted.get("capability")
    tutor = resolve(personas, persona)
    if way is not None and way not in tutor.capabilities:
        return Reply(cannot(tutor, words))
    return Rerun(
        question.message,
        persona=persona,
        capability=way or found.capability,
        model=wanted.get("model"),
        answered=found.answered,
        replaces=found.replaces,
    )


def _unusable(request: Request, wanted: Mapping[str, str], personas: PersonaLibrary) -> str | None:
    """Say what of the arguments cannot be used; None where all can."""
    words = request.words
    if _PAIR.sub("", request.arguments).strip() or set(wanted) - {"persona", "capability", "model"}:
        return words("Write it like this: {example}", example="`/regenerate persona=euler`")
    name = wanted.get("persona")
    if name is not None and _persona(personas, name, words) is None:
        return words("There is no tutor of that name. /persona shows who is here.")
    names = [one.name for one in CAPABILITIES]
    if wanted.get("capability", names[0]) not in names:
        listed = ", ".join(f"`{name}`" for name in names)
        return words("I can answer in these ways: {names}.", names=listed)
    if "model" in wanted and not request.owner:
        return words("Only the one who runs me can choose the model.")
    return None


def _persona(personas: PersonaLibrary, name: str, words: Words) -> str | None:
    wanted = name.casefold()
    known = (
        one for one in personas.all() if wanted in (one.id, one.name(words.language).casefold())
    )
    return next((one.id for one in known), None)


def _own(question: Question, request: Request) -> bool:
    return question.message.sender.account == request.message.sender.account


def _say(text: str) -> Reply:
    return Reply(Document(markdown=text))
