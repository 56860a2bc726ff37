"""What events mean: pure, from the JSON the platform sends to our own words."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.feishu.receive import Known, Me, author_of, bundled, parent_of, receive
from core.context import (
    AttachmentKind,
    ChatKind,
    Command,
    InboundMessage,
    Press,
    Quote,
    Text,
    Unsupported,
)

ME = Me(app_id="cli_a1b2c3d4e5f6a7b8", open_id="ou_bot")
UNKNOWN = Known()
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
BOT = {"key": "@_user_1", "id": {"open_id": "ou_bot"}, "name": "Tutor"}
BOB = {"key": "@_user_2", "id": {"open_id": "ou_bob"}, "name": "Bob"}
TENTH = {"key": "@_user_10", "id": {"open_id": "ou_ten"}, "name": "Ten"}


def event(
    content: object = None,
    kind: str = "text",
    *,
    mentions: list[dict[str, Any]] | None = None,
    chat_type: str = "p2p",
    sender_type: str = "user",
    **message: Any,
) -> dict[str, Any]:
    """An event as the platform sends it; ``content`` is encoded unless it is a string."""
    given = {"text": "hello"} if content is None else content
    return {
        "schema": "2.0",
        "header": {"event_id": "ev_1", "event_type": "im.message.receive_v1"},
        "event": {
            "sender": {"sender_id": {"open_id": "ou_ada"}, "sender_type": sender_type},
            "message": {
                "message_id": "om_1",
                "create_time": "1772366400000",
                "chat_id": "oc_1",
                "chat_type": chat_type,
                "message_type": kind,
                "content": given if isinstance(given, str) else json.dumps(given),
                **({"mentions": mentions} if mentions else {}),
                **message,
            },
        },
    }


def heard(*args: Any, known: Known = UNKNOWN, **more: Any) -> InboundMessage:
    found = receive(event(*args, **more), ME, NOW, known)
    assert found is not None
    return found


def text_of(*args: Any, **more: Any) -> str:
    content = heard(*args, **more).content
    assert isinstance(content, Text), content
    return content.text


def press(value: object, **more: Any) -> dict[str, Any]:
    return {
        "schema": "2.0",
        "header": {"event_id": "ev_2", "event_type": "card.action.trigger"},
        "event": {
            "operator": {"open_id": "ou_ada"},
            "token": "c-1",
            "action": {"tag": "button", "value": value},
            "context": {"open_message_id": "om_card", "open_chat_id": "oc_1"},
            **more,
        },
    }


def test_a_private_message_is_ours_and_its_whole_address_is_kept() -> None:
    message = heard(user_agent="Mozilla/5.0 Lark/7.30.0 LarkLocale/zh_CN SDK/7", known=Known("Ada"))
    assert message.message_id == "om_1"
    assert message.addressed
    assert message.chat_kind is ChatKind.PRIVATE
    assert message.target.model_dump() == {
        "channel": "feishu",
        "account": ME.app_id,
        "chat": "oc_1",
        "thread": None,
        "reply_to": "om_1",
    }
    assert message.sender.account == f"feishu:{ME.app_id}/ou_ada"
    assert (message.sender.name, message.sender.language) == ("Ada", "zh-CN")
    assert message.received_at == datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_a_group_message_is_ours_only_when_we_are_meant() -> None:
    assert not heard(chat_type="group").addressed
    mentioned = heard({"text": "@_user_1 why?"}, chat_type="group", mentions=[BOT])
    assert mentioned.addressed
    assert mentioned.chat_kind is ChatKind.GROUP
    assert mentioned.content == Text(text="why?")


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("@_user_2 hello", [BOB]),
        ("@_user_2 hello", [{**BOB, "id": {"open_id": "ou_bot2", "user_id": None}}]),
        ("@_all hello", []),
        ("@_all hello", [{"key": "@_all", "id": {"open_id": ""}, "name": "Everyone"}]),
        ("@Tutor hello", []),
    ],
)
def test_a_mention_of_anybody_else_wakes_nobody(text: str, mentions: list[Any]) -> None:
    assert not heard({"text": text}, chat_type="group", mentions=mentions).addressed


def test_a_chat_type_nobody_knows_counts_as_a_group() -> None:
    assert heard(chat_type="mystery").chat_kind is ChatKind.GROUP


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("@_user_1 assign to @_user_2", "assign to @Bob"),
        ("@_user_10 and @_user_2, @_user_1", "@Ten and @Bob,"),
        ("@_user_1，你好", "你好"),
        ("ask @_user_1 about it", "ask about it"),
        ("@_user_7 typed by hand", "@_user_7 typed by hand"),
        ("hello @_all", "hello @all"),
        ("@_user_1", ""),
    ],
)
def test_placeholders_become_names_and_our_own_goes(text: str, read: str) -> None:
    assert text_of({"text": text}, mentions=[BOT, BOB, TENTH]) == read


def test_a_name_cannot_turn_a_line_around() -> None:
    mention = {**BOB, "name": "B\u202eob\nX"}
    assert text_of({"text": "@_user_2 hi"}, mentions=[mention]) == "@Bob X hi"


@given(st.text(max_size=60))
def test_text_without_mentions_is_kept_as_it_is(text: str) -> None:
    content = heard({"text": text}).content
    if isinstance(content, Text):
        assert content.text == text.replace("\x00", "").replace("@_all", "@all").strip()
    elif isinstance(content, Unsupported):
        assert not text.replace("\x00", "").strip()


@pytest.mark.parametrize(
    "rows",
    [
        [
            [{"tag": "text", "text": "see "}, {"tag": "a", "text": "this", "href": "https://x.y"}],
            [
                {"tag": "at", "user_id": "@_user_2", "user_name": "B"},
                {"tag": "text", "text": " ok"},
            ],
            [{"tag": "emotion", "emoji_type": "SMILE"}],
            [{"tag": "code_block", "language": "PYTHON", "text": "x = 1\n"}],
            [{"tag": "img", "image_key": "img_1"}],
            [{"tag": "md", "text": "**why**"}],
        ]
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_post_is_read_row_by_row(rows: list[Any], wrapped: bool) -> None:
    post: dict[str, Any] = {"title": "Question", "content": rows}
    read = text_of({"zh_cn": post} if wrapped else post, "post", mentions=[BOB])
    assert read == (
        "Question\nsee this (https://x.y)\n@Bob ok\n[SMILE]\n\n```python\nx = 1\n```\n\n\n**why**"
    )


def test_a_command_is_found_behind_the_mention_in_texts_and_posts() -> None:
    wanted = Command(name="add", arguments="2+2 :: 4")
    for content, kind in (
        ({"text": "@_user_1 /add 2+2 :: 4"}, "text"),
        (
            {
                "title": "",
                "content": [
                    [
                        {"tag": "at", "user_id": "@_user_1", "user_name": "Tutor"},
                        {"tag": "text", "text": " /add 2+2 :: 4"},
                    ]
                ],
            },
            "post",
        ),
    ):
        message = heard(content, kind, chat_type="group", mentions=[BOT])
        assert message.content == wanted
        assert message.addressed


def test_a_bare_command_in_a_group_is_overheard() -> None:
    message = heard({"text": "/add 2+2 :: 4"}, chat_type="group")
    assert message.content == Command(name="add", arguments="2+2 :: 4", overheard=True)
    assert message.addressed


def test_code_that_begins_with_a_slash_is_no_command() -> None:
    rows = [[{"tag": "code_block", "language": "", "text": "/add x"}]]
    assert isinstance(heard({"title": "", "content": rows}, "post").content, Text)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("sticker", {"file_key": "f"}),
        ("merge_forward", {"content": "Merged and Forwarded Message"}),
        ("a_kind_of_tomorrow", {}),
        ("image", {"image_key": 7}),
        ("file", []),
        ("text", "no json"),
    ],
)
def test_what_cannot_be_read_is_said_to_be_so(kind: str, content: object) -> None:
    assert heard(content, kind).content == Unsupported(what=kind)


def test_a_card_that_is_passed_on_is_a_quote_and_runs_nothing() -> None:
    card = {"title": "/stop", "elements": [[{"tag": "text", "text": "words"}]]}
    message = heard(card, "interactive")
    assert message.content == Text(text="")
    assert message.quote is not None and message.quote.text == "/stop\nwords"


def test_the_pictures_of_a_post_come_with_its_words() -> None:
    rows = [[{"tag": "text", "text": "why?"}], [{"tag": "img", "image_key": "img_1"}]]
    for content in (
        {"title": "", "content": rows},
        {"zh_cn": {"title": "", "content": rows}},
    ):
        message = heard(content, "post")
        assert message.content == Text(text="why?")
        assert [one.id.split()[1:] for one in message.attachments] == [["image", "img_1"]]


def test_of_a_bundle_no_more_is_read_than_fits() -> None:
    one = {"msg_type": "text", "sender": {"id": "ou_bob"}}
    words = {**one, "body": {"content": json.dumps({"text": "x" * 2_000})}}
    assert len(bundled([one, *[words] * 500], {})) == 30_000
    short = {**one, "body": {"content": json.dumps({"text": "x"})}}
    assert bundled([one, *[short] * 500], {"ou_bob": "Bob"}) == "\n".join(["Bob: x"] * 100)
    assert bundled("nothing", {}) == ""


def test_a_video_is_a_file_alone_and_in_a_post() -> None:
    video = {"file_key": "file_1", "image_key": "img_1", "file_name": "proof.mp4"}
    rows = [[{"tag": "media", **video}], [{"tag": "text", "text": "why?"}]]
    for content, kind in ((video, "media"), ({"title": "", "content": rows}, "post")):
        [one] = heard(content, kind).attachments
        assert (one.kind, one.mime, one.name) == (AttachmentKind.FILE, "video/mp4", "proof.mp4")
        assert one.id.split()[1:] == ["file", "file_1"]


def test_all_of_a_group_are_we_only_where_that_is_wished() -> None:
    entry = {"key": "@_all", "id": {"open_id": ""}, "name": "Everyone"}
    post = {
        "title": "",
        "content": [[{"tag": "at", "user_id": "all"}, {"tag": "text", "text": "?"}]],
    }
    wished = replace(ME, answers_all=True)
    for content, kind, mentions in (
        ({"text": "@_all /help"}, "text", []),
        ({"text": "@_all /help"}, "text", [entry]),
        (post, "post", []),
    ):
        body = event(content, kind, chat_type="group", mentions=mentions)
        kept, meant = receive(body, ME, NOW), receive(body, wished, NOW)
        assert kept is not None and meant is not None
        assert (kept.addressed, meant.addressed) == (False, True)
        assert isinstance(kept.content, Text) and kept.content.text.startswith("@all")
        said = meant.content
        assert said == (Text(text="?") if kind == "post" else Command(name="help"))
    plain = receive(event({"text": "hello"}, chat_type="group"), wished, NOW)
    assert plain is not None and not plain.addressed


def test_a_text_so_long_that_the_app_may_have_cut_it_says_so() -> None:
    assert heard({"text": "字" * 9_500}).cut
    assert not heard({"text": "字" * 5_000}).cut


@pytest.mark.parametrize("changes", [{"sender_type": "app"}, {"kind": "system"}])
def test_nobody_hears_of_bots_and_of_the_platform_itself(changes: dict[str, Any]) -> None:
    assert receive(event(**changes), ME, NOW) is None


def test_events_of_other_kinds_mean_nothing() -> None:
    body = {"schema": "2.0", "header": {"event_type": "im.message.message_read_v1"}, "event": {}}
    assert receive(body, ME, NOW) is None
    assert receive({}, ME, NOW) is None


def test_a_topic_is_kept_and_shared_in_groups_alone() -> None:
    there = heard(chat_type="group", thread_id="omt_1")
    assert (there.target.thread, there.shared_thread) == ("omt_1", True)
    private = heard(thread_id="omt_1")
    assert (private.target.thread, private.shared_thread) == ("omt_1", False)


def parent(sender: dict[str, str], **more: Any) -> dict[str, Any]:
    return {
        "message_id": "om_0",
        "msg_type": "text",
        "sender": sender,
        "body": {"content": json.dumps({"text": "@_user_1 first"})},
        "mentions": [{"key": "@_user_1", "id": "ou_bot", "name": "Tutor"}],
        **more,
    }


OURS = {"id": ME.app_id, "sender_type": "app"}


def test_a_reply_to_us_is_addressed_and_a_reply_to_others_is_not() -> None:
    ours = heard(chat_type="group", parent_id="om_0", known=Known(parent=parent(OURS)))
    assert ours.addressed
    assert ours.quote == Quote(author="", text="@Tutor first", message_id="om_0", from_tutor=True)
    other_bot = {"id": "cli_other", "sender_type": "app"}
    for sender in (other_bot, {"id": "ou_bob", "sender_type": "user"}):
        known = Known(parent=parent(sender), parent_author="Bob")
        message = heard(chat_type="group", parent_id="om_0", known=known)
        assert not message.addressed
        assert message.quote is not None
        assert (message.quote.author, message.quote.from_tutor) == ("Bob", False)


def test_a_card_replied_to_is_quoted_by_its_words_and_a_picture_by_its_kind() -> None:
    words = json.dumps({"title": "T", "elements": [[{"tag": "text", "text": "body"}]]})
    card = parent(OURS, msg_type="interactive", body={"content": words}, mentions=[])
    quote = heard(known=Known(parent=card)).quote
    assert quote is not None
    assert quote.text == "T\nbody"
    picture = parent(OURS, msg_type="image", body={"content": "{}"}, mentions=[])
    quote = heard(known=Known(parent=picture)).quote
    assert quote is not None
    assert quote.text == "[image]"


def test_what_stands_in_a_topic_replies_to_nothing_unless_it_quotes() -> None:
    assert parent_of(event(parent_id="om_0")) == "om_0"
    assert parent_of(event(parent_id="om_0", root_id="om_0", thread_id="omt_1")) is None
    assert parent_of(event(parent_id="om_5", root_id="om_0", thread_id="omt_1")) == "om_5"
    assert parent_of(press({})) is None


def test_an_author_is_us_only_by_app_id() -> None:
    assert author_of({"sender": OURS}, ME) == (ME.app_id, True)
    assert author_of({"sender": {"id": ME.app_id, "sender_type": "user"}}, ME)[1] is False
    assert author_of({}, ME) == ("", False)


def test_a_press_brings_its_action_its_card_and_its_thread() -> None:
    found = receive(press({"action": "grade:3", "thread": "omt_1"}), ME, NOW, Known("Ada"))
    assert found is not None
    assert found.content == Press(action="grade:3", origin="om_card")
    assert found.message_id == "cb:c-1"
    assert (found.target.chat, found.target.thread) == ("oc_1", "omt_1")
    assert found.target.reply_to == "om_card"
    assert (found.chat_kind, found.shared_thread) == (ChatKind.GROUP, True)
    assert found.received_at == NOW


def test_a_press_in_a_chat_known_to_be_private_is_private() -> None:
    found = receive(press({"action": "grade:3"}), ME, NOW, Known(private=True))
    assert found is not None
    assert found.chat_kind is ChatKind.PRIVATE


@pytest.mark.parametrize("value", [None, "text", {"other": 1}, {"action": 3}])
def test_a_press_on_a_button_that_is_not_ours_means_nothing(value: object) -> None:
    assert receive(press(value), ME, NOW) is None
