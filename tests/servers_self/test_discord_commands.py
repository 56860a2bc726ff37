"""Application commands: their registration, its limits, and what people send with them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.servers.discord import Channel, DiscordServer, Person, Upload
from tests.servers.discord.acting import use_on
from tests.servers_self.discord_raw import ASK, MEMORY, Answers, DiscordApi, GatewayClient


@pytest.fixture
def ada(discord: DiscordServer) -> Person:
    return discord.user(7)


@pytest.fixture
def room(discord: DiscordServer, ada: Person) -> Channel:
    return discord.guild("Study group", ada).channel("general")


@pytest.fixture
def commands(discord: DiscordServer) -> str:
    return f"/applications/{discord.state.application_id}/commands"


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
    room.guild.commands_allowed = False
    assert await rest.refused(f"GET {local}") == (403, 50001)
    room.guild.commands_allowed = True
    private = {"name": "quiet", "description": "d", "contexts": [1]}
    await rest.result(f"POST {commands}", private)
    ada.private.slash(ada, "quiet")
    with pytest.raises(LookupError):
        room.slash(ada, "quiet")
