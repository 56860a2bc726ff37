"""``partners access``, ``partners learners``: who learns here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from bots.command_line.start import fail, ground

if TYPE_CHECKING:
    from sqlmodel import Session

    from core.i18n import Words
    from core.store.tables import Account, Learner

access = typer.Typer(no_args_is_help=True, help="Let people in, or keep them out.")

Who = Annotated[str, typer.Argument(help="An account such as telegram:123, or a learner's id.")]
"""A learner, as the one who runs the tutor names them."""
_Stranger = Annotated[
    str, typer.Argument(help="An account such as telegram:123, or a pairing code.")
]


@access.command("list")
def list_() -> None:
    """Show who may learn here and who is waiting.

    Example: partners access list
    """
    from core.access import Verdict, everybody
    from core.clock import SystemClock

    with ground(quiet=True) as base:
        words = base.settings.words
        names = {
            Verdict.OWNER: words("owner"),
            Verdict.ADMITTED: words("may learn"),
            Verdict.STRANGER: words("not let in"),
            Verdict.DENIED: words("kept out"),
        }
        now = SystemClock().now()
        known = base.store.submit(partial(everybody, now=now)).result()
        for one in known:
            verdict = names[base.judge(one.account.id, one.account.access)]
            state = words("waiting with code {code}", code=one.code) if one.code else verdict
            typer.echo(f"{one.account.id}  {one.account.name}  {state}")
        if not known:
            typer.echo(words("Nobody yet."))


@access.command()
def approve(code: Annotated[str, typer.Argument(help="The code the person was given.")]) -> None:
    """Let the person with this code in.

    Example: partners access approve 7Q4K-2M
    """
    from core.access import approve as let_in
    from core.clock import SystemClock

    with ground(quiet=True) as base:
        words = base.settings.words
        account = base.store.submit(
            partial(let_in, code=code, now=SystemClock().now(), language=words.language)
        ).result()
        if account is None:
            fail(
                words(
                    "Nobody is waiting with the code {code}. Codes are valid for 24 hours; "
                    "`partners access list` shows the present ones.",
                    code=code,
                )
            )
        typer.echo(words("{name} ({account}) is in.", name=account.name, account=account.id))


@access.command()
def deny(who: _Stranger) -> None:
    """Keep a person out; they get no answer.

    Example: partners access deny telegram:123
    """
    _decide(who, owner=False)


@access.command()
def owner(who: _Stranger) -> None:
    """Make a person an owner, who may also stop other people's turns.

    Example: partners access owner telegram:123
    """
    _decide(who, owner=True)


def learners() -> None:
    """Show everybody who learns here: id, account, name, zone, last seen, number of cards.

    Example: partners learners
    """
    with ground(quiet=True) as base:
        words = base.settings.words
        rows = base.store.submit(_learners).result()
        for learner, account, cards in rows:
            seen = words.date(learner.seen_at.date())
            saved = words.plural("{n} card", "{n} cards", cards)
            typer.echo(
                f"{learner.id}  {account.id}  {account.name}  {learner.zone}  {seen}  {saved}"
            )
        if not rows:
            typer.echo(words("Nobody yet."))


def _decide(who: str, *, owner: bool) -> None:
    from core.access import Verdict
    from core.clock import SystemClock
    from core.store.tables import AccessState

    state = AccessState.OWNER if owner else AccessState.DENIED
    with ground(quiet=True) as base:
        words, now = base.settings.words, SystemClock().now()

        def work(session: Session) -> Account | None:
            from core.access import decide, find_request
            from core.settings import account_id

            request = find_request(session, who, now)
            try:
                account = request.account_id if request else base.full_account(account_id(who))
            except ValueError:
                return None
            return decide(session, account, state, now)

        done = base.store.submit(work).result()
        if done is None:
            fail(
                words(
                    "{who} is neither an account (like telegram:123) nor a valid code. "
                    "`partners access list` shows both.",
                    who=who,
                )
            )
        if owner:
            typer.echo(words("{name} is an owner now.", name=done.id))
        elif base.judge(done.id, done.access) is Verdict.DENIED:
            typer.echo(words("{name} is kept out now.", name=done.id))
        else:
            fail(
                words(
                    "{name} stays an owner: PARTNERS_OWNERS names them, or they sit at this "
                    "machine. Take them out of PARTNERS_OWNERS first.",
                    name=done.id,
                )
            )


def _learners(session: Session) -> list[tuple[Learner, Account, int]]:
    from sqlmodel import col, func, select

    from core.store.tables import Account, Card, Learner

    cards = (
        select(func.count())
        .select_from(Card)
        .where(Card.learner_id == Learner.id)
        .correlate(Learner)
        .scalar_subquery()
    )
    statement = (
        select(Learner, Account, cards)
        .join(Account, col(Account.learner_id) == col(Learner.id))
        .order_by(Learner.id, Account.id)
    )
    return [(learner, account, number) for learner, account, number in session.exec(statement)]


def find_learner(session: Session, name: str) -> str | None:
    """Return the id of a learner by an account or an id; None where there is none."""
    from core.linking.linking import current_learner
    from core.store.tables import Account, Learner

    account = session.get(Account, name)
    if account is not None:
        return account.learner_id
    learner = session.get(Learner, name.upper())
    return current_learner(session, learner.id) if learner else None


def no_learner(words: Words, name: str) -> str:
    """Say that there is none, and where they are listed."""
    return words("There is no learner {name}. `partners learners` shows everybody.", name=name)
