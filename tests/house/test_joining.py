"""Messages that are one question get one answer, whatever arrives when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from core.context import (
    AccountId,
    Attachment,
    AttachmentKind,
    ChatKind,
    InboundMessage,
    ReplyTarget,
    Sender,
    Text,
)
from core.turns.joining import belongs_to, joined
from tests.house.conftest import MakeHome
from tests.house.home import hanging, spoken
from tests.servers.openai import OpenAIServer, Reply
from tests.servers.telegram import TelegramServer

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
WITHIN = timedelta(seconds=8)


def message(number: int, text: str = "", **values: object) -> InboundMessage:
    target = ReplyTarget(channel="c", account="a", chat="1", reply_to=str(number))
    return InboundMessage.model_validate(
        {
            "message_id": str(number),
            "target": target,
            "chat_kind": ChatKind.PRIVATE,
            "sender": Sender(account=AccountId("c:1"), name="Ada"),
            "content": Text(text=text),
            "addressed": True,
            "received_at": NOON + timedelta(seconds=number),
            **values,
        }
    )


async def test_what_is_sent_during_an_answer_is_one_question(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(join_within=WITHIN)
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(reply, Reply("Both."))
    ada.say("one?")
    await gate.wait_reached()
    ada.say("two?")
    last = ada.say("three?")
    await home.taken()
    gate.release()
    await home.quiet()
    shown = ada.private.from_bot
    assert [m.text for m in shown] == ["late answer", "Both."]
    assert shown[1].reply_to == last.message_id
    assert spoken(home.prompts[1])[-1] == ("user", "two?\nthree?")
    # A late edit of one of them changes its part of what was said.
    ada.private.edit(last, "THREE?")
    await home.tell(ada, "go on")
    assert spoken(home.prompts[2])[-3] == ("user", "two?\nTHREE?")


async def test_messages_joined_before_a_restart_are_answered_once_after_it(
    make_home: MakeHome, telegram: TelegramServer, openai: OpenAIServer
) -> None:
    home = await make_home(join_within=WITHIN)
    ada = telegram.user(7, "Ada")
    reply, gate = hanging()
    openai.script(reply)
    ada.say("one?")
    await gate.wait_reached()
    ada.say("two?")
    await home.taken()
    openai.default = Reply("Both.")
    await home.restart()
    await home.quiet()
    assert [m.text for m in ada.private.from_bot] == ["Both."]
    assert spoken(home.prompts[-1]) == [("user", "one?\ntwo?")]


def test_a_cut_text_is_put_together_without_a_seam() -> None:
    parts = [message(1, "a" * 4096, cut=True), message(2, "b" * 4096, cut=True), message(3, "c")]
    whole = joined(parts)
    assert whole.content == Text(text="a" * 4096 + "b" * 4096 + "c")
    assert (whole.message_id, whole.target.reply_to) == ("1", "3")


def test_an_album_is_one_question_with_all_its_pictures_and_its_caption_once() -> None:
    pictures = [Attachment(id=str(n), kind=AttachmentKind.IMAGE) for n in range(3)]
    parts = [
        message(n, "look" if n == 0 else "", album="x", attachments=(picture,))
        for n, picture in enumerate(pictures)
    ]
    assert belongs_to(parts[0], parts[1], timedelta(0))
    whole = joined(parts)
    assert whole.content == Text(text="look")
    assert whole.attachments == tuple(pictures)


def test_what_is_somebody_elses_or_of_another_kind_stays_apart() -> None:
    first = message(1, "why?")
    other = Sender(account=AccountId("c:2"), name="Ben")
    assert not belongs_to(first, message(2, "me too", sender=other), WITHIN)
    assert not belongs_to(first, message(20, "later"), WITHIN)
    assert not belongs_to(first, message(2, "picture", album="x"), WITHIN)
    assert belongs_to(first, message(2, "and how?"), WITHIN)


@given(st.lists(st.text(max_size=20), min_size=1, max_size=6))
def test_nothing_of_what_was_said_is_lost_in_joining(texts: list[str]) -> None:
    whole = joined([message(n, text) for n, text in enumerate(texts)])
    assert isinstance(whole.content, Text)
    assert whole.content.text.replace("\n", "") == "".join(texts).replace("\n", "")
