"""Hypothesis strategies for Markdown as models write it, and for text that should not break us."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = st.sampled_from(
    [
        "tree",
        "quadratic",
        "导数",
        "极值",
        "été",
        "👍🏽",
        "🇫🇷",
        "𝒳",
        "שלום",
        "नमस्ते",
        "a_b",
        "2*3",
        "C#",
        "x<y",
        "$5",
        "@alice",
        "👩\u200d👩\u200d👧\u200d👦",
        *"&_`[]()!\\|",
    ]
)
FORMULAS = st.sampled_from(
    [
        r"$x_i^2$",
        r"$$\frac{a+b}{2a}$$",
        r"\(\sqrt{b^2-4ac}\)",
        r"\[\begin{pmatrix}1&2\\3&4\end{pmatrix}\]",
    ]
)
LONG = st.builds(
    lambda count, text: text * count,
    st.integers(1, 400),
    st.sampled_from(["a", "中", "👩\u200d👩\u200d👧", "e\u0301", "https://x.org/"]),
)


def _styled(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        inner.map(lambda s: f"**{s}**"),
        inner.map(lambda s: f"*{s}*"),
        inner.map(lambda s: f"~~{s}~~"),
        inner.map(lambda s: f"[{s}](https://example.org/a_b)"),
        inner.map(lambda s: f"![{s}](https://example.org/i.png)"),
        st.lists(inner, min_size=1, max_size=4).map(" ".join),
    )


INLINE = st.recursive(
    st.one_of(WORDS, FORMULAS, LONG, WORDS.map(lambda w: f"`{w}`"), st.just("end. Next")),
    _styled,
    max_leaves=12,
)
LINES = st.lists(INLINE, min_size=1, max_size=6).map(" ".join)
PARAGRAPHS = st.lists(LINES, min_size=1, max_size=4).map("\n".join)
CODE = st.tuples(
    st.sampled_from(["", "python", "c++", "math"]),
    st.lists(
        st.sampled_from(["x = 1", "    return '中👍'", "", "b" * 90, "\tdef f(): pass", "@alice"])
    ),
).map(lambda pair: f"```{pair[0]}\n" + "\n".join(pair[1]) + "\n```")
TABLES = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.lists(INLINE, min_size=n, max_size=n), min_size=1, max_size=6).map(
        lambda rows: "\n".join(
            ["|" + "h|" * n, "|" + "-|" * n]
            + ["|" + "|".join(c.replace("|", "") for c in row) + "|" for row in rows]
        )
    )
)


def _indented(text: str, lead: str) -> str:
    return lead + text.replace("\n", "\n" + " " * len(lead))


def _nested(blocks: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(blocks, min_size=1, max_size=3).map(
            lambda items: "\n".join(_indented(item, "- ") for item in items)
        ),
        blocks.map(lambda b: _indented(b, "12. ")),
        blocks.map(lambda b: "\n".join("> " + line for line in b.split("\n"))),
        st.lists(blocks, min_size=1, max_size=3).map("\n\n".join),
    )


BLOCKS = st.recursive(
    st.one_of(
        PARAGRAPHS,
        CODE,
        TABLES,
        LINES.map(lambda s: "## " + s),
        st.just("---"),
        FORMULAS,
    ),
    _nested,
    max_leaves=10,
)
DOCUMENTS = st.lists(BLOCKS, min_size=1, max_size=5).map("\n\n".join)
ANY_TEXT = st.one_of(
    st.text(st.characters(codec="utf-16", exclude_categories=["Cs"]), max_size=300),
    st.text("$\\()[]{}`*_~<>&|#-+.!1a \n\t=^:中👍\u200d\u0301\u202e\x1b", max_size=300),
)
SOURCES = st.one_of(DOCUMENTS, ANY_TEXT)

PATHOLOGICAL = {
    "quotations in quotations": ">" * 1000 + " a",
    "quotations on many lines": (">" * 200 + "a\n") * 100,
    "open brackets": "[" * 5000,
    "closed brackets": "[" * 3000 + "a" + "]" * 3000,
    "images in images": "![" * 1500 + "a" + "](x)" * 1500,
    "lists in lists": "\n".join("  " * n + "- a" for n in range(300)),
    "lists on one line": "- " * 3000 + "a",
    "emphasis without end": "**a *b " * 3000,
    "nested emphasis": "*" * 5000 + "a" + "*" * 5000,
    "ladder of backticks": "".join("`" * n + "a " for n in range(200)),
    "dollars": "$a " * 8000,
    "open display formulas": "\\[a\n" * 3000,
    "open inline formulas": "\\(a " * 5000,
    "open fractions": "\\frac{" * 5000,
    "nested fractions": "$" + "\\frac{" * 300 + "1" + "}{2}" * 300 + "$",
    "nested matrices": "$$" + "\\begin{matrix}" * 150 + "a" + "$$",
    "wide table": "|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n" + ("|" + "x|" * 100 + "\n") * 20,
    "one long word": "a" * 100_000,
    "one long Chinese line": "中" * 100_000,
    "families": "👩‍👩‍👧" * 20_000,
    "one letter with many marks": "e" + "\u0301" * 20_000,
    "one long block of code": "```py\n" + "x = 1\n" * 16_000 + "```",
    "backslashes": "\\" * 20_000,
    "mentions": "@alice " * 5000,
}
