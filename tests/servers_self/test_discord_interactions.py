"""Commands, buttons, menus, modals: what people send, what the bot may answer, and when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from tests.servers.discord import Channel, DiscordServer, Person, Press, Upload
from tests.servers.discord.acting import use_on
from tests.servers.discord.limits import RESPONSE_SECONDS, TOKEN_SECONDS
from tests.servers_self.discord_raw import DiscordApi, GatewayClient

ASK = {
    "name": "ask",
    "description": "Ask a question",
    "options": [
        {"type": 3, "name": "question", "description": "What", "required": True},
        {"type": 4, "name": "depth", "description": "How deep", "min_value": 1, "max_value": 3},
        {"type": 6, "name": "who", "description": "Whom"},
        {"type": 11, "name": "file", "description": "A file"},
        {"type": 3, "name": "subject", "description": "Subject", "autocomplete": True},
        {
            "type": 3,
            "name": "mood",
            "description": "Mood",
            "choices": [{"name": "calm", "value": "c"}],
        },
    ],
}
MEMORY = {
    "name": "memory",
    "description": "Memory",
    "options": [
        {
            "type": 1,
            "name": "forget",
            "description": "Forget",
            "options": [
                {"type": 3, "name": "what", "description": "What", "required": True},
            ],
        }
    ],
}


class Clock:
    """Time that only a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def discord(clock: Clock) -> Iterator[DiscordServer]:
    with DiscordServer(rates=None, clock=clock) as server:
        yield server


@pytest.fixture
def ada(discord: DiscordServer) -> Person:
    return discord.user(7)


@pytest.fixture
def room(discord: DiscordServer, ada: Person) -> Channel:
    return discord.guild("Study group", ada).channel("general")


@pytest.fixture
def commands(discord: DiscordServer) -> str:
    return f"/applications/{discord.state.application_id}/commands"


class Answers:
    """The endpoints that answer one interaction."""

    def __init__(self, rest: DiscordApi, press: Press) -> None:
        self.callback = f"POST /interactions/{press.interaction_id}/{press.token}/callback"
        hook = f"/webhooks/{rest.server.state.application_id}/{press.token}"
        self.follow = f"POST {hook}"
        self.original = f"{hook}/messages/@original"
        self.message = f"{hook}/messages"


def pressed(room: Channel, ada: Person) -> Press:
    return room.press(room.from_bot[0], "ok", ada)


async def with_button(rest: DiscordApi, room: Channel, **fields: Any) -> None:
    button = {"type": 2, "style": 1, "label": "ok", "custom_id": "go:1", **fields}
    await rest.send(room, content="ready?", components=[{"type": 1, "components": [button]}])


async def test_a_command_carries_its_options(
    rest: DiscordApi, line: GatewayClient, room: Channel, ada: Person, commands: str
) -> None:
    made = await rest.result(f"PUT {commands}", [ASK, MEMORY])
    assert rest.server.commands() == ["ask", "memory"]
    await line.identify()
    await line.event("GUILD_CREATE")
    notes = Upload("n.txt", b"n")
    options = {"question": "why?", "depth": 2, "who": ada, "file": notes, "mood": "c"}
    room.slash(ada, "ask", options)
    told = await line.event("INTERACTION_CREATE")
    assert told["type"] == 2 and told["data"]["id"] == made[0]["id"]
    values = {item["name"]: item["value"] for item in told["data"]["options"]}
    assert values["question"] == "why?" and values["depth"] == 2 and values["who"] == "7"
    assert told["data"]["resolved"]["users"]["7"]["global_name"] == "Ada"
    assert told["data"]["resolved"]["attachments"][values["file"]]["filename"] == "n.txt"
    assert told["member"]["user"]["id"] == "7" and told["guild_id"] == str(room.guild.id)
    assert told["context"] == 0 and told["attachment_size_limit"] == 10 * 1024 * 1024
    ada.private.slash(ada, "/memory forget", {"what": "all"})
    told = await line.event("INTERACTION_CREATE")
    [sub] = told["data"]["options"]
    assert (sub["type"], sub["name"], sub["options"][0]["value"]) == (1, "forget", "all")
    assert told["user"]["id"] == "7" and told["context"] == 1 and "guild_id" not in told


