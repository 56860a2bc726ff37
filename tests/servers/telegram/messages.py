"""Methods that show, change and remove messages.

Checks come in the platform's order: the content first, then the chat, then the reply, then the
rate. Nothing is counted or shown when any of them fails.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.servers.telegram.chats import Chat
from tests.servers.telegram.entities import Entity
from tests.servers.telegram.errors import NOT_FOUND, bad, forbidden, too_many
from tests.servers.telegram.formatted import formatted
from tests.servers.telegram.keyboards import checked_markup, inline_only
from tests.servers.telegram.limits import PHOTO_BYTES, UPLOAD_BYTES
from tests.servers.telegram.parameters import Parameters
from tests.servers.telegram.press import Action
from tests.servers.telegram.rich import checked_rich
from tests.servers.telegram.shown import Shown
from tests.servers.telegram.state import State

ACTIONS = frozenset(
    {
        "typing",
        "upload_photo",
        "record_video",
        "upload_video",
        "record_voice",
        "upload_voice",
        "upload_document",
        "choose_sticker",
        "find_location",
        "record_video_note",
        "upload_video_note",
    }
)
PICTURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"RIFF")
"""How the files begin that sendPhoto takes: JPEG, PNG, WebP."""
GENERAL = 1
"""Thread id of a forum's General topic; messages there carry none."""


def chat_of(state: State, p: Parameters) -> Chat:
    """Return the chat of a call that the bot may write to; raises Refusal."""
    given = p.text("chat_id")
    if not given:
        raise bad("chat_id is empty")
    chat = state.find_chat(given)
    if chat is None:
        raise bad("chat not found")
    if chat.migrated_to is not None:
        raise bad(
            "group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.migrated_to.id
        )
    if chat.person is not None and chat.person.blocked:
        raise forbidden("bot was blocked by the user")
    if not chat.bot_is_member:
        name = "group" if chat.kind == "group" else "supergroup"
        raise forbidden(f"bot was kicked from the {name} chat")
    return chat


def _thread_of(chat: Chat, p: Parameters, *, general: bool = False) -> int | None:
    thread = p.integer("message_thread_id")
    if thread in (None, 0):
        return None
    if thread == GENERAL and general and chat.forum:
        return None
    topic = chat.topics.get(thread) if thread is not None else None
    if topic is None:
        raise bad("message thread not found")
    if topic.closed and not chat.bot_is_admin:
        raise bad("TOPIC_CLOSED")
    return thread


def _reply_of(chat: Chat, p: Parameters) -> Shown | None:
    given = p.json("reply_parameters")
    if given is None:
        number, lenient = p.integer("reply_to_message_id"), p.flag("allow_sending_without_reply")
    elif isinstance(given, dict):
        number, lenient = given.get("message_id"), given.get("allow_sending_without_reply") is True
        if not isinstance(number, int):
            raise bad("can't parse reply parameters: Can't find field \"message_id\"")
        if str(given.get("chat_id", chat.id)) != str(chat.id):
            raise bad("message to be replied not found")
    else:
        raise bad("object expected as reply parameters")
    original = chat.find(number) if number else None
    if number and original is None and not lenient:
        raise bad("message to be replied not found")
    return original


async def send_message(state: State, p: Parameters) -> Any:
    """sendMessage."""
    if not p.text("text"):
        raise bad("message text is empty")
    text, entities = formatted(p)
    return _sent(state, p, text=text, entities=entities)


async def send_rich_message(state: State, p: Parameters) -> Any:
    """sendRichMessage, which a server may be too old for."""
    if not state.rich:
        raise NOT_FOUND
    blocks, words = checked_rich(p.json("rich_message"))
    return _sent(state, p, words=words, extra={"rich_message": {"blocks": blocks}})


async def send_photo(state: State, p: Parameters) -> Any:
    """sendPhoto. At most 10 MB, and a picture by its first bytes."""
    file = p.file("photo")
    if file is None or not file.data:
        raise bad("there is no photo in the request")
    if len(file.data) > PHOTO_BYTES:
        raise bad(f"file of size {len(file.data)} bytes is too big for a photo")
    if not file.data.startswith(PICTURES):
        raise bad("IMAGE_PROCESS_FAILED")
    sizes = [{**state.add_file("photos.jpg", file.data, None).json(), "width": 90, "height": 90}]
    return _sent(state, p, extra={"photo": sizes})


