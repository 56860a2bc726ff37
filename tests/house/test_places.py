"""How far the events of an account are known, and where its talk goes on."""

from __future__ import annotations

from functools import partial

from core.access import AccessMode
from core.channel import Known
from core.turns.places import known
from tests.house.conftest import MakeHome
from tests.servers.telegram import TelegramServer


async def test_the_newest_event_and_the_chats_of_learners_are_known(
    make_home: MakeHome, telegram: TelegramServer
) -> None:
    home = await make_home(mode=AccessMode.ALLOWLIST, allow=["telegram:7"])
    ada, eve = telegram.user(7, "Ada"), telegram.user(9, "Eve")
    group = telegram.supergroup()
    [channel] = home.house.health()
    number = telegram.token.partition(":")[0]

    async def now(of: str = number) -> Known | None:
        return await home.store.read(partial(known, channel=channel, account=of))

    assert await now() is None
    await home.tell(ada, "1?")
    await home.ask(group, ada, "@tutor_bot 2?")
    first = await now()
    assert first is not None
    assert first.chats == (str(group.id), str(ada.private.id))
    await home.tell(eve, "let me in")
    after = await now()
    assert after is not None
    assert after.chats == first.chats, "nothing is read where only strangers wrote"
    assert after.last != first.last, "what strangers wrote is known too"
    await home.tell(ada, "3?")
    last = await now()
    assert last is not None
    assert last.chats == (str(ada.private.id), str(group.id))
    assert await now("another") is None
