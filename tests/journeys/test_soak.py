"""All platforms at once, under everything that goes wrong on the way: nothing lost, nothing twice.

``PARTNERS_SOAK_SECONDS`` makes it longer: 3600 is an hour. A failure names the seed of its run.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.contract.discord import DiscordStage
from tests.contract.feishu import FeishuStage
from tests.contract.stage import AnyRemote
from tests.contract.telegram import TelegramStage
from tests.journeys.scene import NOTICE, answer_of_the_model, mark
from tests.process import Installation
from tests.servers.faults import RecordedRequest, Stage
from tests.servers.openai import OpenAIServer

SECONDS = float(os.environ.get("PARTNERS_SOAK_SECONDS", "8"))
SEED = int(os.environ.get("PARTNERS_SOAK_SEED", "20261201"))
GIVEN_UP_AFTER = 60.0
"""Seconds without anything new, after which what is missing is lost."""
TOML = """
[conversation]
join_seconds = 0
[channels.telegram]
limits = false
[channels.feishu]
limits = false
"""

Mischief = Callable[[], object]


@dataclass
class World:
    """One platform: its places with who speaks there, what was asked, what can go wrong."""

    stage: AnyRemote
    environment: Mapping[str, str]
    mischief: tuple[Mischief, ...]
    places: list[tuple[Any, Any, bool]] = field(default_factory=list)
    """(place, person, a mention is needed)."""
    asked: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    """By the mark of each question: its place and its message."""

    def settle_down(self) -> None:
        """Fill it with people."""
        people = [self.stage.person(name) for name in ("Ada", "Ben", "Eve")]
        self.places += [(self.stage.private(person), person, False) for person in people]
        group, thread = self.stage.group(*people), self.stage.thread(*people)
        self.places += [(group, person, True) for person in people]
        self.places += [(thread, person, True) for person in people]

    def answers(self) -> Counter[str]:
        """How often each question was answered."""
        places = {id(place): place for place, _, _ in self.places}
        told: Counter[str] = Counter()
        for place in places.values():
            for seen in self.stage.shown(place):
                told.update(set(re.findall(r"\bThink of (Q\d+)\b", seen.text)))
        return told

    def notices(self) -> Counter[object]:
        """How often it was said, below each message, that its answer may not have arrived."""
        places = {id(place): place for place, _, _ in self.places}
        return Counter(
            seen.quotes
            for place in places.values()
            for seen in self.stage.shown(place)
            if seen.text.startswith(NOTICE)
        )


def telegram(chance: random.Random) -> World:
    stage = TelegramStage()
    stage.open()
    server = stage.server
    environment = {"TELEGRAM_BOT_TOKEN": server.token, "TELEGRAM_API_BASE": server.url}
    return World(
        stage,
        environment,
        (
            lambda: server.drop("getUpdates", stage=Stage.ANSWER),
            lambda: server.fail("getUpdates", 502, "<html>Bad Gateway</html>"),
            lambda: server.refuse("sendMessage", 429, "Too Many Requests", retry_after=1),
            lambda: server.drop("sendMessage", stage=chance.choice((Stage.REQUEST, Stage.ANSWER))),
            lambda: server.delay("sendMessage", chance.random()),
            lambda: server.fail("sendMessage", 502, "<html>Bad Gateway</html>"),
        ),
    )


def discord(chance: random.Random) -> World:
    stage = DiscordStage()
    stage.open()
    server = stage.server
    environment = {
        "DISCORD_BOT_TOKEN": server.token,
        "DISCORD_API_BASE": server.api_url,
        "DISCORD_GATEWAY_URL": server.gateway_url,
    }
    return World(
        stage,
        environment,
        (
            server.drop_connections,
            server.reconnect_request,
            lambda: server.invalidate(resumable=True),
            lambda: server.drop(
                "createMessage", stage=chance.choice((Stage.REQUEST, Stage.ANSWER))
            ),
            lambda: server.fail("createMessage", 503, "upstream connect error"),
            lambda: server.delay("createMessage", chance.random()),
        ),
    )


def feishu(chance: random.Random) -> World:
    stage = FeishuStage()
    stage.open()
    server = stage.server
    environment = {
        "FEISHU_APP_ID": server.app_id,
        "FEISHU_APP_SECRET": server.app_secret,
        "FEISHU_DOMAIN": server.url,
    }
    send = "im.v1.message.reply"
    return World(
        stage,
        environment,
        (
            server.drop_connections,
            lambda: server.drop_connections(politely=True),
            server.invalidate_tokens,
            lambda: server.split_payloads(chance.randint(1, 3)),
            lambda: server.refuse(send, 99991400),
            lambda: server.drop(send, stage=chance.choice((Stage.REQUEST, Stage.ANSWER))),
            lambda: server.delay(send, chance.random()),
        ),
    )


@pytest.fixture
def worlds() -> Iterator[tuple[random.Random, list[World]]]:
    chance = random.Random(SEED)
    opened = [make(chance) for make in (telegram, discord, feishu)]
    yield chance, opened
    for world in opened:
        world.stage.close()


async def test_mixed_traffic_loses_nothing_and_doubles_nothing(
    tmp_path: Path, openai: OpenAIServer, worlds: tuple[random.Random, list[World]]
) -> None:
    chance, opened = worlds
    (tmp_path / "partners.toml").write_text(TOML, encoding="utf-8")
    openai.default = answer_of_the_model
    environment: dict[str, str] = {"PARTNERS_ACCESS": "open"}
    for world in opened:
        world.settle_down()
        environment |= world.environment
    serving = Installation(tmp_path, None, openai, **environment).serve()
    try:
        for world in opened:
            await world.stage.reached()
        await _traffic(chance, opened, openai)
        for world in opened:
            world.stage.server.clear_faults()
        openai.clear_faults()
        await _quiet(opened)
        for world in opened:
            _judge(world)
        assert "Traceback" not in serving.log
    finally:
        serving.kill()


async def _traffic(chance: random.Random, opened: list[World], openai: OpenAIServer) -> None:
    """Ask at every moment, repeat what was told, and let something break every half second."""
    number = 0
    end, break_at = time.monotonic() + SECONDS, time.monotonic()
    while time.monotonic() < end:
        number += 1
        world = chance.choice(opened)
        place, person, mention = chance.choice(world.places)
        question = f"Q{number}: why is that so?"
        message = await world.stage.say(place, person, question, mention=mention)
        world.asked[mark(question)] = (place, message)
        if chance.random() < 0.1:
            _, earlier = chance.choice(list(world.asked.values()))
            await world.stage.again(earlier)
        if time.monotonic() >= break_at:
            break_at += 0.5
            if chance.random() < 0.2:
                openai.fail("chat.completions", 500, '{"error": {"message": "overloaded"}}')
            else:
                await asyncio.to_thread(chance.choice(chance.choice(opened).mischief))
        await asyncio.sleep(chance.random() * 0.2)


async def _quiet(opened: list[World]) -> None:
    """Wait until every question has its answer or its notice, as long as anything new comes."""
    seen, still_since = -1, time.monotonic()
    while time.monotonic() < still_since + GIVEN_UP_AFTER:
        if not any(_missing(world) for world in opened):
            return
        so_far = sum(world.answers().total() for world in opened)
        if so_far != seen:
            seen, still_since = so_far, time.monotonic()
        for world in opened:
            if isinstance(world.stage, FeishuStage):
                world.stage.server.pass_time(1.0)  # what was not acknowledged comes again
        await asyncio.sleep(0.1)


def _missing(world: World) -> list[str]:
    told, offered = world.answers(), world.notices()
    return [
        asked
        for asked, (_, message) in world.asked.items()
        if not told[asked] and not offered[message.message_id]
    ]


def _judge(world: World) -> None:
    """Every question has one answer, or none and one notice; no answer came unasked."""
    name = type(world.stage).__name__
    told, offered = world.answers(), world.notices()
    assert world.asked, f"{name}: nothing was asked"
    assert _missing(world) == [], f"{name}, seed {SEED}: lost"
    assert [asked for asked, count in told.items() if count > 1] == [], f"{name}, seed {SEED}"
    assert set(told) <= set(world.asked), name
    for asked, (_, message) in world.asked.items():
        heard = [notice for notice in _notices_below(world, message) if notice.status == 200]
        assert len(heard) <= 1, f"{name}, seed {SEED}: {asked}: a notice with a receipt came again"
        assert offered[message.message_id] <= len(_notices_below(world, message)), asked


def _notices_below(world: World, message: Any) -> list[RecordedRequest]:
    """The calls that said below a message that its answer may not have arrived."""

    def matches(request: RecordedRequest) -> bool:
        below = request.json.get("reply_parameters") or {}
        said = str(request.json.get("text", "")).startswith(NOTICE)
        return said and below.get("message_id") == message.message_id

    return world.stage.server.requests_of(matches)
