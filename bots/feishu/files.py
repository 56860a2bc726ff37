"""Files up and down: uploaded before they are sent, fetched from the message they stand in."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from bots.feishu.failures import CALL_ERRORS, fetch_error, is_no_picture, reason_of
from bots.feishu.media import place_of, upload_kind
from bots.feishu.render import encoded
from bots.feishu.rest import NO_CODE, Refusal, Rest
from core.channel import AttachmentGone, AttachmentTooLarge
from core.document import File

log = logging.getLogger(__name__)


async def upload(rest: Rest, file: File) -> tuple[str, str]:
    """Upload a file; return kind and content of the message that shows it.

    A picture that is refused as such goes as a file. Raises what calls raise.
    """
    given = (file.name, file.data, file.mime)
    if file.mime.startswith("image/"):
        fields = {"image_type": "message"}
        try:
            answer = await rest.upload("/im/v1/images", fields, "image", given)
            return "image", encoded({"image_key": _key(answer, "image_key")})
        except Refusal as refusal:
            if not is_no_picture(refusal):
                raise
            log.info("sent as a file, the picture was refused: %s", reason_of(refusal))
    fields = {"file_type": upload_kind(file.name), "file_name": file.name}
    answer = await rest.upload("/im/v1/files", fields, "file", given)
    return "file", encoded({"file_key": _key(answer, "file_key")})


async def fetch(rest: Rest, attachment_id: str, most: int) -> bytes:
    """Get a file of at most ``most`` bytes. Raises a FetchError."""
    try:
        place = place_of(attachment_id)
    except TypeError:
        raise AttachmentGone("an id that is not ours") from None
    path = f"/im/v1/messages/{place.message}/resources/{place.key}"
    try:
        data = await rest.download(path, {"type": place.kind}, most)
    except CALL_ERRORS as error:
        raise fetch_error(error) from error
    if data is None:
        raise AttachmentTooLarge(f"more than {most} bytes")
    return data


def _key(answer: Mapping[str, Any], name: str) -> str:
    data = answer.get("data")
    if not isinstance(data, Mapping) or not isinstance(data.get(name), str):
        raise Refusal(200, NO_CODE, "the answer names no file")
    return str(data[name])
