"""The labelled protocol: for models without tool calls, each step opens with a label.

The labels and the tools are explained at the end of the instructions; calls and results of the
turn are written out as text. Speakers alternate strictly, as the templates of such models want.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from core.llm.port import ChatMessage, Completed, ToolCall, ToolSpec
from core.loop.gates import ANSWER_NOW
from core.loop.history import well_formed
from core.loop.labels import (
    RESULTS,
    Does,
    Label,
    LabelReader,
    Vocabulary,
    openers,
)
from core.loop.protocol import UNLABELLED, Kind, Reader, Step, readable
from core.loop.scrub import Scrubber

CONTINUE: Final = "Go on with the next step."
"""Said to a model that has spoken and goes on."""
_NAME: Final = re.compile(r"[`*]*([A-Za-z0-9_.-]{1,64})[`*]*[ \t]*[:(]?[ \t]*")
_FENCE: Final = re.compile(r"```[a-z]*\n?(.*?)(?:```|\Z)", re.DOTALL)


class Labelled:
    """``mark`` begins the results of this turn (``Dispatcher.mark``).

    ``specs`` are the tools as they are when a request is made; none means that nothing is called.
    """

    early = True

    def __init__(self, vocabulary: Vocabulary, mark: str) -> None:
        self._vocabulary = vocabulary
        self._mark = mark
        self._specs: tuple[ToolSpec, ...] = ()

    @property
    def stop(self) -> tuple[str, ...]:
        """Where a result would begin."""
        return tuple(f"\n{name}{end}" for name in RESULTS for end in (":", " of"))

    def messages(
        self, prompt: Sequence[ChatMessage], own: Sequence[ChatMessage], *, closing: bool
    ) -> tuple[ChatMessage, ...]:
        """Return the history as text under labels, after the rules."""
        written = [self._written(message, earlier=True) for message in well_formed(prompt)]
        names = {call.id: call.name for message in own for call in message.tool_calls}
        for message in well_formed(own):
            written.append(self._written(message, names=names))
        rules = self._rules()
        if written and written[0].role == "system":
            written[0] = replace(written[0], content=f"{written[0].content}\n\n{rules}")
        else:
            written.insert(0, ChatMessage("system", rules))
        if closing:
            order = f"{ANSWER_NOW} Begin with {self._vocabulary.end.name}:"
            written.append(ChatMessage("user", order))
        return _alternating(written)

    def tools(self, specs: tuple[ToolSpec, ...], *, closing: bool) -> tuple[ToolSpec, ...]:
        """Note the tools, which are part of the text; nothing is sent beside it.

        They stay there for the closing answer, so that the beginning of the prompt stays the same.
        """
        self._specs = specs
        return ()

    def reader(self, *, closing: bool) -> Reader:
        """Return a reader; in the closing answer no label is needed, and nothing is a call.

        Nor is it where no tool was offered.
        """
        idle = closing or not self._specs
        labels: dict[str, Label | None] = {}
        for label in self._vocabulary.labels:
            if idle and label.does & Does.CALL:
                label = replace(label, does=Does.NOTHING)
            labels.update(dict.fromkeys(openers(label.name), label))
        for name in RESULTS:
            labels.update(dict.fromkeys((*openers(name), f"{name} of "), None))
        labels[self._mark] = None
        starts = [opener for opener in labels if not opener.endswith("\n")]
        return Reader(Scrubber(starts), LabelReader(labels, UNLABELLED if closing else None))

    def step(self, reader: Reader, end: Completed, *, closing: bool) -> Step:
        """Return what the labels say. Calls come first: an answer after them was a guess."""
        segments = [s for s in reader.labels.segments if s.text]
        calls = [_call(s.text) for s in segments if s.label and s.label.does & Does.CALL]
        spoken = readable(reader.labels.spoken, self._mark)
        if calls:
            thoughts = [s.text for s in segments if s.label and not s.label.does & Does.CALL]
            said = readable("\n".join(thoughts), self._mark)
            return Step(Kind.CALLS, spoken, tuple(calls), said)
        last = next((s.label for s in segments if s.label and s.label.last), None)
        if spoken and (closing or last is not None):
            asked = last is not None and bool(last.does & Does.ASK)
            return Step(Kind.ANSWER, spoken, asked=asked)
        if spoken:
            return Step(Kind.GOES_ON, spoken)
        loose = readable("\n".join(s.text for s in segments if s.label is None), self._mark)
        thought = any(s.label and not s.label.does for s in segments)
        if loose or thought:
            return Step(Kind.VIOLATION, "" if thought else loose)
        return Step(Kind.SILENCE)

    def reminder(self) -> str:
        """Return what a model is told that kept to no label."""
        names = [label.name for label in self._labels()]
        listed = ", ".join(f"{name}:" for name in names)
        return (
            f"That did not end in a step I can read. Write it again so that each step begins with "
            f"its label ({listed}). An answer to the learner goes after "
            f"{self._vocabulary.end.name}:"
        )

    def spoke(self, text: str) -> ChatMessage:
        """Return the model's own words of a step that spoke and goes on."""
        label = next((one for one in self._vocabulary.labels if one.does == Does.SPEAK), None)
        return ChatMessage("assistant", f"{label.name}: {text}" if label else text)

    def _labels(self) -> tuple[Label, ...]:
        """The labels that are of use now."""
        return tuple(
            label for label in self._vocabulary.labels if self._specs or not label.does & Does.CALL
        )

    def _rules(self) -> str:
        lines = ["You work in steps. Each begins with one of these labels, at the start of a line:"]
        lines += [f"{label.name}: {label.hint}" for label in self._labels()]
        call = self._vocabulary.call
        if not self._specs or call is None:
            return "\n".join(lines)
        lines += [
            f"After {call.name} (one or more) stop: the results come in the next message, marked "
            f"{RESULTS[0]}. Never write {RESULTS[0]} yourself; you do not know it before.",
            "The tools, each with the JSON schema of its arguments:",
        ]
        for spec in self._specs:
            schema = json.dumps(spec.parameters, ensure_ascii=False)
            lines.append(f"- {spec.name}: {spec.description} {schema}")
        return "\n".join(lines)

    def _written(
        self,
        message: ChatMessage,
        *,
        earlier: bool = False,
        names: dict[str, str] | None = None,
    ) -> ChatMessage:
        """Return a message as this protocol says it."""
        if message.role == "tool":
            name = (names or {}).get(message.tool_call_id or "", "the call")
            return ChatMessage("user", f"{RESULTS[0]} of {name}:\n{message.content}")
        if message.role != "assistant":
            return message
        call, thought = self._vocabulary.call, self._vocabulary.thought
        if not message.tool_calls:
            if not earlier:
                return ChatMessage("assistant", message.content)
            return ChatMessage("assistant", f"{self._vocabulary.end.name}: {message.content}")
        lines: list[str] = []
        if message.content.strip():
            lines.append(f"{thought.name}: {message.content}" if thought else message.content)
        label = call.name if call else "TOOL"
        lines += [f"{label}: {one.name} {one.arguments}" for one in message.tool_calls]
        return ChatMessage("assistant", "\n".join(lines))


