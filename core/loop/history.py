"""Well-formed histories: what is sent to a model is always legal and always fits. Pure functions.

Providers refuse a request in which a tool result has no call, a call has no result, or no user
speaks; such a history, once stored, would break its conversation for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from core.llm.port import PICTURE_TOKENS, ChatMessage

INTERRUPTED: Final = "[no result: the call was interrupted]"
_CUT: Final = "\n[…]\n"
_CUT_RESULT: Final = (
    "\n[… cut for want of room; call the tool again, for less, if this matters …]\n"
)
_RESULT_FLOOR: Final = 400
"""Tokens below which a tool's result is not cut any further."""
_LEAST: Final = 20
"""Tokens below which nothing is cut."""
_OVERHEAD: Final = 4
"""Tokens that a message costs beside its text."""


def estimate(text: str) -> int:
    """Return about how many tokens a text has: four ASCII characters each, others one each.

    Only for what no provider has counted yet. It errs on the large side for most tokenizers.
    """
    plain = len(text.encode("ascii", "ignore"))
    return (plain + 3) // 4 + len(text) - plain


def estimate_message(message: ChatMessage) -> int:
    """Return about how many tokens a message has, its calls and pictures included."""
    calls = sum(estimate(call.name) + estimate(call.arguments) for call in message.tool_calls)
    pictures = PICTURE_TOKENS * len(message.images)
    return _OVERHEAD + estimate(message.content) + calls + pictures


def estimate_messages(messages: Iterable[ChatMessage]) -> int:
    """Return about how many tokens the messages have together."""
    return sum(map(estimate_message, messages))


def well_formed(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the messages as every provider takes them.

    Every call is followed by exactly one result, in the order of the calls, a missing one being
    replaced by a note; results without a call are dropped, as are messages that say nothing. The
    last message of the user is always kept. A legal history is returned unchanged.
    """
    last_user = max((i for i, m in enumerate(messages) if m.role == "user"), default=None)
    kept: list[ChatMessage] = []
    index = 0
    while index < len(messages):
        message = messages[index]
        index += 1
        if message.role == "tool":
            continue  # those that belong to a call are taken with it
        if not message.tool_calls:
            if message.content.strip() or index - 1 == last_user:
                kept.append(message)
            continue
        results: dict[str, ChatMessage] = {}
        while index < len(messages) and messages[index].role == "tool":
            result = messages[index]
            results.setdefault(result.tool_call_id or "", result)
            index += 1
        kept.append(message)
        for call in message.tool_calls:
            given = results.pop(call.id, None)
            kept.append(given or ChatMessage("tool", INTERRUPTED, tool_call_id=call.id))
    return tuple(kept)


def trim(messages: Sequence[ChatMessage], limit: int, *, turn: int = 0) -> tuple[ChatMessage, ...]:
    """Return a well-formed history of about ``limit`` tokens at most.

    The last ``turn`` messages belong to the turn under way; its request is the last message of the
    user before them. Kept for certain: the instructions (system messages, where they stand) and
    everything from the request on. The results of tools are cut first, the largest one first,
    since they can be had again. Then whole exchanges before the request are dropped, oldest first,
    so that the history begins with a user; then the user's messages are cut in their middle. Only
    instructions that are larger than ``limit`` themselves exceed it.
    """
    own = well_formed(messages[len(messages) - turn :]) if turn else ()
    whole = (*well_formed(messages[: len(messages) - turn]), *own)
    excess = estimate_messages(whole) - limit
    if excess <= 0:
        return whole
    kept = list(whole)
    results = [i for i, m in enumerate(kept) if m.role == "tool"]
    for index in sorted(results, key=lambda i: -estimate(kept[i].content)):
        excess -= _shorten(kept, index, excess, _RESULT_FLOOR, _CUT_RESULT)
    before = whole[: len(whole) - len(own)]
    last_user = max((i for i, m in enumerate(before) if m.role == "user"), default=0)
    dropped: set[int] = set()
    for index in (i for i, m in enumerate(before[:last_user]) if m.role != "system"):
        if excess <= 0 and (not dropped or whole[index].role == "user"):
            break
        dropped.add(index)
        excess -= estimate_message(kept[index])
    kept = [m for i, m in enumerate(kept) if i not in dropped]
    for role in ("tool", "user"):
        for index in [i for i, m in enumerate(kept) if m.role == role]:
            excess -= _shorten(kept, index, excess, _LEAST, _CUT)
    return tuple(kept)


def _shorten(kept: list[ChatMessage], index: int, excess: int, floor: int, mark: str) -> int:
    """Cut ``excess`` tokens out of the middle of a message; return how many went.

    What is no larger than ``floor`` stays.
    """
    before = kept[index]
    size = estimate(before.content)
    if excess <= 0 or size <= floor:
        return 0
    content = fitted(before.content, max(size - excess, floor), mark)
    kept[index] = replace(before, content=content)
    return size - estimate(content)


def fitted(text: str, limit: int, mark: str = _CUT) -> str:
    """Return ``text`` in about ``limit`` tokens at most: its beginning, ``mark`` and its end."""
    if estimate(text) <= limit:
        return text
    room = max(limit - estimate(mark), 0)
    # Characters of this text for each token, so that neither script is cut too short.
    share = len(text) / estimate(text)
    head, tail = int(room * share * 2 / 3), int(room * share / 3)
    while head + tail and estimate(text[:head]) + estimate(text[len(text) - tail :]) > room:
        head, tail = head * 9 // 10, tail * 9 // 10
    return text[:head] + mark + text[len(text) - tail :]
