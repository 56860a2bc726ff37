"""The personas that come with the program."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from core.capabilities.registry import CAPABILITIES as REGISTERED
from core.tools.own import NAMES
from personas.persona import ERROR_KINDS, PACKAGED, Persona, PersonaLibrary, check, files

CAPABILITIES = {one.name for one in REGISTERED}
LIBRARY = PersonaLibrary.load()
BOTH = pytest.mark.parametrize("persona", LIBRARY.all(), ids=lambda persona: persona.id)
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


IDS = ["socrates", "euler", "hopper", "humboldt"]


def test_four_personas_come_with_the_program_and_the_generalist_is_the_default() -> None:
    assert [persona.id for persona in LIBRARY.all()] == IDS
    assert LIBRARY.default.id == "socrates"
    assert LIBRARY.problems == ()


def test_packaged_files_pass_the_check_against_the_tools_that_exist() -> None:
    assert [path.name for path in files(PACKAGED)] == sorted(f"{name}.md" for name in IDS)
    for path in files(PACKAGED):
        assert check(path, NAMES, CAPABILITIES) == ()


@BOTH
@LANGUAGES
def test_every_text_exists_in_both_languages_and_in_that_language(
    persona: Persona, language: str
) -> None:
    texts = [
        persona.name(language),
        persona.description(language),
        persona.greeting(language),
        persona.manner(language),
        persona.brief(language),
        *(persona.error(kind, language) or "" for kind in ERROR_KINDS),
    ]
    for text in texts:
        assert text
        assert bool(re.search("[\u4e00-\u9fff]", text)) is (language == "zh"), text


@BOTH
@LANGUAGES
def test_a_brief_is_short_enough_for_a_small_model(persona: Persona, language: str) -> None:
    brief = persona.brief(language)
    # A small model's tokenizer needs up to three tokens for a Chinese character.
    estimate = sum(3 if ord(character) > 0x2E7F else 0.3 for character in brief)
    assert estimate < 330


@BOTH
@pytest.mark.parametrize(
    ("language", "rules"),
    [
        (
            "en",
            [
                r"[Qq]uote",
                r"[Jj]ust tell me",
                r"hree sentences",
                r"(?s)^0\..*^4\.",
                r"guilt",
                r"only .*tool's result",
                r"system message",
                r"\$…\$",
                r"language",
            ],
        ),
        (
            "zh",
            [
                r"引用",
                r"直接告诉我",
                r"三句话",
                r"(?s)^0\..*^4\.",
                r"内疚",
                r"本轮工具返回的结果",
                r"系统消息",
                r"\$…\$",
                r"语言",
            ],
        ),
    ],
)
def test_a_manner_holds_every_rule_of_teaching(
    persona: Persona, language: str, rules: list[str]
) -> None:
    text = re.sub(r"\n(?=[a-z ])", " ", persona.manner(language))
    missing = [rule for rule in rules if not re.search(rule, text, re.MULTILINE)]
    assert missing == []


@LANGUAGES
@pytest.mark.parametrize(("one", "other"), list(combinations(IDS, 2)))
def test_any_two_differ_in_every_text_in_tools_or_ways_and_in_temperature(
    one: str, other: str, language: str
) -> None:
    a, b = LIBRARY.get(one), LIBRARY.get(other)
    for text in (Persona.name, Persona.description, Persona.greeting, Persona.brief):
        assert text(a, language) != text(b, language)
    for kind in ERROR_KINDS:
        assert a.error(kind, language) != b.error(kind, language)
    lines = set(a.manner(language).splitlines())
    shared = lines & set(b.manner(language).splitlines()) - {""}
    assert len(shared) <= 4, shared
    assert (a.tools, a.capabilities) != (b.tools, b.capabilities)
    assert a.model.temperature != b.model.temperature
