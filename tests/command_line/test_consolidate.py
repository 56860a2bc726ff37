"""``partners memory consolidate``, as the one who runs the tutor uses it."""

from __future__ import annotations

import pytest

from memory.layers import LearnerFolder, Profile
from tests.command_line.inside import Run, runner
from tests.house.test_consolidation import notes
from tests.process import Installation
from tests.servers.openai import OpenAIServer, Reply


@pytest.fixture
def run(installation: Installation, openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Run:
    installation.settings.update(
        OPENAI_BASE_URL=openai.base_url, OPENAI_API_KEY="sk-x", PARTNERS_MODEL="scripted"
    )
    openai.default = notes
    return runner(installation, monkeypatch)


def test_what_was_said_becomes_memory_now(
    run: Run, installation: Installation, openai: OpenAIServer
) -> None:
    assert run("memory", "consolidate").out == "Nobody yet.\n"
    nobody = run("memory", "consolidate", "telegram:7")
    assert (nobody.status, nobody.out) == (1, "")
    assert "partners learners" in nobody.err
    installation.say("chat", stdin="knots")
    done = run("memory", "consolidate")
    assert (done.status, done.err) == (0, "")
    learner, said = done.out.strip().split("  ")
    assert said == "2 calls, 240 tokens: 2 added, 0 edited, 0 merged, 0 deleted, 0 refused"
    folder = LearnerFolder(installation.data / "memory", learner)
    assert b"- Is interested in knots [^1]" in folder.read(folder.profile(Profile.PROFILE))
    assert run("memory", "consolidate", learner).out == f"{learner}  nothing to do\n"


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (Reply("Sorry."), "The model's answer could not be used"),
        (Reply.failing(401, "no"), "`partners doctor` shows what is wrong"),
    ],
)
def test_what_could_not_be_done_is_said_with_a_way_out(
    run: Run, installation: Installation, openai: OpenAIServer, broken: Reply, says: str
) -> None:
    installation.say("chat", stdin="knots")
    openai.default = broken
    failed = run("memory", "consolidate")
    assert failed.status == 1
    assert says in failed.err
    assert "0 added" in failed.out
