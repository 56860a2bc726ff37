"""Card entities: made once, sent once, changed in order, streamed for ten minutes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.servers.feishu import FeishuServer, Person
from tests.servers_self.feishu_callers import OpenApi, button, card, markdown, sending

CARDS = "/cardkit/v1/cards"
STREAMING = card(
    markdown("", element_id="md"),
    {"tag": "hr", "element_id": "line"},
    button("Stop", "stop"),
    config={"streaming_mode": True},
)


async def made(platform: OpenApi, given: object = STREAMING) -> str:
    body = {"type": "card_json", "data": json.dumps(given)}
    return str((await platform.data("POST", CARDS, body))["card_id"])


async def send(platform: OpenApi, ada: Person, card_id: str) -> tuple[int, dict[str, Any]]:
    content = {"type": "card", "data": {"card_id": card_id}}
    body = sending("interactive", content, receive_id=ada.open_id)
    return await platform("POST", "/im/v1/messages", body, receive_id_type="open_id")


async def write(
    platform: OpenApi, card_id: str, text: str, sequence: object, element: str = "md", **more: Any
) -> int:
    path = f"{CARDS}/{card_id}/elements/{element}/content"
    body = {"content": text, "sequence": sequence, **more}
    return int((await platform("PUT", path, body))[1]["code"])


async def switch(platform: OpenApi, card_id: str, on: bool, sequence: int) -> int:
    body = {
        "settings": json.dumps({"config": {"streaming_mode": on}}),
        "sequence": sequence,
    }
    return int((await platform("PATCH", f"{CARDS}/{card_id}/settings", body))[1]["code"])


async def test_a_card_is_streamed_into_a_chat(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    card_id = await made(platform)
    assert (await send(platform, ada, card_id))[0] == 200
    message = ada.private.from_bot[0]
    assert message.streaming and message.card_id == card_id
    for sequence, text in enumerate(["One", "One two", "One two three"], start=1):
        assert await write(platform, card_id, text, sequence) == 0
        assert ada.private.now(message).text.startswith(text + "\n")
    assert await switch(platform, card_id, False, 4) == 0
    assert not ada.private.now(message).streaming
    assert await write(platform, card_id, "more", 5) == 300309
    assert await switch(platform, card_id, True, 5) == 0
    assert await write(platform, card_id, "more", 6) == 0


async def test_what_was_streamed_before_sending_is_sent(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    card_id = await made(platform)
    assert await write(platform, card_id, "early", 1) == 0
    await send(platform, ada, card_id)
    assert ada.private.from_bot[0].text.startswith("early")


async def test_a_sequence_only_grows_over_all_operations(platform: OpenApi) -> None:
    card_id = await made(platform)
    assert await write(platform, card_id, "a", 5) == 0
    assert await write(platform, card_id, "b", 5) == 300317
    assert await write(platform, card_id, "b", 4) == 300317
    assert await switch(platform, card_id, True, 5) == 300317
    assert await switch(platform, card_id, True, 9) == 0
    assert await write(platform, card_id, "b", 8) == 300317
    assert await write(platform, card_id, "b", 10) == 0


@pytest.mark.parametrize("sequence", [0, -1, 2**31])
async def test_a_sequence_is_a_positive_32_bit_number(platform: OpenApi, sequence: int) -> None:
    assert await write(platform, await made(platform), "a", sequence) == 10002


async def test_a_uuid_is_used_once(platform: OpenApi) -> None:
    card_id = await made(platform)
    assert await write(platform, card_id, "a", 1, uuid="u") == 0
    assert await write(platform, card_id, "b", 2, uuid="u") == 200770
    assert await write(platform, card_id, "b", 2, uuid="x" * 65) == 99992402


async def test_an_entity_is_sent_once(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    card_id = await made(platform)
    await send(platform, ada, card_id)
    status, answer = await send(platform, ada, card_id)
    assert (status, answer["code"]) == (400, 230099) and "only once" in answer["msg"]
    assert len(ada.private.messages) == 1


async def test_the_entity_of_a_message_is_told_of_such_messages_only(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    card_id = await made(platform)
    await send(platform, ada, card_id)
    convert = f"{CARDS}/id_convert"
    shown = {"message_id": ada.private.from_bot[0].message_id}
    assert await platform.data("POST", convert, shown) == {"card_id": card_id}
    for other in ({"message_id": ada.say("hello").message_id}, {"message_id": "om_none"}, {}):
        assert (await platform.refused("POST", convert, other))[0] == 10002


async def test_streaming_ends_by_itself_after_ten_minutes(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    card_id = await made(platform)
    await send(platform, ada, card_id)
    feishu.pass_time(599.9)
    assert await write(platform, card_id, "a", 1) == 0
    feishu.pass_time(2)
    assert not ada.private.from_bot[0].streaming
    assert await write(platform, card_id, "b", 2) == 200850
    assert await switch(platform, card_id, True, 2) == 0
    assert await write(platform, card_id, "b", 3) == 0


async def test_an_entity_lives_fourteen_days(feishu: FeishuServer, platform: OpenApi) -> None:
    card_id = await made(platform, card(markdown("x", element_id="md")))
    feishu.pass_time(14 * 86400 + 1)
    await platform.fetch_token()
    assert await switch(platform, card_id, True, 1) == 200750
    assert await switch(platform, "7", True, 1) == 200740


async def test_only_text_is_streamed_into_elements_that_exist(platform: OpenApi) -> None:
    card_id = await made(platform)
    assert await write(platform, card_id, "a", 1, "none") == 300313
    assert await write(platform, card_id, "a", 1, "line") == 300310
    assert await write(platform, card_id, "", 1) == 10002
    assert await write(platform, card_id, "x" * 100_001, 1) == 10002
    assert await write(platform, card_id, "字" * 10_240, 1) == 200860
    assert await write(platform, card_id, "| a |\n|---|\n\n" * 6, 1) == 230099


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("", 300307),
        ("{", 200220),
        ("{}", 300303),
        (json.dumps({"elements": []}), 300303),
        (json.dumps(card(config={"update_multi": False})), 300302),
        (json.dumps(card(*[markdown("x", element_id="a")] * 2)), 300301),
        (json.dumps(card(*[markdown("x")] * 201)), 300305),
        (json.dumps(card(markdown("x" * 30_720))), 200860),
        (json.dumps(card({"tag": "note", "elements": []})), 230099),
        (json.dumps(card(markdown("| a |\n|---|\n\n" * 6))), 230099),
    ],
)
async def test_a_bad_card_becomes_no_entity(
    feishu: FeishuServer, platform: OpenApi, data: str, code: int
) -> None:
    refused = await platform.refused("POST", CARDS, {"type": "card_json", "data": data})
    assert refused[0] == code
    assert feishu.state.entities == {}


async def test_a_whole_card_is_replaced_and_settings_are_checked(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    card_id = await made(platform)
    await send(platform, ada, card_id)
    new = {"type": "card_json", "data": json.dumps(card(markdown("whole")))}
    await platform.data("PUT", f"{CARDS}/{card_id}", {"card": new, "sequence": 1})
    assert ada.private.from_bot[0].text == "whole" and not ada.private.from_bot[0].streaming
    path = f"{CARDS}/{card_id}/settings"
    for settings, code in (("{", 10002), ('{"body":{}}', 10002), ('{"config":{"x":1}}', 300122)):
        body = {"settings": settings, "sequence": 2}
        assert (await platform.refused("PATCH", path, body))[0] == code


async def test_a_press_holds_the_entity_and_cannot_change_it_while_it_streams(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    card_id = await made(platform)
    await send(platform, ada, card_id)
    async with platform.connected() as line:
        press = ada.private.press(ada.private.from_bot[0], "Stop")
        _, frame = await line.event()
        assert await write(platform, card_id, "a", 1) == 200810
        answer = {"card": {"type": "raw", "data": card(markdown("stopped"))}}
        await line.acknowledge(frame, data=answer)
        await press.wait_answered()
    assert press.error is None and press.card == answer["card"]["data"] and not press.card_shown
    assert ada.private.from_bot[0].streaming
    assert await write(platform, card_id, "a", 1) == 0


async def test_the_card_kit_needs_its_scope(feishu: FeishuServer, platform: OpenApi) -> None:
    feishu.revoke_scopes("cardkit:card:write")
    code, message = await platform.refused("POST", CARDS, {"type": "card_json", "data": "{}"})
    assert code == 99991672 and "cardkit:card:write" in message
