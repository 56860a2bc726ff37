"""One persona and the library of them, from real folders."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from personas.persona import PersonaLibrary, PersonaUnknown, check
from tests.personas.sample import SAMPLE, changed


def write(folder: Path, name: str, text: str | bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_persona_says_each_text_in_the_language_asked_for(tmp_path: Path) -> None:
    write(tmp_path, "ada.md", SAMPLE)
    ada = PersonaLibrary.load(tmp_path).get("ada")
    assert ada.languages == ("en", "zh")
    assert (ada.name("en"), ada.name("zh")) == ("Ada", "艾达")
    assert ada.description("zh") == "学编程。"
    assert ada.greeting("en") == "Hello, I'm Ada."
    assert ada.brief("zh") == "你是艾达。"
    assert ada.manner("en") == "You are Ada.\n\n## Habits\n\n```python\n# zh\n```"
    assert ada.manner("zh") == "你是艾达，教编程。"
    assert ada.error("deadline", "zh") == "跑得太久了。"
    assert ada.tools == ("cards_due",)
    assert ada.capabilities == ("chat",)
    assert ada.model.temperature == 0.3
    assert ada.model.name is None


def test_a_language_not_offered_gets_the_first_language(tmp_path: Path) -> None:
    write(tmp_path, "ada.md", changed("[en, zh]", "[zh, en]"))
    ada = PersonaLibrary.load(tmp_path).get("ada")
    assert ada.name("fr") == "艾达"
    assert ada.manner("fr") == "你是艾达，教编程。"
    assert ada.error("deadline", "fr") == "跑得太久了。"


def test_an_error_kind_without_an_own_text_has_none(tmp_path: Path) -> None:
    write(tmp_path, "ada.md", SAMPLE)
    ada = PersonaLibrary.load(tmp_path).get("ada")
    assert ada.error("empty", "en") is None
    assert ada.error("no such kind", "en") is None


def test_a_persona_cannot_be_changed_once_loaded(tmp_path: Path) -> None:
    write(tmp_path, "ada.md", SAMPLE)
    ada = PersonaLibrary.load(tmp_path).get("ada")
    with pytest.raises(ValidationError, match="frozen"):
        ada.tools = ("current_time",)  # type: ignore[misc]
    with pytest.raises(ValidationError, match="frozen"):
        ada.texts[0].manner = "Obey."  # type: ignore[misc]
    assert hash(ada) == hash(PersonaLibrary.load(tmp_path).get("ada"))


def test_an_empty_tool_list_means_no_tools(tmp_path: Path) -> None:
    write(tmp_path, "ada.md", changed("tools: [cards_due]", "tools: []"))
    assert PersonaLibrary.load(tmp_path).get("ada").tools == ()


def test_words_that_yaml_would_turn_into_values_stay_words(tmp_path: Path) -> None:
    text = SAMPLE.replace("[en, zh]", "[no, zh]").replace("en:", "no:").replace("\n# en", "\n# no")
    write(tmp_path, "ada.md", text.replace("no: Ada", "no: 1.0"))
    library = PersonaLibrary.load(tmp_path)
    assert library.problems == ()
    assert library.get("ada").languages == ("no", "zh")
    assert library.get("ada").name("no") == "1.0"


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + SAMPLE.encode(),
        SAMPLE.replace("\n", "\r\n").encode(),
        SAMPLE.replace("\n", "\r").encode(),
        b"\xef\xbb\xbf" + SAMPLE.replace("\n", "\r\n").encode(),
    ],
    ids=["byte order mark", "windows line ends", "old mac line ends", "both"],
)
def test_files_from_any_editor_read_the_same(tmp_path: Path, data: bytes) -> None:
    plain = PersonaLibrary.load(write(tmp_path / "a", "ada.md", SAMPLE).parent)
    other = PersonaLibrary.load(write(tmp_path / "b", "ada.md", data).parent)
    assert other.get("ada") == plain.get("ada")


def test_a_later_folder_replaces_by_id_and_adds(tmp_path: Path) -> None:
    write(tmp_path / "one", "mine.md", changed("id: ada", "id: socrates"))
    write(tmp_path / "two", "ada.md", SAMPLE)
    write(tmp_path / "two", "mine.md", changed("id: ada", "id: euler"))
    library = PersonaLibrary.load(tmp_path / "one", tmp_path / "two")
    assert library.problems == ()
    assert [persona.id for persona in library.all()] == [
        "socrates",
        "ada",
        "euler",
        "hopper",
        "humboldt",
    ]
    assert library.default.name("en") == "Ada"
    assert library.get("euler").name("en") == "Ada"


def test_a_broken_replacement_leaves_the_packaged_persona_in_place(tmp_path: Path) -> None:
    write(tmp_path, "socrates.md", changed("id: ada", "id: socrates\ncolour: red"))
    library = PersonaLibrary.load(tmp_path)
    assert library.default.name("en") == "Socrates"
    assert [problem.key for problem in library.problems] == ["colour"]


def test_a_broken_file_is_left_out_and_the_others_load(tmp_path: Path) -> None:
    broken = write(tmp_path, "aaa.md", "---\nid: [\n---\n")
    write(tmp_path, "ada.md", SAMPLE)
    library = PersonaLibrary.load(tmp_path)
    assert [persona.id for persona in library.all()] == [
        "socrates",
        "ada",
        "euler",
        "hopper",
        "humboldt",
    ]
    assert [problem.path for problem in library.problems] == [broken]


def test_two_files_of_one_folder_cannot_share_an_id(tmp_path: Path) -> None:
    write(tmp_path, "a.md", SAMPLE)
    second = write(tmp_path, "b.md", changed("en: Ada", "en: Other"))
    library = PersonaLibrary.load(tmp_path)
    assert library.get("ada").name("en") == "Ada"
    (problem,) = library.problems
    assert (problem.path, problem.key) == (second, "id")
    assert "a.md" in problem.message


def test_a_missing_folder_is_an_empty_one(tmp_path: Path) -> None:
    library = PersonaLibrary.load(tmp_path / "nowhere")
    assert library.problems == ()
    assert len(library.all()) == 4


def test_a_file_in_place_of_the_folder_is_a_problem(tmp_path: Path) -> None:
    path = write(tmp_path, "personas", "text")
    (problem,) = PersonaLibrary.load(path).problems
    assert (problem.path, problem.key) == (path, "file")
    assert "folder" in problem.fix


def test_readme_hidden_and_other_files_are_not_read_as_personas(tmp_path: Path) -> None:
    for name in ["README.md", "readme.md", ".draft.md", "._ada.md", "notes.txt", "ada.yaml"]:
        write(tmp_path, name, "no persona")
    (tmp_path / "old").mkdir()
    write(tmp_path / "old", "ada.md", "no persona")
    assert PersonaLibrary.load(tmp_path).problems == ()


def test_any_other_markdown_file_without_front_matter_is_a_problem(tmp_path: Path) -> None:
    path = write(tmp_path, "NOTES.MD", "Just notes.")
    (problem,) = PersonaLibrary.load(tmp_path).problems
    assert (problem.path, problem.key, problem.line) == (path, "front matter", 1)


def test_a_folder_called_like_a_persona_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "ada.md").mkdir()
    (problem,) = PersonaLibrary.load(tmp_path).problems
    assert (problem.path, problem.key) == (tmp_path / "ada.md", "file")


def test_a_link_counts_as_its_file_and_a_dangling_one_is_a_problem(tmp_path: Path) -> None:
    target = write(tmp_path / "elsewhere", "x", SAMPLE)
    folder = tmp_path / "personas"
    folder.mkdir()
    try:
        (folder / "ada.md").symlink_to(target)
        (folder / "gone.md").symlink_to(tmp_path / "gone")
    except OSError:  # Windows without the right to make links
        assert check(folder / "gone.md")[0].key == "file"
        return
    library = PersonaLibrary.load(folder)
    assert library.get("ada").name("en") == "Ada"
    (problem,) = library.problems
    assert (problem.path, problem.key) == (folder / "gone.md", "file")


def test_an_unknown_persona_is_named_with_those_that_exist() -> None:
    library = PersonaLibrary.load()
    with pytest.raises(KeyError) as caught:
        library.get("socrate")
    assert isinstance(caught.value, PersonaUnknown)
    assert str(caught.value) == (
        "There is no persona `socrate`. Did you mean `socrates`? "
        "There are: euler, hopper, humboldt, socrates."
    )


def test_a_persona_that_asks_for_a_tool_that_does_not_exist_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "ada.md", SAMPLE)
    ways = {"chat", "solve", "quiz"}
    known = PersonaLibrary.load(tmp_path, tools={"current_time"}, capabilities=ways)
    assert [persona.id for persona in known.all()] == []
    keys = {problem.key for problem in known.problems}
    assert {"tools.0", "tools.1"} <= keys
    assert all(key.startswith("tools.") for key in keys)
    assert "ada" in [each.id for each in PersonaLibrary.load(tmp_path).all()]


def test_the_example_of_the_documentation_is_a_valid_persona(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "personas.md"
    example = page.read_text(encoding="utf-8").split("```markdown\n")[1].split("```\n")[0]
    path = write(tmp_path, "ada.md", example)
    assert check(path, {"cards_due"}, {"chat"}) == ()
