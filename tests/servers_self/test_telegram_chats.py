"""People and chats as a test steers them, and what of it the bot gets to see."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import aiohttp
import pytest
from aiogram.types import Update

from tests.servers.telegram import Shown, TelegramServer, media
from tests.servers_self.conftest import BotApi


def seen(message: Shown) -> dict[str, Any]:
    """Return what the bot was told of a message, having read it as aiogram does."""
    assert message.update is not None, "the bot was not told"
    Update.model_validate(message.update)
    kind = next(name for name in message.update if name != "update_id")
    content = message.update[kind]
    assert isinstance(content, dict)
    return content


def test_a_private_message_tells_who_wrote_it(telegram: TelegramServer) -> None:
    ada = telegram.user(7, "Ada", "zh-hans", "ada")
    told = seen(ada.say("👋 /ask why?"))
    assert told["from"] == {
        "id": 7,
        "is_bot": False,
        "first_name": "Ada",
        "username": "ada",
        "language_code": "zh-hans",
    }
    assert told["chat"] == {"id": 7, "type": "private", "first_name": "Ada", "username": "ada"}
    assert told["entities"] == [{"type": "bot_command", "offset": 3, "length": 4}]
    assert seen(ada.say("/ask", entities=[])).get("entities") is None


def test_a_group_shows_the_bot_only_what_is_meant_for_it(telegram: TelegramServer) -> None:
    ada, group = telegram.user(7), telegram.group()
    bot_said = Shown(group, group.next_id(), None, 0, "from the bot")
    group.put(bot_said)
    assert group.say(ada, "just talk").update is None
    assert group.say(ada, "hi @other_bot").update is None
    assert group.say(ada, "/ask@other_bot").update is None
    assert seen(group.say(ada, "hey @Tutor_Bot!"))["text"] == "hey @Tutor_Bot!"
    assert seen(group.say(ada, "/ask why"))
    assert seen(group.say(ada, "/ask@tutor_bot why"))
    assert seen(group.say(ada, "yes", reply_to=bot_said))["reply_to_message"]["text"]
    mention = {"type": "text_mention", "offset": 0, "length": 2, "user": telegram.state.bot_user}
    assert seen(group.say(ada, "hi", entities=[mention]))
    assert len(group.messages) == 9
    group.bot_is_admin = True
    assert seen(group.say(ada, "just talk"))


def test_without_privacy_mode_the_bot_sees_all_until_it_is_thrown_out() -> None:
    with TelegramServer(can_read_all_group_messages=True) as server:
        ada, group = server.user(7), server.supergroup(username="study")
        assert seen(group.say(ada, "just talk"))["chat"]["username"] == "study"
        group.kick_bot(ada)
        assert group.say(ada, "@tutor_bot?").update is None
        changes = [u["my_chat_member"] for u in server.pending_updates if "my_chat_member" in u]
        assert changes[0]["new_chat_member"]["status"] == "kicked"


def test_a_message_in_a_topic_hangs_on_the_topics_opening(telegram: TelegramServer) -> None:
    ada, forum = telegram.user(7), telegram.forum()
    topic = forum.topic("Algebra", by=ada)
    told = seen(topic.say(ada, "/ask"))
    assert (told["message_thread_id"], told["is_topic_message"]) == (topic.id, True)
    assert told["chat"]["is_forum"] is True
    assert told["reply_to_message"]["message_id"] == topic.id
    assert told["reply_to_message"]["forum_topic_created"]["name"] == "Algebra"
    general = seen(forum.say(ada, "/ask"))
    assert "message_thread_id" not in general
    assert [message.text for message in topic.messages] == ["/ask"]
    # Being in a topic that the bot opened does not address the bot.
    assert forum.topic("Geometry").say(ada, "talk").update is None
    topic.delete()
    assert [message.text for message in forum.messages if message.text] == ["/ask", "talk"]


async def test_private_topics_and_replies_keep_their_thread(
    session: aiohttp.ClientSession,
) -> None:
    with TelegramServer(has_topics_enabled=True, rates=None) as server:
        api, ada = BotApi(session, server), server.user(7)
        assert (await api.result("getMe"))["has_topics_enabled"] is True
        topic = ada.private.topic("Sums", by=ada)
        asked = topic.say(ada, "2+2?")
        sent = await api.result(
            "sendMessage", chat_id=7, text="4", reply_parameters={"message_id": asked.message_id}
        )
        assert sent["message_thread_id"] == topic.id
        assert [message.text for message in topic.messages] == ["2+2?", "4"]


async def test_a_press_tells_the_bot_what_the_button_carries(
    telegram: TelegramServer, api: BotApi
) -> None:
    ada, group = telegram.user(7), telegram.group()
    rows = [[{"text": "Again", "callback_data": "grade:1"}, {"text": "Site", "url": "a.org"}]]
    await api.result(
        "sendMessage", chat_id=group.id, text="?", reply_markup={"inline_keyboard": rows}
    )
    asked = group.from_bot[0]
    for wanted in ("Again", "grade:1"):
        press = group.press(asked, wanted, ada)
        assert press.update is not None
        Update.model_validate(press.update)
        query = press.update["callback_query"]
        assert (query["data"], query["from"]["id"], query["message"]["text"]) == ("grade:1", 7, "?")
        assert query["message"]["message_id"] == asked.message_id
    with pytest.raises(LookupError, match="only \\['Again', 'Site'\\]"):
        group.press(asked, "Good", ada)
    with pytest.raises(LookupError, match="sends nothing"):
        group.press(asked, "Site", ada)
    with pytest.raises(ValueError, match="who presses"):
        group.press(asked, "Again")
    await api.result("editMessageText", chat_id=group.id, message_id=asked.message_id, text="!")
    with pytest.raises(LookupError):
        group.press(asked, "Again", ada)


def test_an_edit_by_its_author_keeps_the_place_and_is_told(telegram: TelegramServer) -> None:
    ada = telegram.user(7)
    first = ada.say("frist")
    ada.say("second")
    told = seen(ada.private.edit(first, "first /help"))
    assert (told["message_id"], told["text"]) == (first.message_id, "first /help")
    assert told["edit_date"] and told["entities"]
    assert first.text == "frist"
    assert [message.text for message in ada.private.messages] == ["first /help", "second"]


def test_a_block_is_told_and_silences_the_person(telegram: TelegramServer) -> None:
    ada = telegram.user(7)
    ada.say("hi")
    ada.block()
    with pytest.raises(ValueError, match="blocked"):
        ada.say("still there?")
    ada.unblock()
    ada.say("hi again")
    for update in telegram.pending_updates:
        Update.model_validate(update)
    statuses = [
        update["my_chat_member"]["new_chat_member"]["status"]
        for update in telegram.pending_updates
        if "my_chat_member" in update
    ]
    assert statuses == ["kicked", "member"]


def test_people_send_more_than_text(telegram: TelegramServer) -> None:
    ada = telegram.user(7)
    chat = ada.private
    assert seen(media.sticker(chat, ada))["sticker"]["emoji"] == "👍"
    assert seen(media.photo(chat, ada, b"jpg", "what is /this?"))["caption"] == "what is /this?"
    assert seen(media.voice(chat, ada, b"ogg"))["voice"]["file_size"] == 3
    assert seen(media.document(chat, ada, "a.txt", b"x"))["document"]["file_name"] == "a.txt"
    assert seen(media.poll(chat, ada, "Yes?", ["yes", "no"]))["poll"]["question"] == "Yes?"


async def test_files_are_downloaded_after_getfile_and_large_ones_are_not(
    telegram: TelegramServer, api: BotApi
) -> None:
    ada = telegram.user(7)
    sent = seen(media.document(ada.private, ada, "a.txt", b"content"))["document"]
    link = f"{telegram.url}/file/bot{telegram.token}/"

    async def download(url: str) -> tuple[int, bytes]:
        async with api.session.get(url) as response:
            return response.status, await response.read()

    kept = telegram.state.files[sent["file_id"]]
    assert (await download(link + kept.path))[0] == 404
    file = await api.result("getFile", file_id=sent["file_id"])
    assert await download(link + file["file_path"]) == (200, b"content")
    assert (await download(link.replace("TEST", "WRONG") + kept.path))[0] == 401
    assert (await download(link + "documents/none"))[0] == 404
    refused = await api.refused("getFile", file_id="none")
    assert refused[1].startswith("Bad Request: wrong file_id")
    large = media.photo(ada.private, ada, b"x", size=20 * 1024 * 1024 + 1)
    refused = await api.refused("getFile", file_id=seen(large)["photo"][0]["file_id"])
    assert refused == (400, "Bad Request: file is too big")


async def test_a_test_waits_for_what_the_chat_shows_in_either_form(
    telegram: TelegramServer, api: BotApi
) -> None:
    ada = telegram.user(7, started=True)
    chat = ada.private
    first = asyncio.create_task(chat.wait_message())
    second = asyncio.create_task(asyncio.to_thread(chat.wait_message_blocking, _is_two))
    await api.result("sendMessage", chat_id=7, text="one")
    sent = await api.result("sendMessage", chat_id=7, text="on")
    assert (await first).text == "one"
    await api.result("editMessageText", chat_id=7, message_id=sent["message_id"], text="two")
    assert (await second).edited is not None
    assert (await chat.wait_message(after=await first)).text == "two"
    with pytest.raises(TimeoutError, match="bot: one"):
        await chat.wait_message(lambda message: message.text == "three", within=0.01)
    await api.result("sendChatAction", chat_id=7, action="typing")
    assert (await chat.wait_action()).thread is None


def _is_two(message: Shown) -> bool:
    return message.text == "two"


def test_an_app_would_split_a_long_message(telegram: TelegramServer) -> None:
    ada = telegram.user(7)
    with pytest.raises(ValueError, match="4096"):
        ada.say("x" * 4097)
    assert len(seen(ada.say("x" * 100_000, unlimited=True))["text"]) == 100_000


def test_many_threads_may_speak_at_once(telegram: TelegramServer) -> None:
    people = [telegram.user(100 + i) for i in range(8)]

    def chatter(index: int) -> None:
        for i in range(50):
            people[index].say(f"{i}")

    threads = [threading.Thread(target=chatter, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers = [update["update_id"] for update in telegram.pending_updates]
    assert numbers == list(range(1000, 1400))
    assert all(len(person.private.messages) == 50 for person in people)


def test_two_chats_never_share_an_id(telegram: TelegramServer) -> None:
    telegram.user(7)
    with pytest.raises(ValueError, match="already"):
        telegram.user(7)
