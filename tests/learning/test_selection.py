from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from core.learning.selection import (
    DIGEST_LIMITS,
    SESSION_LIMITS,
    DueCard,
    Limits,
    due,
    queue,
)
from core.learning.spacing import Memory, State, retrievability

TODAY = date(2026, 12, 10)


def known(
    name: str,
    *,
    stability: float = 10.0,
    due_in: int = 0,
    ago: int = 10,
    reps: int = 3,
    lapses: int = 0,
    sibling: str | None = None,
) -> DueCard:
    memory = Memory(
        stability=stability,
        difficulty=5.0,
        due_day=TODAY + timedelta(days=due_in),
        last_day=TODAY - timedelta(days=ago),
        reps=reps,
        lapses=lapses,
        state=State.REVIEW,
    )
    return DueCard(name, sibling or name, TODAY - timedelta(days=30), memory)


def new(name: str, *, made_ago: int = 1, sibling: str | None = None) -> DueCard:
    return DueCard(name, sibling or name, TODAY - timedelta(days=made_ago), None)


def names(cards: list[DueCard]) -> list[str]:
    return [card.card_id for card in cards]


def test_the_least_known_comes_first_and_new_ones_last() -> None:
    cards = [new("b"), new("a"), known("strong", stability=50), known("weak", stability=2)]
    assert names(due(cards, TODAY)) == ["weak", "strong", "a", "b"]


def test_a_card_made_today_is_in_a_session_at_once_but_waits_for_a_nudge() -> None:
    cards = [new("today", made_ago=0)]
    assert due(cards, TODAY) == []
    assert queue(cards, TODAY) == []
    assert names(queue(cards, TODAY, limits=SESSION_LIMITS, new_at_once=True)) == ["today"]
    assert names(due(cards, TODAY + timedelta(days=1))) == ["today"]


def test_what_is_not_due_and_what_is_a_leech_is_not_asked() -> None:
    cards = [known("later", due_in=1), known("leech", lapses=4), known("almost", lapses=3)]
    assert names(due(cards, TODAY)) == ["almost"]


def test_a_digest_has_ten_prompts_and_keeps_two_for_new_cards() -> None:
    cards = [known(f"k{n:02}") for n in range(15)] + [new(f"n{n}") for n in range(4)]
    asked = names(queue(cards, TODAY))
    assert len(asked) == 10
    assert asked[8:] == ["n0", "n1"]
    assert len(queue(cards[:15], TODAY)) == 10


def test_at_most_five_cards_are_new_in_a_digest() -> None:
    cards = [known("k")] + [new(f"n{n}") for n in range(8)]
    assert names(queue(cards, TODAY)) == ["k", "n0", "n1", "n2", "n3", "n4"]


def test_answers_of_the_day_count_towards_its_limits() -> None:
    answered = [known(f"r{n}", ago=0, due_in=5) for n in range(18)]
    answered += [known(f"f{n}", ago=0, due_in=2, reps=1) for n in range(4)]
    cards = [*answered, *(known(f"k{n}") for n in range(6)), *(new(f"n{n}") for n in range(6))]
    assert names(queue(cards, TODAY)) == ["k0", "k1", "n0"]


def test_new_cards_pause_while_the_backlog_is_over_twice_the_cap() -> None:
    waiting = [known(f"k{n:02}") for n in range(40)]
    assert "n" in names(queue([*waiting, new("n")], TODAY))
    assert "n" not in names(queue([*waiting, known("k40"), new("n")], TODAY))


def test_siblings_do_not_meet_in_a_digest_nor_on_a_day() -> None:
    cards = [known("a", stability=5, sibling="s"), known("b", sibling="s"), new("c", sibling="s")]
    assert names(queue(cards, TODAY)) == ["a"]
    answered = known("d", ago=0, due_in=3, sibling="s")
    assert queue([*cards, answered], TODAY) == []


def test_one_more_asks_for_one() -> None:
    cards = [known("k"), new("n"), new("o")]
    assert names(queue(cards, TODAY, limits=Limits(prompts=1))) == ["k"]


KNOWN = st.builds(
    lambda n, stability, due_in, ago, reps, lapses, sibling: known(
        f"k{n}",
        stability=stability,
        due_in=due_in,
        ago=ago,
        reps=reps,
        lapses=lapses,
        sibling=sibling,
    ),
    st.integers(0, 10**6),
    st.floats(0.1, 300),
    st.integers(-50, 3),
    st.integers(0, 60),
    st.integers(1, 9),
    st.integers(0, 5),
    st.sampled_from([None, None, "s", "t"]),
)
NEW = st.builds(
    lambda n, ago, sibling: new(f"n{n}", made_ago=ago, sibling=sibling),
    st.integers(0, 10**6),
    st.integers(0, 3),
    st.sampled_from([None, None, "s", "t"]),
)


@given(
    st.lists(KNOWN | NEW, max_size=70, unique_by=lambda card: card.card_id),
    st.sampled_from([DIGEST_LIMITS, SESSION_LIMITS, Limits(prompts=1)]),
    st.booleans(),
)
def test_whatever_the_cards_the_queue_keeps_its_rules(
    cards: list[DueCard], limits: Limits, at_once: bool
) -> None:
    asked = queue(cards, TODAY, limits=limits, new_at_once=at_once)
    assert len(asked) <= limits.prompts
    assert len({card.sibling for card in asked}) == len(asked)
    assert not any(card.leech for card in asked)
    assert set(names(asked)) <= set(names(due(cards, TODAY, new_at_once=at_once)))
    fresh = [card for card in asked if card.memory is None]
    chances = [retrievability(card.memory, TODAY) for card in asked if card.memory]
    assert chances == sorted(chances)
    assert asked[len(chances) :] == fresh
    assert len(fresh) <= limits.new
    assert len(chances) <= limits.reviews
