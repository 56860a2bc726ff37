"""Files: uploads and their limits, sending them, fetching what people send."""

from __future__ import annotations

import aiohttp
import pytest

from tests.servers.feishu import FeishuServer
from tests.servers_self.feishu_callers import OpenApi, sending

PNG = b"\x89PNG\r\n\x1a\n picture"
MESSAGES = "/im/v1/messages"


def form(**fields: object) -> aiohttp.FormData:
    data = aiohttp.FormData()
    for name, value in fields.items():
        if isinstance(value, bytes):
            data.add_field(name, value, filename="upload")
        else:
            data.add_field(name, str(value))
    return data


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"image_type": "message", "image": PNG.ljust(10 * 1024 * 1024, b"x")}, 0),
        ({"image_type": "message", "image": PNG.ljust(10 * 1024 * 1024 + 1, b"x")}, 234006),
        ({"image_type": "message", "image": b""}, 234010),
        ({"image_type": "message", "image": b"<svg/>"}, 234011),
        ({"image_type": "poster", "image": PNG}, 234001),
        ({"image_type": "message", "image": "no file"}, 234001),
        ({"image_type": "message"}, 234001),
    ],
)
async def test_a_picture_has_a_format_and_at_most_10_mb(
    platform: OpenApi, fields: dict[str, object], code: int
) -> None:
    _, answer = await platform("POST", "/im/v1/images", form(**fields))
    assert answer["code"] == code, answer


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"file_type": "pdf", "file_name": "a", "file": b"x" * (30 * 1024 * 1024)}, 0),
        ({"file_type": "pdf", "file_name": "a", "file": b"x" * (30 * 1024 * 1024 + 1)}, 234006),
        ({"file_type": "pdf", "file_name": "a", "file": b""}, 234010),
        ({"file_type": "exe", "file_name": "a", "file": b"x"}, 234001),
        ({"file_type": "pdf", "file": b"x"}, 234001),
        ({"file_type": "pdf", "file_name": "a"}, 234001),
    ],
)
async def test_a_file_has_a_type_and_at_most_30_mb(
    platform: OpenApi, fields: dict[str, object], code: int
) -> None:
    _, answer = await platform("POST", "/im/v1/files", form(**fields))
    assert answer["code"] == code, answer


async def test_a_file_is_sent_as_what_it_was_uploaded(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")

    async def upload(kind: str) -> dict[str, str]:
        fields = form(file_type=kind, file_name="a", file=b"x")
        data: dict[str, str] = await platform.data("POST", "/im/v1/files", fields)
        return data

    voice, video, file = await upload("opus"), await upload("mp4"), await upload("pdf")

    async def code_of(kind: str, content: dict[str, str]) -> int:
        body = sending(kind, content, receive_id=ada.open_id)
        _, answer = await platform("POST", MESSAGES, body, receive_id_type="open_id")
        return int(answer["code"])

    assert await code_of("audio", voice) == 0
    assert await code_of("media", video) == 0
    assert await code_of("file", file) == 0
    assert await code_of("file", voice) == 230055
    assert await code_of("audio", file) == 230055
    theirs = ada.private.send_file(ada, b"x").content
    assert await code_of("file", theirs) == 230017


async def test_an_uploaded_picture_and_file_can_be_sent_and_fetched(
    session: aiohttp.ClientSession, feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    image = await platform.data("POST", "/im/v1/images", form(image_type="message", image=PNG))
    file = await platform.data(
        "POST", "/im/v1/files", form(file_type="pdf", file_name="a.pdf", file=b"%PDF")
    )
    for kind, content in (("image", image), ("file", file)):
        body = sending(kind, content, receive_id=ada.open_id)
        await platform.data("POST", MESSAGES, body, receive_id_type="open_id")
    assert [shown.kind for shown in ada.private.from_bot] == ["image", "file"]
    assert feishu.state.files[file["file_key"]].data == b"%PDF"


async def fetched(
    session: aiohttp.ClientSession, platform: OpenApi, path: str
) -> tuple[int, bytes]:
    await platform.fetch_token()
    headers = {"Authorization": f"Bearer {platform.token}"}
    async with session.get(f"{platform.server.url}/open-apis{path}", headers=headers) as response:
        return response.status, await response.read()


async def test_what_people_send_can_be_fetched_from_its_message_only(
    session: aiohttp.ClientSession, feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    picture, file = ada.private.send_image(ada, PNG), ada.private.send_file(ada, b"text", "n.txt")
    image_key, file_key = picture.content["image_key"], file.content["file_key"]
    path = f"{MESSAGES}/{picture.message_id}/resources"
    assert await fetched(session, platform, f"{path}/{image_key}?type=image") == (200, PNG)
    file_path = f"{MESSAGES}/{file.message_id}/resources/{file_key}"
    assert await fetched(session, platform, f"{file_path}?type=file") == (200, b"text")
    assert (await platform.refused("GET", f"{path}/{file_key}", type="file"))[0] == 234003
    assert (await platform.refused("GET", f"{path}/{image_key}", type="file"))[0] == 234001
    assert (await platform.refused("GET", f"{path}/{image_key}"))[0] == 234001
    sticker = ada.private.send_sticker(ada)
    sticker_path = f"{MESSAGES}/{sticker.message_id}/resources/{sticker.content['file_key']}"
    assert (await platform.refused("GET", sticker_path, type="file"))[0] == 234001
