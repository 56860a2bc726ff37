"""The learner's collection of cards: ``/cards`` looks through it; a card is changed and deleted.

A card is named by its button, or in words by its sign. Where an app can show a form, the button
[Edit] opens one; elsewhere it says what to write.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from sqlmodel import Session

from core.clock import study_date
from core.commands.cards import edit_button, problem
from core.commands.declare import CommandSpec
from core.commands.request import Action, Answer, Command, Reply, Request
from core.context import LearnerId, Press
from core.document import Button, Document, plain
from core.forms import Field, Form
from core.i18n import N_, Words
from core.ids import new_id
from core.learning import deck
from core.learning.cards import (
    BACK_MAX,
    FRONT_MAX,
    CardProblem,
    CardText,
    card_of,
    is_leech,
    parse_card,
)
from core.store.tables import Card
from memory.journal import Event
from memory.layers import Surface

PAGE: Final = 10
"""Cards that one list offers."""

_LABEL: Final = 32
_ACTION: Final = 64


def command() -> Command:
    """``/cards``, ``/cards WORDS``, ``/cards SIGN`` and ``/cards SIGN QUESTION :: ANSWER``."""
    return Command(
        CommandSpec("cards", N_("see, change and delete your cards"), N_("[WORDS]"), private=True),
        _look,
    )


def actions() -> tuple[Action, ...]:
    """The buttons of this room."""
    return (
        Action("cards", _older, private=True),
        Action("card", partial(_with_card, then=_shown), private=True),
        Action("keepcard", partial(_with_card, then=_kept), private=True),
        Action("editcard", partial(_with_card, then=_how), private=True, form=_form),
        Action("savecard", _filled, private=True),
        Action("dropcard", partial(_with_card, then=_sure), private=True),
        Action("dropped", partial(_with_card, then=_drop), private=True),
    )


# --- looking ------------------------------------------------------------------------------------


async def _look(request: Request) -> Answer:
    word, _, rest = request.arguments.strip().partition(" ")
    if not rest and "\n" in word:
        word, _, rest = word.partition("\n")
    return partial(_found, request=request, word=word, rest=rest)


def _found(session: Session, request: Request, word: str, rest: str) -> Reply:
    card = deck.signed(session, request.learner_id, word)
    if card is None:
        return _page(session, request, request.arguments.strip(), 0)
    if not rest.strip():
        return _shown(session, request, card)
    return _change(session, request, card, parse_card(rest))


async def _older(request: Request) -> Answer:
    skipped, _, wanted = request.arguments.partition(":")
    return partial(_page, request=request, wanted=wanted, skip=int(skipped or 0))


def _page(session: Session, request: Request, wanted: str, skip: int) -> Reply:
    words = request.words
    cards = deck.newest(session, request.learner_id, wanted)
    if not cards and wanted:
        text = words("No card of yours has “{text}” in it. /cards shows all.", text=plain(wanted))
        return Reply(Document(markdown=text))
    if not cards:
        return Reply(Document(markdown=words("You have no cards yet. Save one with /add.")))
    rows = [
        (Button(label=_label(card.front), action=f"card:{card.id}"),)
        for card in cards[skip : skip + PAGE]
    ]
    older = f"cards:{skip + PAGE}:{wanted}"
    if len(cards) > skip + PAGE and len(older.encode()) <= _ACTION:
        rows.append((Button(label=words("Older ones"), action=older),))
    text = words.plural(
        "{n} card. Choose it to see or change it.",
        "{n} cards, newest first. Choose one to see or change it; /cards with a word finds those "
        "that have it.",
        len(cards),
    )
    return Reply(Document(markdown=text, buttons=tuple(rows)), in_place=skip > 0)


async def _with_card(request: Request, then: Callable[[Session, Request, Card], Reply]) -> Answer:
    def work(session: Session) -> Reply:
        card = deck.own(session, request.learner_id, request.arguments)
        return then(session, request, card) if card else _gone(request.words)

    return work


def _gone(words: Words) -> Reply:
    return Reply(Document(markdown=words("This card is gone. /review shows what is due.")))


def _shown(session: Session, request: Request, card: Card) -> Reply:
    return Reply(_card(request, card))


def _kept(session: Session, request: Request, card: Card) -> Reply:
    return Reply(_card(request, card), in_place=True)


def _card(request: Request, card: Card, above: str = "") -> Document:
    """A card with both sides, and what can be done with it."""
    words = request.words
    today = study_date(request.now, ZoneInfo(request.zone))
    if is_leech(card.lapses):
        state = words("It was forgotten so often that it rests. Save it anew in other words.")
    elif card.stability is None or card.due_day <= today:
        state = words("It is in /review at once.")
    else:
        state = words("It comes {day}.", day=words.day(card.due_day, today))
    head = f"{above}\n\n" if above else ""
    return Document(
        markdown=f"{head}{card.front}\n\n---\n\n{card.back}\n\n*{state}* `{deck.sign(card)}`",
        buttons=(
            (
                edit_button(words, card.id),
                Button(label=words("Delete"), action=f"dropcard:{card.id}"),
            ),
        ),
    )


def _label(text: str) -> str:
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= _LABEL else f"{line[: _LABEL - 1]}…"


# --- changing -----------------------------------------------------------------------------------


def _form(session: Session, learner_id: LearnerId, words: Words, arguments: str) -> Form | None:
    card = deck.own(session, learner_id, arguments)
    if card is None:
        return None
    return Form(
        title=words("Change the card"),
        action=f"savecard:{card.id}",
        fields=(
            Field(words("Question"), card.front, FRONT_MAX),
            Field(words("Answer"), card.back, BACK_MAX),
        ),
    )


def _how(session: Session, request: Request, card: Card) -> Reply:
    text = f"/cards {deck.sign(card)} {card.front} :: {card.back}"
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    said = request.words("Copy this, change what is behind the sign, and send it:")
    return Reply(Document(markdown=f"{said}\n\n{fence}\n{text}\n{fence}"))


async def _filled(request: Request) -> Answer:
    content = request.message.content
    sides = content.filled if isinstance(content, Press) else ()
    if len(sides) != 2:
        return await _with_card(request, _how)
    text = card_of(*(side.replace("\r\n", "\n").replace("\0", "") for side in sides))
    return await _with_card(request, partial(_change, text=text))


def _change(session: Session, request: Request, card: Card, text: CardText | CardProblem) -> Reply:
    words = request.words
    if isinstance(text, CardProblem):
        return Reply(Document(markdown=problem(words, text, request.arguments)))
    if not deck.change(session, card, text):
        return Reply(Document(markdown=words("You have this card already.")))
    event = Event(
        new_id(request.now),
        request.now.astimezone(ZoneInfo(request.zone)),
        Surface.REVIEW,
        f"changed a card: {text.front} :: {text.back}",
    )
    return Reply(_card(request, card, words("Changed.")), events=(event,))


# --- deleting -----------------------------------------------------------------------------------


def _sure(session: Session, request: Request, card: Card) -> Reply:
    words = request.words
    text = words("Delete this card, with what you answered to it?")
    return Reply(
        Document(
            markdown=f"{card.front}\n\n---\n\n{card.back}\n\n{text}",
            buttons=(
                (
                    Button(label=words("Delete it"), action=f"dropped:{card.id}"),
                    Button(label=words("Keep it"), action=f"keepcard:{card.id}"),
                ),
            ),
        ),
        in_place=True,
    )


def _drop(session: Session, request: Request, card: Card) -> Reply:
    deck.drop(session, card)
    return Reply(Document(markdown=request.words("Deleted.")), in_place=True)
