"""What is kept of a learner is theirs: to look back on, to take back, to have."""

from __future__ import annotations

import io
import json
import zipfile

from tests.house.home import Home
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer


async def test_notes_are_listed_taken_back_and_brought_again(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    assert "Nothing has been written" in (await home.tell(ada, "/memory log")).text
    assert "Nothing has been written" in (await home.tell(ada, "/memory undo")).text
    await home.tell(ada, "/remember I like cats")
    await home.tell(ada, "/remember My exam is in May")
    log = (await home.tell(ada, "/memory log")).text
    assert log.count("a note of yours") == 2
    assert "Taken back" in (await home.tell(ada, "/memory undo")).text
    shown = (await home.tell(ada, "/memory")).text
    assert "I like cats" in shown and "exam" not in shown
    await home.tell(ada, "/memory undo")
    assert "exam" in (await home.tell(ada, "/memory")).text
    assert "no such change" in (await home.tell(ada, "/memory undo 999")).text
    assert "/memory undo NUMBER" in (await home.tell(ada, "/memory undo cats")).text


async def test_what_a_person_changed_since_is_left(home: Home, telegram: TelegramServer) -> None:
    ada = telegram.user(7, "Ada")
    await home.tell(ada, "/remember I like cats")
    folder = await home.memory_of(ada)
    [file] = list(folder.path.glob("profile/*.md"))
    file.write_text(file.read_text("utf-8").replace("cats", "cats and dogs"), "utf-8")
    assert "changed again since" in (await home.tell(ada, "/memory undo")).text
    assert "cats and dogs" in (await home.tell(ada, "/memory")).text


async def test_a_group_hears_nothing_of_it(home: Home, telegram: TelegramServer) -> None:
    ada, group = telegram.user(7, "Ada"), telegram.group("Club")
    await home.tell(ada, "/remember I like cats")
    for command in ("/memory log", "/export"):
        name, _, rest = command.partition(" ")
        [answer] = await home.ask(group, ada, f"{name}@tutor_bot {rest}".strip())
        assert "between you and me" in answer.text


async def test_everything_is_handed_over_in_one_archive(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, eve = telegram.user(7, "Ada"), telegram.user(8, "Eve")
    openai.default = Reply("Because.")
    await home.tell(eve, "/remember zebra7")
    await home.tell(ada, "/remember I like cats")
    await home.tell(ada, "/add 7×8 :: 56")
    await home.tell(ada, "why is that so?")
    messages = await home.ask(ada.private, ada, "/export")
    assert "Everything I keep of you" in messages[0].text
    file = messages[-1].extra["document"]
    assert file["file_name"] == "partners-export.zip"
    data = telegram.state.files[file["file_id"]].data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    whole = "\n".join(texts.values())
    assert "README.txt" in texts and json.loads(texts["settings.json"])["accounts"]
    for kept in ("I like cats", "7×8", "why is that so?", "Because."):
        assert kept in whole, kept
    assert "zebra7" not in whole
