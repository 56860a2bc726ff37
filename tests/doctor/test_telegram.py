"""A look at a Telegram bot, through the client library against the local server."""

from __future__ import annotations

import pytest

from bots.findings import Finding, Level
from bots.telegram.check import check
from bots.telegram.settings import TelegramSettings
from core.environment import renamed
from tests.doctor.looking import WORDS, found, levels, only
from tests.servers.telegram import TelegramServer


async def look(address: str, token: str) -> list[Finding]:
    given = {"TELEGRAM_BOT_TOKEN": token, "TELEGRAM_API_BASE": address}
    return await found(check(TelegramSettings.load(None, given), WORDS))


async def test_a_bot_that_is_set_up_is_found_well(telegram: TelegramServer) -> None:
    findings = await look(telegram.url, telegram.token)
    assert levels(findings) == {Level.OK}
    assert findings[0].text == "@tutor_bot answers."
    assert "Privacy mode is on" in findings[1].text
    assert "/setprivacy" in findings[1].fix
    assert {request.name for request in telegram.requests} == {"getMe", "getWebhookInfo"}


async def test_privacy_mode_that_is_off_is_told() -> None:
    with TelegramServer(can_read_all_group_messages=True) as telegram:
        assert "Privacy mode is off" in (await look(telegram.url, telegram.token))[1].text


async def test_a_bot_that_cannot_join_groups_is_told(telegram: TelegramServer) -> None:
    telegram.state.joins_groups = False
    assert "/setjoingroups" in only(await look(telegram.url, telegram.token), Level.WARNING).fix


async def test_a_webhook_is_named_by_its_host_and_left_alone(telegram: TelegramServer) -> None:
    telegram.state.updates.set_webhook("https://other.example/secret-path")
    warned = only(await look(telegram.url, telegram.token), Level.WARNING)
    assert "other.example" in warned.text
    assert "secret-path" not in warned.text + warned.fix
    assert telegram.state.updates.webhook


async def test_a_wrong_token_is_a_fault_that_names_its_variable(telegram: TelegramServer) -> None:
    (refused,) = await look(telegram.url, "42:OTHER")
    assert refused.level is Level.FAULT
    assert "TELEGRAM_BOT_TOKEN" in refused.text
    assert "@BotFather" in refused.fix
    assert "42:OTHER" not in refused.text + refused.fix

    group = renamed(TelegramSettings, {"bot_token": "MATHS_TOKEN"})
    given = {"MATHS_TOKEN": "42:OTHER", "TELEGRAM_API_BASE": telegram.url}
    (refused,) = await found(check(group.load(None, given), WORDS))
    assert "MATHS_TOKEN" in refused.text


@pytest.mark.parametrize("trouble", ["closed", "broken"])
async def test_a_server_out_of_reach_is_a_fault(telegram: TelegramServer, trouble: str) -> None:
    if trouble == "broken":
        telegram.fail("getMe", 502, b"<html>bad gateway</html>")
    address = telegram.url if trouble == "broken" else "http://127.0.0.1:9"
    (refused,) = await look(address, telegram.token)
    assert refused.level is Level.FAULT
    assert address in refused.text
    assert "TELEGRAM_API_BASE" in refused.fix
