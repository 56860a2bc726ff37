"""``partners.toml``: merged over the defaults, forgiving in values, strict in form."""

import tomllib
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest

from core.i18n import words_for
from core.limits import Limits
from core.loop.gates import Budget, LoopProtocol, Price
from core.memory_tuning import Consolidating, MemoryTuning
from core.settings import SettingsError
from core.tuning import DEFAULTS, Tuning, load_tuning

DEFAULT = DEFAULTS["chat"]


def load(text: str) -> Tuning:
    Path("partners.toml").write_text(text, encoding="utf-8")
    return load_tuning()


def chat(lines: str) -> Tuning:
    return load("[capabilities.chat]\n" + lines)


def test_a_missing_or_empty_file_gives_the_defaults() -> None:
    assert load_tuning() == Tuning()
    assert load("") == Tuning()
    assert load_tuning().capabilities["chat"] == Budget()
    assert load_tuning().channel("post") == {}


def test_what_is_written_is_merged_over_the_defaults() -> None:
    tuning = chat("temperature = 1\nresponding.max_tokens = 900\ncontext_tokens = 100_000\n")
    assert tuning.warnings == ()
    assert tuning.capabilities["chat"] == replace(
        DEFAULT, temperature=1, responding_max_tokens=900, context_tokens=100_000
    )


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("responding = 900", "responding_max_tokens", 900),
        ("responding_max_tokens = 900", "responding_max_tokens", 900),
        ("max_tokens = 900", "responding_max_tokens", 900),
        ("answer_now = { max_tokens = 900 }", "answer_now_max_tokens", 900),
        ('temperature = "0.7"', "temperature", 0.7),
        ('max_rounds = "12"', "max_rounds", 12),
        ("max_rounds = 12.0", "max_rounds", 12),
        ("deadline_seconds = 0.5e2", "deadline_seconds", 50),
    ],
)
def test_another_shape_of_a_value_is_taken_as_what_it_means(
    line: str, field: str, value: float
) -> None:
    tuning = chat(line)
    assert tuning.warnings == ()
    assert asdict(tuning.capabilities["chat"]) == {**asdict(DEFAULT), field: value}


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('temperature = "warm"', "temperature"),
        ("temperature = 2.1", "temperature"),
        ("temperature = -0.1", "temperature"),
        ("temperature = nan", "temperature"),
        ("temperature = true", "temperature"),
        ("temperature = [0.2]", "temperature"),
        ("max_rounds = 0", "max_rounds"),
        ("max_rounds = 2.5", "max_rounds"),
        ("max_rounds = inf", "max_rounds"),
        ("max_rounds = 1979-05-27", "max_rounds"),
        ("responding.max_tokens = 3", "responding.max_tokens"),
        ("responding = 3", "responding"),
        ("responding.max_tokens = -1", "responding.max_tokens"),
        ('answer_now.max_tokens = ""', "answer_now.max_tokens"),
        ("deadline_seconds = 0", "deadline_seconds"),
        ("context_tokens = 999", "context_tokens"),
        ("reserve_tokens = -1", "reserve_tokens"),
    ],
)
def test_a_value_of_no_use_falls_back_with_a_warning_that_names_the_key(
    line: str, key: str
) -> None:
    tuning = chat(line)
    assert tuning.capabilities["chat"] == DEFAULT
    (warning,) = tuning.warnings
    assert warning.startswith(f"partners.toml: capabilities.chat.{key} is “")
    assert "it stays" in warning


