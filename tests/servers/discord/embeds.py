"""Rules of embeds."""

from __future__ import annotations

from typing import Any

from tests.servers.discord.errors import Path
from tests.servers.discord.form import Form
from tests.servers.discord.limits import EMBED_TOTAL, EMBEDS

TITLE = 256
DESCRIPTION = 4096
FIELDS = 25
FIELD_NAME = 256
FIELD_VALUE = 1024
FOOTER = 2048
AUTHOR = 256
_PARTS = ("title", "description", "url", "image", "thumbnail", "author", "footer", "fields")


def check_embeds(form: Form, raw: object) -> list[dict[str, Any]]:
    """Return the embeds of a message as it will show them."""
    total = 0
    shown = []
    for path, embed in form.items(("embeds",), raw, 0, EMBEDS):
        total += _check(form, path, embed)
        shown.append({"type": "rich", **embed})
    if total > EMBED_TOTAL:
        form.add(
            ("embeds",),
            "MAX_EMBED_SIZE_EXCEEDED",
            f"Embed size exceeds maximum size of {EMBED_TOTAL}",
        )
    return shown


def _check(form: Form, path: Path, embed: dict[str, Any]) -> int:
    """Check one embed and return how many characters count of it."""
    if not any(embed.get(part) for part in _PARTS):
        form.missing((*path, "description"))
    footer = form.mapping((*path, "footer"), embed.get("footer"))
    author = form.mapping((*path, "author"), embed.get("author"))
    texts = [
        form.text((*path, "title"), embed.get("title"), 0, TITLE),
        form.text((*path, "description"), embed.get("description"), 0, DESCRIPTION),
    ]
    if footer:
        where = (*path, "footer", "text")
        texts.append(form.text(where, footer.get("text"), 0, FOOTER, required=True))
    if author:
        where = (*path, "author", "name")
        texts.append(form.text(where, author.get("name"), 0, AUTHOR, required=True))
    for place, field in form.items((*path, "fields"), embed.get("fields"), 0, FIELDS):
        name, value = (*place, "name"), (*place, "value")
        texts.append(form.text(name, field.get("name"), 0, FIELD_NAME, required=True))
        texts.append(form.text(value, field.get("value"), 0, FIELD_VALUE, required=True))
    for part in ("image", "thumbnail"):
        picture = form.mapping((*path, part), embed.get(part))
        link = picture.get("url")
        if picture and not (
            isinstance(link, str) and link.startswith(("http://", "https://", "attachment://"))
        ):
            form.add(
                (*path, part, "url"),
                "URL_TYPE_INVALID_SCHEME",
                f'Scheme "{str(link).partition(":")[0]}" is not supported. '
                "Scheme must be one of ('http', 'https').",
            )
    return sum(map(len, texts))
