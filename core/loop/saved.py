"""A turn written down between two rounds, so that it can go on after a restart or a question.

Plain values in and out; where they are kept is the caller's affair. The request itself is not part
of it: the caller builds that anew, and what the turn added to it follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from core.llm.port import ChatMessage, ToolCall, Usage

VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class RoundDone:
    """Where a turn stands: after a round, or before calls that change something are made."""

    history: tuple[ChatMessage, ...]
    """What the turn added to its request: calls, results, corrections. The last calls may lack
    results."""
    rounds: int
    """Model calls that were made."""
    tool_calls: int
    usage: Usage
    spent: float
    """Money, in the currency of the prices; 0 where no price is known."""
    spoken: str
    """What the learner was told already as part of the answer."""
    nonce: str
    """Mark of the results in ``history``."""
    started: tuple[str, ...] = ()
    """Ids of calls that were about to be made: without a result, they may have been."""

    def to_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return {
            "version": VERSION,
            "history": [_message_out(message) for message in self.history],
            "rounds": self.rounds,
            "tool_calls": self.tool_calls,
            "usage": [
                self.usage.prompt_tokens,
                self.usage.completion_tokens,
                self.usage.stand_in,
            ],
            "spent": self.spent,
            "spoken": self.spoken,
            "nonce": self.nonce,
            "started": list(self.started),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RoundDone:
        """Undo ``to_json``. Raises ValueError for what it did not write."""
        try:
            if data["version"] != VERSION:
                raise ValueError(f"a saved turn of version {data['version']!r}")
            prompt_tokens, completion_tokens, stand_in = data["usage"]
            if not isinstance(stand_in, str | None):
                raise ValueError("a saved turn whose stand-in has no name")
            return cls(
                history=tuple(_message_in(message) for message in data["history"]),
                rounds=int(data["rounds"]),
                tool_calls=int(data["tool_calls"]),
                usage=Usage(int(prompt_tokens), int(completion_tokens), stand_in),
                spent=float(data["spent"]),
                spoken=str(data["spoken"]),
                nonce=str(data["nonce"]),
                started=tuple(map(str, data["started"])),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a saved turn: {error!r}") from error


def _message_out(message: ChatMessage) -> dict[str, Any]:
    out: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        out["calls"] = [[call.id, call.name, call.arguments] for call in message.tool_calls]
    if message.tool_call_id is not None:
        out["call"] = message.tool_call_id
    if message.reasoning:
        out["reasoning"] = message.reasoning
    return out


def _message_in(data: Mapping[str, Any]) -> ChatMessage:
    role = data["role"]
    if role not in ("user", "assistant", "tool"):
        raise ValueError(f"a saved message of role {role!r}")
    calls = tuple(ToolCall(str(a), str(b), str(c)) for a, b, c in data.get("calls", ()))
    call = data.get("call")
    return ChatMessage(
        role,
        str(data["content"]),
        tool_calls=calls,
        tool_call_id=None if call is None else str(call),
        reasoning=str(data.get("reasoning", "")),
    )
