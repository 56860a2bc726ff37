"""What is sent to a model is legal and fits, whatever was stored (invariant 20)."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from core.llm.port import PICTURE_TOKENS, ChatMessage, Picture, ToolCall
from core.loop.history import (
    INTERRUPTED,
    estimate,
    estimate_messages,
    fitted,
    trim,
    well_formed,
)

CALL_IDS = st.sampled_from(["a", "b", "c"])
TEXTS = st.one_of(st.just(""), st.just(" \n"), st.text(max_size=12), st.just("数学" * 200))


def _calls(ids: list[str]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(call_id, "tool", "{}") for call_id in ids)


MESSAGES = st.one_of(
    st.builds(ChatMessage, st.just("user"), TEXTS),
    st.builds(ChatMessage, st.just("assistant"), TEXTS),
    st.builds(
        ChatMessage,
        st.just("assistant"),
        TEXTS,
        st.lists(CALL_IDS, min_size=1, max_size=3, unique=True).map(_calls),
    ),
    st.builds(ChatMessage, st.just("tool"), TEXTS, tool_call_id=st.one_of(CALL_IDS, st.none())),
)
HISTORIES = st.lists(MESSAGES, max_size=14).map(lambda m: [ChatMessage("system", "Teach."), *m])


def _faults(messages: Sequence[ChatMessage]) -> list[str]:
    """What a strict provider would refuse."""
    faults: list[str] = []
    open_calls: list[str] = []
    for message in messages:
        if message.role == "tool":
            if not open_calls or message.tool_call_id != open_calls.pop(0):
                faults.append("a result without its call")
            continue
        if open_calls:
            faults.append("a call without its result")
        open_calls = [call.id for call in message.tool_calls]
    if open_calls:
        faults.append("a call without its result")
    return faults


@given(HISTORIES)
def test_any_history_becomes_legal_and_keeps_the_last_user_message(
    history: list[ChatMessage],
) -> None:
    legal = well_formed(history)
    assert not _faults(legal)
    users = [m for m in history if m.role == "user"]
    if users:
        assert [m for m in legal if m.role == "user"][-1:] == users[-1:]
    assert well_formed(legal) == legal


@settings(max_examples=300)
@given(HISTORIES, st.integers(20, 2_000))
def test_a_trimmed_history_is_legal_fits_and_keeps_the_request(
    history: list[ChatMessage], limit: int
) -> None:
    cut = trim(history, limit)
    assert not _faults(cut)
    assert cut[0] == history[0]
    whole = well_formed(history)
    if estimate_messages(whole) <= limit:
        assert cut == whole
        return
    users = [m for m in whole if m.role == "user"]
    if users:
        assert cut[1].role == "user" or cut[1:] == whole[1:]
        last = [m for m in cut if m.role == "user"][-1]
        assert last.content[:1] == users[-1].content[:1] or last.content.startswith("\n[…]")


def test_forty_rounds_of_tools_never_push_out_the_question() -> None:
    history = [ChatMessage("system", "s"), ChatMessage("user", "old"), ChatMessage("user", "why?")]
    for number in range(40):
        history.append(ChatMessage("assistant", "", _calls([f"c{number}"])))
        history.append(ChatMessage("tool", "x" * 4_000, tool_call_id=f"c{number}"))
    cut = trim(history, 20_000)
    assert [m.content for m in cut if m.role == "user"] == ["old", "why?"]
    assert estimate_messages(cut) <= 20_000
    assert len(cut) == 83
    assert [m.content for m in trim(history, 8_000) if m.role == "user"] == ["why?"]
    assert estimate_messages(trim(history, 8_000)) <= 8_000


def test_a_call_that_never_returned_gets_a_result_that_says_so() -> None:
    legal = well_formed(
        [
            ChatMessage("user", "q"),
            ChatMessage("assistant", "", _calls(["a"])),
            ChatMessage("user", "?"),
        ]
    )
    assert legal[2] == ChatMessage("tool", INTERRUPTED, tool_call_id="a")


def test_a_window_that_starts_inside_a_round_loses_the_orphan() -> None:
    legal = well_formed([ChatMessage("tool", "r", tool_call_id="a"), ChatMessage("user", "q")])
    assert legal == (ChatMessage("user", "q"),)


def test_a_huge_message_keeps_its_beginning_and_its_end() -> None:
    cut = trim([ChatMessage("user", "start " + "x" * 100_000 + " end?")], 2_000)
    assert estimate_messages(cut) <= 2_000
    assert cut[0].content.startswith("start ") and cut[0].content.endswith(" end?")


@given(st.text(), st.integers(0, 300))
def test_fitted_text_is_within_its_limit(text: str, limit: int) -> None:
    assert estimate(fitted(text, limit)) <= max(limit, estimate("\n[…]\n"))


def test_a_picture_has_its_room_in_the_window() -> None:
    seen = ChatMessage("user", "Why?", images=(Picture("image/png", b""),))
    plain = estimate_messages([ChatMessage("user", "Why?")])
    assert estimate_messages([seen]) == plain + PICTURE_TOKENS


def test_the_request_of_a_turn_is_kept_with_all_that_came_after_it() -> None:
    own = [
        ChatMessage("assistant", "", (ToolCall("a", "x", "{}"),)),
        ChatMessage("tool", "r" * 9_000, tool_call_id="a"),
        ChatMessage("user", "in French"),
    ]
    old = [ChatMessage("user", "o" * 9_000), ChatMessage("assistant", "p" * 9_000)]
    kept = trim([*old, ChatMessage("user", "Why?"), *own], 1_000, turn=len(own))
    assert [m.role for m in kept] == ["user", "assistant", "tool", "user"]
    assert (kept[0].content, kept[-1].content) == ("Why?", "in French")
    assert estimate_messages(kept) <= 1_000


def test_instructions_stay_where_they_stand_when_exchanges_are_dropped() -> None:
    messages = [
        ChatMessage("system", "Teach."),
        ChatMessage("user", "old " * 400),
        ChatMessage("assistant", "older " * 400),
        ChatMessage("system", "It is noon."),
        ChatMessage("user", "new"),
    ]
    assert trim(messages, 100) == (messages[0], *messages[3:])


def called(call_id: str, result: str) -> list[ChatMessage]:
    return [
        ChatMessage("assistant", "", (ToolCall(call_id, "look", "{}"),)),
        ChatMessage("tool", result, tool_call_id=call_id),
    ]


def test_the_largest_result_is_cut_before_anything_that_was_said_is_dropped() -> None:
    talk = [ChatMessage("user", "old " * 100), ChatMessage("assistant", "older " * 100)]
    small, large = "few " * 500, "many " * 4_000
    messages = [*talk, ChatMessage("user", "now?"), *called("a", small), *called("b", large)]
    cut = trim(messages, 2_500, turn=4)
    assert estimate_messages(cut) <= 2_500
    assert cut[:5] == tuple(messages[:5]), "the talk and the smaller result are whole"
    assert "call the tool again, for less" in cut[6].content
    assert cut[6].content.startswith("many many") and cut[6].content.endswith("many ")


def test_when_every_result_is_short_the_oldest_exchange_goes() -> None:
    talk = [ChatMessage("user", "old " * 2_000), ChatMessage("assistant", "older " * 2_000)]
    messages = [*talk, ChatMessage("user", "now?"), *called("a", "many " * 4_000)]
    cut = trim(messages, 600, turn=2)
    assert cut[0].content == "now?"
    assert estimate(cut[2].content) <= 400
