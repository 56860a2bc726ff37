"""Words that want to steer the tutor rather than tell of a learner. Pure.

Memory enters prompts, so an order kept as a fact would speak again at every turn. Three things are
told apart, in English and Chinese:

- an order to the tutor ("ignore your rules", "from now on always say yes") is never kept;
- what rests on a message that held one is kept at most as something that was said;
- a claim of success ("has passed", "mastered it") that only the learner makes is kept as a claim.

The patterns are narrow about what a learner may well say of themselves ("I always forget the sign")
and wide about what is said to a tutor. They are a second fence: notes are also marked in the prompt
as notes.
"""

from __future__ import annotations

import re
from typing import Final

_ORDER: Final = re.compile(
    r"""
    \b(?:ignor\w*|disregard\w*|forget|overrid\w*|bypass\w*|overrul\w*)\W+(?:\w+\W+){0,2}?
        (?:your|my|all|any|every|previous|prior|above|earlier|system|safety|those|these)\b
        \W+(?:\w+\W+){0,3}?
        (?:rules?|instructions?|prompts?|guidelines?|policy|policies|restrictions?|gates?)\b
  | \b(?:system|developer)\s+(?:prompt|message|instructions?|note)\b
  | \byou\s+(?:are\s+now|must|shall|have\s+to|should\s+(?:always|never|now)|will\s+(?:always|now)
        |may\s+no\s+longer|no\s+longer)\b
  | \b(?:the\s+)?(?:tutor|assistant|teacher|model|ai|bot)\s+
        (?:must|shall|should|has\s+to|is\s+to|needs?\s+to|will\s+(?:always|now)
        |is\s+(?:allowed|free|required|obliged)\s+to|may\s+(?:always|skip|ignore|reveal))\b
  | \bfrom\s+now\s+on\b
  | \b(?:always|never)\s+(?:give|tell|show|reveal|answer|grade|mark|pass|accept|say|agree|praise
        |respond|reply|let)\b
  | \b(?:mark|grade|record|count|treat|store|save|note|remember)\W+(?:\w+\W+){0,6}?
        (?:as|that\s+i(?:'ve|\s+have)?)\s+(?:\w+\s+){0,2}?
        (?:passed|mastered|correct|complete[d]?|true|an?\s+(?:owner|admin\w*))\b
  | \b(?:is|am)\s+(?:now\s+)?(?:an?\s+|the\s+)?
        (?:owner|admin(?:istrator)?|root|superuser)\b(?!\s+(?:of|at|in|for)\b)
  | \b(?:jailbreak|dan\s+mode|developer\s+mode|god\s+mode|unlock(?:ed)?\s+mode)\b
  | \b(?:reveal|print|repeat|show|send|export)\W+(?:\w+\W+){0,3}?
        (?:prompt|instructions|api\s+key|secrets?|other\s+learners?)\b
  | \bpretend\s+(?:that|to|you)\b | \bact\s+as\s+(?:if|an?|the)\b
  | <\|[^|>]{1,30}\|> | \[/?(?:inst|system)\] | ^\s*\#{0,4}\s*(?:system|assistant|developer)\s*:
  | (?:忽略|无视|忘记|忘掉|违反|绕过|取消|不要遵守|别管)[^，。；！]{0,12}
        (?:规则|指令|指示|提示|限制|设定|要求|规定|命令)
  | (?:系统|开发者)(?:提示|消息|指令|模式)
  | 从(?:现在|今)(?:起|开始|以后|往后) | 从今(?:以后|往后)
  | 你(?:现在是|必须|应该(?:总|一直|永远|直接)|只能|不得|不准|要(?:一直|总是|永远))
  | (?:导师|老师|助手|助教|模型|机器人)(?:必须|应该|应当|要(?!求)|不得|不准|只能|可以直接)
  | (?:标记|记录|登记|判定|视|算作|当作|记作|记为|记成|算(?=我|他|她|学习者|学生))
        (?:作|为|成|我|他|她|学习者|学生)*[^，。；！]{0,8}
        (?:通过|掌握|满分|及格|管理员)
  | (?:管理员|所有者|主人|超级用户)(?:权限|身份|模式)
  | (?:是|成为|作为)(?:管理员|所有者|超级用户)
  | 假装 | 扮演 | 越狱
  | (?:总是|永远|一直|每次都)(?:直接)?(?:给|告诉|说|回答|判|让)
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)

_REPORTED: Final = re.compile(
    r"""
    \s*(?:the\s+learner\s+|they\s+|once\s+|jokingly\s+|in\s+(?:a\s+)?jest\s+|when\s+asked\s+)*
        (?:says?|said|claims?|claimed|asks?|asked|wrote|writes|tells?|told|mentions?|mentioned
        |joked|jokes|reports?|reported|thinks?|believes?|wants?|wanted|tried|hopes?)\b
  | \s*(?:学习者|学生|曾|曾经|开玩笑|自己|本人|他|她)*
        (?:说|自称|声称|称|表示|要求|问|写道|提到|提过|认为|觉得|希望|想|开玩笑)
    """,
    re.VERBOSE | re.IGNORECASE,
)

_SUCCESS: Final = re.compile(
    r"""
    \b(?:has|have|had|already|fully|officially|successfully)?\s*(?:passed|mastered|aced|graduated)\b
  | \b(?:completed|finished)\s+(?:\w+\s+){0,3}?(?:course|module|path|level|objective|topic|unit)s?\b
  | \bperfect\s+(?:score|marks?)\b | \bfull\s+marks?\b
  | 通过了 | 已(?:经)?(?:通过|掌握|完成|学完|学会) | 掌握了 | 考(?:过了|了满分) | 满分 | 精通
    """,
    re.VERBOSE | re.IGNORECASE,
)


def is_order(text: str) -> bool:
    """Tell whether a text, or a part of it, is an order to the tutor."""
    return _ORDER.search(text) is not None


def is_reported(text: str) -> bool:
    """Tell whether a text is worded as something that was said, asked or believed."""
    return _REPORTED.match(text) is not None


def claims_success(text: str) -> bool:
    """Tell whether a text says that something was passed or mastered."""
    return _SUCCESS.search(text) is not None
