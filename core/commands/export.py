"""``/export``: everything that is kept of a learner, as files a person can read, in one archive."""

from __future__ import annotations

import asyncio
from pathlib import Path

from core.belongings.export import collect, packed
from core.commands.declare import CommandSpec
from core.commands.request import Answer, Command, Reply, Request
from core.document import LARGEST_FILE, Document, File
from core.i18n import N_
from core.store.session import Store
from memory.layers import MemoryBusy


def export(store: Store, memory: Path) -> Command:
    """Return the command; ``memory`` is the folder of all learners' memory."""

    async def handle(request: Request) -> Answer:
        words = request.words

        def pack() -> bytes:
            return packed(collect(store, memory, request.learner_id, words), request.now)

        try:
            data = await asyncio.to_thread(pack)
        except MemoryBusy:
            text = words("Your notes are being written right now. Please try again in a moment.")
            return Reply(Document(markdown=text))
        if len(data) > LARGEST_FILE:
            text = words(
                "That is more than I can send here. Whoever runs me can hand it to you: {example}",
                example=f"`partners export {request.message.sender.account}`",
            )
            return Reply(Document(markdown=text))
        text = words(
            "Everything I keep of you: notes, talks, cards and settings. README.txt says what is "
            "what."
        )
        file = File(name="partners-export.zip", mime="application/zip", data=data)
        return Reply(Document(markdown=text, files=(file,)))

    spec = CommandSpec("export", N_("everything I keep of you, as files"), private=True, slow=True)
    return Command(spec, handle)
