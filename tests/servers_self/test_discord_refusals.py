"""Rarer refusals of the Discord server, and that no body at all makes the server itself fail."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers.discord import Channel, DiscordServer, Permission, Person
from tests.servers.discord.commands import check_command
from tests.servers.discord.components import check_modal
from tests.servers.discord.errors import Refusal
from tests.servers.discord.form import Form
from tests.servers.discord.rest.drafts import drafted
from tests.servers_self.discord_raw import ASK, DiscordApi, GatewayClient


@pytest.fixture
def ada(discord: DiscordServer) -> Person:
    return discord.user(7)


@pytest.fixture
def room(discord: DiscordServer, ada: Person) -> Channel:
    return discord.guild("Study group", ada).channel("general")


async def test_a_locked_thread_is_for_moderators(
    rest: DiscordApi, room: Channel, ada: Person
) -> None:
    thread = room.thread("practice", by=ada)
    line = f"POST /channels/{thread.id}/messages"
    thread.archive(False, locked=True)
    assert await rest.refused(line, {"content": "x"}) == (400, 160005)
    room.guild.allow(Permission.MANAGE_THREADS)
    await rest.result(line, {"content": "x"})
    room.deny(Permission.SEND_MESSAGES_IN_THREADS)
    assert await rest.refused(line, {"content": "x"}) == (403, 50013)


async def test_what_fits_no_kind_of_channel(rest: DiscordApi, room: Channel, ada: Person) -> None:
    forum = room.guild.forum()
    post = forum.open_post(ada, "Fractions", "why?")
    assert await rest.refused(f"PUT /channels/{room.id}/thread-members/@me") == (400, 50024)
    assert await rest.refused(
        f"POST /channels/{forum.id}/messages/{post.id}/threads", {"name": "x"}
    ) == (400, 50024)
    assert await rest.refused("POST /channels/5/threads", {"name": "x"}) == (404, 10003)
    assert await rest.refused(f"PATCH /channels/{room.id}", {"name": "x"}) == (403, 50013)
    assert await rest.refused(f"PATCH /channels/{ada.private.id}", {"name": "x"}) == (403, 50003)
    assert await rest.refused(f"DELETE /channels/{room.id}") == (403, 50013)
    assert await rest.refused(f"DELETE /channels/{post.id}") == (403, 50013)
    assert await rest.refused("GET /guilds/5/threads/active") == (404, 10004)
    wrong = {"name": "x", "type": 10}
    assert await rest.invalid(f"POST /channels/{room.id}/threads", wrong) == {
        "type": "BASE_TYPE_CHOICES"
    }
    forum.deny(Permission.SEND_MESSAGES)
    first = {"name": "x", "message": {"content": "x"}}
    assert await rest.refused(f"POST /channels/{forum.id}/threads", first) == (403, 50013)
    room.allow(Permission.MANAGE_CHANNELS)
    await rest.result(f"DELETE /channels/{room.id}")


async def test_a_thread_is_renamed_by_its_owner(
    rest: DiscordApi, room: Channel, ada: Person
) -> None:
    theirs = room.thread("theirs", by=ada)
    own = room.thread("mine")
    assert await rest.refused(f"PATCH /channels/{theirs.id}", {"name": "x"}) == (403, 50013)
    assert await rest.invalid(f"PATCH /channels/{own.id}", {"name": ""}) == {
        "name": "BASE_TYPE_REQUIRED"
    }
    await rest.result(f"PATCH /channels/{own.id}", {"name": "ours", "archived": True})
    assert (own.name, own.archived) == ("ours", True)
    assert await rest.refused(f"PATCH /channels/{own.id}", {"name": "x"}) == (400, 50083)


async def test_a_system_message_of_the_bot_cannot_be_edited(
    rest: DiscordApi, room: Channel
) -> None:
    room.thread("mine")
    [notice] = room.from_bot
    line = f"PATCH /channels/{room.id}/messages/{notice.message_id}"
    assert await rest.refused(line, {"content": "x"}) == (403, 50021)


@pytest.mark.parametrize(
    ("reference", "place"),
    [
        ({"channel_id": "5"}, "message_reference.message_id"),
        ({"message_id": "5", "channel_id": "5"}, "message_reference"),
        ("x", "message_reference"),
    ],
)
async def test_a_broken_reference_is_refused(
    rest: DiscordApi, room: Channel, reference: object, place: str
) -> None:
    body = {"content": "x", "message_reference": reference}
    assert place in await rest.invalid(f"POST /channels/{room.id}/messages", body)


async def test_a_new_reaction_needs_a_permission(
    rest: DiscordApi, room: Channel, ada: Person
) -> None:
    said = room.say(ada, "x")
    room.react(said, ada, "👍")
    room.deny(Permission.ADD_REACTIONS)
    base = f"PUT /channels/{room.id}/messages/{said.message_id}/reactions"
    assert await rest.refused(f"{base}/🎉/@me") == (403, 50013)
    await rest.result(f"{base}/👍/@me")
    assert await rest.invalid(f"GET /channels/{room.id}/messages?before=x") == {
        "before": "NUMBER_TYPE_COERCE"
    }


async def test_a_closed_dm_takes_no_typing_sign(rest: DiscordApi, ada: Person) -> None:
    ada.say("x")
    ada.block()
    assert await rest.refused(f"POST /channels/{ada.private.id}/typing") == (403, 50007)
    assert ada.private.actions == []


async def test_commands_come_as_a_list_of_flat_groups(rest: DiscordApi) -> None:
    line = f"PUT /applications/{rest.server.state.application_id}/commands"
    assert await rest.invalid(line, ASK) == {"": "LIST_TYPE_CONVERT"}
    inner = {"type": 2, "name": "a", "description": "d", "options": []}
    nested = {"name": "x", "description": "d", "options": [{**inner, "options": [inner]}]}
    assert await rest.invalid(line, [nested]) == {
        "0.options.0.options.0": "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID"
    }
    empty = {"type": 3, "name": "a", "description": "d", "choices": [{"name": "n"}]}
    assert await rest.invalid(line, [{"name": "x", "description": "d", "options": [empty]}]) == {
        "0.options.0.choices.0.value": "BASE_TYPE_REQUIRED"
    }


async def test_a_private_thread_is_closed_to_those_outside(
    line: GatewayClient, rest: DiscordApi, room: Channel, ada: Person
) -> None:
    made = await rest.result(f"POST /channels/{room.id}/threads", {"name": "hidden"})
    [thread] = room.threads
    await rest.send(thread, content="inside")
    thread.joined.discard(rest.server.bot_id)
    assert await rest.refused(f"GET /channels/{made['id']}/messages") == (403, 50001)
    assert thread.say(ada, "without you").update is None


def test_ids_belong_to_one_person(discord: DiscordServer, ada: Person) -> None:
    with pytest.raises(ValueError, match="7"):
        discord.user(7)


_KEYS = st.sampled_from(
    [
        *("accessory", "allowed_mentions", "attachments", "author", "choices", "component"),
        *("components", "content", "custom_id", "description", "embeds", "emoji", "fields"),
        *("flags", "footer", "id", "image", "label", "max_values", "name", "nonce", "options"),
        *("name_localizations", "parse", "style", "title", "type", "url", "users", "value"),
    ]
)
_KINDS = st.sampled_from([1, 2, 3, 4, 9, 10, 17, 18])


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects of which many have a type that the platform knows."""
    plain = st.dictionaries(_KEYS, inner, max_size=4)
    return plain | st.builds(lambda kind, rest: {**rest, "type": kind}, _KINDS, plain)


