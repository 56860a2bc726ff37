"""Finding one's way: settings, help, odd input."""

from __future__ import annotations

from tests.house.home import Home, spoken
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer, media

ZONES = [
    ("Tokyo", "Asia/Tokyo", "18:00"),
    ("北京", "Asia/Shanghai", "17:00"),
    ("东京", "Asia/Tokyo", "18:00"),
    ("america/new_york", "America/New_York", "04:00"),
    ("UTC+5:30", "Asia/Kolkata", "14:30"),
    ("+8", "Etc/GMT-8", "17:00"),
]


async def test_a_zone_is_set_by_city_name_or_offset(home: Home, telegram: TelegramServer) -> None:
    ada = telegram.user(7, "Ada")
    for city, zone, clock in ZONES:
        answer = await home.tell(ada, f"/timezone {city}")
        assert answer.text == f"Your time zone is {zone}: it is {clock} there now."
        assert zone in (await home.tell(ada, "/timezone")).text


async def test_an_ambiguous_place_is_asked_back_with_buttons_that_work(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    answer = await home.tell(ada, "/timezone USA")
    assert answer.text == "Which one do you mean?"
    assert len(answer.labels) > 2
    for label in answer.labels:
        asked = await home.tell(ada, "/timezone USA")
        shown, below = await home.press(asked, label)
        assert shown.text.startswith(f"Your time zone is {label}: it is"), label
        assert below == []
        assert label in (await home.tell(ada, "/timezone")).text


async def test_a_place_nobody_knows_changes_nothing(home: Home, telegram: TelegramServer) -> None:
    ada = telegram.user(7, "Ada")
    for garbage in ("Atlantis", "UTC+99", "../../etc/passwd", "🦓", "*" * 3000):
        answer = await home.tell(ada, f"/timezone {garbage}")
        assert "don't know a place" in answer.text
        assert "/timezone Berlin" in answer.text
        assert "Europe/Berlin" in (await home.tell(ada, "/timezone")).text


async def test_the_language_is_chosen_by_word_or_button_and_given_back(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    for word, ready in (("zh", "准备好了"), ("English", "ready"), ("中文", "准备好了")):
        await home.tell(ada, f"/language {word}")
        assert ready in (await home.tell(ada, "/status")).text.casefold()
    await home.tell(ada, "/language auto")
    assert "ready" in (await home.tell(ada, "/status")).text
    question = await home.tell(ada, "/language")
    assert question.labels == ["English", "中文", "Like my app"]
    shown, _ = await home.press(question, "中文")
    assert "中文" in shown.text
    unknown = await home.tell(ada, "/language klingon")
    assert "中文" in unknown.labels
    await home.press(unknown, "English")
    assert "ready" in (await home.tell(ada, "/status")).text


async def test_help_lists_exactly_the_commands_that_are_registered_and_built(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    listed = [
        code.removeprefix("/").partition(" ")[0]
        for code in (await home.tell(ada, "/help")).covered("code")
    ]
    built = [command.spec.name for command in home.house.book.commands]
    assert listed == built
    assert telegram.commands() == built
    assert telegram.commands("zh") == built
    for name in built:
        answers = await home.ask(ada.private, ada, f"/{name}")
        assert answers, name
        assert "don't know" not in answers[0].text, name


async def test_help_with_a_name_explains_that_command_alone(
    home: Home, telegram: TelegramServer
) -> None:
    ada, group = telegram.user(7, "Ada"), telegram.supergroup()
    for asked in ("/help add", "/help /ADD"):
        answer = (await home.tell(ada, asked)).text
        assert "/add QUESTION :: ANSWER save a question that comes back" in answer
        assert "/persona" not in answer
    assert "/persona" in (await home.tell(ada, "/help nothing")).text
    [closed] = await home.ask(group, ada, "/help memory")
    assert "/memory" not in closed.text, "a group is not shown what it would be refused"


async def test_help_has_a_button_for_each_command_that_needs_nothing_more(
    home: Home, telegram: TelegramServer
) -> None:
    ada, group = telegram.user(7, "Ada"), telegram.supergroup()
    menu = await home.tell(ada, "/help")
    assert {"/new", "/review", "/persona", "/timezone"} <= set(menu.labels)
    assert not {"/add", "/remember", "/help", "/status", "/stop", "/regenerate"} & set(menu.labels)
    for label in menu.labels:
        still, below = await home.press(menu, label)
        assert still == menu, label
        said = await home.ask(ada.private, ada, label)
        if label != "/link":  # which gives another code
            assert [m.text for m in below] == [m.text for m in said], label
    [shown] = await home.ask(group, ada, "/help")
    assert "/persona" in shown.labels
    assert not {"/review", "/memory", "/timezone"} & set(shown.labels)
    answers = await home.press_forged(ada, shown, "run:memory")
    assert "privately" in answers[-1].text


def test_commands_suggest_what_may_follow_in_the_language_of_the_app(home: Home) -> None:
    english, chinese = (dict(menu.choices) for menu in home.house.book.menus())

    def values(name: str, typed: str) -> list[str]:
        return [choice.value for choice in english[name](typed, "en")]

    assert values("persona", "SOC") == ["socrates"]
    assert set(values("persona", "")) >= {"euler", "socrates"}
    [socrates] = chinese["persona"]("socrates", "zh")
    assert not socrates.label.isascii()
    assert values("persona", "nobody") == []
    assert values("language", "") == ["en", "zh"]
    assert values("language", "Eng") == ["en"]
    assert values("language", "中") == ["zh"]
    assert values("timezone", "berlin") == ["Europe/Berlin"]
    assert values("timezone", "") == []
    assert values("help", "/rem") == ["remember", "remind"]


async def test_an_unknown_command_is_answered_with_the_nearest_one(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    assert "Did you mean /review?" in (await home.tell(ada, "/reveiw")).text
    answer = (await home.tell(ada, "/zzzzzz")).text
    assert "I don't know /zzzzzz." in answer
    assert "/help" in answer
    assert "I don't know /a_b_c." in (await home.tell(ada, "/a_b_c")).text
    assert home.prompts == []


async def test_a_command_of_another_bot_is_passed_over_in_a_group(
    home: Home, telegram: TelegramServer
) -> None:
    ada, group = telegram.user(7, "Ada"), telegram.supergroup()
    assert await home.ask(group, ada, "/zzzzzz") == []
    [named] = await home.ask(group, ada, "/zzzzzz@tutor_bot")
    assert "I don't know /zzzzzz." in named.text
    [ours] = await home.ask(group, ada, "/help")
    assert "/persona" in ours.text
    assert "/review" not in ours.text, "a group is not shown what it would be refused"
    assert "privately" in ours.text


async def test_a_mention_without_words_is_asked_what_it_wants(
    home: Home, telegram: TelegramServer
) -> None:
    ada, group = telegram.user(7, "Ada"), telegram.supergroup()
    [answer] = await home.ask(group, ada, "@tutor_bot")
    assert "What shall we work on?" in answer.text
    assert home.prompts == []


async def test_what_cannot_be_read_is_said_in_one_sentence(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    media.sticker(ada.private, ada)
    media.poll(ada.private, ada, "zebra7?", ["a", "b"])
    await home.quiet()
    assert [m.text for m in ada.private.from_bot] == [
        "That kind of message is beyond me. Write it out, please, or send a picture or a file."
    ] * 2
    assert home.prompts == []
    assert not [r for r in telegram.requests if r.name in ("getFile", "download")]
    assert "zebra7" not in home.log


async def test_a_message_of_100_kb_is_answered_or_refused_in_words(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    assert (await home.tell(ada, "word " * 20_000, unlimited=True)).text == "Go on."
    assert len(spoken(home.prompts[-1])[-1][1]) > 99_000
    answer = (await home.tell(ada, "字" * 100_000, unlimited=True)).text
    assert "100,000 characters, more than I can read at once" in answer
    assert len(home.prompts) == 1
    assert (await home.tell(ada, "短一点？")).text == "Go on."


async def test_control_characters_reach_neither_chat_nor_log(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "A\u202eda\x1b[31m")
    openai.default = Reply("a\x1b[31m\u202e\x07b \ud7ff")
    answer = await home.tell(ada, "what\x1b[2J is\u202e this\x07?")
    assert answer.text.startswith("a[31mb")
    assert "\x1b" not in home.log
    assert "\u202e" not in home.log
    unknown = (await home.tell(ada, "/z\u202ez")).text
    assert "\u202e" not in unknown
    assert (await home.tell(ada, "/remember \u202e\x1b[31mhello")).text
    shown = (await home.tell(ada, "/memory")).text
    assert "hello" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


async def test_a_button_of_another_version_says_that_it_is_out_of_date(
    home: Home, telegram: TelegramServer
) -> None:
    ada = telegram.user(7, "Ada")
    message = await home.tell(ada, "/start")
    [answer] = await home.press_forged(ada, message, "nothing:1:2")
    assert "out of date" in answer.text


async def test_the_buttons_of_the_greeting_work(home: Home, telegram: TelegramServer) -> None:
    ada = telegram.user(7, "Ada")
    hello = await home.tell(ada, "/start")
    _, [tutors] = await home.press(hello, "Choose a tutor")
    assert tutors.labels == ["Socrates", "Euler", "Hopper", "Humboldt"]
    _, [way] = await home.press(hello, "How this works")
    assert "/review" in way.text


async def test_an_answer_that_did_not_surely_arrive_is_shown_again_on_demand(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada, eve = telegram.user(7, "Ada"), telegram.user(8, "Eve")
    openai.default = Reply("The answer.")
    telegram.drop("sendMessage")
    ada.say("why?")
    await home.quiet()
    [notice] = ada.private.from_bot
    assert notice.labels == ["Show again"]
    data = notice.buttons[0]["callback_data"]
    theirs = await home.tell(eve, "/start")
    [refused] = await home.press_forged(eve, theirs, data)
    assert "not here any more" in refused.text
    _, [answer] = await home.press(notice, "Show again")
    assert answer.text == "The answer."


async def test_a_notice_without_a_receipt_is_said_again(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.default = Reply("The answer.")
    telegram.drop("sendMessage", times=2)
    ada.say("why?")
    notice = await ada.private.wait_message()
    await home.quiet()
    assert notice.labels == ["Show again"]
    assert len(ada.private.from_bot) == 1
    assert len(telegram.requests_of("sendMessage")) == 3
    _, [answer] = await home.press(notice, "Show again")
    assert answer.text == "The answer."


async def test_a_clock_that_is_set_back_makes_nothing_be_sent_twice(
    home: Home, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    ada = telegram.user(7, "Ada")
    openai.default = Reply("The answer.")
    gate = telegram.hold("sendMessage")
    ada.say("why?")
    await gate.wait_reached()
    home.clock.advance(hours=-1)
    gate.drop()
    await home.quiet()
    answer, notice = ada.private.from_bot
    assert answer.text == "The answer."
    assert notice.labels == ["Show again"]
