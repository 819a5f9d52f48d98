"""Content keys: what they depend on, and that nothing else shares them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhd.requests import Decoding, KeyMaker, ModelIdentity, Request, Turn, seed_of

MODEL = ModelIdentity("m", "r1", {"dtype": "float32"})
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
REQUEST = Request(
    "integrator", (Turn("system", "s"), Turn("user", "u")), Decoding(0.7, 64), SCHEMA, "scan/k=2"
)


def key(request: Request, model: ModelIdentity = MODEL, seed: int = 1) -> str:
    return KeyMaker(model, seed).key(request)


def test_is_the_same_in_every_process() -> None:
    assert key(REQUEST) == "171ba5514ca48e2ca3b3cceebce6e1aa"
    assert seed_of(key(REQUEST)) == int(key(REQUEST)[:8], 16) % 2**31


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, turns=(Turn("system", "s"), Turn("user", "v"))),
        replace(REQUEST, turns=(Turn("user", "s"), Turn("user", "u"))),
        replace(REQUEST, turns=(Turn("system", "su"), Turn("user", ""))),
        replace(REQUEST, turns=(Turn("system", "s"),)),
        replace(REQUEST, decoding=Decoding(0.0, 64)),
        replace(REQUEST, decoding=Decoding(0.7, 65)),
        replace(REQUEST, decoding=Decoding(0.7, 64, 0.9)),
        replace(REQUEST, json_schema=None),
        replace(REQUEST, json_schema={"type": "object"}),
        replace(REQUEST, draw=""),
    ],
)
def test_depends_on_every_part_of_a_request(other: Request) -> None:
    assert key(other) != key(REQUEST)


def test_depends_on_model_settings_and_seed() -> None:
    models = [
        MODEL,
        replace(MODEL, name="n"),
        replace(MODEL, revision=""),
        replace(MODEL, settings={"dtype": "bfloat16"}),
    ]
    keys = {key(REQUEST, model, seed) for model in models for seed in (1, 2)}
    assert len(keys) == 8


def test_equal_schemas_and_settings_in_another_order_give_the_same_key() -> None:
    swapped = {"properties": {"a": {"type": "string"}}, "type": "object"}
    assert key(replace(REQUEST, json_schema=swapped)) == key(REQUEST)


@given(
    st.lists(st.text(max_size=3), min_size=1, max_size=3),
    st.lists(st.text(max_size=3), min_size=1, max_size=3),
)
def test_no_two_prompts_run_into_one(one: list[str], other: list[str]) -> None:
    first, second = (
        replace(REQUEST, turns=tuple(Turn("user", text) for text in texts))
        for texts in (one, other)
    )
    assert (key(first) == key(second)) == (one == other)


def test_a_maker_forgets_schemas_that_are_not_reused() -> None:
    maker = KeyMaker(MODEL, 1)
    keys = {maker.key(replace(REQUEST, json_schema={"const": n})) for n in range(5000)}
    assert len(keys) == 5000
    assert len(maker._schemas) <= 4096
