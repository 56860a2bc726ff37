"""The Telegram server: HTTP on one side, the test's wishes on the other."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tests.servers.base import Answer, Asked, LocalServer, json_response
from tests.servers.faults import Matcher, RecordedRequest, Rule
from tests.servers.telegram import account, messages
from tests.servers.telegram.account import Method
from tests.servers.telegram.chats import Chat
from tests.servers.telegram.errors import NOT_FOUND, UNAUTHORIZED, Refusal
from tests.servers.telegram.limits import LIFTED, USUAL, FloodControl, Rates
from tests.servers.telegram.parameters import Parameters, decode, readable
from tests.servers.telegram.people import Person
from tests.servers.telegram.press import Press
from tests.servers.telegram.shown import Shown
from tests.servers.telegram.state import State
from tests.servers.telegram.updates import Update

METHODS: dict[str, Method] = {
    "answerCallbackQuery": account.answer_callback_query,
    "deleteMessage": messages.delete_message,
    "deleteMyCommands": account.delete_my_commands,
    "deleteWebhook": account.delete_webhook,
    "editMessageReplyMarkup": messages.edit_message_reply_markup,
    "editMessageText": messages.edit_message_text,
    "getChat": account.get_chat,
    "getFile": account.get_file,
    "getMe": account.get_me,
    "getMyCommands": account.get_my_commands,
    "getMyDescription": account.get_my_description,
    "getMyShortDescription": account.get_my_short_description,
    "getUpdates": account.get_updates,
    "getWebhookInfo": account.get_webhook_info,
    "sendChatAction": messages.send_chat_action,
    "sendMessage": messages.send_message,
    "sendMessageDraft": messages.send_message_draft,
    "sendRichMessage": messages.send_rich_message,
    "sendDocument": messages.send_document,
    "sendPhoto": messages.send_photo,
    "setMyCommands": account.set_my_commands,
    "setMyDescription": account.set_my_description,
    "setMyShortDescription": account.set_my_short_description,
    "setWebhook": account.set_webhook,
}
_BY_LOWER = {name.lower(): name for name in METHODS}
_CALL = re.compile(r"/bot(\d+:[^/]+)/(\w+)/?")
_DOWNLOAD = re.compile(r"/file/bot(\d+:[^/]+)/(.+)")


class TelegramServer(LocalServer):
    """One bot's Bot API.

    Steering: ``user``, ``group``, ``supergroup``, ``forum`` make people and chats, which act by
    themselves (``chat.say``, ``chat.press``, ``topic.say``, ``person.block``). Refusals to order:
    ``refuse``; everything else that can break: ``fail``, ``drop``, ``hold``, ``delay``, with the
    method's name.
    """

    def __init__(
        self,
        *,
        token: str = "42:TEST",
        username: str = "tutor_bot",
        rates: Rates | None = USUAL,
        can_read_all_group_messages: bool = False,
        has_topics_enabled: bool = False,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        keep_requests: int | None = None,
    ) -> None:
        """``rates`` None lifts flood control; ``clock`` measures it, ``now`` dates messages."""
        super().__init__(keep_requests=keep_requests)
        self.token = token
        user = {
            "id": int(token.partition(":")[0]),
            "is_bot": True,
            "first_name": "Tutor",
            "username": username,
        }
        self.state = State(self.changes, user, rates or LIFTED, clock, now)
        self.state.reads_all = can_read_all_group_messages
        self.state.private_topics = has_topics_enabled
        self.state.updates.closed = lambda: self.stopping
        self._clock = clock

    # Steering

    def user(
        self,
        user_id: int,
        first_name: str = "Ada",
        language_code: str | None = "en",
        username: str | None = None,
        *,
        started: bool = False,
    ) -> Person:
        """Create a person; the bot can write to them once they wrote, or when ``started``."""
        with self.changes.lock:
            person = Person(self.state, user_id, first_name, language_code, username, started)
            if user_id in self.state.chats:
                raise ValueError(f"there is a chat {user_id} already")
            self.state.chats[user_id] = person.private
        return person

    def group(self, title: str = "Study group") -> Chat:
        """Create a basic group with the bot in it."""
        return self._chat("group", title, forum=False)

    def supergroup(self, title: str = "Study group", username: str | None = None) -> Chat:
        """Create a supergroup without topics."""
        return self._chat("supergroup", title, forum=False, username=username)

    def forum(self, title: str = "Study forum", username: str | None = None) -> Chat:
        """Create a supergroup with topics; ``topic`` opens one."""
        return self._chat("supergroup", title, forum=True, username=username)

    def _chat(self, kind: str, title: str, *, forum: bool, username: str | None = None) -> Chat:
        with self.changes.lock:
            number = -self.state.fresh_id()
            if kind == "supergroup":
                number -= 1_000_000_000_000
            chat = Chat(self.state, number, kind, title=title, username=username, forum=forum)
            self.state.chats[number] = chat
        return chat

    def push_raw(self, update: Update) -> Update:
        """Queue any object as an update, well formed or not; it gets an id unless it has one."""
        return self.state.updates.push_raw(update)

    def redeliver(self, what: Shown | Press | Update) -> Update:
        """Deliver an update once more under its old id, whatever has been confirmed."""
        update = what if isinstance(what, dict) else what.update
        if update is None:
            raise ValueError("the bot was never told of this")
        return self.state.updates.push_raw(update, again=True)

    def refuse(
        self,
        matches: Matcher,
        status: int,
        description: str,
        *,
        times: int | None = 1,
        **parameters: int,
    ) -> Rule:
        """Answer the next matching calls with a refusal of the Bot API.

        ``refuse("sendMessage", 429, "Too Many Requests: retry after 3", retry_after=3)``
        """
        answer = Refusal(status, description, **parameters).answer
        return self.fail(matches, status, answer, times=times)

    def set_rates(self, rates: Rates | None) -> None:
        """Begin flood control anew with these rates; None lifts it."""
        with self.changes.lock:
            self.state.flood = FloodControl(rates or LIFTED, self._clock)

    # Reading

    @property
    def confirmed_offset(self) -> int:
        """Highest offset of a getUpdates: every update below it is confirmed."""
        return self.state.updates.confirmed_offset

    @property
    def pending_updates(self) -> list[Update]:
        """Updates not confirmed yet."""
        return self.state.updates.pending

    def commands(self, language_code: str = "", scope: str = "default") -> list[str]:
        """Return the names of the menu's commands, for scopes that name no chat."""
        menu = self.state.commands.get((f'{{"type": "{scope}"}}', language_code), [])
        return [command["command"] for command in menu]

    async def wait_confirmed(self, update: Update | Shown, within: float = 10.0) -> None:
        """Wait until the client has confirmed an update."""
        data = update if isinstance(update, dict) else update.update
        if data is None:
            raise ValueError("the bot was never told of this")
        number = int(data["update_id"])
        await self.wait_for(lambda: self.confirmed_offset > number, within, "not confirmed")

    async def wait_polling(self, within: float = 10.0) -> None:
        """Wait until a getUpdates stands open: the client is ready and has read all there was."""
        await self.wait_for(lambda: self.state.updates.waiting, within, "nobody polls")

    def wait_polling_blocking(self, within: float = 10.0) -> None:
        """Do the same, blocking the calling thread."""
        self.wait_for_blocking(lambda: self.state.updates.waiting, within, "nobody polls")

    # HTTP

    async def identify(self, request: web.BaseRequest, body: bytes) -> Asked:
        """Name the method in its own spelling; downloads are called ``download``."""
        call = _CALL.fullmatch(request.path)
        if call is None:
            name = "download" if _DOWNLOAD.fullmatch(request.path) else request.path
            return Asked(name, {})
        try:
            values = await decode(request, body)
        except ValueError:
            values = {}
        return Asked(_BY_LOWER.get(call[2].lower(), call[2]), readable(values))

    async def respond(self, request: web.BaseRequest, record: RecordedRequest) -> Answer:
        """Carry out a call or a download."""
        try:
            if download := _DOWNLOAD.fullmatch(request.path):
                return self._download(download[1], download[2])
            call = _CALL.fullmatch(request.path)
            if call is None:
                raise NOT_FOUND
            if call[1] != self.token:
                raise UNAUTHORIZED
            method = METHODS.get(record.name)
            if method is None:
                raise NOT_FOUND
            return json_response({"ok": True, "result": await self._carry_out(method, record)})
        except Refusal as refusal:
            wait = refusal.parameters.get("retry_after")
            headers = {"Retry-After": str(wait)} if wait else None
            return json_response(refusal.answer, refusal.status, headers)

    async def _carry_out(self, method: Method, record: RecordedRequest) -> Any:
        parameters = Parameters(record.json)
        if method is account.get_updates:
            return await method(self.state, parameters)
        # The other methods never wait, so they run whole under the lock.
        with self.changes.lock:
            return await method(self.state, parameters)

    def _download(self, token: str, path: str) -> web.Response:
        if token != self.token:
            raise UNAUTHORIZED
        with self.changes.lock:
            found = [file for file in self.state.files.values() if file.path == path]
        if not found or not found[0].linked:
            raise NOT_FOUND
        return web.Response(body=found[0].data, content_type="application/octet-stream")
