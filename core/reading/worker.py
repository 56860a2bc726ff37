"""Opens one file of somebody's, in a process of its own that can be ended at any time.

A script, not a module to import: it gets the file on its standard input and writes lines of JSON,
so that what came before it was ended is of use. It needs none of our modules, and no variable of
its environment. A file that crashes it or never ends costs that process and nothing else.

    python -P worker.py KIND LIMITS       KIND is a function below, LIMITS the JSON of them

    {"text": "…"}                         a piece of the text
    {"pages": [read, all]}                pages that were opened, of a file that has pages
    {"picture": "<base64>", "mime": "…"}  the picture
    {"trouble": "…"}                      why there is nothing: a ``core.reading.trouble.Trouble``
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import logging
import os
import sys
import time
import zipfile
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Final

MEMORY = 2 * 1024**3
"""Bytes this process may have, where the system can hold it to that."""
SAMPLE = 256_000
"""Bytes that a character set is guessed from."""
FORMATS = ("JPEG", "MPO", "PNG", "GIF", "WEBP", "BMP", "AVIF")
"""Pictures as people send them. Others are left alone: some are opened by other programs."""
PNG_LIMIT = 1_500_000
"""Bytes of a PNG, beyond which a picture is sent as JPEG."""

Limits = Mapping[str, float]
Tell = Callable[..., None]


class TroubleError(Exception):
    """There is nothing to be had; the text is the word for it."""


def picture(data: bytes, limits: Limits, tell: Tell) -> None:
    """Turn a picture upright, no side longer than ``side`` pixels, with nothing but the picture."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None  # ours is stricter, and looks before anything is decoded
    side = int(limits["side"])
    Image.init()
    known = [name for name in FORMATS if name in Image.OPEN]
    try:
        with Image.open(io.BytesIO(data), formats=known) as opened:
            if opened.width * opened.height > limits["pixels"]:
                raise TroubleError("too_many_pixels")
            kept_sharp = opened.format in ("PNG", "GIF", "BMP")
            opened.thumbnail((side, side), Image.Resampling.LANCZOS, reducing_gap=2.0)
            upright = ImageOps.exif_transpose(opened)
            if upright.has_transparency_data:
                upright = upright.convert("RGBA")
                paper = Image.new("RGBA", upright.size, "white")
                upright = Image.alpha_composite(paper, upright)
            upright = upright.convert("RGB")
    except UnidentifiedImageError:
        raise TroubleError("unknown_kind") from None
    except (OSError, ValueError, SyntaxError, EOFError):  # what Pillow's decoders raise
        raise TroubleError("broken") from None
    out = io.BytesIO()
    if kept_sharp:
        upright.save(out, "PNG", optimize=True)
    if not kept_sharp or out.tell() > PNG_LIMIT:
        kept_sharp, out = False, io.BytesIO()
        upright.save(out, "JPEG", quality=85)
    mime = "image/png" if kept_sharp else "image/jpeg"
    tell(picture=base64.b64encode(out.getvalue()).decode("ascii"), mime=mime)


def pdf(data: bytes, limits: Limits, tell: Tell) -> None:
    """Tell the text page by page."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise TroubleError("protected")
        count = len(reader.pages)
    except (DependencyError, NotImplementedError):  # a cipher that is not at hand
        raise TroubleError("protected") from None
    except (
        PyPdfError,
        OSError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        RecursionError,
    ):
        raise TroubleError("broken") from None
    until = time.monotonic() + limits["seconds"]
    found = read = 0
    for number in range(min(count, int(limits["pages"]))):
        if time.monotonic() > until or found > limits["characters"]:
            break
        try:
            text = reader.pages[number].extract_text().strip()
        except DependencyError:
            raise TroubleError("protected") from None
        except Exception:  # a damaged page may raise anything, and the others are still of use
            logging.exception("page %d", number + 1)
            text = ""
        read = number + 1
        found += len(text)
        if text:
            tell(text=f"[page {read}]\n{text}\n\n")
        tell(pages=[read, count])
    if not found:
        raise TroubleError("scanned" if read else "empty")


def word(data: bytes, limits: Limits, tell: Tell) -> None:
    """Tell the text of a .docx: headings, lists and tables stay what they are."""
    import mammoth

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            names = packed.namelist()
            unpacked = sum(info.file_size for info in packed.infolist())
    except (zipfile.BadZipFile, OSError, ValueError):
        raise TroubleError("broken") from None
    if "word/document.xml" not in names:
        raise TroubleError("unknown_kind")
    if unpacked > limits["unpacked"]:
        raise TroubleError("too_large")
    try:
        html = mammoth.convert_to_html(
            io.BytesIO(data), convert_image=mammoth.images.img_element(lambda _: {"src": ""})
        ).value
    except Exception:  # the library names no errors of its own
        logging.exception("the document")
        raise TroubleError("broken") from None
    text = Plain.of(html)
    if not text:
        raise TroubleError("empty")
    tell(text=text[: int(limits["characters"])])


def text(data: bytes, limits: Limits, tell: Tell) -> None:
    """Tell a text whose character set nobody names."""
    from charset_normalizer import from_bytes

    guess = from_bytes(data[:SAMPLE]).best()
    if guess is None:
        raise TroubleError("unknown_kind")
    told = data.decode(guess.encoding, "replace").lstrip("\ufeff")[: int(limits["characters"])]
    if not told.strip():
        raise TroubleError("empty")
    tell(text=told)


class Plain(HTMLParser):
    """HTML as plain lines; cells of a table between bars, headings and items with their marks."""

    _MARKS: Final = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "li": "- ", "tr": "| "}
    _LINES: Final = frozenset(
        {"p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "tr", "ul", "ol", "table"}
    )

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = [""]
        self._in_cell = 0

    @classmethod
    def of(cls, html: str) -> str:
        """Return the text of some HTML."""
        reader = cls()
        reader.feed(html)
        reader.close()
        return "\n".join(line.rstrip() for line in reader._lines if line.strip(" #-|"))

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Begin a line where the tag does."""
        if tag in ("td", "th"):
            self._in_cell += 1
        elif tag == "br" or (tag in self._LINES and not self._in_cell):
            self._lines.append("")
        if not self._in_cell:
            self._lines[-1] += self._MARKS.get(tag, "")

    def handle_endtag(self, tag: str) -> None:
        """End a line or a cell where the tag does."""
        if tag in ("td", "th"):
            self._in_cell -= 1
            self._lines[-1] += " | "
        elif tag in self._LINES:
            if self._in_cell:
                self._lines[-1] += " "
            else:
                self._lines.append("")

    def handle_data(self, data: str) -> None:
        """Take the text."""
        self._lines[-1] += data


KINDS: dict[str, Callable[[bytes, Limits, Tell], None]] = {
    "picture": picture,
    "pdf": pdf,
    "word": word,
    "text": text,
}


def _tell(**line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _be_modest() -> None:
    """Let the answers of others come first, and do not take the machine's memory."""
    if hasattr(os, "nice"):
        os.nice(5)
    try:
        import resource
    except ImportError:  # no such limit on this system; the parent still ends us in time
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main(kind: str, limits: str) -> None:
    """Open what comes on the standard input."""
    _be_modest()
    data = sys.stdin.buffer.read()
    try:
        KINDS[kind](data, json.loads(limits), _tell)
    except TroubleError as error:
        _tell(trouble=str(error))
    except MemoryError:
        _tell(trouble="too_large")


if __name__ == "__main__":
    main(*sys.argv[1:])
