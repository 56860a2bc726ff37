"""A thread for each question, where that is wished: opened from the message that asks.

The platform gives such a thread the id of its message. So the address of a conversation is known
before its thread is there, one message never has two threads (F052), and a thread that could not
surely be opened can be asked for again. It is opened with the first sign of an answer, since a
question of somebody who may not learn here costs nothing.
"""

from __future__ import annotations

import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final

from discord import HTTPException
from discord.http import HTTPClient

from bots.discord.words import Known, own_words
from bots.names import shown_name
from core.context import ReplyTarget

log = logging.getLogger(__name__)

LONGEST_TITLE: Final = 100
ARCHIVED_AFTER: Final = 1440
"""Minutes without a word after which a thread leaves the list; the next word brings it back."""
_OPENING: Final = "thread:"
_EXISTS: Final = 160004
_NOT_OUR_FAULT: Final = frozenset({401, 408, 425, 429})
"""Answers that say nothing about this thread."""
_REMEMBERED: Final = 1000

_MARKS: Final = re.compile(r"<[@#][!&]?\d+>|https?://\S+")
_STYLE: Final = re.compile(r"(\*\*|~~|\|\||`{1,3})(?=\S)(.+?)(?<=\S)\1", re.DOTALL)
_LINE: Final = re.compile(r"^\s*(?:#{1,3}|>+|-)\s+", re.MULTILINE)


def in_own_thread(target: ReplyTarget, message_id: str) -> ReplyTarget:
    """Return the address of the thread of a question that was asked in ``target``'s chat."""
    opening = f"{_OPENING}{target.chat}"
    return target.model_copy(update={"chat": message_id, "thread": message_id, "reply_to": opening})


def title(message: Mapping[str, Any], own_id: int) -> str:
    """Name a thread by what was asked: one line without marks, at most 100 characters (F055).

    ``message`` is the platform's own. A question without words has the name of its asker.
    """
    users = {
        int(user["id"]): str(user.get("global_name") or user.get("username") or "")
        for user in message.get("mentions", ())
    }
    text, _ = own_words(str(message.get("content", "")), Known(users, ours=frozenset({own_id})))
    bare = _LINE.sub("", _STYLE.sub(r"\2", _MARKS.sub("", text)))
    bare = shown_name(bare, LONGEST_TITLE + 1)
    if len(bare) > LONGEST_TITLE:
        cut = bare[: LONGEST_TITLE - 1]
        at_word, _, rest = cut.rpartition(" ")
        bare = (at_word if at_word and len(rest) < LONGEST_TITLE // 3 else cut).rstrip() + "…"
    author = message.get("author", {})
    return bare or shown_name(str(author.get("global_name") or author.get("username") or "…"))


class Threads:
    """The threads that this process has opened or found."""

    def __init__(self, http: Callable[[], HTTPClient], own_id: int) -> None:
        """``http`` is the library's present connection."""
        self._http = http
        self._own_id = own_id
        self._places: OrderedDict[str, ReplyTarget] = OrderedDict()

    async def placed(self, target: ReplyTarget) -> ReplyTarget:
        """Return where an answer goes; a thread that is still to be opened is opened for it.

        Where the platform refuses, that is the question's own channel. Raises what the library
        raises when nobody can tell.
        """
        if not (target.reply_to or "").startswith(_OPENING):
            return target
        found = self._places.get(target.chat)
        if found is None:
            found = self._places[target.chat] = await self._open(target)
            while len(self._places) > _REMEMBERED:
                self._places.popitem(last=False)
        return found

    async def _open(self, target: ReplyTarget) -> ReplyTarget:
        parent = (target.reply_to or "").removeprefix(_OPENING)
        thread = target.model_copy(update={"reply_to": None})
        try:
            message: Any = await self._http().get_message(int(parent), int(target.chat))
            if "thread" not in message:
                await self._http().start_thread_with_message(
                    int(parent),
                    int(target.chat),
                    name=title(message, self._own_id),
                    auto_archive_duration=ARCHIVED_AFTER,
                )
        except HTTPException as error:
            if error.code == _EXISTS:
                return thread
            if error.status >= 500 or error.status in _NOT_OUR_FAULT:
                raise
            log.info("no thread can be opened for a question: %s", error.code)
            return target.model_copy(
                update={"chat": parent, "thread": None, "reply_to": target.chat}
            )
        return thread