def test_a_bad_value_spoils_none_of_its_neighbours() -> None:
    tuning = chat("temperature = 9\nmax_rounds = 3\n")
    assert tuning.capabilities["chat"] == replace(DEFAULT, max_rounds=3)
    assert len(tuning.warnings) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[capability.chat]", "nobody knows capability, it is ignored. Did you mean capabilities?"),
        ("[capabilities.caht]", "it is ignored. Did you mean capabilities.chat?"),
        ("[capabilities.chat]\ntemprature = 1", "Did you mean capabilities.chat.temperature?"),
        ("[capabilities.chat]\nresponding.words = 1", "knows capabilities.chat.responding."),
        ("[access]\nalow = []", "Did you mean access.allow?"),
        ("zzz = 1", "nobody knows zzz, it is ignored. Remove it, or compare"),
        ("capabilities = 3", "capabilities is “3”, which is ignored; it has to be a table"),
        ("[capabilities]\nchat = 3", "capabilities.chat is “3”, which is ignored"),
        ("channels = 3", "channels is “3”"),
        ("[channels]\npost = 3", "channels.post is “3”"),
        ("access = 3", "access is “3”"),
    ],
)  # fmt: skip
def test_an_unknown_key_is_reported_with_a_suggestion(text: str, said: str) -> None:
    tuning = load(text)
    assert replace(tuning, warnings=()) == Tuning()
    (warning,) = tuning.warnings
    assert warning.startswith("partners.toml: ")
    assert said in warning


@pytest.mark.parametrize(
    ("text", "allow", "warned"),
    [
        ('allow = ["post:1", "Post: 2"]', ("post:1", "post:2"), 0),
        ('allow = "post:1, post:2"', ("post:1", "post:2"), 0),
        ('allow = ["post:1", 5, "all", "*"]', ("post:1",), 3),
        ("allow = true", (), 1),
        ("allow = []", (), 0),
    ],
)
def test_only_accounts_enter_the_allow_list(text: str, allow: tuple[str, ...], warned: int) -> None:
    tuning = load("[access]\n" + text)
    assert tuning.allow == allow
    assert len(tuning.warnings) == warned
    assert all("access.allow holds" in warning for warning in tuning.warnings)


def test_a_table_of_a_channel_is_handed_over_as_it_is() -> None:
    tuning = load("[channels.post]\nmessages_per_second = 25\nnested.key = 'x'\n")
    assert tuning.channel("post") == {"messages_per_second": 25, "nested": {"key": "x"}}
    assert tuning.warnings == ()


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a = 1\nb = \nc = 3", 2, 5),
        ("[capabilities.chat]\ntemperature 1", 2, 13),
        ("[capabilities", 1, 14),
        ('x = 1\ny = """never\nclosed', 3, 7),
        ("a = 1\na = 2", 2, 6),
    ],
)
def test_what_is_not_toml_refuses_to_start_and_says_where(
    text: str, line: int, column: int
) -> None:
    with pytest.raises(SettingsError) as caught:
        load(text)
    assert str(caught.value).startswith(
        f"partners.toml, line {line}, column {column}: this is not TOML ("
    )
    assert "at line" not in str(caught.value)
    assert "at end" not in str(caught.value)


def test_a_file_that_cannot_be_read_refuses_to_start() -> None:
    Path("partners.toml").write_bytes("a = 1".encode("utf-16"))
    with pytest.raises(SettingsError, match=r"^partners\.toml is not a UTF-8 text"):
        load_tuning()
    Path("folder").mkdir()
    with pytest.raises(SettingsError, match=r"^folder cannot be read \("):
        load_tuning(Path("folder"))


def test_a_byte_order_mark_is_no_trouble() -> None:
    assert load("\ufeff[access]\r\nallow = ['post:1']\r\n").allow == ("post:1",)


def test_warnings_are_in_the_language_asked_for() -> None:
    Path("partners.toml").write_text("zzz = 1", encoding="utf-8")
    (warning,) = load_tuning(words=words_for("zh")).warnings
    assert "zzz" in warning
    assert "ignored" not in warning


# --- the gate -----------------------------------------------------------------------------------


def test_a_reserve_beyond_a_quarter_is_cut_and_said() -> None:
    tuning = chat("context_tokens = 20_000\nreserve_tokens = 6_000")
    assert tuning.capabilities["chat"].reserve_tokens == 5_000
    (warning,) = tuning.warnings
    assert "capabilities.chat.reserve_tokens is more than a quarter" in warning


def test_a_small_gate_cuts_the_built_in_reserve_silently() -> None:
    tuning = chat("context_tokens = 20_000")
    assert (tuning.capabilities["chat"].reserve_tokens, tuning.warnings) == (5_000, ())


