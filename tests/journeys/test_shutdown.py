"""The end of a ``serve`` in good order, its lock, and the page that tells how it is."""

from __future__ import annotations

import json
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.scene import (
    SHOW_AGAIN,
    Scene,
    answer,
    answers,
    notices,
    scene,
    wait_until,
)
from tests.process import Installation
from tests.servers.faults import RecordedRequest, Stage
from tests.servers.telegram.people import Person
from tests.servers.telegram.shown import Shown

LONGEST_STOP = 5.0
"""Seconds from the signal to the end of the process."""


@pytest.fixture(scope="module")
def port() -> int:
    """A port nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Scene]:
    """One installation for all; every test brings learners of its own."""
    folder = tmp_path_factory.mktemp("stops")
    with scene(folder, PARTNERS_HEALTH_PORT=str(port)) as one:
        yield one


@pytest.fixture
def house(stage: Scene) -> Iterator[Scene]:
    """The running ``serve``; a failed test leaves the next one nothing behind."""
    stage.ready()
    yield stage
    stage.tidy()


def test_a_turn_under_way_is_finished_and_what_comes_meanwhile_is_kept(house: Scene) -> None:
    ada, ben = house.learner(), house.learner("Ben")
    model = house.hold_model()
    question = ada.say(house.question())
    model.wait_reached_blocking()
    house.begin_to_stop()
    meanwhile = [ada.say(house.question()), ben.say(house.question())]
    house.telegram.wait_for_blocking(lambda: not house.telegram.pending_updates)
    model.release()
    house.ended(LONGEST_STOP)
    assert len(answers(question)) == 1
    assert [answers(other) for other in meanwhile] == [[], []]

    house.start()
    for person in (ada, ben):
        house.settled(person)
    for said in (question, *meanwhile):
        assert_answered_once(house, said)


def test_what_hangs_is_put_back_and_the_stop_takes_no_longer(house: Scene) -> None:
    """A model that says nothing, a message without receipt, a pressed button that stays lit."""
    ada, ben, eve = (house.learner(name) for name in ("Ada", "Ben", "Eve"))
    eve.say("/persona")
    offered = eve.private.wait_message_blocking(lambda m: bool(m.labels))
    light = house.hold("answerCallbackQuery", stage=Stage.REQUEST)
    eve.private.press(offered, offered.labels[0])
    light.wait_reached_blocking()
    send = house.hold_send(ben.private)
    shown = ben.say(house.question())
    send.wait_reached_blocking()
    model = house.hold_model()
    question = ada.say(house.question())
    model.wait_reached_blocking()
    house.stop(within=LONGEST_STOP)

    house.start()
    for person in (ada, ben):
        house.settled(person)
    assert_answered_once(house, question)
    assert len(answers(shown)) == 1
    assert [notice.labels for notice in notices(shown)] == [[SHOW_AGAIN]]


def test_a_second_serve_in_the_same_data_folder_is_refused(house: Scene) -> None:
    refused = house.installation.run("serve")
    assert refused.returncode == 1
    assert "Another `partners serve` uses the data folder" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_taken_health_port_is_refused(house: Scene, tmp_path: Path, port: int) -> None:
    other = Installation(
        tmp_path, house.telegram, house.openai, PARTNERS_HEALTH_PORT=str(port)
    ).run("serve")
    assert other.returncode == 1
    assert f"Port {port} is taken by another program." in other.stderr
    assert "Traceback" not in other.stderr


def test_the_health_page_tells_of_the_platform_and_of_its_return(house: Scene, port: int) -> None:
    assert health(port) == (200, {"status": "ok", "channels": {"telegram": "ok"}})
    house.telegram.stop()
    wait_until(lambda: health(port)[0] == 503, "it believes to be well")
    told = health(port)[1]
    assert told["status"] == "trouble"
    assert "Telegram cannot be reached" in told["channels"]["telegram"]
    house.telegram.start()
    wait_until(lambda: health(port)[0] == 200, "it does not recover")
    ada = house.learner()
    question = ada.say(house.question())
    house.settled(ada)
    assert_answered_once(house, question)


def test_an_idle_serve_and_one_that_is_still_starting_stop_at_once(house: Scene) -> None:
    house.stop(signal.SIGINT, within=LONGEST_STOP)
    greeting = house.hold("getMe", stage=Stage.REQUEST)
    house.begin_to_start()
    greeting.wait_reached_blocking(30)
    house.stop(signal.SIGTERM, within=LONGEST_STOP)


def test_a_wait_for_flood_control_loses_nothing_and_costs_no_notice(tmp_path: Path) -> None:
    """Our own wait and one that the platform ordered; by a kill and by a stop."""
    with scene(tmp_path, toml="[channels.telegram]\nper_chat = 0.05\n") as house:
        ada, ben = house.learner(), house.learner("Ben")
        to_ben = _sends_to(ben)
        house.telegram.refuse(to_ben, 429, "Too Many Requests: retry after 8", retry_after=8)
        refused = ben.say(house.question())
        house.telegram.wait_for_blocking(
            lambda: [r for r in house.telegram.requests_of(to_ben) if r.status == 429]
        )
        said = [ada.say(house.question())]
        wait_answered(said[0])
        said += [ada.say(house.question()), refused]
        wait_written(house, said[1])
        assert (answers(said[1]), answers(said[2])) == ([], [])
        house.restart()
        for question in said[1:]:
            wait_answered(question)

        said += [ada.say(house.question())]
        wait_written(house, said[3])
        house.stop(within=LONGEST_STOP)
        assert answers(said[3]) == []
        house.start()
        wait_answered(said[3])
        for question in said:
            assert_answered_once(house, question)


def assert_answered_once(house: Scene, question: Shown) -> None:
    """One answer, no notice, and the journal tells it once."""
    assert len(answers(question)) == 1
    assert notices(question) == []
    assert house.journal(f"asked: {question.text}") == 1
    assert house.journal(f"answered: {answer(question)}") == 1


def _sends_to(person: Person) -> Callable[[RecordedRequest], bool]:
    return lambda r: r.name == "sendMessage" and str(r.json["chat_id"]) == str(person.id)


def wait_answered(question: Shown) -> None:
    """Wait until the chat shows the answer."""
    question.chat.wait_message_blocking(lambda m: m.text == answer(question))


def wait_written(house: Scene, question: Shown) -> None:
    """Wait until the answer is in the outbox: the journal comes after it."""
    wait_until(lambda: house.journal(f"answered: {answer(question)}"), "no answer is written")


def health(port: int) -> tuple[int, Any]:
    """Status and content of the health page."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as page:
            return page.status, json.load(page)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
