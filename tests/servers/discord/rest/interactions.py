"""Endpoints that answer interactions: the first response, its edits, what follows.

They need no Authorization, the token in the address is enough. A first response is taken for
three seconds and once; the token lives for fifteen minutes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.servers.discord.commands import check_choices
from tests.servers.discord.components import check_modal
from tests.servers.discord.errors import refusal
from tests.servers.discord.form import Form
from tests.servers.discord.press import AUTOCOMPLETE, COMMAND, COMPONENT, Press
from tests.servers.discord.rest.call import Call
from tests.servers.discord.rest.drafts import composed, drafted, notified
from tests.servers.discord.rest.messages import edited
from tests.servers.discord.shown import COMMAND as BY_COMMAND
from tests.servers.discord.shown import DEFAULT, EPHEMERAL, LOADING, REPLY, Shown
from tests.servers.discord.state import State

MESSAGE, PROMISE, QUIET_PROMISE, UPDATE, SUGGEST, OPEN_MODAL = 4, 5, 6, 7, 8, 9
"""Types of a first response."""


def _possible(press: Press) -> tuple[int, ...]:
    if press.kind == AUTOCOMPLETE:
        return (SUGGEST,)
    on_message = (QUIET_PROMISE, UPDATE) if press.message is not None else ()
    modal = (OPEN_MODAL,) if press.kind in (COMMAND, COMPONENT) else ()
    return (MESSAGE, PROMISE, *on_message, *modal)


def callback(state: State, call: Call) -> Any:
    """POST /interactions/{interaction_id}/{interaction_token}/callback."""
    press = state.presses.get(call.id("interaction_id"))
    if press is None or press.token != call.path["interaction_token"]:
        raise refusal(10062)
    if press.answer is not None:
        raise refusal(40060)
    if press.late:
        raise refusal(10062)
    form = Form()
    kind = call.fields.get("type")
    form.choice(("type",), kind, _possible(press))
    data = form.mapping(("data",), call.fields.get("data"))
    form.check()
    message = _carry_out(press, int(str(kind)), data, call)
    press.answer = {"type": kind, "data": data}
    press.chat.announce()
    return _outcome(press, message) if call.flag("with_response") else None


def _carry_out(press: Press, kind: int, data: dict[str, Any], call: Call) -> Shown | None:
    inner = Form(("data",))
    match kind:
        case _ if kind == MESSAGE:
            message = _written(press, data, call, inner, first=True)
            press.original = message.message_id
            return message
        case _ if kind == PROMISE:
            press.thinking = True
            press.hidden = bool((data.get("flags") or 0) & EPHEMERAL)
            press.original = press.state.snowflake()
        case _ if kind == QUIET_PROMISE:
            press.original = press.message.message_id if press.message else None
        case _ if kind == UPDATE:
            press.original = press.message.message_id if press.message else None
            message = edited(press.chat, _source(press), call, inner, "data")
            press.written.append(message.message_id)
            return message
        case _ if kind == SUGGEST:
            check_choices(inner, ("choices",), data.get("choices"))
            inner.check()
        case _ if kind == OPEN_MODAL:
            check_modal(inner, data)
            inner.check()
    return None


def _source(press: Press) -> Shown:
    found = press.chat.find(press.original or 0)
    if found is None:
        raise refusal(10008)
    return found


def _outcome(press: Press, message: Shown | None) -> dict[str, Any]:
    kind = (press.answer or {})["type"]
    interaction: dict[str, Any] = {"id": str(press.interaction_id), "type": press.kind}
    if press.original is not None:
        interaction |= {
            "response_message_id": str(press.original),
            "response_message_loading": press.thinking,
            "response_message_ephemeral": press.hidden,
        }
    resource: dict[str, Any] = {"type": kind}
    if message is not None:
        resource["message"] = message.json()
    return {"interaction": interaction, "resource": resource}


def _written(
    press: Press,
    fields: dict[str, Any],
    call: Call,
    form: Form,
    *,
    first: bool,
    number: int | None = None,
) -> Shown:
    """Show a message that answers an interaction; raises Refusal."""
    state, chat = press.state, press.chat
    draft = drafted(fields, call.files, form)
    hidden = press.hidden if number is not None else bool(draft.flags & EPHEMERAL)
    kind = DEFAULT if first else REPLY
    if first and press.kind == COMMAND:
        kind = BY_COMMAND
    metadata: dict[str, Any] = {
        "id": str(press.interaction_id),
        "type": press.kind,
        "user": press.user.json(),
        "authorizing_integration_owners": {},
    }
    if press.name is not None:
        metadata["name"] = press.name
    extra = {
        "application_id": str(state.application_id),
        "webhook_id": str(state.application_id),
        "interaction_metadata": metadata,
    }
    blank = Shown(
        chat,
        number or state.snowflake(),
        None,
        state.now(),
        kind=kind,
        reply_to=press.original if not first else None,
        flags=EPHEMERAL if hidden else 0,
        only_for=press.user if hidden else None,
        extra=extra,
    )
    message = notified(composed(chat, draft, blank), draft, None)
    if hidden:
        message = replace(message, pinged=frozenset())
    message = chat.show(message)
    press.written.append(message.message_id)
    return message


def _press(state: State, call: Call) -> Press:
    """Return the interaction whose token a webhook address carries; raises Refusal."""
    if call.id("application_id") != state.application_id:
        raise refusal(10015)
    token = call.path["interaction_token"]
    found = [press for press in state.presses.values() if press.token == token]
    if not found:
        raise refusal(50027)
    press = found[0]
    if press.over:
        raise refusal(50027)
    if press.answer is None:
        raise refusal(10015)
    return press


def follow_up(state: State, call: Call) -> Any:
    """POST /webhooks/{application_id}/{interaction_token}.

    The first one after a promise fulfils it, as the reference says of this endpoint.
    """
    press = _press(state, call)
    if press.kind == AUTOCOMPLETE:
        raise refusal(10015)
    if press.thinking:
        return _fulfilled(press, call).json()
    return _written(press, call.fields, call, Form(), first=False).json()


def _fulfilled(press: Press, call: Call) -> Shown:
    message = _written(press, call.fields, call, Form(), first=True, number=press.original)
    press.thinking = False
    return message


def _target(state: State, call: Call) -> tuple[Press, Shown | None]:
    """Return the message that a webhook address names, None while it is only promised."""
    press = _press(state, call)
    if call.path["message_id"] == "@original":
        if press.original is None:
            raise refusal(10008)
        number = press.original
        if press.thinking:
            return press, None
    else:
        number = call.id("message_id")
    message = press.chat.find(number)
    if message is None or (number != press.original and number not in press.written):
        raise refusal(10008)
    return press, message


def get_answer(state: State, call: Call) -> Any:
    """GET /webhooks/{application_id}/{interaction_token}/messages/{message_id}."""
    press, message = _target(state, call)
    if message is not None:
        return message.json()
    flags = LOADING | (EPHEMERAL if press.hidden else 0)
    promised = Shown(press.chat, press.original or 0, None, state.now(), flags=flags)
    return promised.json()


def edit_answer(state: State, call: Call) -> Any:
    """PATCH .../messages/{message_id}; the first edit of a promise fulfils it."""
    press, message = _target(state, call)
    if message is None:
        return _fulfilled(press, call).json()
    shown = edited(press.chat, message, call, Form())
    if shown.message_id not in press.written:
        press.written.append(shown.message_id)
    press.chat.announce()
    return shown.json()


def delete_answer(state: State, call: Call) -> None:
    """DELETE .../messages/{message_id}."""
    press, message = _target(state, call)
    if message is None:
        press.thinking = False
        press.original = None
    else:
        press.chat.take_away(message.message_id)
    press.chat.announce()
