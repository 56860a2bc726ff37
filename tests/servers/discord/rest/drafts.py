"""From the body of a request to what a message will show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tests.servers.discord.chats import Chat
from tests.servers.discord.components import check_components, numbered
from tests.servers.discord.embeds import check_embeds
from tests.servers.discord.errors import refusal
from tests.servers.discord.files import File, Upload, stored
from tests.servers.discord.form import Form, snowflake
from tests.servers.discord.limits import ATTACHMENTS, CONTENT, FILE_BYTES, NONCE
from tests.servers.discord.mentions import Allowed, check_allowed
from tests.servers.discord.permissions import Permission
from tests.servers.discord.shown import EPHEMERAL, LAYOUT, VOICE, Shown

_SUPPRESS_EMBEDS, _SILENT = 1 << 2, 1 << 12


@dataclass(slots=True)
class Draft:
    """A body that has passed every check. On an edit None means "as it was"."""

    text: str | None
    embeds: list[dict[str, Any]] | None
    components: list[dict[str, Any]] | None
    kept: set[int] | None
    """Ids of old attachments that stay."""
    uploads: list[Upload]
    allowed: Allowed
    flags: int
    nonce: str | int | None = None


def drafted(
    fields: dict[str, Any],
    files: dict[int, Upload],
    form: Form,
    old: Shown | None = None,
) -> Draft:
    """Check a body; raises Refusal with everything that is wrong with it."""
    flags = fields.get("flags") or 0
    if not isinstance(flags, int):
        form.number(("flags",), flags, 0, 1 << 20)
        flags = 0
    flags &= _SUPPRESS_EMBEDS | _SILENT | VOICE | LAYOUT | EPHEMERAL
    if old is not None:
        flags |= old.flags & LAYOUT
    layout = bool(flags & LAYOUT)
    text = form.text(("content",), fields.get("content"), 0, CONTENT)
    embeds = check_embeds(form, fields.get("embeds"))
    components = check_components(form, fields.get("components"), layout=layout)
    allowed = check_allowed(form, fields.get("allowed_mentions"))
    if layout:
        for name in ("content", "embeds", "poll", "sticker_ids"):
            if fields.get(name):
                form.add(
                    (name,),
                    "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
                    f"The '{name}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2",
                )
    kept, uploads = _attachments(form, fields, files, old)
    nonce = fields.get("nonce")
    if nonce is not None:
        _check_nonce(form, nonce)
    form.check()
    if any(len(upload.data) > FILE_BYTES for upload in uploads):
        raise refusal(40005)
    return Draft(
        text.strip() if "content" in fields or old is None else None,
        embeds if "embeds" in fields or old is None else None,
        numbered(components) if "components" in fields or old is None else None,
        kept,
        uploads,
        allowed,
        flags,
        nonce,
    )


def _check_nonce(form: Form, nonce: object) -> None:
    if isinstance(nonce, bool) or not isinstance(nonce, (str, int)):
        form.add(
            ("nonce",), "NONCE_TYPE_INVALID_TYPE", "This field must be a string or an integer."
        )
    else:
        form.length(("nonce",), len(str(nonce)), 0, NONCE)


def _attachments(
    form: Form, fields: dict[str, Any], files: dict[int, Upload], old: Shown | None
) -> tuple[set[int] | None, list[Upload]]:
    existing = {file.file_id for file in old.attachments} if old is not None else set()
    kept: set[int] = set()
    described = dict(files)
    for path, item in form.items(("attachments",), fields.get("attachments"), 0, ATTACHMENTS):
        number = snowflake(item.get("id"))
        if number in existing:
            kept.add(number)
        elif number in files:
            given = files[number]
            described[number] = replace(
                given,
                filename=str(item.get("filename") or given.filename),
                description=form.text((*path, "description"), item.get("description"), 0, 1024)
                or None,
            )
        else:
            form.add(path, "ATTACHMENT_NOT_FOUND", "Attachment data not found")
    if len(files) > ATTACHMENTS:
        form.length(("attachments",), len(files), 0, ATTACHMENTS)
    uploads = [described[number] for number in sorted(described)]
    return (kept if "attachments" in fields else None), uploads


def composed(chat: Chat, draft: Draft, message: Shown) -> Shown:
    """Return a message with what a draft gives it; raises Refusal when nothing would be seen."""
    state = chat.state
    text = message.text if draft.text is None else draft.text
    embeds = message.embeds if draft.embeds is None else draft.embeds
    components = message.components if draft.components is None else draft.components
    old: tuple[File, ...] = message.attachments
    if draft.kept is not None:
        old = tuple(file for file in old if file.file_id in draft.kept)
    if not (text or embeds or components or old or draft.uploads):
        raise refusal(50006)
    found = chat.mentions_of(text)
    if not chat.bot_may(Permission.MENTION_EVERYONE):
        found = replace(found, all=frozenset())
    return replace(
        message,
        text=text,
        embeds=embeds,
        components=components,
        attachments=(*old, *(stored(state, chat.id, file) for file in draft.uploads)),
        mentions=found,
        flags=message.flags | draft.flags & ~EPHEMERAL,
    )


def notified(message: Shown, draft: Draft, replied: Shown | None) -> Shown:
    """Return a new message of the bot with those whom it notifies."""
    author = None if replied is None or replied.sender is None else replied.sender.id
    pinged = draft.allowed.pinged(message.mentions, author)
    found = message.mentions
    if author is not None and author in pinged:
        found = replace(found, users=tuple(dict.fromkeys((*found.users, author))))
    return replace(message, mentions=found, pinged=pinged)
