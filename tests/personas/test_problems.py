"""Every fault of a persona file names the file, the key, the line and what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personas.persona import Problem, check
from personas.source import MAX_BYTES, SourceError, parse
from tests.personas.sample import SAMPLE, changed

TOOLS = {"current_time", "cards_due"}
CAPABILITIES = {"chat"}


def problems(folder: Path, text: str | bytes) -> tuple[Problem, ...]:
    path = folder / "ada.md"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = check(path, TOOLS, CAPABILITIES)
    assert all(problem.path == path and problem.fix.endswith((".", "?")) for problem in found)
    return found


def test_the_sample_has_no_problem(tmp_path: Path) -> None:
    assert problems(tmp_path, SAMPLE) == ()


# Each row: the file, then the key and line of the one problem, and a word of message or fix.
ROWS: list[tuple[str, str | bytes, str, int | None, str]] = [
    ("empty file", "", "front matter", 1, "missing"),
    ("no front matter", "# en\n\nYou are Ada.\n", "front matter", 1, "missing"),
    ("blank line first", "\n" + SAMPLE, "front matter", 1, "missing"),
    ("never closed", "---\nid: ada\n", "front matter", 1, "not closed"),
    ("no keys", "---\n---\n# en\n", "front matter", 1, "no keys"),
    ("a list for keys", "---\n- id\n---\n", "front matter", 1, "no keys"),
    ("tab", changed("  en: Ada", "\ten: Ada"), "front matter", 5, "tabs"),
    ("bad indent", changed("  zh: 艾达", "   zh: 艾达"), "front matter", 6, "YAML"),
    ("colon", changed("en: Programming.", "en: Code: all."), "front matter", 8, "double quotes"),
    ("open quote", changed("en: Ada", 'en: "Ada'), "front matter", 5, "YAML"),
    ("two documents", changed("tools:", "...\n--- {a: b}\ntools:"), "front matter", 17, "Keep"),
    ("duplicate key", changed("tools:", "id: eve\ntools:"), "id", 16, "line 2"),
    ("duplicate inner key", changed("  zh: 艾达", "  en: Eve"), "name.en", 6, "line 5"),
    ("anchor", changed("en: Ada", "en: &a Ada"), "front matter", 5, "anchor"),
    ("alias", changed("en: Ada", "en: *a"), "front matter", 5, "alias"),
    ("tag", changed("en: Ada", "en: !!python/name:os.system x"), "front matter", 5, "tag"),
    ("deep", changed("[cards_due]", "[" * 60 + "]" * 60), "front matter", 16, "deep"),
    ("deepest", changed("[cards_due]", "[" * 20000), "front matter", 16, "deep"),
    ("key is a list", changed("id: ada", "? [id]\n: ada"), "front matter", 2, "key"),
    ("not utf-8", SAMPLE.encode("gb18030"), "file", 6, "UTF-8"),
    ("utf-16", SAMPLE.encode("utf-16"), "file", 1, "UTF-8"),
    ("nul", changed("You are Ada.\n\n##", "You\0 are Ada.\n\n##"), "file", 28, "U+0000"),
    ("too large", SAMPLE + "x" * MAX_BYTES, "file", None, "64 KiB"),
    ("unknown key", changed("tools:", "greting: hi\ntools:"), "greting", 16, "`greeting`"),
    ("misspelt key", changed("greeting:", "greting:"), "greting", 10, "`greeting`"),
    ("capital key", changed("tools:", "Tools:"), "Tools", 16, "`tools`"),
    ("strange key", changed("tools:", "xyzzy: 1\ntools:"), "xyzzy", 16, "capabilities, desc"),
    ("model key", changed("temperature:", "temprature:"), "model.temprature", 19, "`temperature`"),
    ("error kind", changed("deadline:", "deadlin:"), "errors.deadlin", 21, "`deadline`"),
    ("missing id", changed("id: ada\n", ""), "id", 1, "missing"),
    ("bad id", changed("id: ada", "id: Ada!"), "id", 2, "`Ada!`"),
    ("long id", changed("id: ada", "id: " + "a" * 33), "id", 2, "32"),
    ("empty id", changed("id: ada", "id:"), "id", 2, "empty"),
    ("missing tools", changed("tools: [cards_due]\n", ""), "tools", 1, "`tools: []`"),
    ("tools a word", changed("[cards_due]", "cards_due"), "tools", 16, "[cards_due]"),
    ("tools empty value", changed("[cards_due]", ""), "tools", 16, "empty"),
    ("unknown tool", changed("[cards_due]", "[card_due]"), "tools.0", 16, "`cards_due`?"),
    ("strange tool", changed("[cards_due]", "[shell]"), "tools.0", 16, "cards_due, current_time"),
    ("tool twice", changed("[cards_due]", "[cards_due, cards_due]"), "tools", 16, "twice"),
    ("no capability", changed("[chat]", "[]"), "capabilities", 17, "empty"),
    ("unknown capability", changed("[chat]", "[chatt]"), "capabilities.0", 17, "`chat`?"),
    ("capital tool", changed("[cards_due]", "[Cards_Due]"), "tools.0", 16, "`cards_due`?"),
    ("capital language", changed("[en, zh]", "[EN, zh]"), "languages.0", 3, "two-letter"),
    ("language twice", changed("[en, zh]", "[en, zh, en]"), "languages", 3, "twice"),
    ("no languages", changed("[en, zh]", "[]"), "languages", 3, "empty"),
    (
        "greeting one text",
        changed("greeting:\n  en: Hello, I'm Ada.\n  zh: 你好，我是艾达。", "greeting: Hello"),
        "greeting",
        10,
        "each language",
    ),
    ("greeting blank", changed("Hello, I'm Ada.", '"  "'), "greeting.en", 11, "empty"),
    ("greeting no value", changed(" 你好，我是艾达。", ""), "greeting.zh", 12, "empty"),
    ("greeting missing", changed("  zh: 你好，我是艾达。\n", ""), "greeting.zh", 10, "missing"),
    ("greeting too long", changed("Hello", "Hello" * 201), "greeting.en", 11, "1000"),
    ("name of two lines", changed("en: Ada", 'en: "A\\nda"'), "name.en", 5, "one line"),
    ("extra language", changed("  zh: 艾达", "  zh: 艾达\n  fr: Ada"), "name.fr", 7, "languages"),
    ("brief words", changed("en: You are Ada.", "en: " + "a " * 121), "brief.en", 14, "120 words"),
    ("brief characters", changed("zh: 你是艾达。", "zh: " + "你" * 601), "brief.zh", 15, "600"),
    ("temperature word", changed("0.3", "warm"), "model.temperature", 19, "`warm`"),
    ("temperature high", changed("0.3", "2.5"), "model.temperature", 19, "0 to 2"),
    ("temperature nan", changed("0.3", "nan"), "model.temperature", 19, "0 to 2"),
    ("error text missing", changed("    zh: 跑得太久了。\n", ""), "errors.deadline.zh", 21, "miss"),
    (
        "error without texts",
        changed("    en: That ran too long.\n    zh: 跑得太久了。\n", ""),
        "errors.deadline",
        21,
        "empty",
    ),
    ("section missing", changed("# zh\n\n你是", "## zh\n\n你是"), "body.zh", 26, "`# zh`"),
    ("section empty", changed("你是艾达，教编程。\n", ""), "body.zh", 36, "empty"),
    ("section twice", SAMPLE + "\n# en\n\nAgain.\n", "body.en", 40, "line 26"),
    ("section unknown", SAMPLE + "\n# Notes\n\nAgain.\n", "body.Notes", 40, "`##`"),
    ("text before sections", changed("# en\n", "Hi.\n\n# en\n"), "body", 25, "`# en`"),
    (
        "section too long",
        changed("You are Ada.\n\n##", "x" * 8001 + "\n\n##"),
        "body.en",
        26,
        "8000",
    ),
]


@pytest.mark.parametrize(
    ("text", "key", "line", "words"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_a_fault_names_its_key_its_line_and_the_way_out(
    tmp_path: Path, text: str | bytes, key: str, line: int | None, words: str
) -> None:
    (problem,) = problems(tmp_path, text)
    assert (problem.key, problem.line) == (key, line)
    assert words in f"{problem.message} {problem.fix}"


def test_all_faults_of_a_file_are_told_at_once_in_its_order(tmp_path: Path) -> None:
    text = changed("id: ada", "id: A").replace("greeting:", "greting:").replace("# zh\n\n你", "你")
    found = problems(tmp_path, text.replace("0.3", "9"))
    assert [problem.key for problem in found] == ["id", "greting", "model.temperature", "body.zh"]


def test_a_misspelt_inner_key_does_not_hide_a_missing_outer_one(tmp_path: Path) -> None:
    text = changed("name:\n  en: Ada\n  zh: 艾达\n", "").replace("temperature: 0.3", "nmae: x")
    assert [problem.key for problem in problems(tmp_path, text)] == ["name", "model.nmae"]


def test_a_problem_prints_as_one_line_with_place_key_and_fix(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, changed("greeting:", "greting:"))
    assert str(problem) == (
        f"{tmp_path / 'ada.md'}:10: greting is not a known key. Did you mean `greeting`?"
    )


def test_without_known_names_tools_and_capabilities_are_not_judged(tmp_path: Path) -> None:
    path = tmp_path / "ada.md"
    path.write_text(changed("[cards_due]", "[shell]"), encoding="utf-8")
    assert check(path) == ()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_called_like_a_persona_is_refused_without_waiting(tmp_path: Path) -> None:
    path = tmp_path / "ada.md"
    os.mkfifo(path)
    (problem,) = check(path)
    assert problem.key == "file"


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused_by_name(data: bytes) -> None:
    for candidate in (data, b"---\n" + data + b"\n---\n# en\n"):
        try:
            source = parse(candidate)
        except SourceError as error:
            assert error.key
            assert error.fix
        else:
            assert isinstance(source.front, dict)


@given(st.text(max_size=200))
def test_any_front_matter_text_is_read_or_refused_by_name(text: str) -> None:
    try:
        data = f"---\n{text}\n---\n# en\n".encode()
    except UnicodeEncodeError:
        return
    try:
        parse(data)
    except SourceError as error:
        assert error.line is None or error.line >= 1
