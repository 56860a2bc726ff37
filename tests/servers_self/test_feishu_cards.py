"""Cards JSON 2.0: what the platform takes, and everything it refuses with 230099."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from tests.servers.feishu import FeishuServer, cards
from tests.servers.feishu.card_schema import COMPONENTS
from tests.servers.feishu.errors import CardRefusal
from tests.servers.feishu.tables import markdown_tables
from tests.servers_self.feishu_callers import OpenApi, button, card, markdown, sending

TABLE = "| a | b |\n|---|:-:|\n| 1 | 2 |\n"


def plain(text: str, **more: Any) -> dict[str, Any]:
    return {"tag": "plain_text", "content": text, **more}


def table(
    columns: int = 1, rows: list[dict[str, Any]] | None = None, **more: Any
) -> dict[str, Any]:
    names = [{"name": f"c{number}", "display_name": f"C{number}"} for number in range(columns)]
    return {"tag": "table", "columns": names, "rows": rows or [], **more}


def nested(depth: int) -> dict[str, Any]:
    element = markdown("deep")
    for _ in range(depth):
        element = {
            "tag": "collapsible_panel",
            "header": {"title": plain("more")},
            "elements": [element],
        }
    return element


def columns(*elements: dict[str, Any]) -> dict[str, Any]:
    return {
        "tag": "column_set",
        "flex_mode": "flow",
        "columns": [
            {"tag": "column", "width": "weighted", "weight": 1, "elements": [element]}
            for element in elements
        ],
    }


def form(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"tag": "form", "name": "answers", "elements": list(elements)}


async def outcome(feishu: FeishuServer, platform: OpenApi, given: object) -> tuple[int, str]:
    """Return the card's own code (0 when it is taken) and what the platform says."""
    ada = feishu.user()
    body = sending("interactive", given, receive_id=ada.open_id)
    status, answer = await platform("POST", "/im/v1/messages", body, receive_id_type="open_id")
    if status == 200:
        return 0, ada.private.from_bot[-1].text
    assert (status, answer["code"]) == (400, 230099), answer
    found = re.search(r"ErrCode: (\d+);", answer["msg"])
    assert found is not None
    assert ada.private.messages == []
    return int(found[1]), answer["msg"]


GOOD: list[dict[str, Any]] = [
    card(markdown("**hi** $x$")),
    {"schema": "2.0"},
    card(
        {"tag": "div", "text": plain("words", text_size="notation"), "icon": {"tag": "x"}},
        {"tag": "hr", "margin": "4px"},
        nested(5),
        columns(button("A", {"a": 1}), button("B", "b", type="danger", size="small")),
        form(
            {"tag": "input", "name": "why", "placeholder": plain("because"), "max_length": 500},
            button("Send", name="send", form_action_type="submit"),
        ),
        {"tag": "button", "text": plain("Site"), "behaviors": [OPEN := {"type": "open_url"}]},
        header={"title": plain("T"), "subtitle": plain("S"), "template": "blue"},
        config={"update_multi": True, "width_mode": "fill", "summary": {"content": "x"}},
    ),
    card(
        *[table(50, [{"c0": "x"}], page_size=10) for _ in range(4)],
        markdown(TABLE + "\n```\n" + TABLE + "```\n"),
    ),
    card(*[markdown("x") for _ in range(200)]),
    card(markdown("<at id=all></at>", element_id="a" * 20)),
    {"elements": [{"tag": "action", "actions": []}], "wide": True},
]
OPEN["default_url"] = "https://example.org"
del GOOD[2]["body"]["elements"][0]["icon"]


@pytest.mark.parametrize("given", GOOD)
async def test_a_good_card_is_taken(
    feishu: FeishuServer, platform: OpenApi, given: dict[str, Any]
) -> None:
    code, said = await outcome(feishu, platform, given)
    assert code == 0, said


