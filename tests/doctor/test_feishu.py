"""A look at a Feishu app, against the local server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bots.feishu.check import check
from bots.feishu.settings import FeishuSettings
from bots.findings import Finding, Level
from tests.doctor.looking import WORDS, found, levels, only
from tests.servers.feishu import FeishuServer

ASKING = "application:application:self_manage"


@pytest.fixture
def server() -> Iterator[FeishuServer]:
    with FeishuServer(rates=None) as running:
        yield running


async def look(server: FeishuServer, secret: str = "feishu-secret") -> list[Finding]:
    given = {
        "FEISHU_APP_ID": server.app_id,
        "FEISHU_APP_SECRET": secret,
        "FEISHU_DOMAIN": server.url,
    }
    return await found(check(FeishuSettings.load(None, given), WORDS))


async def test_an_app_that_is_set_up_is_found_well_and_no_connection_is_opened(
    server: FeishuServer,
) -> None:
    server.grant_scopes(ASKING)
    findings = await look(server)
    assert levels(findings) == {Level.OK}
    assert findings[0].text == "Tutor answers."
    assert "through the long connection" in findings[-1].text
    assert server.connections == []
    assert "connect" not in {request.name for request in server.requests}


async def test_what_cannot_be_asked_names_the_page_to_look_at(server: FeishuServer) -> None:
    told = only(await look(server), Level.UNKNOWN)
    assert f"{server.url}/app/{server.app_id}/event" in told.fix
    assert "im.message.receive_v1" in told.fix and "card.action.trigger" in told.fix
    assert ASKING in told.fix


async def test_missing_permissions_are_faults_and_warnings_with_their_use(
    server: FeishuServer,
) -> None:
    server.revoke_scopes("im:message.p2p_msg:readonly", "cardkit:card:write")
    findings = await look(server)
    refused = only(findings, Level.FAULT)
    assert "im:message.p2p_msg:readonly is missing (private messages)" in refused.text
    assert "/auth (Permissions & Scopes)" in refused.fix
    assert "cardkit:card:write" in only(findings, Level.WARNING).text


async def test_a_larger_permission_stands_in_for_a_smaller_one(server: FeishuServer) -> None:
    server.revoke_scopes("im:message.group_at_msg:readonly")
    server.grant_scopes("im:message.group_msg")
    assert Level.FAULT not in levels(await look(server))


async def test_that_it_hears_of_edits_can_be_wished_for(server: FeishuServer) -> None:
    assert "im.message.updated_v1" in only(await look(server), Level.UNKNOWN).fix
    server.grant_scopes(ASKING)
    [deaf] = [one for one in await look(server) if "edits" in one.text]
    assert (deaf.level, "im.message.updated_v1" in deaf.fix) == (Level.OK, True)
    server.state.subscribed.add("im.message.updated_v1")
    assert not [one for one in await look(server) if "edits" in one.text]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("im.message.receive_v1", "hears nothing"),
        ("card.action.trigger", "buttons do nothing"),
    ],
)
async def test_a_missing_subscription_is_a_fault(
    server: FeishuServer, kind: str, said: str
) -> None:
    server.grant_scopes(ASKING)
    server.state.subscribed.remove(kind)
    refused = only(await look(server), Level.FAULT)
    assert said in refused.text
    assert kind in refused.fix


async def test_events_that_go_to_a_web_address_are_a_fault(server: FeishuServer) -> None:
    server.grant_scopes(ASKING)
    server.state.long_connection = False
    assert "long connection" in only(await look(server), Level.FAULT).fix


async def test_a_wrong_secret_and_a_wrong_platform_are_told_apart(server: FeishuServer) -> None:
    (refused,) = await look(server, "another-secret")
    assert "FEISHU_APP_ID with FEISHU_APP_SECRET" in refused.text
    server.wrong_domain = True
    (refused,) = await look(server, "another-secret")
    assert "two platforms" in refused.text
    assert "FEISHU_DOMAIN=feishu" in refused.fix
    refused = only(await look(server), Level.FAULT)
    assert "two platforms" in refused.text


async def test_an_app_without_a_bot_or_not_published_is_a_fault(server: FeishuServer) -> None:
    server.state.installed = False
    findings = await look(server)
    assert {one.text for one in findings if one.level is Level.FAULT} == {
        "The app is not in use in your organisation."
    }
    server.state.bot_ability = False
    (refused,) = await look(server)
    assert "add Bot" in refused.fix


async def test_a_platform_out_of_reach_is_a_fault(server: FeishuServer) -> None:
    server.fail("auth.v3.tenant_access_token.internal", 502, b"<html>bad gateway</html>")
    (refused,) = await look(server)
    assert refused.level is Level.FAULT
    assert server.url in refused.text
    server.fail("bot.v3.info", 200, b'{"code": 0}')
    (refused,) = await look(server)
    assert "FEISHU_DOMAIN" in refused.fix
    server.refuse_endpoint(1000040340, "not allowed")
    assert "long connection" in only(await look(server), Level.FAULT).fix
