"""Pictures, recordings and files through the real library: in, out, and what can go wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.channel import (
    AttachmentGone,
    AttachmentTooLarge,
    AttachmentUnreachable,
    Channel,
    Part,
    Rejected,
)
from core.context import Attachment, AttachmentKind
from core.document import Document
from tests.doorway import NOTES, PICTURE, failure
from tests.servers.telegram import Shown, TelegramServer, media
from tests.telegram.door import at, opened


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer(rates=None) as server:
        yield server


def attachment(message: Shown, kind: str) -> Attachment:
    given = message.extra[kind]
    file = given[-1] if isinstance(given, list) else given
    return Attachment(id=file["file_id"], kind=AttachmentKind.FILE, size=file["file_size"])


async def send(channel: Channel, document: Document, *, thread: int | None = None) -> None:
    for n, part in enumerate(channel.render(document)):
        await channel.send(at(7, thread=thread), part, key=str(n), reply=False)


async def test_a_file_is_fetched_whole(server: TelegramServer) -> None:
    ada = server.user(7)
    photo = attachment(media.photo(ada.private, ada, b"x" * 900), "photo")
    async with opened(server) as channel:
        assert await channel.fetch(photo, most=900) == b"x" * 900


async def test_what_is_too_large_is_not_taken(server: TelegramServer) -> None:
    ada = server.user(7)
    told = attachment(media.photo(ada.private, ada, b"x" * 900), "photo")
    claimed = media.document(ada.private, ada, "a.pdf", b"x", size=21 * 1024 * 1024)
    lying = media.document(ada.private, ada, "b.pdf", b"x" * 900, size=10)
    async with opened(server) as channel:
        assert isinstance(await failure(channel, told, 899), AttachmentTooLarge)
        assert server.requests_of("download") == [], "its size was told"
        assert isinstance(
            await failure(channel, attachment(claimed, "document")), AttachmentTooLarge
        )
        assert isinstance(
            await failure(channel, attachment(lying, "document"), 800), AttachmentTooLarge
        )


async def test_what_is_gone_or_cannot_be_reached_is_told_apart(server: TelegramServer) -> None:
    ada = server.user(7)
    photo = attachment(media.photo(ada.private, ada, b"x"), "photo")
    unknown = photo.model_copy(update={"id": "nobody-knows-it"})
    async with opened(server) as channel:
        assert isinstance(await failure(channel, unknown), AttachmentGone)
        server.drop("download", times=2)  # the library tries a second time
        error = await failure(channel, photo)
        assert isinstance(error, AttachmentUnreachable)
        assert server.token not in f"{error} {error.__cause__!r}"
        server.fail("download", 404)
        error = await failure(channel, photo)
        assert isinstance(error, AttachmentGone)
        assert server.token not in f"{error} {error.__cause__!r}"
        server.fail("getFile", 502, "<html>")
        assert isinstance(await failure(channel, photo), AttachmentUnreachable)


async def test_files_follow_the_text_a_picture_as_a_picture(server: TelegramServer) -> None:
    ada = server.user(7, started=True)
    async with opened(server) as channel:
        await send(channel, Document(markdown="Here.", files=(PICTURE, NOTES)))
    text, picture, notes = ada.private.from_bot
    assert text.text == "Here."
    assert "photo" in picture.extra
    assert notes.extra["document"]["file_name"] == "notes.md"
    assert server.state.files[notes.extra["document"]["file_id"]].data == NOTES.data


async def test_a_picture_that_is_refused_goes_as_a_file(server: TelegramServer) -> None:
    ada = server.user(7, started=True)
    broken = PICTURE.model_copy(update={"data": b"no picture at all"})
    async with opened(server) as channel:
        await send(channel, Document(markdown="Here.", files=(broken,)))
        with pytest.raises(Rejected):
            await channel.edit(at(7), "1", Part(PICTURE))
    assert ada.private.from_bot[-1].extra["document"]["file_name"] == "map.png"


async def test_files_stay_in_their_topic(server: TelegramServer) -> None:
    ada = server.user(7)
    forum = server.forum()
    topic = forum.topic("Limits", by=ada)
    async with opened(server) as channel:
        for n, part in enumerate(
            channel.render(Document(markdown="Here.", files=(PICTURE, NOTES)))
        ):
            await channel.send(at(forum.id, thread=topic.id), part, key=str(n), reply=False)
    assert len([m for m in topic.messages if m.from_bot]) == 3
