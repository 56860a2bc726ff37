"""What every channel promises to those who change their cards."""

from __future__ import annotations

from tests.contract.home import StageHome
from tests.contract.stage import AnyStage


async def test_a_card_is_edited_by_its_button_and_in_words(
    home: StageHome, stage: AnyStage
) -> None:
    ada = stage.person()
    place = stage.private(ada)
    saved = (await home.ask(place, ada, "/add How much is 7×8? :: 54"))[-1]
    before = stage.shown(place)
    formed = await stage.fill(place, ada, saved, "Edit", ("How much is 7×8?", "56"))
    await home.quiet()
    [answer] = home.new(place, before)
    if not formed:
        [line] = answer.code
        assert line.endswith("How much is 7×8? :: 54")
        answer = (await home.ask(place, ada, line.replace("54", "56")))[-1]
    assert answer.text.startswith("Changed.")
    assert "56" in answer.text
    assert "54" not in answer.text

    found = (await home.ask(place, ada, "/cards 7×8"))[-1]
    shown, new = await home.press(place, ada, found, "How much is 7×8?")
    card = new[-1] if new else shown
    assert "56" in card.text
    assert card.labels == ("Edit", "Delete")
    shown, new = await home.press(place, ada, card, "Delete")
    sure = new[-1] if new else shown
    shown, new = await home.press(place, ada, sure, "Delete it")
    assert "Deleted." in (new[-1] if new else shown).text
    assert "no cards yet" in (await home.ask(place, ada, "/cards"))[-1].text