@pytest.mark.parametrize(
    ("name", "options", "error"),
    [
        ("nothing", {}, LookupError),
        ("memory", {}, LookupError),
        ("memory keep", {}, LookupError),
        ("ask", {}, ValueError),
        ("ask", {"question": 5}, ValueError),
        ("ask", {"question": "x", "depth": 4}, ValueError),
        ("ask", {"question": "x", "depth": 0}, ValueError),
        ("ask", {"question": "x", "mood": "wild"}, ValueError),
        ("ask", {"question": "x", "nonsense": 1}, ValueError),
    ],
)
async def test_an_app_sends_only_what_was_registered(
    rest: DiscordApi,
    room: Channel,
    ada: Person,
    commands: str,
    name: str,
    options: dict[str, object],
    error: type[Exception],
) -> None:
    await rest.result(f"PUT {commands}", [ASK, MEMORY])
    with pytest.raises(error):
        room.slash(ada, name, options)


async def test_a_first_response_comes_in_three_seconds_and_once(
    rest: DiscordApi, room: Channel, ada: Person, clock: Clock
) -> None:
    await with_button(rest, room)
    press = pressed(room, ada)
    answers = Answers(rest, press)
    clock.now += RESPONSE_SECONDS
    assert press.failed is False
    await rest.result(answers.callback, {"type": 4, "data": {"content": "yes"}}, token="")
    assert (await press.wait_answered())["type"] == 4
    assert (await press.wait_reply()).text == "yes"
    assert await rest.refused(answers.callback, {"type": 6}) == (400, 40060)
    late = pressed(room, ada)
    clock.now += RESPONSE_SECONDS + 0.1
    assert await rest.refused(Answers(rest, late).callback, {"type": 6}) == (404, 10062)
    assert late.failed is True
    stale = pressed(room, ada)
    stale.expire()
    assert await rest.refused(Answers(rest, stale).callback, {"type": 6}) == (404, 10062)


async def test_a_promise_is_kept_within_fifteen_minutes(
    rest: DiscordApi, room: Channel, ada: Person, clock: Clock
) -> None:
    await with_button(rest, room)
    press = pressed(room, ada)
    answers = Answers(rest, press)
    assert await rest.refused(answers.follow, {"content": "x"}) == (404, 10015)
    made = await rest.result(answers.callback + "?with_response=1", {"type": 5})
    assert made["interaction"]["response_message_loading"] is True
    assert made["resource"] == {"type": 5}
    assert press.thinking and press.replies == []
    assert (await rest.result(f"GET {answers.original}"))["flags"] == 1 << 7
    clock.now += TOKEN_SECONDS
    edited = await rest.result(f"PATCH {answers.original}", {"content": "done"}, token="")
    assert edited["id"] == made["interaction"]["response_message_id"]
    assert not press.thinking and [m.text for m in press.replies] == ["done"]
    more = await rest.result(answers.follow, {"content": "more"})
    await rest.result(f"PATCH {answers.message}/{more['id']}", {"content": "more!"})
    assert [m.text for m in press.replies] == ["done", "more!"]
    await rest.result(f"DELETE {answers.message}/{more['id']}")
    assert await rest.refused(f"GET {answers.message}/{more['id']}") == (404, 10008)
    assert (await rest.result(f"GET {answers.original}"))["content"] == "done"
    clock.now += 0.1
    assert await rest.refused(f"PATCH {answers.original}", {"content": "x"}) == (401, 50027)
    assert await rest.refused(answers.follow, {"content": "x"}) == (401, 50027)


