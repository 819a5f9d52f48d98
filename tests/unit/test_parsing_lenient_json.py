"""The short way through strict JSON reads what the lenient way reads."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhd.parsing import lenient_json
from dhd.parsing.lenient_json import scan_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(min_size=1, max_size=6), VALUES, min_size=1))
def test_both_ways_agree_on_objects(document: dict[str, object]) -> None:
    text = json.dumps(document, ensure_ascii=False)
    strict = lenient_json._strict_object(text)
    if strict is not None:
        assert strict == lenient_json._scan_leniently(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": NaN}',
        '{"a": 1, "a": 2}',
        '{"a": "\\times"}',
        '{"a": 1,}',
        '{"a": ' + "[" * 80 + "]" * 80 + "}",
        '{"a": 1} {"b": 2}',
        '{"a": "line\nbreak"}',
    ],
)
def test_all_else_goes_the_lenient_way(text: str) -> None:
    assert lenient_json._strict_object(text) is None
    assert scan_json(text) == lenient_json._scan_leniently(text)


def test_numbers_keep_their_digits() -> None:
    assert scan_json('{"a": 1.50, "b": 7}').values == ({"a": "1.50", "b": "7"},)
