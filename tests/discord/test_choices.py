"""Choosing among many: menus in a message, and suggestions while a command is typed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bots.discord.render import DiscordPart, render
from core.commands.declare import Choice, Menu
from core.context import Command, Press
from core.document import Button, Document
from tests.discord.door import MENUS, at, opened
from tests.doorway import Inbox, deliver
from tests.servers.discord import DiscordServer, Person

CITIES = ("Berlin", "Bern", "Bergen", "Lima", "Quito", "Tokyo")


@pytest.fixture
def server() -> Iterator[DiscordServer]:
    with DiscordServer(rates=None) as server:
        yield server


@pytest.fixture
def ada(server: DiscordServer) -> Person:
    ada = server.user(7)
    server.guild("Study group", ada)
    return ada


def listed(names: tuple[str, ...]) -> tuple[tuple[Button, ...], ...]:
    """Choices one below the other."""
    return tuple((Button(label=name, action=f"zone:{name}"),) for name in names)


def drawn(rows: tuple[tuple[Button, ...], ...]) -> DiscordPart:
    [part] = render(Document(markdown="Which?", buttons=rows))
    return part


# --- menus ---------------------------------------------------------------------------------------


def test_up_to_five_choices_stay_buttons_and_more_become_a_menu() -> None:
    few, many = drawn(listed(CITIES[:5])), drawn(listed(CITIES))
    assert (len(few.buttons), few.menus) == (5, ())
    assert many.buttons == ()
    [menu] = many.menus
    assert [option.label for option in menu.options] == list(CITIES)


def test_rows_of_several_stay_buttons_beside_a_menu() -> None:
    pair = (Button(label="Yes", action="a:yes"), Button(label="No", action="a:no"))
    part = drawn((*listed(CITIES), pair))
    assert len(part.menus) == len(part.buttons) == 1
    hours = tuple(Button(label=f"{n}:00", action=f"at:{n}") for n in range(6))
    grid = drawn((hours[:3], hours[3:], (Button(label="Never", action="at:0n"),)))
    assert (len(grid.buttons), grid.menus) == (3, ())


def test_a_list_longer_than_a_menu_is_several_and_one_beyond_all_is_a_fault() -> None:
    names = tuple(f"Place {n}" for n in range(60))
    assert [len(menu.options) for menu in drawn(listed(names)).menus] == [25, 25, 10]
    with pytest.raises(ValueError, match="more buttons"):
        drawn(listed(tuple(f"Place {n}" for n in range(126))))


async def test_a_choice_is_a_press_also_after_a_restart(server: DiscordServer, ada: Person) -> None:
    async with opened(server) as channel:
        await deliver(channel, at(ada.private), "Which?", buttons=listed(CITIES))
        long = tuple(f"Place {n}" for n in range(120))
        await deliver(channel, at(ada.private), "Which?", buttons=listed(long), key="long")
    inbox = Inbox()
    first, second = ada.private.from_bot
    async with opened(server, inbox) as channel:
        press = ada.private.select(first, "Lima", ada)
        (message,) = await inbox.wait(1)
        assert message.content == Press(action="zone:Lima", origin=str(first.message_id))
        assert (await press.wait_answered())["type"] == 6
        [part] = channel.render(Document(markdown="Lima it is."))
        await channel.edit(message.target, str(first.message_id), part)
        ada.private.select(second, "Place 119", ada, menu="menu:4")
        last = (await inbox.wait(2))[-1]
        assert last.content == Press(action="zone:Place 119", origin=str(second.message_id))
    assert ada.private.from_bot[0].selects == []


# --- suggestions ---------------------------------------------------------------------------------


def beginning(typed: str, language: str) -> list[Choice]:
    """Cities that begin so, in the language's own way of writing."""
    found = [city for city in (*CITIES, *MORE) if city.casefold().startswith(typed.casefold())]
    return [Choice(f"{city} ({language})", city) for city in found]


MORE = tuple(f"Zed {n}" for n in range(40))
USAGES = (("add", "CITY"), ("help", "WHAT"))
SUGGESTING = tuple(
    Menu(menu.language, menu.entries, USAGES, (("add", beginning),)) for menu in MENUS
)


async def test_what_may_follow_is_suggested_in_the_language_of_the_app(
    server: DiscordServer,
) -> None:
    ada, mei = server.user(7, "Ada"), server.user(8, "Mei", "zh-CN")
    inbox = Inbox()
    async with opened(server, inbox, menus=SUGGESTING):
        press = ada.private.autocomplete(ada, "add", "text", "ber")
        await press.wait_answered()
        names = [choice["name"] for choice in press.choices]
        assert names == ["Berlin (en)", "Bern (en)", "Bergen (en)"]
        assert press.choices[0]["value"] == "Berlin"
        press = mei.private.autocomplete(mei, "add", "text", "Lim")
        await press.wait_answered()
        assert [choice["name"] for choice in press.choices] == ["Lima (zh)"]
        for typed, count in (("zed", 25), ("nowhere", 0), ("", 25)):
            press = ada.private.autocomplete(ada, "add", "text", typed)
            await press.wait_answered()
            assert len(press.choices) == count
        ada.private.slash(ada, "add", {"text": "Lima"})
        (message,) = await inbox.wait(1)
        assert message.content == Command(name="add", arguments="Lima"), "typing is no message"
        with pytest.raises(LookupError):
            ada.private.autocomplete(ada, "help", "text", "a")


async def test_a_suggestion_that_comes_too_late_is_nobodys_trouble(
    server: DiscordServer, ada: Person
) -> None:
    inbox = Inbox()
    async with opened(server, inbox, menus=SUGGESTING):
        server.refuse("interactionCallback", 404, 10062, "Unknown interaction")
        ada.private.autocomplete(ada, "add", "text", "ber")
        await server.wait_for(lambda: server.requests_of("interactionCallback"))
        ada.say("hello")
        await inbox.wait(1)


async def test_commands_that_begin_to_suggest_are_registered_anew(
    server: DiscordServer, ada: Person
) -> None:
    plain = [Menu(menu.language, menu.entries, USAGES) for menu in MENUS]
    for menus in (plain, plain, SUGGESTING, SUGGESTING):
        async with opened(server, menus=menus):
            pass
    assert len(server.requests_of("setCommands")) == 2
