"""Files: what the bot uploads, and what it downloads from messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from aiohttp import web

from tests.servers.feishu.call import Call, ok
from tests.servers.feishu.errors import Refusal
from tests.servers.feishu.limits import FILE_BYTES, IMAGE_BYTES
from tests.servers.feishu.messages import holds

if TYPE_CHECKING:
    from tests.servers.feishu.state import State
    from tests.servers.multipart import Part

FILE_TYPES = frozenset({"opus", "mp4", "pdf", "doc", "xls", "ppt", "stream"})
_IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"BM", b"RIFF", b"II*\x00", b"MM\x00*")
"""How the files of the image formats begin that the platform takes."""


def upload_image(state: State, call: Call) -> dict[str, Any]:
    """Take a picture of at most 10 MB."""
    if call.field("image_type") not in ("message", "avatar"):
        raise _bad("image_type")
    data = _data(call.part("image"), "image", IMAGE_BYTES)
    if not data.startswith(_IMAGES):
        raise Refusal(234011, "Can't recognize the image format.")
    return ok({"image_key": state.add_file(data, "image", "image", from_bot=True).key})


def upload_file(state: State, call: Call) -> dict[str, Any]:
    """Take a file of at most 30 MB."""
    kind, name = call.field("file_type"), call.field("file_name")
    if kind not in FILE_TYPES:
        raise _bad("file_type")
    if not name:
        raise _bad("file_name")
    data = _data(call.part("file"), "file", FILE_BYTES)
    return ok({"file_key": state.add_file(data, name, kind, from_bot=True).key})


def download(state: State, call: Call) -> web.Response:
    """Hand out a file that stands in a message of a chat the bot is in."""
    message = state.find_message(call.path["message_id"])
    kind = call.query.get("type")
    if message is None or kind not in ("image", "file"):
        raise _bad("message_id or type")
    if not message.chat.bot_is_member:
        raise Refusal(234009, "The bot is not in the chat.")
    if message.recalled:
        raise Refusal(234043, "Unsupported message type.")
    file = state.files.get(call.path["file_key"])
    if file is None or not holds(message, file.key):
        raise Refusal(234003, "File not in msg.")
    if (file.kind == "image") != (kind == "image") or file.kind == "sticker":
        raise _bad("type does not match the file")
    return web.Response(
        body=file.data,
        content_type="image/png" if kind == "image" else "application/octet-stream",
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}"},
    )


def _data(part: Part | None, name: str, most: int) -> bytes:
    # A field without a file name is no file, whatever it holds.
    if part is None or part.filename is None:
        raise _bad(name)
    if not part.data:
        raise Refusal(234010, "The file's size can't be 0.")
    if len(part.data) > most:
        raise Refusal(234006, "The file size exceed the max value.")
    return part.data


def _bad(what: str) -> Refusal:
    return Refusal(234001, f"Invalid request param, {what}.")
