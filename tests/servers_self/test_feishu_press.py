"""Buttons of cards: what the bot is asked, and what the person sees."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.servers.feishu import FeishuServer, Person, Shown
from tests.servers.feishu.press import (
    BAD_ANSWER,
    BAD_CARD,
    EXPIRED,
    FAILED,
    NO_ANSWER,
    NOT_CONNECTED,
)
from tests.servers_self.feishu_callers import OpenApi, button, card, markdown, sending


async def shown(platform: OpenApi, ada: Person, *elements: dict[str, Any], **root: Any) -> Shown:
    body = sending("interactive", card(*elements, **root), receive_id=ada.open_id)
    await platform.data("POST", "/im/v1/messages", body, receive_id_type="open_id")
    return ada.private.from_bot[-1]


async def test_a_press_carries_the_buttons_value_and_is_answered(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    message = await shown(platform, ada, markdown("q"), button("Good", {"grade": 3}))
    async with platform.connected() as line:
        press = ada.private.press(message, "Good")
        answer = {
            "toast": {"type": "success", "content": "saved"},
            "card": {"type": "raw", "data": card(markdown("done"))},
        }
        body = await line.accept(answer)
        await press.wait_answered()
    assert body["header"]["event_type"] == "card.action.trigger"
    event = body["event"]
    assert event["action"]["value"] == {"grade": 3}
    assert event["operator"]["open_id"] == ada.open_id
    assert event["context"] == {
        "open_message_id": message.message_id,
        "open_chat_id": ada.private.chat_id,
    }
    assert press.error is None and press.toast == answer["toast"] and press.card_shown
    assert ada.private.now(message).text == "done"
    assert feishu.acks[0].data == answer


async def test_a_button_is_found_by_label_or_value_if_it_is_alive(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    message = await shown(
        platform,
        ada,
        button("By value", "v1"),
        button("Dead", "v2", disabled=True),
        button("Mute"),
    )
    with pytest.raises(LookupError, match=r"only .*By value"):
        ada.private.press(message, "None")
    with pytest.raises(LookupError, match="disabled"):
        ada.private.press(message, "Dead")
    with pytest.raises(LookupError, match="sends nothing"):
        ada.private.press(message, "Mute")
    press = ada.private.press(message, "v1")
    assert press.delivery is not None
    assert press.delivery.body["event"]["action"]["value"] == "v1"


async def test_a_form_is_sent_whole(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    fields = [{"tag": "input", "name": "why"}, button("Send", name="b", form_action_type="submit")]
    message = await shown(platform, ada, {"tag": "form", "name": "f", "elements": fields})
    press = ada.private.press(message, "Send", form={"why": "because"})
    assert press.delivery is not None
    action = press.delivery.body["event"]["action"]
    assert (action["name"], action["form_value"]) == ("b", {"why": "because"})


async def test_in_a_group_somebody_presses(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    group = feishu.group("G", ada)
    body = sending("interactive", card(button("Go", "x")), receive_id=group.chat_id)
    await platform.data("POST", "/im/v1/messages", body, receive_id_type="chat_id")
    with pytest.raises(ValueError, match="say who"):
        group.press(group.from_bot[0], "Go")
    press = group.press(group.from_bot[0], "Go", ada)
    assert press.delivery is not None
    assert press.delivery.body["event"]["operator"]["open_id"] == ada.open_id


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (None, None),
        ({}, None),
        ({"toast": {"content": "fine"}}, None),
        ({"toast": {"type": "loud"}}, BAD_ANSWER),
        ({"toast": "words"}, BAD_ANSWER),
        ({"card": card(markdown("bare"))}, BAD_ANSWER),
        ({"message": "what"}, BAD_ANSWER),
        (["list"], BAD_ANSWER),
        ({"card": {"type": "raw", "data": card({"tag": "note", "elements": []})}}, BAD_CARD),
        ({"card": {"type": "raw", "data": {"elements": []}}}, BAD_CARD),
    ],
)
async def test_an_answer_is_a_toast_a_card_or_nothing(
    feishu: FeishuServer, platform: OpenApi, data: object, error: int | None
) -> None:
    ada = feishu.user("Ada")
    message = await shown(platform, ada, button("Go", "x"))
    async with platform.connected() as line:
        press = ada.private.press(message, "Go")
        await line.accept(data)
        await press.wait_answered()
    assert press.error == error
    assert not press.card_shown and ada.private.now(message).labels == ["Go"]


async def test_a_press_answered_with_an_error_is_not_asked_again(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    message = await shown(platform, ada, button("Go", "x"))
    async with platform.connected() as line:
        press = ada.private.press(message, "Go")
        _, frame = await line.event()
        await line.acknowledge(frame, 500)
        await press.wait_answered()
        feishu.pass_time(30_000)
        assert await line.ping()
    assert press.error == FAILED
    assert press.delivery is not None and len(press.delivery.attempts) == 1


async def test_a_press_waits_three_seconds(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    message = await shown(platform, ada, button("Go", "x"))
    async with platform.connected() as line:
        press = ada.private.press(message, "Go")
        _, frame = await line.event()
        feishu.pass_time(3.1)
        await press.wait_answered()
        await line.acknowledge(frame, data={"toast": {"content": "too late"}})
        await feishu.wait_acks(press)
    assert press.error == NO_ANSWER and press.toast is None


async def test_a_press_without_a_connection_fails(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    message = await shown(platform, ada, button("Go", "x"))
    press = await ada.private.press(message, "Go").wait_answered()
    assert press.error == NOT_CONNECTED


async def test_a_card_older_than_14_days_is_dead(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    message = await shown(platform, ada, button("Go", "x"))
    feishu.pass_time(14 * 86400 + 1)
    press = ada.private.press(message, "Go")
    assert press.error == EXPIRED and press.delivery is None


async def test_a_card_is_locked_while_a_press_is_answered(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    message = await shown(platform, ada, button("Go", "x"))
    path = f"/im/v1/messages/{message.message_id}"
    content = {"content": json.dumps(card(markdown("patched")))}
    async with platform.connected() as line:
        press = ada.private.press(message, "Go")
        _, frame = await line.event()
        code, sentence = await platform.refused("PATCH", path, content)
        assert code == 230099 and "card action is lock" in sentence
        await line.acknowledge(frame)
        await press.wait_answered()
    await platform.data("PATCH", path, content)
    assert ada.private.now(message).text == "patched"
