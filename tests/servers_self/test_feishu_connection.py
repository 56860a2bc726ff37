"""The long connection: who may open it, who gets an event, and when it comes again."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import aiohttp
import pytest

from tests.servers.feishu import FeishuServer
from tests.servers.feishu.frames import DATA, Frame
from tests.servers_self.feishu_callers import OpenApi


async def test_the_address_comes_with_the_clients_configuration(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    answer = await platform.endpoint()
    assert answer["code"] == 0
    assert set(answer["data"]["ClientConfig"]) == {
        "ReconnectCount",
        "ReconnectInterval",
        "ReconnectNonce",
        "PingInterval",
    }
    assert answer["data"]["URL"].startswith("ws://127.0.0.1")


@pytest.mark.parametrize("wrong", [{"AppID": "cli_other"}, {"AppSecret": "guessed"}])
async def test_a_wrong_app_or_secret_gets_no_address(
    platform: OpenApi, wrong: dict[str, str]
) -> None:
    answer = await platform.endpoint(**wrong)
    assert answer["code"] == 514
    assert "URL" not in answer["data"]


async def test_the_other_domain_is_noticed_here_only(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    feishu.wrong_domain = True
    assert (await platform.endpoint())["code"] == 1000040351
    assert await platform.fetch_token() > 600


@pytest.mark.parametrize("code", [1, 1000040343])
async def test_the_address_can_be_refused_for_a_while(
    feishu: FeishuServer, platform: OpenApi, code: int
) -> None:
    feishu.refuse_endpoint(code, times=2)
    assert [(await platform.endpoint())["code"] for _ in range(3)] == [code, code, 0]


async def refused_handshake(platform: OpenApi, address: str) -> dict[str, str]:
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        await platform.session.ws_connect(address)
    headers = caught.value.headers
    assert headers is not None
    names = ("handshake-status", "handshake-autherrcode")
    return {name: headers[name] for name in names if name in headers}


async def test_an_address_is_good_for_one_connection(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    address = (await platform.endpoint())["data"]["URL"]
    async with platform.session.ws_connect(address):
        refusal = await refused_handshake(platform, address)
    assert refusal == {"handshake-status": "514", "handshake-autherrcode": "1000040346"}


async def test_an_app_has_at_most_fifty_connections(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(50):
            await stack.enter_async_context(platform.connected())
        address = (await platform.endpoint())["data"]["URL"]
        refusal = await refused_handshake(platform, address)
    assert refusal == {"handshake-status": "514", "handshake-autherrcode": "1000040350"}


async def test_a_handshake_can_be_refused(feishu: FeishuServer, platform: OpenApi) -> None:
    feishu.refuse_connect(514, "too many", 1000040350)
    address = (await platform.endpoint())["data"]["URL"]
    refusal = await refused_handshake(platform, address)
    assert refusal == {"handshake-status": "514", "handshake-autherrcode": "1000040350"}
    async with platform.connected():
        assert len(feishu.connections) == 1


async def test_a_ping_is_answered_with_the_configuration(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    feishu.state.gateway.config["PingInterval"] = 7
    async with platform.connected() as line:
        assert (await line.ping())["PingInterval"] == 7
        assert feishu.connections[0].pings == 1


async def test_an_event_is_acknowledged_once_and_for_all(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    async with platform.connected() as line:
        said = ada.say("hello")
        body = await line.accept()
        delivery = await feishu.wait_settled(said)
        feishu.pass_time(30_000)
        assert (await line.ping())["PingInterval"]
    assert body["header"]["event_type"] == "im.message.receive_v1"
    assert body["header"]["app_id"] == feishu.app_id
    assert delivery.accepted and len(delivery.attempts) == 1
    assert [(ack.code, ack.late, ack.event_id) for ack in feishu.acks] == [
        (200, False, body["header"]["event_id"])
    ]


@pytest.mark.parametrize("code", [500, 403])
async def test_an_event_refused_by_the_client_comes_again_after_15_seconds(
    feishu: FeishuServer, platform: OpenApi, code: int
) -> None:
    ada = feishu.user("Ada")
    async with platform.connected() as line:
        said = ada.say("hello")
        first, frame = await line.event()
        await line.acknowledge(frame, code)
        await feishu.wait_acks(said)
        feishu.pass_time(14.9)
        assert (await line.ping())["PingInterval"], "nothing came before"
        feishu.pass_time(0.1)
        assert await line.accept() == first
        delivery = await feishu.wait_settled(said)
    assert [ack.code for ack in delivery.acks] == [code, 200]


async def test_an_event_without_an_answer_for_3_seconds_comes_again(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    async with platform.connected() as line:
        said = ada.say("hello")
        first, slow = await line.event()
        feishu.pass_time(3.1)
        delivery = said.delivery
        assert delivery is not None
        await feishu.wait_for(lambda: delivery.send_at)
        # Too late: the platform has given this attempt up.
        await line.acknowledge(slow)
        acks = await feishu.wait_acks(said)
        assert acks[0].late and not delivery.settled
        feishu.pass_time(15)
        assert await line.accept() == first
        await feishu.wait_settled(said)


async def test_an_event_is_given_up_after_seven_hours(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    async with platform.connected() as line:
        said = ada.say("hello")
        for tried, wait in enumerate((15, 300, 3600, 21600), start=1):
            _, frame = await line.event()
            await line.acknowledge(frame, 500)
            await feishu.wait_acks(said, tried)
            feishu.pass_time(wait)
        _, frame = await line.event()
        await line.acknowledge(frame, 500)
        delivery = await feishu.wait_settled(said)
    assert delivery.given_up and len(delivery.attempts) == 5


async def test_an_event_that_finds_nobody_waits_for_its_next_turn(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    said = ada.say("hello")
    delivery = said.delivery
    assert delivery is not None
    await feishu.wait_for(lambda: delivery.attempts)
    assert delivery.attempts[0].connection is None
    async with platform.connected() as line:
        feishu.pass_time(15)
        assert (await line.accept())["event"]["message"]["message_id"] == said.message_id


async def test_a_cut_connection_loses_no_event(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    async with platform.connected() as line:
        said = ada.say("hello")
        await line.event()
        feishu.drop_connections()
        message = await line.socket.receive()
        assert message.type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)
    await feishu.wait_for(lambda: not feishu.connections)
    feishu.pass_time(3.1)
    delivery = said.delivery
    assert delivery is not None
    await feishu.wait_for(lambda: delivery.send_at)
    async with platform.connected() as line:
        feishu.pass_time(15)
        assert (await line.accept())["event"]["message"]["message_id"] == said.message_id


async def test_a_connection_can_be_closed_with_a_word(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    async with platform.connected() as line:
        await asyncio.to_thread(feishu.drop_connections, politely=True)
        message = await line.socket.receive()
        assert (message.type, message.data) == (aiohttp.WSMsgType.CLOSE, 1001)


async def test_one_of_several_connections_gets_an_event(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    async with platform.connected() as one, platform.connected() as other:
        said = [ada.say(str(number)) for number in range(12)]
        got: dict[object, list[str]] = {one: [], other: []}

        async def read(line: object) -> None:
            while True:
                body = await line.accept()  # type: ignore[attr-defined]
                got[line].append(body["event"]["message"]["message_id"])

        readers = [asyncio.create_task(read(line)) for line in (one, other)]
        for message in said:
            await feishu.wait_settled(message)
        for reader in readers:
            reader.cancel()
    assert got[one] and got[other]
    assert sorted(got[one] + got[other]) == sorted(message.message_id for message in said)


async def test_a_payload_may_come_in_parts(feishu: FeishuServer, platform: OpenApi) -> None:
    feishu.split_payloads(3)
    ada = feishu.user("Ada")
    async with platform.connected() as line:
        said = ada.say("分三段" * 50)
        body, frame = await line.event()
        assert (frame.headers["sum"], frame.headers["seq"]) == ("3", "2")
        assert body["event"]["message"]["message_id"] == said.message_id
        await line.acknowledge(frame)
        assert (await feishu.wait_settled(said)).accepted


@pytest.mark.parametrize("fresh_event", [False, True])
@pytest.mark.parametrize("fresh_frame", [False, True])
async def test_an_event_may_come_twice_under_old_or_new_ids(
    feishu: FeishuServer, platform: OpenApi, fresh_event: bool, fresh_frame: bool
) -> None:
    ada = feishu.user("Ada")
    async with platform.connected() as line:
        said = ada.say("hello")
        first, before = await line.event()
        await line.acknowledge(before)
        feishu.redeliver(said, fresh_event=fresh_event, fresh_frame=fresh_frame)
        again, after = await line.event()
        await line.acknowledge(after)
    assert again["event"] == first["event"]
    assert (again["header"]["event_id"] != first["header"]["event_id"]) is fresh_event
    assert (after.headers["message_id"] != before.headers["message_id"]) is fresh_frame


async def test_a_message_may_come_under_another_id(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    async with platform.connected() as line:
        said = ada.say("hello")
        first = await line.accept()
        feishu.redeliver(said, fresh_message=True)
        again = await line.accept()
    told, anew = first["event"]["message"], again["event"]["message"]
    assert anew["message_id"] != told["message_id"]
    assert {**anew, "message_id": told["message_id"]} == told


async def test_no_two_messages_have_the_same_moment(feishu: FeishuServer) -> None:
    ada = feishu.user("Ada")
    moments = [ada.say("hello").created for _ in range(20)]
    assert len(set(moments)) == 20


async def test_an_answer_that_is_no_answer_counts_as_a_failure(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    async with platform.connected() as line:
        said = ada.say("hello")
        _, frame = await line.event()
        await line.send(Frame(DATA, frame.headers, b"what?"))
        acks = await feishu.wait_acks(said)
    assert acks[0].malformed and acks[0].code == 0
    assert said.delivery is not None and not said.delivery.accepted


async def test_a_malformed_frame_ends_the_connection(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    async with platform.connected() as line:
        await line.socket.send_bytes(b"\x0b")
        message = await line.socket.receive()
        assert (message.type, message.data) == (aiohttp.WSMsgType.CLOSE, 1002)


async def test_events_nobody_subscribed_to_stay_away_unless_pushed(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    feishu.state.subscribed.discard("im.message.message_read_v1")
    async with platform.connected() as line:
        ada.private.read(ada)
        feishu.push_event("brand.new_v9", {"thing": 1})
        assert (await line.accept())["header"]["event_type"] == "brand.new_v9"


async def test_a_server_started_again_delivers_again(platform: OpenApi) -> None:
    server = platform.server
    ada = server.user("Ada")
    async with platform.connected():
        await asyncio.to_thread(server.stop)
    assert not server.connections
    server.start()
    async with platform.connected() as line:
        said = ada.say("hello")
        assert (await line.accept())["event"]["message"]["message_id"] == said.message_id