async def test_a_token_can_die_early_and_must_be_known(
    rest: DiscordApi, room: Channel, ada: Person
) -> None:
    await with_button(rest, room)
    press = pressed(room, ada)
    answers = Answers(rest, press)
    await rest.result(answers.callback, {"type": 5})
    press.end_token()
    assert await rest.refused(answers.follow, {"content": "x"}) == (401, 50027)
    wrong = f"POST /webhooks/{rest.server.state.application_id}/x"
    assert await rest.refused(wrong, {"content": "x"}) == (401, 50027)
    assert await rest.refused("POST /webhooks/1/x", {"content": "x"}) == (404, 10015)
    assert await rest.refused("POST /interactions/1/x/callback", {"type": 4}) == (404, 10062)


async def test_the_first_follow_up_keeps_a_promise_and_its_privacy(
    rest: DiscordApi, room: Channel, ada: Person
) -> None:
    await with_button(rest, room)
    press = pressed(room, ada)
    answers = Answers(rest, press)
    await rest.result(answers.callback, {"type": 5, "data": {"flags": 64}})
    await rest.result(answers.follow, {"content": "just for you, <@7>"})
    await rest.result(answers.follow, {"content": "for all"})
    hidden, shown = press.replies
    assert hidden.only_for is ada and hidden.pinged == set() and shown.only_for is None
    assert hidden.message_id == press.original
    listed = await rest.result(f"GET /channels/{room.id}/messages")
    assert [message["content"] for message in listed] == ["for all", "ready?"]
    assert await rest.refused(f"GET /channels/{room.id}/messages/{hidden.message_id}") == (
        404,
        10008,
    )


async def test_a_promise_can_be_taken_back(rest: DiscordApi, room: Channel, ada: Person) -> None:
    await with_button(rest, room)
    press = pressed(room, ada)
    answers = Answers(rest, press)
    await rest.result(answers.callback, {"type": 5})
    await rest.result(f"DELETE {answers.original}")
    assert not press.thinking and press.replies == []
    assert await rest.refused(f"GET {answers.original}") == (404, 10008)


@pytest.mark.parametrize("kind", [6, 7])
async def test_a_press_can_change_its_message(
    rest: DiscordApi, room: Channel, ada: Person, kind: int
) -> None:
    await with_button(rest, room)
    press = pressed(room, ada)
    answers = Answers(rest, press)
    change = {"content": "thanks", "components": []}
    if kind == 7:
        await rest.result(answers.callback, {"type": 7, "data": change})
    else:
        await rest.result(answers.callback, {"type": 6})
        await rest.result(f"PATCH {answers.original}", change)
    assert [(m.text, m.labels) for m in room.from_bot] == [("thanks", [])]
    assert (await press.wait_reply()).text == "thanks"
    with pytest.raises(LookupError):
        pressed(room, ada)


async def test_only_fitting_responses_are_taken(
    rest: DiscordApi, room: Channel, ada: Person, commands: str
) -> None:
    await rest.result(f"PUT {commands}", [ASK])
    await with_button(rest, room)
    wrong = {"type": "BASE_TYPE_CHOICES"}
    command = Answers(rest, room.slash(ada, "ask", {"question": "x"}))
    for kind in (6, 7, 8, 1, None, "4"):
        assert await rest.invalid(command.callback, {"type": kind}) == wrong
    assert await rest.invalid(Answers(rest, pressed(room, ada)).callback, {"type": 8}) == wrong
    typed = room.autocomplete(ada, "ask", "subject", "ma")
    assert await rest.invalid(Answers(rest, typed).callback, {"type": 4}) == wrong
    long = {"type": 4, "data": {"content": "x" * 2001}}
    assert await rest.invalid(command.callback, long) == {"data.content": "BASE_TYPE_MAX_LENGTH"}
    assert await rest.refused(command.callback, {"type": 4, "data": {}}) == (400, 50006)
    await rest.result(command.callback, {"type": 4, "data": {"content": "after all that"}})
    assert room.from_bot[-1].kind == 20


