"""Frames of the long connection: what is written is read back, and what is broken is refused."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers.feishu.frames import Frame, decode

unsigned = st.integers(0, 2**64 - 1)
signed = st.integers(-(2**31), 2**31 - 1)
texts = st.text(max_size=20)
frames = st.builds(
    Frame,
    method=signed,
    headers=st.dictionaries(texts, texts, max_size=4),
    payload=st.binary(max_size=200),
    service=signed,
    seq_id=unsigned,
    log_id=unsigned,
    payload_encoding=texts,
    payload_type=texts,
    log_id_new=texts,
)


@given(frames)
def test_a_frame_is_read_as_it_was_written(frame: Frame) -> None:
    assert decode(frame.encode()) == frame


def test_a_ping_has_the_bytes_of_the_platforms_own_definition() -> None:
    # SeqID 0, LogID 0, service 33554678, method 0, headers {type: ping}
    expected = bytes.fromhex("0800 1000 18f6818010 2000 2a0c 0a0474797065 120470696e67")
    assert Frame(0, {"type": "ping"}, service=33554678).encode() == expected


def test_an_unknown_field_is_passed_over() -> None:
    frame = Frame(1, {"type": "event"}, b"{}")
    extra = bytes.fromhex("5001 5a03616263 610102030405060708 6d01020304")
    assert decode(frame.encode() + extra) == frame


@given(frames, st.data())
def test_a_frame_cut_off_anywhere_never_reads_as_the_whole(
    frame: Frame, data: st.DataObject
) -> None:
    whole = frame.encode()
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    with contextlib.suppress(ValueError):
        assert decode(cut) != frame


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("", "missing"),
        ("0800 1000 1800", r"missing: \[4\]"),
        ("0800 1000 1800 2001 2a05 0a0474", "cut off"),
        ("0800 1000 1800 2001 2a06 0a0474797065", "key or value"),
        ("0a0130 1000 1800 2001", "number belongs"),
        ("0800 1000 1800 2001 4001", "bytes belong"),
        ("0b", "wire type 3"),
        ("08ffffffffffffffffffff01", "ten bytes"),
    ],
)
def test_a_broken_frame_is_refused(broken: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        decode(bytes.fromhex(broken))
