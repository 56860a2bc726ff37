"""The Bot API server takes rich messages when it is new enough, and only sound ones."""

from __future__ import annotations

from typing import Any

import pytest

from tests.servers.telegram import TelegramServer
from tests.servers_self.conftest import BotApi

PARAGRAPH = {"type": "paragraph", "text": "hello"}
CELL = {"text": "a", "align": "left", "valign": "middle"}


def message(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"blocks": list(blocks), "skip_entity_detection": True, **more}


async def test_a_server_from_before_them_knows_no_such_method(
    telegram: TelegramServer, api: BotApi
) -> None:
    telegram.user(7, started=True)
    given = message(PARAGRAPH)
    status, _ = await api("sendRichMessage", chat_id=7, rich_message=given)
    assert status == 404
    sent = (await api("sendMessage", chat_id=7, text="x"))[1]["result"]
    there = {"chat_id": 7, "message_id": sent["message_id"]}
    status, answer = await api("editMessageText", rich_message=given, **there)
    assert (status, answer["description"]) == (400, "Bad Request: message text is empty")


async def test_a_sound_one_is_shown_and_told(telegram: TelegramServer, api: BotApi) -> None:
    ada = telegram.user(7, started=True)
    telegram.state.rich = True
    item = {"blocks": [PARAGRAPH], "value": 1, "type": "1"}
    given = message({"type": "list", "items": [item]}, {"type": "table", "cells": [[CELL]]})
    status, answer = await api("sendRichMessage", chat_id=7, rich_message=given)
    assert status == 200
    shown = answer["result"]["rich_message"]["blocks"][0]["items"][0]
    assert (shown["label"], answer["result"].get("text")) == ("1.", None)
    assert ada.private.from_bot[0].words == "1. hello\na"
    there = {"chat_id": 7, "message_id": answer["result"]["message_id"]}
    status, answer = await api("editMessageText", rich_message=given, **there)
    assert "not modified" in answer["description"]


@pytest.mark.parametrize(
    "given",
    [
        {},
        "hello",
        message(),
        message(PARAGRAPH, markdown="hello"),
        {"blocks": [PARAGRAPH]},
        message({"type": "paragraph"}),
        message({"type": "paragraph", "text": ""}),
        message({"type": "paragraph", "text": [{"type": "shout", "text": "x"}]}),
        message({"type": "paragraph", "text": "x", "size": 1}),
        message({"type": "heading", "text": "x", "size": 7}),
        message({"type": "video"}),
        message({"type": "mathematical_expression", "expression": " "}),
        message({"type": "list", "items": []}),
        message({"type": "list", "items": [{"blocks": []}]}),
        message({"type": "table", "cells": [[CELL], [CELL, CELL]]}),
        message({"type": "table", "cells": [[{"text": "a"}]]}),
        message({"type": "paragraph", "text": {"type": "url", "text": "x", "url": "tg://user"}}),
        message({"type": "paragraph", "text": "x" * 32_769}),
    ],
)
async def test_an_unsound_one_is_refused(telegram: TelegramServer, api: BotApi, given: Any) -> None:
    ada = telegram.user(7, started=True)
    telegram.state.rich = True
    status, _ = await api("sendRichMessage", chat_id=7, rich_message=given)
    assert status == 400
    assert not ada.private.from_bot
