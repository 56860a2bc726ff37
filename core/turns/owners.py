"""A stranger knocks: the owners hear of it in their own chats, and decide there with a button."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import partial
from typing import Final

from sqlmodel import Session

from core.access import approve, decide, find_request, reachable_owners
from core.commands.request import Action, Answer, Reply, Request
from core.context import ReplyTarget
from core.document import Button, Document, plain
from core.i18n import Language, language_from, words_for
from core.outbox import free_key, post
from core.store.tables import AccessRequest, AccessState, Account

NOTICES_AN_HOUR: Final = 10
"""An owner hears of so many strangers in an hour of the clock; then once that there are more."""


def tell_owners(
    session: Session,
    request: AccessRequest,
    stranger: Account,
    owners: Collection[str],
    now: datetime,
    language: Language,
) -> None:
    """Tell every owner who has a chat with us that somebody waits to be let in.

    ``owners`` are the accounts that settings name; ``language`` is that of owners whose app tells
    none.
    """
    for owner in reachable_owners(session, owners):
        key = free_key(session, f"knock:{owner.id}", NOTICES_AN_HOUR + 1, now)
        if key is None:
            continue
        words = words_for(owner.language or language_from(owner.home_language, language))
        if key.endswith(f":{NOTICES_AN_HOUR}"):
            text = words(
                "More people are asking to come in. `partners access list` shows them all."
            )
            document = Document(markdown=text)
        else:
            text = words(
                "{name} ({account}) would like to learn here. Their code is {code}.",
                name=f"**{plain(stranger.name)}**",
                account=plain(stranger.id),
                code=f"**{request.code}**",
            )
            admit = Button(label=words("Let in"), action=f"admit:yes:{request.code}")
            refuse = Button(label=words("Not this person"), action=f"admit:no:{request.code}")
            document = Document(markdown=text, buttons=((admit, refuse),))
        post(
            session,
            key=key,
            target=ReplyTarget.model_validate_json(owner.home or ""),
            document=document,
            now=now,
            language=words.language,
            learner_id=owner.id,
        )


def admit(language: Language) -> Action:
    """The buttons under such a notice; ``language`` is that of strangers whose app tells none."""

    async def handle(request: Request) -> Answer:
        return partial(_decide, request=request, language=language)

    return Action("admit", handle, private=True)


def _decide(session: Session, request: Request, language: Language) -> Reply:
    words = request.words
    answer, _, code = request.arguments.partition(":")
    if not request.owner:
        return Reply(Document(markdown=words("Only the one who runs me can decide that.")))
    waiting = find_request(session, code, request.now)
    if waiting is None:
        text = words(
            "This is decided already, or the code is out of date. `partners access list` shows who "
            "waits."
        )
        return Reply(Document(markdown=text), in_place=True)
    if answer == "yes":
        account = approve(session, code, request.now, language)
        name = account.name if account else ""
        return Reply(Document(markdown=words("{name} is in.", name=plain(name))), in_place=True)
    account = decide(session, waiting.account_id, AccessState.DENIED, request.now)
    text = words("{name} stays out and gets no further answer.", name=plain(account.name))
    return Reply(Document(markdown=text), in_place=True)
