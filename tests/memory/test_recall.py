from __future__ import annotations

import logging
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import Audience, LearnerFolder, Profile, Section, estimate_tokens, overview, view
from memory.recall import MAX_FILE_BYTES
from tests.memory.helpers import ADA, BOB, NASTY, fact, folder, put

PROFILE = (
    "# Profile\n\n"
    + fact("Prepares for an exam")
    + fact("Studies in Beijing", "shareable")
    + "\n## Notes\n\n- I get nervous <!-- aside -->\n  before tests\n\n"
    "Call me Ada.\n\n---\n[^1]: e_X\n"
)


def known(home: LearnerFolder) -> None:
    put(home.profile(Profile.PROFILE), PROFILE)
    put(home.profile(Profile.RECENT), fact("Asked about fractions this week"))
    put(home.profile(Profile.KNOWLEDGE), "## Maths\n" + fact("Knows fractions", "shareable"))
    put(home.profile(Profile.PREFERENCES), "I like short answers.\n")


def test_the_learner_sees_everything_in_order_and_nothing_technical(tmp_path: Path) -> None:
    known(folder(tmp_path))
    assert view(folder(tmp_path), Audience.PRIVATE, 1000) == (
        "# Profile\n- Prepares for an exam\n- Studies in Beijing\n"
        "## Notes\n- I get nervous\n  before tests\n- Call me Ada.\n"
        "# Preferences\n- I like short answers.\n"
        "# Knowledge\n## Maths\n- Knows fractions\n"
        "# Recent\n- Asked about fractions this week"
    )


def test_a_group_sees_only_what_is_marked_shareable(tmp_path: Path) -> None:
    known(folder(tmp_path))
    assert view(folder(tmp_path), Audience.GROUP, 1000) == (
        "# Profile\n- Studies in Beijing\n# Knowledge\n- Knows fractions"
    )


@given(st.lists(NASTY | st.just(fact("Knows fractions", "shareable")), max_size=8))
def test_no_word_of_a_person_and_no_private_fact_reaches_a_group(words: list[str]) -> None:
    file = "CANARY\n" + "".join(
        word
        if word.startswith("- Knows")
        else f"\n{word}\nCANARY {word}\n- CANARY\n" + fact("CANARY")
        for word in words
    )
    with TemporaryDirectory() as name:
        put(folder(Path(name)).profile(Profile.KNOWLEDGE), file)
        assert "CANARY" not in view(folder(Path(name)), Audience.GROUP, 10_000)
        assert "CANARY" in view(folder(Path(name)), Audience.PRIVATE, 10_000)


@settings(deadline=None)
@given(NASTY, NASTY, st.integers(0, 60), NASTY)
def test_a_view_keeps_its_budget_and_cuts_between_lines(
    a: str, b: str, budget: int, about: str
) -> None:
    with TemporaryDirectory() as name:
        home = folder(Path(name))
        put(home.profile(Profile.PROFILE), a + "\n" + fact("Knows 分数 well") + b)
        put(home.profile(Profile.RECENT), b)
        whole = view(home, Audience.PRIVATE, 100_000).split("\n")
        cut = view(home, Audience.PRIVATE, budget, about)
        assert estimate_tokens(cut) <= budget
        rest = iter(whole)
        assert all(line in rest for line in cut.split("\n") if cut)


def test_where_room_is_short_the_learners_own_words_come_first(tmp_path: Path) -> None:
    home = folder(tmp_path)
    put(home.profile(Profile.PROFILE), fact("Machine fact") * 50 + "## Notes\n- my own words\n")
    put(home.profile(Profile.PREFERENCES), "- short answers\n")
    got = view(home, Audience.PRIVATE, 30).split("\n")
    assert got[0] == "# Profile"
    assert got[-5:] == [
        "- Machine fact",
        "## Notes",
        "- my own words",
        "# Preferences",
        "- short answers",
    ]
    assert view(home, Audience.PRIVATE, 0) == ""


def test_where_room_is_short_the_question_decides_what_of_the_knowledge_is_shown(
    tmp_path: Path,
) -> None:
    home = folder(tmp_path)
    put(home.profile(Profile.PROFILE), fact("Prepares for the exam in March"))
    put(
        home.profile(Profile.KNOWLEDGE),
        "## Knows\n"
        + "".join(fact(f"Knows rule number {n} of grammar") for n in range(60))
        + fact("Can add fractions")
        + "- my own note on grammar\n- my own 极限 note\n"
        + "## Misconceptions\n"
        + fact("Thinks that heavier things fall faster"),
    )
    put(home.profile(Profile.RECENT), fact("Asked what a fraction is"))
    asked = view(home, Audience.PRIVATE, 50, "How do I multiply two fractions?")
    assert asked == (
        "# Profile\n- Prepares for the exam in March\n"
        "# Knowledge\n## Knows\n- Can add fractions\n"
        "- my own note on grammar\n- my own 极限 note\n"
        "# Recent\n- Asked what a fraction is"
    )
    small = view(home, Audience.PRIVATE, 25, "极限是什么")
    assert "- my own 极限 note" in small
    assert "grammar" not in small
    idle = view(home, Audience.PRIVATE, 75, "hello")
    assert "- Thinks that heavier things fall faster" in idle
    assert view(home, Audience.PRIVATE, 75) == idle
    assert "- Can add fractions" in view(home, Audience.PRIVATE, 10_000, "hello")


