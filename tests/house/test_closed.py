"""Who closed their private chat hears of it once, elsewhere, and not what was to be said."""

from __future__ import annotations

from datetime import timedelta

from core.turns.closed import RECENT
from tests.house.home import Home
from tests.house.test_reminders import at_desk
from tests.servers.telegram import Chat, Person, TelegramServer

NOTICE = "could not write to you in private"


def told(place: Chat) -> list[str]:
    return [m.text for m in place.from_bot if NOTICE in m.text]


async def remind(home: Home, person: Person, text: str) -> None:
    """Let the tutor want to write to somebody."""
    desk = await at_desk(home, person) if not person.blocked else None
    if desk is not None:
        for hour in (19, 20, 21):
            await desk.keep(text, f"2026-11-30T{hour}:00")


async def due(home: Home) -> None:
    home.clock.advance(hours=1)
    await home.house.sweep()
    await home.quiet()


async def test_a_closed_chat_is_told_of_once_where_the_learner_last_was(
    home: Home, telegram: TelegramServer
) -> None:
    ada, bob = telegram.user(7, "Ada"), telegram.user(8, "Bob")
    first, last = telegram.supergroup("First"), telegram.supergroup("Last")
    await remind(home, ada, "the secret of Ada")
    await home.ask(first, ada, "@tutor_bot 1?")
    asked = last.say(ada, "@tutor_bot 2?")
    await home.quiet()
    await home.ask(first, bob, "@tutor_bot 3?")
    ada.block()
    home.clock.advance(hours=8)
    for _ in range(3):
        await due(home)
    assert told(first) == []
    [notice] = [m for m in last.from_bot if NOTICE in m.text]
    assert notice.reply_to == asked.message_id
    assert not any("secret" in m.text for place in (first, last) for m in place.from_bot)
    assert "cannot be delivered" in home.log


async def test_who_opens_it_and_closes_it_again_is_told_again(
    home: Home, telegram: TelegramServer
) -> None:
    ada, group = telegram.user(7, "Ada"), telegram.supergroup()
    await remind(home, ada, "7")
    await home.ask(group, ada, "@tutor_bot 1?")
    ada.block()
    home.clock.advance(hours=8)
    await due(home)
    ada.unblock()
    await home.tell(ada, "hello")
    ada.block()
    await due(home)
    await due(home)
    assert len(told(group)) == 2


async def test_nobody_is_told_where_they_have_not_been_for_long_or_nowhere(
    home: Home, telegram: TelegramServer
) -> None:
    ada, bob, group = telegram.user(7, "Ada"), telegram.user(8, "Bob"), telegram.supergroup()
    await home.ask(group, ada, "@tutor_bot 1?")
    home.clock.advance(**{"days": (RECENT + timedelta(days=1)).days})
    for person in (ada, bob):
        desk = await at_desk(home, person)
        soon = home.clock.now() + timedelta(hours=1, minutes=30)
        await desk.keep("7", soon.strftime("%Y-%m-%dT%H:%M"))
        person.block()
    await due(home)
    assert told(group) == []
    assert home.log.count("cannot be delivered") == 2


async def test_a_group_that_is_closed_is_nobodys_private_chat(
    home: Home, telegram: TelegramServer
) -> None:
    ada, group, other = telegram.user(7, "Ada"), telegram.supergroup(), telegram.supergroup("B")
    await home.tell(ada, "hello")
    await home.ask(other, ada, "@tutor_bot 0?")
    telegram.refuse("sendMessage", 403, "Forbidden: bot was kicked from the supergroup chat")
    await home.ask(group, ada, "@tutor_bot 1?")
    assert told(other) == told(ada.private) == []
