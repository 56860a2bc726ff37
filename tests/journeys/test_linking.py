"""One learner in two apps, in a real ``serve`` that is killed in the middle of it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.process import PATIENCE, Installation
from tests.servers.discord import DiscordServer
from tests.servers.faults import RecordedRequest
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer

TOML = "[channels.telegram]\nlimits = false\n"


def test_a_code_from_one_app_joins_the_other_across_a_kill_and_is_undone(
    telegram: TelegramServer, openai: OpenAIServer, tmp_path: Path
) -> None:
    (tmp_path / "partners.toml").write_text(TOML, encoding="utf-8")
    with DiscordServer(rates=None) as discord:
        installation = Installation(
            tmp_path,
            telegram,
            openai,
            PARTNERS_ACCESS="open",
            DISCORD_BOT_TOKEN=discord.token,
            DISCORD_API_BASE=discord.api_url,
            DISCORD_GATEWAY_URL=discord.gateway_url,
        )
        here, there = telegram.user(7, "Ada"), discord.user(8, "Ada D")
        discord.guild("Study group", there)
        openai.default = known
        process = installation.serve()
        try:
            telegram.wait_polling_blocking(PATIENCE)
            discord.wait_ready_blocking(PATIENCE)
            here.say("/remember telegramword")
            here.private.wait_message_blocking(lambda m: "Noted" in m.text)
            there.private.slash(there, "remember", {"text": "discordword"}).wait_reply_blocking()
            here.say("/link")
            told = here.private.wait_message_blocking(lambda m: "Your code is" in m.text)
            code = re.search(r"\w{4}-\w{4}", told.text)
            assert code
            there.say(f"/link {code[0]}")
            asked = there.private.wait_message_blocking(lambda m: "one learner of two" in m.text)
            assert "telegramword" not in asked.text

            # Killed while the platform holds the answer to the press: it is joined exactly once.
            held = discord.hold("editMessage")
            there.private.press(asked, "Join")
            held.wait_reached_blocking(PATIENCE)
            process.kill()
            held.drop()
            process = installation.serve()
            discord.wait_ready_blocking(PATIENCE)
            notice = here.private.wait_message_blocking(
                lambda m: "has joined you with your code" in m.text, within=PATIENCE
            )
            there.say("what do you know?")
            there.private.wait_message_blocking(lambda m: m.text == "telegramword discordword")
            both = installation.say("memory", "show", "discord:8")
            assert "telegramword" in both and "discordword" in both

            here.private.press(notice, "Undo")
            here.private.wait_message_blocking(lambda m: "two learners again" in m.text)
            there.say("and now?")
            there.private.wait_message_blocking(lambda m: m.text == "discordword")
            here.say("and now?")
            here.private.wait_message_blocking(lambda m: m.text == "telegramword")
            assert process.terminate() == 0
        finally:
            process.kill()
        assert "Traceback" not in process.log


def known(request: RecordedRequest) -> Reply:
    """Tell which of the two notes the prompt holds."""
    prompt = "\n".join(m["content"] for m in request.json["messages"] if m["role"] == "system")
    words = [word for word in ("telegramword", "discordword") if word in prompt]
    return Reply(" ".join(words) or "nothing")
