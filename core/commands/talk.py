"""Finding one's way: ``/start``, ``/help``, ``/new``, ``/status``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from sqlmodel import Session, func, select

from core.clock import study_date
from core.commands.declare import Choice, CommandSpec
from core.commands.quiz_steps import put_away
from core.commands.request import Action, Answer, Command, Reply, Request
from core.document import Button, Document, plain
from core.i18n import N_, Words
from core.learning import deck
from core.partners import Partners
from core.persona import chosen_persona
from core.spending import Spending
from core.store.tables import Conversation, Line
from personas.persona import PersonaLibrary

IN_A_ROW: Final = 3
"""Buttons of the menu below ``/help``."""

Probe = Callable[[], Mapping[str, str | None]]
"""State of each channel: None while it works, else what is wrong."""


def start(personas: PersonaLibrary, partners: Partners, small_model: bool) -> Command:
    """``/start``: the persona's greeting and the ways on."""

    def greet(session: Session, request: Request) -> Reply:
        words = request.words
        default = partners.of(request.message.target).persona
        persona = chosen_persona(
            session, personas, request.learner_id, request.conversation_id, default
        )
        text = persona.greeting(words.language)
        if small_model:
            text = f"{text}\n\n{small_model_notice(words)}"
        ways = [
            Button(label=words("Choose a tutor"), action="persona:"),
            Button(label=words("How this works"), action="help:"),
        ]
        if not small_model:
            ways.insert(0, Button(label=words("Quiz me"), action="quiz:"))
        return Reply(Document(markdown=text, buttons=(tuple(ways),)))

    async def handle(request: Request) -> Answer:
        return partial(greet, request=request)

    return Command(CommandSpec("start", N_("say hello")), handle)


def small_model_notice(words: Words) -> str:
    """What is said, once, where the packaged model answers."""
    return words(
        "I'm running on a small offline model: good for trying things out, often wrong. Whoever "
        "runs me can connect a real one."
    )


def help_(commands: Callable[[], Iterable[Command]]) -> tuple[Command, Action, Action]:
    """``/help``: what can be done here, in the order of the menu; ``/help add``: that one alone.

    A group is not shown what works in the private chat only. What needs no arguments has a button,
    for apps without a menu of commands.
    """

    def shown(request: Request, command: Command) -> bool:
        return request.private or not command.spec.private

    async def handle(request: Request) -> Answer:
        words = request.words
        wanted = request.arguments.strip().removeprefix("/").casefold()
        for command in commands():
            known = (command.spec.name, *command.spec.aliases)
            if wanted in known and shown(request, command):
                return Reply(Document(markdown=_way(words, command.spec)))
        lines = [f"- {_way(words, one.spec)}" for one in commands() if shown(request, one)]
        text = words(
            "Ask me anything and show me how far you got. I'll rather ask back than tell; say "
            '"just tell me" when you want the answer. Save a question as a card and I\'ll bring '
            "it back before you forget it."
        )
        if not request.private:
            lines.append("")
            lines.append(words("Write to me privately for your cards, reviews and notes."))
        buttons = [
            Button(label=f"/{one.spec.name}", action=f"run:{one.spec.name}")
            for one in commands()
            if shown(request, one) and _stands_alone(one.spec)
        ]
        rows = tuple(tuple(buttons[at : at + IN_A_ROW]) for at in range(0, len(buttons), IN_A_ROW))
        return Reply(Document(markdown=f"{text}\n\n" + "\n".join(lines), buttons=rows))

    async def run(request: Request) -> Answer:
        bare = replace(request, arguments="")
        for command in commands():
            if command.spec.name == request.arguments and shown(request, command):
                return await command.handle(bare)
        return await handle(bare)

    def named(typed: str, language: str) -> list[Choice]:
        """Commands of whose name this is the beginning."""
        part = typed.strip().removeprefix("/").casefold()
        return [
            Choice(f"/{command.spec.name}", command.spec.name)
            for command in commands()
            if command.spec.name.startswith(part)
        ]

    spec = CommandSpec("help", N_("what I can do"), N_("[COMMAND]"), choices=named)
    return Command(spec, handle), Action("help", handle), Action("run", run)


