"""The learner's choices: ``/persona``, ``/language``, ``/timezone`` and the reminder buttons."""

from __future__ import annotations

from datetime import time
from functools import partial

from sqlmodel import Session

from core.clock import resolve_zone, standing
from core.commands.declare import Choice, CommandSpec
from core.commands.request import Action, Answer, Command, Reply, Request
from core.document import Button, Document, plain
from core.i18n import LANGUAGES, N_, language_from, words_for
from core.partners import Partners
from core.persona import choose, chosen_persona
from core.scheduling import reminders
from core.store.tables import Learner
from personas.persona import Persona, PersonaLibrary

REMINDER_HOURS = ("07:00", "09:00", "12:00", "16:00", "18:00", "20:00")
"""Offered by [Change time]."""


# --- the tutor ----------------------------------------------------------------------------------


def persona(personas: PersonaLibrary, partners: Partners) -> tuple[Command, Action]:
    """``/persona``: lists the tutors; ``/persona euler`` or a button switches."""

    def show(session: Session, request: Request) -> Reply:
        words = request.words
        wanted = request.arguments.strip().casefold()
        chosen = next(
            (p for p in personas.all() if wanted in (p.id, p.name(words.language).casefold())), None
        )
        if chosen:
            choose(session, request.learner_id, request.conversation_id, chosen.id)
            name = plain(chosen.name(words.language))
            text = words("From now on you learn with **{name}**.", name=name)
            greeting = chosen.greeting(words.language)
            return Reply(Document(markdown=f"{text}\n\n{greeting}"), in_place=True)
        default = partners.of(request.message.target).persona
        current = chosen_persona(
            session, personas, request.learner_id, request.conversation_id, default
        )
        lines = [_line(p, p is current, words.language) for p in personas.all()]
        if wanted:
            lines.insert(0, words("There is no tutor of that name. These are here:"))
        rows = tuple(
            (Button(label=p.name(words.language)[:32], action=f"persona:{p.id}"),)
            for p in personas.all()
        )
        return Reply(Document(markdown="\n\n".join(lines), buttons=rows))

    async def handle(request: Request) -> Answer:
        return partial(show, request=request)

    def named(typed: str, language: str) -> list[Choice]:
        """Tutors of whose name or id this is a part."""
        part = typed.strip().casefold()
        return [
            Choice(p.name(language), p.id)
            for p in personas.all()
            if part in p.id or part in p.name(language).casefold()
        ]

    spec = CommandSpec("persona", N_("choose your tutor"), N_("NAME"), choices=named)
    return Command(spec, handle), Action("persona", handle)


def _line(persona: Persona, current: bool, language: str) -> str:
    mark = "● " if current else ""
    return f"{mark}**{plain(persona.name(language))}**: {plain(persona.description(language))}"


# --- language -----------------------------------------------------------------------------------


def language() -> tuple[Command, Action]:
    """``/language``: English, Chinese, or whatever the app is set to."""

    def change(session: Session, request: Request) -> Reply:
        wanted = request.arguments.strip().casefold()
        learner = session.get_one(Learner, request.learner_id)
        names = {name.casefold(): code for code, name in LANGUAGES.items()}
        code = names.get(wanted, wanted)
        words = request.words
        if wanted == "auto":
            learner.language = None
            locale = request.message.sender.language
            words = words_for(language_from(locale, words_for(words.language).language))
        elif code in LANGUAGES:
            learner.language = code
            words = words_for(code)
        else:
            buttons = tuple(
                Button(label=name, action=f"language:{code}") for code, name in LANGUAGES.items()
            )
            text = (
                words("I speak English and Chinese so far. Which one?")
                if wanted
                else words("Which language shall I speak? The subject may be in any other.")
            )
            auto = Button(label=words("Like my app"), action="language:auto")
            return Reply(Document(markdown=text, buttons=(buttons, (auto,))))
        text = words("I'll speak English with you.")
        return Reply(Document(markdown=text), in_place=True, language=words.language)

    async def handle(request: Request) -> Answer:
        return partial(change, request=request)

    def spoken(typed: str, language: str) -> list[Choice]:
        """Languages of whose name or code this is the beginning."""
        part = typed.strip().casefold()
        return [
            Choice(name, code)
            for code, name in LANGUAGES.items()
            if name.casefold().startswith(part) or code.startswith(part)
        ]

    summary = N_("choose the language I speak")
    spec = CommandSpec("language", summary, N_("en or zh"), choices=spoken)
    return Command(spec, handle), Action("language", handle)


