"""The catalogs hold every sentence of the sources, translated, and nothing else."""

import ast
import gettext
import importlib.util
import string
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from babel.messages.catalog import Catalog

from core.i18n import DOMAIN, LANGUAGES, LOCALES

ROOT = Path(__file__).parents[2]
ADVICE = "run `make messages` and translate what it lists"

SAME_IN_EVERY_LANGUAGE: frozenset[str] = frozenset()
"""Keys whose translation may equal them: they hold no words."""


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("messages", ROOT / ".ci" / "messages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _tool()
TRANSLATED: tuple[str, ...] = TOOL.TRANSLATED


def _ids(message: str | tuple[str, ...] | list[str] | None) -> tuple[str, ...]:
    """The forms of a key or translation; one blank form where there is none."""
    return (message or "",) if isinstance(message, str | None) else tuple(message)


def _places(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@pytest.fixture(params=TRANSLATED)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def catalog(language: str) -> Catalog:
    found = TOOL.read(TOOL.po_path(language), language)
    assert isinstance(found, Catalog)
    return found


def test_every_language_but_that_of_the_keys_has_a_catalog() -> None:
    assert set(TRANSLATED) == set(LANGUAGES) - {"en"}


def test_the_catalog_is_what_a_fresh_extraction_gives(language: str, catalog: Catalog) -> None:
    fresh = TOOL.merged(language, catalog, TOOL.collect())
    assert TOOL.po_bytes(fresh).decode() == TOOL.po_path(language).read_text("utf-8"), ADVICE


def test_no_sentence_is_left_over_from_older_sources(catalog: Catalog) -> None:
    assert not catalog.obsolete, ADVICE


def test_every_sentence_is_translated(catalog: Catalog) -> None:
    missing = [
        message.id
        for message in catalog
        if message.id
        and (
            message.fuzzy
            or not all(_ids(message.string))
            or (
                set(_ids(message.string)) & set(_ids(message.id))
                and not set(_ids(message.id)) <= SAME_IN_EVERY_LANGUAGE
            )
        )
    ]
    assert not missing, ADVICE


def test_a_neutral_key_is_one_of_the_sources() -> None:
    known = {key for message in TOOL.collect() for key in _ids(message)}
    assert known >= SAME_IN_EVERY_LANGUAGE


def test_a_translation_fills_the_same_places_as_its_key(catalog: Catalog) -> None:
    for message in catalog:
        if message.id:
            wanted = set().union(*map(_places, _ids(message.id)))
            for translated in _ids(message.string):
                assert _places(translated) == wanted, message.id


def test_a_chinese_sentence_is_chinese(catalog: Catalog, language: str) -> None:
    if language != "zh":
        pytest.fail("say here how this language is recognised")
    neutral = SAME_IN_EVERY_LANGUAGE | {"on {day}", "{day} at {time}"}
    for message in catalog:
        if message.id and not set(_ids(message.id)) <= neutral:
            for translated in _ids(message.string):
                assert any("一" <= character <= "鿿" for character in translated), message.id


def test_every_plural_form_of_the_language_is_there(catalog: Catalog, language: str) -> None:
    for message in catalog:
        if isinstance(message.id, (tuple, list)):
            assert len(_ids(message.string)) == catalog.num_plurals, message.id


def test_the_compiled_catalog_is_that_of_its_source(catalog: Catalog, language: str) -> None:
    compiled = gettext.translation(DOMAIN, LOCALES, [language])
    for message in catalog:
        if isinstance(message.id, (tuple, list)):
            one, many = message.id
            for n in (0, 1, 2, 100):
                said = compiled.ngettext(one, many, n)
                assert said == _ids(message.string)[0 if catalog.num_plurals == 1 else n != 1]
        elif message.id:
            assert compiled.gettext(message.id) == message.string, ADVICE
    held = {key if isinstance(key, str) else key[0] for key in compiled._catalog}  # type: ignore[attr-defined]
    assert held == {_ids(message.id)[0] for message in catalog}, ADVICE


def test_compiling_the_same_catalog_gives_the_same_bytes(catalog: Catalog, language: str) -> None:
    sources = TOOL.collect()
    once = TOOL.mo_bytes(TOOL.merged(language, catalog, sources))
    again = TOOL.mo_bytes(TOOL.merged(language, catalog, dict(reversed(sources.items()))))
    assert once == again


def test_extraction_finds_each_way_to_say_something(tmp_path: Path) -> None:
    for package in TOOL.PACKAGES:
        (tmp_path / package).mkdir()
    (tmp_path / "core" / "a.py").write_text(
        'x = words("One " "{a}", a=1)\n'
        'y = self.words.plural("{n} card", "{n} cards", n)\n'
        'z = N_("later")\n'
        "words(z)\n"
        'other("not this")\n',
        encoding="utf-8",
    )
    assert set(TOOL.collect(tmp_path)) == {"One {a}", ("{n} card", "{n} cards"), "later"}


def test_a_new_sentence_waits_untranslated_and_a_gone_one_leaves() -> None:
    old = Catalog(locale="zh")
    old.add("kept", "留下")
    old.add("gone", "走了")
    fresh = TOOL.merged("zh", old, {"kept": ["core/a.py"], "new": ["core/b.py"]})
    assert {m.id: m.string or "" for m in fresh if m.id} == {"kept": "留下", "new": ""}


def _said(tree: ast.AST) -> Iterator[tuple[ast.Call, list[str], int]]:
    """Calls that say a sentence: the call, its templates, and how many arguments are its own."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = (
            node.func.attr
            if isinstance(node.func, ast.Attribute)
            else getattr(node.func, "id", None)
        )
        count = {"words": 1, "plural": 2}.get(name or "")
        if count is None:
            continue
        literals = [
            argument.value
            for argument in node.args[:count]
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        ]
        yield node, literals, count


@pytest.mark.parametrize("package", TOOL.PACKAGES)
def test_every_place_of_a_sentence_gets_its_value(package: str) -> None:
    for path in sorted((ROOT / package).rglob("*.py")):
        for call, templates, count in _said(ast.parse(path.read_text("utf-8"))):
            where = f"{path.relative_to(ROOT)}:{call.lineno}"
            assert not any(isinstance(argument, ast.JoinedStr) for argument in call.args), (
                f"{where}: an f-string cannot be translated"
            )
            if len(templates) < count or any(keyword.arg is None for keyword in call.keywords):
                continue
            given = {keyword.arg for keyword in call.keywords} | ({"n"} if count == 2 else set())
            wanted = set().union(*map(_places, templates))
            assert wanted <= given, f"{where}: no value for {wanted - given}"
            assert given - {"n"} <= wanted, f"{where}: never shown: {given - wanted}"


@pytest.mark.parametrize("package", TOOL.PACKAGES)
def test_no_sentence_is_said_inside_an_f_string_where_extraction_misses_it(package: str) -> None:
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                said = [templates for _, templates, _ in _said(node) if templates]
                assert not said, f"{path.relative_to(ROOT)}:{node.lineno}: {said}"


@pytest.mark.parametrize("package", TOOL.PACKAGES)
def test_words_are_always_called_words_so_that_extraction_finds_them(package: str) -> None:
    def gives_words(node: ast.AST | None) -> bool:
        return any(
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Name)
            and part.func.id == "words_for"
            for part in (node, *getattr(node, "values", ()))
        )

    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            where = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Call) and any(isinstance(a, ast.Constant) for a in node.args):
                assert not gives_words(node.func), f"{where}: give it the name words first"
            if isinstance(node, ast.Assign | ast.AnnAssign) and gives_words(node.value):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    name = target.attr if isinstance(target, ast.Attribute) else target
                    name = name.id if isinstance(name, ast.Name) else name
                    assert name == "words", where
