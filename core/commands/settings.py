"""``/settings``: what holds for this learner here, and where it is changed. It changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from sqlmodel import Session

from core.capabilities.registry import of_persona
from core.commands.declare import CommandSpec
from core.commands.request import Answer, Command, Reply, Request
from core.document import Button, Document, plain
from core.i18n import LANGUAGES, N_, Words
from core.llm.port import ChatModel
from core.loop.gates import Budget, LoopProtocol, context_gate, reserve
from core.partners import Partners
from core.persona import chosen_persona, tuned
from core.store.tables import Learner
from personas.persona import Persona, PersonaLibrary

_PROTOCOLS: Mapping[LoopProtocol, str] = {
    LoopProtocol.AUTO: N_("Tools are called as the model can."),
    LoopProtocol.NATIVE: N_("Tools are called by the provider's tool calls only."),
    LoopProtocol.LABELLED: N_("Tools are called by labels in the text."),
}


def settings(
    personas: PersonaLibrary,
    partners: Partners,
    model: ChatModel,
    budgets: Mapping[str, Budget],
) -> Command:
    """Return the command; ``budgets`` are those of the capabilities that were tuned, by name."""

    def show(session: Session, request: Request) -> Reply:
        words = request.words
        default = partners.of(request.message.target).persona
        persona = chosen_persona(
            session, personas, request.learner_id, request.conversation_id, default
        )
        learner = session.get_one(Learner, request.learner_id)
        asked = model.named(persona.model.name) if persona.model.name else model
        lines = [_heading(words("You")), *_yours(learner, persona, request)]
        lines += [_heading(words("The model")), words("Model: {name}.", name=plain(asked.name))]
        for one in of_persona(persona.capabilities):
            budget = tuned(budgets.get(one.name, one.budget), persona, small=asked.small)
            lines.append(_heading(words("Answers ({capability})", capability=plain(one.name))))
            lines += _tuning(words, budget, asked.window)
        buttons = (
            Button(label=words("Choose a tutor"), action="persona:"),
            Button(label=words("Language"), action="language:"),
        )
        return Reply(Document(markdown=_listed(lines), buttons=(buttons,)))

    async def handle(request: Request) -> Answer:
        return partial(show, request=request)

    return Command(
        CommandSpec("settings", N_("what is set, for you and for me"), private=True), handle
    )


def _heading(text: str) -> str:
    return f"\n**{text}**\n"


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(line if line.startswith("\n") else f"- {line}" for line in lines).lstrip()


def _yours(learner: Learner, persona: Persona, request: Request) -> list[str]:
    words = request.words
    name = LANGUAGES[words.language]
    language = (
        words("I speak {language}, which you chose. /language changes it.", language=name)
        if learner.language
        else words("I speak {language}, like your app. /language changes it.", language=name)
    )
    tutor = plain(persona.name(words.language))
    if not learner.reminders:
        reminders = words("Reminders are off.")
    elif learner.reminders_from is None:
        reminders = words("Reminders begin with your first card.")
    else:
        reminders = words("Reminders come at {time}.", time=learner.reminder_time)
    return [
        language,
        words("Your time zone is {zone}. /timezone changes it.", zone=plain(request.zone)),
        words("You learn with {name}. /persona changes it.", name=tutor),
        reminders,
    ]


def _tuning(words: Words, budget: Budget, window: int | None) -> list[str]:
    """The settings of a capability and its stages, as they take effect."""
    gate = context_gate(budget, window)
    number = words.number
    temperature = budget.temperature
    return [
        words("Temperature: {value}.", value=number(temperature))
        if temperature is not None
        else words("Temperature: the model's own."),
        words(
            "At most {rounds} rounds, {calls} tool calls and {seconds} seconds.",
            rounds=number(budget.max_rounds),
            calls=number(budget.max_tool_calls),
            seconds=number(budget.deadline_seconds),
        ),
        words("Exploring: {limit} tokens.", limit=number(budget.exploring_max_tokens)),
        words("Responding: {limit} tokens.", limit=number(budget.responding_max_tokens)),
        words("Answering now: {limit} tokens.", limit=number(budget.answer_now_max_tokens)),
        words(
            "A conversation of {limit} tokens, {reserve} of them kept for the answer.",
            limit=number(gate),
            reserve=number(reserve(budget, gate)),
        ),
        words("Money for one answer: {limit}.", limit=number(budget.cost_limit))
        if budget.cost_limit
        else words("Money for one answer: no limit."),
        words(_PROTOCOLS[budget.protocol]),
    ]
