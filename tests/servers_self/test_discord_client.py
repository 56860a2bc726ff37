"""The real discord.py against the server: it logs in, hears, answers, resumes, gives up."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import discord as library
import pytest
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

from tests.servers.discord import Channel, DiscordServer, Person, Upload, media
from tests.servers.discord.intents import MESSAGE_CONTENT, PRIVILEGED
from tests.servers.faults import Stage


@pytest.fixture
def discord() -> Iterator[DiscordServer]:
    """A server that the library, whose addresses belong to the process, is pointed at."""
    with DiscordServer(rates=None) as server:
        before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
        Route.BASE = server.api_url
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(server.gateway_url)
        yield server
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = before


@pytest.fixture
def ada(discord: DiscordServer) -> Person:
    return discord.user(7)


@pytest.fixture
def room(discord: DiscordServer, ada: Person) -> Channel:
    return discord.guild("Study group", ada).channel("general")


class Tutor(library.Client):
    """A client that remembers what it heard and answers as it is told."""

    def __init__(self) -> None:
        intents = library.Intents.default()
        intents.message_content = True
        super().__init__(
            intents=intents,
            guild_ready_timeout=0.05,
            allowed_mentions=library.AllowedMentions.none(),
        )
        self.heard: list[library.Message] = []
        self.edits: list[library.Message] = []
        self.readies = 0
        self.resumed = 0
        self.answer: Callable[[library.Message], Awaitable[Any]] | None = None
        self.tree = app_commands.CommandTree(self)
        self.news = asyncio.Event()

    async def until(self, look: Callable[[], object]) -> None:
        """Wait until something heard makes this true."""
        async with asyncio.timeout(15):
            while not look():
                self.news.clear()
                await self.news.wait()

    async def on_ready(self) -> None:
        self.readies += 1
        self.news.set()

    async def on_resumed(self) -> None:
        self.resumed += 1
        self.news.set()

    async def on_message(self, message: library.Message) -> None:
        if message.author == self.user:
            return
        self.heard.append(message)
        self.news.set()
        if self.answer is not None:
            await self.answer(message)

    async def on_message_edit(self, before: library.Message, after: library.Message) -> None:
        self.edits.append(after)
        self.news.set()


@asynccontextmanager
async def running(server: DiscordServer, client: Tutor) -> AsyncIterator[Tutor]:
    task = asyncio.create_task(client.start(server.token))
    task.add_done_callback(lambda _: client.news.set())
    try:
        await client.until(lambda: task.done() or client.readies)
        if task.done():
            task.result()
        yield client
    finally:
        await client.close()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_private_conversation_goes_round(discord: DiscordServer, ada: Person) -> None:
    client = Tutor()

    async def answer(message: library.Message) -> None:
        async with message.channel.typing():
            await message.reply("Why do you ask?")

    client.answer = answer
    async with running(discord, client):
        said = ada.say("hello")
        shown = await ada.private.wait_message()
        assert (shown.text, shown.reply_to) == ("Why do you ask?", said.message_id)
        assert shown.pinged == set()
        assert isinstance(client.heard[0].channel, library.DMChannel)
        ada.private.edit(said, "hello?")
        await client.until(lambda: client.edits)
        assert client.edits[0].content == "hello?"
    names = [request.name for request in discord.requests[:3]]
    assert names == ["getMe", "getApplication", "gateway"]


async def test_mentions_threads_and_posts_arrive_where_they_belong(
    discord: DiscordServer, room: Channel, ada: Person
) -> None:
    client = Tutor()
    forum = room.guild.forum("questions")
    async with running(discord, client):
        room.say(ada, f"{discord.mention} why?")
        await client.until(lambda: client.heard)
        message = client.heard[0]
        assert client.user is not None and client.user.mentioned_in(message)
        assert isinstance(message.author, library.Member)
        thread = await message.create_thread(name="why")
        await thread.send("here")
        assert (await room.threads[0].wait_message(lambda m: m.text == "here")).from_bot
        room.threads[0].say(ada, "and then?")
        await client.until(lambda: any(m.content == "and then?" for m in client.heard))
        inner = client.heard[-1]
        assert isinstance(inner.channel, library.Thread) and inner.channel.parent_id == room.id
        post = forum.open_post(ada, "Fractions", "flip?")
        await client.until(lambda: any(m.content == "flip?" for m in client.heard))
        starter = client.heard[-1]
        assert starter.id == starter.channel.id == post.id
        found = client.get_channel(forum.id)
        assert isinstance(found, library.ForumChannel)
        made = await found.create_thread(name="Tips", content="read")
        assert made.message.content == "read"
        history = [m.content async for m in room_of(client, room).history(limit=5)]
        assert f"{discord.mention} why?" in history


def room_of(client: Tutor, room: Channel) -> library.TextChannel:
    found = client.get_channel(room.id)
    assert isinstance(found, library.TextChannel)
    return found


async def test_an_unannounced_dm_and_a_proactive_message(
    discord: DiscordServer, room: Channel, ada: Person
) -> None:
    client = Tutor()
    async with running(discord, client):
        user = await client.fetch_user(7)
        await user.send("12 cards are due")
        assert (await ada.private.wait_message()).text == "12 cards are due"
        ada.block()
        with pytest.raises(library.Forbidden) as refused:
            await user.send("again")
        assert refused.value.code == 50007
        with pytest.raises(library.HTTPException) as long:
            await room_of(client, room).send("x" * 2001)
        assert (long.value.status, long.value.code) == (400, 50035)


async def test_what_was_missed_comes_after_a_resume(discord: DiscordServer, ada: Person) -> None:
    client = Tutor()
    async with running(discord, client):
        for disturb in (discord.drop_connections, discord.reconnect_request):
            disturb()
            ada.say("missed")
            await client.until(lambda: client.resumed)
            assert [message.content for message in client.heard] == ["missed"]
            client.resumed = 0
            client.heard.clear()
        assert client.readies == 1
        assert discord.requests_of("gatewayResume")


async def test_a_lost_session_begins_anew(discord: DiscordServer, ada: Person) -> None:
    client = Tutor()
    async with running(discord, client):
        discord.invalidate()
        await client.until(lambda: client.readies == 2)
        ada.say("still there?")
        await client.until(lambda: client.heard)


async def test_a_heartbeat_confirms_what_was_read(discord: DiscordServer, ada: Person) -> None:
    client = Tutor()
    async with running(discord, client):
        await discord.wait_confirmed(ada.say("read me"))
        assert client.heard[0].content == "read me"


async def test_a_wrong_token_and_missing_intents_are_fatal(discord: DiscordServer) -> None:
    discord.state.token = "other"
    client = Tutor()
    with pytest.raises(library.LoginFailure):
        await client.start("wrong")
    await client.close()
    discord.state.portal_intents = PRIVILEGED & ~MESSAGE_CONTENT
    client = Tutor()
    with pytest.raises(library.PrivilegedIntentsRequired):
        await client.start("other")
    await client.close()


async def test_a_send_in_doubt_is_not_doubled(
    discord: DiscordServer, room: Channel, ada: Person
) -> None:
    client = Tutor()
    async with running(discord, client):
        discord.fail("createMessage", 502)
        await room_of(client, room).send("after a bad gateway")
        discord.refuse(
            "createMessage",
            429,
            0,
            "You are being rate limited.",
            retry_after=0.05,
            **{"global": False},
        )
        await room_of(client, room).send("after waiting")
        discord.drop("createMessage", stage=Stage.ANSWER)
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await room_of(client, room).send("in doubt", nonce=5)
        await room_of(client, room).send("in doubt", nonce=5)
        assert [m.text for m in room.from_bot] == [
            "after a bad gateway",
            "after waiting",
            "in doubt",
        ]


async def test_other_kinds_of_messages_are_understood(
    discord: DiscordServer, room: Channel, ada: Person
) -> None:
    client = Tutor()
    async with running(discord, client):
        paper = media.document(room, ada, "paper.pdf", b"%PDF", "read")
        media.sticker(room, ada)
        media.voice(room, ada, b"OggS")
        media.poll(room, ada, "When?", ["now", "later"])
        media.forward(room, ada, paper)
        await client.until(lambda: len(client.heard) == 5)
        assert client.heard[1].stickers[0].name == "Wave"
        assert client.heard[2].flags.voice and client.heard[2].attachments[0].duration == 3
        assert client.heard[3].poll is not None and client.heard[3].poll.question == "When?"
        assert client.heard[4].message_snapshots[0].content == "read"
        media.unfurl(paper)
        await client.until(lambda: client.edits)
        assert client.edits[0].edited_at is None


async def test_files_go_both_ways(discord: DiscordServer, room: Channel, ada: Person) -> None:
    client = Tutor()
    async with running(discord, client):
        room.say(ada, "look", attachments=[Upload("notes.txt", b"words")])
        await client.until(lambda: client.heard)
        assert await client.heard[0].attachments[0].read() == b"words"
        file = library.File(io.BytesIO(b"csv"), "deck.csv", description="your cards")
        sent = await client.heard[0].channel.send("here", file=file)
        assert await sent.attachments[0].read() == b"csv"
        [shown] = room.from_bot
        assert shown.attachments[0].description == "your cards"
        await sent.edit(content="changed", attachments=[])
        await sent.add_reaction("👍")
        assert not room.from_bot[0].attachments
        assert list(room.from_bot[0].reactions) == ["👍"]
        await sent.delete()
        assert room.from_bot == []


class Panel(library.ui.View):
    """A view that lives for ever."""

    def __init__(self) -> None:
        super().__init__(timeout=None)

    @library.ui.button(label="Hint", custom_id="hint:1")
    async def hint(self, interaction: library.Interaction, button: library.ui.Button[Any]) -> None:
        await interaction.response.edit_message(content="hinted", view=None)

    @library.ui.select(
        custom_id="pick:1",
        options=[library.SelectOption(label="Maths"), library.SelectOption(label="Code")],
    )
    async def pick(self, interaction: library.Interaction, select: library.ui.Select[Any]) -> None:
        await interaction.response.send_modal(Note())


class Note(library.ui.Modal, title="Note"):
    """A form with one field."""

    text: library.ui.TextInput[Any] = library.ui.TextInput(label="Text", custom_id="text")

    async def on_submit(self, interaction: library.Interaction) -> None:
        await interaction.response.send_message(f"noted {self.text.value}", ephemeral=True)


async def test_buttons_menus_and_modals_work_after_a_restart(
    discord: DiscordServer, room: Channel, ada: Person
) -> None:
    first = Tutor()
    async with running(discord, first):
        await room_of(first, room).send("ready?", view=Panel())
    second = Tutor()
    second.add_view(Panel())
    async with running(discord, second):
        [message] = room.from_bot
        assert message.labels == ["Hint"]
        chosen = room.select(message, "Maths", ada)
        assert (await chosen.wait_answered())["type"] == 9
        sent = room.submit_modal(chosen, {"text": "fractions"})
        reply = await sent.wait_reply()
        assert (reply.text, reply.only_for) == ("noted fractions", ada)
        press = room.press(message, "Hint", ada)
        assert (await press.wait_reply()).text == "hinted"
        assert room.now(message).labels == []


async def test_commands_are_registered_used_and_completed(
    discord: DiscordServer, room: Channel, ada: Person
) -> None:
    client = Tutor()

    @client.tree.command(name="ask", description="Ask a question")
    async def ask(interaction: library.Interaction, question: str, subject: str = "any") -> None:
        await interaction.response.defer(thinking=True)
        await interaction.edit_original_response(content=f"{subject}: {question}")
        await interaction.followup.send("more", ephemeral=True)

    @ask.autocomplete("subject")
    async def subjects(
        interaction: library.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return [app_commands.Choice(name=f"{typed}ths", value="maths")]

    async with running(discord, client):
        synced = await client.tree.sync()
        assert [command.name for command in synced] == discord.commands() == ["ask"]
        assert [c.name for c in await client.tree.fetch_commands()] == ["ask"]
        typed = room.autocomplete(ada, "ask", "subject", "ma", {"question": "why"})
        await typed.wait_answered()
        assert typed.choices[0]["name"] == "maths"
        used = room.slash(ada, "ask", {"question": "why?", "subject": "maths"})
        assert (await used.wait_reply()).text == "maths: why?"
        await discord.wait_for(lambda: len(used.replies) == 2)
        assert used.replies[1].only_for is ada
        private = ada.private.slash(ada, "ask", {"question": "alone"})
        assert (await private.wait_reply()).text == "any: alone"


async def test_plain_and_compressed_frames_are_read(discord: DiscordServer, ada: Person) -> None:
    client = Tutor()
    async with running(discord, client):
        [request] = discord.requests_of("gateway")
        assert request.json["compress"] in ("zstd-stream", "zlib-stream")
        for number in range(20):
            ada.say(f"{number} " + "ü" * 900)
        await client.until(lambda: len(client.heard) == 20)
        assert [m.content.split()[0] for m in client.heard] == [str(n) for n in range(20)]
