"""Updates: confirmed by the next offset, one reader at a time, redelivered on demand."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import aiohttp

from tests.servers.telegram import TelegramServer
from tests.servers_self.conftest import BotApi


async def texts(api: BotApi, **parameters: object) -> list[str]:
    updates = await api.result("getUpdates", **parameters)
    return [update["message"]["text"] for update in updates]


async def test_an_update_comes_again_until_a_later_offset_confirms_it(
    telegram: TelegramServer, api: BotApi
) -> None:
    ada = telegram.user(7)
    first, second = ada.say("one"), ada.say("two")
    assert first.update is not None and second.update is not None
    ids = first.update["update_id"], second.update["update_id"]
    assert await texts(api) == ["one", "two"]
    assert await texts(api, offset=ids[0]) == ["one", "two"]
    assert telegram.confirmed_offset == ids[0]
    assert await texts(api, offset=ids[1]) == ["two"]
    assert await texts(api, offset=ids[1] + 1) == []
    assert await texts(api) == []
    assert telegram.confirmed_offset == ids[1] + 1
    await telegram.wait_confirmed(second)


async def test_a_batch_has_a_limit_and_a_negative_offset_keeps_the_last(
    telegram: TelegramServer, api: BotApi
) -> None:
    ada = telegram.user(7)
    for i in range(120):
        ada.say(f"{i}")
    assert len(await texts(api)) == 100
    assert await texts(api, limit=2) == ["0", "1"]
    assert await texts(api, offset=-1) == ["119"]
    assert await texts(api) == ["119"]


async def test_a_long_poll_is_answered_when_something_comes(
    telegram: TelegramServer, api: BotApi
) -> None:
    ada = telegram.user(7)
    poll = asyncio.create_task(texts(api, timeout=50))
    await telegram.wait_polling()
    ada.say("at last")
    assert await poll == ["at last"]
    assert await texts(api, timeout=50) == ["at last"]


async def test_a_long_poll_ends_empty_after_its_time(api: BotApi) -> None:
    assert await texts(api, timeout=1) == []


async def test_only_the_kinds_asked_for_are_queued_from_then_on(
    telegram: TelegramServer, api: BotApi
) -> None:
    ada = telegram.user(7)
    before = ada.say("before")
    await api.result("getUpdates", allowed_updates=["edited_message"])
    assert ada.say("unheard").update is None
    ada.private.edit(before, "changed")
    kinds = [list(update)[1] for update in await api.result("getUpdates")]
    assert kinds == ["message", "edited_message"]
    await api.result("getUpdates", allowed_updates=[])
    assert ada.say("heard").update is not None
    assert telegram.state.push("message_reaction", {}) is None


async def test_the_older_of_two_readers_is_told_to_go(
    telegram: TelegramServer, api: BotApi
) -> None:
    older = asyncio.create_task(api("getUpdates", timeout=50))
    await telegram.wait_polling()
    newer = asyncio.create_task(api("getUpdates", timeout=50))
    status, answer = await older
    assert (status, answer["description"]) == (
        409,
        "Conflict: terminated by other getUpdates request; "
        "make sure that only one bot instance is running",
    )
    assert not newer.done()
    telegram.user(7).say("mine")
    status, answer = await newer
    assert (status, len(answer["result"])) == (200, 1)


async def test_a_webhook_and_long_polling_exclude_each_other(
    telegram: TelegramServer, api: BotApi
) -> None:
    refused = await api.refused("setWebhook", url="http://a.org/")
    assert refused[1] == "Bad Request: bad webhook: An HTTPS URL must be provided for webhook"
    poll = asyncio.create_task(api.refused("getUpdates", timeout=50))
    await telegram.wait_polling()
    await api.result("setWebhook", url="https://a.org/")
    assert await poll == (409, "Conflict: terminated by setWebhook request")
    assert (await api.refused("getUpdates"))[1].startswith(
        "Conflict: can't use getUpdates method while webhook is active"
    )
    telegram.user(7).say("waiting")
    assert (await api.result("getWebhookInfo"))["pending_update_count"] == 1
    await api.result("deleteWebhook", drop_pending_updates=True)
    assert await texts(api) == []


async def test_an_update_can_be_delivered_again_though_it_was_confirmed(
    telegram: TelegramServer, api: BotApi
) -> None:
    said = telegram.user(7).say("twice")
    assert said.update is not None
    number = said.update["update_id"]
    assert await texts(api) == ["twice"]
    assert await texts(api, offset=number + 1) == []
    assert telegram.redeliver(said) == said.update
    assert await texts(api, offset=number + 1) == ["twice"]
    assert await texts(api, offset=number + 1) == []


async def test_malformed_updates_travel_as_they_are(telegram: TelegramServer, api: BotApi) -> None:
    telegram.push_raw({"message": {"nonsense": True}})
    telegram.push_raw({"update_id": 5000, "future_kind": {}})
    telegram.user(7).say("good")
    updates = await api.result("getUpdates")
    assert updates[0]["message"] == {"nonsense": True}
    assert [update["update_id"] for update in updates[1:]] == [5000, 5001]


_CALLER = """
import sys, urllib.request
urllib.request.urlopen(sys.argv[1], data=sys.argv[2].encode()).read()
"""


async def test_a_killed_process_has_sent_and_its_long_poll_holds_nothing_back(
    telegram: TelegramServer, api: BotApi
) -> None:
    ada = telegram.user(7, started=True)
    address = f"{telegram.url}/bot{telegram.token}"

    def process(method: str, parameters: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", _CALLER, f"{address}/{method}", parameters],
            stderr=subprocess.DEVNULL,
        )

    gate = telegram.hold("sendMessage")
    with process("sendMessage", "chat_id=7&text=once") as sender:
        await gate.wait_reached()
        sender.kill()
    gate.release()
    assert [message.text for message in ada.private.messages] == ["once"]
    with process("getUpdates", "timeout=50") as reader:
        await telegram.wait_polling()
        reader.kill()
    # What the dead poll takes away is not confirmed, so the next reader gets it as well.
    ada.say("hello?")
    assert await texts(api, timeout=50) == ["hello?"]


async def test_stopping_the_server_ends_a_long_poll(session: aiohttp.ClientSession) -> None:
    with TelegramServer() as server:
        poll = asyncio.create_task(BotApi(session, server)("getUpdates", timeout=50))
        await server.wait_polling()
        await asyncio.to_thread(server.stop)
    result = (await asyncio.gather(poll, return_exceptions=True))[0]
    assert isinstance(result, aiohttp.ClientError) or result == (200, {"ok": True, "result": []})
