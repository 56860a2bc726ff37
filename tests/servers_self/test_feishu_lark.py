"""The real lark_oapi against the server: frames agree, every answer decodes, events arrive."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import threading
from collections.abc import Iterator
from typing import Any

import lark_oapi as lark
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark_oapi.api.cardkit.v1 import (
    ContentCardElementRequest,
    ContentCardElementRequestBody,
    CreateCardRequest,
    CreateCardRequestBody,
    IdConvertCardRequest,
    IdConvertCardRequestBody,
    SettingsCardRequest,
    SettingsCardRequestBody,
)
from lark_oapi.api.contact.v3 import BatchUserRequest, GetUserRequest
from lark_oapi.api.im.v1 import (
    CreateFileRequest,
    CreateFileRequestBody,
    CreateImageRequest,
    CreateImageRequestBody,
    CreateMessageReactionRequest,
    CreateMessageReactionRequestBody,
    CreateMessageRequest,
    CreateMessageRequestBody,
    DeleteMessageReactionRequest,
    Emoji,
    GetMessageResourceRequest,
    ReplyMessageRequest,
    ReplyMessageRequestBody,
    UpdateMessageRequest,
    UpdateMessageRequestBody,
)
from lark_oapi.core.token.manager import TokenManager
from lark_oapi.event.callback.model.p2_card_action_trigger import P2CardActionTriggerResponse
from lark_oapi.ws import client as long_connection
from lark_oapi.ws.pb.pbbp2_pb2 import Frame as TheirFrame

from tests.servers.feishu import FeishuServer
from tests.servers.feishu.frames import Frame, decode

CARD = {"schema": "2.0", "body": {"elements": [{"tag": "markdown", "content": "q"}]}}
PNG = b"\x89PNG\r\n\x1a\nxyz"
texts = st.text(max_size=30)
unsigned = st.integers(0, 2**64 - 1)
signed = st.integers(-(2**31), 2**31 - 1)
frames = st.builds(
    Frame,
    method=signed,
    headers=st.dictionaries(texts, texts, max_size=5),
    payload=st.binary(max_size=300),
    service=signed,
    seq_id=unsigned,
    log_id=unsigned,
    payload_encoding=texts,
    payload_type=texts,
    log_id_new=texts,
)


@pytest.fixture(autouse=True)
def _library_as_it_was() -> Iterator[None]:
    """Put back what the library keeps for the whole process."""
    loop = long_connection.loop
    yield
    long_connection.loop = loop
    TokenManager.cache.cache.clear()


class Listening:
    """The library's long connection in a thread of its own."""

    def __init__(self, server: FeishuServer, handler: Any) -> None:
        self._server = server
        self._handler = handler
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        self._loop = long_connection.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._client = lark.ws.Client(
            self._server.app_id,
            self._server.app_secret,
            event_handler=self._handler,
            domain=self._server.url,
        )
        with contextlib.suppress(RuntimeError):  # its loop is stopped while it runs
            self._client.start()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    def __enter__(self) -> Listening:
        self._thread.start()
        self._server.wait_connected_blocking()
        return self

    def __exit__(self, *_: object) -> None:
        self._client._auto_reconnect = False
        asyncio.run_coroutine_threadsafe(self._client._disconnect(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        assert not self._thread.is_alive()


def handler() -> Any:
    return lark.EventDispatcherHandler.builder("", "")


@pytest.fixture
async def client(feishu: FeishuServer) -> Any:
    """A client with a token: the library would fetch it with a call that blocks this loop."""
    made = (
        lark.Client.builder()
        .app_id(feishu.app_id)
        .app_secret(feishu.app_secret)
        .domain(feishu.url)
        .timeout(5)
        .build()
    )
    await asyncio.to_thread(TokenManager.get_self_tenant_token, made.config)
    return made


def good(response: Any) -> Any:
    """Return what a call brought; it must have succeeded."""
    assert response.success(), (response.code, response.msg)
    return getattr(response, "data", None)


def message(receiver: str, kind: str, content: object, by: str = "open_id") -> Any:
    body = CreateMessageRequestBody.builder().receive_id(receiver).msg_type(kind)
    body = body.content(json.dumps(content)).build()
    return CreateMessageRequest.builder().receive_id_type(by).request_body(body).build()


# --- the long connection -------------------------------------------------------------------------


@given(frames)
def test_frames_mean_the_same_to_both(frame: Frame) -> None:
    theirs = TheirFrame()
    theirs.ParseFromString(frame.encode())
    assert {header.key: header.value for header in theirs.headers} == frame.headers
    assert (theirs.SeqID, theirs.LogID) == (frame.seq_id, frame.log_id)
    assert (theirs.service, theirs.method) == (frame.service, frame.method)
    assert (theirs.payload, theirs.payload_type) == (frame.payload, frame.payload_type)
    assert decode(theirs.SerializeToString()) == frame


def test_events_arrive_whole_or_in_parts_and_again_after_an_error(feishu: FeishuServer) -> None:
    got: list[Any] = []
    ada = feishu.user("Ada")
    taking = handler().register_p2_im_message_receive_v1(got.append).build()
    with Listening(feishu, taking):
        feishu.wait_for_blocking(lambda: feishu.connections[0].pings)
        for parts, text in ((1, "hello"), (3, "x" * 500)):
            feishu.split_payloads(parts)
            said = ada.say(text)
            feishu.wait_for_blocking(lambda said=said: said.delivery.settled)  # type: ignore[misc]
            assert json.loads(got[-1].event.message.content) == {"text": text}
        unknown = feishu.push_event("im.unknown_v1", {"a": 1})
        feishu.wait_for_blocking(lambda: unknown.acks)
        assert (unknown.acks[0].code, unknown.settled) == (500, False)
        feishu.pass_time(15)
        feishu.wait_for_blocking(lambda: len(unknown.acks) == 2)
        feishu.drop_connections()
        feishu.wait_request_blocking("connect", count=2)
        feishu.wait_connected_blocking()
        asked = feishu.group("g", ada).say(ada, "@Tutor why?")
        feishu.wait_for_blocking(lambda: len(got) == 3)
        assert got[-1].event.message.mentions[0].id.open_id == feishu.bot.open_id
        feishu.redeliver(asked, fresh_event=True)
        feishu.wait_for_blocking(lambda: len(got) == 4)


def test_a_busy_endpoint_and_a_refused_handshake_are_tried_again(feishu: FeishuServer) -> None:
    with Listening(feishu, handler().build()):
        feishu.refuse_endpoint(1)
        feishu.refuse_connect(514, "later", 1)
        feishu.drop_connections()
        feishu.wait_request_blocking("endpoint", count=4)
        feishu.wait_connected_blocking()


@pytest.mark.parametrize("code", [1000040351, 514, 1000040350])
def test_what_will_never_work_is_final(feishu: FeishuServer, code: int) -> None:
    feishu.wrong_domain = code == 1000040351
    if code == 1000040350:
        feishu.refuse_connect(514, "too many", code)
    secret = "bad" if code == 514 else feishu.app_secret
    loop = long_connection.loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    made = lark.ws.Client(feishu.app_id, secret, event_handler=None, domain=feishu.url)
    with pytest.raises(long_connection.ClientException):
        made.start()
    made._cache._cron.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    asyncio.set_event_loop(None)


async def test_a_press_is_answered_with_a_toast_and_a_card(
    feishu: FeishuServer, client: Any
) -> None:
    presses: list[Any] = []

    def answer(press: Any) -> Any:
        presses.append(press)
        changed = {"tag": "markdown", "content": "changed"}
        card = {"schema": "2.0", "body": {"elements": [changed]}}
        toast = {"type": "success", "content": "done"}
        return P2CardActionTriggerResponse({"toast": toast, "card": {"type": "raw", "data": card}})

    ada = feishu.user("Ada")
    button = {
        "tag": "button",
        "text": {"tag": "plain_text", "content": "Good"},
        "behaviors": [{"type": "callback", "value": {"g": 3}}],
    }
    card = {"schema": "2.0", "body": {"elements": [button]}}
    good(await client.im.v1.message.acreate(message(ada.open_id, "interactive", card)))
    (shown,) = ada.private.from_bot

    def pressed() -> Any:
        with Listening(feishu, handler().register_p2_card_action_trigger(answer).build()):
            return ada.private.press(shown, "Good").wait_answered_blocking()

    press = await asyncio.to_thread(pressed)
    assert (press.error, press.card_shown) == (None, True)
    assert press.toast == {"type": "success", "content": "done"}
    assert ada.private.now(shown).text == "changed"
    assert presses[0].event.action.value == {"g": 3}
    assert presses[0].event.operator.open_id == ada.open_id


# --- the interfaces ------------------------------------------------------------------------------


async def test_messages_are_sent_answered_and_edited(feishu: FeishuServer, client: Any) -> None:
    said = feishu.user("Ada").say("hi")
    body = ReplyMessageRequestBody.builder().content('{"text":"yo"}').msg_type("text")
    body = body.uuid("u1").reply_in_thread(True).build()
    request = ReplyMessageRequest.builder().message_id(said.message_id).request_body(body).build()
    data = good(await client.im.v1.message.areply(request))
    assert data.thread_id.startswith("omt")
    assert data.root_id == said.message_id
    (shown,) = said.chat.from_bot
    edit = UpdateMessageRequestBody.builder().content('{"text":"yo2"}').msg_type("text").build()
    update = UpdateMessageRequest.builder().message_id(shown.message_id).request_body(edit).build()
    good(await client.im.v1.message.aupdate(update))
    assert said.chat.now(shown).text == "yo2"


async def test_files_go_up_and_come_down(feishu: FeishuServer, client: Any) -> None:
    ada = feishu.user("Ada")
    picture, notes = io.BytesIO(PNG), io.BytesIO(b"data")
    picture.name, notes.name = "a.png", "a.pdf"
    image = CreateImageRequestBody.builder().image_type("message").image(picture).build()
    up = await client.im.v1.image.acreate(CreateImageRequest.builder().request_body(image).build())
    there = message(ada.private.chat_id, "image", {"image_key": good(up).image_key}, by="chat_id")
    good(await client.im.v1.message.acreate(there))
    file = CreateFileRequestBody.builder().file_type("pdf").file_name("a.pdf").file(notes).build()
    good(await client.im.v1.file.acreate(CreateFileRequest.builder().request_body(file).build()))
    sent = ada.private.send_image(ada, PNG)
    down = GetMessageResourceRequest.builder().message_id(sent.message_id)
    down = down.file_key(sent.content["image_key"]).type("image").build()
    got = await client.im.v1.message_resource.aget(down)
    assert got.success(), (got.code, got.msg)
    assert got.file.read() == PNG


async def test_a_reaction_comes_and_goes(feishu: FeishuServer, client: Any) -> None:
    said = feishu.user("Ada").say("hi")
    kind = Emoji.builder().emoji_type("Typing").build()
    body = CreateMessageReactionRequestBody.builder().reaction_type(kind).build()
    create = CreateMessageReactionRequest.builder().message_id(said.message_id).request_body(body)
    data = good(await client.im.v1.message_reaction.acreate(create.build()))
    assert said.chat.now(said).emojis == ["Typing"]
    delete = DeleteMessageReactionRequest.builder().message_id(said.message_id)
    delete = delete.reaction_id(data.reaction_id).build()
    good(await client.im.v1.message_reaction.adelete(delete))
    assert said.chat.now(said).emojis == []


async def test_people_and_the_bot_are_known(feishu: FeishuServer, client: Any) -> None:
    ada = feishu.user("Ada")
    info = lark.BaseRequest.builder().http_method(lark.HttpMethod.GET).uri("/open-apis/bot/v3/info")
    answer = await client.arequest(info.token_types({lark.AccessTokenType.TENANT}).build())
    assert json.loads(answer.raw.content)["bot"]["open_id"] == feishu.bot.open_id
    one = GetUserRequest.builder().user_id(ada.open_id).user_id_type("open_id").build()
    assert good(await client.contact.v3.user.aget(one)).user.name == "Ada"
    some = BatchUserRequest.builder().user_ids([ada.open_id, "ou_x"]).build()
    assert len(good(await client.contact.v3.user.abatch(some)).items) == 1


async def test_a_worthless_token_is_refused_once(feishu: FeishuServer, client: Any) -> None:
    one = GetUserRequest.builder().user_id(feishu.user("Ada").open_id).build()
    feishu.invalidate_tokens()
    refused = await client.contact.v3.user.aget(one)
    assert (refused.code, refused.raw.status_code) == (99991663, 400)
    TokenManager.cache.set(f"self_tenant_token:{feishu.app_id}", "", 0)
    await asyncio.to_thread(TokenManager.get_self_tenant_token, client.config)
    good(await client.contact.v3.user.aget(one))


async def test_a_card_streams_and_ends(feishu: FeishuServer, client: Any) -> None:
    ada = feishu.user("Ada")
    element = {"tag": "markdown", "content": "", "element_id": "md"}
    card = {
        "schema": "2.0",
        "config": {"streaming_mode": True},
        "body": {"elements": [element]},
    }
    made = CreateCardRequestBody.builder().type("card_json").data(json.dumps(card)).build()
    create = CreateCardRequest.builder().request_body(made).build()
    card_id = good(await client.cardkit.v1.card.acreate(create)).card_id
    shows = {"type": "card", "data": {"card_id": card_id}}
    sent = good(await client.im.v1.message.acreate(message(ada.open_id, "interactive", shows)))
    asked = IdConvertCardRequestBody.builder().message_id(sent.message_id).build()
    convert = IdConvertCardRequest.builder().request_body(asked).build()
    assert good(await client.cardkit.v1.card.aid_convert(convert)).card_id == card_id

    async def write(text: str, sequence: int) -> Any:
        body = ContentCardElementRequestBody.builder().content(text).sequence(sequence).build()
        request = ContentCardElementRequest.builder().card_id(card_id).element_id("md")
        return await client.cardkit.v1.card_element.acontent(request.request_body(body).build())

    good(await write("abc", 1))
    assert (ada.private.from_bot[0].text, ada.private.from_bot[0].streaming) == ("abc", True)
    ended = SettingsCardRequestBody.builder().settings('{"config":{"streaming_mode":false}}')
    settings = SettingsCardRequest.builder().card_id(card_id)
    settings = settings.request_body(ended.sequence(2).build()).build()
    good(await client.cardkit.v1.card.asettings(settings))
    assert not ada.private.from_bot[0].streaming
    assert (await write("abc", 3)).code == 300309
