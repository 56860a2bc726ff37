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
    "name",
    [
        "gpt-4o",
        "gpt-4.1-mini",
        "gpt-5.2",
        "gpt-5-chat-latest",
        "o3",
        "o4-mini",
        "claude-3-5-sonnet-20241022",
        "anthropic/claude-opus-4-8",
        "gemini-2.5-flash",
        "models/gemini-3-pro",
        "qwen-vl-max",
        "qwen3-vl-plus",
        "qwen2.5vl:7b",
        "qwen3.6-plus",
        "qwen3-omni-flash",
        "kimi-k2.6",
        "kimi-k3",
        "moonshot-v1-8k-vision-preview",
        "glm-4v-plus",
        "glm-4.6v-flash",
        "mistral-large-latest",
        "mistral-small-2603",
        "pixtral-12b",
        "llama-4-scout",
        "meta-llama/Llama-4-Maverick",
        "llama3.2-vision:11b",
        "gemma3:12b",
        "google/gemma-3-27b-it",
        "gemma4:e4b",
        "llava:13b",
        "something-new",
    ],
)
def test_a_model_that_sees_is_shown_pictures(name: str) -> None:
    assert quirks_for(name).images


@pytest.mark.parametrize(
    "name",
    [
        "gpt-3.5-turbo",
        "o3-mini",
        "gpt-oss:20b",
        "deepseek-chat",
        "deepseek-ai/DeepSeek-V3.2",
        "deepseek-r1:8b",
        "qwen3:8b",
        "qwen-plus",
        "Qwen/Qwen3-32B",
        "qwen2.5-coder",
        "qwq:32b",
        "kimi-k2-0905-preview",
        "kimi-k2-thinking",
        "moonshot-v1-32k",
        "glm-4.7",
        "glm-5.2:cloud",
        "mistral:7b",
        "mistral-nemo",
        "codestral-latest",
        "llama3.1:8b",
        "llama3.2:3b",
        "llama-3.3-70b-versatile",
        "llama3",
        "gemma2:9b",
        "gemma3:1b",
        "gemma:2b",
        "phi4-mini",
    ],
)
def test_a_model_of_text_alone_is_not(name: str) -> None:
    assert not quirks_for(name).images


@pytest.mark.parametrize(
    ("name", "replays"),
    [
        ("deepseek-reasoner", True),
        ("kimi-k2-thinking", True),
        ("kimi-k2.5", True),
        ("glm-4.6", True),
        ("glm-4.5v", True),
        ("gpt-5", False),
        ("qwen3-max", False),
        ("claude-opus-4-8", False),
        ("magistral-medium", False),
    ],
)
def test_reasoning_is_given_back_to_those_that_want_it(name: str, replays: bool) -> None:
    assert quirks_for(name).replay_reasoning is replays


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        ("claude-opus-4-8", False),
        ("claude-sonnet-5", False),
        ("anthropic/claude-opus-4.7", False),
        ("claude-opus-4-6", True),
        ("claude-opus-4-1-20250805", True),
        ("claude-sonnet-4-20250514", True),
        ("claude-3-7-sonnet-latest", True),
        ("kimi-k2.5", False),
        ("kimi-k2-turbo-preview", True),
        ("gpt-5-chat-latest", True),
        ("gemini-2.5-pro", True),
    ],
)
def test_a_fixed_temperature_is_not_asked_for(name: str, takes: bool) -> None:
    assert quirks_for(name).temperature is takes


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("gpt-4.1", 1_047_576),
        ("gpt-4o-mini", 128_000),
        ("gpt-5-mini", 400_000),
        ("gpt-4", 8_192),
        ("o3", 200_000),
        ("claude-opus-4-8", 200_000),
        ("gemini-2.5-flash", 1_048_576),
        ("moonshot-v1-8k", 8_192),
        ("llama3:8b", 8_192),
        ("llama3.1:8b", None),
        ("mistral-large-latest", None),
    ],
)
def test_a_window_is_known_where_the_name_decides_it(name: str, window: int | None) -> None:
    assert quirks_for(name).window == window


@pytest.mark.parametrize(
    "message",
    [
        "Invalid content type. image_url is only supported by certain models.",
        "Failed to deserialize the JSON body into the target type: messages[7]: unknown variant "
        "`image_url`, expected `text` at line 1 column 114708",
        "this model does not support image input",
        "No endpoints found that support image input",
        "image input is not supported - hint: if this is unexpected, you may need to provide the "
        "mmproj",
        "mistralai/Mistral-7B is not a multimodal model",
        "At most 0 image(s) may be provided in one request.",
        "Model does not support images",
        "'messages.0' : messages.0.content must be a string",
    ],
)
def test_a_model_that_refuses_a_picture_gets_no_more(message: str) -> None:
    assert lesson(DEFAULT, None, message, pictures=True) == Quirks(images=False)
    assert lesson(Quirks(images=False), None, message, pictures=True) is None
    assert lesson(DEFAULT, None, message) is None


@pytest.mark.parametrize(
    "message", ["Could not process image", "You uploaded an unsupported image.", "Bad request"]
)
def test_a_picture_that_cannot_be_read_says_nothing_of_the_model(message: str) -> None:
    assert lesson(DEFAULT, None, message, pictures=True) is None


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
        (
            None,
            "'response_format.type' must be 'json_schema' or 'text'",
            Quirks(json_object=False),
        ),
        (None, "This response_format type is unavailable now", Quirks(json_object=False)),
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
    "response_format",
]


@given(st.lists(st.sampled_from(PARAMETERS), max_size=20))
def test_lessons_come_to_an_end(refused: list[str]) -> None:
    quirks, learned = DEFAULT, 0
    for parameter in refused:
        better = lesson(quirks, parameter, "Unsupported. Use max_completion_tokens instead.")
        if better is not None and better != quirks:
            quirks, learned = better, learned + 1
    assert learned <= 7


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


@pytest.mark.parametrize(
    "message",
    [
        "System message must be at the beginning.",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "Unexpected role 'system' after role 'user'",
        "Only one system message is allowed",
    ],
)
def test_a_template_that_wants_instructions_first_gets_them_first(message: str) -> None:
    assert lesson(DEFAULT, None, message) == Quirks(late_system=False)
    assert lesson(Quirks(late_system=False), None, message) is None


@pytest.mark.parametrize("message", ["The system is busy", "System error: one moment, please"])
def test_a_system_in_trouble_is_no_system_message(message: str) -> None:
    assert lesson(DEFAULT, None, message) is None


@pytest.mark.parametrize(
    ("name", "late"),
    [
        ("gpt-4o-mini", True),
        ("deepseek-chat", True),
        ("qwen3:8b", False),
        ("gemma3:12b", False),
        ("claude-opus-4-8", False),
        ("gemini-2.5-flash", False),
        ("mistral-large-latest", False),
    ],
)
def test_who_takes_instructions_late_is_known_by_name(name: str, late: bool) -> None:
    assert quirks_for(name).late_system is late
