"""What people and the bot do in DMs, channels, threads and forums of the Discord server."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from tests.servers.discord import (
    Channel,
    DiscordServer,
    Permission,
    Person,
    Upload,
    media,
)
from tests.servers.discord.limits import NONCE_SECONDS
from tests.servers.faults import Stage
from tests.servers_self.discord_raw import DiscordApi, GatewayClient


@pytest.fixture
def ada(discord: DiscordServer) -> Person:
    return discord.user(7)


@pytest.fixture
def room(discord: DiscordServer, ada: Person) -> Channel:
    return discord.guild("Study group", ada).channel("general")


async def test_a_private_conversation_goes_round(
    discord: DiscordServer, rest: DiscordApi, line: GatewayClient, ada: Person
) -> None:
    await line.identify()
    said = ada.say("hello")
    told = await line.event("MESSAGE_CREATE")
    assert told["content"] == "hello" and told["author"]["id"] == "7"
    assert "guild_id" not in told and "member" not in told
    await rest.result(f"POST /channels/{told['channel_id']}/typing")
    assert (await ada.private.wait_action()).action == "typing"
    reference = {"message_id": told["id"], "channel_id": told["channel_id"]}
    await rest.send(ada.private, content="hi", message_reference=reference)
    answer = await ada.private.wait_message(after=said)
    assert (answer.text, answer.reply_to) == ("hi", said.message_id)
    own = await line.event("MESSAGE_CREATE")
    assert own["author"]["bot"] is True and own["type"] == 19
    assert own["referenced_message"]["content"] == "hello"
    ada.private.edit(said, "hello!")
    edited = await line.event("MESSAGE_UPDATE")
    assert edited["content"] == "hello!" and edited["edited_timestamp"]
    ada.private.remove(said)
    assert (await line.event("MESSAGE_DELETE"))["id"] == told["id"]
    line_of_answer = f"GET /channels/{ada.private.id}/messages/{answer.message_id}"
    assert (await rest.result(line_of_answer))["referenced_message"] is None


async def test_a_message_in_a_server_carries_member_and_mentions(
    discord: DiscordServer, line: GatewayClient, room: Channel, ada: Person
) -> None:
    role = room.guild.role("tutors", ada, bot=True)
    await line.identify()
    await line.event("GUILD_CREATE")
    room.say(ada, f"{discord.mention} <@&{role.id}> <@99> @everyone `<@7>`")
    told = await line.event("MESSAGE_CREATE")
    assert [person["id"] for person in told["mentions"]] == [str(discord.bot_id)]
    assert told["mentions"][0]["member"]["roles"]
    assert told["mention_roles"] == [str(role.id)]
    assert told["mention_everyone"] is True
    assert told["member"]["roles"] == [str(role.id)]
    assert told["guild_id"] == str(room.guild.id)


@pytest.mark.parametrize(
    ("allowed", "pinged"),
    [
        (..., {7, 8, "role", "everyone"}),
        ({"parse": []}, set()),
        ({}, set()),
        ({"parse": ["users"]}, {8}),
        ({"parse": ["everyone"]}, {"everyone"}),
        ({"parse": ["roles"], "users": ["8"]}, {8, "role"}),
        ({"parse": [], "replied_user": True}, {7}),
    ],
)
async def test_only_allowed_mentions_notify(
    discord: DiscordServer,
    rest: DiscordApi,
    room: Channel,
    ada: Person,
    allowed: object,
    pinged: set[int | str],
) -> None:
    discord.user(8, "Bo")
    role = room.guild.role("tutors", ada)
    said = room.say(ada, "who?")
    fields: dict[str, Any] = {
        "content": f"<@8> <@&{role.id}> @everyone",
        "message_reference": {"message_id": str(said.message_id)},
    }
    if allowed is not ...:
        fields["allowed_mentions"] = allowed
    sent = await rest.send(room, **fields)
    expected = {role.id if who == "role" else who for who in pinged}
    assert room.from_bot[0].pinged == expected
    assert sent["mention_everyone"] is ("everyone" in pinged)
    edit = f"PATCH /channels/{room.id}/messages/{sent['id']}"
    await rest.result(edit, {"content": "<@7> @here"})
    assert room.from_bot[0].pinged == expected


async def test_everyone_needs_a_permission(rest: DiscordApi, room: Channel) -> None:
    room.deny(Permission.MENTION_EVERYONE)
    await rest.send(room, content="@everyone")
    assert room.from_bot[0].pinged == set()


async def test_a_nonce_makes_one_message(rest: DiscordApi) -> None:
    time = [0.0]
    with DiscordServer(rates=None, clock=lambda: time[0]) as server:
        ada = server.user(7)
        ada.say("hello")
        api = DiscordApi(rest.session, server)
        gate = server.drop("createMessage", stage=Stage.ANSWER)
        fields = {"content": "hi", "nonce": "n1", "enforce_nonce": True}
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await api.send(ada.private, **fields)
        assert gate.used == 1
        again = await api.send(ada.private, **fields)
        assert len(ada.private.from_bot) == 1
        assert again["id"] == str(ada.private.from_bot[0].message_id)
        assert again["nonce"] == "n1"
        await api.send(ada.private, content="hi", nonce="n1")
        await api.send(ada.private, content="hi", nonce="n2", enforce_nonce=True)
        assert len(ada.private.from_bot) == 3
        time[0] += NONCE_SECONDS + 1
        await api.send(ada.private, content="hi", nonce="n2", enforce_nonce=True)
        assert len(ada.private.from_bot) == 4


async def test_the_history_is_paged_from_either_end(
    rest: DiscordApi, room: Channel, ada: Person
) -> None:
    said = [room.say(ada, str(number)) for number in range(7)]

    async def page(query: str) -> list[str]:
        found = await rest.result(f"GET /channels/{room.id}/messages?{query}")
        return [message["content"] for message in found]

    assert await page("limit=2") == ["6", "5"]
    assert await page(f"limit=2&before={said[3].message_id}") == ["2", "1"]
    assert await page(f"limit=2&after={said[3].message_id}") == ["5", "4"]
    assert await page(f"limit=3&around={said[3].message_id}") == ["4", "3", "2"]
    both = f"GET /channels/{room.id}/messages?before=1&after=1"
    assert (await rest(both))[0] == 400


async def test_answering_what_is_gone_is_refused_unless_told_otherwise(
    rest: DiscordApi, room: Channel, ada: Person
) -> None:
    said = room.say(ada, "hello")
    room.remove(said)
    reference: dict[str, Any] = {"message_id": str(said.message_id)}
    body = {"content": "x", "message_reference": reference}
    line = f"POST /channels/{room.id}/messages"
    assert await rest.invalid(line, body) == {"message_reference": "REPLIES_UNKNOWN_MESSAGE"}
    reference["fail_if_not_exists"] = False
    sent = await rest.result(line, body)
    assert sent["type"] == 0 and "message_reference" not in sent
    joined = room.post(ada, kind=7)
    system = {"content": "x", "message_reference": {"message_id": str(joined.message_id)}}
    assert await rest.invalid(line, system) == {
        "message_reference": "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE"
    }


async def test_an_edit_changes_what_it_names(rest: DiscordApi, room: Channel) -> None:
    buttons = [{"type": 1, "components": [{"type": 2, "style": 1, "label": "a", "custom_id": "a"}]}]
    sent = await rest.send(room, content="x", components=buttons)
    line = f"PATCH /channels/{room.id}/messages/{sent['id']}"
    await rest.result(line, {"content": "y"})
    assert room.from_bot[0].labels == ["a"]
    await rest.result(line, {"components": []})
    assert (room.from_bot[0].text, room.from_bot[0].labels) == ("y", [])
    await rest.result(f"DELETE /channels/{room.id}/messages/{sent['id']}")
    assert room.messages == []


async def test_files_go_both_ways(
    discord: DiscordServer, rest: DiscordApi, line: GatewayClient, ada: Person
) -> None:
    await line.identify()
    ada.say("look", attachments=[Upload("my notes.txt", b"words", "text/plain")])
    [told] = (await line.event("MESSAGE_CREATE"))["attachments"]
    assert (told["filename"], told["size"]) == ("my_notes.txt", 5)
    async with rest.session.get(told["url"]) as response:
        assert await response.read() == b"words"
        assert response.headers["Content-Type"] == "text/plain"
    form = aiohttp.FormData()
    described = '{"attachments": [{"id": 0, "filename": "f.png", "description": "a formula"}]}'
    form.add_field("payload_json", described, content_type="application/json")
    form.add_field("files[0]", b"\x89PNG", filename="f.png", content_type="image/png")
    sent = await rest.result(f"POST /channels/{ada.private.id}/messages", form=form)
    [file] = ada.private.from_bot[0].attachments
    assert (file.filename, file.data, file.description) == ("f.png", b"\x89PNG", "a formula")
    edit = f"PATCH /channels/{ada.private.id}/messages/{sent['id']}"
    await rest.result(edit, {"content": "kept", "attachments": [{"id": str(file.file_id)}]})
    assert len(ada.private.from_bot[0].attachments) == 1
    await rest.result(edit, {"attachments": []})
    assert not ada.private.from_bot[0].attachments
    assert discord.requests_of("download")


async def test_a_link_to_a_file_lives_for_a_day(session: aiohttp.ClientSession) -> None:
    moment = [1_700_000_000.0]
    with DiscordServer(rates=None, now=lambda: moment[0]) as server:
        ada = server.user(7)
        said = ada.say("x", attachments=[Upload("a.txt", b"a")])
        link = said.attachments[0].json(server.state)["url"]
        for path, status in ((link, 200), (link.partition("?")[0], 404), (link + "0", 200)):
            async with session.get(path) as response:
                assert response.status == status
        moment[0] += 24 * 60 * 60 + 1
        async with session.get(link) as response:
            assert response.status == 404
            assert "no longer available" in await response.text()


async def test_reactions_are_told_and_kept(
    rest: DiscordApi, line: GatewayClient, room: Channel, ada: Person
) -> None:
    said = room.say(ada, "x")
    await line.identify()
    await line.event("GUILD_CREATE")
    base = f"/channels/{room.id}/messages/{said.message_id}/reactions/%F0%9F%91%8D"
    await rest.result(f"PUT {base}/@me")
    assert (await line.event("MESSAGE_REACTION_ADD"))["emoji"]["name"] == "👍"
    room.react(said, ada, "👍")
    added = await line.event("MESSAGE_REACTION_ADD")
    assert added["user_id"] == "7" and added["member"]["user"]["id"] == "7"
    assert [user["id"] for user in await rest.result(f"GET {base}")] == [
        str(rest.server.bot_id),
        "7",
    ]
    await rest.result(f"DELETE {base}/@me")
    assert (await line.event("MESSAGE_REACTION_REMOVE"))["user_id"] == str(rest.server.bot_id)
    shown = await rest.result(f"GET /channels/{room.id}/messages/{said.message_id}")
    assert shown["reactions"][0]["count"] == 1 and shown["reactions"][0]["me"] is False


async def test_a_dm_can_be_opened_before_anything_was_said(
    discord: DiscordServer, rest: DiscordApi, ada: Person
) -> None:
    opened = await rest.result("POST /users/@me/channels", {"recipient_id": "7"})
    again = await rest.result("POST /users/@me/channels", {"recipient_id": 7})
    assert opened["id"] == again["id"] and opened["type"] == 1
    assert await rest.invalid("POST /users/@me/channels", {}) == {
        "recipient_id": "BASE_TYPE_REQUIRED"
    }
    assert await rest.refused("POST /users/@me/channels", {"recipient_id": "99"}) == (400, 50033)
    line = f"POST /channels/{opened['id']}/messages"
    assert await rest.refused(line, {"content": "x"}) == (403, 50007)
    guild = discord.guild("g", ada)
    await rest.result(line, {"content": "hello"})
    ada.dms_closed = True
    assert await rest.refused(line, {"content": "x"}) == (403, 50007)
    ada.dms_closed = False
    guild.leave(ada)
    assert await rest.refused(line, {"content": "x"}) == (403, 50007)
    ada.say("I write first")
    await rest.result(line, {"content": "then so do I"})
    ada.block()
    assert await rest.refused(line, {"content": "x"}) == (403, 50007)
    with pytest.raises(ValueError, match="blocked"):
        ada.say("x")
    ada.unblock()
    await rest.result(line, {"content": "back"})


async def test_what_the_bot_may_look_up(
    discord: DiscordServer, rest: DiscordApi, room: Channel, ada: Person
) -> None:
    guild = room.guild
    assert (await rest.result("GET /users/@me"))["id"] == str(discord.bot_id)
    assert (await rest.result("GET /oauth2/applications/@me"))["bot_public"] is True
    assert (await rest.result("PATCH /users/@me", {"username": "socrates"}))["username"]
    assert (await rest.result("GET /users/7"))["global_name"] == "Ada"
    assert (await rest.result(f"GET /guilds/{guild.id}"))["name"] == "Study group"
    assert len(await rest.result(f"GET /guilds/{guild.id}/channels")) == 1
    assert len(await rest.result(f"GET /guilds/{guild.id}/roles")) == 2
    assert (await rest.result(f"GET /guilds/{guild.id}/members/7"))["user"]["id"] == "7"
    discord.user(8, "Bo")
    assert await rest.refused(f"GET /guilds/{guild.id}/members/8") == (404, 10007)
    assert len(await rest.result("GET /users/@me/guilds")) == 1
    await rest.result(f"DELETE /users/@me/guilds/{guild.id}")
    assert await rest.refused(f"GET /guilds/{guild.id}") == (404, 10004)


async def test_a_wait_says_what_the_chat_shows(ada: Person) -> None:
    ada.say("hello")
    with pytest.raises(TimeoutError, match="hello"):
        await ada.private.wait_message(within=0.01)
    with pytest.raises(TimeoutError, match="hello"):
        await asyncio.to_thread(ada.private.wait_message_blocking, within=0.01)
    with pytest.raises(ValueError, match="2000"):
        ada.say("x" * 2001)
    assert len(ada.say("x" * 4000, unlimited=True).text) == 4000


async def test_a_refusal_can_be_ordered(
    discord: DiscordServer, rest: DiscordApi, ada: Person
) -> None:
    ada.say("x")
    line = f"POST /channels/{ada.private.id}/messages"
    discord.refuse("createMessage", 429, 0, "You are being rate limited.", retry_after=0.3)
    status, answer = await rest(line, {"content": "x"})
    assert (status, answer["retry_after"]) == (429, 0.3)
    assert rest.headers["Via"] and rest.headers["Retry-After"] == "0.3"
    await rest.result(line, {"content": "x"})
    [first, second] = discord.requests_of("createMessage")
    assert first.json == {"channel_id": str(ada.private.id), "content": "x"} == second.json


async def test_other_kinds_of_messages_have_their_fields(
    line: GatewayClient, room: Channel, ada: Person
) -> None:
    await line.identify()
    await line.event("GUILD_CREATE")
    media.sticker(room, ada)
    assert (await line.event("MESSAGE_CREATE"))["sticker_items"][0]["format_type"] == 1
    media.voice(room, ada, b"OggS", seconds=2)
    told = await line.event("MESSAGE_CREATE")
    assert told["flags"] == 1 << 13 and told["attachments"][0]["duration_secs"] == 2
    media.photo(room, ada, b"png", "look", size=20_000_000)
    told = await line.event("MESSAGE_CREATE")
    assert told["content"] == "look" and told["attachments"][0]["size"] == 20_000_000
    assert told["attachments"][0]["content_type"] == "image/png"
    paper = media.document(room, ada, "paper.pdf", b"%PDF", mime="application/pdf")
    assert (await line.event("MESSAGE_CREATE"))["attachments"][0]["filename"] == "paper.pdf"
    media.poll(room, ada, "When?", ["now", "later"])
    assert (await line.event("MESSAGE_CREATE"))["poll"]["answers"][1]["answer_id"] == 2
    media.forward(room, ada, paper)
    told = await line.event("MESSAGE_CREATE")
    assert told["content"] == "" and told["message_reference"]["type"] == 1
    assert told["message_snapshots"][0]["message"]["attachments"][0]["filename"] == "paper.pdf"
    media.unfurl(room.say(ada, "https://example.org"))
    await line.event("MESSAGE_CREATE")
    told = await line.event("MESSAGE_UPDATE")
    assert told["embeds"] and told["edited_timestamp"] is None