def reads_as_answer(text: str) -> bool:
    """Whether words without a label can be taken as the answer: prose, not a call gone wrong."""
    plain = text.strip()
    fenced = _FENCE.fullmatch(plain)
    inside = (fenced[1] if fenced else plain).lstrip()
    return len(plain) > 1 and not inside.startswith(("{", "[{"))


def _call(body: str) -> ToolCall:
    """Read a call, however the model has written it. What cannot be read stays as it is."""
    fenced = _FENCE.search(body)
    before = body[: fenced.start()].strip() if fenced else ""
    text = (f"{before} {fenced[1]}" if fenced else body).strip()
    if text.startswith("{"):
        value = _object(text)
        if value is not None:
            name = next((value[key] for key in ("name", "tool", "function") if key in value), "")
            keys = ("arguments", "args", "parameters", "input", "action_input")
            given = next((value[key] for key in keys if key in value), {})
            written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
            return ToolCall("", str(name), written)
        return ToolCall("", "", text)
    found = _NAME.match(text)
    if found is None:
        return ToolCall("", "", text)
    rest = text[found.end() :]
    opened = found[0].rstrip().endswith("(")
    value = _object(rest)
    if value is not None:
        return ToolCall("", found[1], json.dumps(value, ensure_ascii=False))
    rest = rest.strip()
    return ToolCall("", found[1], rest.removesuffix(")").rstrip() if opened else rest)


def _object(text: str) -> dict[str, object] | None:
    """The JSON object at the beginning of a text, whatever follows it."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _alternating(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Join what one side says in a row."""
    joined: list[ChatMessage] = []
    for message in messages:
        role: Literal["system", "user", "assistant", "tool"] = message.role
        if joined and joined[-1].role == role and role != "system":
            text = f"{joined[-1].content}\n\n{message.content}"
            images = (*joined[-1].images, *message.images)
            joined[-1] = replace(joined[-1], content=text, images=images)
        else:
            joined.append(message)
    return tuple(joined)
