"""Every limit of the Bot API server turns an offending request away, in the platform's words."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.servers.telegram import USUAL, TelegramServer
from tests.servers.telegram.limits import LIFTED, FloodControl, Rates
from tests.servers_self.conftest import BotApi


def keyboard(**button: Any) -> dict[str, Any]:
    return {"inline_keyboard": [[{"text": "ok", **button}]]}


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("x" * 4096, True),
        ("x" * 4097, False),
        ("😀" * 2048, True),
        ("😀" * 2049, False),
        ("  " + "x" * 4096 + "\n\n", True),
    ],
)
async def test_a_text_has_at_most_4096_utf16_units(
    telegram: TelegramServer, api: BotApi, text: str, accepted: bool
) -> None:
    telegram.user(7, started=True)
    status, answer = await api("sendMessage", chat_id=7, text=text)
    assert (status == 200) is accepted
    if not accepted:
        assert answer["description"] == "Bad Request: message is too long"


async def test_markup_does_not_count_as_text(telegram: TelegramServer, api: BotApi) -> None:
    telegram.user(7, started=True)
    marked = "<b>" + "x" * 4096 + "</b>"
    await api.result("sendMessage", chat_id=7, text=marked, parse_mode="HTML")
    refused = await api.refused("sendMessage", chat_id=7, text=marked + "y", parse_mode="HTML")
    assert refused == (400, "Bad Request: message is too long")


@pytest.mark.parametrize("text", ["", " ", "\n\t ", None])
async def test_an_empty_text_is_refused(
    telegram: TelegramServer, api: BotApi, text: str | None
) -> None:
    telegram.user(7, started=True)
    refused = await api.refused("sendMessage", chat_id=7, text=text)
    assert refused == (400, "Bad Request: message text is empty")


async def test_markup_around_nothing_is_an_empty_text(
    telegram: TelegramServer, api: BotApi
) -> None:
    telegram.user(7, started=True)
    refused = await api.refused("sendMessage", chat_id=7, text="<b> </b>", parse_mode="HTML")
    assert refused == (400, "Bad Request: message text is empty")


@pytest.mark.parametrize(
    ("data", "accepted"),
    [("x" * 64, True), ("x" * 65, False), ("", False), ("é" * 32, True), ("é" * 33, False)],
)
async def test_callback_data_has_1_to_64_bytes(
    telegram: TelegramServer, api: BotApi, data: str, accepted: bool
) -> None:
    ada = telegram.user(7, started=True)
    status, answer = await api(
        "sendMessage", chat_id=7, text="x", reply_markup=keyboard(callback_data=data)
    )
    assert (status == 200) is accepted
    assert len(ada.private.messages) == int(accepted)
    if not accepted:
        assert answer["description"] == "Bad Request: BUTTON_DATA_INVALID"


@pytest.mark.parametrize(
    ("markup", "reason"),
    [
        (
            {"inline_keyboard": [[{"callback_data": "x"}]]},
            "can't parse inline keyboard button: Can't find field \"text\"",
        ),
        ({"inline_keyboard": [[{"text": " ", "callback_data": "x"}]]}, "BUTTON_TEXT_INVALID"),
        (
            {"inline_keyboard": [[{"text": "x"}]]},
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
        ),
        (
            {"inline_keyboard": [[{"text": "x", "url": "nowhere"}]]},
            "inline keyboard button URL 'nowhere' is invalid",
        ),
        (
            {"inline_keyboard": [[{"text": "x", "callback_data": "x", "style": "pink"}]]},
            "BUTTON_STYLE_INVALID",
        ),
        (
            {"inline_keyboard": [[{"text": "x", "copy_text": {"text": "y" * 257}}]]},
            "BUTTON_COPY_TEXT_INVALID",
        ),
        (
            {"inline_keyboard": [[{"text": "x", "callback_data": "x"}] * 101]},
            "REPLY_MARKUP_TOO_LONG",
        ),
        ({"inline_keyboard": "x"}, 'field "inline_keyboard" must be of type Array of Arrays'),
        ({"buttons": []}, "object expected as reply markup"),
        ("{", "can't parse reply markup JSON object"),
    ],
)
async def test_broken_keyboards_are_refused(
    telegram: TelegramServer, api: BotApi, markup: object, reason: str
) -> None:
    telegram.user(7, started=True)
    refused = await api.refused("sendMessage", chat_id=7, text="x", reply_markup=markup)
    assert refused == (400, f"Bad Request: {reason}")


async def test_the_answer_to_a_press_has_at_most_200_characters_and_comes_once(
    telegram: TelegramServer, api: BotApi
) -> None:
    ada = telegram.user(7, started=True)
    await api.result("sendMessage", chat_id=7, text="x", reply_markup=keyboard(callback_data="go"))
    press = ada.private.press(ada.private.messages[0], "ok")
    query = press.query_id
    refused = await api.refused("answerCallbackQuery", callback_query_id=query, text="x" * 201)
    assert refused == (400, "Bad Request: MESSAGE_TOO_LONG")
    assert await api.result("answerCallbackQuery", callback_query_id=query, text="x" * 200) is True
    assert await press.wait_answered() == {"text": "x" * 200, "show_alert": False}
    too_old = "Bad Request: query is too old and response timeout expired or query ID is invalid"
    assert await api.refused("answerCallbackQuery", callback_query_id=query) == (400, too_old)
    assert await api.refused("answerCallbackQuery", callback_query_id="no") == (400, too_old)
    stale = ada.private.press(ada.private.messages[0], "go")
    stale.expire()
    assert await api.refused("answerCallbackQuery", callback_query_id=stale.query_id) == (
        400,
        too_old,
    )
    assert stale.answer is None


async def test_a_reply_to_a_missing_message_is_refused_unless_told_otherwise(
    telegram: TelegramServer, api: BotApi
) -> None:
    ada = telegram.user(7)
    asked = ada.say("why?")
    there = await api.result(
        "sendMessage", chat_id=7, text="x", reply_parameters={"message_id": asked.message_id}
    )
    assert there["reply_to_message"]["text"] == "why?"
    ada.private.remove(asked)
    gone = {"message_id": asked.message_id}
    refused = await api.refused("sendMessage", chat_id=7, text="x", reply_parameters=gone)
    assert refused == (400, "Bad Request: message to be replied not found")
    lenient = {**gone, "allow_sending_without_reply": True}
    sent = await api.result("sendMessage", chat_id=7, text="x", reply_parameters=lenient)
    assert "reply_to_message" not in sent


async def test_an_unknown_thread_and_the_general_topic_are_refused_on_sends(
    telegram: TelegramServer, api: BotApi
) -> None:
    forum = telegram.forum()
    topic = forum.topic("Algebra")
    sent = await api.result("sendMessage", chat_id=forum.id, text="x", message_thread_id=topic.id)
    assert (sent["message_thread_id"], sent["is_topic_message"]) == (topic.id, True)
    for thread in (1, 999):
        refused = await api.refused(
            "sendMessage", chat_id=forum.id, text="x", message_thread_id=thread
        )
        assert refused == (400, "Bad Request: message thread not found")
    typing = {"chat_id": forum.id, "action": "typing"}
    assert await api.result("sendChatAction", **typing, message_thread_id=1) is True
    refused = await api.refused("sendChatAction", **typing, message_thread_id=999)
    assert refused == (400, "Bad Request: message thread not found")
    assert [(shown.action, shown.thread) for shown in forum.actions] == [("typing", None)]


async def test_deleted_and_closed_topics_and_topicless_chats_take_no_thread(
    telegram: TelegramServer, api: BotApi
) -> None:
    forum = telegram.forum()
    topic = forum.topic("Algebra")
    topic.closed = True
    call = {"chat_id": forum.id, "text": "x", "message_thread_id": topic.id}
    assert await api.refused("sendMessage", **call) == (400, "Bad Request: TOPIC_CLOSED")
    topic.delete()
    gone = (400, "Bad Request: message thread not found")
    assert await api.refused("sendMessage", **call) == gone
    ada = telegram.user(7, started=True)
    assert await api.refused("sendMessage", chat_id=7, text="x", message_thread_id=5) == gone
    with pytest.raises(ValueError, match="no topics"):
        ada.private.topic("x")


async def test_unknown_chats_blocked_users_and_lost_groups_are_told_apart(
    telegram: TelegramServer, api: BotApi
) -> None:
    ada, owner = telegram.user(7), telegram.user(8, started=True)
    send = {"text": "x"}
    missing = (400, "Bad Request: chat not found")
    assert await api.refused("sendMessage", chat_id=99, **send) == missing
    assert await api.refused("sendMessage", chat_id="@nobody", **send) == missing
    assert await api.refused("sendMessage", chat_id=7, **send) == missing
    assert await api.refused("sendMessage", **send) == (400, "Bad Request: chat_id is empty")
    ada.say("/start")
    await api.result("sendMessage", chat_id=7, **send)
    ada.block()
    blocked = (403, "Forbidden: bot was blocked by the user")
    for method, more in (
        ("sendMessage", send),
        ("sendChatAction", {"action": "typing"}),
        ("editMessageText", {"message_id": 2, "text": "y"}),
    ):
        assert await api.refused(method, chat_id=7, **more) == blocked
    ada.unblock()
    await api.result("sendMessage", chat_id=7, **send)
    for chat, name in ((telegram.group(), "group"), (telegram.supergroup(), "supergroup")):
        chat.kick_bot(owner)
        refused = await api.refused("sendMessage", chat_id=chat.id, **send)
        assert refused == (403, f"Forbidden: bot was kicked from the {name} chat")
        chat.add_bot(owner)
        await api.result("sendMessage", chat_id=chat.id, **send)


async def test_a_migrated_group_names_its_successor(telegram: TelegramServer, api: BotApi) -> None:
    group = telegram.group()
    successor = group.migrate()
    status, answer = await api("sendMessage", chat_id=group.id, text="x")
    assert status == 400
    assert answer["description"] == "Bad Request: group chat was upgraded to a supergroup chat"
    assert answer["parameters"] == {"migrate_to_chat_id": successor.id}
    await api.result("sendMessage", chat_id=successor.id, text="x")
    notices = [update["message"] for update in telegram.pending_updates]
    assert notices[0]["migrate_to_chat_id"] == successor.id
    assert notices[1]["migrate_from_chat_id"] == group.id


async def test_edits_are_refused_when_nothing_changes_or_it_is_not_ours(
    telegram: TelegramServer, api: BotApi
) -> None:
    ada = telegram.user(7)
    theirs = ada.say("mine")
    markup = keyboard(callback_data="go")
    sent = await api.result("sendMessage", chat_id=7, text="one", reply_markup=markup)
    ours = {"chat_id": 7, "message_id": sent["message_id"]}
    same = await api.refused("editMessageText", **ours, text="one ", reply_markup=markup)
    assert same[0] == 400 and same[1].startswith("Bad Request: message is not modified")
    edited = await api.result("editMessageText", **ours, text="one")
    assert "reply_markup" not in edited and edited["edit_date"]
    assert await api.refused(
        "editMessageText", chat_id=7, message_id=theirs.message_id, text="y"
    ) == (
        400,
        "Bad Request: message can't be edited",
    )
    missing = (400, "Bad Request: message to edit not found")
    assert await api.refused("editMessageText", chat_id=7, message_id=999, text="y") == missing
    assert await api.refused("editMessageText", **ours, text="x" * 4097) == (
        400,
        "Bad Request: MESSAGE_TOO_LONG",
    )
    assert await api.refused("editMessageText", **ours, text=" ") == (
        400,
        "Bad Request: message text is empty",
    )
    await api.result("editMessageReplyMarkup", **ours, reply_markup=markup)
    assert ada.private.from_bot[0].labels == ["ok"]
    again = await api.refused("editMessageReplyMarkup", **ours, reply_markup=markup)
    assert again[1].startswith("Bad Request: message is not modified")


async def test_only_what_may_be_deleted_is_deleted(telegram: TelegramServer, api: BotApi) -> None:
    ada, group = telegram.user(7), telegram.group()
    theirs = group.say(ada, "keep me")
    call = {"chat_id": group.id, "message_id": theirs.message_id}
    assert await api.refused("deleteMessage", **call) == (
        400,
        "Bad Request: message can't be deleted",
    )
    group.bot_is_admin = True
    assert await api.result("deleteMessage", **call) is True
    assert await api.refused("deleteMessage", **call) == (
        400,
        "Bad Request: message to delete not found",
    )
    assert group.messages == []


async def test_only_real_chat_actions_are_shown(telegram: TelegramServer, api: BotApi) -> None:
    telegram.user(7, started=True)
    refused = await api.refused("sendChatAction", chat_id=7, action="thinking")
    assert refused == (400, "Bad Request: wrong parameter action in request")


async def test_drafts_are_for_private_chats_with_an_id_and_end_with_the_message(
    telegram: TelegramServer, api: BotApi
) -> None:
    ada, group = telegram.user(7, started=True), telegram.group()
    assert await api.result("sendMessageDraft", chat_id=7, draft_id=5, text="Thin") is True
    assert await api.result("sendMessageDraft", chat_id=7, draft_id=6, text="") is True
    assert ada.private.drafts == {5: "Thin", 6: ""}
    assert await api.refused("sendMessageDraft", chat_id=group.id, draft_id=5, text="x") == (
        400,
        "Bad Request: TEXTDRAFT_PEER_INVALID",
    )
    assert await api.refused("sendMessageDraft", chat_id=7, draft_id=0, text="x") == (
        400,
        "Bad Request: draft identifier must be non-zero",
    )
    assert await api.refused("sendMessageDraft", chat_id=7, draft_id=5, text="x" * 4097) == (
        400,
        "Bad Request: message is too long",
    )
    await api.result("sendMessage", chat_id=7, text="Thinking done")
    assert ada.private.drafts == {}


def command(name: object = "help", description: object = "Help") -> dict[str, object]:
    return {"command": name, "description": description}


@pytest.mark.parametrize(
    ("commands", "reason"),
    [
        ([command("Help")], "BOT_COMMAND_INVALID"),
        ([command("x" * 33)], "BOT_COMMAND_INVALID"),
        ([command("")], "BOT_COMMAND_INVALID"),
        ([command("a-b")], "BOT_COMMAND_INVALID"),
        ([command(description="")], "BOT_COMMAND_DESCRIPTION_INVALID"),
        ([command(description="x" * 257)], "BOT_COMMAND_DESCRIPTION_INVALID"),
        ([command(f"c{i}") for i in range(101)], "BOT_COMMANDS_TOO_MUCH"),
        ("x", "can't parse commands JSON object"),
        ([1], "can't parse BotCommand: expected an Object"),
    ],
)
async def test_menus_break_no_limit(api: BotApi, commands: object, reason: str) -> None:
    refused = await api.refused("setMyCommands", commands=commands)
    assert refused == (400, f"Bad Request: {reason}")


async def test_menus_are_kept_by_language_and_scope(telegram: TelegramServer, api: BotApi) -> None:
    ada = telegram.user(7, started=True)
    longest = [command(f"{'c' * 29}{i}", "x" * 256) for i in range(100)]
    assert await api.result("setMyCommands", commands=longest) is True
    await api.result("setMyCommands", commands=[command("bangzhu")], language_code="zh")
    private = {"type": "all_private_chats"}
    await api.result("setMyCommands", commands=[command("start")], scope=private)
    one = {"type": "chat", "chat_id": ada.id}
    await api.result("setMyCommands", commands=[command("me")], scope=one)
    assert len(telegram.commands()) == 100
    assert telegram.commands("zh") == ["bangzhu"]
    assert telegram.commands(scope="all_private_chats") == ["start"]
    assert await api.result("getMyCommands", scope=one) == [command("me")]
    await api.result("deleteMyCommands", scope=one)
    assert await api.result("getMyCommands", scope=one) == []
    for wrong, reason in (
        ({"language_code": "zh-CN"}, "invalid language code specified"),
        ({"scope": {"type": "moon"}}, "can't parse BotCommandScope: Unsupported type specified"),
        ({"scope": {"type": "chat"}}, "can't parse BotCommandScope: Can't find field \"chat_id\""),
        ({"scope": {"type": "chat", "chat_id": 99}}, "chat not found"),
    ):
        refused = await api.refused("setMyCommands", commands=[command()], **wrong)
        assert refused == (400, f"Bad Request: {reason}")


async def test_numbers_must_be_numbers(telegram: TelegramServer, api: BotApi) -> None:
    telegram.user(7, started=True)
    refused = await api.refused("editMessageText", chat_id=7, message_id="one", text="x")
    assert refused == (400, 'Bad Request: invalid parameter "message_id": expected an Integer')


async def test_wrong_tokens_and_unknown_methods_are_told_apart(
    telegram: TelegramServer, session: aiohttp.ClientSession
) -> None:
    async def status(path: str) -> tuple[int, str]:
        async with session.post(telegram.url + path) as response:
            return response.status, (await response.json())["description"]

    assert await status("/bot42:WRONG/getMe") == (401, "Unauthorized")
    assert await status("/botnonsense/getMe") == (404, "Not Found")
    assert await status("/bot42:TEST/sendSmoke") == (404, "Not Found")
    assert await status("/") == (404, "Not Found")
    async with session.get(f"{telegram.url}/bot42:TEST/GETME") as response:
        assert (await response.json())["result"]["username"] == "tutor_bot"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


async def test_a_private_chat_takes_three_at_once_and_then_one_a_second(
    session: aiohttp.ClientSession,
) -> None:
    clock = Clock()
    with TelegramServer(rates=USUAL, clock=clock) as server:
        api, ada = BotApi(session, server), server.user(7, started=True)
        server.user(8, started=True)
        for i in range(3):
            await api.result("sendMessage", chat_id=7, text=f"{i}")
        status, answer = await api("sendMessage", chat_id=7, text="3")
        assert status == 429
        assert answer["description"] == "Too Many Requests: retry after 1"
        assert answer["parameters"] == {"retry_after": 1}
        # Another chat is not held up, nor does a refused content cost anything.
        await api.result("sendMessage", chat_id=8, text="x")
        clock.time += 1
        assert (await api.refused("sendMessage", chat_id=7, text=" "))[0] == 400
        await api.result("sendMessage", chat_id=7, text="3")
        assert (await api("sendMessage", chat_id=7, text="4"))[0] == 429
        server.set_rates(None)
        for i in range(50):
            await api.result("sendMessage", chat_id=7, text=f"free {i}")
        assert len(ada.private.messages) == 54


async def test_a_group_takes_twenty_a_minute(session: aiohttp.ClientSession) -> None:
    clock = Clock()
    with TelegramServer(clock=clock) as server:
        api, group = BotApi(session, server), server.group()
        for i in range(20):
            await api.result("sendMessage", chat_id=group.id, text=f"{i}")
            clock.time += 1
        status, answer = await api("sendMessage", chat_id=group.id, text="x")
        assert (status, answer["parameters"]) == (429, {"retry_after": 40})
        clock.time += 40
        await api.result("sendMessage", chat_id=group.id, text="x")


async def test_the_bot_sends_thirty_a_second_in_all(session: aiohttp.ClientSession) -> None:
    clock = Clock()
    with TelegramServer(clock=clock) as server:
        api = BotApi(session, server)
        for i in range(31):
            server.user(100 + i, started=True)
        for i in range(30):
            await api.result("sendMessage", chat_id=100 + i, text="x")
        status, answer = await api("sendMessage", chat_id=130, text="x")
        assert (status, answer["parameters"]) == (429, {"retry_after": 1})
        clock.time += 1
        await api.result("sendMessage", chat_id=130, text="x")


def test_flood_control_forgets_with_time_and_can_be_lifted() -> None:
    clock = Clock()
    control = FloodControl(Rates(private_per_second=0.5, private_burst=1), clock)
    control.count(7, True)
    assert control.wait_of(7, True) == 2
    clock.time += 1.5
    assert control.wait_of(7, True) == 1
    clock.time += 100
    assert control.wait_of(7, True) == 0
    free = FloodControl(LIFTED, clock)
    for _ in range(100):
        free.count(7, True)
        free.count(-7, False)
    assert (free.wait_of(7, True), free.wait_of(-7, False)) == (0, 0)


async def test_the_texts_of_a_bot_have_their_lengths_and_a_text_for_each_language(
    api: BotApi,
) -> None:
    for method, name, most in (
        ("MyDescription", "description", 512),
        ("MyShortDescription", "short_description", 120),
    ):
        assert await api.result(f"set{method}", **{name: "x" * most}) is True
        refused = await api.refused(f"set{method}", **{name: "x" * (most + 1)})
        assert refused == (400, f"Bad Request: {name.upper()}_TOO_LONG")
        await api.result(f"set{method}", **{name: "你好"}, language_code="zh")
        assert await api.result(f"get{method}") == {name: "x" * most}
        assert await api.result(f"get{method}", language_code="zh") == {name: "你好"}
