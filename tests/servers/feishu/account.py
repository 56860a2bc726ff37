"""Interfaces around the app itself: tokens, the bot, people, chats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.servers.feishu.call import Call, ok
from tests.servers.feishu.errors import DISSOLVED, Refusal, missing
from tests.servers.feishu.state import SCOPES

if TYPE_CHECKING:
    from tests.servers.feishu.people import Person
    from tests.servers.feishu.state import State

TOKEN_KEPT = 1800.0
"""Seconds of validity below which a new token is handed out beside the old one."""
BATCH = 50
CALLBACKS = frozenset({"card.action.trigger"})
"""What is subscribed to as a callback; everything else is an event."""
VERSION = "oav_d317f090b7258ad0372aa53963cda70d"


def token(state: State, call: Call) -> dict[str, Any]:
    """Hand out a tenant access token: the present one while it is good for half an hour."""
    if call.optional("app_id") != state.app_id:
        raise Refusal(10003, "invalid param", 400)
    if call.optional("app_secret") != state.app_secret:
        raise Refusal(10014, "app secret invalid", 400)
    now = state.clock.now()
    for known, end in state.tokens.items():
        if end - now >= min(TOKEN_KEPT, state.token_seconds / 2):
            return _token(known, end - now)
    new = state.fresh("t-g104")
    state.tokens[new] = now + state.token_seconds
    return _token(new, state.token_seconds)


def bot_info(state: State, call: Call) -> dict[str, Any]:
    """Tell about the bot; not under ``data`` as everywhere else."""
    if not state.bot_ability:
        raise Refusal(11205, "app do not have bot", 400)
    bot: dict[str, Any] = {
        "activate_status": 2 if state.installed else 0,
        "app_name": state.bot.name,
        "avatar_url": "",
        "ip_white_list": [],
        "open_id": state.bot.open_id,
    }
    return {"code": 0, "msg": "ok", "bot": bot}


def list_scopes(state: State, call: Call) -> dict[str, Any]:
    """Tell which permissions the organisation has granted to the app."""
    if not state.installed:
        raise Refusal(212100, "app not install", 400)
    asked_for = sorted(SCOPES | state.scopes)
    return ok(
        {
            "scopes": [
                {"scope_name": one, "grant_status": 1 if one in state.scopes else 2}
                for one in asked_for
            ]
        }
    )


def get_application(state: State, call: Call) -> dict[str, Any]:
    """Tell about the app: callbacks here, events with its version."""
    _check_application(state, call)
    callbacks = sorted(state.subscribed & CALLBACKS)
    app = {
        "app_id": state.app_id,
        "app_name": state.bot.name,
        "status": 1,
        "scene_type": 0,
        "online_version_id": VERSION if state.installed else "",
        "callback_info": {
            "callback_type": "websocket" if state.long_connection else "webhook",
            "request_url": "" if state.long_connection else "https://example.com/callback",
            "subscribed_callbacks": callbacks,
        },
    }
    return ok({"app": app})


def get_version(state: State, call: Call) -> dict[str, Any]:
    """Tell about a version of the app."""
    _check_application(state, call)
    if call.path["version_id"] != VERSION:
        raise Refusal(10003, "invalid param", 400)
    infos = [
        {"event_type": one, "event_name": one, "event_description": ""}
        for one in sorted(state.subscribed - CALLBACKS)
    ]
    return ok({"app_version": {"version_id": VERSION, "status": 1, "event_infos": infos}})


def _check_application(state: State, call: Call) -> None:
    if call.path["app_id"] not in (state.app_id, "me"):
        raise Refusal(10003, "invalid param", 400)
    if call.query.get("lang") not in ("zh_cn", "en_us", "ja_jp"):
        raise missing("lang")


def get_user(state: State, call: Call) -> dict[str, Any]:
    """Tell about one person."""
    person = _find(state, call.path["user_id"], call.query.get("user_id_type", "open_id"))
    if person is None:
        raise Refusal(41012, "user id invalid error")
    if not person.available:
        raise Refusal(41050, "no user authority error")
    return ok({"user": person.json()})


def batch_users(state: State, call: Call) -> dict[str, Any]:
    """Tell about several people; those nobody knows are left out."""
    wanted = call.lists.get("user_ids", [])
    if not 1 <= len(wanted) <= BATCH:
        raise missing("user_ids", f"has not 1 to {BATCH} entries")
    kind = call.query.get("user_id_type", "open_id")
    found = [_find(state, one, kind) for one in wanted]
    return ok({"items": [person.json() for person in found if person and person.available]})


def get_chat(state: State, call: Call) -> dict[str, Any]:
    """Tell about a chat the bot is in."""
    chat = state.chats.get(call.path["chat_id"])
    if chat is None:
        raise Refusal(232006, "Your request specifies a chat_id which is invalid.")
    if chat.dissolved:
        raise DISSOLVED
    if not chat.bot_is_member:
        raise Refusal(232011, "Operator can NOT be out of the chat.")
    return ok(chat.json())


def _token(value: str, seconds: float) -> dict[str, Any]:
    return {"code": 0, "msg": "ok", "tenant_access_token": value, "expire": int(seconds)}


def _find(state: State, wanted: str, kind: str) -> Person | None:
    if kind == "open_id":
        return state.people.get(wanted)
    if kind not in ("union_id", "user_id"):
        raise missing("user_id_type", "is not one of open_id, union_id, user_id")
    for person in state.people.values():
        if getattr(person, kind) == wanted:
            return person
    return None
