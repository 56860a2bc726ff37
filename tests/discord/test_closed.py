"""Direct messages that are closed: told of in the server, without what was to be said."""

from __future__ import annotations

from pathlib import Path
from shutil import copyfile

from tests.contract.discord import DiscordStage
from tests.contract.home import StageHome
from tests.servers.openai import OpenAIServer, Reply


async def test_closed_direct_messages_are_told_of_in_the_thread_used_last(
    tmp_path: Path, fresh_database: Path, openai: OpenAIServer
) -> None:
    copyfile(fresh_database, tmp_path / "partners.db")
    openai.default = Reply("Go on.")
    stage = DiscordStage()
    stage.open()
    home = await StageHome(tmp_path, stage, openai).open()
    try:
        ada = stage.person("Ada")
        thread = stage.thread(ada)
        await home.tell(ada, "/add the secret question :: 56")
        await home.ask(thread, ada, "and here?", mention=True)
        ada.dms_closed = True
        for _ in range(3):
            home.clock.advance(days=1)
            await home.house.sweep()
            await home.quiet()
        refused = [r for r in stage.server.requests_of("createMessage") if r.status == 403]
        assert [r.answer["code"] for r in refused] == [50007] * len(refused) and refused
        [answer, notice] = thread.from_bot
        assert answer.text == "Go on."
        assert "could not write to you in private" in notice.text
        assert not notice.pinged
        assert not any("secret" in message.text for message in thread.from_bot)
        assert "cannot be delivered: 403, code 50007" in home.log
    finally:
        await home.close()
        stage.close()
