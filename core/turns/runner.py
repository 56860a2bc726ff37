"""One event, one answer: decides what kind of event it is and brings it to its end.

This is the one guard at the top of a turn: whatever goes wrong below it, the learner gets a short
sentence in their language with a reference that is in the log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from sqlmodel import Session

from core.capabilities.question import question_in
from core.channel import Channel, Watch
from core.clock import Clock
from core.commands.book import CommandBook
from core.commands.quiz import Quizzes
from core.commands.request import Action, Answer, Reply, Request, Rerun
from core.context import ChatKind, Command, Joined, Press, Text, Unsupported
from core.document import Document, plain
from core.events import Content, TurnEvent
from core.i18n import words_for
from core.ids import new_id
from core.logs import log_context, reference
from core.outbox import Parcel, addressee_of
from core.store.session import Store, update_where
from core.store.tables import Inbound, Outgoing
from core.tools.registry import HandOver
from core.turns.chat import ChatTurn
from core.turns.delivery import Delivery
from core.turns.finish import Ending, record, settle
from core.turns.journal import Journal
from core.turns.lanes import Job
from core.turns.regenerate import busy
from core.turns.regenerate import button as anew

log = logging.getLogger(__name__)

Given = Reply | Callable[[Session], Reply]
"""What a command gives that asks the model for nothing more."""
COMMAND = "command"
"""Reason of a turn that needed no model."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Answers jobs. ``book`` is asked for late, as some commands need the runner's lanes."""

    store: Store
    clock: Clock
    delivery: Delivery
    journal: Journal
    chat: ChatTurn
    quizzes: Quizzes
    book: Callable[[], CommandBook]
    channel: Callable[[str, str], Channel]
    """The channel of a name and a bot account."""
    offers_anew: bool
    """Answers in private chats carry the button of ``core.turns.regenerate``."""

    async def work(self, job: Job) -> None:
        """Bring a job to its end. Raises nothing but cancellation."""
        turn_id = new_id()
        started = self.clock.now()
        with log_context(turn=turn_id, learner=job.learner_id):
            try:
                await self._answer(job, turn_id, started)
            except asyncio.CancelledError:
                if not job.stopped:
                    raise  # the program ends: the next start takes the job up again
            except Exception:
                log.exception("a turn failed in an unforeseen way")
                await self._apologise(job, turn_id, started)

    async def _answer(self, job: Job, turn_id: str, started: datetime) -> None:
        message = job.message
        words = words_for(job.language)
        if job.busy:
            await self._say(job, turn_id, started, busy(words))
            return
        match message.content:
            case Text(text=text) if text.strip() or message.quote or message.attachments:
                if await self._to_quiz(job, turn_id, started):
                    return
                message, way = question_in(message) or (message, None)
                await self._converse(job, turn_id, started, Rerun(message, capability=way))
            case Text():
                await self._say(job, turn_id, started, words("Yes? What shall we work on?"))
            case Unsupported(what=what):
                log.info("unsupported kind of message: %s", what)
                text = words(
                    "That kind of message is beyond me. Write it out, please, or send a picture or "
                    "a file."
                )
                await self._say(job, turn_id, started, text)
            case Command(name=name, arguments=arguments, overheard=overheard):
                command = self.book().command(name)
                if command is None and overheard:
                    log.info("a command for another bot: no answer")
                    nothing = Ending(reason=COMMAND, document=None, started_at=started)
                    await self._finish(job, turn_id, lambda _: nothing)
                elif command is None:
                    await self._say(job, turn_id, started, self._unknown(job, name))
                elif command.spec.private and message.chat_kind is not ChatKind.PRIVATE:
                    await self._say(job, turn_id, started, _privately(job))
                else:
                    request = self._request(job, arguments, started)
                    async with self._waiting(job, command.spec.slow):
                        answer = await command.handle(request)
                    await self._handle(job, turn_id, started, answer)
            case Joined():
                text = words(
                    "Hello, I'm a tutor. Call me by my name or reply to one of my messages, and I "
                    "answer you; /quiz asks everybody. What I keep of you I keep for you alone: "
                    "write to me privately for your cards and notes."
                )
                await self._say(job, turn_id, started, text)
            case Press(action=pressed):
                await self._press(job, turn_id, started, pressed)

    async def _press(self, job: Job, turn_id: str, started: datetime, pressed: str) -> None:
        found = self.book().action(pressed)
        if found is None:
            words = words_for(job.language)
            text = words("This button is out of date. /help shows what I can do.")
            await self._say(job, turn_id, started, text)
            return
        action, arguments = found
        if action.private and job.message.chat_kind is not ChatKind.PRIVATE:
            await self._say(job, turn_id, started, _privately(job))
            return
        async with self._waiting(job, action.slow):
            answer = await action.handle(self._request(job, arguments, started))
        await self._handle(job, turn_id, started, answer)

    async def _to_quiz(self, job: Job, turn_id: str, started: datetime) -> bool:
        """Take a message for an answer to the question of a quiz; False when it is none."""
        content = job.message.content
        text = content.text if isinstance(content, Text) else ""
        request = self._request(job, text, started)
        sheet = await self.quizzes.pending(request)
        if sheet is None:
            return False
        async with self._waiting(job, True):
            answer = await self.quizzes.answered(request, sheet)
        if answer is None:
            return False
        await self._handle(job, turn_id, started, answer)
        return True

    def _waiting(self, job: Job, slow: bool) -> AbstractAsyncContextManager[object]:
        """Show a sign of life while something slow is done."""
        target = job.message.target
        return (
            self.channel(target.channel, target.account).typing(target) if slow else nullcontext()
        )

    async def _converse(self, job: Job, turn_id: str, started: datetime, again: Rerun) -> None:
        """Let the model answer the job's own message, or an earlier one."""
        target = job.message.target
        job.reworded = None  # the question is read now
        channel = self.channel(target.channel, target.account)
        watching: AbstractAsyncContextManager[Watch]
        if again.replaces:
            # The place of the answer is taken until there is another: nothing of it is shown.
            watching = nullcontext(lambda _: None)
        else:
            watching = channel.preview(
                target,
                key=f"preview:{job.inbound_id}",
                handle=job.preview,
                shown=partial(self._shown, job),
                again=job.again and job.preview is None,
            )
        async with channel.typing(target), watching as watch:
            emit = watch if again.replaces else partial(_seen, job, watch)
            ending = await self.chat.run(
                job, turn_id, started, emit=emit, fetch=channel.fetch, again=again
            )
            handed: Given | None = None
            if ending.hand_over is not None:
                handed = await self._hand_over(job, started, ending.hand_over)
        if handed is not None:
            await self._finish(job, turn_id, partial(_handed, job, ending, handed))
            return
        if ending.tutor_words and ending.document and again.replaces:
            ending = replace(ending, edits=again.replaces)
        offers = self.offers_anew and channel.capabilities.can_edit
        if offers and ending.tutor_words and again.question.chat_kind is ChatKind.PRIVATE:
            assert ending.document is not None
            buttons = (*ending.document.buttons, anew(again.question.message_id))
            document = ending.document.model_copy(update={"buttons": buttons})
            ending = replace(ending, document=document)
        await self._finish(job, turn_id, lambda _: replace(ending, preview=job.preview))

    async def _hand_over(self, job: Job, started: datetime, to: HandOver) -> Given:
        """Let a command answer what the model was asked."""
        command = self.book().command(to.command)
        assert command is not None, to.command
        answer = await command.handle(self._request(job, to.arguments, started))
        assert not isinstance(answer, Rerun)
        return answer

    async def _shown(self, job: Job, handle: str) -> None:
        """Remember a preview with its event, so that the answer finds it also after a restart."""
        job.preview = handle
        row, preview = {"id": job.inbound_id}, {"preview": handle}
        await self.store.insist(lambda session: update_where(session, Inbound, row, preview))

    async def _handle(self, job: Job, turn_id: str, started: datetime, answer: Answer) -> None:
        if isinstance(answer, Rerun):
            await self._converse(job, turn_id, started, answer)
            return
        target = job.message.target
        can_edit = self.channel(target.channel, target.account).capabilities.can_edit

        def end(session: Session) -> Ending:
            reply = answer if isinstance(answer, Reply) else answer(session)
            replaced = _replaced(session, job, reply) if can_edit and reply.in_place else None
            return Ending(
                reason=COMMAND,
                document=reply.document,
                edits=(replaced,) if replaced else (),
                events=reply.events,
                ended=reply.ended,
                language=reply.language,
                prompt_tokens=job.tally.usage.prompt_tokens,
                completion_tokens=job.tally.usage.completion_tokens,
                model=job.tally.model,
                cost=job.tally.cost,
                started_at=started,
            )

        await self._finish(job, turn_id, end)

    async def _say(self, job: Job, turn_id: str, started: datetime, text: str) -> None:
        await self._handle(job, turn_id, started, Reply(Document(markdown=text)))

    async def _finish(self, job: Job, turn_id: str, end: Callable[[Session], Ending]) -> None:
        """End a turn. A stop that comes this late does not tear what follows the commit off it."""
        await asyncio.shield(asyncio.ensure_future(self._conclude(job, turn_id, end)))

    async def _conclude(self, job: Job, turn_id: str, end: Callable[[Session], Ending]) -> None:
        now = self.clock.now()

        def work(session: Session) -> tuple[Ending, Parcel | None] | None:
            if not settle(session, job):
                return None
            ending = end(session)
            return ending, record(session, job, turn_id, ending, now)

        written = await self.store.insist(work)
        if written is None:
            log.warning("event %d had its answer already", job.inbound_id)
            return
        ending, parcel = written
        log.info("turn ended: %s", ending.reason)
        self.delivery.hand(parcel)
        await self.journal.write(turn_id, job.learner_id, ending.events)
        if ending.ended:
            self.delivery.look()
            await self.journal.write(
                ending.ended.turn_id, ending.ended.learner_id, ending.ended.events
            )

    async def _apologise(self, job: Job, turn_id: str, started: datetime) -> None:
        words = words_for(job.language)
        text = words(
            "Something went wrong on my side. Please try again. (ref {ref})",
            ref=reference(turn_id),
        )
        try:
            await self._say(job, turn_id, started, text)
        except Exception:
            log.exception("the failure could not be told; the next start answers the event")

    def _request(self, job: Job, arguments: str, now: datetime) -> Request:
        return Request(
            learner_id=job.learner_id,
            words=words_for(job.language),
            zone=job.zone,
            now=now,
            conversation_id=job.conversation_id,
            message=job.message,
            owner=job.owner,
            arguments=arguments,
            tally=job.tally,
        )

    def _unknown(self, job: Job, name: str) -> str:
        words = words_for(job.language)
        nearest = self.book().nearest(name)
        if nearest:
            return words(
                "I don't know /{name}. Did you mean /{nearest}? /help shows all I can do.",
                name=plain(name),
                nearest=nearest,
            )
        return words("I don't know /{name}. /help shows what I can do.", name=plain(name))


