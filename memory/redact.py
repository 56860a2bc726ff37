"""Secrets never enter memory: what looks like one is replaced before anything is written.

Better one wrong replacement than one stored password; but long numbers are daily bread in a
lesson, so a card number must have an issuer's first digits, its length and its check digit.
Every pattern is linear in the length of the text.
"""

from __future__ import annotations

import re

REDACTED = "[redacted]"

_TOKENS = re.compile(
    r"""
    -----BEGIN\ [A-Z ]{0,30}PRIVATE\ KEY-----(?s:.*?)
        (?:-----END\ [A-Z ]{0,30}PRIVATE\ KEY-----|\Z)
  | (?<![\w-])(?:
        sk-[\w-]{16,}                                 # model providers
      | (?:gh[pousr]|github_pat|glpat|hf|npm)[_-]\w{20,}  # code and model hosts
      | xox[abeprs]-[\w-]{10,}                        # workspace bots
      | AKIA[0-9A-Z]{16}(?!\w)
      | AIza[\w-]{35}(?![\w-])
      | eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}            # JSON web tokens
      | [0-9]{8,10}:[\w-]{35}(?![\w-])                # bot tokens: id and secret
      | [MNO][\w-]{23,27}\.[\w-]{6,7}\.[\w-]{27,}     # bot tokens: three parts
    )
    """,
    re.VERBOSE | re.ASCII,
)
_BEARER = re.compile(r"(?<!\w)(bearer\s{1,4})[\w.~+/=-]{16,}", re.IGNORECASE | re.ASCII)
_ADDRESS = re.compile(r"(://[^\s/:@]{1,64}:)[^\s/@]{1,256}(?=@)")
_NAMED = re.compile(
    r"""
    (
        (?<![A-Za-z])(?:password|passwd|passphrase|passcode|pwd
            |(?:api|secret|private|access)[\ _-]?key|(?:access|auth|bot)[\ _-]?token)
      | 密码 | 口令 | 密钥
    )
    (["']?\ {0,4}[:=：＝]\ {0,4})
    (?:"[^"\n]{1,512}"(?!\w)|'[^'\n]{1,512}'(?!\w)|[^\s，。；、]+)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SAID = re.compile(
    r"""
    (
        (?<![A-Za-z])(?:my|our|the\ wi-?fi)\ (?:[A-Za-z]{1,20}\ ){0,2}
            (?:password|passphrase|passcode|pin)\ (?:is|was)\ {1,2}
      | (?:密码|口令|密钥)(?:是|为|就是)\ {0,2}
    )
    (?:"[^"\n]{1,512}"|'[^'\n]{1,512}'
      |(?=[!-~]{0,64}[0-9!@#$%^&*_+=])[!-~]{4,512}(?<![.,;!?]))
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""In a sentence a word alone may be a word of the lesson, so it must look like a password: at least
four characters, a digit or a sign among them."""
_CARD = re.compile(
    r"""
    (?<![\w.])(?P<number>
        [0-9]{13,19}
      | [0-9]{4}([ -])[0-9]{4}\2[0-9]{4}\2[0-9]{4}
      | [0-9]{4}([ -])[0-9]{6}\3[0-9]{4,5}
    )(?P<more>[ -][0-9]{3})?(?!\w)(?!\.[0-9])
    """,
    re.VERBOSE | re.ASCII,
)
"""As cards are printed: unbroken, in fours, or 4-6-5; 19 digits end in a group of three."""


def redact(text: str) -> str:
    """Return the text with keys, tokens, passwords and payment card numbers replaced."""
    text = _TOKENS.sub(REDACTED, text)
    text = _BEARER.sub(rf"\g<1>{REDACTED}", text)
    text = _ADDRESS.sub(rf"\g<1>{REDACTED}", text)
    text = _NAMED.sub(rf"\g<1>\g<2>{REDACTED}", text)
    text = _SAID.sub(rf"\g<1>{REDACTED}", text)
    return _CARD.sub(_hide_card, text)


def _hide_card(found: re.Match[str]) -> str:
    if _is_card(found[0]):
        return REDACTED
    return REDACTED + (found["more"] or "") if _is_card(found["number"]) else found[0]


def _is_card(found: str) -> bool:
    """Judge by issuer, length and the Luhn check digit (ISO/IEC 7812-1)."""
    digits = [int(c) for c in found if c.isdigit()]
    issuer = int("".join(map(str, digits[:4])))
    size = len(digits)
    known = (
        (issuer // 1000 == 4 and size in (13, 16, 19))
        or (51 <= issuer // 100 <= 55 and size == 16)
        or (2221 <= issuer <= 2720 and size == 16)
        or (issuer // 100 in (34, 37) and size == 15)
        or (issuer // 100 in (30, 36, 38, 39) and size == 14)
        or (issuer // 100 in (35, 60, 62, 64, 65) and 16 <= size <= 19)
    )
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return known and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
