"""Pictures, recordings and files through a real connection: in, out, and what can go wrong."""

from __future__ import annotations

import pytest

from core.channel import (
    AttachmentGone,
    AttachmentTooLarge,
    AttachmentUnreachable,
    Part,
    Rejected,
)
from core.context import AttachmentKind, Text
from core.document import Document
from tests.doorway import NOTES, PICTURE, PNG, Inbox, failure
from tests.feishu.door import at, opened
from tests.servers.feishu import FeishuServer, Shown


async def test_what_comes_with_a_message_is_named_and_fetched(server: FeishuServer) -> None:
    ada, inbox = server.user("Ada"), Inbox()
    async with opened(server, inbox) as channel:
        ada.private.send_image(ada, b"png")
        ada.private.send_audio(ada, b"opus")
        ada.private.send_file(ada, b"%PDF", "paper.pdf")
        messages = await inbox.wait(3)
        assert [message.content for message in messages] == [Text(text="")] * 3
        files = [message.attachments[0] for message in messages]
        kinds = [AttachmentKind.IMAGE, AttachmentKind.VOICE, AttachmentKind.FILE]
        assert [file.kind for file in files] == kinds
        assert files[2].name == "paper.pdf"
        assert [await channel.fetch(file, most=9) for file in files] == [b"png", b"opus", b"%PDF"]


async def test_a_picture_that_is_replied_to_comes_along(server: FeishuServer) -> None:
    ada, inbox = server.user("Ada"), Inbox()
    async with opened(server, inbox) as channel:
        picture = ada.private.send_image(ada, b"png")
        ada.private.say(ada, "what is this?", reply_to=picture)
        quote = (await inbox.wait(2))[1].quote
        assert quote is not None
        assert await channel.fetch(quote.attachments[0], most=9) == b"png"


async def test_a_bundle_of_messages_is_read_with_its_names(server: FeishuServer) -> None:
    ada, ben, inbox = server.user("Ada"), server.user("Ben"), Inbox()
    group = server.group("Study group", ada, ben)
    async with opened(server, inbox):
        said = [group.say(ben, "two and two"), group.say(ada, "is five?"), group.send_sticker(ben)]
        ada.private.forward(ada, said)
        message = (await inbox.wait(1))[-1]
        assert message.quote is not None
        assert message.quote.text == "Ben: two and two\nAda: is five?\nBen: [sticker]"
        assert message.content == Text(text="")


async def test_what_cannot_be_had_is_told_apart(server: FeishuServer) -> None:
    ada, inbox = server.user("Ada"), Inbox()
    async with opened(server, inbox) as channel:
        shown = ada.private.send_file(ada, b"x" * 900)
        [message] = await inbox.wait(1)
        [file] = message.attachments

        assert isinstance(await failure(channel, file, 899), AttachmentTooLarge)
        strange = file.model_copy(update={"id": "strange"})
        assert isinstance(await failure(channel, strange), AttachmentGone)
        server.drop("im.v1.message_resource.get")
        assert isinstance(await failure(channel, file), AttachmentUnreachable)
        server.invalidate_tokens()
        assert await channel.fetch(file, most=900) == b"x" * 900
        ada.private.recall(shown)
        assert isinstance(await failure(channel, file), AttachmentGone)


async def test_files_follow_the_text_once(server: FeishuServer) -> None:
    ada = server.user("Ada")
    ada.say("hello")
    async with opened(server) as channel:
        for n, part in enumerate(
            channel.render(Document(markdown="Here.", files=(PICTURE, NOTES)))
        ):
            for _ in range(2):  # the key makes a second send show once
                await channel.send(at(ada.private), part, key=f"k{n}", reply=False)
        with pytest.raises(Rejected):
            await channel.edit(at(ada.private), "om_1", Part(PICTURE))
    _, picture, notes = _from_bot(ada.private.messages)
    assert (picture.kind, notes.kind) == ("image", "file")
    assert server.state.files[picture.content["image_key"]].data == PNG
    kept = server.state.files[notes.content["file_key"]]
    assert (kept.name, kept.data) == ("notes.md", NOTES.data)


async def test_a_picture_that_is_refused_goes_as_a_file(server: FeishuServer) -> None:
    ada = server.user("Ada")
    ada.say("hello")
    broken = PICTURE.model_copy(update={"data": b"no picture at all"})
    async with opened(server) as channel:
        parts = channel.render(Document(markdown="Here.", files=(broken,)))
        await channel.send(at(ada.private), parts[1], key="k", reply=False)
    assert _from_bot(ada.private.messages)[-1].kind == "file"


def _from_bot(messages: list[Shown]) -> list[Shown]:
    return [message for message in messages if message.from_bot]