def test_every_number_can_be_set() -> None:
    example = (Path(__file__).parents[2] / "partners.toml.example").read_text("utf-8")
    lines = [line.split("=")[0].strip() for line in example.splitlines() if line[:1].isalpha()]
    assert set(Tuning().capabilities) == set(tomllib.loads(example)["capabilities"])
    keys = {line.replace(".", "_") for line in lines}
    settable = {field.name for field in fields(Budget)} - {"prices"}
    limits = {field.name for field in fields(Limits)}
    memory = {field.name for field in fields(MemoryTuning)}
    assert keys == settable | limits | memory | {"allow", "join_seconds", "regenerate_button"}


def test_the_button_is_on_unless_it_is_switched_off() -> None:
    assert load("").regenerate_button
    assert not load("[conversation]\nregenerate_button = false").regenerate_button
    tuning = load('[conversation]\nregenerate_button = "perhaps"\nregenerate_buton = false')
    assert tuning.regenerate_button
    odd, unknown = tuning.warnings
    assert "Write one of: true, false." in odd
    assert "Did you mean conversation.regenerate_button?" in unknown


# --- the way to talk, and what it costs ---------------------------------------------------------


def test_the_protocol_is_one_of_three_words() -> None:
    assert chat('protocol = "Labelled"').capabilities["chat"].protocol is LoopProtocol.LABELLED
    tuning = chat('protocol = "morse"')
    assert tuning.capabilities["chat"] == DEFAULT
    (warning,) = tuning.warnings
    assert "it stays auto. Write one of: auto, native, labelled." in warning


def test_prices_are_those_of_every_capability() -> None:
    tuning = load(
        '[prices."gpt-4o-mini"]\nprompt = 0.15\ncompletion = "0.6"\n'
        "[capabilities.chat]\ncost_limit = 0.05\n"
    )
    budget = tuning.capabilities["chat"]
    assert (tuning.warnings, budget.cost_limit) == ((), 0.05)
    assert budget.price("GPT-4o-mini") == Price("gpt-4o-mini", 0.15, 0.6)
    assert budget.price("another") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[prices.m]\nprompt = 1", "prices.m needs both prompt and completion"),
        ("[prices.m]\nprompt = 1\ncompletion = -1", "prices.m.completion is “-1”"),
        ("[prices.m]\nprompt = 1\ncompletion = 1\ninput = 1", "nobody knows prices.m.input"),
        ("[prices]\nm = 3", "prices.m is “3”, which is ignored"),
    ],
)
def test_a_price_of_no_use_is_told(text: str, said: str) -> None:
    assert any(said in warning for warning in load(text).warnings)


def test_the_example_shows_the_built_in_values_of_memory() -> None:
    example = (Path(__file__).parents[2] / "partners.toml.example").read_text("utf-8")
    assert load(example).memory == MemoryTuning()


def test_when_memory_is_consolidated_can_be_set() -> None:
    tuning = load(
        "[memory]\nconsolidate = false\nidle_minutes = 5\nevents = 2\nnightly_hours = 4\n"
    )
    assert tuning.memory == MemoryTuning(consolidate=Consolidating.OFF, idle_minutes=5)
    refused, unknown = tuning.warnings
    assert "memory.events is “2”" in refused
    assert "Did you mean memory.nightly_hour?" in unknown
    assert load('[memory]\nconsolidate = "ON"').memory.consolidate is Consolidating.ON


def test_limits_of_a_day_are_numbers_and_none_by_default() -> None:
    tuning = load(
        "[limits]\nlearner_tokens_per_day = 50_000\ntotal_cost_per_day = 1.5\n"
        "total_tokens_per_day = -1\ntotal_cost = 3\n"
    )
    assert tuning.limits == Limits(learner_tokens_per_day=50_000, total_cost_per_day=1.5)
    refused, unknown = tuning.warnings
    assert "limits.total_tokens_per_day is “-1”" in refused
    assert "Did you mean limits.total_cost_per_day?" in unknown
