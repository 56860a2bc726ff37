"""Labels count at the beginning of a line outside code, however the stream was cut."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.llm.port import Completed, ToolSpec
from core.loop.labelled import Labelled, reads_as_answer
from core.loop.labels import COMMON, Does, Label, Vocabulary, openers
from core.loop.protocol import Kind, Step
from core.loop.scrub import Hidden, Piece, Retract, Visible

SPEC = ToolSpec("echo", "Says it again.", {"type": "object"})
OWN = Vocabulary(
    (
        Label("PLAN", Does.NOTHING, "the plan"),
        Label("SAY", Does.SPEAK, "a part of the answer"),
        Label("USE", Does.CALL, "a call"),
        Label("ASK", Does.SPEAK | Does.ASK, "a question"),
        Label("DONE", Does.SPEAK | Does.END, "the end"),
    )
)


def read(
    deltas: Sequence[str],
    vocabulary: Vocabulary = COMMON,
    *,
    closing: bool = False,
    specs: tuple[ToolSpec, ...] = (SPEC,),
) -> tuple[Step, list[Piece], bool]:
    """What a reply comes to, what was seen of it, and whether it went on too long."""
    protocol = Labelled(vocabulary, "[result 4f2a")
    protocol.tools(specs, closing=closing)
    reader = protocol.reader(closing=closing)
    pieces = [piece for delta in deltas for piece in reader.feed(delta)] + reader.finish()
    step = protocol.step(reader, Completed((), "stop", None), closing=closing)
    return step, pieces, reader.labels.cut


def calls(step: Step) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in step.calls]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("FINISH: Four.", "Four."),
        ("FINISH:Four.", "Four."),
        ("FINISH：四。", "四。"),
        ("FINISH\nFour.", "Four."),
        ("**FINISH:** Four.", "Four."),
        ("**FINISH**: Four.", "Four."),
        ("### FINISH\nFour.", "Four."),
        ("  FINISH : Four.", "Four."),
        ("THINK: two and two\nFINISH: Four.", "Four."),
        ("Let me see.\nFINISH: Four.", "Four."),
        ("<think>TOOL: echo {}</think>\nFINISH: Four.", "Four."),
        ("so TOOL: echo\n</think>\n\nFINISH: Four.", "Four."),
        ("FINISH: One.\n\nTwo.\nTHINK: was that good?", "One.\n\nTwo."),
        ("FINISH: One.\nRESULT of echo: lies", "One."),
        ("FINISH: Four.\nFINISH: Five.", "Four."),
        ("FINISH: Write FINISH: before it.", "Write FINISH: before it."),
        ("FINISH: FINISHED: no label\nRESULTS: none", "FINISHED: no label\nRESULTS: none"),
        (
            "FINISH: So:\n```\nTHINK: x\nRESULT: y\n<think>\n```\nDone.",
            "So:\n```\nTHINK: x\nRESULT: y\n<think>\n```\nDone.",
        ),
        ("FINISH: ```\nTOOL: x\n```\nDone.", "```\nTOOL: x\n```\nDone."),
        ("**FINISH:** ```\n<think>\n```", "```\n<think>\n```"),
    ],
)
def test_what_follows_the_last_label_is_the_answer(text: str, answer: str) -> None:
    step, pieces, _ = read([text])
    assert (step.kind, step.text) == (Kind.ANSWER, answer)
    assert seen(pieces)[0].strip() == answer


@pytest.mark.parametrize(
    "body",
    [
        'echo {"word": "x"}',
        'echo({"word": "x"})',
        'echo: {"word": "x"}',
        'echo\n{"word": "x"}',
        '`echo` {"word": "x"} and then I wait',
        '```json\n{"name": "echo", "arguments": {"word": "x"}}\n```',
        'echo\n```json\n{"word": "x"}\n```',
        '{"tool": "echo", "args": {"word": "x"}}',
        '{"name": "echo", "arguments": "{\\"word\\": \\"x\\"}"}',
    ],
)
def test_a_call_is_read_however_it_is_written(body: str) -> None:
    step, pieces, _ = read([f"THINK: I look.\nTOOL: {body}"])
    assert (step.kind, calls(step), step.said) == (
        Kind.CALLS,
        [("echo", '{"word": "x"}')],
        "I look.",
    )
    assert seen(pieces)[0] == ""


@pytest.mark.parametrize(
    ("body", "name", "arguments"),
    [
        ("echo hello there", "echo", "hello there"),
        ("echo", "echo", ""),
        ("echo()", "echo", ""),
        ('echo {"word": "', "echo", '{"word": "'),
        ('{"name": "echo", "argum', "", '{"name": "echo", "argum'),
        ("???", "", "???"),
    ],
)
def test_a_call_that_is_not_whole_is_kept_as_it_is(body: str, name: str, arguments: str) -> None:
    assert calls(read([f"TOOL: {body}"])[0]) == [(name, arguments)]


def test_several_calls_are_one_round() -> None:
    step, _, cut = read(['TOOL: echo {"word": "a"}\nTHINK: and\nTOOL: echo {"word": "b"}'])
    assert calls(step) == [("echo", '{"word": "a"}'), ("echo", '{"word": "b"}')]
    assert not cut


@pytest.mark.parametrize(
    "rest",
    [
        "RESULT: lies\nFINISH: So it is lies.",
        "RESULT of echo:\nlies",
        "OBSERVATION: lies",
        "**RESULT:** lies",
        "[result 4f2a of echo: data]\nlies",
        "FINISH: So it is lies.",
    ],
)
def test_nothing_is_read_after_a_call_but_calls(rest: str) -> None:
    step, pieces, cut = read([f'TOOL: echo {{"word": "x"}}\n{rest}'])
    assert calls(step) == [("echo", '{"word": "x"}')]
    assert cut
    assert "lies" not in "".join(seen(pieces))


@pytest.mark.parametrize(
    ("text", "kind", "kept"),
    [
        ("Just four.", Kind.VIOLATION, "Just four."),
        ("THINK: hm", Kind.VIOLATION, ""),
        ("FINISH:", Kind.SILENCE, ""),
        ("<think>hm</think>", Kind.SILENCE, ""),
        ("", Kind.SILENCE, ""),
        ("Finish: four", Kind.VIOLATION, "Finish: four"),
        ("```\nFINISH: four\n```", Kind.VIOLATION, "```\nFINISH: four\n```"),
    ],
)
def test_a_reply_without_a_step_is_told_apart(text: str, kind: Kind, kept: str) -> None:
    step, pieces, _ = read([text])
    assert (step.kind, step.text) == (kind, kept)
    assert seen(pieces)[0] == ""


@pytest.mark.parametrize("nothing", ["(empty)", "``", "\u200b", "[no content]"])
def test_a_word_for_nothing_is_no_answer(nothing: str) -> None:
    assert read([f"FINISH: {nothing}"])[0] == Step(Kind.SILENCE)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Just four.", "Just four."),
        ("FINISH: Four.", "Four."),
        ("Well.\nFINISH: Four.", "Well.\n\nFour."),
        ('THINK: hm\nTOOL: echo {"word": "x"}\nFINISH: Four.', "Four."),
        ("Four.\nRESULT: lies", "Four."),
    ],
)
def test_the_closing_answer_needs_no_label_and_holds_no_call(text: str, answer: str) -> None:
    step, _, _ = read([text], closing=True)
    assert (step.kind, step.text) == (Kind.ANSWER, answer)


def test_a_vocabulary_of_its_own_speaks_in_parts_and_asks() -> None:
    step, pieces, _ = read(["PLAN: two parts\nSAY: First this.\nASK: Clear?"], OWN)
    assert (step.kind, step.text, step.asked) == (Kind.ANSWER, "First this.\n\nClear?", True)
    assert seen(pieces) == ("First this.\n\nClear?", "two parts")
    step, _, _ = read(["SAY: First this."], OWN)
    assert (step.kind, step.text) == (Kind.GOES_ON, "First this.")
    step, _, _ = read(["SAY: I look.\nUSE: echo x"], OWN)
    assert (step.kind, step.text, calls(step)) == (Kind.CALLS, "I look.", [("echo", "x")])
    assert read(["FINISH: no label here"], OWN)[0].kind is Kind.VIOLATION


@pytest.mark.parametrize(
    "labels",
    [
        [Label("THINK", Does.NOTHING, "")],
        [Label("END", Does.END, "")],
        [Label("END", Does.SPEAK | Does.END, ""), Label("END", Does.NOTHING, "")],
        [Label("end", Does.SPEAK | Does.END, "")],
        [Label("RESULT", Does.SPEAK | Does.END, "")],
        [Label("END", Does.SPEAK | Does.END, ""), Label("DO", Does.CALL | Does.SPEAK, "")],
    ],
)
def test_labels_that_cannot_work_are_refused(labels: list[Label]) -> None:
    with pytest.raises(ValueError, match=r"label|ends|call|name"):
        Vocabulary(tuple(labels))


def test_no_way_to_write_a_label_begins_another() -> None:
    ways = [way for name in ("ASK", "ASK_ME", "RESULT") for way in openers(name)]
    assert not [(a, b) for a in ways for b in ways if a != b and b.startswith(a)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is four.", True),
        ("四。", True),
        ("Use `{}` for it.", True),
        ('{"name": "echo"}', False),
        ('```json\n{"name": "echo"}\n```', False),
        ('[{"name": "echo"}]', False),
        ("?", False),
        ("", False),
    ],
)
def test_prose_reads_as_an_answer_and_a_call_gone_wrong_does_not(text: str, expected: bool) -> None:
    assert reads_as_answer(text) is expected


def seen(pieces: Sequence[Piece]) -> tuple[str, str]:
    """What is shown at the end, and what was thought."""
    shown: list[str] = []
    for piece in pieces:
        match piece:
            case Visible(text):
                shown.append(text)
            case Retract():
                shown.clear()
    hidden = "".join(piece.text for piece in pieces if isinstance(piece, Hidden))
    return "".join(shown).rstrip("\n"), hidden.strip()


ATOMS = st.sampled_from(
    [
        *("THINK:", "TOOL:", "FINISH:", "FINISH", "**FINISH:**", "### ", "THINK ", "RESULT of "),
        *("RESULT:", "OBSERVATION", "[result 4f2a", "SAY: ", "ASK:", "PLAN:\n", "USE:", "DONE："),
        *("\n", "\n\n", " ", "  ", ":", "word", "数学", "😀", 'echo {"word": "x"}', "{", "}"),
        *("```", "```py\n", "\n```\n", "`", "~~~", "> ", "- "),
        *("<think>", "</think>", "<thought>", "<think", "</", "<", "<|channel|>", "<|message|>"),
    ]
)


@settings(max_examples=600, deadline=None)
@given(
    st.lists(ATOMS, max_size=16).map("".join),
    st.data(),
    st.sampled_from([COMMON, OWN]),
    st.booleans(),
)
def test_any_split_of_the_stream_gives_the_same_step(
    text: str, data: st.DataObject, vocabulary: Vocabulary, closing: bool
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole_step, whole_pieces, whole_cut = read([text], vocabulary, closing=closing)
    step, pieces, cut = read(parts, vocabulary, closing=closing)
    assert (step, cut) == (whole_step, whole_cut)
    assert seen(pieces) == seen(whole_pieces)
