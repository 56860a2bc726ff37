"""Collect the tutor's sentences from the sources and bring the catalogs up to date.

Run through ``python .ci/dev.py messages``. A sentence that is new stands in the ``.po`` without a
translation until somebody writes one; one that is gone from the sources leaves the catalog. The
files name no dates, tools or line numbers, so that the same sources always give the same bytes.
"""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
LOCALES = ROOT / "core" / "i18n" / "locales"
PACKAGES = ("bots", "core")
KEYWORDS = {"words": None, "_words": None, "plural": (1, 2), "N_": None}
TRANSLATED = ("zh",)

MessageId = str | tuple[str, ...]


class PlainCatalog(Catalog):
    """A catalog whose header says only what readers need."""

    @property  # type: ignore[misc]  # Babel has a setter too, which is not wanted here
    def mime_headers(self) -> list[tuple[str, str]]:
        """The header's lines; Babel's own add dates and versions, which change every time."""
        return [
            ("Project-Id-Version", "Partners"),
            ("Language", str(self.locale_identifier)),
            ("MIME-Version", "1.0"),
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Transfer-Encoding", "8bit"),
            ("Plural-Forms", self.plural_forms),
        ]


def collect(root: Path = ROOT) -> dict[MessageId, list[str]]:
    """Return every sentence of the sources with the files it stands in, as POSIX paths."""
    found: dict[MessageId, set[str]] = {}
    for package in PACKAGES:
        # Babel warns of every f-string among the values; only one that is the sentence itself
        # would be a mistake, and tests/i18n finds those.
        with contextlib.redirect_stderr(io.StringIO()):
            extracted = list(
                extract_from_dir(root / package, [("**.py", "python")], keywords=KEYWORDS)
            )
        for name, _line, message, _comments, _context in extracted:
            found.setdefault(message, set()).add(f"{package}/{Path(name).as_posix()}")
    return {message: sorted(files) for message, files in found.items()}


def po_path(language: str) -> Path:
    """Return the catalog that people edit."""
    return LOCALES / language / "LC_MESSAGES" / "partners.po"


def read(path: Path, language: str) -> Catalog:
    """Read a catalog; an empty one when there is none yet."""
    if not path.exists():
        return Catalog(locale=language)
    with path.open("rb") as file:
        return read_po(file, locale=language, charset="utf-8", abort_invalid=True)


def merged(language: str, old: Catalog, sources: dict[MessageId, list[str]]) -> Catalog:
    """Return a catalog of exactly the sources' sentences, with the translations that exist."""
    fresh = PlainCatalog(
        locale=language,
        header_comment=f"# Partners, {language}. Keys are the English sentences of the sources.",
        charset="utf-8",
        fuzzy=False,
    )
    for message in sorted(sources, key=lambda m: (m,) if isinstance(m, str) else m):
        known = old.get(message)
        keep = known if known is not None and known.id == message else None
        fresh.add(
            message,
            string=keep.string if keep else None,
            locations=[(file, 0) for file in sources[message]],
            flags=[flag for flag in keep.flags if flag == "fuzzy"] if keep else (),
            user_comments=keep.user_comments if keep else (),
        )
    return fresh


def po_bytes(catalog: Catalog) -> bytes:
    """Return the text of a catalog; identical for identical content."""
    buffer = io.BytesIO()
    write_po(buffer, catalog, width=96, include_lineno=False)
    return buffer.getvalue()


def mo_bytes(catalog: Catalog) -> bytes:
    """Return a catalog compiled for gettext; untranslated and fuzzy sentences are left out."""
    buffer = io.BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


def update() -> int:
    """Write every catalog; return the number of sentences that still need a translation."""
    sources = collect()
    missing = 0
    for language in TRANSLATED:
        path = po_path(language)
        catalog = merged(language, read(path, language), sources)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(po_bytes(catalog))
        path.with_suffix(".mo").write_bytes(mo_bytes(catalog))
        for message in catalog:
            strings = message.string if isinstance(message.string, tuple) else (message.string,)
            if message.id and (message.fuzzy or not all(strings)):
                missing += 1
                print(f"{path.relative_to(ROOT)}: to translate: {message.id}", file=sys.stderr)
    return missing


if __name__ == "__main__":
    sys.exit(1 if update() else 0)
