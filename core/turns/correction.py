"""Which message, written while a question is being answered, corrects that question.

A pure rule, and a careful one: what is taken for a correction wrongly is never answered by itself,
so everything that does not clearly begin as one waits for its own turn.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from core.context import InboundMessage, Text

LONGEST: Final = 500
"""Characters of a correction; whoever writes more says something new."""

_AFTER: Final = r"\s*(?:[,.;:!?…—–，。；：！？、-]|$)"
_BEGINS: Final = re.compile(
    rf"""\W*(?:
      (?:no|nope|wait|stop|oops|sorry|hold\s+on){_AFTER}
    | no\s+(?:wait|sorry|not|i\s+mean)
    | wait\s+(?:no|not|i|that|actually|a\s+(?:sec|second|moment|minute))\b
    | (?:oops|sorry)\s+(?:i|my|that|wrong|not|it)\b
    | (?:what\s+)?i\s+meant?\b
    | i\s+(?:made|wrote|typed)\s+(?:a|the)\s+(?:mistake|typo|wrong)
    | (?:actually|rather|correction|typo|scratch\s+that|never\s*mind){_AFTER}
    | actually\s+(?:i|make|use|it|not)\b
    | not\s+(?:that|what\s+i)\b
    | 不[,，。.!！、\s]
    | 不对 | 不是(?:[,，。.!！、\s]|这|那|说)
    | 我(?:是说|的意思是|说的是|指的是|打错|写错|说错|弄错|搞错)
    | (?:等等|等一下|等下|且慢|慢着|停){_AFTER}
    | 等等我 | 等一下我
    | 更正 | 纠正 | 改一下 | (?:打|写|说|弄|搞)错了
    | (?:抱歉|对不起|不好意思)[,，。.!！、\s]
    )""",
    re.IGNORECASE | re.VERBOSE,
)


def corrects(message: InboundMessage, running: Collection[InboundMessage]) -> bool:
    """Tell whether ``message`` corrects a question that is being answered.

    ``running`` are the messages of that question. It does when its sender asked, and it begins
    with words such as "no, ..." or replies to the question itself.
    """
    content = message.content
    if not isinstance(content, Text) or not content.text.strip() or len(content.text) > LONGEST:
        return False
    if message.attachments or message.cut:
        return False
    if any(one.sender.account != message.sender.account for one in running):
        return False
    quote = message.quote
    if quote is not None:
        own = {one.target.reply_to for one in running} - {None}
        return not quote.from_tutor and quote.message_id in own
    return _BEGINS.match(content.text) is not None
