"""Pictures, recordings and files through the real library: in, out, and what can go wrong."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from bots.discord.download import Downloads
from core.channel import (
    AttachmentGone,
    AttachmentTooLarge,
    AttachmentUnreachable,
    Part,
    Rejected,
)
from core.context import AttachmentKind, ReplyTarget, Text
from core.document import Document
from tests.discord.door import opened
from tests.doorway import NOTES, PICTURE, Inbox, failure
from tests.servers.discord import DiscordServer, Shown, media


@pytest.fixture
def server() -> Iterator[DiscordServer]:
    with DiscordServer(rates=None) as server:
        yield server


async def test_what_comes_with_a_message_is_named_and_fetched(server: DiscordServer) -> None:
    ada, inbox = server.user(7, "Ada"), Inbox()
    chat = ada.private
    async with opened(server, inbox) as channel:
        media.photo(chat, ada, b"png", "/help me with this")
        media.voice(chat, ada, b"OggS")
        media.document(chat, ada, "paper.pdf", b"%PDF", mime="application/pdf")
        photo, voice, paper = await inbox.wait(3)
        assert photo.content == Text(text="/help me with this"), "words under a picture run nothing"
        kinds = [one.attachments[0].kind for one in (photo, voice, paper)]
        assert kinds == [AttachmentKind.IMAGE, AttachmentKind.VOICE, AttachmentKind.FILE]
        assert (paper.attachments[0].name, paper.attachments[0].size) == ("paper.pdf", 4)
        assert await channel.fetch(paper.attachments[0], most=4) == b"%PDF"


async def test_a_forwarded_picture_comes_along(server: DiscordServer) -> None:
    ada, inbox = server.user(7, "Ada"), Inbox()
    room = server.guild("Study group", ada).channel("general")
    async with opened(server, inbox) as channel:
        original = media.photo(room, ada, b"png", "the map")
        media.forward(ada.private, ada, original)
        _, passed_on = await inbox.wait(2)
        assert passed_on.quote is not None and passed_on.quote.text == "the map"
        assert await channel.fetch(passed_on.attachments[0], most=9) == b"png"


async def test_an_address_that_ran_out_is_asked_for_again() -> None:
    moment = [time.time()]
    with DiscordServer(rates=None, now=lambda: moment[0]) as server:
        ada, inbox = server.user(7, "Ada"), Inbox()
        async with opened(server, inbox) as channel:
            media.photo(ada.private, ada, b"png")
            [photo] = (await inbox.wait(1))[0].attachments
            moment[0] += 2 * 24 * 60 * 60
            assert await channel.fetch(photo, most=9) == b"png"
            server.fail("download", 403)
            assert await channel.fetch(photo, most=9) == b"png"
        assert [r.status for r in server.requests_of("download")] == [404, 200, 403, 200]


async def test_no_address_leads_us_anywhere_but_to_the_platform(server: DiscordServer) -> None:
    ada, inbox = server.user(7, "Ada"), Inbox()
    with DiscordServer(rates=None) as inside:
        eve = inside.user(9)
        [secret] = media.photo(eve.private, eve, b"secret").attachments
        elsewhere = str(secret.json(inside.state)["url"])
        async with opened(server, inbox) as channel:
            media.photo(ada.private, ada, b"png")
            [message] = await inbox.wait(1)
            [photo] = message.attachments
            chat, number, file, _ = photo.id.split(" ", 3)
            for address in (elsewhere, "file:///etc/passwd", "nonsense", ""):
                forged = photo.model_copy(update={"id": f"{chat} {number} {file} {address}"})
                with pytest.raises(AttachmentGone):
                    await channel.fetch(forged, most=99)
            server.fail("download", 302, headers={"Location": elsewhere})
            with pytest.raises(AttachmentUnreachable):
                await channel.fetch(photo, most=99)
        assert inside.requests == []


@pytest.mark.parametrize(
    ("address", "trusted"),
    [
        ("https://cdn.discordapp.com/attachments/1/2/a.png?ex=1", True),
        ("https://media.discordapp.net/attachments/1/2/a.png", True),
        ("http://cdn.discordapp.com/attachments/1/2/a.png", False),
        ("https://cdn.discordapp.com:8443/a.png", False),
        ("https://cdn.discordapp.com.evil.org/a.png", False),
        ("https://cdn.discordapp.com@evil.org/a.png", False),
        ("https://x:y@cdn.discordapp.com/a.png", False),
        ("http://169.254.169.254/latest", False),
        ("http://[::1", False),
        ("/attachments", False),
        ("http://127.0.0.1:8082/attachments/1/2/a.png", True),
        ("http://127.0.0.1:8083/attachments/1/2/a.png", False),
    ],
)
def test_only_the_hosts_of_the_platform_are_trusted(address: str, trusted: bool) -> None:
    assert Downloads("http://127.0.0.1:8082/api/v10").trusts(address) is trusted


async def test_what_cannot_be_had_is_told_apart(server: DiscordServer) -> None:
    ada, inbox = server.user(7, "Ada"), Inbox()
    async with opened(server, inbox) as channel:
        shown = media.photo(ada.private, ada, b"x" * 900)
        [message] = await inbox.wait(1)
        [photo] = message.attachments

        assert isinstance(await failure(channel, photo, 899), AttachmentTooLarge)
        lying = photo.model_copy(update={"size": 1})
        assert isinstance(await failure(channel, lying, 899), AttachmentTooLarge)
        strange = photo.model_copy(update={"id": "strange"})
        assert isinstance(await failure(channel, strange), AttachmentGone)
        server.drop("download", times=None)
        assert isinstance(await failure(channel, photo), AttachmentUnreachable)
        server.clear_faults()
        ada.private.remove(shown)
        server.fail("download", 404)
        assert isinstance(await failure(channel, photo), AttachmentGone)


async def test_files_follow_the_text_once_and_ring_nobody(server: DiscordServer) -> None:
    ada, inbox = server.user(7, "Ada"), Inbox()
    async with opened(server, inbox) as channel:
        ada.say("hello")
        [hello] = await inbox.wait(1)
        target: ReplyTarget = hello.target
        parts = channel.render(Document(markdown="Here.", files=(PICTURE, NOTES)))
        for n, part in enumerate(parts):
            for _ in range(2):  # the key makes a second send show once
                await channel.send(target, part, key=str(n), reply=n == 0)
        with pytest.raises(Rejected):
            await channel.edit(target, "1", Part(PICTURE))
    text, picture, notes = ada.private.from_bot
    assert text.text == "Here."
    assert _files(picture) == [("map.png", PICTURE.data, "a map")]
    assert _files(notes)[0][:2] == ("notes.md", NOTES.data)
    assert not any(shown.pinged for shown in (text, picture, notes))


async def test_a_text_so_long_that_the_app_cut_it_says_so(server: DiscordServer) -> None:
    ada, inbox = server.user(7, "Ada"), Inbox()
    async with opened(server, inbox):
        ada.say("word " * 399)
        ada.say("word " * 300)
        ada.say("w" * 1900)
        ada.private.say(ada, "word " * 790, unlimited=True)  # with a subscription
        ada.private.say(ada, "word " * 500, unlimited=True)
        cut = [message.cut for message in await inbox.wait(5)]
        assert cut == [True, False, True, True, False]


def _files(shown: Shown) -> list[tuple[str, bytes, str | None]]:
    return [(file.filename, file.data, file.description) for file in shown.attachments]
