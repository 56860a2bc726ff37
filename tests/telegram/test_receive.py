"""What an update means, case by case, decoded by the real library from wire payloads."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from aiogram.types import Update
from hypothesis import given
from hypothesis import strategies as st

from bots.names import LONGEST_NAME, shown_name
from bots.telegram.receive import Me, receive
from bots.telegram.words import own_words
from core.context import (
    Attachment,
    AttachmentKind,
    ChatKind,
    Command,
    InboundMessage,
    Press,
    Quote,
    ReplyTarget,
    Text,
    Unsupported,
)

ME = Me(id=42, username="Tutor_Bot")
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SENT = 1_796_000_000
ADA = {"id": 7, "is_bot": False, "first_name": "Ada", "last_name": "L.", "language_code": "en-GB"}
BOB = {"id": 8, "is_bot": False, "first_name": "Bob"}
TUTOR = {"id": 42, "is_bot": True, "first_name": "Tutor", "username": "Tutor_Bot"}
DM = {"id": 7, "type": "private", "first_name": "Ada"}
GROUP = {"id": -5, "type": "group", "title": "Study"}
SUPERGROUP = {"id": -100, "type": "supergroup", "title": "Plain"}
FORUM = {"id": -200, "type": "supergroup", "title": "Forum", "is_forum": True}
TOPIC = {"message_thread_id": 55, "is_topic_message": True}
PHOTO = [{"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1}]


def msg(chat: dict[str, Any] = DM, /, **fields: Any) -> dict[str, Any]:
    base = {"message_id": 10, "date": SENT, "chat": chat, "from": ADA}
    return {key: value for key, value in {**base, **fields}.items() if value is not None}


def entity(text: str, word: str, kind: str = "mention", **fields: Any) -> dict[str, Any]:
    before = text[: text.index(word)]
    return {
        "type": kind,
        "offset": len(before.encode("utf-16-le")) // 2,
        "length": len(word.encode("utf-16-le")) // 2,
        **fields,
    }


def take(payload: dict[str, Any], key: str = "message") -> InboundMessage | None:
    return receive(Update.model_validate({"update_id": 1, key: payload}), ME, "42", NOW)


def taken(payload: dict[str, Any], key: str = "message") -> InboundMessage:
    message = take(payload, key)
    assert message is not None
    return message


def said(text: str, *mentions: str, chat: dict[str, Any] = GROUP, **fields: Any) -> InboundMessage:
    entities = [entity(text, word) for word in mentions]
    return taken(msg(chat, text=text, entities=entities, **fields))


# --- who, where, when ----------------------------------------------------------------------------


def test_a_private_message_is_addressed_and_complete() -> None:
    message = taken(msg(text="What is 2+2?"))
    assert message == InboundMessage(
        message_id="7:10",
        target=ReplyTarget(channel="telegram", account="42", chat="7", reply_to="10"),
        chat_kind=ChatKind.PRIVATE,
        sender=message.sender,
        content=Text(text="What is 2+2?"),
        addressed=True,
        received_at=datetime.fromtimestamp(SENT, UTC),
    )
    assert (message.sender.account, message.sender.name, message.sender.language) == (
        "telegram:7",
        "Ada L.",
        "en-GB",
    )


def test_the_same_number_in_two_chats_is_two_messages() -> None:
    assert taken(msg(text="a")).message_id != taken(msg(GROUP, text="a")).message_id


@pytest.mark.parametrize(
    ("chat", "fields", "thread", "shared"),
    [
        (DM, {}, None, False),
        (DM, TOPIC, "55", False),
        (DM, {"message_thread_id": 55}, None, False),
        (GROUP, {}, None, False),
        (SUPERGROUP, {}, None, False),
        (SUPERGROUP, {"message_thread_id": 55}, None, False),
        (FORUM, TOPIC, "55", True),
        (FORUM, {}, "1", True),
        (FORUM, {"message_thread_id": 1}, "1", True),
        (FORUM, {"message_thread_id": 1, "is_topic_message": True}, "1", True),
        (FORUM, {"message_thread_id": 9}, "1", True),
    ],
)
def test_a_topic_is_kept_and_a_reply_thread_is_none(
    chat: dict[str, Any], fields: dict[str, Any], thread: str | None, shared: bool
) -> None:
    message = taken(msg(chat, text="hi", **fields))
    assert message.target.thread == thread
    assert message.shared_thread is shared
    assert message.chat_kind is (ChatKind.PRIVATE if chat is DM else ChatKind.GROUP)


@pytest.mark.parametrize("kind", ["group", "supergroup", "channel", "something-new"])
def test_every_chat_that_is_not_private_counts_as_a_group(kind: str) -> None:
    message = taken(msg({"id": -9, "type": kind, "title": "x"}, text="hi"))
    assert (message.chat_kind, message.addressed) == (ChatKind.GROUP, False)


@pytest.mark.parametrize(
    "payload",
    [
        msg(text="hi", **{"from": {**TUTOR, "id": 43}}),
        msg(text="hi", **{"from": TUTOR}),
        msg(text="hi", **{"from": None}),
        msg(
            GROUP,
            text="hi @Tutor_Bot",
            sender_chat=GROUP,
            **{"from": {"id": 1087968824, "is_bot": True, "first_name": "Group"}},
        ),
        msg(
            SUPERGROUP,
            text="news",
            is_automatic_forward=True,
            sender_chat={"id": -300, "type": "channel", "title": "News"},
            **{"from": {"id": 777000, "is_bot": False, "first_name": "Telegram"}},
        ),
        msg(SUPERGROUP, text="hi", message_id=0, ephemeral_message_id=4),
        msg({**SUPERGROUP, "is_direct_messages": True}, text="hi"),
        msg(GROUP, new_chat_members=[BOB]),
        msg(GROUP, left_chat_member=BOB),
        msg(GROUP, pinned_message=msg(GROUP, text="old")),
        msg(GROUP, migrate_to_chat_id=-100),
        msg(FORUM, forum_topic_created={"name": "T", "icon_color": 1}, **TOPIC),
        msg(FORUM, forum_topic_closed={}, **TOPIC),
    ],
)
def test_what_no_person_said_is_nothing(payload: dict[str, Any]) -> None:
    assert take(payload) is None


def test_updates_of_other_kinds_are_nothing() -> None:
    post = msg({"id": -300, "type": "channel", "title": "News"}, text="x", **{"from": None})
    assert take(post, "channel_post") is None


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ({"first_name": "Ada\u202e\n\tB\x07"}, "Ada B"),
        ({"first_name": "\u2066", "username": "ada"}, "ada"),
        ({"first_name": " "}, "7"),
        ({"first_name": "\u200d\u3164", "last_name": "\u2800"}, "7"),
        ({"first_name": "x" * 300}, "x" * 64),
        ({"first_name": "👩\u200d🏫"}, "👩\u200d🏫"),
    ],
)
def test_names_are_made_safe_to_show(user: dict[str, Any], name: str) -> None:
    sender = {"id": 7, "is_bot": False, **user}
    assert taken(msg(text="hi", **{"from": sender})).sender.name == name


# --- whether we are meant ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("@tutor_bot hi", "hi"),
        ("@TUTOR_BOT: hi", "hi"),
        ("@tutor_bot，你好", "你好"),
        ("🧑‍🎓你好 @tutor_bot why?", "🧑‍🎓你好 why?"),
        ("hi @tutor_bot", "hi"),
        ("hi @tutor_bot, help", "hi , help"),
        ("one\n@tutor_bot\ntwo", "one\n\ntwo"),
    ],
)
def test_a_mention_addresses_us_and_leaves_the_text(text: str, left: str) -> None:
    word = next(part for part in (text[i : i + 10] for i in range(len(text))) if part[0] == "@")
    message = said(text, word)
    assert message.addressed
    assert message.content == Text(text=left)


def test_an_emoji_before_the_mention_shifts_nothing() -> None:
    text = "😀😀 @tutor_bot hi @alice"
    message = said(text, "@tutor_bot", "@alice")
    assert message.content == Text(text="😀😀 hi @alice")


@pytest.mark.parametrize(
    "text", ["@alice can you take this?", "@tutor_bot2 hi", "@tutor hi", "hello everyone"]
)
def test_a_message_for_somebody_else_stays_unaddressed(text: str) -> None:
    mentions = [text.split()[0]] if text.startswith("@") else []
    message = said(text, *mentions)
    assert not message.addressed
    assert message.content == Text(text=text)


def test_our_name_without_an_entity_is_no_mention() -> None:
    assert not said("mail me at x@tutor_bot").addressed


def test_mentions_without_username_become_names() -> None:
    text = "Tutor: ask my friend"
    entities = [
        entity(text, "Tutor", "text_mention", user=TUTOR),
        entity(text, "my friend", "text_mention", user={**BOB, "first_name": "Bob 😀"}),
    ]
    message = taken(msg(GROUP, text=text, entities=entities))
    assert message.addressed
    assert message.content == Text(text="ask Bob 😀")


def test_a_mention_in_a_caption_addresses_us() -> None:
    caption = "@tutor_bot what is this?"
    message = taken(
        msg(GROUP, photo=PHOTO, caption=caption, caption_entities=[entity(caption, "@tutor_bot")])
    )
    assert message.addressed
    assert message.content == Text(text="what is this?")
    assert [one.kind for one in message.attachments] == [AttachmentKind.IMAGE]


def test_a_lone_mention_is_an_empty_text() -> None:
    message = said("@tutor_bot", "@tutor_bot")
    assert message.addressed
    assert message.content == Text(text="")


def test_a_reply_to_us_addresses_us_and_a_reply_to_others_does_not() -> None:
    ours = msg(GROUP, text="4", message_id=9, **{"from": TUTOR})
    theirs = msg(GROUP, text="5", message_id=9, **{"from": BOB})
    assert said("why?", reply_to_message=ours).addressed
    assert not said("why?", reply_to_message=theirs).addressed


def test_the_root_of_a_topic_is_no_reply_even_when_we_opened_the_topic() -> None:
    root = msg(
        FORUM,
        message_id=55,
        forum_topic_created={"name": "T", "icon_color": 1},
        **{"from": TUTOR},
    )
    bare = msg(FORUM, message_id=55, text="x", **{"from": TUTOR})
    for reply in (root, bare):
        message = said("hello all", chat=FORUM, reply_to_message=reply, **TOPIC)
        assert (message.addressed, message.quote) == (False, None)


def test_a_true_reply_inside_a_topic_is_one() -> None:
    ours = msg(FORUM, message_id=60, text="4", **TOPIC, **{"from": TUTOR})
    message = said("why?", chat=FORUM, reply_to_message=ours, **TOPIC)
    assert message.addressed
    assert message.quote == Quote(author="Tutor", text="4", message_id="60", from_tutor=True)


# --- commands ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("/help", "help", ""),
        ("/Start deep_link", "start", "deep_link"),
        ("/add Q\nline two :: A\n", "add", "Q\nline two :: A"),
        ("/add\nQ :: A", "add", "Q :: A"),
        ("/help@tutor_bot", "help", ""),
        ("/add@TUTOR_bot 2+2 :: 4", "add", "2+2 :: 4"),
        ("/unknown_one x", "unknown_one", "x"),
    ],
)
@pytest.mark.parametrize("chat", [DM, GROUP])
def test_a_command_is_read(chat: dict[str, Any], text: str, name: str, arguments: str) -> None:
    message = taken(msg(chat, text=text))
    overheard = chat is GROUP and "@" not in text
    assert message.content == Command(name=name, arguments=arguments, overheard=overheard)
    assert message.addressed


@pytest.mark.parametrize("text", ["/", "/ help", "/etc/passwd", "//x", "half/help", "/héllo x"])
def test_what_only_looks_like_a_command_is_text(text: str) -> None:
    message = taken(msg(GROUP, text=text))
    assert message.content == Text(text=text)
    assert not message.addressed


def test_a_command_in_code_is_text() -> None:
    text = "/stop"
    assert taken(msg(text=text, entities=[entity(text, text, "pre")])).content == Text(text=text)


def test_a_command_for_another_bot_is_not_ours_even_as_a_reply_to_us() -> None:
    ours = msg(GROUP, text="4", message_id=9, **{"from": TUTOR})
    message = said("/forget@other_bot", reply_to_message=ours)
    assert not message.addressed
    assert message.content == Text(text="/forget@other_bot")
    assert taken(msg(text="/forget@other_bot")).content == Text(text="/forget@other_bot")


def test_a_command_after_our_mention_is_a_command() -> None:
    message = said("@tutor_bot /add Q :: A", "@tutor_bot")
    assert message.content == Command(name="add", arguments="Q :: A")


# --- edits ---------------------------------------------------------------------------------------


def test_an_edit_is_a_new_version_of_the_same_message() -> None:
    payload = msg(text="What is 2+3?", edit_date=SENT + 60)
    message = taken(payload, "edited_message")
    assert message.edited
    assert message.message_id == taken(msg(text="What is 2+2?")).message_id
    assert message.content == Text(text="What is 2+3?")
    assert message.received_at == datetime.fromtimestamp(SENT + 60, UTC)


@pytest.mark.parametrize("text", ["/stop", "/stop now", "/forget@other_bot", "/etc/passwd"])
def test_an_edit_never_is_a_command(text: str) -> None:
    assert take(msg(text=text, edit_date=SENT), "edited_message") is None


def test_an_edit_to_a_mention_and_a_command_is_no_command_either() -> None:
    text = "@tutor_bot /stop"
    payload = msg(GROUP, text=text, entities=[entity(text, "@tutor_bot")])
    assert take(payload, "edited_message") is None


def test_an_edited_caption_is_a_new_version_of_what_stands_under_the_picture() -> None:
    new = take(msg(photo=PHOTO, caption="new"), "edited_message")
    assert new is not None
    assert new.edited
    assert new.content == Text(text="new")
    assert take(msg(photo=PHOTO, caption="/stop"), "edited_message") is None


# --- what we cannot read -------------------------------------------------------------------------

FILE = {"file_id": "f", "file_unique_id": "u"}
SQUARE = {**FILE, "width": 1, "height": 1}


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (
            "sticker",
            {**SQUARE, "type": "regular", "is_animated": False, "is_video": False},
        ),
        ("video", {**SQUARE, "duration": 1}),
        ("video_note", {**FILE, "length": 1, "duration": 1}),
        ("contact", {"phone_number": "1", "first_name": "A"}),
        ("location", {"latitude": 1.0, "longitude": 1.0}),
        ("dice", {"emoji": "🎲", "value": 1}),
        (
            "poll",
            {
                "id": "1",
                "question": "?",
                "options": [],
                "total_voter_count": 0,
                "is_closed": False,
                "is_anonymous": True,
                "type": "regular",
                "allows_multiple_answers": False,
                "allows_revoting": False,
                "members_only": False,
            },
        ),
    ],
)
def test_a_medium_is_named_and_its_caption_is_not_taken_for_the_whole(
    kind: str, payload: Any
) -> None:
    message = taken(msg(caption="/help", **{kind: payload}))
    assert message.content == Unsupported(what=kind)


def test_a_kind_the_library_does_not_know_is_not_passed_over_in_silence() -> None:
    assert taken(msg(hologram={"file_id": "f"})).content == Unsupported(what="unknown")


# --- what comes with a message -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (
            {"photo": [*PHOTO, {**PHOTO[0], "file_id": "big", "width": 9, "height": 9}]},
            Attachment(id="big", kind=AttachmentKind.IMAGE, mime="image/jpeg"),
        ),
        (
            {"voice": {**FILE, "duration": 1, "file_size": 7}},
            Attachment(id="f", kind=AttachmentKind.VOICE, mime="audio/ogg", size=7),
        ),
        (
            {"audio": {**FILE, "duration": 1, "file_name": "a.mp3", "mime_type": "audio/mpeg"}},
            Attachment(id="f", kind=AttachmentKind.VOICE, name="a.mp3", mime="audio/mpeg"),
        ),
        (
            {"document": {**FILE, "file_name": "n.pdf", "mime_type": "application/pdf"}},
            Attachment(id="f", kind=AttachmentKind.FILE, name="n.pdf", mime="application/pdf"),
        ),
        (
            {"document": {**FILE, "file_name": "p.png", "mime_type": "image/png"}},
            Attachment(id="f", kind=AttachmentKind.IMAGE, name="p.png", mime="image/png"),
        ),
        (
            {"document": {**FILE, "file_name": "s.wav", "mime_type": "audio/wav"}},
            Attachment(id="f", kind=AttachmentKind.VOICE, name="s.wav", mime="audio/wav"),
        ),
    ],
)
def test_what_comes_with_a_message_can_be_asked_for(
    payload: dict[str, Any], expected: Attachment
) -> None:
    message = taken(msg(caption="/help", **payload))
    assert message.content == Text(text="/help"), "a caption runs nothing"
    assert message.attachments == (expected,)


def test_the_pictures_of_an_album_are_events_of_one_question() -> None:
    album = [
        taken(msg(photo=PHOTO, media_group_id="77", message_id=number)) for number in (10, 11, 12)
    ]
    assert len({one.message_id for one in album}) == 3
    assert {one.album for one in album} == {"77"}


def test_an_album_that_cannot_be_read_is_one_event() -> None:
    video = {**SQUARE, "duration": 1}
    ids = {
        taken(msg(video=video, media_group_id="77", message_id=number)).message_id
        for number in (10, 11, 12)
    }
    assert len(ids) == 1


def test_a_text_so_long_that_the_app_cut_it_says_so() -> None:
    assert said("字" * 4090).cut
    assert not said("字" * 3000).cut


def test_a_forwarded_picture_is_an_attachment_and_its_caption_the_quote() -> None:
    origin = {"type": "hidden_user", "sender_user_name": "Eve", "date": 1}
    message = taken(msg(photo=PHOTO, caption="her words", forward_origin=origin))
    assert message.content == Text(text="")
    assert message.quote == Quote(author="Eve", text="her words")
    assert len(message.attachments) == 1


def test_the_addressed_picture_of_a_group_album_is_not_hidden_by_the_others() -> None:
    caption = "@tutor_bot this"
    entities = [entity(caption, "@tutor_bot")]
    silent = taken(msg(GROUP, photo=PHOTO, media_group_id="77", message_id=10))
    meant = taken(
        msg(
            GROUP,
            photo=PHOTO,
            media_group_id="77",
            message_id=11,
            caption=caption,
            caption_entities=entities,
        )
    )
    assert silent.message_id != meant.message_id


# --- quotes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ({"text": "old words"}, "old words"),
        ({"photo": PHOTO, "caption": "a map"}, "a map"),
        ({"photo": PHOTO}, "[photo]"),
        ({"voice": {**FILE, "duration": 1}}, "[voice]"),
    ],
)
def test_a_reply_quotes_what_it_answers(reply: dict[str, Any], text: str) -> None:
    quoted = msg(GROUP, message_id=9, **{"from": BOB}, **reply)
    quote = said("why?", reply_to_message=quoted).quote
    assert quote is not None
    assert (quote.author, quote.text, quote.message_id) == ("Bob", text, "9")
    assert len(quote.attachments) == ("text" not in reply)


def test_a_marked_passage_stands_for_the_whole() -> None:
    quoted = msg(GROUP, message_id=9, text="long and short", **{"from": BOB})
    message = said("why?", reply_to_message=quoted, quote={"text": "short", "position": 9})
    assert message.quote == Quote(author="Bob", text="short", message_id="9")


def test_a_reply_to_a_chat_names_the_chat() -> None:
    quoted = msg(GROUP, message_id=9, text="x", sender_chat=GROUP, **{"from": None})
    quote = said("why?", reply_to_message=quoted).quote
    assert quote is not None and quote.author == "Study"


@pytest.mark.parametrize(
    ("extra", "text"),
    [
        ({"quote": {"text": "part", "position": 0}}, "part"),
        ({}, "[text]"),
    ],
)
def test_a_reply_across_chats_is_quoted(extra: dict[str, Any], text: str) -> None:
    origin = {"type": "user", "date": SENT, "sender_user": TUTOR}
    external = {"origin": origin, "message_id": 3}
    message = said("why?", external_reply=external, **extra)
    assert message.quote == Quote(author="Tutor", text=text, from_tutor=True)
    assert message.addressed


def test_a_picture_answered_across_chats_is_named() -> None:
    origin = {"type": "hidden_user", "date": SENT, "sender_user_name": "Anna"}
    message = said("why?", external_reply={"origin": origin, "photo": PHOTO})
    assert message.quote == Quote(author="Anna", text="[photo]")
    assert not message.addressed


@pytest.mark.parametrize(
    ("origin", "author", "from_tutor"),
    [
        ({"type": "user", "sender_user": BOB}, "Bob", False),
        ({"type": "user", "sender_user": TUTOR}, "Tutor", True),
        ({"type": "hidden_user", "sender_user_name": "Anna"}, "Anna", False),
        ({"type": "chat", "sender_chat": GROUP}, "Study", False),
        (
            {
                "type": "channel",
                "chat": {"id": -300, "type": "channel", "title": "News"},
                "message_id": 5,
            },
            "News",
            False,
        ),
    ],
)
def test_a_forwarded_text_is_a_quote_and_runs_nothing(
    origin: dict[str, Any], author: str, from_tutor: bool
) -> None:
    message = taken(msg(text="/forget me", forward_origin={"date": SENT, **origin}))
    assert message.content == Text(text="")
    assert message.quote == Quote(author=author, text="/forget me", from_tutor=from_tutor)


def test_a_forwarded_mention_addresses_nobody() -> None:
    origin = {"type": "user", "date": SENT, "sender_user": BOB}
    assert not said("@tutor_bot hi", "@tutor_bot", forward_origin=origin).addressed


# --- buttons -------------------------------------------------------------------------------------


def press(message: dict[str, Any] | None, **fields: Any) -> InboundMessage | None:
    query = {"id": "q1", "from": BOB, "chat_instance": "c", "data": "grade:1:good", **fields}
    if message is not None:
        query["message"] = message
    return take(query, "callback_query")


@pytest.mark.parametrize(
    ("chat", "fields", "thread", "kind"),
    [
        (DM, {}, None, ChatKind.PRIVATE),
        (DM, TOPIC, "55", ChatKind.PRIVATE),
        (GROUP, {}, None, ChatKind.GROUP),
        (FORUM, TOPIC, "55", ChatKind.GROUP),
        (FORUM, {}, "1", ChatKind.GROUP),
    ],
)
def test_a_press_answers_where_its_button_is(
    chat: dict[str, Any], fields: dict[str, Any], thread: str | None, kind: ChatKind
) -> None:
    message = press(msg(chat, text="?", message_id=9, **fields, **{"from": TUTOR}))
    assert message is not None
    assert message.message_id == "cb:q1"
    assert message.sender.account == "telegram:8", "the one who pressed, not the author"
    assert message.content == Press(action="grade:1:good", origin="9")
    assert message.target == ReplyTarget(
        channel="telegram", account="42", chat=str(chat["id"]), thread=thread, reply_to="9"
    )
    assert (message.chat_kind, message.addressed) == (kind, True)
    assert message.shared_thread is (thread is not None and kind is ChatKind.GROUP)
    assert message.received_at == NOW


def test_a_press_on_a_message_too_old_to_show_still_counts() -> None:
    message = press({"chat": DM, "message_id": 9, "date": 0})
    assert message is not None
    assert message.target.reply_to == "9"


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        ({"chat": FORUM, "message_id": 9, "date": 0}, {}),
        (None, {"inline_message_id": "i"}),
        (msg(text="?"), {"data": None, "game_short_name": "chess"}),
    ],
)
def test_a_press_that_cannot_be_answered_in_its_place_is_nothing(
    message: dict[str, Any] | None, fields: dict[str, Any]
) -> None:
    assert press(message, **fields) is None


# --- for any text --------------------------------------------------------------------------------


@given(st.text(), st.text())
def test_our_mention_is_found_and_removed_between_any_two_texts(before: str, after: str) -> None:
    text = f"{before}@tutor_bot{after}"
    offset = len(before.encode("utf-16-le")) // 2
    message = taken(
        msg(GROUP, text=text, entities=[{"type": "mention", "offset": offset, "length": 10}])
    )
    assert message.addressed
    words = f"{message.content.text if isinstance(message.content, Text) else ''}"
    if isinstance(message.content, Text):
        skipped = str.maketrans("", "", " ,:，：、\x00")
        kept = "".join((before + after).translate(skipped).split())
        assert "".join(words.translate(skipped).split()) == kept


@given(st.text(min_size=1), st.integers(-5, 40), st.integers(-5, 40))
def test_no_entity_however_wrong_breaks_the_text(text: str, offset: int, length: int) -> None:
    from aiogram.types import MessageEntity

    wrong = MessageEntity(type="mention", offset=offset, length=length)
    words, mentioned = own_words(text, [wrong], ME.id, ME.username)
    assert (words, mentioned) == (text.replace("\x00", "").strip(), False)


@given(st.text())
def test_a_shown_name_is_one_short_line(name: str) -> None:
    shown = shown_name(name)
    assert len(shown) <= LONGEST_NAME
    assert shown == shown.strip()
    assert len(shown.splitlines()) <= 1
