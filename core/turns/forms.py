"""Which form a press opens: asked by a channel that shows forms, before anything is recorded.

Nothing is changed here. Whoever may not learn here, and whatever the database cannot tell at once,
gets none: the press then goes the way of every other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.exc import DatabaseError
from sqlmodel import Session

from core.commands.book import CommandBook
from core.commands.request import MakeForm
from core.context import ChatKind, InboundMessage, LearnerId, Press
from core.forms import Form
from core.i18n import language_from, words_for
from core.partners import Partners
from core.store.session import Store
from core.store.tables import Account, Learner
from core.turns.intake import ADMITTED, Defaults

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Forms:
    """Finds forms for one house."""

    store: Store
    partners: Partners
    defaults: Defaults
    book: Callable[[], CommandBook]

    async def find(self, message: InboundMessage) -> Form | None:
        """Return the form that a press opens; see ``core.forms.FindForm``."""
        if not isinstance(message.content, Press):
            return None
        found = self.book().action(message.content.action)
        if found is None or found[0].form is None:
            return None
        action, arguments = found
        if action.private and message.chat_kind is not ChatKind.PRIVATE:
            return None
        make: MakeForm = found[0].form
        try:
            return await self.store.read(lambda s: self._made(s, message, make, arguments))
        except DatabaseError:
            log.warning("a form could not be read; the press is answered in words")
            return None

    def _made(
        self, session: Session, message: InboundMessage, make: MakeForm, arguments: str
    ) -> Form | None:
        account = session.get(Account, message.sender.account)
        learner = session.get(Learner, account.learner_id) if account else None
        if account is None or learner is None:
            return None
        partner = self.partners.of(message.target)
        if partner.policy.judge(account.id, account.access) not in ADMITTED:
            return None
        told = partner.language or message.sender.language or account.language
        language = learner.language or language_from(told, self.defaults.language)
        return make(session, LearnerId(learner.id), words_for(language), arguments)