# --- time zone ----------------------------------------------------------------------------------


def timezone() -> tuple[Command, Action]:
    """``/timezone Berlin``: sets the zone by city, IANA name or offset."""

    def change(session: Session, request: Request) -> Reply:
        words, wanted = request.words, request.arguments.strip()
        learner = session.get_one(Learner, request.learner_id)
        found = resolve_zone(wanted) if wanted else []
        if len(found) == 1:
            learner.zone = found[0]
            reminders.move(session, learner)
            text = words(
                "Your time zone is {zone}: it is {time} there now.",
                zone=plain(found[0]),
                time=words.time(request.now, found[0]),
            )
            return Reply(Document(markdown=text), in_place=True)
        if found:
            rows = tuple((Button(label=name[:32], action=f"timezone:{name}"),) for name in found)
            return Reply(Document(markdown=words("Which one do you mean?"), buttons=rows))
        text = words(
            "Your time zone is {zone}: it is {time} there now.",
            zone=plain(request.zone),
            time=words.time(request.now, request.zone),
        )
        way = words("To change it, name a city: `/timezone Berlin`")
        if wanted:
            text = words("I don't know a place or time zone of that name.")
        return Reply(Document(markdown=f"{text}\n\n{way}"))

    async def handle(request: Request) -> Answer:
        return partial(change, request=request)

    def zones(typed: str, language: str) -> list[Choice]:
        """Zones that a person may mean by this."""
        return [Choice(name, name) for name in resolve_zone(typed)]

    summary = N_("set your time zone")
    spec = CommandSpec("timezone", summary, N_("CITY"), private=True, choices=zones)
    return Command(spec, handle), Action("timezone", handle, private=True)


# --- reminders ----------------------------------------------------------------------------------


def reminder() -> Action:
    """The buttons under the first saved card and under a reminder."""

    def change(session: Session, request: Request) -> Reply:
        words = request.words
        learner = session.get_one(Learner, request.learner_id)
        what, _, value = request.arguments.partition(":")
        if what == "at" and value in REMINDER_HOURS:
            learner.reminder_time = value
            learner.reminders = True
            learner.reminders_from = learner.reminders_from or request.now
            hour = time.fromisoformat(value)
            text = words(
                "I'll come at {time} ({zone} time), only when something is due. Another zone? "
                "/timezone",
                time=f"{hour:%H:%M}",
                zone=plain(standing(learner.zone)),
            )
            return Reply(Document(markdown=text, buttons=_off(request)), in_place=True)
        if what == "off":
            learner.reminders = False
            text = words("No reminders, then. /review is always there.")
            on = Button(label=words("Turn reminders on"), action="reminder:on")
            return Reply(Document(markdown=text, buttons=((on,),)), in_place=True)
        if what == "on":
            learner.reminders = True
            learner.reminders_from = request.now
        hours = tuple(Button(label=hour, action=f"reminder:at:{hour}") for hour in REMINDER_HOURS)
        text = words("When shall I come, on days when something is due?")
        return Reply(
            Document(markdown=text, buttons=(hours[:3], hours[3:], *_off(request))), in_place=True
        )

    async def handle(request: Request) -> Answer:
        return partial(change, request=request)

    return Action("reminder", handle, private=True)


def _off(request: Request) -> tuple[tuple[Button, ...], ...]:
    return ((Button(label=request.words("No reminders"), action="reminder:off"),),)
