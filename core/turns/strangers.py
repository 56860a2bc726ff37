"""How a stranger is turned away: politely, within measure, with the way in where there is one."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlmodel import Session

from core.access import AccessMode, AccessPolicy, pairing_code
from core.context import ChatKind, InboundMessage
from core.document import Document
from core.i18n import Words
from core.outbox import free_key, post
from core.store.tables import Account
from core.turns.owners import tell_owners

ANSWERS_AN_HOUR = 5
"""A stranger who keeps writing gets this many answers in an hour of the clock, then silence."""
GROUP_ANSWER_EVERY = timedelta(hours=24)


def turn_away(
    session: Session,
    message: InboundMessage,
    account: Account,
    policy: AccessPolicy,
    words: Words,
    row_id: int,
    now: datetime,
) -> bool:
    """Say how to get in, unless it was said often enough; True when it was said.

    A code is told in private only; a group hears once a day where to write. ``row_id`` is the
    message's row in the inbox. With a new code the owners hear who waits.
    """
    if message.chat_kind is not ChatKind.PRIVATE:
        last = account.turned_away_at
        if last and now - last < GROUP_ANSWER_EVERY:
            return False
        account.turned_away_at = now
        key = f"refused:{row_id}"
        text = words("I teach here by invitation. Write to me privately, please.")
    else:
        free = free_key(session, f"refused:{account.id}", ANSWERS_AN_HOUR, now)
        if free is None:
            return False
        key = free
        if policy.mode is AccessMode.PAIRING:
            request, new = pairing_code(
                session, message.sender.account, message.target, words.language, now
            )
            if new:
                tell_owners(session, request, account, policy.owners, now, words.language)
            text = words(
                "Hello! I'm a tutor in this chat. The person who runs me has to let you in "
                "first. Give them this code: {code} (valid for 24 hours). I'll write as soon "
                "as it's done.",
                code=f"**{request.code}**",
            )
        else:
            text = words(
                "Hello! I'm a tutor, but this one is private. Ask the person who runs it to "
                "add you."
            )
    post(
        session,
        key=key,
        target=message.target,
        document=Document(markdown=text),
        now=now,
        language=words.language,
    )
    return True
