"""The checks a Chat Completions request goes through, with the API's own error shape.

A request that this server takes is one that the real endpoint takes; where providers differ, the
stricter one is followed.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from tests.servers.openai.replies import error_object

ROLES = ("system", "assistant", "user", "function", "tool", "developer")
KNOWN = frozenset(
    {
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "messages",
        "metadata",
        "modalities",
        "model",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_retention",
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "user",
        "verbosity",
        "web_search_options",
    }
)
"""Parameters of the endpoint; any other is refused, as misspelt ones are."""
MAX_TOOLS = 128
MAX_STOPS = 4
_FUNCTION = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MAX_IMAGE = 5 * 1024 * 1024
"""Bytes of a picture, the least that any large provider takes (Anthropic)."""
_DATA_URL = re.compile(r"data:(image/(?:png|jpeg));base64,([A-Za-z0-9+/=]+)")
_MAGIC = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_PARTS = {
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
}
_RANGES = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2),
}
_LEAST_ONE = ("max_tokens", "max_completion_tokens", "n")

Json = dict[str, Any]


class Invalid(Exception):
    """A request the API does not take."""

    def __init__(
        self, message: str, param: str | None = None, code: str | None = None, status: int = 400
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": error_object(message, "invalid_request_error", code, param)}


def validate(request: Json) -> None:
    """Raise Invalid for a request that the API refuses."""
    if not isinstance(request.get("model"), str) or not request["model"]:
        raise Invalid("you must provide a model parameter")
    for name in request:
        if name not in KNOWN:
            raise Invalid(f"Unrecognized request argument supplied: {name}")
    _numbers(request)
    _stops(request.get("stop"))
    _tools(request)
    if request.get("stream_options") is not None and not request.get("stream"):
        raise Invalid(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            "stream_options",
        )
    _messages(request.get("messages"))
    _format(request.get("response_format"), request["messages"])


def _numbers(request: Json) -> None:
    for name, (low, high) in _RANGES.items():
        value = request.get(name)
        if value is None:
            continue
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise Invalid(f"Invalid type for '{name}': expected a decimal.", name, "invalid_type")
        if value > high:
            raise Invalid(
                f"Invalid '{name}': decimal above maximum value. "
                f"Expected a value <= {high}, but got {value} instead.",
                name,
                "decimal_above_max_value",
            )
        if value < low:
            raise Invalid(
                f"Invalid '{name}': decimal below minimum value. "
                f"Expected a value >= {low}, but got {value} instead.",
                name,
                "decimal_below_min_value",
            )
    for name in _LEAST_ONE:
        value = request.get(name)
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool):
            raise Invalid(f"Invalid type for '{name}': expected an integer.", name, "invalid_type")
        if value < 1:
            raise Invalid(
                f"Invalid '{name}': integer below minimum value. "
                f"Expected a value >= 1, but got {value} instead.",
                name,
                "integer_below_min_value",
            )
    if request.get("max_tokens") is not None and request.get("max_completion_tokens") is not None:
        raise Invalid(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            "max_tokens",
            "invalid_parameter_combination",
        )


def _format(wanted: object, messages: list[Json]) -> None:
    """An object is only answered where the messages say so: else models write blanks for ever."""
    if wanted is None:
        return
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if kind not in ("text", "json_object", "json_schema"):
        raise Invalid(
            f"Invalid value: {kind!r}. Supported values are: 'json_object', 'json_schema', and "
            "'text'.",
            "response_format.type",
            "invalid_value",
        )
    if kind == "json_object" and "json" not in json.dumps(messages).lower():
        raise Invalid(
            "'messages' must contain the word 'json' in some form, to use 'response_format' of "
            "type 'json_object'.",
            "messages",
        )


def _stops(stop: object) -> None:
    if isinstance(stop, list) and len(stop) > MAX_STOPS:
        raise Invalid(
            f"Invalid 'stop': array too long. Expected an array with maximum length {MAX_STOPS}, "
            f"but got an array with length {len(stop)} instead.",
            "stop",
            "array_above_max_length",
        )


def _empty(name: str) -> Invalid:
    return Invalid(
        f"Invalid '{name}': empty array. Expected an array with minimum length 1, "
        "but got an empty array instead.",
        name,
        "empty_array",
    )


def _tools(request: Json) -> None:
    tools = request.get("tools")
    if tools is None:
        for name in ("tool_choice", "parallel_tool_calls"):
            if request.get(name) is not None:
                raise Invalid(
                    f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are "
                    "specified.",
                    name,
                )
        return
    if not isinstance(tools, list):
        raise Invalid("Invalid type for 'tools': expected an array.", "tools", "invalid_type")
    if not tools:
        raise _empty("tools")
    if len(tools) > MAX_TOOLS:
        raise Invalid(
            f"Invalid 'tools': array too long. Expected an array with maximum length {MAX_TOOLS}, "
            f"but got an array with length {len(tools)} instead.",
            "tools",
            "array_above_max_length",
        )
    for i, tool in enumerate(tools):
        _tool(i, tool)
    _tool_choice(request.get("tool_choice"), [tool["function"]["name"] for tool in tools])


def _tool(i: int, tool: object) -> None:
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(tool, dict) or tool.get("type") != "function":
        raise Invalid(
            f"Invalid value for 'tools[{i}].type': expected 'function'.",
            f"tools[{i}].type",
            "invalid_value",
        )
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise Invalid(
            f"Missing required parameter: 'tools[{i}].function.name'.",
            f"tools[{i}].function.name",
            "missing_required_parameter",
        )
    if not _FUNCTION.fullmatch(function["name"]):
        raise Invalid(
            f"Invalid 'tools[{i}].function.name': string does not match pattern. "
            "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
            f"tools[{i}].function.name",
            "invalid_value",
        )
    parameters = function.get("parameters")
    if parameters is not None and (
        not isinstance(parameters, dict) or (parameters and parameters.get("type") != "object")
    ):
        raise Invalid(
            f"Invalid schema for function '{function['name']}': schema must be a JSON Schema of "
            "'type: \"object\"'.",
            f"tools[{i}].function.parameters",
            "invalid_function_parameters",
        )


def _tool_choice(choice: object, names: list[str]) -> None:
    if choice is None or choice in ("none", "auto", "required"):
        return
    function = choice.get("function") if isinstance(choice, dict) else None
    if not isinstance(function, dict) or function.get("name") not in names:
        raise Invalid(
            "Invalid value for 'tool_choice': no function with that name in 'tools'.",
            "tool_choice",
            "invalid_value",
        )


def _messages(messages: object) -> None:
    if messages is None:
        raise Invalid(
            "Missing required parameter: 'messages'.", "messages", "missing_required_parameter"
        )
    if not isinstance(messages, list):
        raise Invalid("Invalid type for 'messages': expected an array.", "messages", "invalid_type")
    if not messages:
        raise _empty("messages")
    open_calls: list[str] = []
    for i, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ROLES:
            raise Invalid(
                f"Invalid value: {role!r}. Supported values are: "
                + ", ".join(f"'{name}'" for name in ROLES)
                + ".",
                f"messages[{i}].role",
                "invalid_value",
            )
        if role == "tool":
            _tool_result(i, message, open_calls)
            continue
        _all_answered(open_calls)
        open_calls = _tool_calls(i, message) if role == "assistant" else []
        _content(i, role, message)
    _all_answered(open_calls)


def _tool_result(i: int, message: Json, open_calls: list[str]) -> None:
    call_id = message.get("tool_call_id")
    if not isinstance(call_id, str):
        raise Invalid(
            f"Missing required parameter: 'messages[{i}].tool_call_id'.",
            f"messages[{i}].tool_call_id",
            "missing_required_parameter",
        )
    if call_id not in open_calls:
        raise Invalid(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding "
            "message with 'tool_calls'.",
            f"messages.[{i}].role",
        )
    open_calls.remove(call_id)
    _content(i, "tool", message)


def _all_answered(open_calls: list[str]) -> None:
    if open_calls:
        raise Invalid(
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            "to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            + ", ".join(open_calls),
            "messages",
        )


def _tool_calls(i: int, message: Json) -> list[str]:
    calls = message.get("tool_calls")
    if calls is None:
        return []
    where = f"messages[{i}].tool_calls"
    if not isinstance(calls, list) or not calls:
        raise _empty(where)
    ids: list[str] = []
    for k, call in enumerate(calls):
        function = call.get("function") if isinstance(call, dict) else None
        legal = (
            isinstance(function, dict)
            and isinstance(call.get("id"), str)
            and call.get("type") == "function"
            and isinstance(function.get("name"), str)
            and _FUNCTION.fullmatch(function["name"])
            and isinstance(function.get("arguments"), str)
        )
        if not legal:
            raise Invalid(f"Invalid '{where}[{k}]'.", f"{where}[{k}]", "invalid_value")
        if call["id"] in ids:
            raise Invalid(f"Duplicate value for 'tool_call_id' of '{call['id']}'", where)
        ids.append(call["id"])
    return ids


def _content(i: int, role: str, message: Json) -> None:
    content = message.get("content")
    where = f"messages.[{i}].content"
    if isinstance(content, str):
        return
    if content is None:
        if role == "assistant" and (message.get("tool_calls") or message.get("refusal")):
            return
        raise Invalid("Invalid value for 'content': expected a string, got null.", where)
    if not isinstance(content, list):
        raise Invalid("Invalid type for 'content': expected a string or an array.", where)
    if not content:
        raise _empty(where)
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in _PARTS.get(role, {"text"}):
            raise Invalid(f"Invalid value for 'content': part of type {kind!r}.", where)
        if kind == "text" and not isinstance(part.get("text"), str):
            raise Invalid("Invalid value for 'content': a text part without text.", where)
        if kind == "image_url":
            _picture(part.get("image_url"), f"{where}.[{content.index(part)}].image_url")


def _picture(image: object, where: str) -> None:
    """Take what every provider takes: a data URL with a JPEG or PNG that is one."""
    url = image.get("url") if isinstance(image, dict) else None
    if not isinstance(url, str):
        raise Invalid(f"Missing required parameter: '{where}.url'.", where)
    found = _DATA_URL.fullmatch(url)
    if found is None:
        raise Invalid(f"Invalid '{where}.url'. Expected a valid URL, but got another value.", where)
    try:
        data = base64.b64decode(found[2], validate=True)
    except ValueError:
        raise Invalid("Invalid base64 image_url.", where) from None
    if not data.startswith(_MAGIC[found[1]]):
        raise Invalid(
            "You uploaded an unsupported image. Please make sure your image has of one the "
            "following formats: ['png', 'jpeg', 'gif', 'webp'].",
            where,
            "invalid_image_format",
        )
    if len(data) > MAX_IMAGE:
        raise Invalid("image exceeds 5 MB maximum", where)