def _stands_alone(spec: CommandSpec) -> bool:
    """Tell whether a button can stand for a command: it asks for what it needs, and may wait."""
    asks = not spec.usage or spec.usage.startswith("[") or spec.choices is not None
    return asks and spec.name != "help" and not (spec.immediate or spec.idle)


def _way(words: Words, spec: CommandSpec) -> str:
    usage = f" {words(spec.usage)}" if spec.usage else ""
    return f"`/{spec.name}{usage}` {plain(words(spec.summary))}"


def new() -> Command:
    """``/new``: begin a new conversation; what came before is not sent to the model any more."""

    def begin(session: Session, request: Request) -> Reply:
        newest = session.exec(
            select(func.max(Line.id)).where(Line.conversation_id == request.conversation_id)
        ).one()
        conversation = session.get_one(Conversation, request.conversation_id)
        conversation.history_from = newest or 0
        if request.private:
            put_away(session, request)  # no word of the new talk is an answer to it
        words = request.words
        return Reply(
            Document(markdown=words("A fresh start. What shall we work on? Your cards stay."))
        )

    async def handle(request: Request) -> Answer:
        return partial(begin, request=request)

    return Command(CommandSpec("new", N_("start a new conversation")), handle)


def _used(session: Session, spending: Spending, request: Request) -> list[str]:
    """What the learner has used today, and what everybody has for those who look after it."""
    words, limits = request.words, spending.limits
    own = spending.today(session, request.now, request.learner_id)
    lines = []
    if limits.learner_tokens_per_day:
        lines.append(
            words(
                "Used today: {tokens} of {limit} tokens.",
                tokens=words.number(own.tokens),
                limit=words.number(limits.learner_tokens_per_day),
            )
        )
    else:
        lines.append(words("Used today: {tokens} tokens.", tokens=words.number(own.tokens)))
    if limits.learner_cost_per_day:
        lines.append(
            words(
                "Spent today: {cost} of {limit}.",
                cost=words.number(round(own.cost, 3)),
                limit=words.number(limits.learner_cost_per_day),
            )
        )
    if request.owner:
        total = spending.today(session, request.now)
        lines.append(
            words(
                "Everybody together today: {tokens} tokens, {cost} spent.",
                tokens=words.number(total.tokens),
                cost=words.number(round(total.cost, 3)),
            )
        )
    return lines


def status(model: str, probe: Probe, busy: Callable[[str], bool], spending: Spending) -> Command:
    """``/status``: is it working, on what, and what waits for this learner."""

    def report(session: Session, request: Request) -> Reply:
        words = request.words
        lines = [
            words("I'm working on your question. /stop ends that.")
            if busy(request.conversation_id)
            else words("I'm ready.")
        ]
        if request.private:
            today = study_date(request.now, ZoneInfo(request.zone))
            waiting = len(deck.session_queue(session, request.learner_id, today))
            lines.append(words.plural("{n} question is due.", "{n} questions are due.", waiting))
            lines.append(
                words(
                    "Your time: {time} ({zone}).",
                    time=words.time(request.now, request.zone),
                    zone=plain(request.zone),
                )
            )
            lines += _used(session, spending, request)
        if request.owner and request.private:
            lines.append(words("Model: {name}.", name=plain(model)))
            for name, trouble in probe().items():
                # What is wrong is the log's English; the owner reads it there too.
                state = words("works") if trouble is None else plain(trouble)
                lines.append(f"{plain(name)}: {state}")
        return Reply(Document(markdown="\n\n".join(lines)))

    async def handle(request: Request) -> Answer:
        return partial(report, request=request)

    return Command(CommandSpec("status", N_("is everything working?"), immediate=True), handle)
