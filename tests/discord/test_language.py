"""Discord tells a person's language with commands only; it is kept for what they write."""

from __future__ import annotations

from pathlib import Path

from tests.contract.discord import DiscordStage
from tests.contract.home import StageHome
from tests.servers.openai import OpenAIServer


async def test_the_language_told_with_a_command_is_kept_for_messages(
    tmp_path: Path, openai: OpenAIServer
) -> None:
    stage = DiscordStage()
    stage.open()
    home = await StageHome(tmp_path, stage, openai).open()
    try:
        mei = stage.person("Mei", chinese=True)
        assert "/nope" in (await home.tell(mei, "/nope")).text
        before = await home.tell(mei, "/due")
        assert before.text.isascii()  # nothing is known yet
        await stage.command(mei.private, mei, "due")
        await home.quiet()
        by_command = stage.shown(mei.private)[-1].text
        assert not by_command.isascii()
        assert (await home.tell(mei, "/due")).text == by_command
        await home.restart()
        assert (await home.tell(mei, "/due")).text == by_command
    finally:
        await home.close()
        stage.close()
