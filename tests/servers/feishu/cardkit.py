"""The card kit: card entities, made once, changed in small steps, streamed."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.servers.feishu import card_schema, cards
from tests.servers.feishu.call import Call, ok
from tests.servers.feishu.errors import CHAT_FREQUENCY, CardRefusal, Refusal
from tests.servers.feishu.limits import CARD_SECONDS, ELEMENT_TEXT, RICH_BYTES, STREAMING_SECONDS
from tests.servers.feishu.state import Entity

if TYPE_CHECKING:
    from tests.servers.feishu.state import State

UUID_LONGEST = 64
_LAST_SEQUENCE = 2**31 - 1


def create(state: State, call: Call) -> dict[str, Any]:
    """Make an entity of a card JSON 2.0."""
    if call.optional("type") != "card_json":
        raise _bad("type")
    card = _card(state, call.optional("data") or "")
    entity = Entity(str(7_355_000_000_000_000_000 + state.fresh_number()), card, state.clock.now())
    state.entities[entity.card_id] = entity
    _show(state, entity, card)
    return ok({"card_id": entity.card_id})


def convert(state: State, call: Call) -> dict[str, Any]:
    """Tell which entity a message shows."""
    message_id = call.optional("message_id")
    for entity in state.entities.values():
        if entity.message is not None and entity.message.message_id == message_id:
            return ok({"card_id": entity.card_id})
    raise _bad("message_id")


def update(state: State, call: Call) -> dict[str, Any]:
    """Replace the whole card of an entity."""
    entity = _entity(state, call)
    given = (call.body or {}).get("card")
    if not isinstance(given, dict) or given.get("type") != "card_json":
        raise _bad("card")
    card = _card(state, str(given.get("data", "")))
    _operate(state, entity, call)
    _show(state, entity, card)
    return ok()


def content(state: State, call: Call) -> dict[str, Any]:
    """Stream: set the whole text so far of a text element."""
    entity = _entity(state, call)
    text = call.optional("content")
    if text is None or len(text) > ELEMENT_TEXT:
        raise _bad("content")
    if entity.timed_out:
        raise Refusal(200850, "Card streaming timeout")
    if entity.streaming_since is None:
        raise Refusal(300309, "Card streaming closed")
    card = copy.deepcopy(entity.card)
    element = cards.find_element(card, call.path["element_id"])
    if element is None:
        raise Refusal(300313, "Failed to update element properties, the element does not exist")
    if element["tag"] not in ("markdown", "plain_text"):
        raise Refusal(300310, "Only update text")
    element["content"] = text
    _check(state, card)
    _operate(state, entity, call)
    _show(state, entity, card)
    return ok()


def settings(state: State, call: Call) -> dict[str, Any]:
    """Change the configuration of an entity, such as whether it streams."""
    entity = _entity(state, call)
    try:
        given = json.loads(call.optional("settings") or "")
    except ValueError:
        raise _bad("settings") from None
    if not isinstance(given, dict) or set(given) - {"config", "card_link"}:
        raise _bad("settings")
    config = given.get("config", {})
    if not isinstance(config, dict) or set(config) - card_schema.CONFIG:
        raise Refusal(300122, "Failed to update card configuration")
    card = copy.deepcopy(entity.card)
    card["config"] = {**card.get("config", {}), **config}
    if "card_link" in given:
        card["card_link"] = given["card_link"]
    _check(state, card)
    _operate(state, entity, call)
    _show(state, entity, card)
    return ok()


def let_streams_end(state: State) -> None:
    """End the streaming of entities that have streamed for ten minutes."""
    for entity in state.entities.values():
        since = entity.streaming_since
        if since is not None and state.clock.now() - since >= STREAMING_SECONDS:
            card = copy.deepcopy(entity.card)
            card["config"]["streaming_mode"] = False
            _show(state, entity, card)
            entity.timed_out = True


def _card(state: State, data: str) -> dict[str, Any]:
    if not data:
        raise Refusal(300307, "The card DSL is empty")
    try:
        card = json.loads(data)
    except ValueError:
        raise Refusal(200220, "Failed to generate card content") from None
    if not isinstance(card, dict) or not cards.is_new(card):
        raise Refusal(300303, "Only schema 2.0 is supported")
    _check(state, card)
    return card


def _check(state: State, card: dict[str, Any]) -> None:
    if len(json.dumps(card, ensure_ascii=False).encode()) > RICH_BYTES:
        raise Refusal(200860, "Card content exceeds limit.")
    try:
        cards.check(card, state.known)
    except CardRefusal as refused:
        if refused.code in (300301, 300302):
            raise Refusal(refused.code, refused.message) from None
        if refused.message == "element exceeds the limit":
            raise Refusal(300305, "The number of card components exceeds 200") from None
        raise refused.refusal from None


def _entity(state: State, call: Call) -> Entity:
    let_streams_end(state)
    entity = state.entities.get(call.path["card_id"])
    if entity is None:
        raise Refusal(200740, "The card entity does not exist")
    if state.clock.now() - entity.created > CARD_SECONDS:
        raise Refusal(200750, "The card entity has expired")
    if entity.message is not None and entity.message.message_id in state.pressed:
        raise Refusal(200810, "The card is in an ongoing interaction and cannot be updated")
    return entity


def _operate(state: State, entity: Entity, call: Call) -> None:
    """Count one operation: its sequence must be above every earlier one, its uuid new."""
    sequence = call.number("sequence")
    if not 1 <= sequence <= _LAST_SEQUENCE:
        raise _bad("sequence")
    uuid = call.optional("uuid", UUID_LONGEST)
    if uuid is not None and uuid in entity.uuids:
        raise Refusal(200770, "UUID conflict")
    if sequence <= entity.sequence:
        raise Refusal(
            300317, "The sequence number for operating on the card did not increment consecutively"
        )
    if state.frequency.wait_of(entity.card_id, state.rates.card_per_second, 1.0):
        raise CHAT_FREQUENCY
    entity.sequence = sequence
    if uuid is not None:
        entity.uuids.add(uuid)


def _show(state: State, entity: Entity, card: dict[str, Any]) -> None:
    entity.card = card
    streams = bool(card.get("config", {}).get("streaming_mode"))
    if not streams:
        entity.streaming_since = None
    elif entity.streaming_since is None:
        entity.streaming_since = state.clock.now()
        entity.timed_out = False
    if entity.message is not None:
        chat = entity.message.chat
        present = chat.now(entity.message)
        chat.put(replace(present, content=card, updated=state.clock.milliseconds()))
        chat.announce()


def _bad(what: str) -> Refusal:
    return Refusal(10002, f"Your request contains an invalid request parameter. {what}")
