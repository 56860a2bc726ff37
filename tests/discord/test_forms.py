"""Forms: opened as the first response to a press, and what is sent with them is the event."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from bots.discord import adapter
from core.context import InboundMessage, Press
from core.document import Button
from core.forms import Field, FindForm, Form
from tests.discord.door import at, door
from tests.doorway import Inbox, deliver
from tests.servers.discord import DiscordServer, Person

FORM = Form("Change the card", "save:7", (Field("Question", "7×8", 500), Field("Answer", "54", 9)))
EDIT = ((Button(label="Edit", action="edit:7"), Button(label="Other", action="other:7")),)


@pytest.fixture
def server() -> Iterator[DiscordServer]:
    with DiscordServer(rates=None) as server:
        yield server


@pytest.fixture
def ada(server: DiscordServer) -> Person:
    ada = server.user(7)
    server.guild("Study group", ada)
    return ada


async def find(message: InboundMessage) -> Form | None:
    assert isinstance(message.content, Press)
    return FORM if message.content.action == "edit:7" else None


class Desk:
    """A door with forms, and a message with the two buttons."""

    def __init__(self, server: DiscordServer, ada: Person, found: FindForm = find) -> None:
        self.inbox = Inbox()
        self.channel = door(server)
        self.channel.open_forms(found)
        self._ada = ada

    async def __aenter__(self) -> Desk:
        await self.channel.start(self.inbox, ())
        await deliver(self.channel, at(self._ada.private), "54", buttons=EDIT)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.channel.stop()


async def test_a_press_opens_its_form_and_what_is_sent_is_one_event(
    server: DiscordServer, ada: Person
) -> None:
    async with Desk(server, ada) as desk:
        [shown] = ada.private.from_bot
        press = ada.private.press(shown, "Edit", ada)
        assert (await press.wait_answered())["type"] == 9
        assert press.modal is not None
        assert press.modal["title"] == "Change the card"
        assert [row["label"] for row in press.modal["components"]] == ["Question", "Answer"]
        assert [row["component"]["value"] for row in press.modal["components"]] == ["7×8", "54"]
        with pytest.raises(ValueError, match="would not send"):
            ada.private.submit_modal(press, {"1": "x" * 10})
        sent = ada.private.submit_modal(press, {"1": "a\nb"})
        [event] = await desk.inbox.wait(1)
        assert event.content == Press(
            action="save:7", origin=str(shown.message_id), filled=("7×8", "a\nb")
        )
        assert (await sent.wait_answered())["type"] == 6
        assert event.message_id == f"ix:{sent.interaction_id}"


async def test_a_press_without_a_form_is_handed_over(server: DiscordServer, ada: Person) -> None:
    async with Desk(server, ada) as desk:
        press = ada.private.press(ada.private.from_bot[0], "Other", ada)
        [event] = await desk.inbox.wait(1)
        assert event.content == Press(action="other:7", origin=event.target.reply_to or "")
        assert (await press.wait_answered())["type"] == 6


async def test_a_form_that_is_not_found_in_time_leaves_the_press(
    server: DiscordServer, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(message: InboundMessage) -> Form | None:
        await asyncio.Event().wait()
        return None

    monkeypatch.setattr(adapter, "FORM_SECONDS", 0.05)
    async with Desk(server, ada, never) as desk:
        press = ada.private.press(ada.private.from_bot[0], "Edit", ada)
        [event] = await desk.inbox.wait(1)
        assert isinstance(event.content, Press)
        assert (event.content.action, event.content.filled) == ("edit:7", ())
        assert (await press.wait_answered())["type"] == 6


async def test_a_form_that_is_refused_leaves_the_press(server: DiscordServer, ada: Person) -> None:
    async with Desk(server, ada) as desk:
        server.refuse("interactionCallback", 400, 50035, "Invalid Form Body")
        press = ada.private.press(ada.private.from_bot[0], "Edit", ada)
        [event] = await desk.inbox.wait(1)
        assert isinstance(event.content, Press)
        assert event.content.action == "edit:7"
        assert (await press.wait_answered())["type"] == 6
