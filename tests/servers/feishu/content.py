"""What the bot may put into a message, type by type."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.servers.feishu import cards, posts
from tests.servers.feishu.call import parsed
from tests.servers.feishu.errors import (
    NOT_RESOURCE_OWNER,
    TOO_LONG,
    WRONG_FILE_KIND,
    CardRefusal,
    invalid,
)
from tests.servers.feishu.limits import RICH_BYTES, TEXT_BYTES
from tests.servers.feishu.mentions import ALL, Encoder, Mention, tags_encoded

if TYPE_CHECKING:
    from tests.servers.feishu.state import Entity, State


@dataclass(slots=True)
class Content:
    """A content that passed: decoded, its mentions coded as the platform keeps them."""

    value: dict[str, Any]
    mentions: list[Mention] = field(default_factory=list)
    entity: Entity | None = None
    """The card entity it shows."""


def check_content(state: State, kind: str, raw: str) -> Content:
    """Return the content of a new message; raises Refusal as the platform does."""
    if len(raw.encode()) > (TEXT_BYTES if kind == "text" else RICH_BYTES):
        raise TOO_LONG
    value = parsed(raw)
    match kind:
        case "text":
            return _text(state, value)
        case "post":
            return _post(state, value)
        case "interactive":
            return _card(state, value)
        case "image":
            return _file(state, value, "image_key", {"image"})
        case "file":
            return _file(state, value, "file_key", None)
        case "audio":
            return _file(state, value, "file_key", {"opus"})
        case "media":
            return _file(state, value, "file_key", {"mp4"})
        case "sticker":
            if str(value.get("file_key")) not in state.files:
                raise invalid("invalid file_key")
            return Content(value)
        case "share_chat" | "share_user":
            return Content(value)
        case _:
            raise invalid("invalid msg_type")


def check_card(state: State, card: object) -> None:
    """Refuse a card as the message interfaces do: 230099 with the card's own code in it."""
    try:
        cards.check(card, state.known)
    except CardRefusal as refused:
        raise refused.refusal from None


def _text(state: State, value: dict[str, Any]) -> Content:
    text = value.get("text")
    if not isinstance(text, str):
        raise invalid("invalid message content, text is expected")
    if not text.strip():
        raise invalid("message content is empty")
    coded, mentions, unknown = tags_encoded(text, state.account)
    if unknown:
        raise invalid(f"invalid at user_id {unknown[0]}")
    return Content({"text": coded}, mentions)


def _post(state: State, value: dict[str, Any]) -> Content:
    encoder = Encoder()
    for element in posts.check_post(value):
        match element["tag"]:
            case "img" if not state.has_image(element["image_key"]):
                raise invalid(f"invalid image_key {element['image_key']}")
            case "at" if element["user_id"] == "all":
                element["user_id"] = ALL
            case "at":
                account = state.account(element["user_id"])
                if account is None:
                    raise invalid(f"invalid at user_id {element['user_id']}")
                element["user_id"] = encoder.key(account)
    return Content(value, encoder.mentions)


def _card(state: State, value: dict[str, Any]) -> Content:
    if value.get("type") == "card":
        card_id = _named(value, "card_id")
        entity = state.entities.get(card_id)
        if entity is None:
            raise CardRefusal(200740, "The card entity does not exist", card_id).refusal
        if entity.message is not None:
            raise CardRefusal(
                11310, "the card entity has been sent, it can be sent only once", card_id
            ).refusal
        return Content(entity.card, entity=entity)
    if value.get("type") == "template":
        raise CardRefusal(
            200380,
            "template does not exist, please confirm whether this template has been released",
            f"templateID: {_named(value, 'template_id')}",
        ).refusal
    check_card(state, value)
    return Content(value)


def _named(value: dict[str, Any], name: str) -> str:
    data = value.get("data")
    return str(data.get(name)) if isinstance(data, dict) else ""


def _file(state: State, value: dict[str, Any], name: str, kinds: set[str] | None) -> Content:
    file = state.files.get(str(value.get(name)))
    if file is None:
        raise invalid(f"invalid {name}")
    if not file.from_bot:
        raise NOT_RESOURCE_OWNER
    # Voice and video are message types of their own; a picture has no file key.
    if file.kind not in kinds if kinds is not None else file.kind in ("image", "opus", "mp4"):
        raise WRONG_FILE_KIND
    return Content(value)