async def test_suggestions_are_at_most_25(
    rest: DiscordApi, line: GatewayClient, room: Channel, ada: Person, commands: str
) -> None:
    await rest.result(f"PUT {commands}", [ASK])
    await line.identify()
    await line.event("GUILD_CREATE")
    typed = room.autocomplete(ada, "ask", "subject", "ma", {"question": "why"})
    told = await line.event("INTERACTION_CREATE")
    assert told["type"] == 4
    assert told["data"]["options"][1] == {
        "name": "subject",
        "type": 3,
        "value": "ma",
        "focused": True,
    }
    answers = Answers(rest, typed)
    choices = [{"name": f"n{i}", "value": f"v{i}"} for i in range(26)]
    over = {"type": 8, "data": {"choices": choices}}
    assert await rest.invalid(answers.callback, over) == {"data.choices": "BASE_TYPE_MAX_LENGTH"}
    long = {"type": 8, "data": {"choices": [{"name": "x" * 101, "value": "x" * 101}]}}
    assert set(await rest.invalid(answers.callback, long)) == {
        "data.choices.0.name",
        "data.choices.0.value",
    }
    await rest.result(answers.callback, {"type": 8, "data": {"choices": choices[:25]}})
    assert len(typed.choices) == 25
    with pytest.raises(LookupError):
        room.autocomplete(ada, "ask", "mood", "x")


async def test_a_menu_sends_what_was_chosen(
    rest: DiscordApi, line: GatewayClient, ada: Person
) -> None:
    ada.say("x")
    options = [{"label": name, "value": name.lower()} for name in ("Maths", "French", "Code")]
    menu = {"type": 3, "custom_id": "subject", "options": options, "max_values": 2}
    await rest.send(ada.private, content="?", components=[{"type": 1, "components": [menu]}])
    await line.identify()
    [message] = ada.private.from_bot
    ada.private.select(message, ["Maths", "code"])
    told = await line.event("INTERACTION_CREATE")
    assert told["data"] == {
        "custom_id": "subject",
        "component_type": 3,
        "values": ["maths", "code"],
    }
    assert told["message"]["id"] == str(message.message_id)
    with pytest.raises(LookupError, match="Latin"):
        ada.private.select(message, "Latin")
    with pytest.raises(ValueError, match="1 to 2"):
        ada.private.select(message, ["Maths", "French", "Code"])


async def test_a_modal_is_filled_in_and_sent(
    rest: DiscordApi, line: GatewayClient, room: Channel, ada: Person
) -> None:
    await with_button(rest, room)
    await line.identify()
    await line.event("GUILD_CREATE")
    press = pressed(room, ada)
    field = {"type": 4, "custom_id": "text", "label": "Text", "style": 2, "value": "old"}
    labelled = {"type": 18, "label": "Why", "component": {"type": 4, "custom_id": "w", "style": 1}}
    modal = {
        "title": "Edit",
        "custom_id": "edit:1",
        "components": [{"type": 1, "components": [field]}, labelled],
    }
    await rest.result(Answers(rest, press).callback, {"type": 9, "data": modal})
    await line.event("INTERACTION_CREATE")
    sent = room.submit_modal(press, {"w": "because"})
    told = await line.event("INTERACTION_CREATE")
    assert told["type"] == 5 and told["data"]["custom_id"] == "edit:1"
    assert told["data"]["components"][0]["components"][0]["value"] == "old"
    assert told["data"]["components"][1]["component"]["value"] == "because"
    answers = Answers(rest, sent)
    assert await rest.invalid(answers.callback, {"type": 9, "data": modal}) == {
        "type": "BASE_TYPE_CHOICES"
    }
    await rest.result(answers.callback, {"type": 7, "data": {"content": "saved"}})
    assert room.from_bot[0].text == "saved"
    with pytest.raises(LookupError):
        room.submit_modal(press, {"nothing": "x"})
    with pytest.raises(ValueError, match="would not send"):
        room.submit_modal(press, {"w": ""})
    with pytest.raises(LookupError):
        room.submit_modal(sent, {})


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"title": "x" * 46}, "data.title"),
        ({"title": ""}, "data.title"),
        ({"custom_id": "x" * 101}, "data.custom_id"),
        ({"components": []}, "data.components"),
        ({"components": [{"type": 1, "components": []}] * 6}, "data.components"),
        ({"components": [{"type": 2}]}, "data.components.0"),
        (
            {
                "components": [
                    {
                        "type": 1,
                        "components": [
                            {"type": 4, "custom_id": "a", "label": "x" * 46, "style": 1}
                        ],
                    }
                ]
            },
            "data.components.0.components.0.label",
        ),
        (
            {
                "components": [
                    {
                        "type": 18,
                        "label": "l",
                        "component": {
                            "type": 4,
                            "custom_id": "a",
                            "style": 1,
                            "max_length": 4001,
                        },
                    }
                ]
            },
            "data.components.0.component.max_length",
        ),
    ],
)
async def test_a_modal_has_its_limits(
    rest: DiscordApi, room: Channel, ada: Person, change: dict[str, Any], place: str
) -> None:
    await with_button(rest, room)
    press = pressed(room, ada)
    field = {"type": 4, "custom_id": "a", "label": "l", "style": 1}
    modal = {
        "title": "t",
        "custom_id": "c",
        "components": [{"type": 1, "components": [field]}],
        **change,
    }
    answers = Answers(rest, press)
    assert place in await rest.invalid(answers.callback, {"type": 9, "data": modal})
    assert press.answer is None and press.modal is None


