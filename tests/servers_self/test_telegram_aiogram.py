"""The real aiogram against the server: every answer decodes, every refusal has its exception."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiogram import Bot, Dispatcher, F
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import (
    TelegramBadRequest,
    TelegramConflictError,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramServerError,
    TelegramUnauthorizedError,
)
from aiogram.filters import Command
from aiogram.types import (
    BotCommand,
    BotCommandScopeAllPrivateChats,
    BufferedInputFile,
    CallbackQuery,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    Message,
    MessageEntity,
    ReplyParameters,
)

from tests.servers.faults import Stage
from tests.servers.telegram import TelegramServer, media


def client(server: TelegramServer, token: str | None = None) -> Bot:
    session = AiohttpSession(api=TelegramAPIServer.from_base(server.url))
    return Bot(token or server.token, session=session)


@pytest.fixture
async def bot(telegram: TelegramServer) -> AsyncIterator[Bot]:
    made = client(telegram)
    yield made
    await made.session.close()


@asynccontextmanager
async def polling(bot: Bot, dispatcher: Dispatcher) -> AsyncIterator[None]:
    task = asyncio.create_task(
        dispatcher.start_polling(bot, handle_signals=False, polling_timeout=30)
    )
    try:
        yield
    finally:
        await dispatcher.stop_polling()
        await task


def button(label: str, data: str) -> InlineKeyboardMarkup:
    made = InlineKeyboardButton(text=label, callback_data=data)
    return InlineKeyboardMarkup(inline_keyboard=[[made]])


async def test_a_conversation_goes_round_through_long_polling(
    telegram: TelegramServer, bot: Bot
) -> None:
    dispatcher = Dispatcher()

    @dispatcher.message(Command("ask"))
    async def ask(message: Message) -> None:
        await message.reply("Why do you ask?", reply_markup=button("Because", "why:1"))

    @dispatcher.message(F.text)
    async def echo(message: Message) -> None:
        await message.answer(f"<b>{message.text}</b>", parse_mode="HTML")

    @dispatcher.edited_message()
    async def edited(message: Message) -> None:
        await message.answer(f"edited to {message.text}")

    @dispatcher.callback_query()
    async def pressed(query: CallbackQuery) -> None:
        assert isinstance(query.message, Message)
        await query.answer("thanks")
        await query.message.edit_text("I see.")

    ada, forum = telegram.user(7), telegram.forum()
    topic = forum.topic("Algebra", by=ada)
    async with polling(bot, dispatcher):
        said = ada.say("hello")
        answer = await ada.private.wait_message(after=said)
        assert (answer.text, answer.covered("bold")) == ("hello", ["hello"])
        await telegram.wait_confirmed(said)

        ada.private.edit(said, "hullo")
        await ada.private.wait_message(lambda message: message.text == "edited to hullo")

        asked = topic.say(ada, "/ask@tutor_bot")
        question = await forum.wait_message(lambda message: "Why" in message.text)
        assert (question.thread, question.reply_to) == (topic.id, asked.message_id)

        press = forum.press(question, "Because", ada)
        assert (await press.wait_answered())["text"] == "thanks"
        shown = await forum.wait_message(lambda message: message.text == "I see.")
        assert (shown.message_id, shown.buttons) == (question.message_id, [])


async def test_every_method_gives_aiogram_what_it_decodes(
    telegram: TelegramServer, bot: Bot
) -> None:
    ada = telegram.user(7)
    asked = ada.say("hi")
    me = await bot.get_me()
    assert (me.id, me.username, me.can_read_all_group_messages) == (42, "tutor_bot", False)
    sent = await bot.send_message(
        7,
        "👉 code",
        entities=[MessageEntity(type="code", offset=3, length=4)],
        reply_parameters=ReplyParameters(message_id=asked.message_id, chat_id=7),
        reply_markup=button("ok", "go"),
    )
    assert sent.entities is not None and sent.entities[0].extract_from(sent.text or "") == "code"
    assert sent.reply_to_message is not None and sent.reply_to_message.text == "hi"
    edited = await bot.edit_message_text("new", chat_id=7, message_id=sent.message_id)
    assert isinstance(edited, Message) and edited.text == "new"
    marked = await bot.edit_message_reply_markup(
        chat_id=7, message_id=sent.message_id, reply_markup=button("ok", "go")
    )
    assert isinstance(marked, Message) and marked.reply_markup is not None
    press = ada.private.press(ada.private.from_bot[0], "ok")
    assert await bot.answer_callback_query(press.query_id, text="done", show_alert=True)
    assert press.answer == {"text": "done", "show_alert": True}
    assert await bot.send_chat_action(7, "typing")
    assert await bot.send_message_draft(chat_id=7, draft_id=1, text="Thin")
    assert ada.private.drafts == {1: "Thin"}
    assert (await bot.get_chat(7)).first_name == "Ada"
    commands = [BotCommand(command="help", description="Help")]
    scope = BotCommandScopeAllPrivateChats()
    assert await bot.set_my_commands(commands, scope=scope, language_code="zh")
    assert telegram.commands("zh", "all_private_chats") == ["help"]
    menu = await bot.get_my_commands(scope=scope, language_code="zh")
    assert [command.command for command in menu] == ["help"]
    assert await bot.delete_message(7, sent.message_id)
    assert await bot.set_webhook("https://a.org/hook")
    assert (await bot.get_webhook_info()).url == "https://a.org/hook"
    assert await bot.delete_webhook()
    media.document(ada.private, ada, "a.txt", b"content")
    updates = await bot.get_updates()
    message = updates[-1].message
    assert message is not None and message.document is not None
    downloaded = await bot.download(message.document)
    assert downloaded is not None and downloaded.read() == b"content"


async def test_a_form_with_files_is_read_too(telegram: TelegramServer, bot: Bot) -> None:
    file = BufferedInputFile(b"certificate", "cert.pem")
    assert await bot.set_webhook("https://a.org/", certificate=file)
    request = telegram.requests[-1]
    assert request.headers["Content-Type"].startswith("multipart/form-data")
    assert request.json["url"] == "https://a.org/"


async def test_refusals_become_aiograms_exceptions(telegram: TelegramServer, bot: Bot) -> None:
    ada, group = telegram.user(7, started=True), telegram.group()
    with pytest.raises(TelegramBadRequest, match="can't parse entities"):
        await bot.send_message(7, "<b>", parse_mode="HTML")
    successor = group.migrate()
    with pytest.raises(TelegramMigrateToChat) as moved:
        await bot.send_message(group.id, "x")
    assert moved.value.migrate_to_chat_id == successor.id
    ada.block()
    with pytest.raises(TelegramForbiddenError, match="blocked"):
        await bot.send_message(7, "x")
    with pytest.raises(TelegramNotFound):
        await bot.send_dice(7)
    stranger = client(telegram, "43:OTHER")
    with pytest.raises(TelegramUnauthorizedError):
        await stranger.get_me()
    await stranger.session.close()
    await bot.set_webhook("https://a.org/")
    with pytest.raises(TelegramConflictError):
        await bot.get_updates()
    refusal = telegram.refuse("getMe", 429, "Too Many Requests: retry after 3", retry_after=3)
    with pytest.raises(TelegramRetryAfter) as flooded:
        await bot.get_me()
    assert (flooded.value.retry_after, refusal.used) == (3, 1)
    telegram.refuse("getMe", 502, "Bad Gateway")
    with pytest.raises(TelegramServerError):
        await bot.get_me()
    assert (await bot.get_me()).id == 42


@pytest.mark.parametrize(("stage", "shown"), [(Stage.REQUEST, []), (Stage.ANSWER, ["x"])])
@pytest.mark.parametrize("way", ["drop", "hold"])
async def test_a_cut_send_has_or_has_not_happened(
    telegram: TelegramServer, bot: Bot, stage: Stage, shown: list[str], way: str
) -> None:
    ada = telegram.user(7, started=True)
    if way == "drop":
        telegram.drop("sendMessage", stage=stage)
        with pytest.raises(TelegramNetworkError):
            await bot.send_message(7, "x")
    else:
        gate = telegram.hold("sendMessage", stage=stage)
        send = asyncio.create_task(bot.send_message(7, "x"))
        await gate.wait_reached()
        gate.drop()
        with pytest.raises(TelegramNetworkError):
            await send
    assert [message.text for message in ada.private.messages] == shown


async def test_polling_survives_refusals_and_a_restart_of_the_server(
    telegram: TelegramServer, bot: Bot
) -> None:
    heard: list[str | None] = []
    dispatcher = Dispatcher()

    async def note(message: Message) -> None:
        heard.append(message.text)
        await message.answer("noted")

    dispatcher.message.register(note)
    ada = telegram.user(7)
    telegram.refuse("getUpdates", 502, "Bad Gateway")
    async with polling(bot, dispatcher):
        said = ada.say("one")
        await ada.private.wait_message(after=said)
        await telegram.wait_polling()
        await asyncio.to_thread(telegram.stop)
        said = ada.say("two")
        await asyncio.to_thread(telegram.start)
        await ada.private.wait_message(after=said)
        await telegram.wait_confirmed(said)
        telegram.redeliver(said)
        await ada.private.wait_message(lambda _: len(ada.private.from_bot) == 3)
    assert heard == ["one", "two", "two"]


async def test_an_unconfirmed_update_comes_again_to_the_next_process(
    telegram: TelegramServer,
) -> None:
    ada = telegram.user(7)
    ada.say("important")
    first = client(telegram)
    assert [u.message and u.message.text for u in await first.get_updates()] == ["important"]
    await first.session.close()
    second = client(telegram)
    assert [u.message and u.message.text for u in await second.get_updates()] == ["important"]
    await second.session.close()


async def test_form_and_query_calls_work_without_a_library(
    telegram: TelegramServer, session: aiohttp.ClientSession
) -> None:
    telegram.user(7, started=True)
    url = f"{telegram.url}/bot{telegram.token}/sendMessage"
    calls: list[Callable[[], Awaitable[aiohttp.ClientResponse]]] = [
        lambda: session.get(url, params={"chat_id": "7", "text": "x"}),
        lambda: session.post(url, data={"chat_id": "7", "text": "x"}),
        lambda: session.post(url, json={"chat_id": 7, "text": "x"}),
    ]
    for call in calls:
        response = await call()
        assert (await response.json())["result"]["text"] == "x"
    assert [request.json["chat_id"] for request in telegram.requests] == [7, 7, 7]
