"""The least a bot on Telegram can be: long polling, a streamed model call, one message.

No memory, no history, no formatting, no typing sign, and nothing survives a crash. Like the other
bare bots, it is the baseline of its channel.
"""

from __future__ import annotations

import asyncio
import os

from aiogram import Bot, Dispatcher
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.types import Message

from bench.bare.model import Model


async def main() -> None:
    """Poll until the process is ended."""
    api = TelegramAPIServer.from_base(os.environ["TELEGRAM_API_BASE"])
    bot = Bot(os.environ["TELEGRAM_BOT_TOKEN"], session=AiohttpSession(api=api))
    model = Model()
    dispatcher = Dispatcher()

    @dispatcher.message()
    async def answer(message: Message) -> None:
        await bot.send_message(message.chat.id, await model.answer(message.text or ""))

    await dispatcher.start_polling(bot)


if __name__ == "__main__":
    asyncio.run(main())
