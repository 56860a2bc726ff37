from __future__ import annotations

from datetime import date, timedelta

from memory.aging import FADED, crowded, half_life, leaving, room, strength
from memory.document import Audience
from memory.entries import Noted

TODAY = date(2026, 12, 1)


def aged(days: int, sources: int = 1, key: str = "A") -> Noted:
    cited = tuple(f"e_{n}" for n in range(sources))
    return Noted(key, "x", TODAY - timedelta(days=days), Audience.PRIVATE, "", cited)


def test_an_entry_counts_half_after_its_half_life_and_more_with_more_behind_it() -> None:
    assert strength(aged(0), TODAY, 90) == 1.0
    assert strength(aged(90), TODAY, 90) == 0.5
    assert strength(aged(90, sources=4), TODAY, 90) == 1.5
    assert strength(aged(-3), TODAY, 90) == 1.0  # a clock that was set back


def test_what_nothing_confirms_fades_and_lately_fades_soon() -> None:
    assert leaving([aged(30)], "recent", TODAY) == ("A",)
    assert leaving([aged(30)], "profile", TODAY) == ()
    assert leaving([aged(1500)], "profile", TODAY) == ("A",)
    assert leaving([aged(1500)], "profile", TODAY, needed={"A"}) == ()
    edge = aged(int(half_life("chat") * 3.3))
    assert strength(edge, TODAY, half_life("chat")) > FADED
    assert leaving([edge], "chat", TODAY) == ()


def test_in_a_full_document_the_weakest_go_first_and_what_another_rests_on_last() -> None:
    entries = [aged(n, key=f"{n:03d}") for n in range(room("chat") + 2)]
    oldest = [entries[-1].id, entries[-2].id]
    assert list(leaving(entries, "chat", TODAY)) == oldest
    assert list(leaving(entries, "chat", TODAY, needed=oldest)) == [
        entries[-3].id,
        entries[-4].id,
    ]
    strong = aged(200, sources=8, key=entries[-1].id)
    assert strong.id not in leaving([*entries[:-1], strong], "chat", TODAY)


def test_a_document_is_crowded_before_it_is_full() -> None:
    assert crowded("recent", 16)
    assert not crowded("recent", 15)
