"""The least a bot on Discord can be: the gateway, a streamed model call, one message."""

from __future__ import annotations

import os

import discord
from discord.gateway import DiscordWebSocket
from discord.http import Route
from yarl import URL

from bench.bare.model import Model


def main() -> None:
    """Stay connected until the process is ended."""
    Route.BASE = os.environ["DISCORD_API_BASE"]
    DiscordWebSocket.DEFAULT_GATEWAY = URL(os.environ["DISCORD_GATEWAY_URL"])
    intents = discord.Intents.default()
    intents.message_content = True
    client = discord.Client(intents=intents)
    model: list[Model] = []

    @client.event
    async def on_message(message: discord.Message) -> None:
        if message.author == client.user:
            return
        if not model:
            model.append(Model())
        await message.channel.send(await model[0].answer(message.content))

    client.run(os.environ["DISCORD_BOT_TOKEN"])


if __name__ == "__main__":
    main()
