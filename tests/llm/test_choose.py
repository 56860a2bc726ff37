"""Which model the settings mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.i18n import words_for
from core.llm.choose import ModelSettingsError, choose
from core.llm.client import OpenAIModel
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
