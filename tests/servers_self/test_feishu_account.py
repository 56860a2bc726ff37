"""What an app may ask about itself: permissions, callbacks, events."""

from __future__ import annotations

from tests.servers.feishu import FeishuServer
from tests.servers_self.feishu_callers import OpenApi


async def test_permissions_are_told_to_every_app_that_is_installed(
    platform: OpenApi, feishu: FeishuServer
) -> None:
    feishu.revoke_scopes("im:resource")
    scopes = (await platform.data("GET", "/application/v6/scopes"))["scopes"]
    granted = {one["scope_name"]: one["grant_status"] for one in scopes}
    assert (granted["im:message"], granted["im:resource"]) == (1, 2)
    feishu.state.installed = False
    assert (await platform.refused("GET", "/application/v6/scopes"))[0] == 212100


async def test_the_app_is_told_about_itself_only_with_a_permission_and_a_language(
    platform: OpenApi, feishu: FeishuServer
) -> None:
    app = f"/application/v6/applications/{feishu.app_id}"
    for path in (app, f"{app}/app_versions/v"):
        assert (await platform.refused("GET", path, lang="en_us"))[0] == 99991672
    feishu.grant_scopes("application:application:self_manage")
    assert (await platform.refused("GET", app))[0] != 0
    assert (await platform.refused("GET", app, lang="klingon"))[0] != 0
    other = "/application/v6/applications/cli_other"
    assert (await platform.refused("GET", other, lang="en_us"))[0] == 10003
    told = (await platform.data("GET", app, lang="en_us"))["app"]
    assert told["callback_info"]["subscribed_callbacks"] == ["card.action.trigger"]
    version = f"{app}/app_versions/{told['online_version_id']}"
    infos = (await platform.data("GET", version, lang="en_us"))["app_version"]["event_infos"]
    assert "im.message.receive_v1" in {one["event_type"] for one in infos}
    assert "card.action.trigger" not in {one["event_type"] for one in infos}
