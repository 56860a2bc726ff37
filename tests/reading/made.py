"""Files as people send them, made on the spot."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Sequence

from PIL import Image, ImageDraw
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject


def picture(
    kind: str = "JPEG", size: tuple[int, int] = (40, 30), mode: str = "RGB", exif: int = 1
) -> bytes:
    """A picture whose left half is red; ``exif`` is its orientation."""
    image = Image.new(mode, size, (0,) * len(mode) if len(mode) > 1 else 0)
    ImageDraw.Draw(image).rectangle((0, 0, size[0] // 2, size[1]), fill="red")
    out = io.BytesIO()
    tags = Image.Exif()
    tags[0x0112] = exif
    image.save(out, kind, exif=tags) if kind in ("JPEG", "PNG", "WEBP") else image.save(out, kind)
    return out.getvalue()


def bomb() -> bytes:
    """A PNG that says it has 900 million pixels."""
    head = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    body = zlib.compress(b"\0" * 100_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def pdf(*pages: str, password: str | None = None) -> bytes:
    """A PDF with one line of text on each page; an empty page is one without text."""
    writer = PdfWriter()
    for text in pages:
        page = writer.add_blank_page(300, 300)
        font = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Font"),
                NameObject("/Subtype"): NameObject("/Type1"),
                NameObject("/BaseFont"): NameObject("/Helvetica"),
            }
        )
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        drawn = DecodedStreamObject()
        if text:
            drawn.set_data(f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode("latin-1"))
        page[NameObject("/Contents")] = writer._add_object(drawn)
    if password is not None:
        writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    assert len(PdfReader(io.BytesIO(out.getvalue())).pages if password is None else pages)
    return out.getvalue()


_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def _paragraph(text: str, style: str = "") -> str:
    styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{styled}<w:r><w:t>{text}</w:t></w:r></w:p>"


def docx(
    *paragraphs: str, heading: str = "", table: Sequence[Sequence[str]] = (), padding: int = 0
) -> bytes:
    """A Word file; ``padding`` adds a part that unpacks to so many bytes."""
    body = _paragraph(heading, "Heading1") if heading else ""
    body += "".join(map(_paragraph, paragraphs))
    if table:
        rows = "".join(
            f"<w:tr>{''.join(f'<w:tc>{_paragraph(cell)}</w:tc>' for cell in row)}</w:tr>"
            for row in table
        )
        body += f"<w:tbl>{rows}</w:tbl>"
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    styles = (
        '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("[Content_Types].xml", f'<Types xmlns="{types}"/>')
        packed.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{relations}">'
            f'<Relationship Id="r1" Type="{office}" Target="word/document.xml"/></Relationships>',
        )
        packed.writestr("word/styles.xml", f"<w:styles {_W}>{styles}</w:styles>")
        packed.writestr(
            "word/document.xml", f"<w:document {_W}><w:body>{body}</w:body></w:document>"
        )
        if padding:
            packed.writestr("word/media/big.bin", b"\0" * padding)
    return out.getvalue()
