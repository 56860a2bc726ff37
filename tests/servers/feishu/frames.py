"""The frames of the long connection: one protobuf message, read and written by hand.

The message (proto2) is ``Frame`` of the platform's pbbp2 definition: 1 SeqID, 2 LogID, 3 service,
4 method (all required), 5 headers (repeated ``{1 key, 2 value}``), 6 payload_encoding,
7 payload_type, 8 payload, 9 LogIDNew. Empty optional fields are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

CONTROL = 0
"""Method of pings and pongs."""
DATA = 1
"""Method of events and their acknowledgements."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame; header names are unique in practice, so they are a dict here."""

    method: int
    headers: dict[str, str] = field(default_factory=dict)
    payload: bytes = b""
    service: int = 0
    seq_id: int = 0
    log_id: int = 0
    payload_encoding: str = ""
    payload_type: str = ""
    log_id_new: str = ""

    def encode(self) -> bytes:
        """Return the frame as it goes over the wire."""
        parts = [
            _key(1, _VARINT) + _varint(self.seq_id),
            _key(2, _VARINT) + _varint(self.log_id),
            _key(3, _VARINT) + _varint(self.service),
            _key(4, _VARINT) + _varint(self.method),
        ]
        parts += [
            _field(5, _field(1, name.encode()) + _field(2, value.encode()))
            for name, value in self.headers.items()
        ]
        for number, value in (
            (6, self.payload_encoding.encode()),
            (7, self.payload_type.encode()),
            (8, self.payload),
            (9, self.log_id_new.encode()),
        ):
            if value:
                parts.append(_field(number, value))
        return b"".join(parts)


def decode(data: bytes) -> Frame:
    """Read a frame; ValueError when it is cut off, of a wrong type or lacks a required field."""
    numbers: dict[int, int] = {}
    texts: dict[int, bytes] = {}
    headers: dict[str, str] = {}
    for number, value in _fields(data):
        if number <= 4:
            numbers[number] = _as_int(value)
        elif number == 5:
            pair = {key: _as_bytes(part) for key, part in _fields(_as_bytes(value))}
            if 1 not in pair or 2 not in pair:
                raise ValueError("a header without key or value")
            headers[pair[1].decode()] = pair[2].decode()
        elif number <= 9:
            texts[number] = _as_bytes(value)
    if missing := {1, 2, 3, 4} - numbers.keys():
        raise ValueError(f"required fields are missing: {sorted(missing)}")
    return Frame(
        method=_int32(numbers[4]),
        headers=headers,
        payload=texts.get(8, b""),
        service=_int32(numbers[3]),
        seq_id=numbers[1],
        log_id=numbers[2],
        payload_encoding=texts.get(6, b"").decode(),
        payload_type=texts.get(7, b"").decode(),
        log_id_new=texts.get(9, b"").decode(),
    )


def _varint(value: int) -> bytes:
    # Negative numbers are written as 64-bit two's complement.
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _key(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _field(number: int, value: bytes) -> bytes:
    return _key(number, _BYTES) + _varint(len(value)) + value


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield number and value of each field; fixed-width ones, which no field has, as bytes."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _read_varint(data, at)
            yield number, value
            continue
        if kind == _BYTES:
            length, at = _read_varint(data, at)
        elif kind in (_FIXED64, _FIXED32):
            length = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"wire type {kind}")
        if at + length > len(data):
            raise ValueError("the frame is cut off")
        yield number, data[at : at + length]
        at += length


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise ValueError("the frame is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
    raise ValueError("a number of more than ten bytes")


def _as_int(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise ValueError("bytes where a number belongs")
    return value


def _as_bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError("a number where bytes belong")
    return value


def _int32(value: int) -> int:
    value &= 0xFFFF_FFFF
    return value - (1 << 32) if value >> 31 else value