_LEAVES = st.none() | st.booleans() | st.integers(-2, 20) | st.floats(0, 9) | st.text(max_size=3)
_JSON = st.recursive(
    _LEAVES, lambda inner: st.lists(inner | _objects(inner), max_size=3) | _objects(inner)
)
_COMPONENTS = st.lists(_objects(st.lists(_objects(_JSON), max_size=2) | _JSON), max_size=3)
_BODIES = st.builds(
    lambda body, components: {**body, "components": components},
    st.dictionaries(_KEYS, _JSON, max_size=6),
    _COMPONENTS,
)


@given(_BODIES, st.booleans())
def test_any_body_of_a_message_is_taken_or_refused(body: dict[str, Any], layout: bool) -> None:
    if layout:
        body["flags"] = 1 << 15
    try:
        drafted(body, {}, Form())
    except Refusal as refused:
        assert refused.code == 50035 and refused.answer["errors"]


@given(_BODIES)
def test_any_command_or_modal_is_taken_or_refused(body: dict[str, Any]) -> None:
    command, modal = Form(), Form()
    check_command(command, (), {**body, "type": 1, "options": body["components"]})
    check_modal(modal, body)
    for form in (command, modal):
        try:
            form.check()
        except Refusal as refused:
            assert refused.code == 50035
