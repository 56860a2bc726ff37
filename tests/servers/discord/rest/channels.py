"""Endpoints about channels, threads and DMs."""

from __future__ import annotations

from typing import Any

from tests.servers.discord.channels import (
    PRIVATE_THREAD,
    PUBLIC_THREAD,
    Channel,
    Thread,
    opened,
    started,
    started_from,
)
from tests.servers.discord.errors import refusal
from tests.servers.discord.form import Form, snowflake
from tests.servers.discord.limits import THREAD_NAME
from tests.servers.discord.permissions import Permission
from tests.servers.discord.rest.call import Call, Created
from tests.servers.discord.rest.drafts import composed, drafted, notified
from tests.servers.discord.rest.messages import chat_of, message_of
from tests.servers.discord.shown import Shown
from tests.servers.discord.state import State

_ARCHIVE_MINUTES = (60, 1440, 4320, 10080)


def get_channel(state: State, call: Call) -> Any:
    """GET /channels/{channel_id}."""
    return chat_of(state, call.id("channel_id")).json()


def open_direct(state: State, call: Call) -> Any:
    """POST /users/@me/channels. Always the same DM; whether it may be used shows later."""
    form = Form()
    number = snowflake(call.fields.get("recipient_id"))
    if number is None:
        form.missing(("recipient_id",))
    form.check()
    person = state.people.get(number or 0)
    if person is None or person.bot:
        raise refusal(50033)
    return person.private.json()


def _name(form: Form, fields: dict[str, Any]) -> str:
    name = form.text(("name",), fields.get("name"), 1, THREAD_NAME, required=True)
    if fields.get("auto_archive_duration") is not None:
        form.choice(("auto_archive_duration",), fields["auto_archive_duration"], _ARCHIVE_MINUTES)
    return name


def _parent(state: State, call: Call, wanted: Permission) -> Channel:
    chat = chat_of(state, call.id("channel_id"), wanted)
    if not isinstance(chat, Channel) or isinstance(chat, Thread):
        raise refusal(50024)
    return chat


def _finished(thread: Thread, fields: dict[str, Any]) -> dict[str, Any]:
    thread.archive_minutes = fields.get("auto_archive_duration") or thread.archive_minutes
    return thread.json()


def thread_from_message(state: State, call: Call) -> Any:
    """POST /channels/{channel_id}/messages/{message_id}/threads. One message, one thread."""
    parent = _parent(state, call, Permission.CREATE_PUBLIC_THREADS)
    if parent.kind == "forum":
        raise refusal(50024)
    message = message_of(parent, call.id("message_id"))
    form = Form()
    name = _name(form, call.fields)
    form.check()
    if message.thread is not None:
        raise refusal(160004)
    return Created(_finished(started_from(message, name, None), call.fields))


def start_thread(state: State, call: Call) -> Any:
    """POST /channels/{channel_id}/threads: a post in a forum, else a thread without a message."""
    fields = call.fields
    form = Form()
    if state.chats.get(call.id("channel_id")) is not None:
        parent = _parent(state, call, Permission.VIEW_CHANNEL)
        if parent.kind == "forum":
            return _start_post(state, call, parent)
    kind = fields.get("type", PRIVATE_THREAD)
    wanted = Permission.CREATE_PRIVATE_THREADS
    if kind == PUBLIC_THREAD:
        wanted = Permission.CREATE_PUBLIC_THREADS
    parent = _parent(state, call, wanted)
    name = _name(form, fields)
    form.choice(("type",), kind, (PUBLIC_THREAD, PRIVATE_THREAD))
    form.check()
    return Created(_finished(started(parent, name, None, kind), fields))


def _start_post(state: State, call: Call, parent: Channel) -> Any:
    if not parent.bot_may(Permission.SEND_MESSAGES):
        raise refusal(50013)
    form = Form()
    name = _name(form, call.fields)
    if call.fields.get("message") is None:
        form.missing(("message",))
    form.check()
    first = form.mapping(("message",), call.fields["message"])
    form.check()
    draft = drafted(first, call.files, Form(("message",)))
    # The first message has the id of its thread; it is checked before there is one.
    trial = composed(parent, draft, Shown(parent, 0, None, state.now()))
    thread = opened(parent, name, None)
    own = Shown(
        thread,
        thread.id,
        None,
        state.now(),
        trial.text,
        mentions=trial.mentions,
        embeds=trial.embeds,
        components=trial.components,
        attachments=trial.attachments,
        flags=trial.flags,
    )
    message = thread.show(notified(own, draft, None))
    return Created({**_finished(thread, call.fields), "message": message.json()})


def edit_channel(state: State, call: Call) -> Any:
    """PATCH /channels/{channel_id}: name, archiving and locking of a thread."""
    chat = chat_of(state, call.id("channel_id"))
    if not isinstance(chat, Thread):
        raise refusal(50013 if chat.guild is not None else 50003)
    fields = call.fields
    moderator = chat.bot_may(Permission.MANAGE_THREADS)
    unlocking = chat.locked or "locked" in fields
    if not moderator and (unlocking or (chat.owner is not None and "name" in fields)):
        raise refusal(50013)
    if chat.archived and fields.get("archived") is not False:
        raise refusal(50083)
    form = Form()
    if "name" in fields:
        chat_name = form.text(("name",), fields["name"], 1, THREAD_NAME, required=True)
        form.check()
        chat.name = chat_name
    chat.archived = bool(fields.get("archived", chat.archived))
    chat.locked = bool(fields.get("locked", chat.locked))
    chat.changed()
    return chat.json()


def delete_channel(state: State, call: Call) -> Any:
    """DELETE /channels/{channel_id}."""
    chat = chat_of(state, call.id("channel_id"))
    if isinstance(chat, Thread):
        if not chat.bot_may(Permission.MANAGE_THREADS):
            raise refusal(50013)
        chat.delete()
    elif isinstance(chat, Channel):
        if not chat.bot_may(Permission.MANAGE_CHANNELS):
            raise refusal(50013)
        chat.delete()
    return chat.json()


def join_thread(state: State, call: Call) -> None:
    """PUT /channels/{channel_id}/thread-members/@me."""
    chat = chat_of(state, call.id("channel_id"))
    if not isinstance(chat, Thread):
        raise refusal(50024)
    if chat.archived:
        raise refusal(50083)
    chat.joined.add(state.bot_id)
    chat.changed()


def active_threads(state: State, call: Call) -> Any:
    """GET /guilds/{guild_id}/threads/active."""
    guild = state.guilds.get(call.id("guild_id"))
    if guild is None or not guild.available:
        raise refusal(10004)
    threads = [
        thread
        for channel in guild.channels
        for thread in channel.threads
        if not thread.archived and thread.bot_may(Permission.VIEW_CHANNEL)
    ]
    return {"threads": [thread.json() for thread in threads], "members": []}
