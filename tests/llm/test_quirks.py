"""What a model's name and its refusals teach."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.quirks import DEFAULT, Quirks, exceeded, lesson, quirks_for, window_in


@pytest.mark.parametrize(
    ("name", "limit", "temperature"),
    [
        ("gpt-5-mini", "max_completion_tokens", False),
        ("openai/o3", "max_completion_tokens", False),
        ("o4-mini", "max_completion_tokens", False),
        ("GPT-4o-mini", "max_tokens", True),
        ("qwen3:8b", "max_tokens", True),
        ("moonshot-v1-o2", "max_tokens", True),
    ],
)
def test_a_family_is_known_by_name(name: str, limit: str, temperature: bool) -> None:
    quirks = quirks_for(name)
    assert (quirks.max_tokens, quirks.temperature) == (limit, temperature)


@pytest.mark.parametrize(
    ("parameter", "message", "learned"),
    [
        (
            None,
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            Quirks(max_tokens="max_completion_tokens", temperature=False, stop=False),
        ),
        ("max_tokens", "max_tokens is too large: 8000. At most 4096.", Quirks(max_tokens=None)),
        (
            "temperature",
            "Unsupported value: 'temperature' does not support 0.2 with this model. "
            "Only the default (1) value is supported.",
            Quirks(temperature=False),
        ),
        (None, "Extra inputs are not permitted: stream_options", Quirks(stream_usage=False)),
        (None, "registry/gemma:2b does not support tools", Quirks(tools=False)),
        ("stop", "Unsupported parameter: 'stop' is not supported.", Quirks(stop=False)),
        (None, "This model does not support parameters: 'stop'", Quirks(stop=False)),
        (None, "Unknown problem, please stop", None),
        (None, "Invalid message content", None),
        (None, "Your temperature reading is nice", None),
    ],
)
def test_a_refusal_teaches_what_to_leave_out(
    parameter: str | None, message: str, learned: Quirks | None
) -> None:
    assert lesson(DEFAULT, parameter, message) == learned


PARAMETERS = [
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "stream_options",
    "tools",
    "stop",
]


@given(st.lists(st.sampled_from(PARAMETERS), max_size=20))
def test_lessons_come_to_an_end(refused: list[str]) -> None:
    quirks, learned = DEFAULT, 0
    for parameter in refused:
        better = lesson(quirks, parameter, "Unsupported. Use max_completion_tokens instead.")
        if better is not None and better != quirks:
            quirks, learned = better, learned + 1
    assert learned <= 6


@pytest.mark.parametrize(
    ("message", "window"),
    [
        ("This model's maximum context length is 16385 tokens. However, ...", 16385),
        ("request (4031 tokens) exceeds the available context size (4096 tokens), try", 4096),
        ("prompt is too long: 210000 tokens > 200000 maximum", None),
    ],
)
def test_a_request_that_is_too_large_is_recognised(message: str, window: int | None) -> None:
    assert exceeded(message)
    assert window_in(message) == window
