"""Which model the settings mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.i18n import words_for
from core.llm.choose import ModelSettingsError, choose, choose_ears, with_fallback
from core.llm.client import OpenAIModel
from core.llm.fallback import FallbackModel
from core.llm.local import LocalModel

URL = "http://127.0.0.1:11434/v1"


@pytest.mark.parametrize(
    ("model", "api_key", "base_url", "kind"),
    [
        (None, None, None, LocalModel),
        ("", "", "", LocalModel),
        ("local", None, None, LocalModel),
        ("LOCAL", "key", URL, LocalModel),
        ("gpt", "key", None, OpenAIModel),
        ("llama", None, URL, OpenAIModel),
    ],
)
def test_the_settings_mean_one_model(
    model: str | None, api_key: str | None, base_url: str | None, kind: type
) -> None:
    chosen = choose(model=model, api_key=api_key, base_url=base_url, local_model=None)
    assert type(chosen) is kind
    assert chosen.small is (kind is LocalModel)


@pytest.mark.parametrize(
    ("model", "api_key", "base_url", "said"),
    [
        (None, "key", None, "PARTNERS_MODEL"),
        (None, None, URL, "PARTNERS_MODEL"),
        ("gpt", None, None, "“gpt”"),
    ],
)
def test_settings_that_mean_no_model_are_answered_with_the_way_out(
    model: str | None, api_key: str | None, base_url: str | None, said: str
) -> None:
    with pytest.raises(ModelSettingsError, match=said) as caught:
        choose(model=model, api_key=api_key, base_url=base_url, local_model=None)
    assert words_for("en")(caught.value.sentence, **caught.value.values) == str(caught.value)


def test_a_file_that_is_no_model_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("hello", encoding="utf-8")
    with pytest.raises(ModelSettingsError, match=r"notes\.txt is not a GGUF model"):
        choose(model=None, api_key=None, base_url=None, local_model=file)
    # A model by name does not look at it.
    assert choose(model="gpt", api_key="k", base_url=None, local_model=file).name == "gpt"


FIRST = OpenAIModel(name="gpt", api_key="k", base_url=URL)


def test_a_second_model_stands_behind_the_first_where_one_is_named() -> None:
    assert with_fallback(FIRST, model=" ", api_key="k", base_url=None) is FIRST
    both = with_fallback(FIRST, model="other", api_key=None, base_url=URL)
    assert isinstance(both, FallbackModel)
    assert both.name == "gpt"


def test_speech_is_understood_where_a_model_for_it_is_named() -> None:
    assert choose_ears(model=None, api_key="k", base_url=URL) is None
    ears = choose_ears(model="whisper-1", api_key=None, base_url=URL)
    assert ears is not None
    assert ears.name == "whisper-1"


@pytest.mark.parametrize(("model", "key"), [("local", "k"), ("other", None)])
def test_a_second_model_that_cannot_be_one_is_named_with_the_way_out(
    model: str, key: str | None
) -> None:
    with pytest.raises(ModelSettingsError, match="PARTNERS_FALLBACK_MODEL"):
        with_fallback(FIRST, model=model, api_key=key, base_url=None)


def test_the_local_model_needs_no_second() -> None:
    with pytest.raises(ModelSettingsError, match="local model"):
        with_fallback(LocalModel(None), model="gpt", api_key="k", base_url=None)


def test_ears_without_a_way_to_them_are_named_with_the_way_out() -> None:
    with pytest.raises(ModelSettingsError, match="PARTNERS_TRANSCRIPTION_KEY"):
        choose_ears(model="whisper-1", api_key=None, base_url=None)
