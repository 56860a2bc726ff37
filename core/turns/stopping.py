"""``/stop``: ends the turn under way in the conversation, at once, keeping what was asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from zoneinfo import ZoneInfo

from sqlmodel import Session

from core.capabilities.question import question_in
from core.channel import Channel
from core.commands.declare import CommandSpec
from core.commands.request import Answer, Command, EndedTurn, Reply, Request
from core.document import Document
from core.i18n import N_
from core.ids import new_id
from core.loop.gates import StopReason
from core.turns.finish import Ending, record, settle
from core.turns.journal import as_asked
from core.turns.lanes import Job, Lanes
from memory.journal import Event
from memory.layers import Surface


def stop(lanes: Lanes, channel: Callable[[str, str], Channel]) -> Command:
    """The command; only the asker or an owner can stop a turn.

    What was said so far stays where the learner saw it. ``channel`` gives the channel of a name
    and a bot account.
    """

    async def handle(request: Request) -> Answer:
        words = request.words
        job = lanes.running(request.conversation_id)
        if job is None:
            return Reply(Document(markdown=words("Nothing is running here.")))
        if job.learner_id != request.learner_id and not request.owner:
            return Reply(Document(markdown=words("Only the person who asked can stop this.")))
        stopped = await lanes.stop(request.conversation_id)
        target = request.message.target
        # A channel that cannot replace a message has shown the answer for good.
        keeps = channel(target.channel, target.account).capabilities.can_edit
        return partial(_record, request=request, job=stopped, keeps=keeps)

    return Command(CommandSpec("stop", N_("stop what I'm doing"), immediate=True), handle)


def _as_far(job: Job, said: str) -> Document | None:
    """What was shown of the answer, to stay; None when nothing was, as the stop is the answer."""
    if said:
        return Document(markdown=f"{said} …")
    return Document(markdown="…") if job.preview else None


def _record(session: Session, request: Request, job: Job | None, *, keeps: bool) -> Reply:
    words = request.words
    if job is None or not settle(session, job):
        return Reply(Document(markdown=words("I was just finished.")))
    question = question_in(job.message)
    text = question.text if question else None
    said = job.said.text.strip()
    at = request.now.astimezone(ZoneInfo(job.zone))
    told = as_asked(text or "", job.message.chat_kind)
    events = (Event(new_id(request.now), at, Surface.CHAT, told),) if text else ()
    ending = Ending(
        reason=StopReason.CANCELLED,
        document=_as_far(job, said) if keeps else None,
        preview=job.preview,
        answers=job.message.message_id,
        learner_words=text,
        # Of an answer to something earlier only a whole one takes the place of the one there is.
        tutor_words=f"{said} …" if said and text is not None else None,
        events=events,
        prompt_tokens=job.tally.usage.prompt_tokens,
        completion_tokens=job.tally.usage.completion_tokens,
        model=job.tally.model,
        cost=job.tally.cost,
        started_at=request.now,
    )
    turn_id = new_id()
    record(session, job, turn_id, ending, request.now)
    return Reply(
        Document(markdown=words("Stopped. I remember what you asked.")),
        ended=EndedTurn(turn_id, job.learner_id, events),
    )
