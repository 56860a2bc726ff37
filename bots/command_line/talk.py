"""``partners chat`` and ``partners serve``."""

from __future__ import annotations

import asyncio
import locale
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bots.command_line.start import fail, ground

if TYPE_CHECKING:
    from sqlmodel import Session

    from bots.app import Ground
    from bots.terminal.adapter import TerminalChannel
    from core.i18n import Words
    from core.llm.detect import LocalServer
    from core.llm.port import ChatModel

MAIN_WINDOW = "main"
LONGEST_PIPE = 16 * 1024 * 1024
"""Bytes read from a pipe: far more than any model takes, and a pipe that never ends ends here."""


def chat(
    file: Annotated[
        list[Path] | None, typer.Option(help="A file to talk about; may be given several times.")
    ] = None,
) -> None:
    """Talk to the tutor in this terminal.

    Piped text is one message, answered once; the answer alone goes to the output. In the
    conversation, /file PATH hands a file over.

    Example: echo "why is 0! = 1?" | partners chat
    """
    files = tuple(file or ())
    piped = _piped()
    with ground(quiet=True) as base:
        if piped is not None and not piped.strip() and not files:
            fail(base.settings.words("There is no question: nothing came in. Write one."))
        failed = asyncio.run(_chat(base, piped, files))
    if failed:
        raise SystemExit(1)


def _piped() -> str | None:
    """What is piped in, whole, whatever its line ends; None at a terminal."""
    from bots.rendering.clean import printable
    from bots.terminal.receive import decoded

    if sys.stdin is None:  # closed by whoever started us
        return ""
    if sys.stdin.isatty():
        return None
    data = sys.stdin.buffer.read(LONGEST_PIPE)
    return printable(decoded(data, locale.getpreferredencoding(do_setlocale=False)))


def serve() -> None:
    """Run every configured channel until stopped (Ctrl-C or SIGTERM).

    Set the channels up in .env first.

    Example: partners serve
    """
    from bots.app import only_one
    from bots.app import serve as run

    with ground() as base, only_one(base.settings.data, "serve", base.settings.words):
        asyncio.run(run(base))


async def _chat(base: Ground, piped: str | None, files: Sequence[Path]) -> bool:
    """Hold the conversation; True when the answer to a pipe could not be given."""
    from bots.app import build_house, choose_model, only_one, user_name
    from bots.terminal.adapter import TerminalChannel
    from bots.terminal.receive import account_of
    from core.clock import SystemClock
    from core.commands.parse import split_command
    from core.i18n import words_for
    from core.ids import new_id
    from core.llm.detect import detect_servers
    from core.settings import SettingsError

    account = account_of(user_name())
    chosen = await base.store.read(partial(_chosen_language, account=account))
    words = words_for(chosen or base.settings.language)
    with ExitStack() as held:
        window = new_id()
        if piped is None:
            try:
                held.enter_context(only_one(base.settings.data, "chat", words))
                window = MAIN_WINDOW
            except SettingsError:
                # A second window at once is welcome, and a conversation of its own.
                pass
        model = choose_model(base.settings)
        house = build_house(base, model)
        channel = TerminalChannel(
            user=user_name(),
            window=window,
            language=base.settings.language,
            out=sys.stdout,
            converses=piped is None,
            clock=SystemClock(),
            words=words,
            files=base.settings.data / "files",
        )
        asks = piped is None or split_command(piped) is None
        if asks:
            model.begin_loading()
        await house.start()
        await house.open(channel)
        try:
            if piped is not None:
                if model.small and asks:
                    channel.say(small_model(words, await detect_servers()))
                await channel.enter(piped, files)
                await house.idle()
                return channel.failed
            await _greet(words, channel, model)
            if files:
                await channel.enter("", files)
            await channel.converse(_line_reader(), house.idle, _interrupts())
            return False
        finally:
            # Nobody waits for a question that is left behind, and no answer is lost by leaving.
            await house.close(0.0)


async def _greet(words: Words, channel: TerminalChannel, model: ChatModel) -> None:
    from core.llm.detect import detect_servers

    if model.small:
        channel.say(small_model(words, await detect_servers()))
    channel.say(words("Ask me anything. /help shows what I can do, Ctrl-D ends."))


def _chosen_language(session: Session, account: str) -> str | None:
    """The language this person chose in an earlier conversation."""
    from core.store.tables import Account, Learner

    known = session.get(Account, account)
    learner = session.get(Learner, known.learner_id) if known and known.learner_id else None
    return learner.language if learner else None


def small_model(words: Words, servers: Iterable[LocalServer]) -> str:
    """What is said once where the packaged model answers: what it is, and the way to a real one.

    ``servers`` are the model servers seen on this machine.
    """
    lines = [
        words(
            "This is a small offline model, for trying things out: it knows little, speaks "
            "English only and is often wrong. For a real one put OPENAI_API_KEY and "
            "PARTNERS_MODEL into .env, or OPENAI_BASE_URL for a model server of your own."
        )
    ]
    lines += [
        words(
            "{server} is running here: set OPENAI_BASE_URL={url} and PARTNERS_MODEL to one of "
            "its models.",
            server=server.name,
            url=server.base_url,
        )
        for server in servers
    ]
    return "\n".join(lines)


def _line_reader() -> Callable[[], Awaitable[str]]:
    """Reads lines with editing and history; what it shows never goes into a file of answers."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.output import create_output

    shown = sys.stdout if sys.stdout.isatty() else sys.stderr
    session: PromptSession[str] = PromptSession(output=create_output(shown))
    return lambda: session.prompt_async("› ")


def _interrupts() -> asyncio.Event:
    """Set by Ctrl-C while the tutor is at work; at the prompt the prompt itself takes it."""
    loop = asyncio.get_running_loop()
    event = asyncio.Event()
    signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(event.set))
    return event
