"""A button of a card that was pressed, and what the bot answered.

The platform waits three seconds for the answer and asks only once; meanwhile the card cannot be
changed from outside. What the person sees when it goes wrong is ``Press.error``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tests.servers.changes import PATIENCE
from tests.servers.feishu import cards
from tests.servers.feishu.delivery import Delivery
from tests.servers.feishu.errors import CardRefusal
from tests.servers.feishu.limits import CARD_SECONDS
from tests.servers.feishu.shown import Shown

if TYPE_CHECKING:
    from tests.servers.feishu.chats import Chat
    from tests.servers.feishu.people import Person

NO_ANSWER = 200341
"""Nothing came within three seconds."""
NOT_CONNECTED = 200342
"""No long connection was open."""
FAILED = 200671
"""The answer's code was not 200."""
BAD_ANSWER = 200672
"""The answer is neither a toast nor a card."""
BAD_CARD = 200673
"""The card in the answer is none."""
EXPIRED = 200750
"""The card is older than 14 days; the bot is not even asked."""

_TOASTS = frozenset({"info", "success", "warning", "error"})


@dataclass(slots=True, eq=False)
class Press:
    """One press."""

    chat: Chat
    message: Shown
    delivery: Delivery | None = None
    """None when the bot was not asked."""
    done: bool = False
    error: int | None = None
    """The code the person sees instead of an answer."""
    toast: dict[str, Any] | None = None
    card: dict[str, Any] | None = None
    """The card the bot answered with."""
    card_shown: bool = False
    """Whether it was shown: not while the card streams, not after 14 days."""

    async def wait_answered(self, within: float = PATIENCE) -> Press:
        """Return this once the person sees an answer or an error."""
        await self.chat.changes.wait_for(lambda: self.done, within, "no answer to the press")
        return self

    def wait_answered_blocking(self, within: float = PATIENCE) -> Press:
        """Do the same, blocking the calling thread."""
        self.chat.changes.wait_for_blocking(lambda: self.done, within, "no answer to the press")
        return self

    def fail(self, error: int) -> None:
        """Show the person an error."""
        self.error = error
        self.done = True

    def settled(self, delivery: Delivery) -> None:
        """Show what came back, or what went wrong. Called under the lock."""
        state = self.chat.state
        state.pressed.discard(self.message.message_id)
        ack = delivery.acks[-1] if delivery.acks else None
        if delivery.attempts[-1].connection is None:
            self.fail(NOT_CONNECTED)
        elif ack is None or ack.late:
            self.fail(NO_ANSWER)
        elif ack.code != 200:
            self.fail(FAILED)
        elif ack.malformed or not isinstance(ack.data, (dict, type(None))):
            self.fail(BAD_ANSWER)
        else:
            self._show(ack.data or {})
        self.chat.announce()

    def _show(self, answer: dict[str, Any]) -> None:
        toast, card = answer.get("toast"), answer.get("card")
        if set(answer) - {"toast", "card"}:
            return self.fail(BAD_ANSWER)
        if toast is not None:
            if not isinstance(toast, dict) or toast.get("type", "info") not in _TOASTS:
                return self.fail(BAD_ANSWER)
            self.toast = toast
        if card is not None:
            if not isinstance(card, dict) or card.get("type") != "raw":
                return self.fail(BAD_ANSWER)
            present = self.chat.now(self.message)
            try:
                cards.check(card.get("data"), self.chat.state.known)
            except CardRefusal:
                return self.fail(BAD_CARD)
            self.card = card["data"]
            if cards.is_new(present.content) != cards.is_new(self.card or {}):
                return self.fail(BAD_CARD)
            if not present.streaming and not expired(present):
                now = self.chat.state.clock.milliseconds()
                self.chat.put(replace(present, content=card["data"], updated=now))
                self.card_shown = True
        self.done = True
        return None


def expired(message: Shown) -> bool:
    """Tell whether a card is too old to be pressed or changed."""
    age = message.chat.state.clock.milliseconds() - message.created
    return age > CARD_SECONDS * 1000


def press(
    chat: Chat, message: Shown, button: object, user: Person, form: dict[str, Any] | None
) -> Press:
    """Press a button of a card as it is shown now; LookupError when it is not there or dead."""
    state = chat.state
    with state.changes.lock:
        present = chat.now(message)
        found = present.button(button)
        value = cards.value(found)
        submits = found.get("form_action_type") == "submit"
        if found.get("disabled"):
            raise LookupError(f"the button {button!r} is disabled")
        if value is None and not submits:
            raise LookupError(f"the button {button!r} sends nothing to the bot")
        result = Press(chat, present)
        if expired(present):
            result.fail(EXPIRED)
            return result
        action: dict[str, Any] = {"tag": "button", "timezone": "Asia/Shanghai"}
        if value is not None:
            action["value"] = value
        if "name" in found:
            action["name"] = found["name"]
        if submits:
            action["form_value"] = form or {}
        event = {
            "operator": {"tenant_key": state.tenant_key, **user.ids()},
            "token": state.fresh("c"),
            "action": action,
            "host": "im_message",
            "context": {"open_message_id": present.message_id, "open_chat_id": chat.chat_id},
        }
        if "card.action.trigger" not in state.subscribed:
            result.fail(NOT_CONNECTED)
            return result
        state.pressed.add(present.message_id)
        result.delivery = state.gateway.push(
            state.envelope("card.action.trigger", event),
            retried=False,
            on_settled=result.settled,
        )
    return result