async def test_a_grey_button_and_a_link_send_nothing(
    rest: DiscordApi, room: Channel, ada: Person
) -> None:
    await with_button(rest, room, disabled=True)
    with pytest.raises(LookupError, match="disabled"):
        pressed(room, ada)
    link = {"type": 2, "style": 5, "label": "site", "url": "https://example.org"}
    await rest.send(room, content="x", components=[{"type": 1, "components": [link]}])
    with pytest.raises(LookupError, match="nothing"):
        room.press(room.from_bot[1], "site", ada)
    with pytest.raises(ValueError, match="who"):
        room.press(room.from_bot[1], "site")


async def test_a_menu_of_a_message_has_commands_too(
    rest: DiscordApi, line: GatewayClient, room: Channel, ada: Person, commands: str
) -> None:
    await rest.result(f"PUT {commands}", [{"name": "Explain this", "type": 3}])
    await line.identify()
    await line.event("GUILD_CREATE")
    said = room.say(ada, "E = mc²")
    await line.event("MESSAGE_CREATE")
    use_on(room, ada, "Explain this", said)
    told = await line.event("INTERACTION_CREATE")
    found = told["data"]["resolved"]["messages"][told["data"]["target_id"]]
    assert found["content"] == "E = mc²"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"name": "x" * 33}, "0.name"),
        ({"name": "Ask"}, "0.name"),
        ({"name": "a b"}, "0.name"),
        ({"description": "x" * 101}, "0.description"),
        ({"description": ""}, "0.description"),
        ({"type": 9}, "0.type"),
        ({"type": 3}, "0.description"),
        ({"name_localizations": {"xx": "ask"}}, "0.name_localizations.xx"),
        ({"name_localizations": {"de": "Frag"}}, "0.name_localizations.de"),
        ({"description_localizations": {"de": "x" * 101}}, "0.description_localizations.de"),
        (
            {"options": [{"type": 3, "name": f"o{i}", "description": "d"} for i in range(26)]},
            "0.options",
        ),
        ({"options": [{"type": 3, "name": "o", "description": "d"}] * 2}, "0.options"),
        ({"options": [{"type": 99, "name": "o", "description": "d"}]}, "0.options.0.type"),
        (
            {
                "options": [
                    {"type": 3, "name": "a", "description": "d"},
                    {"type": 3, "name": "b", "description": "d", "required": True},
                ]
            },
            "0.options.1",
        ),
        (
            {
                "options": [
                    {
                        "type": 3,
                        "name": "a",
                        "description": "d",
                        "autocomplete": True,
                        "choices": [{"name": "n", "value": "v"}],
                    }
                ]
            },
            "0.options.0",
        ),
        (
            {
                "options": [
                    {
                        "type": 3,
                        "name": "a",
                        "description": "d",
                        "choices": [{"name": "n", "value": "v"}] * 26,
                    }
                ]
            },
            "0.options.0.choices",
        ),
        (
            {
                "options": [
                    {
                        "type": 3,
                        "name": f"o{i}",
                        "description": "d" * 100,
                        "choices": [{"name": f"{j}" * 50, "value": "v" * 50} for j in range(9)],
                    }
                    for i in range(9)
                ]
            },
            "0",
        ),
    ],
)
async def test_commands_have_their_limits(
    rest: DiscordApi, commands: str, change: dict[str, Any], place: str
) -> None:
    command = {"name": "ask", "description": "Ask", **change}
    assert place in await rest.invalid(f"PUT {commands}", [command])
    assert rest.server.commands() == []
    single = place.partition(".")[2]
    assert single in await rest.invalid(f"POST {commands}", command)


