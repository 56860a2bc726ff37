"""What a model wrote as a call's arguments, made into what the tool takes. Pure.

Arguments that fit are never touched. Others are repaired by the tool's JSON Schema where one
reading alone makes sense: a number written as text, an enum in another case, a bare value for the
one field there is, JSON inside a text. A repair counts only when its result fits; otherwise the
model is told what is wrong with what it wrote.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ValidationError


class BadArgumentsError(Exception):
    """Arguments that are no JSON object, or do not fit the tool. The text is for the model."""


Schema = Mapping[str, Any]
_DEEPEST: Final = 12
"""Levels of a schema that are looked into; a schema may refer to itself."""
_TRUTH: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parse_arguments(raw: str) -> dict[str, Any]:
    """Read a call's arguments, which must be a JSON object.

    A blank text is no arguments. An object that was encoded twice (a JSON string that holds an
    object) is read. Raises BadArgumentsError.
    """
    value = _load(raw)
    if not isinstance(value, dict):
        raise BadArgumentsError(
            'The arguments must be a JSON object such as {"name": "value"}, '
            f"not a {_json_kind(value)}."
        )
    return value


def fit_arguments(
    raw: str, model: type[BaseModel], schema: Schema
) -> tuple[dict[str, Any], BaseModel]:
    """Return a call's arguments as plain values and checked, repaired where need be.

    ``schema`` is the JSON Schema of ``model``. Raises BadArgumentsError.
    """
    try:
        values = parse_arguments(raw)
    except BadArgumentsError:
        # Not an object: perhaps the value of the one field there is.
        field = _only_field(schema)
        bare = None if field is None else _bare(raw)
        wrapped = _repaired_fit({field: bare}, model, schema) if bare is not None else None
        if wrapped is None:
            raise
        return wrapped
    try:
        return values, model.model_validate(values)
    except ValidationError as error:
        fitting = _repaired_fit(values, model, schema)
        if fitting is not None:
            return fitting
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or 'arguments'}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False)
        )
        text = json.dumps(schema, ensure_ascii=False)
        raise BadArgumentsError(
            f"The arguments do not fit: {faults}. Arguments must match {text}."
        ) from error


def _load(raw: str) -> object:
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw)
        if isinstance(value, str):
            value = json.loads(value)
        # Python reads more than JSON is: NaN, halves of characters, nesting that others refuse.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except json.JSONDecodeError as error:
        raise BadArgumentsError(
            f"The arguments are not complete JSON ({error.msg}). "
            "Send the call again with one complete JSON object."
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadArgumentsError(
            "The arguments are too deep, or no plain JSON. Send the call again with a simple "
            "JSON object."
        ) from error
    return value


def _bare(raw: str) -> object:
    """A value that is no object: JSON, or words without quotes. None for anything broken."""
    text = raw.strip()
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None if text[:1] in '{["' else text
    return value


def _only_field(schema: Schema) -> str | None:
    """The field that a bare value can be meant for: the only one, or the only required one."""
    names = list(schema.get("required", ()))
    if len(names) != 1:
        names = list(schema.get("properties", ()))
    return names[0] if len(names) == 1 else None


def _repaired_fit(
    values: object, model: type[BaseModel], schema: Schema
) -> tuple[dict[str, Any], BaseModel] | None:
    repaired = _repaired(values, schema, schema.get("$defs", {}), _DEEPEST)
    if not isinstance(repaired, dict):
        return None
    try:
        return repaired, model.model_validate(repaired)
    except ValidationError:
        return None


def _repaired(value: object, schema: Schema, defs: Schema, depth: int) -> object:
    """Return ``value`` as near to ``schema`` as one reading of it gets."""
    if depth == 0:
        return value
    if "$ref" in schema:
        schema = defs.get(str(schema["$ref"]).rpartition("/")[2], {})
    for key in ("anyOf", "oneOf", "allOf"):
        choices = schema.get(key)
        if not choices:
            continue
        if any(_fits(value, choice, defs) for choice in choices):
            return value
        # Nothing first: a "null" is not meant as the one field of an object.
        for choice in sorted(choices, key=lambda one: bool(one.get("type") != "null")):
            tried = _repaired(value, choice, defs, depth - 1)
            if _fits(tried, choice, defs):
                return tried
        return value
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if allowed:
        return _as_choice(value, allowed)
    kind = schema.get("type")
    if kind == "object":
        return _as_object(value, schema, defs, depth)
    if kind == "array":
        listed = _decoded(value, list)
        items = schema.get("items", {})
        given = listed if isinstance(listed, list) else [listed]
        return [_repaired(item, items, defs, depth - 1) for item in given]
    convert = _CONVERT.get(str(kind))
    return value if convert is None else convert(value)


def _as_object(value: object, schema: Schema, defs: Schema, depth: int) -> object:
    value = _decoded(value, dict)
    properties: Schema = schema.get("properties", {})
    if not isinstance(value, dict):
        field = _only_field(schema)
        if field is None:
            return value
        value = {field: value}
    names = {_plain(name): name for name in properties}
    fixed: dict[str, object] = {}
    for key, given in value.items():
        name = key if key in properties else names.get(_plain(str(key)), key)
        if name != key and name in value:
            name = key
        fixed[name] = _repaired(given, properties.get(name, {}), defs, depth - 1)
    return fixed


def _as_choice(value: object, allowed: list[object]) -> object:
    if value in allowed:
        return value
    word = _plain(str(value))
    same = [one for one in allowed if _plain(str(one)) == word]
    return same[0] if len(same) == 1 else value


def _as_integer(value: object) -> object:
    if isinstance(value, str):
        try:
            return int(value.strip())
        except ValueError:
            value = _as_number(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _as_number(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        number = float(value.strip())
    except ValueError:
        return value
    return number if abs(number) < 1e300 else value


def _as_boolean(value: object) -> object:
    return value if isinstance(value, bool) else _TRUTH.get(str(value).strip().lower(), value)


def _as_string(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _as_null(value: object) -> object:
    return None if isinstance(value, str) and value.strip().lower() in _NOTHING else value


_NOTHING: Final = frozenset({"", "null", "none"})
_CONVERT: Final[Mapping[str, Callable[[object], object]]] = {
    "integer": _as_integer,
    "number": _as_number,
    "boolean": _as_boolean,
    "string": _as_string,
    "null": _as_null,
}
_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "string": (str,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


def _fits(value: object, schema: Schema, defs: Schema) -> bool:
    """Whether a value is of a schema's kind; what is inside it is not looked at."""
    if "$ref" in schema:
        schema = defs.get(str(schema["$ref"]).rpartition("/")[2], {})
    if "enum" in schema:
        return value in schema["enum"]
    if "const" in schema:
        return bool(value == schema["const"])
    kinds = _KINDS.get(str(schema.get("type")))
    if kinds is None:
        return True
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _decoded(value: object, kind: type) -> object:
    """A text that holds JSON of this kind, as that; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        decoded = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return decoded if isinstance(decoded, kind) else value


def _plain(name: str) -> str:
    return name.strip().replace("-", "_").replace(" ", "_").casefold()


def _json_kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return "list"
    return "number" if isinstance(value, int | float) else "string"