def test_a_long_profile_leaves_room_for_what_was_asked_about(tmp_path: Path) -> None:
    home = folder(tmp_path)
    put(home.profile(Profile.PROFILE), fact("Machine fact of a kind") * 100)
    put(home.profile(Profile.KNOWLEDGE), fact("Can add fractions", "shareable"))
    asked = view(home, Audience.PRIVATE, 100, "fractions?")
    assert "- Can add fractions" in asked
    assert estimate_tokens(asked) > 90
    assert view(home, Audience.GROUP, 100, "machine facts?") == "# Knowledge\n- Can add fractions"


def test_a_line_too_long_for_the_budget_does_not_hide_the_others(tmp_path: Path) -> None:
    put(folder(tmp_path).profile(Profile.PROFILE), f"- {'x' * 5000}\n- small\n")
    assert view(folder(tmp_path), Audience.PRIVATE, 50) == "# Profile\n- small"


def test_the_overview_names_sections_and_whose_words_they_are(tmp_path: Path) -> None:
    known(folder(tmp_path))
    sections = overview(folder(tmp_path))
    assert [(s.document, s.heading) for s in sections] == [
        (Profile.PROFILE, ""),
        (Profile.PROFILE, "Notes"),
        (Profile.PREFERENCES, ""),
        (Profile.KNOWLEDGE, "Maths"),
        (Profile.RECENT, ""),
    ]
    assert [(i.text, i.own) for s in sections[:2] for i in s.items] == [
        ("Prepares for an exam", False),
        ("Studies in Beijing", False),
        ("I get nervous\nbefore tests", True),
        ("Call me Ada.", True),
    ]


def texts(sections: tuple[Section, ...]) -> list[str]:
    return [item.text for section in sections for item in section.items]


@pytest.mark.parametrize(
    ("file", "items"),
    [
        ("- a\n\n  more\n- b\n", ["a\nmore", "b"]),
        ("one\ntwo\n\nthree\n", ["one\ntwo", "three"]),
        ("1. a\n2. b\n* c\n", ["a", "b", "c"]),
        ("```\n<!-- x\n\n  y\n```\n", ["```\n<!-- x\n\n  y\n```"]),
        ("<!-- a\nb -->\nc\n", ["c"]),
        ("a &#94; b\n", ["a ^ b"]),
        ("- <!-- only -->\n", []),
        (f"- 2 < 3 &#38;#60; x <!--m_{ADA} 2026-11-30 private-->\n  mine\n", ["2 < 3 &#60; x", "mine"]),  # noqa: E501
    ],
)  # fmt: skip
def test_lines_become_items_as_markdown_reads_them(
    tmp_path: Path, file: str, items: list[str]
) -> None:
    put(folder(tmp_path).profile(Profile.PROFILE), file)
    assert texts(overview(folder(tmp_path))) == items


def test_a_file_that_is_no_utf8_gives_what_can_be_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(folder(tmp_path).profile(Profile.PROFILE), b"- good\n- secret \xff\xfe\n")
    with caplog.at_level(logging.WARNING):
        assert texts(overview(folder(tmp_path))) == ["good", "secret \ufffd\ufffd"]
    assert "profile.md" in caplog.text
    assert "secret" not in caplog.text


def test_of_a_huge_file_whole_lines_of_the_beginning_are_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    line = "- " + "secret" * 20 + "\n"
    put(folder(tmp_path).profile(Profile.PROFILE), line * (MAX_FILE_BYTES // len(line) + 5))
    put(folder(tmp_path).profile(Profile.RECENT), "- other\n")
    with caplog.at_level(logging.WARNING):
        got = texts(overview(folder(tmp_path)))
    assert got == ["secret" * 20] * (MAX_FILE_BYTES // len(line)) + ["other"]
    assert "too large" in caplog.text
    assert "secret" not in caplog.text


def test_a_folder_in_place_of_a_file_hides_only_itself(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder(tmp_path).profile(Profile.PROFILE).mkdir(parents=True)
    put(folder(tmp_path).profile(Profile.RECENT), "- other\n")
    assert texts(overview(folder(tmp_path))) == ["other"]
    assert "cannot read profile.md" in caplog.text


def test_one_learner_never_sees_another(tmp_path: Path) -> None:
    known(folder(tmp_path))
    assert view(folder(tmp_path, BOB), Audience.PRIVATE, 1000) == ""
    assert overview(folder(tmp_path, BOB)) == ()


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a" * 8, 2), ("a" * 9, 3), ("分数", 2), ("ёж", 1), ("👍", 1)]
)
def test_tokens_are_estimated_by_script(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens
