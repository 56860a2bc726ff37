"""Two partners of one platform in one house: each account with a persona and doors of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterator

import pytest

from core.access import AccessMode, AccessPolicy
from core.channel import ChannelStartError
from core.i18n import Language
from core.partners import Partner
from tests.house.conftest import MakeHome
from tests.house.home import Home, code_in, hanging, system
from tests.servers.openai import OpenAIServer
from tests.servers.telegram import TelegramServer

OWNER = "telegram:1"


class Beside(Home):
    """A second account in a house that is open already."""

    def __init__(self, home: Home, telegram: TelegramServer) -> None:
        self.__dict__.update(home.__dict__)
        self.telegram = telegram


def partner(
    *,
    mode: AccessMode = AccessMode.OPEN,
    allow: Collection[str] = (),
    persona: str | None = "euler",
    language: Language | None = None,
) -> Partner:
    return Partner(AccessPolicy(mode, frozenset({OWNER}), allow), "Maths", persona, language)


@pytest.fixture
def second() -> Iterator[TelegramServer]:
    with TelegramServer(rates=None, token="43:SECOND", username="maths_bot") as server:
        yield server


@pytest.fixture
async def home(second: TelegramServer, make_home: MakeHome) -> AsyncIterator[Home]:
    yield await make_home(mode=AccessMode.OPEN, owners=[OWNER])


async def beside(home: Home, second: TelegramServer, teaching: Partner) -> Beside:
    maths = Beside(home, second)
    await home.house.open(maths.channel(), teaching)
    return maths


async def test_each_account_has_its_persona_and_a_learners_choice_wins(
    home: Home, telegram: TelegramServer, second: TelegramServer
) -> None:
    maths = await beside(home, second, partner())
    here, there = telegram.user(7, "Ada"), second.user(7, "Ada")
    await home.tell(here, "why?")
    await maths.tell(there, "why?")
    plain, euler = map(system, home.prompts)
    assert "Euler" in euler and "Euler" not in plain
    assert "Euler" in (await maths.tell(there, "/start")).text
    assert "● Euler" in (await maths.tell(there, "/persona")).text
    await maths.tell(there, "/persona socrates")
    await maths.tell(there, "why?")
    assert "Euler" not in system(home.prompts[-1])


async def test_one_person_is_one_learner_with_two_conversations(
    home: Home, telegram: TelegramServer, second: TelegramServer
) -> None:
    maths = await beside(home, second, partner())
    here, there = telegram.user(7, "Ada"), second.user(7, "Ada")
    await home.tell(here, "/remember I like cats")
    await home.tell(here, "first question")
    await maths.tell(there, "second question")
    assert "I like cats" in system(home.prompts[-1])
    assert "first question" not in str(home.prompts[-1].json["messages"][1:])


async def test_a_language_of_an_account_is_spoken_unless_the_learner_chose(
    home: Home, second: TelegramServer
) -> None:
    maths = await beside(home, second, partner(language="zh"))
    ada = second.user(7, "Ada")
    assert "什么都可以问我" in (await maths.tell(ada, "/help")).text
    await maths.tell(ada, "/language en")
    assert "Ask me anything" in (await maths.tell(ada, "/help")).text
    menus = [request.json for request in second.requests_of("setMyCommands")]
    default = [menu for menu in menus if not menu.get("language_code")]
    assert "问好" in str(default) or "招呼" in str(default)


async def test_access_is_judged_by_the_account_one_writes_to(
    home: Home, telegram: TelegramServer, second: TelegramServer
) -> None:
    closed = partner(mode=AccessMode.PAIRING, allow=["telegram:8"], language="zh")
    maths = await beside(home, second, closed)
    ada, ben = second.user(7, "Ada"), second.user(8, "Ben")
    assert (await home.tell(telegram.user(7, "Ada"), "hello")).text == "Go on."
    assert (await maths.tell(ben, "hello")).text == "Go on."
    refused = await maths.tell(ada, "hello")
    assert len(home.prompts) == 2
    await home.approve(code_in(refused.text))
    await maths.quiet()
    assert "可以" in ada.private.from_bot[-1].text or "进来" in ada.private.from_bot[-1].text
    assert (await maths.tell(ada, "hello")).text == "Go on."


async def test_what_waits_at_a_start_is_judged_by_its_own_account(
    home: Home, second: TelegramServer, openai: OpenAIServer
) -> None:
    maths = await beside(home, second, partner())
    reply, gate = hanging()
    openai.script(reply)
    second.user(7, "Ada").say("hello")
    await maths.taken()
    waiting = home.house._intake.unfinished
    assert [job.message.target.account for job in await waiting("telegram", "43")] == ["43"]
    home.house.partners.put("telegram", "43", partner(mode=AccessMode.ALLOWLIST))
    assert await waiting("telegram", "43") == []
    gate.release()
    await maths.quiet()


async def test_health_and_status_tell_the_accounts_apart(
    home: Home, telegram: TelegramServer, second: TelegramServer
) -> None:
    maths = Beside(home, second)
    second.refuse("getMe", 401, "Unauthorized")
    with pytest.raises(ChannelStartError):
        await home.house.open(maths.channel(), partner())
    assert home.house.health()["telegram"] is None
    assert home.house.health()["telegram (Maths)"]
    second.clear_faults()
    await home.house.open(maths.channel(), partner())
    assert home.house.health() == {"telegram": None, "telegram (Maths)": None}
    said = (await home.tell(telegram.user(1, "Owner"), "/status")).text
    assert "telegram: works" in said and "telegram (Maths): works" in said


async def test_the_log_names_the_account_of_a_partner(home: Home, second: TelegramServer) -> None:
    maths = await beside(home, second, partner())
    await maths.tell(second.user(7, "Ada"), "hello")
    lines = [line for line in home.log.splitlines() if "turn ended" in line]
    assert '"door": "telegram (Maths)"' in lines[-1]
