"""The least a bot on Feishu can be: the long connection, a streamed model call, one text reply."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from typing import Any

import lark_oapi as lark
from lark_oapi.api.im.v1 import ReplyMessageRequest, ReplyMessageRequestBody

from bench.bare.model import Model


def main() -> None:
    """Stay connected until the process is ended."""
    app, secret = os.environ["FEISHU_APP_ID"], os.environ["FEISHU_APP_SECRET"]
    domain = os.environ["FEISHU_DOMAIN"]
    client = lark.Client.builder().app_id(app).app_secret(secret).domain(domain).build()
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    model: list[Model] = []

    async def answer(message_id: str, question: str) -> None:
        if not model:
            model.append(Model())
        text = await model[0].answer(question)
        body = (
            ReplyMessageRequestBody.builder()
            .msg_type("text")
            .content(json.dumps({"text": text}))
            .build()
        )
        request = ReplyMessageRequest.builder().message_id(message_id).request_body(body).build()
        await client.im.v1.message.areply(request)

    def heard(data: Any) -> None:
        message = data.event.message
        question = json.loads(message.content).get("text", "")
        asyncio.run_coroutine_threadsafe(answer(message.message_id, question), loop)

    handler = (
        lark.EventDispatcherHandler.builder("", "").register_p2_im_message_receive_v1(heard).build()
    )
    lark.ws.Client(app, secret, event_handler=handler, domain=domain).start()


if __name__ == "__main__":
    main()
