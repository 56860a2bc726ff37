"""Threads, posts of a forum and channels that go away."""

from __future__ import annotations

import pytest

from tests.servers.discord import Channel, DiscordServer, Permission, Person
from tests.servers_self.discord_raw import DiscordApi, GatewayClient


@pytest.fixture
def ada(discord: DiscordServer) -> Person:
    return discord.user(7)


@pytest.fixture
def room(discord: DiscordServer, ada: Person) -> Channel:
    return discord.guild("Study group", ada).channel("general")


async def test_a_thread_hangs_on_its_message(
    rest: DiscordApi, line: GatewayClient, room: Channel, ada: Person
) -> None:
    said = room.say(ada, "why?")
    await line.identify()
    await line.event("GUILD_CREATE")
    where = f"POST /channels/{room.id}/messages/{said.message_id}/threads"
    assert await rest.invalid(where, {"name": "x" * 101}) == {"name": "BASE_TYPE_BAD_LENGTH"}
    assert await rest.invalid(where, {"name": "x", "auto_archive_duration": 5}) == {
        "auto_archive_duration": "BASE_TYPE_CHOICES"
    }
    made = await rest.result(where, {"name": "why", "auto_archive_duration": 60})
    assert made["id"] == str(said.message_id) and made["thread_metadata"]["archived"] is False
    created = await line.event("THREAD_CREATE")
    assert created["newly_created"] is True and created["parent_id"] == str(room.id)
    assert (await line.event("MESSAGE_UPDATE"))["thread"]["id"] == made["id"]
    starter = await line.event("MESSAGE_CREATE")
    assert starter["type"] == 21 and starter["referenced_message"]["content"] == "why?"
    assert await rest.refused(where, {"name": "again"}) == (400, 160004)
    [thread] = room.threads
    thread.say(ada, "in here")
    told = await line.event("MESSAGE_CREATE")
    assert told["channel_id"] == made["id"] and told["guild_id"] == str(room.guild.id)
    await rest.send(thread, content="here too")
    assert (await thread.wait_message(lambda m: m.text == "here too")).chat is thread


async def test_a_thread_without_a_message_is_announced(
    rest: DiscordApi, line: GatewayClient, room: Channel, ada: Person
) -> None:
    await line.identify()
    await line.event("GUILD_CREATE")
    thread = room.thread("practice", by=ada)
    await line.event("THREAD_CREATE")
    notice = await line.event("MESSAGE_CREATE")
    assert (notice["type"], notice["content"]) == (18, "practice")
    assert notice["message_reference"]["channel_id"] == str(thread.id)
    own = await rest.result(f"POST /channels/{room.id}/threads", {"name": "mine", "type": 11})
    assert own["owner_id"] == str(rest.server.bot_id)
    private = await rest.result(f"POST /channels/{room.id}/threads", {"name": "hidden"})
    assert private["type"] == 12
    active = await rest.result(f"GET /guilds/{room.guild.id}/threads/active")
    assert {found["name"] for found in active["threads"]} == {"practice", "mine", "hidden"}
    nested = f"POST /channels/{thread.id}/threads"
    assert await rest.refused(nested, {"name": "x"}) == (400, 50024)
    room.deny(Permission.CREATE_PUBLIC_THREADS)
    refused = f"POST /channels/{room.id}/threads"
    assert await rest.refused(refused, {"name": "x", "type": 11}) == (403, 50013)


async def test_a_post_of_a_forum_begins_with_its_text(
    rest: DiscordApi, line: GatewayClient, room: Channel, ada: Person
) -> None:
    forum = room.guild.forum("questions")
    await line.identify()
    await line.event("GUILD_CREATE")
    post = forum.open_post(ada, "Fractions", "why flip?")
    created = await line.event("THREAD_CREATE")
    told = await line.event("MESSAGE_CREATE")
    assert created["id"] == told["id"] == told["channel_id"] == str(post.id)
    assert told["content"] == "why flip?"
    assert await rest.refused(f"POST /channels/{forum.id}/messages", {"content": "x"}) == (
        400,
        50008,
    )
    where = f"POST /channels/{forum.id}/threads"
    assert await rest.invalid(where, {"name": "x"}) == {"message": "BASE_TYPE_REQUIRED"}
    long = {"name": "x", "message": {"content": "x" * 2001}}
    assert await rest.invalid(where, long) == {"message.content": "BASE_TYPE_MAX_LENGTH"}
    assert await rest.refused(where, {"name": "x", "message": {}}) == (400, 50006)
    assert len(forum.threads) == 1
    own = await rest.result(where, {"name": "Tips", "message": {"content": "read this"}})
    assert own["message"]["id"] == own["id"] and forum.threads[1].from_bot[0].text == "read this"
    with pytest.raises(ValueError, match="forum"):
        room.open_post(ada, "x", "y")


async def test_an_archived_thread_wakes_for_a_message_and_for_nothing_else(
    rest: DiscordApi, room: Channel, ada: Person
) -> None:
    thread = room.thread("practice", by=ada)
    said = thread.say(ada, "x")
    own = await rest.send(thread, content="y")
    base = f"/channels/{thread.id}"
    thread.archive()
    edit = f"PATCH {base}/messages/{own['id']}"
    assert await rest.refused(edit, {"content": "z"}) == (400, 50083)
    reaction = f"PUT {base}/messages/{said.message_id}/reactions/%F0%9F%91%8D/@me"
    assert await rest.refused(reaction) == (400, 50083)
    assert await rest.refused(f"POST {base}/typing") == (400, 50083)
    assert await rest.refused(f"PUT {base}/thread-members/@me") == (400, 50083)
    await rest.send(thread, content="awake")
    assert thread.archived is False
    thread.archive(locked=True)
    send = f"POST {base}/messages"
    assert await rest.refused(send, {"content": "x"}) == (400, 50083)
    assert await rest.refused(f"PATCH {base}", {"archived": False}) == (403, 50013)
    room.guild.allow(Permission.MANAGE_THREADS)
    await rest.result(f"PATCH {base}", {"archived": False, "locked": False, "name": "open"})
    assert (thread.name, thread.locked) == ("open", False)
    await rest.result(f"PUT {base}/thread-members/@me")
    await rest.result(f"DELETE {base}")
    assert await rest.refused(send, {"content": "x"}) == (404, 10003)
    assert room.threads == []


async def test_a_deleted_channel_is_unknown(
    rest: DiscordApi, line: GatewayClient, room: Channel
) -> None:
    await line.identify()
    await line.event("GUILD_CREATE")
    room.delete()
    assert (await line.event("CHANNEL_DELETE"))["id"] == str(room.id)
    assert await rest.refused(f"GET /channels/{room.id}") == (404, 10003)
