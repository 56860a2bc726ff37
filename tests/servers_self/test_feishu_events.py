"""What people do in chats, and what the bot is told of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.servers.feishu import FeishuServer, Shown
from tests.servers_self.feishu_callers import OpenApi, button, card, markdown, sending


def told(message: Shown) -> dict[str, Any]:
    """Return the event that told of a message."""
    assert message.delivery is not None
    event: dict[str, Any] = message.delivery.body["event"]
    return event


def content(message: Shown) -> Any:
    return json.loads(told(message)["message"]["content"])


def last(feishu: FeishuServer) -> dict[str, Any]:
    return feishu.deliveries[-1].body


async def test_a_private_message_names_its_author_and_chat(feishu: FeishuServer) -> None:
    ada = feishu.user("Ada", locale="zh_CN")
    event = told(ada.say("你好"))
    assert event["sender"] == {
        "sender_id": {"open_id": ada.open_id, "union_id": ada.union_id, "user_id": None},
        "sender_type": "user",
        "tenant_key": feishu.state.tenant_key,
    }
    message = event["message"]
    assert (message["chat_type"], message["message_type"]) == ("p2p", "text")
    assert message["chat_id"] == ada.private.chat_id
    assert json.loads(message["content"]) == {"text": "你好"}
    assert message["create_time"].isdigit() and len(message["create_time"]) == 13
    assert "LarkLocale/zh_CN" in message["user_agent"]
    assert not {"mentions", "root_id", "parent_id", "thread_id"} & message.keys()


async def test_a_user_id_needs_its_own_scope_and_company(feishu: FeishuServer) -> None:
    ada, stranger = feishu.user("Ada"), feishu.user("Eve", external=True)
    feishu.grant_scopes("contact:user.employee_id:readonly")
    assert told(ada.say("hi"))["sender"]["sender_id"]["user_id"] == ada.user_id
    assert told(stranger.say("hi"))["sender"]["sender_id"]["user_id"] is None


async def test_mentions_become_placeholders_with_entries(feishu: FeishuServer) -> None:
    ada, bob = feishu.user("Ada"), feishu.user("Bob")
    group = feishu.group("Study", ada, bob)
    said = group.say(ada, "@Tutor ask @Bob, not @Ada. @Bob!")
    assert content(said) == {"text": "@_user_1 ask @_user_2, not @_user_3. @_user_2!"}
    mentions = told(said)["message"]["mentions"]
    assert [(one["key"], one["name"], one["id"]["open_id"]) for one in mentions] == [
        ("@_user_1", "Tutor", feishu.bot.open_id),
        ("@_user_2", "Bob", bob.open_id),
        ("@_user_3", "Ada", ada.open_id),
    ]
    assert [one["mentioned_type"] for one in mentions] == ["bot", "user", "user"]
    assert said.text == "@Tutor ask @Bob, not @Ada. @Bob!"


async def test_ten_mentions_have_one_key_that_begins_another(feishu: FeishuServer) -> None:
    people = [feishu.user(f"P{number}") for number in range(10)]
    group = feishu.group("Study", *people)
    said = group.say(people[0], "@Tutor " + " ".join(f"@{one.name}" for one in people))
    keys = [one["key"] for one in told(said)["message"]["mentions"]]
    assert keys == [f"@_user_{number}" for number in range(1, 12)]
    assert said.text.endswith("@P8 @P9")


async def test_a_longer_name_wins_over_one_that_begins_it(feishu: FeishuServer) -> None:
    ann, anna = feishu.user("Ann"), feishu.user("Anna")
    group = feishu.group("Study", ann, anna)
    said = group.say(ann, "@Tutor and @Anna")
    assert told(said)["message"]["mentions"][1]["name"] == "Anna"


async def test_a_group_message_reaches_the_bot_only_when_it_is_called(
    feishu: FeishuServer,
) -> None:
    ada = feishu.user("Ada")
    group = feishu.group("Study", ada)
    assert group.say(ada, "just between us").delivery is None
    assert group.say(ada, "@Ada is me").delivery is None
    assert group.say(ada, "@Tutor you").delivery is not None
    feishu.grant_scopes("im:message.group_msg")
    assert group.say(ada, "all of it now").delivery is not None
    feishu.revoke_scopes("im:message.p2p_msg:readonly")
    assert ada.say("not private ones").delivery is None


@pytest.mark.parametrize("listed", [False, True])
async def test_everyone_is_a_word_and_sometimes_an_entry(
    feishu: FeishuServer, listed: bool
) -> None:
    ada = feishu.user("Ada")
    group = feishu.group("Study", ada)
    said = group.say(ada, "@all lunch", all_listed=listed)
    assert content(said) == {"text": "@_all lunch"}
    mentions = told(said)["message"].get("mentions", [])
    assert [one["key"] for one in mentions] == (["@_all"] if listed else [])
    assert said.text == "@所有人 lunch"


async def test_a_post_has_placeholders_inside_its_elements(feishu: FeishuServer) -> None:
    ada = feishu.user("Ada")
    group = feishu.group("Study", ada)
    rows = [
        [
            {"tag": "at", "user_id": feishu.bot.open_id},
            {"tag": "text", "text": " /new x"},
        ],
        [{"tag": "img", "image_key": "img_1"}],
    ]
    said = group.say_rich(ada, rows, "Title")
    assert content(said) == {
        "title": "Title",
        "content": [
            [
                {"tag": "at", "user_id": "@_user_1", "user_name": "Tutor"},
                {"tag": "text", "text": " /new x"},
            ],
            [{"tag": "img", "image_key": "img_1"}],
        ],
    }
    assert told(said)["message"]["mentions"][0]["id"]["open_id"] == feishu.bot.open_id
    assert said.text == "Title\n@Tutor /new x\n[img]"


async def test_other_kinds_come_with_their_keys(feishu: FeishuServer) -> None:
    ada = feishu.user("Ada")
    chat = ada.private
    sent = [
        chat.send_image(ada, b"png"),
        chat.send_file(ada, b"pdf", "a.pdf"),
        chat.send_audio(ada, b"opus", 1500),
        chat.send_sticker(ada),
        chat.send_card(ada, card(markdown("secret **word**"), button("Go", {"a": 1}))),
    ]
    kinds = [told(one)["message"]["message_type"] for one in sent]
    assert kinds == ["image", "file", "audio", "sticker", "interactive"]
    assert set(content(sent[0])) == {"image_key"}
    assert content(sent[1])["file_name"] == "a.pdf"
    assert content(sent[2])["duration"] == 1500
    assert set(content(sent[3])) == {"file_key"}
    assert content(sent[4]) == {
        "title": "",
        "elements": [
            [{"tag": "text", "text": "secret **word**"}],
            [{"tag": "text", "text": "Go"}],
        ],
    }


async def test_a_forwarded_bundle_is_told_of_without_its_parts(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada, bob = feishu.user("Ada"), feishu.user("Bob")
    group = feishu.group("Study", ada, bob)
    parts = [group.say(ada, "one"), group.say(bob, "two")]
    bundle = ada.private.forward(ada, parts)
    assert content(bundle) == {"content": "Merged and Forwarded Message"}
    found = await platform.data("GET", f"/im/v1/messages/{bundle.message_id}")
    assert [item["msg_type"] for item in found["items"]] == ["merge_forward", "text", "text"]
    assert [item.get("upper_message_id") for item in found["items"]] == [
        None,
        bundle.message_id,
        bundle.message_id,
    ]
    assert ada.private.messages == [bundle]


async def test_an_answer_hangs_on_the_message_it_quotes(feishu: FeishuServer) -> None:
    ada = feishu.user("Ada")
    first = ada.say("one")
    second = ada.say("two", reply_to=first)
    third = ada.say("three", reply_to=second)
    assert (second.root_id, second.parent_id) == (first.message_id, first.message_id)
    assert (third.root_id, third.parent_id) == (first.message_id, second.message_id)
    assert told(third)["message"]["parent_id"] == second.message_id
    assert third.thread_id is None


async def test_a_topic_keeps_its_thread_and_root(feishu: FeishuServer) -> None:
    ada = feishu.user("Ada")
    group = feishu.group("Study", ada)
    topic = group.topic(ada, "a question")
    answer = topic.say(ada, "@Tutor please")
    quoting = topic.say(ada, "@Tutor this", reply_to=answer)
    assert topic.id.startswith("omt_")
    assert [one.thread_id for one in topic.messages] == [topic.id] * 3
    assert (answer.root_id, answer.parent_id) == (topic.root.message_id,) * 2
    assert (quoting.root_id, quoting.parent_id) == (topic.root.message_id, answer.message_id)
    assert told(answer)["message"]["thread_id"] == topic.id
    assert group.say(ada, "@Tutor beside it").thread_id is None


async def test_every_message_of_a_topic_group_opens_a_topic(feishu: FeishuServer) -> None:
    ada = feishu.user("Ada")
    group = feishu.topic_group("Questions", ada)
    one, other = group.say(ada, "@Tutor one"), group.say(ada, "@Tutor other")
    assert one.thread_id and other.thread_id and one.thread_id != other.thread_id
    assert one.root_id is None
    below = group.say(ada, "@Tutor below", reply_to=one)
    assert (below.thread_id, below.root_id) == (one.thread_id, one.message_id)
    assert told(one)["message"]["chat_type"] == "group"


async def test_an_edit_shows_without_an_event(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    said = ada.say("helo")
    before = len(feishu.deliveries)
    ada.private.edit(said, "hello")
    assert len(feishu.deliveries) == before
    found = await platform.data("GET", f"/im/v1/messages/{said.message_id}")
    assert found["items"][0]["updated"] is True
    assert json.loads(found["items"][0]["body"]["content"]) == {"text": "hello"}
    feishu.state.subscribed.add("im.message.updated_v1")
    ada.private.edit(said, "hello!")
    assert last(feishu)["header"]["event_type"] == "im.message.updated_v1"


async def test_a_recall_is_told_and_leaves_a_gap(feishu: FeishuServer, platform: OpenApi) -> None:
    ada = feishu.user("Ada")
    said = ada.say("oops")
    ada.private.recall(said)
    assert ada.private.messages == []
    assert last(feishu)["header"]["event_type"] == "im.message.recalled_v1"
    assert last(feishu)["event"]["message_id"] == said.message_id
    found = await platform.data("GET", f"/im/v1/messages/{said.message_id}")
    assert found["items"][0]["deleted"] is True and "oops" not in json.dumps(found)


async def test_reactions_are_told_also_the_bots_own(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    said = ada.say("hi")
    ada.private.react(said, "THUMBSUP", ada)
    event = last(feishu)["event"]
    assert (event["operator_type"], event["user_id"]["open_id"]) == ("user", ada.open_id)
    path = f"/im/v1/messages/{said.message_id}/reactions"
    made = await platform.data("POST", path, {"reaction_type": {"emoji_type": "Typing"}})
    event = last(feishu)["event"]
    assert (event["operator_type"], event["app_id"]) == ("app", feishu.app_id)
    assert (await ada.private.wait_reaction(said, "Typing")).by is None
    await platform.data("DELETE", f"{path}/{made['reaction_id']}")
    assert last(feishu)["header"]["event_type"] == "im.message.reaction.deleted_v1"
    assert ada.private.now(said).emojis == ["THUMBSUP"]


async def test_reading_entering_and_membership_are_told(feishu: FeishuServer) -> None:
    ada = feishu.user("Ada")
    said = ada.say("hi")
    ada.private.read(ada, said)
    assert last(feishu)["event"]["message_id_list"] == [said.message_id]
    ada.enter()
    assert last(feishu)["event"]["last_message_id"] == said.message_id
    group = feishu.group("Study", ada)
    group.kick_bot(ada)
    assert last(feishu)["header"]["event_type"] == "im.chat.member.bot.deleted_v1"
    assert group.say(ada, "@Tutor gone?").delivery is None
    group.add_bot(ada)
    assert last(feishu)["header"]["event_type"] == "im.chat.member.bot.added_v1"
    assert last(feishu)["event"]["operator_id"]["open_id"] == ada.open_id


async def test_an_event_of_any_shape_can_be_pushed(feishu: FeishuServer) -> None:
    assert feishu.push_raw({"no": "header"}).event_type == ""
    assert feishu.push_event("im.new_v2", {}).event_type == "im.new_v2"


async def test_somebody_outside_the_range_cannot_write(feishu: FeishuServer) -> None:
    ada = feishu.user("Ada")
    ada.available = False
    with pytest.raises(ValueError, match="cannot find the bot"):
        ada.say("hi")


async def test_waiting_sees_only_the_bots_messages_below(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    receiver = {"receive_id": ada.open_id}
    path = "/im/v1/messages"
    await platform.data(
        "POST", path, sending("text", {"text": "one"}, **receiver), receive_id_type="open_id"
    )
    said = ada.say("two")
    with pytest.raises(TimeoutError, match="the chat shows\n  bot: one\n  Person"):
        await ada.private.wait_message(after=said, within=0.01)
    await platform.data(
        "POST", path, sending("text", {"text": "three"}, **receiver), receive_id_type="open_id"
    )
    found = await ada.private.wait_message(lambda shown: "e" in shown.text, after=said)
    assert found.text == "three"
    assert ada.private.wait_message_blocking().text == "one"
