"""Interfaces around the app itself: tokens, the bot, people, chats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.servers.feishu.call import Call, ok
from tests.servers.feishu.errors import DISSOLVED, Refusal, missing

if TYPE_CHECKING:
    from tests.servers.feishu.people import Person
    from tests.servers.feishu.state import State

TOKEN_KEPT = 1800.0
"""Seconds of validity below which a new token is handed out beside the old one."""
BATCH = 50


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
    bot = {
        "activate_status": 2,
        "app_name": state.bot.name,
        "avatar_url": "",
        "ip_white_list": [],
        "open_id": state.bot.open_id,
    }
    return {"code": 0, "msg": "ok", "bot": bot}


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
