"""A person with an account, and what they do to the bot in private."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.servers.feishu.chats import Chat, Topic
from tests.servers.feishu.shown import Shown

if TYPE_CHECKING:
    from tests.servers.feishu.state import State


class Bot:
    """The app's own account."""

    is_bot = True

    def __init__(self, open_id: str, name: str) -> None:
        self.open_id = open_id
        self.name = name

    def ids(self) -> dict[str, str | None]:
        """Return its ids; a bot is no employee."""
        return {"open_id": self.open_id, "union_id": f"on_{self.open_id[3:]}", "user_id": ""}


class Person:
    """A person with an account, and the private chat with the bot that belongs to it."""

    is_bot = False

    def __init__(
        self,
        state: State,
        open_id: str,
        name: str,
        locale: str,
        union_id: str,
        user_id: str | None,
    ) -> None:
        self.state = state
        self.open_id = open_id
        self.union_id = union_id
        self.user_id = user_id
        """None for somebody of another company."""
        self.name = name
        self.locale = locale
        """As in ``zh_CN``; the apps tell it in their user agent."""
        self.available = True
        """Within the app's availability range."""
        self.stopped = False
        """Has stopped the bot from sending to them."""
        self.private = Chat(state, f"oc_p2p{open_id[3:]}", "p2p", person=self)

    def __repr__(self) -> str:
        return f"Person({self.open_id}, {self.name!r})"

    def ids(self) -> dict[str, str | None]:
        """Return the ids that events show; user_id only with its own scope."""
        shown = "contact:user.employee_id:readonly" in self.state.scopes
        return {
            "open_id": self.open_id,
            "union_id": self.union_id,
            "user_id": self.user_id if shown else None,
        }

    def json(self) -> dict[str, Any]:
        """Return the user object of the contact interfaces."""
        data: dict[str, Any] = {"open_id": self.open_id, "union_id": self.union_id}
        if "contact:user.base:readonly" in self.state.scopes:
            data |= {"name": self.name, "en_name": self.name, "nickname": ""}
        if "contact:user.employee_id:readonly" in self.state.scopes and self.user_id:
            data["user_id"] = self.user_id
        return data

    def say(
        self, text: str, *, reply_to: Shown | None = None, thread: Topic | None = None
    ) -> Shown:
        """Write to the bot in private."""
        return self.private.say(self, text, reply_to=reply_to, thread=thread)

    def enter(self) -> None:
        """Open the private chat with the bot; it is told so."""
        last = self.private.messages[-1:]
        self.state.emit(
            "im.chat.access_event.bot_p2p_chat_entered_v1",
            {
                "chat_id": self.private.chat_id,
                "operator_id": self.ids(),
                "last_message_id": last[0].message_id if last else "",
                "last_message_create_time": str(last[0].created) if last else "",
            },
        )