def _handed(job: Job, ending: Ending, answer: Given, session: Session) -> Ending:
    """The end of a question that a command has answered: the turn stays the question's."""
    reply = answer if isinstance(answer, Reply) else answer(session)
    return replace(
        ending,
        document=reply.document,
        tutor_words=reply.document.markdown,
        events=(*ending.events, *reply.events),
        preview=job.preview,
        ended=reply.ended,
        prompt_tokens=job.tally.usage.prompt_tokens,
        completion_tokens=job.tally.usage.completion_tokens,
        cost=job.tally.cost,
    )


def _seen(job: Job, watch: Watch, event: TurnEvent) -> None:
    """Keep what was shown of an answer, for a stop, and hand the event on to the preview."""
    if isinstance(event, Content):
        job.said.take(event)
    watch(event)


def _replaced(session: Session, job: Job, reply: Reply) -> str | None:
    """The message whose button was pressed, if it was said to the presser, or to all.

    In a group everybody can press; what was said to another stays as it is.
    """
    message = job.message
    if not isinstance(message.content, Press):
        return None
    origin = message.content.origin
    if message.chat_kind is ChatKind.PRIVATE or reply.of_all:
        return origin
    addressee = addressee_of(session, message.target, origin)
    return origin if addressee and addressee.learner_id == job.learner_id else None


def _privately(job: Job) -> str:
    words = words_for(job.language)
    return words("That is between you and me: write to me privately for it.")


def show_again() -> Action:
    """The button under the notice that a message may not have arrived."""

    def repeat(session: Session, request: Request) -> Reply:
        row = session.get(Outgoing, request.arguments)
        if row is None or row.learner_id != request.learner_id:
            text = request.words("This message is not here any more. Please ask again.")
            return Reply(Document(markdown=text))
        return Reply(Document.model_validate_json(row.document))

    async def handle(request: Request) -> Answer:
        return partial(repeat, request=request)

    return Action("show", handle)
