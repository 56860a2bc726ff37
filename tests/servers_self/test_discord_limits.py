"""Every limit of the Discord server turns an offending request away, in the platform's shape."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.servers.discord import Bucket, Channel, DiscordServer, Permission, Person, Rates
from tests.servers.discord.limits import USUAL, RateLimits
from tests.servers_self.discord_raw import DiscordApi


@pytest.fixture
def ada(discord: DiscordServer) -> Person:
    return discord.user(7)


@pytest.fixture
def room(discord: DiscordServer, ada: Person) -> Channel:
    return discord.guild("Study group", ada).channel("general")


def row(*components: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(components)}


def button(**fields: Any) -> dict[str, Any]:
    return {"type": 2, "style": 1, "label": "ok", "custom_id": "go", **fields}


def menu(**fields: Any) -> dict[str, Any]:
    return {"type": 3, "custom_id": "pick", "options": [option(0)], **fields}


def option(number: int, **fields: Any) -> dict[str, Any]:
    return {"label": f"l{number}", "value": f"v{number}", **fields}


def embed(**fields: Any) -> dict[str, Any]:
    return {"description": "x", **fields}


@pytest.mark.parametrize(
    ("fields", "places"),
    [
        ({"content": "x" * 2000}, {}),
        ({"content": "😀" * 2000}, {}),
        ({"content": "x" * 2001}, {"content": "BASE_TYPE_MAX_LENGTH"}),
        ({"content": 5}, {"content": "STRING_TYPE_CONVERT"}),
        ({"content": "x", "nonce": "n" * 26}, {"nonce": "BASE_TYPE_MAX_LENGTH"}),
        ({"content": "x", "nonce": []}, {"nonce": "NONCE_TYPE_INVALID_TYPE"}),
        ({"content": "x", "flags": "x"}, {"flags": "NUMBER_TYPE_COERCE"}),
        ({"embeds": [embed()] * 10}, {}),
        ({"embeds": [embed()] * 11}, {"embeds": "BASE_TYPE_MAX_LENGTH"}),
        ({"embeds": {}}, {"embeds": "LIST_TYPE_CONVERT"}),
        ({"embeds": ["x"]}, {"embeds.0": "DICT_TYPE_CONVERT"}),
        ({"embeds": [{}]}, {"embeds.0.description": "BASE_TYPE_REQUIRED"}),
        ({"embeds": [embed(title="x" * 257)]}, {"embeds.0.title": "BASE_TYPE_MAX_LENGTH"}),
        (
            {"embeds": [embed(description="x" * 4097)]},
            {"embeds.0.description": "BASE_TYPE_MAX_LENGTH"},
        ),
        (
            {"embeds": [embed(fields=[{"name": "n", "value": "v"}] * 26)]},
            {"embeds.0.fields": "BASE_TYPE_MAX_LENGTH"},
        ),
        (
            {"embeds": [embed(fields=[{"name": "x" * 257, "value": ""}])]},
            {
                "embeds.0.fields.0.name": "BASE_TYPE_MAX_LENGTH",
                "embeds.0.fields.0.value": "BASE_TYPE_REQUIRED",
            },
        ),
        (
            {"embeds": [embed(fields=[{"name": "n", "value": "x" * 1025}])]},
            {"embeds.0.fields.0.value": "BASE_TYPE_MAX_LENGTH"},
        ),
        (
            {"embeds": [embed(footer={"text": "x" * 2049})]},
            {"embeds.0.footer.text": "BASE_TYPE_MAX_LENGTH"},
        ),
        (
            {"embeds": [embed(author={"name": "x" * 257})]},
            {"embeds.0.author.name": "BASE_TYPE_MAX_LENGTH"},
        ),
        (
            {"embeds": [embed(image={"url": "ftp://x"})]},
            {"embeds.0.image.url": "URL_TYPE_INVALID_SCHEME"},
        ),
        ({"embeds": [embed(description="x" * 3000)] * 2}, {}),
        (
            {"embeds": [embed(description="x" * 3000)] * 2 + [embed()]},
            {"embeds": "MAX_EMBED_SIZE_EXCEEDED"},
        ),
    ],
)
async def test_text_and_embeds_have_their_limits(
    rest: DiscordApi, room: Channel, fields: dict[str, Any], places: dict[str, str]
) -> None:
    line = f"POST /channels/{room.id}/messages"
    if places:
        assert await rest.invalid(line, fields) == places
        assert room.messages == []
    else:
        await rest.result(line, fields)


@pytest.mark.parametrize(
    ("components", "places"),
    [
        ([row(button())], {}),
        ([row(button(custom_id=f"b{i}")) for i in range(5)], {}),
        (
            [row(button(custom_id=f"b{i}")) for i in range(6)],
            {"components": "BASE_TYPE_MAX_LENGTH"},
        ),
        (
            [row(*(button(custom_id=f"b{i}") for i in range(6)))],
            {"components.0.components": "BASE_TYPE_BAD_LENGTH"},
        ),
        ([row()], {"components.0.components": "BASE_TYPE_BAD_LENGTH"}),
        ([button()], {"components.0": "UNION_TYPE_CHOICES"}),
        ([row(row())], {"components.0.components.0": "UNION_TYPE_CHOICES"}),
        ([row(button(custom_id="x" * 100, label="y" * 80))], {}),
        (
            [row(button(custom_id="x" * 101))],
            {"components.0.components.0.custom_id": "BASE_TYPE_BAD_LENGTH"},
        ),
        (
            [row(button(label="y" * 81))],
            {"components.0.components.0.label": "BASE_TYPE_MAX_LENGTH"},
        ),
        ([row(button(label=""))], {"components.0.components.0.label": "BASE_TYPE_REQUIRED"}),
        ([row(button(style=9))], {"components.0.components.0.style": "BASE_TYPE_CHOICES"}),
        (
            [row(button(custom_id=None))],
            {"components.0.components.0.custom_id": "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED"},
        ),
        (
            [row(button(), button())],
            {"components.0.components.1.custom_id": "COMPONENT_CUSTOM_ID_DUPLICATED"},
        ),
        ([row({"type": 2, "style": 5, "label": "l", "url": "https://example.org"})], {}),
        (
            [row(button(style=5, url="https://example.org"))],
            {"components.0.components.0": "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE"},
        ),
        (
            [row({"type": 2, "style": 5, "label": "l", "url": "nowhere"})],
            {"components.0.components.0.url": "URL_TYPE_INVALID_SCHEME"},
        ),
        ([row(menu(options=[option(i) for i in range(25)]))], {}),
        (
            [row(menu(options=[option(i) for i in range(26)]))],
            {"components.0.components.0.options": "BASE_TYPE_BAD_LENGTH"},
        ),
        (
            [row(menu(options=[]))],
            {"components.0.components.0.options": "BASE_TYPE_BAD_LENGTH"},
        ),
        (
            [row(menu(options=[option(1), option(1)]))],
            {
                "components.0.components.0.options.1.value": (
                    "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED"
                )
            },
        ),
        (
            [row(menu(options=[option(1, label="x" * 101, description="x" * 101)]))],
            {
                "components.0.components.0.options.0.label": "BASE_TYPE_BAD_LENGTH",
                "components.0.components.0.options.0.description": "BASE_TYPE_MAX_LENGTH",
            },
        ),
        (
            [row(menu(placeholder="x" * 151, max_values=26))],
            {
                "components.0.components.0.placeholder": "BASE_TYPE_MAX_LENGTH",
                "components.0.components.0.max_values": "NUMBER_TYPE_MAX",
            },
        ),
        (
            [row(button(), menu())],
            {"components.0.components.1": "COMPONENT_LAYOUT_WIDTH_EXCEEDED"},
        ),
    ],
)
async def test_buttons_and_menus_have_their_limits(
    rest: DiscordApi, room: Channel, components: list[Any], places: dict[str, str]
) -> None:
    line, fields = f"POST /channels/{room.id}/messages", {"content": "x", "components": components}
    if places:
        assert await rest.invalid(line, fields) == places
        assert room.messages == []
    else:
        await rest.result(line, fields)


@pytest.mark.parametrize(
    ("fields", "places"),
    [
        ({"components": [{"type": 10, "content": "x"}]}, {}),
        (
            {"components": [{"type": 10, "content": "x"}], "content": "y"},
            {"content": "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"},
        ),
        (
            {"components": [{"type": 17, "components": [{"type": 10, "content": "x"}] * 40}]},
            {"components": "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED"},
        ),
        (
            {"components": [{"type": 10, "content": "x" * 2001}] * 2},
            {"components": "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED"},
        ),
        ({"components": [{"type": 10}]}, {"components.0.content": "BASE_TYPE_REQUIRED"}),
        ({"components": [{"type": 2}]}, {"components.0": "UNION_TYPE_CHOICES"}),
        (
            {"components": [{"type": 9, "components": [], "accessory": {"type": 10}}]},
            {
                "components.0.components": "BASE_TYPE_BAD_LENGTH",
                "components.0.accessory": "UNION_TYPE_CHOICES",
            },
        ),
    ],
)
async def test_layout_components_have_limits_of_their_own(
    rest: DiscordApi, room: Channel, fields: dict[str, Any], places: dict[str, str]
) -> None:
    line, sent = f"POST /channels/{room.id}/messages", {"flags": 1 << 15, **fields}
    if places:
        assert await rest.invalid(line, sent) == places
    else:
        await rest.result(line, sent)


@pytest.mark.parametrize("fields", [{}, {"content": ""}, {"content": " \n"}, {"embeds": []}])
async def test_an_empty_message_is_refused(
    rest: DiscordApi, room: Channel, fields: dict[str, Any]
) -> None:
    assert await rest.refused(f"POST /channels/{room.id}/messages", fields) == (400, 50006)
    sent = await rest.send(room, content="x")
    line = f"PATCH /channels/{room.id}/messages/{sent['id']}"
    if fields:
        assert await rest.refused(line, {"content": "", **fields}) == (400, 50006)


async def test_an_edit_has_the_same_limits(rest: DiscordApi, room: Channel) -> None:
    sent = await rest.send(room, content="x")
    line = f"PATCH /channels/{room.id}/messages/{sent['id']}"
    assert await rest.invalid(line, {"content": "x" * 2001}) == {"content": "BASE_TYPE_MAX_LENGTH"}
    assert [message.text for message in room.messages] == ["x"]


@pytest.mark.parametrize(
    ("allowed", "places"),
    [
        (
            {"parse": ["users"], "users": ["7"]},
            {"allowed_mentions": "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE"},
        ),
        ({"parse": ["all"]}, {"allowed_mentions.parse.0": "BASE_TYPE_CHOICES"}),
        ({"users": ["7"] * 101}, {"allowed_mentions.users": "BASE_TYPE_MAX_LENGTH"}),
        ({"users": ["x"]}, {"allowed_mentions.users.0": "NUMBER_TYPE_COERCE"}),
        ([], {"allowed_mentions": "DICT_TYPE_CONVERT"}),
    ],
)
async def test_contradictory_allowed_mentions_are_refused(
    rest: DiscordApi, room: Channel, allowed: object, places: dict[str, str]
) -> None:
    fields = {"content": "x", "allowed_mentions": allowed}
    assert await rest.invalid(f"POST /channels/{room.id}/messages", fields) == places


def files(*sizes: int) -> aiohttp.FormData:
    form = aiohttp.FormData()
    form.add_field("payload_json", '{"content": "x"}', content_type="application/json")
    for number, size in enumerate(sizes):
        form.add_field(f"files[{number}]", b"x" * size, filename=f"f{number}.txt")
    return form


async def test_files_have_at_most_10_mib_and_come_ten_at_a_time(
    rest: DiscordApi, room: Channel
) -> None:
    line = f"POST /channels/{room.id}/messages"
    await rest.result(line, form=files(10 * 1024 * 1024))
    assert await rest.refused(line, form=files(10 * 1024 * 1024 + 1)) == (413, 40005)
    await rest.result(line, form=files(*[1] * 10))
    assert await rest.invalid(line, form=files(*[1] * 11)) == {
        "attachments": "BASE_TYPE_MAX_LENGTH"
    }
    missing = {"content": "x", "attachments": [{"id": 3, "filename": "a"}]}
    assert await rest.invalid(line, missing) == {"attachments.0": "ATTACHMENT_NOT_FOUND"}
    assert len(room.messages) == 2


async def test_a_message_takes_twenty_different_reactions(rest: DiscordApi, room: Channel) -> None:
    sent = await rest.send(room, content="x")
    base = f"PUT /channels/{room.id}/messages/{sent['id']}/reactions"
    for number in range(20):
        await rest.result(f"{base}/{chr(0x1F600 + number)}/@me")
    assert await rest.refused(f"{base}/{chr(0x1F600 + 20)}/@me") == (400, 30010)
    await rest.result(f"{base}/{chr(0x1F600)}/@me")
    assert await rest.refused(f"{base}/thumbsup/@me") == (400, 10014)


@pytest.mark.parametrize(
    ("limit", "accepted"), [("1", True), ("100", True), ("0", False), ("101", False), ("x", False)]
)
async def test_a_page_of_history_has_1_to_100_messages(
    rest: DiscordApi, room: Channel, limit: str, accepted: bool
) -> None:
    status, _ = await rest(f"GET /channels/{room.id}/messages?limit={limit}")
    assert (status == 200) is accepted


async def test_rates_are_told_in_headers_and_kept(rest: DiscordApi, ada: Person) -> None:
    time = [100.0]
    with DiscordServer(clock=lambda: time[0], now=lambda: 1000 + time[0]) as server:
        room = server.guild("g", server.user(7)).channel()
        other = room.guild.channel("other")
        api = DiscordApi(rest.session, server)
        for left in (4, 3, 2, 1, 0):
            await api.send(room, content="x")
            assert api.headers["X-RateLimit-Limit"] == "5"
            assert api.headers["X-RateLimit-Remaining"] == str(left)
            assert api.headers["X-RateLimit-Reset-After"] == "5.000"
            assert api.headers["X-RateLimit-Reset"] == "1105.000"
        time[0] += 2
        status, answer = await api(f"POST /channels/{room.id}/messages", {"content": "x"})
        assert status == 429
        assert answer == {
            "message": "You are being rate limited.",
            "retry_after": 3.0,
            "global": False,
        }
        assert api.headers["Via"] and api.headers["Retry-After"] == "3.0"
        assert len(room.messages) == 5
        await api.send(other, content="another channel has a bucket of its own")
        time[0] += 3
        await api.send(room, content="x")
        server.set_rates(None)
        for _ in range(20):
            await api.send(room, content="x")


async def test_the_global_rate_spares_interactions(rest: DiscordApi) -> None:
    rates = Rates({}, Bucket(1000, 1), everywhere=2)
    with DiscordServer(rates=rates, clock=lambda: 5.0) as server:
        api = DiscordApi(rest.session, server)
        await api.result("GET /users/@me")
        await api.result("GET /users/@me")
        status, answer = await api("GET /users/@me")
        assert (status, answer["global"]) == (429, True)
        assert api.headers["X-RateLimit-Global"] == "true"
        assert await api.refused("POST /interactions/1/x/callback", {"type": 4}) == (404, 10062)


def test_a_window_begins_with_its_first_request() -> None:
    time = [0.0]
    limits = RateLimits(USUAL, lambda: time[0], lambda: time[0])
    assert limits.take("addReaction", "1", bound=True).retry_after is None
    assert limits.take("addReaction", "1", bound=True).retry_after == 0.25
    assert limits.take("addReaction", "2", bound=True).retry_after is None
    time[0] = 0.25
    assert limits.take("addReaction", "1", bound=True).retry_after is None


async def test_requests_must_carry_the_token_and_a_known_address(
    rest: DiscordApi, discord: DiscordServer
) -> None:
    assert await rest.refused("GET /users/@me", token="wrong") == (401, 0)
    assert await rest.refused("GET /users/@me", token="") == (401, 0)
    assert await rest.refused("GET /nowhere") == (404, 0)
    assert await rest.refused("DELETE /gateway/bot") == (405, 0)
    assert await rest.refused(f"GET {discord.url}/api/v6/users/@me") == (400, 50041)
    async with rest.session.post(
        f"{discord.api_url}/users/@me/channels",
        data=b"{",
        headers={"Authorization": f"Bot {discord.token}", "Content-Type": "application/json"},
    ) as response:
        assert (response.status, (await response.json())["code"]) == (400, 50109)


async def test_what_is_not_there_is_unknown(rest: DiscordApi, room: Channel) -> None:
    assert await rest.refused("POST /channels/1/messages", {"content": "x"}) == (404, 10003)
    assert await rest.refused(f"GET /channels/{room.id}/messages/1") == (404, 10008)
    assert await rest.refused("GET /guilds/1") == (404, 10004)
    assert await rest.refused("GET /users/1") == (404, 10013)
    assert await rest.refused(f"GET /guilds/{room.guild.id}/members/1") == (404, 10013)
    assert await rest.invalid("GET /channels/x") == {"channel_id": "NUMBER_TYPE_COERCE"}


async def test_without_permission_nothing_is_seen_or_sent(
    rest: DiscordApi, room: Channel, ada: Person
) -> None:
    line = f"POST /channels/{room.id}/messages"
    theirs = room.say(ada, "mine")
    room.deny(Permission.SEND_MESSAGES)
    assert await rest.refused(line, {"content": "x"}) == (403, 50013)
    assert await rest.refused(f"POST /channels/{room.id}/typing") == (403, 50013)
    room.allow(Permission.SEND_MESSAGES)
    room.deny(Permission.ATTACH_FILES)
    assert await rest.refused(line, form=files(1)) == (403, 50013)
    room.deny(Permission.READ_MESSAGE_HISTORY)
    reply = {"content": "x", "message_reference": {"message_id": str(theirs.message_id)}}
    assert await rest.refused(line, reply) == (400, 160002)
    assert await rest.result(f"GET /channels/{room.id}/messages") == []
    assert await rest.refused(f"GET /channels/{room.id}/messages/{theirs.message_id}") == (
        403,
        50013,
    )
    room.deny(Permission.VIEW_CHANNEL)
    assert await rest.refused(line, {"content": "x"}) == (403, 50001)
    room.allow(Permission.VIEW_CHANNEL)
    room.guild.kick_bot()
    assert await rest.refused(line, {"content": "x"}) == (403, 50001)


async def test_others_messages_are_theirs(rest: DiscordApi, room: Channel, ada: Person) -> None:
    theirs = room.say(ada, "mine")
    line = f"/channels/{room.id}/messages/{theirs.message_id}"
    assert await rest.refused(f"PATCH {line}", {"content": "x"}) == (403, 50005)
    assert await rest.refused(f"DELETE {line}") == (403, 50013)
    room.allow(Permission.MANAGE_MESSAGES)
    await rest.result(f"DELETE {line}")
    private = ada.say("secret")
    where = f"DELETE /channels/{ada.private.id}/messages/{private.message_id}"
    assert await rest.refused(where) == (403, 50003)
