"""What a TeX command stands for: which Unicode character, how it is spaced, or nothing."""

from __future__ import annotations

import unicodedata
from functools import cache

RELATIONS = {
    "le": "≤", "leq": "≤", "leqslant": "≤", "ge": "≥", "geq": "≥", "geqslant": "≥", "ne": "≠",
    "neq": "≠", "lt": "<", "gt": ">", "ll": "≪", "gg": "≫", "approx": "≈", "equiv": "≡", "sim": "∼",
    "simeq": "≃", "cong": "≅", "propto": "∝", "in": "∈", "notin": "∉", "ni": "∋", "subset": "⊂",
    "subseteq": "⊆", "supset": "⊃", "supseteq": "⊇", "to": "→", "rightarrow": "→", "gets": "←",
    "leftarrow": "←", "leftrightarrow": "↔", "Rightarrow": "⇒", "Leftarrow": "⇐",
    "Leftrightarrow": "⇔", "implies": "⟹", "impliedby": "⟸", "iff": "⟺",
    "mapsto": "↦",
    "longrightarrow": "⟶", "longleftarrow": "⟵", "Longrightarrow": "⟹", "Longleftarrow": "⟸",
    "longmapsto": "⟼", "longleftrightarrow": "⟷", "Longleftrightarrow": "⟺",
    "rightleftharpoons": "⇌",
    "perp": "⊥", "parallel": "∥", "mid": "|", "nmid": "∤", "vdash": "⊢", "models": "⊨",
    "coloneqq": "≔", "triangleq": "≜", "doteq": "≐", "prec": "≺", "succ": "≻",
    "hookrightarrow": "↪",
    "uparrow": "↑", "downarrow": "↓", "bmod": "mod", "nearrow": "↗", "searrow": "↘",
}  # fmt: skip
"""Always set between spaces."""

OPERATORS = {
    "times": "×", "div": "÷", "cdot": "·", "pm": "±", "mp": "∓", "ast": "*", "star": "⋆",
    "circ": "∘", "bullet": "•", "oplus": "⊕", "ominus": "⊖", "otimes": "⊗", "odot": "⊙", "cup": "∪",
    "cap": "∩", "setminus": "∖", "land": "∧", "wedge": "∧", "lor": "∨", "vee": "∨",
    "uplus": "⊎", "sqcup": "⊔", "sqcap": "⊓", "amalg": "⨿", "dagger": "†",
}  # fmt: skip
"""Set between spaces where the source has one before them."""

FUNCTIONS = frozenset((
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
    "coth", "log", "ln", "lg", "exp", "lim", "limsup", "liminf", "max", "min", "sup", "inf", "det",
    "dim", "ker", "deg", "gcd", "hom", "arg", "Pr", "arccot", "sgn", "rank",
))  # fmt: skip
"""Upright words, kept apart from letters beside them."""

BIG = {
    "sum": "∑", "prod": "∏", "coprod": "∐", "int": "∫", "iint": "∬", "iiint": "∭", "oint": "∮",
    "bigcup": "⋃", "bigcap": "⋂", "bigoplus": "⨁", "bigotimes": "⨂", "bigvee": "⋁", "bigwedge": "⋀",
}  # fmt: skip
"""Large operators; a space follows their limits."""

SYMBOLS = {
    "prime": "′", "ldots": "…", "dots": "…", "cdots": "⋯", "dotsc": "…", "dotsb": "⋯", "dotsm": "⋯",
    "vdots": "⋮", "ddots": "⋱", "infty": "∞", "degree": "°", "colon": ":", "Re": "Re", "Im": "Im",
    "triangle": "△", "checkmark": "✓", "square": "□", "Box": "□", "blacksquare": "■", "lbrace": "{",
    "rbrace": "}", "lbrack": "[", "rbrack": "]", "vert": "|", "lvert": "|", "rvert": "|",
    "Vert": "‖", "lVert": "‖", "rVert": "‖", "backslash": "\\", "epsilon": "ε", "varepsilon": "ε",
    "phi": "φ", "varphi": "φ", "vartheta": "ϑ", "emptyset": "∅", "varnothing": "∅", "hbar": "ħ",
    "lnot": "¬", "neg": "¬", "top": "⊤", "bot": "⊥", "imath": "i", "jmath": "j", "P": "¶", "S": "§",
    "dag": "†", "copyright": "©", "pounds": "£", "textdegree": "°", "celsius": "°C", "because": "∵",
    "therefore": "∴", "And": "&", "lq": "‘", "rq": "’", "textbackslash": "\\", "qed": "∎",
    "{": "{", "}": "}", "%": "%", "$": "$", "#": "#", "_": "_", "&": "&", "|": "‖",
}  # fmt: skip
"""Set as they are."""

