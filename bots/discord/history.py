"""What was said while nobody listened, read from the chats where the talk goes on.

The gateway tells again what a short interruption missed; after a longer one, or a start, it does
not. Then the newest chats are read, a hundred messages each, no further back than a day. With a
thread that we opened for a question its channel is read too: there the next question is asked.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from discord import Client, Message, Object, Thread
from discord.abc import Messageable
from discord.utils import time_snowflake

from bots.discord.failures import FAILURES, reason_of
from core.channel import NotSent
from core.context import InboundMessage

log = logging.getLogger(__name__)

MESSAGES: Final = 100
"""Of one chat."""
REACH: Final = timedelta(hours=24)
MARGIN: Final = timedelta(minutes=1)
"""Events come nearly in order, not quite."""
SECONDS: Final = 15.0
"""How long reading may take; what comes in meanwhile waits for it."""
AT_ONCE: Final = 5

_MILLISECOND: Final = 22
"""Bits of an id below its milliseconds."""

Read = Callable[[Message], InboundMessage | None]


async def missed(
    client: Client, chats: Sequence[str], last: int, now: datetime, read: Read
) -> list[InboundMessage]:
    """Return what was said in ``chats`` after the message ``last``, in order. Never raises.

    What is returned may have been heard before: whoever takes it knows what is new.
    """
    margin = int(MARGIN.total_seconds() * 1000) << _MILLISECOND
    after = max(last - margin, time_snowflake(now - REACH))
    own = client.user.id if client.user is not None else 0
    found: dict[int, InboundMessage] = {}
    around: set[int] = set()
    turns = asyncio.Semaphore(AT_ONCE)

    async def look(chat: int) -> None:
        try:
            async with turns:
                channel = client.get_channel(chat) or await client.fetch_channel(chat)
                if not isinstance(channel, Messageable):
                    return
                if isinstance(channel, Thread) and channel.owner_id == own:
                    around.add(channel.parent_id)
                async for message in channel.history(limit=MESSAGES, after=Object(after)):
                    taken = read(message)
                    if taken is not None:
                        found[message.id] = taken
        except (*FAILURES, NotSent) as error:
            log.info("a chat cannot be read: %s", reason_of(error))

    try:
        async with asyncio.timeout(SECONDS):
            await client.wait_until_ready()  # the servers are known, and our roles in them
            numbers = set(map(int, chats))
            await asyncio.gather(*map(look, numbers))
            await asyncio.gather(*map(look, around - numbers))
    except TimeoutError:
        log.warning("not every chat was read in time for what was said meanwhile")
    except RuntimeError as error:  # the client was closed while we read
        log.debug("nothing more was read: %s", error)
    return [found[number] for number in sorted(found)]
