"""Every limit of the open platform turns an offending request away, with the platform's code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import aiohttp
import pytest

from tests.servers.feishu import Chat, Clock, FeishuServer, Rates
from tests.servers_self.feishu_callers import OpenApi, card, markdown, sending

MESSAGES = "/im/v1/messages"


async def send(
    platform: OpenApi, chat: Chat, kind: str, content: object, **more: Any
) -> tuple[int, dict[str, Any]]:
    body = sending(kind, content, receive_id=chat.chat_id, **more)
    return await platform("POST", MESSAGES, body, receive_id_type="chat_id")


async def sent(
    platform: OpenApi, chat: Chat, kind: str = "text", content: object = None, **more: Any
) -> str:
    status, answer = await send(platform, chat, kind, content or {"text": "hi"}, **more)
    assert status == 200, answer
    return str(answer["data"]["message_id"])


async def code_of(
    platform: OpenApi, chat: Chat, kind: str = "text", content: object = None, **more: Any
) -> int:
    status, answer = await send(platform, chat, kind, content or {"text": "hi"}, **more)
    assert status in (200, 400, 429), answer
    return int(answer["code"])


def padded(frame: Callable[[str], object], size: int) -> object:
    """Return a content whose JSON has exactly this many UTF-8 bytes, in three-byte characters."""
    free = size - len(json.dumps(frame(""), ensure_ascii=False).encode())
    return frame("字" * (free // 3) + "x" * (free % 3))


def post(text: str) -> object:
    return {"zh_cn": {"content": [[{"tag": "text", "text": text}]]}}


@pytest.mark.parametrize(
    ("kind", "frame", "most"),
    [
        ("text", lambda text: {"text": text}, 150 * 1024),
        ("post", post, 30 * 1024),
        ("interactive", lambda text: card(markdown(text)), 30 * 1024),
    ],
)
async def test_a_content_has_a_limit_in_bytes(
    feishu: FeishuServer,
    platform: OpenApi,
    kind: str,
    frame: Callable[[str], object],
    most: int,
) -> None:
    chat = feishu.user("Ada").private
    assert await code_of(platform, chat, kind, padded(frame, most)) == 0
    assert await code_of(platform, chat, kind, padded(frame, most + 1)) == 230025
    assert len(chat.messages) == 1


@pytest.mark.parametrize(
    ("kind", "content", "why"),
    [
        ("text", {"text": "  \n"}, "empty"),
        ("text", {"words": "x"}, "text is expected"),
        ("text", {"text": 1}, "text is expected"),
        ("text", ["x"], "json object"),
        ("text", {"text": '<at user_id="ou_none">X</at>'}, "invalid at user_id ou_none"),
        ("post", {"post": {"zh_cn": {"content": [[]]}}}, "locale"),
        ("post", {"content": [[{"tag": "text", "text": "x"}]]}, "locale"),
        ("post", {"xx_yy": {"content": []}}, "locale"),
        ("post", {"zh_cn": {"title": "x"}}, "post content"),
        ("post", {"zh_cn": {"content": []}}, "empty"),
        ("post", {"zh_cn": {"content": [{"tag": "text", "text": "x"}]}}, "row"),
        ("post", {"zh_cn": {"content": [[{"tag": "table"}]]}}, "unknown tag table"),
        ("post", {"zh_cn": {"content": [[{"tag": "a", "text": "x"}]]}}, "a without href"),
        ("post", {"zh_cn": {"content": [[{"tag": "img", "image_key": "x"}]]}}, "image_key x"),
        ("post", {"zh_cn": {"content": [[{"tag": "at", "user_id": "ou_x"}]]}}, "user_id ou_x"),
        (
            "post",
            {"zh_cn": {"content": [[{"tag": "md", "text": "x"}, {"tag": "text", "text": "y"}]]}},
            "md must be alone",
        ),
        ("image", {"image_key": "img_none"}, "invalid image_key"),
        ("file", {"file_key": "file_none"}, "invalid file_key"),
        ("sticker", {"file_key": "file_none"}, "invalid file_key"),
        ("poem", {"text": "x"}, "invalid msg_type"),
    ],
)
async def test_a_bad_content_is_refused(
    feishu: FeishuServer, platform: OpenApi, kind: str, content: object, why: str
) -> None:
    chat = feishu.user("Ada").private
    status, answer = await send(platform, chat, kind, content)
    assert (status, answer["code"]) == (400, 230001)
    assert why in answer["msg"]
    assert chat.messages == []


async def test_a_content_is_a_json_string(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    body = {"receive_id": ada.open_id, "msg_type": "text", "content": "hello"}
    refused = await platform.refused("POST", MESSAGES, body, receive_id_type="open_id")
    assert refused[0] == 230001 and "json format" in refused[1]
    body["content"] = {"text": "hello"}  # type: ignore[assignment]
    refused = await platform.refused("POST", MESSAGES, body, receive_id_type="open_id")
    assert refused[0] == 99992402


@pytest.mark.parametrize("kind", ["open_id", "union_id", "user_id", "email", "chat_id"])
async def test_an_unknown_receiver_is_refused(
    feishu: FeishuServer, platform: OpenApi, kind: str
) -> None:
    body = sending("text", {"text": "hi"}, receive_id="ou_somebody_else")
    refused = await platform.refused("POST", MESSAGES, body, receive_id_type=kind)
    assert refused == (230034, "The receive_id is invalid.")


@pytest.mark.parametrize("query", [{}, {"receive_id_type": "phone"}])
async def test_the_kind_of_receiver_must_be_named(
    feishu: FeishuServer, platform: OpenApi, query: dict[str, str]
) -> None:
    body = sending("text", {"text": "hi"}, receive_id="ou_x")
    assert (await platform.refused("POST", MESSAGES, body, **query))[0] == 99992402


async def test_the_bot_writes_only_where_it_is(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    group = feishu.group("G", ada)
    said = group.say(ada, "@Tutor hi")
    group.kick_bot(ada)
    assert await code_of(platform, group) == 230002
    path = f"{MESSAGES}/{said.message_id}"
    answer = sending("text", {"text": "hi"})
    assert (await platform.refused("POST", f"{path}/reply", answer))[0] == 230002
    assert (await platform.refused("GET", path))[0] == 230002
    reaction = {"reaction_type": {"emoji_type": "OK"}}
    assert (await platform.refused("POST", f"{path}/reactions", reaction))[0] == 231002
    listed = {"container_id_type": "chat", "container_id": group.chat_id}
    assert (await platform.refused("GET", MESSAGES, **listed))[0] == 230002
    resource = f"{path}/resources/x"
    assert (await platform.refused("GET", resource, type="file"))[0] == 234009
    group.add_bot(ada)
    group.dissolve()
    assert await code_of(platform, group) == 232009
    assert (await platform.refused("GET", f"/im/v1/chats/{group.chat_id}"))[0] == 232009


async def test_the_bot_writes_only_to_whom_it_may(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    said = ada.say("hi")
    ada.stopped = True
    assert await code_of(platform, ada.private) == 230053
    ada.available = False
    assert await code_of(platform, ada.private) == 230013
    reaction = {"reaction_type": {"emoji_type": "OK"}}
    path = f"{MESSAGES}/{said.message_id}/reactions"
    assert (await platform.refused("POST", path, reaction))[0] == 231022


async def test_an_app_without_a_bot_sends_nothing(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    feishu.state.bot_ability = False
    assert await code_of(platform, ada.private) == 230006
    assert (await platform.refused("GET", "/bot/v3/info"))[0] == 11205


async def test_a_recalled_message_takes_no_answer(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    said = ada.say("hi")
    ada.private.recall(said)
    path = f"{MESSAGES}/{said.message_id}"
    answer = sending("text", {"text": "hi"})
    assert (await platform.refused("POST", f"{path}/reply", answer))[0] == 230011
    reaction = {"reaction_type": {"emoji_type": "OK"}}
    assert (await platform.refused("POST", f"{path}/reactions", reaction))[0] == 231003
    unknown = await platform.refused("POST", f"{MESSAGES}/om_none/reply", answer)
    assert unknown[0] == 230001 and "invalid message_id" in unknown[1]


@pytest.mark.parametrize("emoji", ["typing", "😀", None])
async def test_a_reaction_is_one_of_the_platforms(
    feishu: FeishuServer, platform: OpenApi, emoji: str | None
) -> None:
    said = feishu.user("Ada").say("hi")
    path = f"{MESSAGES}/{said.message_id}/reactions"
    refused = await platform.refused("POST", path, {"reaction_type": {"emoji_type": emoji}})
    assert refused == (231001, "reaction type is invalid.")


async def test_a_reaction_of_somebody_else_stays(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    said = ada.say("hi")
    reaction = ada.private.react(said, "OK", ada)
    path = f"{MESSAGES}/{said.message_id}/reactions"
    assert (await platform.refused("DELETE", f"{path}/{reaction.reaction_id}"))[0] == 231007
    assert (await platform.refused("DELETE", f"{path}/none"))[0] == 231010
    assert ada.private.now(said).emojis == ["OK"]


async def test_a_text_is_edited_at_most_twenty_times(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    path = f"{MESSAGES}/{await sent(platform, ada.private)}"
    for number in range(20):
        await platform.data("PUT", path, sending("text", {"text": str(number)}))
    refused = await platform.refused("PUT", path, sending("text", {"text": "20"}))
    assert refused[0] == 230072
    assert ada.private.messages[0].text == "19"


async def test_an_edit_is_for_own_texts_and_a_patch_for_own_cards(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    text = sending("text", {"text": "x"})
    replacement = {"content": json.dumps(card(markdown("x")))}
    theirs = f"{MESSAGES}/{ada.say('hi').message_id}"
    assert (await platform.refused("PUT", theirs, text))[0] == 230071
    assert (await platform.refused("PATCH", theirs, replacement))[0] == 230071
    own_text = f"{MESSAGES}/{await sent(platform, ada.private)}"
    own_card = await sent(platform, ada.private, "interactive", card(markdown("a")))
    assert (await platform.refused("PATCH", own_text, replacement))[0] == 230054
    assert (await platform.refused("PUT", f"{MESSAGES}/{own_card}", text))[0] == 230054


async def test_a_card_is_patched_for_fourteen_days_and_within_its_size(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    path = f"{MESSAGES}/{await sent(platform, ada.private, 'interactive', card(markdown('a')))}"
    big = padded(lambda text: card(markdown(text)), 30 * 1024 + 1)
    refused = await platform.refused(
        "PATCH", path, {"content": json.dumps(big, ensure_ascii=False)}
    )
    assert refused[0] == 230025
    old = {"content": json.dumps({"elements": [{"tag": "markdown", "content": "x"}]})}
    code, message = await platform.refused("PATCH", path, old)
    assert code == 230099 and "ErrCode: 200830" in message
    new = {"content": json.dumps(card(markdown("b")))}
    feishu.pass_time(14 * 86400 - 60)
    await platform.fetch_token()
    await platform.data("PATCH", path, new)
    feishu.pass_time(120)
    assert (await platform.refused("PATCH", path, new))[0] == 230031


async def test_a_uuid_sends_once_an_hour(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    first = await sent(platform, ada.private, uuid="u" * 50)
    again = await sent(platform, ada.private, content={"text": "other"}, uuid="u" * 50)
    said = ada.say("hi")
    reply = f"{MESSAGES}/{said.message_id}/reply"
    answered = await platform.data("POST", reply, sending("text", {"text": "x"}, uuid="u" * 50))
    assert again == first == answered["message_id"]
    assert [shown.text for shown in ada.private.from_bot] == ["hi"]
    feishu.pass_time(3601)
    assert await sent(platform, ada.private, uuid="u" * 50) != first
    assert await code_of(platform, ada.private, uuid="u" * 51) == 99992402


@pytest.fixture
def still() -> Iterator[FeishuServer]:
    """A server with the usual rates whose time stands still: a slow machine changes nothing."""
    with FeishuServer(clock=Clock(lambda: 2_000_000_000.0)) as server:
        yield server


async def test_one_chat_takes_five_messages_a_second(
    session: aiohttp.ClientSession, still: FeishuServer
) -> None:
    platform = OpenApi(session, still)
    ada, bob = still.user("Ada"), still.user("Bob")
    codes = [await code_of(platform, ada.private) for _ in range(7)]
    assert codes == [0] * 5 + [230020] * 2
    assert await code_of(platform, bob.private) == 0
    still.pass_time(1.01)
    assert await code_of(platform, ada.private) == 0


@pytest.mark.parametrize(
    ("rates", "seconds"),
    [(Rates(None, 50, None, None, None), "1"), (Rates(None, None, 50, None, None), "60")],
)
async def test_one_interface_takes_so_many_calls_a_second_and_a_minute(
    session: aiohttp.ClientSession, still: FeishuServer, rates: Rates, seconds: str
) -> None:
    still.set_rates(rates)
    platform = OpenApi(session, still)
    statuses = [(await platform("GET", "/bot/v3/info"))[0] for _ in range(51)]
    assert statuses == [200] * 50 + [429]
    headers = {"Authorization": f"Bearer {platform.token}"}
    async with session.get(f"{still.url}/open-apis/bot/v3/info", headers=headers) as response:
        assert response.headers["x-ogw-ratelimit-reset"] == seconds
        assert (await response.json())["code"] == 99991400
    still.pass_time(60.01)
    assert (await platform("GET", "/bot/v3/info"))[0] == 200


async def test_one_card_takes_five_patches_a_second(
    session: aiohttp.ClientSession, still: FeishuServer
) -> None:
    platform = OpenApi(session, still)
    ada = still.user("Ada")
    path = f"{MESSAGES}/{await sent(platform, ada.private, 'interactive', card(markdown('a')))}"
    content = {"content": json.dumps(card(markdown("b")))}
    codes = [(await platform("PATCH", path, content))[1]["code"] for _ in range(6)]
    assert codes == [0] * 5 + [230020]


async def test_one_card_entity_takes_ten_operations_a_second(
    session: aiohttp.ClientSession, still: FeishuServer
) -> None:
    platform = OpenApi(session, still)
    streaming = card(markdown("", element_id="md"), config={"streaming_mode": True})
    made = {"type": "card_json", "data": json.dumps(streaming)}
    card_id = (await platform.data("POST", "/cardkit/v1/cards", made))["card_id"]
    path = f"/cardkit/v1/cards/{card_id}/elements/md/content"
    codes = [
        (await platform("PUT", path, {"content": "x", "sequence": number}))[1]["code"]
        for number in range(1, 12)
    ]
    assert codes == [0] * 10 + [230020]


async def test_a_page_has_at_most_fifty_messages(feishu: FeishuServer, platform: OpenApi) -> None:
    chat = {"container_id_type": "chat", "container_id": feishu.group("G").chat_id}
    for size in ("51", "0", "-1", "ten"):
        assert (await platform.refused("GET", MESSAGES, **chat, page_size=size))[0] == 99992402
    wrong = {"container_id_type": "thread", "container_id": "omt_none"}
    assert (await platform.refused("GET", MESSAGES, **wrong))[0] == 230001
