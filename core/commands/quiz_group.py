"""A quiz in a group: ``/quiz`` there, and the buttons that everybody may press.

What somebody chose is shown to nobody, neither before the question is closed nor after; only how
many have answered, and how many were right.
"""

from __future__ import annotations

from sqlmodel import Session

from core.commands.quiz_steps import event_of, said_only
from core.commands.quiz_words import asking, below, first_line, letters
from core.commands.request import Reply, Request
from core.document import Button, Document
from core.i18n import Words, words_for
from core.learning import quiz, together
from core.learning.grading import chosen
from core.learning.items import Question, right_answer
from core.learning.quiz import Asked
from core.learning.together import Count, Round


def begin(request: Request, topic: str, questions: tuple[Question, ...], session: Session) -> Reply:
    """Ask the first question, in the place of a quiz that was open there."""
    together.stop_in(session, request.message.target)
    sheet = quiz.begin(
        session,
        learner_id=request.learner_id,
        conversation_id=request.conversation_id,
        target=request.message.target,
        topic=topic,
        language=request.words.language,
        questions=questions,
        now=request.now,
        shared=True,
    )
    begun = together.load(session, sheet.id)
    assert begun is not None
    return Reply(_question(begun))


def show(request: Request, session: Session) -> Reply:
    """Show the open question again."""
    words = request.words
    found = together.open_in(session, request.message.target)
    if found is None:
        return said_only(words("What shall it be about? For example /quiz fractions 5"))
    return Reply(_question(found))


def stop(request: Request, session: Session) -> Reply:
    """End the open quiz, if its asker or an owner wants to."""
    words = request.words
    found = together.open_in(session, request.message.target)
    if found is None:
        return said_only(words("No quiz is open. /quiz begins one."))
    if not _may(request, found):
        return said_only(_not_yours(words))
    together.stop(session, found)
    words = words_for(found.language)
    return Reply(_result(session, found, words("Stopped.")))


def press(request: Request, quiz_id: str, nth: int, what: str, session: Session) -> Reply:
    """Take a choice, or close the question."""
    words = request.words
    found = together.load(session, quiz_id)
    asked = found.current if found is not None else None
    if found is None or asked is None:
        return said_only(words("This quiz is over. /quiz begins a new one."))
    if nth != found.position:
        return said_only(words("This question is closed already. /quiz shows the open one."))
    if what == "close":
        if not _may(request, found):
            return said_only(_not_yours(words))
        return _close(session, request, found, asked)
    option = chosen(asked.question.key, what, seed=asked.item_id)
    if option is None:
        return said_only(words("This button is out of date. /help shows what I can do."))
    after = together.answer(session, found, request.learner_id, option, request.now)
    event = event_of(request, f"quiz in a group: {first_line(asked)} — answered: {option}")
    return Reply(_question(after), in_place=True, of_all=True, events=(event,))


def _close(session: Session, request: Request, found: Round, asked: Asked) -> Reply:
    words = words_for(found.language)
    after, count = together.close(
        session, found, now=request.now, source=request.message.message_id
    )
    told = "\n\n".join(
        filter(
            None,
            (
                first_line(asked),
                words(
                    "The answer: {answer}", answer=right_answer(asked.question.key, asked.item_id)
                ),
                _counted(words, count),
                asked.question.explanation,
            ),
        )
    )
    if after.current is None:
        return Reply(_result(session, after, told), in_place=True, of_all=True)
    return Reply(_question(after, told), in_place=True, of_all=True)


def _question(found: Round, before: str = "") -> Document:
    words = words_for(found.language)
    asked = found.current
    assert asked is not None
    parts = asking(asked, found.position, len(found.items))
    parts.append(
        words.plural("{n} has answered.", "{n} have answered.", found.answers)
        if found.answers
        else words("Tap a letter. Nobody sees what you chose.")
    )
    stem = f"quiz:{found.id}:{found.position}"
    close = Button(label=words("Close and go on"), action=f"{stem}:close")
    return Document(markdown=below(before, parts), buttons=(*letters(asked, stem), (close,)))


def _result(session: Session, found: Round, before: str) -> Document:
    words = words_for(found.language)
    count = together.total(session, found)
    lines = [before]
    if count.all:
        lines.append(
            words(
                "Done. Together you had {n} of {all} right. What do you want to talk through?",
                n=count.right,
                all=count.all,
            )
        )
    return Document(markdown="\n\n".join(lines))


def _counted(words: Words, count: Count) -> str:
    if not count.all:
        return words("Nobody answered this one.")
    return words("{n} of {all} had it.", n=count.right, all=count.all)


def _may(request: Request, found: Round) -> bool:
    return request.owner or request.learner_id == found.asker


def _not_yours(words: Words) -> str:
    return words("That is for the one who asked for the quiz.")
