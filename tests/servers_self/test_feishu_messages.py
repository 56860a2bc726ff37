"""The REST interfaces: tokens, people, chats, messages."""

from __future__ import annotations

import json

import aiohttp
import pytest

from tests.servers.feishu import FeishuServer
from tests.servers_self.feishu_callers import OpenApi, button, card, markdown, sending

MESSAGES = "/im/v1/messages"


async def test_a_token_is_kept_until_half_an_hour_before_its_end(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    assert await platform.fetch_token() == 7200
    first = platform.token
    feishu.pass_time(5000)
    assert await platform.fetch_token() <= 2200
    assert platform.token == first
    feishu.pass_time(500)
    await platform.fetch_token()
    assert platform.token != first


@pytest.mark.parametrize(
    ("secrets", "code"), [({"app_id": "cli_x"}, 10003), ({"app_secret": "x"}, 10014)]
)
async def test_a_token_needs_the_apps_secret(
    feishu: FeishuServer, platform: OpenApi, secrets: dict[str, str], code: int
) -> None:
    given = {"app_id": feishu.app_id, "app_secret": feishu.app_secret, **secrets}
    refused = await platform.refused("POST", "/auth/v3/tenant_access_token/internal", given)
    assert refused[0] == code


async def test_a_token_ends_by_time_or_by_order(feishu: FeishuServer, platform: OpenApi) -> None:
    await platform.fetch_token()
    feishu.pass_time(7201)
    assert (await platform.refused("GET", "/bot/v3/info"))[0] == 99991663
    await platform.fetch_token()
    status, info = await platform("GET", "/bot/v3/info")
    assert (status, info["bot"]["open_id"]) == (200, feishu.bot.open_id)
    feishu.invalidate_tokens()
    assert (await platform.refused("GET", "/bot/v3/info"))[0] == 99991663


async def test_a_token_that_lasts_ten_minutes_is_no_token() -> None:
    with pytest.raises(ValueError, match="ten minutes"):
        FeishuServer(token_seconds=600)


@pytest.mark.parametrize(("token", "code"), [("", 99991661), ("Bearer u-1", 99991668)])
async def test_a_call_needs_the_apps_own_token(
    session: aiohttp.ClientSession, feishu: FeishuServer, token: str, code: int
) -> None:
    headers = {"Authorization": token} if token else {}
    async with session.get(f"{feishu.url}/open-apis/bot/v3/info", headers=headers) as response:
        assert (response.status, (await response.json())["code"]) == (400, code)


async def test_a_call_needs_one_of_its_scopes(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    feishu.revoke_scopes("im:message", "im:message:send_as_bot")
    code, message = await platform.refused("POST", MESSAGES, {}, receive_id_type="open_id")
    assert code == 99991672
    assert "[im:message, im:message:send_as_bot]" in message
    assert await platform.data("GET", f"/contact/v3/users/{ada.open_id}")


async def test_people_are_found_by_their_ids(feishu: FeishuServer, platform: OpenApi) -> None:
    ada, bob = feishu.user("Ada"), feishu.user("Bob")
    found = await platform.data("GET", f"/contact/v3/users/{ada.open_id}")
    assert found["user"]["name"] == "Ada" and "user_id" not in found["user"]
    by_union = await platform.data(
        "GET", f"/contact/v3/users/{ada.union_id}", user_id_type="union_id"
    )
    assert by_union == found
    assert (await platform.refused("GET", "/contact/v3/users/ou_none"))[0] == 41012
    bob.available = False
    assert (await platform.refused("GET", f"/contact/v3/users/{bob.open_id}"))[0] == 41050
    feishu.revoke_scopes("contact:user.base:readonly")
    assert "name" not in (await platform.data("GET", f"/contact/v3/users/{ada.open_id}"))["user"]


async def test_several_people_are_found_at_once(feishu: FeishuServer, platform: OpenApi) -> None:
    people = [feishu.user(f"P{number}") for number in range(2)]
    query = "&".join(f"user_ids={one}" for one in [people[0].open_id, "ou_none", people[1].open_id])
    found = await platform.data("GET", f"/contact/v3/users/batch?{query}")
    assert [item["name"] for item in found["items"]] == ["P0", "P1"]
    many = "&".join(f"user_ids=ou_{number}" for number in range(51))
    assert (await platform.refused("GET", f"/contact/v3/users/batch?{many}"))[0] == 99992402


async def test_a_chat_tells_its_mode(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    topics, group = feishu.topic_group("Q"), feishu.group("G", ada)
    found = await platform.data("GET", f"/im/v1/chats/{topics.chat_id}")
    assert (found["chat_mode"], found["group_message_type"]) == ("topic", "thread")
    found = await platform.data("GET", f"/im/v1/chats/{ada.private.chat_id}")
    assert found["chat_mode"] == "p2p"
    assert (await platform.refused("GET", "/im/v1/chats/oc_none"))[0] == 232006
    group.kick_bot(ada)
    assert (await platform.refused("GET", f"/im/v1/chats/{group.chat_id}"))[0] == 232011


@pytest.mark.parametrize("kind", ["open_id", "union_id", "user_id"])
async def test_a_message_goes_to_a_person_by_any_id(
    feishu: FeishuServer, platform: OpenApi, kind: str
) -> None:
    ada = feishu.user("Ada")
    body = sending("text", {"text": "hi"}, receive_id=getattr(ada, kind))
    sent = await platform.data("POST", MESSAGES, body, receive_id_type=kind)
    assert ada.private.from_bot[0].message_id == sent["message_id"]
    assert sent["chat_id"] == ada.private.chat_id
    assert sent["sender"] == {
        "id": feishu.app_id,
        "id_type": "app_id",
        "sender_type": "app",
        "tenant_key": feishu.state.tenant_key,
    }


async def test_the_log_shows_a_content_decoded(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    body = sending("text", {"text": "hi"}, receive_id=ada.open_id)
    await platform.data("POST", MESSAGES, body, receive_id_type="open_id")
    request = feishu.requests_of("im.v1.message.create")[0]
    assert request.json["content"] == {"text": "hi"}
    assert request.json["receive_id_type"] == "open_id"


async def test_tags_in_a_text_become_mentions(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    group = feishu.group("G", ada)
    text = f'<at user_id="{ada.open_id}">Ada</at> look, <at user_id="all"></at>'
    body = sending("text", {"text": text}, receive_id=group.chat_id)
    sent = await platform.data("POST", MESSAGES, body, receive_id_type="chat_id")
    assert json.loads(sent["body"]["content"]) == {"text": "@_user_1 look, @_all"}
    assert [(one["key"], one["id"]) for one in sent["mentions"]] == [("@_user_1", ada.open_id)]
    assert group.from_bot[0].text == "@Ada look, @所有人"


async def test_an_answer_stays_beside_its_message_or_opens_a_topic(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    group = feishu.group("G", ada)
    said = group.say(ada, "@Tutor why?")
    path = f"{MESSAGES}/{said.message_id}/reply"
    plain = await platform.data("POST", path, sending("text", {"text": "so"}))
    assert (plain["root_id"], plain["parent_id"]) == (said.message_id, said.message_id)
    assert "thread_id" not in plain and group.now(said).thread_id is None
    inside = await platform.data(
        "POST", path, sending("text", {"text": "so"}, reply_in_thread=True)
    )
    assert inside["thread_id"] == group.now(said).thread_id
    again = await platform.data("POST", path, sending("text", {"text": "still in it"}))
    assert again["thread_id"] == inside["thread_id"]
    deeper = await platform.data(
        "POST", f"{MESSAGES}/{again['message_id']}/reply", sending("text", {"text": "x"})
    )
    assert deeper["parent_id"] == said.message_id, "in a topic the parent is always its root"


async def test_a_message_to_a_topic_group_opens_a_topic(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    group = feishu.topic_group("Q")
    body = sending("text", {"text": "hi"}, receive_id=group.chat_id)
    sent = await platform.data("POST", MESSAGES, body, receive_id_type="chat_id")
    assert sent["thread_id"].startswith("omt_") and "root_id" not in sent


async def test_a_text_is_edited_in_place(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    body = sending("text", {"text": "one"}, receive_id=ada.open_id)
    sent = await platform.data("POST", MESSAGES, body, receive_id_type="open_id")
    path = f"{MESSAGES}/{sent['message_id']}"
    post = {"en_us": {"content": [[{"tag": "text", "text": "two"}]]}}
    edited = await platform.data("PUT", path, sending("post", post))
    assert edited["updated"] is True
    assert [shown.text for shown in ada.private.messages] == ["two"]


async def test_a_card_is_replaced_in_place(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    body = sending("interactive", card(markdown("one")), receive_id=ada.open_id)
    sent = await platform.data("POST", MESSAGES, body, receive_id_type="open_id")
    new = card(markdown("two"), button("Go", "x"), header={"title": {"tag": "plain_text"} | TITLE})
    path = f"{MESSAGES}/{sent['message_id']}"
    await platform.data("PATCH", path, {"content": json.dumps(new)})
    shown = ada.private.messages[0]
    assert (shown.text, shown.labels, shown.card) == ("Title\ntwo\nGo", ["Go"], new)
    found = await platform.data("GET", path)
    assert json.loads(found["items"][0]["body"]["content"])["title"] == "Title"
    raw = await platform.data("GET", path, card_msg_content_type="raw_card_content")
    assert json.loads(raw["items"][0]["body"]["content"]) == new


TITLE = {"content": "Title"}


async def test_the_bot_recalls_its_own_messages_only(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    said = ada.say("mine")
    refused = await platform.refused("DELETE", f"{MESSAGES}/{said.message_id}")
    assert refused[0] == 230071
    body = sending("text", {"text": "one"}, receive_id=ada.open_id)
    sent = await platform.data("POST", MESSAGES, body, receive_id_type="open_id")
    await platform.data("DELETE", f"{MESSAGES}/{sent['message_id']}")
    assert ada.private.from_bot == []


async def test_a_chat_is_listed_page_by_page_without_the_inside_of_topics(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    group = feishu.group("G", ada)
    said = [group.say(ada, str(number)) for number in range(5)]
    topic = group.open_topic(said[4])
    inside = topic.say(ada, "inside")
    chat = {"container_id_type": "chat", "container_id": group.chat_id, "page_size": "3"}
    first = await platform.data("GET", MESSAGES, **chat)
    assert first["has_more"] is True
    second = await platform.data("GET", MESSAGES, **chat, page_token=first["page_token"])
    ids = [item["message_id"] for item in first["items"] + second["items"]]
    assert ids == [message.message_id for message in said] and not second["has_more"]
    newest = await platform.data("GET", MESSAGES, **chat, sort_type="ByCreateTimeDesc")
    assert newest["items"][0]["message_id"] == said[4].message_id
    thread = {"container_id_type": "thread", "container_id": topic.id}
    found = await platform.data("GET", MESSAGES, **thread)
    assert [item["message_id"] for item in found["items"]] == [
        said[4].message_id,
        inside.message_id,
    ]


async def test_an_unknown_interface_is_not_found(platform: OpenApi) -> None:
    status, _ = await platform("GET", "/im/v9/nothing")
    assert status == 404


async def test_a_refusal_can_be_ordered(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    feishu.refuse("im.v1.message.create", 230020, "slow down")
    body = sending("text", {"text": "one"}, receive_id=ada.open_id)
    refused = await platform.refused("POST", MESSAGES, body, receive_id_type="open_id")
    assert refused == (230020, "slow down")
    feishu.refuse("im.v1.message.create", 99991400)
    status, answer = await platform("POST", MESSAGES, body, receive_id_type="open_id")
    assert (status, answer["code"]) == (429, 99991400)
    assert ada.private.messages == []


async def test_a_body_that_is_no_json_is_refused(
    session: aiohttp.ClientSession, feishu: FeishuServer, platform: OpenApi
) -> None:
    await platform.fetch_token()
    headers = {"Authorization": f"Bearer {platform.token}", "Content-Type": "application/json"}
    url = f"{feishu.url}/open-apis{MESSAGES}"
    async with session.post(url, data=b"{", headers=headers) as response:
        assert (response.status, (await response.json())["code"]) == (400, 9499)
