"""``/link``: the same person in another app or on another account becomes the same learner."""

from __future__ import annotations

from functools import partial
from typing import Final

from sqlmodel import Session

from core.commands.declare import CommandSpec
from core.commands.request import Action, Answer, Command, Reply, Request
from core.context import ReplyTarget
from core.document import Button, Document, plain
from core.i18n import N_, Language, Words, language_from, words_for
from core.linking import codes
from core.linking.codes import LIFE, Refused
from core.linking.linking import Linking, NotUndone, Side, sides
from core.outbox import post
from core.store.session import Store
from core.store.tables import Account, Learner, Link, LinkCode

UNDO: Final = frozenset({"undo", "撤销"})


def link(linking: Linking, store: Store, language: Language) -> tuple[Command, Action]:
    """``/link`` makes a code, ``/link CODE`` asks before it joins, ``/link undo`` parts again.

    ``language`` is that of people whose app tells none.
    """

    async def handle(request: Request) -> Answer:
        wanted = request.arguments.strip()
        if wanted.casefold() in UNDO:
            return await undo(request, None)
        if wanted:
            return await ask(request, wanted)
        return partial(_make, request=request)

    async def ask(request: Request, code: str) -> Answer:
        return partial(_ask, request=request, code=code)

    async def press(request: Request) -> Answer:
        what, _, value = request.arguments.partition(":")
        if what == "join":
            return await join(request, value)
        if what == "undo":
            return await undo(request, value)
        text = request.words("Nothing was joined.")
        return Reply(Document(markdown=text), in_place=True)

    async def join(request: Request, code: str) -> Answer:
        words = request.words
        done = await linking.join(
            code,
            request.learner_id,
            request.message.sender.account,
            request.now,
            partial(_announce, request=request, language=language),
        )
        if isinstance(done, Refused):
            return Reply(Document(markdown=_refusal(words, done)), in_place=True)
        text = words(
            "Done: here and there you are one learner now, with one memory and all your cards. "
            "For a day this can be undone."
        )
        return Reply(Document(markdown=text, buttons=_undo_button(words, done)), in_place=True)

    async def undo(request: Request, link_id: str | None) -> Answer:
        words = request.words
        done = await linking.undo(request.learner_id, link_id, _cause(request), request.now)
        if isinstance(done, NotUndone):
            return Reply(Document(markdown=_not_undone(words, done)), in_place=link_id is not None)
        text = words(
            "They are two learners again, each with the cards and notes of before. What was "
            "learned since stays with the account it was learned on; a card keeps its reviews."
        )
        return Reply(Document(markdown=text), in_place=link_id is not None)

    spec = CommandSpec("link", N_("be the same learner in another app"), N_("[CODE]"), private=True)
    return Command(spec, handle), Action("link", press, private=True)


def _make(session: Session, request: Request) -> Reply:
    words, account = request.words, request.message.sender.account
    code = codes.make(session, request.learner_id, account, request.now)
    text = words(
        "Your code is {code}. Within {minutes} minutes, write this to me privately in the other "
        "app or from the other account:\n\n`/link {bare}`\n\nTell the code to nobody: who has it "
        "can read what I know about you.",
        code=f"**{code}**",
        minutes=int(LIFE.total_seconds()) // 60,
        bare=code,
    )
    return Reply(Document(markdown=text))


def _ask(session: Session, request: Request, code: str) -> Reply:
    words, account = request.words, request.message.sender.account
    found = codes.find(session, code, request.learner_id, account, request.now)
    if isinstance(found, Refused):
        return Reply(Document(markdown=_refusal(words, found)))
    here, there = sides(session, found, account, request.learner_id)
    text = words(
        "This makes one learner of two: {here} and {there}, where the code was made. The notes, "
        "the days and the cards of both come together; the settings of the one with the code "
        "hold. Go on only if you made the code yourself: from then on, both can read everything.",
        here=_described(words, here),
        there=_described(words, there),
    )
    buttons = (
        Button(label=words("Join"), action=f"link:join:{found.code}"),
        Button(label=words("Cancel"), action="link:cancel"),
    )
    return Reply(Document(markdown=text, buttons=(buttons,)))


def _described(words: Words, side: Side) -> str:
    cards = words.plural("{n} card", "{n} cards", side.cards)
    return f"**{plain(side.name)}** ({plain(side.account)}, {cards})"


def _announce(
    session: Session, link: Link, code: LinkCode, *, request: Request, language: Language
) -> None:
    """Tell the one who made the code, in their own chat, who joined them."""
    maker = session.get_one(Learner, link.kept_id)
    target = ReplyTarget.model_validate_json(maker.home) if maker.home else None
    here = request.message.target.model_copy(update={"reply_to": None})
    if target is None or target == here:
        return
    account = session.get_one(Account, code.account_id)
    words = words_for(
        maker.language or language_from(maker.home_language or account.language, language)
    )
    text = words(
        "{name} ({account}) has joined you with your code: one learner, one memory, one set of "
        "cards. Was that not you? Undo it.",
        name=f"**{plain(request.message.sender.name)}**",
        account=plain(request.message.sender.account),
    )
    post(
        session,
        key=f"linked:{link.id}",
        target=target,
        document=Document(markdown=text, buttons=_undo_button(words, link)),
        now=request.now,
        language=words.language,
        learner_id=maker.id,
    )


def _undo_button(words: Words, link: Link) -> tuple[tuple[Button, ...], ...]:
    return ((Button(label=words("Undo"), action=f"link:undo:{link.id}"),),)


def _cause(request: Request) -> str:
    message = request.message
    return "\n".join((message.target.channel, message.target.account, message.message_id))


def _refusal(words: Words, refused: Refused) -> str:
    match refused:
        case Refused.UNKNOWN:
            return words("I don't know this code. Write /link in the other app for a new one.")
        case Refused.OLD:
            return words("This code is out of date. Write /link in the other app for a new one.")
        case Refused.USED:
            return words("This code was used already. Write /link in the other app for a new one.")
        case Refused.OWN:
            return words(
                "This code is your own, and here I know you already. Write it to me in the other "
                "app, or from the other account."
            )
        case Refused.TOO_MANY:
            return words("Too many codes that led nowhere. Please try again in an hour.")


def _not_undone(words: Words, why: NotUndone) -> str:
    match why:
        case NotUndone.NOTHING:
            return words("Nothing is joined that could be undone.")
        case NotUndone.TOO_LATE:
            return words("That was joined more than a day ago and can't be undone any more.")
        case NotUndone.LATER_FIRST:
            return words("Another account was joined since. Undo that first: /link undo")
        case NotUndone.BUSY:
            return words("Your notes are being written right now. I'll part them in a minute.")