@pytest.mark.parametrize(
    ("given", "code", "why"),
    [
        ({"schema": "3.0"}, 200621, "unknown schema: 3.0"),
        ({"body": {}}, 200621, "unknown schema: None"),
        ({**card(), "elements": []}, 200621, "unknown property: elements, path: []"),
        (card(config={"wide_screen_mode": True}), 200621, "unknown property: wide_screen_mode"),
        (card(config={"update_multi": False}), 300302, "update_multi"),
        (card(header={"title": plain("x"), "color": "red"}), 200621, "unknown property: color"),
        (card(header={"title": plain("x"), "template": "pink"}), 200621, "template: pink"),
        (card(header={"title": markdown("x")}), 200621, "markdown is no text"),
        (
            card(
                header={
                    "title": plain("x"),
                    "text_tag_list": [{"tag": "text_tag", "text": plain("x")}] * 4,
                }
            ),
            200621,
            "more than 3 text tags",
        ),
        ({"schema": "2.0", "body": {"rows": []}}, 200621, "unknown property: rows"),
        ({"schema": "2.0", "body": {"elements": {}}}, 200621, "list is expected"),
        (card("words"), 200621, "object is expected"),
        (card(markdown("x", href={})), 200621, "unknown property: href"),
        (card({"tag": "markdown"}), 200621, "markdown without content"),
        (card({"tag": "markdown", "content": 1}), 200621, "content is no string"),
        (card({"tag": "action", "actions": []}), 200861, "unsupported tag action"),
        (card(markdown("x"), {"tag": "note", "elements": []}), 200861, "[1](tag: note)"),
        (card({"tag": "code_block", "text": "x"}), 11310, "not support tag: code_block"),
        (card(plain("x")), 11310, "not support tag: plain_text"),
        (card(button("x", "y", value={})), 200621, "unknown property: value"),
        (card(button("x", "y", url="https://x")), 200621, "unknown property: url"),
        (card(button("x", "y", type="big")), 200621, "unknown button type"),
        (card(button("x", 5)), 200621, "value is an object or a string"),
        (card(button("x", behaviors=[{"type": "jump"}])), 200621, "unknown behavior"),
        (card(button("x", behaviors=[{"type": "open_url"}])), 200621, "without default_url"),
        (card(button("x", form_action_type="submit")), 200621, "outside a form"),
        (card(form(button("x", form_action_type="submit"))), 200621, "needs a name"),
        (card(form(form(markdown("x")))), 200621, "a form inside a form"),
        (card({"tag": "form", "elements": []}), 200621, "form without name"),
        (card({"tag": "column_set", "columns": [markdown("x")]}), 200621, "columns only"),
        (card(nested(6)), 200621, "nested deeper than 5"),
        (card(*[markdown("x") for _ in range(201)]), 11310, "element exceeds the limit"),
        (card(*[button("x", "y") for _ in range(101)]), 11310, "element exceeds the limit"),
        (card(*[table() for _ in range(6)]), 11310, "card table number over limit"),
        (card(markdown((TABLE + "\n") * 6)), 11310, "card table number over limit"),
        (card(table(), markdown((TABLE + "\n") * 5)), 11310, "card table number over limit"),
        (card(columns(table())), 200621, "only allowed at the root"),
        (card(nested(1), columns(form(table()))), 200621, "only allowed at the root"),
        (card(table(51)), 200621, "more than 50 columns"),
        (card(table(0)), 200621, "without columns"),
        (card(table(page_size=11)), 200621, "page_size is 1 to 10"),
        (card({"tag": "table", "columns": [{"name": "a"}]}), 200621, "table without rows"),
        (card(table(rows=[{"zz": "x"}])), 200915, "rows name is invalid"),
        (card(table(rows=[{"c0": 5}])), 200914, "rows is invalid"),
        (card(table(rows=["x"])), 200914, "rows is invalid"),  # type: ignore[list-item]
        (card(markdown("x", element_id="1a")), 200621, "bad element_id"),
        (card(markdown("x", element_id="a" * 21)), 200621, "bad element_id"),
        (card(*[markdown("x", element_id="a")] * 2), 300301, "Duplicate element_id"),
        (card(markdown("![x](img_none)")), 200570, "image key img_none"),
        (card({"tag": "img", "img_key": "img_none"}), 200570, "image key img_none"),
        (card(markdown("<at id=ou_none></at>")), 100290, "invalid user resource"),
        ({"type": "card", "data": {"card_id": "7"}}, 200740, "does not exist"),
        ({"type": "template", "data": {"template_id": "AAq"}}, 200380, "templateID: AAq"),
    ],
)
async def test_a_bad_card_is_refused_as_a_whole(
    feishu: FeishuServer, platform: OpenApi, given: object, code: int, why: str
) -> None:
    found, message = await outcome(feishu, platform, given)
    assert (found, why in message) == (code, True), message
    assert message.startswith("Failed to create card content, ext=ErrCode:")


async def test_an_uploaded_picture_and_a_known_person_may_stand_in_a_card(
    feishu: FeishuServer, platform: OpenApi
) -> None:
    ada = feishu.user("Ada")
    image = feishu.state.add_file(b"png", "x", "image", from_bot=True).key
    theirs = feishu.state.add_file(b"png", "x", "image", from_bot=False).key
    good = card(markdown(f"<at id={ada.open_id}></at> ![x]({image})"))
    assert (await outcome(feishu, platform, good))[0] == 0
    assert (await outcome(feishu, platform, card(markdown(f"![x]({theirs})"))))[0] == 200570


async def test_a_card_is_read_in_words(feishu: FeishuServer, platform: OpenApi) -> None:
    given = card(
        markdown("one"),
        columns({"tag": "div", "text": plain("two")}, button("three", "x")),
        table(2, [{"c0": "x", "c1": "y"}]),
        header={"title": plain("Title"), "subtitle": plain("Sub")},
    )
    _, said = await outcome(feishu, platform, given)
    assert said == "Title\nSub\none\ntwo\nthree\nC0 | C1\nx | y"


NAMES = sorted({*COMPONENTS["button"], *COMPONENTS["table"], "elements", "content", "zz"})
LEAVES = st.none() | st.booleans() | st.integers(-2, 60) | st.sampled_from(sorted(COMPONENTS))
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
        | st.fixed_dictionaries({"tag": st.sampled_from(sorted(COMPONENTS)), "content": inner})
    ),
    max_leaves=12,
)


@drawn(st.lists(JSON, max_size=3), st.dictionaries(st.sampled_from(["header", "config"]), JSON))
def test_any_object_is_taken_or_refused_in_the_platforms_words(
    elements: list[Any], root: dict[str, Any]
) -> None:
    any_card = card(*elements, **root)
    try:
        cards.check(any_card, cards.Known(lambda key: False, lambda open_id: False))
    except CardRefusal as refused:
        assert refused.refusal.code == 230099
    else:
        assert isinstance(cards.shown_text(any_card), str)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (TABLE, 1),
        (TABLE + "\nwords\n\n" + TABLE, 2),
        ("a | b\n- | -\n1 | 2", 1),
        ("```\n" + TABLE + "```", 0),
        ("~~~~md\n" + TABLE + "~~~\n" + TABLE + "~~~~\n" + TABLE, 1),
        ("```\n" + TABLE, 0),
        ("a | b\n1 | 2", 0),
        ("words\n---\nmore", 0),
        ("", 0),
    ],
)
def test_tables_are_counted_outside_code_only(text: str, count: int) -> None:
    assert markdown_tables(text) == count