async def test_a_hundred_commands_with_names_of_their_own(rest: DiscordApi, commands: str) -> None:
    many = [{"name": f"c{i}", "description": "d"} for i in range(101)]
    assert await rest.refused(f"PUT {commands}", many) == (400, 30032)
    await rest.result(f"PUT {commands}", many[:100])
    assert await rest.refused(f"POST {commands}", many[100]) == (400, 30032)
    twice = [many[0], many[0]]
    assert await rest.invalid(f"PUT {commands}", twice) == {
        "1": "APPLICATION_COMMANDS_DUPLICATE_NAME"
    }


async def test_commands_are_kept_by_name_and_scope(
    rest: DiscordApi, room: Channel, ada: Person, commands: str
) -> None:
    first = await rest.result(f"PUT {commands}", [ASK, MEMORY])
    second = await rest.result(f"PUT {commands}", [ASK, {**MEMORY, "description": "new"}])
    assert [command["id"] for command in first] == [command["id"] for command in second]
    assert first[0]["version"] == second[0]["version"]
    assert first[1]["version"] != second[1]["version"]
    status, added = await rest(f"POST {commands}", {"name": "new", "description": "d"})
    assert status == 201
    one = f"{commands}/{added['id']}"
    assert (await rest.result(f"GET {one}"))["name"] == "new"
    await rest.result(f"PATCH {one}", {"description": "better"})
    assert await rest.invalid(f"PATCH {one}", {"name": "ask"}) == {
        "": "APPLICATION_COMMANDS_DUPLICATE_NAME"
    }
    await rest.result(f"DELETE {one}")
    assert await rest.refused(f"DELETE {one}") == (404, 10063)
    assert len(await rest.result(f"GET {commands}")) == 2
    local = commands.replace("/commands", f"/guilds/{room.guild.id}/commands")
    await rest.result(f"PUT {local}", [{"name": "here", "description": "d"}])
    assert rest.server.commands(room.guild) == ["here"]
    room.slash(ada, "here")
    with pytest.raises(LookupError):
        ada.private.slash(ada, "here")
    elsewhere = commands.replace(str(rest.server.state.application_id), "5")
    assert await rest.refused(f"GET {elsewhere}") == (403, 20012)
    nowhere = commands.replace("/commands", "/guilds/5/commands")
    assert await rest.refused(f"GET {nowhere}") == (403, 50001)
    private = {"name": "quiet", "description": "d", "contexts": [1]}
    await rest.result(f"POST {commands}", private)
    ada.private.slash(ada, "quiet")
    with pytest.raises(LookupError):
        room.slash(ada, "quiet")


async def test_an_answer_with_a_file(rest: DiscordApi, room: Channel, ada: Person) -> None:
    await with_button(rest, room)
    press = pressed(room, ada)
    form = aiohttp.FormData()
    body = '{"type": 4, "data": {"content": "here", "attachments": [{"id": 0}]}}'
    form.add_field("payload_json", body, content_type="application/json")
    form.add_field("files[0]", b"deck", filename="cards.csv")
    answers = Answers(rest, press)
    made = await rest.result(answers.callback + "?with_response=true", form=form)
    assert made["resource"]["message"]["attachments"][0]["filename"] == "cards.csv"
    assert press.replies[0].attachments[0].data == b"deck"
