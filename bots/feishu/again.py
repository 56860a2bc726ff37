"""Messages that come again: rewritten by their author, or under another id. Pure.

What the platform's event of an edit holds is not documented, so only the message's id is taken from
it; the message itself is looked up, and read like one that was just written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from bots.feishu.receive import EDITED, MESSAGE, event_type, person_of


def sameness_of(body: Mapping[str, Any]) -> str | None:
    """Return what tells a message apart beside its id: who wrote it where, when, and what.

    The platform has told one message under two ids. None where there is nothing to tell it by.
    Raises KeyError or TypeError for what is no event of a message.
    """
    if event_type(body) != MESSAGE:
        return None
    message = body["event"]["message"]
    if not message.get("create_time"):
        return None
    told = (message["chat_id"], person_of(body), message["create_time"], message.get("content"))
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def edited_id(body: Mapping[str, Any]) -> str | None:
    """Return the id of the message a person edited; None for every other event.

    Raises KeyError or TypeError for an edit of no message.
    """
    if event_type(body) != EDITED:
        return None
    event = body["event"]
    sender = event.get("sender")
    if isinstance(sender, Mapping) and sender.get("sender_type", "user") != "user":
        return None  # our own cards change all the time
    return str(event["message"]["message_id"])


def as_written(found: Mapping[str, Any], *, private: bool) -> dict[str, Any]:
    """Return a looked-up message as the event that told of it. Raises KeyError or TypeError."""
    sender = found["sender"]
    return {
        "header": {"event_type": MESSAGE},
        "event": {
            "sender": {
                "sender_id": {"open_id": sender["id"]},
                "sender_type": sender["sender_type"],
            },
            "message": {
                **found,
                "chat_type": "p2p" if private else "group",
                "message_type": found["msg_type"],
                "content": found["body"]["content"],
            },
        },
    }
