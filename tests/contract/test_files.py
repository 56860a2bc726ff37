"""What every channel promises of files, pictures, speech, and of what is said in pieces."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from io import BytesIO
from typing import Any

from PIL import Image

from tests.contract.conftest import MakeHome
from tests.contract.home import StageHome
from tests.contract.stage import AnyRemote, AnyStage
from tests.house.home import hanging, spoken
from tests.servers.faults import RecordedRequest
from tests.servers.openai import OpenAIServer, Reply

NOTES = b"The zebra7 theorem: every zebra has seven stripes."


async def test_a_file_is_read_and_its_words_reach_the_model_as_data(
    home: StageHome, stage: AnyStage, openai: OpenAIServer
) -> None:
    ada = stage.person()
    openai.default = Reply("Seven.")
    await stage.hand_over(stage.private(ada), ada, "notes.txt", NOTES, "how many stripes?")
    await home.quiet()
    asked = home.prompts[-1]
    last = spoken(asked)[-1][1]
    assert "how many stripes?" in last
    assert "zebra7 theorem" in json.dumps(asked.json)
    assert "Seven." in stage.shown(stage.private(ada))[-1].text


async def test_the_pictures_of_an_album_are_one_question(
    home: StageHome, remote: AnyRemote, openai: OpenAIServer
) -> None:
    ada = remote.person()
    openai.default = Reply("A square and a circle.")
    pictures = [_picture(color) for color in ("red", "green", "blue")]
    await remote.album(remote.private(ada), ada, pictures, "what are these?")
    await home.quiet()
    [answer] = remote.shown(remote.private(ada))
    assert answer.text == "A square and a circle."
    assert len(home.prompts) == 1
    assert len(_images(home.prompts[0])) == 3


async def test_speech_without_an_ear_is_answered_politely(
    home: StageHome, remote: AnyRemote
) -> None:
    ada = remote.person()
    await remote.record(remote.private(ada), ada, b"OggS")
    await home.quiet()
    [answer] = remote.shown(remote.private(ada))
    assert "listen" in answer.text or "hear" in answer.text
    assert home.prompts == []


async def test_a_file_goes_out_after_the_words(home: StageHome, stage: AnyStage) -> None:
    ada = stage.person()
    place = stage.private(ada)
    await home.ask(place, ada, "/remember I like zebra7")
    words, *files = await home.ask(place, ada, "/memory file")
    assert "Your memory, as it is kept" in words.text
    [profile] = files
    assert profile.file is not None
    name, data = profile.file
    assert name == "profile.md"
    assert b"I like zebra7" in data


async def test_a_file_of_a_group_is_read_when_the_tutor_is_meant(
    home: StageHome, remote: AnyRemote
) -> None:
    ada, ben = remote.person("Ada"), remote.person("Ben")
    group = remote.group(ada, ben)
    await remote.hand_over(group, ada, "notes.txt", NOTES, "to all of you")
    await home.quiet()
    assert home.prompts == []
    await remote.hand_over(group, ada, "notes.txt", NOTES, "how many?", mention=True)
    await home.quiet()
    assert "zebra7 theorem" in json.dumps(home.prompts[-1].json)


async def test_what_is_said_in_a_row_is_answered_as_one(
    make_home: MakeHome, stage: AnyStage, openai: OpenAIServer
) -> None:
    home = await make_home(join_within=timedelta(seconds=60))
    ada = stage.person()
    place = stage.private(ada)
    reply, gate = hanging()
    openai.script(reply, Reply("To both."))
    await stage.say(place, ada, "one?")
    await gate.wait_reached()
    await stage.say(place, ada, "two?")
    await stage.say(place, ada, "three?")
    await stage.taken()
    await asyncio.sleep(0)
    gate.release()
    await home.quiet()
    assert [message.text.strip() for message in stage.shown(place)] == ["late answer", "To both."]
    assert spoken(home.prompts[1])[-1] == ("user", "two?\nthree?")


def _picture(color: str) -> bytes:
    data = BytesIO()
    Image.new("RGB", (8, 8), color).save(data, "PNG")
    return data.getvalue()


def _images(request: RecordedRequest) -> list[Any]:
    content = request.json["messages"][-1]["content"]
    return [one for one in content if isinstance(one, dict) and one.get("type") == "image_url"]
