"""The commands that ask for a capability by name: what follows is the question."""

from __future__ import annotations

from functools import partial

from sqlmodel import Session

from core.capabilities.capability import Capability
from core.capabilities.question import question_in
from core.capabilities.registry import CAPABILITIES
from core.commands.declare import CommandSpec
from core.commands.request import Answer, Command, Reply, Request, Rerun
from core.document import Button, Document, plain
from core.i18n import Words
from core.partners import Partners
from core.persona import chosen_persona
from core.store.session import Store
from personas.persona import Persona, PersonaLibrary


def cannot(persona: Persona, words: Words) -> Document:
    """Say that a persona does not have a capability, and where another one may be found."""
    text = words(
        "{name} does not do that. Another tutor may: /persona shows who is here.",
        name=plain(persona.name(words.language)),
    )
    button = Button(label=words("Choose a tutor"), action="persona:")
    return Document(markdown=text, buttons=((button,),))


def commands(store: Store, personas: PersonaLibrary, partners: Partners) -> tuple[Command, ...]:
    """Return the command of each capability that has one."""

    def look(session: Session, request: Request, way: Capability, spec: CommandSpec) -> Answer:
        words = request.words
        message = request.message
        question = question_in(message)
        if not (request.arguments.strip() or message.quote or message.attachments):
            example = f"`/{spec.name} {words(spec.usage)}`"
            text = words("Write it like this: {example}", example=example)
            return Reply(Document(markdown=text))
        default = partners.of(message.target).persona
        persona = chosen_persona(
            session, personas, request.learner_id, request.conversation_id, default
        )
        if way.name not in persona.capabilities or question is None:
            return Reply(cannot(persona, words))
        return Rerun(question.message, capability=way.name)

    def command(way: Capability, spec: CommandSpec) -> Command:
        async def handle(request: Request) -> Answer:
            return await store.read(partial(look, request=request, way=way, spec=spec))

        return Command(spec, handle)

    return tuple(command(one, one.command) for one in CAPABILITIES if one.command)
