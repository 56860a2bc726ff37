"""Commands, buttons, menus, modals: what people send, what the bot may answer, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from tests.servers.discord import Channel, DiscordServer, Person, Press
from tests.servers_self.discord_raw import ASK, Answers, DiscordApi, GatewayClient


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


def pressed(room: Channel, ada: Person) -> Press:
    return room.press(room.from_bot[0], "ok", ada)


async def with_button(rest: DiscordApi, room: Channel, **fields: Any) -> None:
    button = {"type": 2, "style": 1, "label": "ok", "custom_id": "go:1", **fields}
    await rest.send(room, content="ready?", components=[{"type": 1, "components": [button]}])


async def test_a_first_response_comes_in_three_seconds_and_once(
    rest: DiscordApi, room: Channel, ada: Person, clock: Clock
) -> None:
    await with_button(rest, room)
    press = pressed(room, ada)
    answers = Answers(rest, press)
    clock.now += 3.0
    assert press.failed is False
    await rest.result(answers.callback, {"type": 4, "data": {"content": "yes"}}, token="")
    assert (await press.wait_answered())["type"] == 4
    assert (await press.wait_reply()).text == "yes"
    assert await rest.refused(answers.callback, {"type": 6}) == (400, 40060)
    late = pressed(room, ada)
    clock.now += 3.0 + 0.1
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
    clock.now += 15 * 60
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


async def test_waits_come_in_a_blocking_form_too(
    rest: DiscordApi, line: GatewayClient, room: Channel, ada: Person
) -> None:
    await with_button(rest, room)
    await line.identify()
    press = pressed(room, ada)
    for wait in (press.wait_answered_blocking, press.wait_reply_blocking):
        with pytest.raises(TimeoutError):
            await asyncio.to_thread(wait, within=0.01)
    await rest.result(Answers(rest, press).callback, {"type": 4, "data": {"content": "yes"}})
    assert (await asyncio.to_thread(press.wait_answered_blocking))["type"] == 4
    assert (await asyncio.to_thread(press.wait_reply_blocking)).text == "yes"
    await asyncio.to_thread(rest.server.wait_ready_blocking)
    rest.server.drop_connections()
    await line.close_code()
    await rest.server.wait_for(lambda: not rest.server.gateway.connections)
    with pytest.raises(TimeoutError, match="ready"):
        await asyncio.to_thread(rest.server.wait_ready_blocking, within=0.01)