async def send_document(state: State, p: Parameters) -> Any:
    """sendDocument. At most 50 MB."""
    file = p.file("document")
    if file is None or not file.data:
        raise bad("there is no document in the request")
    if len(file.data) > UPLOAD_BYTES:
        raise bad("Request Entity Too Large")
    name = file.filename or "file"
    kept = state.add_file(f"documents.{name.rpartition('.')[2]}", file.data, None)
    return _sent(state, p, extra={"document": {**kept.json(), "file_name": name}})


def _sent(state: State, p: Parameters, **content: Any) -> Any:
    markup = checked_markup(p.json("reply_markup"))
    chat = chat_of(state, p)
    thread = _thread_of(chat, p)
    original = _reply_of(chat, p)
    if thread is None and original is not None and original.thread in chat.topics:
        # A reply without a thread of its own appears beside what it answers.
        thread = original.thread
    wait = state.flood.wait_of(chat.id, chat.person is not None)
    if wait:
        raise too_many(wait)
    state.flood.count(chat.id, chat.person is not None)
    message = Shown(
        chat=chat,
        message_id=chat.next_id(),
        sender=None,
        date=state.date(),
        reply_markup=markup,
        thread=thread,
        reply_to=original.message_id if original is not None else None,
        **content,
    )
    chat.drafts.clear()
    chat.put(message)
    chat.announce()
    return message.json()


def _own(state: State, p: Parameters) -> Shown:
    if p.has("inline_message_id"):
        raise bad("message to edit not found")
    chat = chat_of(state, p)
    number = p.integer("message_id")
    if not number:
        raise bad("message identifier is not specified")
    message = chat.find(number)
    if message is None:
        raise bad("message to edit not found")
    if not message.from_bot or not (message.text or message.words):
        raise bad("message can't be edited")
    return message


def _replaced(state: State, old: Shown, new: Shown) -> Any:
    same = all(
        getattr(old, name) == getattr(new, name)
        for name in ("text", "entities", "extra", "reply_markup")
    )
    if same:
        raise bad(
            "message is not modified: specified new message content and reply markup are exactly "
            "the same as a current content and reply markup of the message"
        )
    new = replace(new, edited=state.date())
    new.chat.put(new)
    new.chat.announce()
    return new.json()


async def edit_message_text(state: State, p: Parameters) -> Any:
    """editMessageText. Without ``reply_markup`` the buttons go."""
    extra: dict[str, Any] = {}
    words, text = "", ""
    entities: list[Entity] = []
    if state.rich and p.has("rich_message"):
        blocks, words = checked_rich(p.json("rich_message"))
        extra = {"rich_message": {"blocks": blocks}}
    else:
        text, entities = formatted(p, too_long="MESSAGE_TOO_LONG")
    markup = inline_only(checked_markup(p.json("reply_markup")))
    old = _own(state, p)
    new = replace(old, text=text, words=words, entities=entities, extra=extra, reply_markup=markup)
    return _replaced(state, old, new)


async def edit_message_reply_markup(state: State, p: Parameters) -> Any:
    """editMessageReplyMarkup."""
    markup = inline_only(checked_markup(p.json("reply_markup")))
    old = _own(state, p)
    return _replaced(state, old, replace(old, reply_markup=markup))


async def delete_message(state: State, p: Parameters) -> Any:
    """deleteMessage. In a private chat a bot may delete both sides' messages."""
    chat = chat_of(state, p)
    message = chat.find(p.integer("message_id") or 0)
    if message is None:
        raise bad("message to delete not found")
    if not (message.from_bot or chat.person is not None or chat.bot_is_admin):
        raise bad("message can't be deleted")
    chat.take_away(message.message_id)
    chat.announce()
    return True


async def send_chat_action(state: State, p: Parameters) -> Any:
    """sendChatAction. The only sending method that takes the General topic by its id."""
    if p.text("action") not in ACTIONS:
        raise bad("wrong parameter action in request")
    chat = chat_of(state, p)
    chat.actions.append(Action(p.text("action"), _thread_of(chat, p, general=True)))
    chat.announce()
    return True


async def send_message_draft(state: State, p: Parameters) -> Any:
    """sendMessageDraft. Private chats only; an empty text shows that the bot thinks."""
    draft_id = p.integer("draft_id")
    if not draft_id:
        raise bad("draft identifier must be non-zero")
    text, _ = formatted(p, may_be_empty=True)
    chat = chat_of(state, p)
    if chat.person is None:
        raise bad("TEXTDRAFT_PEER_INVALID")
    _thread_of(chat, p)
    chat.drafts[draft_id] = text
    chat.announce()
    return True
