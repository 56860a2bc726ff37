"""The least a bot can be: long polling, a streamed model call, one message. The baseline.

No memory, no history, no formatting, no typing sign, and nothing survives a crash. Reads the same
variables as ``partners serve``.
"""

from __future__ import annotations

import asyncio
import os

from aiogram import Bot, Dispatcher
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.types import Message
from openai import AsyncOpenAI


async def main() -> None:
    """Poll until the process is ended."""
    api = TelegramAPIServer.from_base(os.environ["TELEGRAM_API_BASE"])
    bot = Bot(os.environ["TELEGRAM_BOT_TOKEN"], session=AiohttpSession(api=api))
    model = AsyncOpenAI()
    name = os.environ["PARTNERS_MODEL"]
    dispatcher = Dispatcher()

    @dispatcher.message()
    async def answer(message: Message) -> None:
        stream = await model.chat.completions.create(
            model=name,
            messages=[
                {"role": "system", "content": "You are a patient tutor."},
                {"role": "user", "content": message.text or ""},
            ],
            stream=True,
        )
        text = ""
        async for chunk in stream:
            text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
        await bot.send_message(message.chat.id, text)

    await dispatcher.start_polling(bot)


if __name__ == "__main__":
    asyncio.run(main())