SPACES = {
    ",": " ", ";": " ", ":": " ", ">": " ", " ": " ", "\n": " ", "quad": "  ", "qquad": "    ",
    "enspace": " ", "thinspace": " ", "medspace": " ", "thickspace": " ", "!": "", "/": "",
    "negthinspace": "", "-": "",
}  # fmt: skip

ACCENTS = {
    "hat": "\u0302", "widehat": "\u0302", "bar": "\u0304", "overline": "\u0305",
    "underline": "\u0332", "tilde": "\u0303", "widetilde": "\u0303", "dot": "\u0307",
    "ddot": "\u0308", "vec": "\u20d7", "overrightarrow": "\u20d7", "check": "\u030c",
    "acute": "\u0301", "grave": "\u0300", "breve": "\u0306", "mathring": "\u030a",
}  # fmt: skip
"""Combining characters, put on each letter of the argument."""

SUPERSCRIPT = str.maketrans(
    "0123456789+-−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδθφχ′*∘°⊤",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᶿᵠᵡ′*°°ᵀ",
)
SUBSCRIPT = str.maketrans(
    "0123456789+-−=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ"
)

TEXT = frozenset((
    "text", "textrm", "textbf", "textit", "textsf", "texttt", "textnormal", "mathrm", "mathbf",
    "mathit", "mathsf", "mathtt", "mathfrak", "boldsymbol", "bm", "pmb", "mbox", "hbox", "emph",
    "operatorname", "operatorname*",
))  # fmt: skip
"""Their argument is set upright."""

PROSE = frozenset((
    "text", "textrm", "textbf", "textit", "textsf", "texttt", "textnormal", "mbox", "hbox", "emph",
))  # fmt: skip
"""Those among them whose argument is words; its spaces count."""

TRANSPARENT = frozenset((
    "mathop", "mathbin", "mathrel", "mathord", "mathopen", "mathclose", "mathpunct", "boxed",
    "fbox", "cancel", "bcancel", "xcancel", "ensuremath", "underbrace", "overbrace", "smash",
    "mathstrut", "substack", "displaylines",
))  # fmt: skip
"""Only their argument is shown."""

DROPPED = frozenset((
    "left", "right", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "biggl",
    "biggr", "Biggl", "Biggr", "middle", "limits", "nolimits", "displaystyle", "textstyle",
    "scriptstyle", "nonumber", "notag", "hline", "hfill", "centering", "rm", "bf", "it",
    "normalsize", "large", "small", "strut", "allowbreak", "break", "nobreak", "protect",
))  # fmt: skip
"""Left out."""

DROPPED_ARGUMENT = frozenset((
    "label", "phantom", "hphantom", "vphantom", "vspace", "hspace", "hspace*", "cline",
))  # fmt: skip
"""Left out together with their argument."""

_FONTS = {
    "mathbb": ("DOUBLE-STRUCK", "MATHEMATICAL DOUBLE-STRUCK"),
    "mathcal": ("SCRIPT", "MATHEMATICAL SCRIPT"),
    "mathscr": ("SCRIPT", "MATHEMATICAL SCRIPT"),
}


def in_font(command: str, text: str) -> str:
    r"""Return capitals in the font of ``\mathbb``, ``\mathcal`` or ``\mathscr``, others as is."""
    return "".join(_capital(command, c) if "A" <= c <= "Z" else c for c in text)


def _capital(command: str, letter: str) -> str:
    for prefix in _FONTS[command]:
        try:
            return unicodedata.lookup(f"{prefix} CAPITAL {letter}")
        except KeyError:
            continue
    return letter


@cache
def symbol(name: str) -> str | None:
    """Return the character for a command that takes no arguments, or None when it is unknown."""
    if name in SYMBOLS:
        return SYMBOLS[name]
    # Loaded only when a formula needs more than the everyday commands above.
    from pylatexenc.latex2text import get_default_latex_context_db

    spec = get_default_latex_context_db().get_macro_spec(name)
    found = getattr(spec, "simplify_repl", None)
    return found if isinstance(found, str) and found and "%" not in found else None
