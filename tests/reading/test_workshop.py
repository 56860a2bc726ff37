"""Files are opened in a process of their own; what cannot be opened is named, and costs no more."""

from __future__ import annotations

import asyncio
import io

import psutil  # type: ignore[import-untyped]
import pytest
from PIL import Image

from core.reading.kinds import Kind
from core.reading.trouble import Trouble
from core.reading.workshop import SIDE, Workshop
from tests.reading import made
from tests.servers.changes import PATIENCE


@pytest.fixture
async def workshop() -> Workshop:
    return Workshop()


async def opened(workshop: Workshop, data: bytes) -> Image.Image:
    found = await workshop.open(Kind.PICTURE, data)
    assert found.picture is not None, found
    image = Image.open(io.BytesIO(found.picture.data))
    assert f"image/{(image.format or '').lower()}" == found.picture.mime
    return image


@pytest.mark.parametrize(
    ("kind", "given"),
    [("JPEG", "JPEG"), ("PNG", "PNG"), ("GIF", "PNG"), ("WEBP", "JPEG"), ("BMP", "PNG")],
)
async def test_a_picture_becomes_one_that_every_model_takes(
    workshop: Workshop, kind: str, given: str
) -> None:
    image = await opened(workshop, made.picture(kind))
    assert (image.format, image.mode, image.size) == (given, "RGB", (40, 30))


async def test_a_large_picture_is_made_smaller(workshop: Workshop) -> None:
    image = await opened(workshop, made.picture(size=(4000, 1000)))
    assert image.size == (SIDE, SIDE // 4)


async def test_a_picture_that_was_taken_sideways_stands_upright(workshop: Workshop) -> None:
    image = await opened(workshop, made.picture(size=(400, 300), exif=6))
    assert image.size == (300, 400)
    assert not image.getexif()
    top = image.getpixel((150, 20))
    assert isinstance(top, tuple)
    assert top[0] > 200


async def test_what_is_transparent_becomes_paper(workshop: Workshop) -> None:
    image = await opened(workshop, made.picture("PNG", mode="RGBA"))
    assert image.getpixel((35, 15)) == (255, 255, 255)


@pytest.mark.parametrize(
    ("data", "trouble"),
    [
        (made.bomb(), Trouble.TOO_MANY_PIXELS),
        (made.picture(size=(900, 900))[:-2_000], Trouble.BROKEN),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n", Trouble.UNKNOWN_KIND),
        (b"nothing", Trouble.UNKNOWN_KIND),
    ],
)
async def test_a_picture_that_cannot_be_opened_is_named(
    workshop: Workshop, data: bytes, trouble: Trouble
) -> None:
    assert (await workshop.open(Kind.PICTURE, data)).trouble is trouble


async def test_a_pdf_is_read_page_by_page(workshop: Workshop) -> None:
    found = await workshop.open(Kind.PDF, made.pdf("Force is mass", "", "times acceleration"))
    assert found.text == "[page 1]\nForce is mass\n\n[page 3]\ntimes acceleration"
    assert (found.pages, found.trouble) == ((3, 3), None)


@pytest.mark.parametrize(
    ("data", "trouble"),
    [
        (made.pdf("", ""), Trouble.SCANNED),
        (made.pdf("secret", password="x"), Trouble.PROTECTED),
        (b"%PDF-1.7 and nothing", Trouble.BROKEN),
        (made.pdf("cut")[:200], Trouble.BROKEN),
    ],
)
async def test_a_pdf_without_anything_to_read_is_named(
    workshop: Workshop, data: bytes, trouble: Trouble
) -> None:
    assert (await workshop.open(Kind.PDF, data)).trouble is trouble


async def test_a_pdf_that_opens_without_its_password_is_read(workshop: Workshop) -> None:
    assert "free" in (await workshop.open(Kind.PDF, made.pdf("free", password=""))).text


async def test_a_word_file_keeps_its_headings_lists_and_tables(workshop: Workshop) -> None:
    data = made.docx("Force &amp; mass.", heading="Newton", table=[("a", "b"), ("1", "2")])
    found = await workshop.open(Kind.WORD, data)
    assert found.text == "# Newton\nForce & mass.\n| a  | b  |\n| 1  | 2  |"


@pytest.mark.parametrize(
    ("data", "trouble"),
    [
        (made.docx(), Trouble.EMPTY),
        (made.docx("x", padding=120_000_000), Trouble.TOO_LARGE),
        (b"PK\x03\x04 nothing", Trouble.BROKEN),
        (made.docx("x").replace(b"word/document.xml", b"xl/docxxxxxxx.xml"), Trouble.UNKNOWN_KIND),
    ],
)
async def test_a_packed_file_that_is_no_word_file_is_named(
    workshop: Workshop, data: bytes, trouble: Trouble
) -> None:
    assert (await workshop.open(Kind.WORD, data)).trouble is trouble


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("牛顿第二定律：物体加速度的大小跟作用力成正比，跟物体的质量成反比。", "gbk"),
        ("牛頓第二定律：物體加速度的大小跟作用力成正比，跟物體的質量成反比。", "big5"),
        ("Übung: Größe, Maß, fällt, über, schön.", "cp1252"),
        ("Второй закон Ньютона связывает силу и ускорение.", "cp1251"),
        ("Kraft = Masse mal Beschleunigung", "utf-16"),
    ],
)
async def test_a_text_of_an_unnamed_character_set_is_read(
    workshop: Workshop, text: str, encoding: str
) -> None:
    assert (await workshop.open(Kind.TEXT, text.encode(encoding))).text == text


async def test_what_is_no_text_is_named(workshop: Workshop) -> None:
    noise = bytes((17 * n * n + 5 * n) % 251 + 1 for n in range(5_000))
    assert (await workshop.open(Kind.TEXT, noise)).trouble is Trouble.UNKNOWN_KIND


def _children() -> list[psutil.Process]:
    return list(psutil.Process().children())


async def test_a_file_that_takes_too_long_costs_its_process_alone() -> None:
    before = set(_children())
    found = await Workshop(seconds=0.001).open(Kind.PDF, made.pdf("never"))
    assert found.trouble is Trouble.TOO_SLOW
    assert not set(_children()) - before


async def test_cancelling_ends_the_process(workshop: Workshop) -> None:
    before = set(_children())
    pages = made.pdf(*["page"] * 200)
    task = asyncio.create_task(workshop.open(Kind.PDF, pages))
    async with asyncio.timeout(PATIENCE):
        while True:
            if set(_children()) - before:
                break
            await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not set(_children()) - before
