"""Rosters: every kind of output with variants that must be read and ones that must not."""

from __future__ import annotations

import json

import pytest

from dhd.messages import ExpertRole
from dhd.parsing import parse_roster

NAMES = [
    "Number Theorist",
    "X-ray Crystallographer",
    "C++ Modeller",
    "Skeptic",
    "Ab Initio Chemist",
]
LENSES = [f"looks at part {number}" for number in range(1, 6)]
PAIRS = list(zip(NAMES, LENSES, strict=True))


def lines(pattern: str, between: str = "\n", count: int = 5) -> str:
    """Return a list with a line for each of the first ``count`` roles."""
    return between.join(
        pattern.format(n=number, name=name, lens=lens)
        for number, (name, lens) in enumerate(PAIRS[:count], start=1)
    )


def names_of(text: str, finish_reason: str | None = None) -> list[str] | None:
    """Return the role names, None when the roster is invalid."""
    parsed = parse_roster(text, finish_reason=finish_reason)
    if parsed.status != "ok":
        assert parsed.roles == ()
        assert parsed.reason
        return None
    return [role.name for role in parsed.roles]


WITH_LENS = {
    "objects": json.dumps({"roles": [{"name": n, "lens": x} for n, x in PAIRS]}),
    "strings": json.dumps({"roles": [f"{n}: {x}" for n, x in PAIRS]}),
    "dashed strings": json.dumps({"roles": [f"{n} - {x}" for n, x in PAIRS]}),
    "keys": json.dumps({f"role_{i}": f"{n}: {x}" for i, (n, x) in enumerate(PAIRS, 1)}),
    "keys of objects": json.dumps(
        {f"Role {i}": {"name": n, "lens": x} for i, (n, x) in enumerate(PAIRS, 1)}
    ),
    "list of objects": json.dumps([{"role": n, "focus": x} for n, x in PAIRS]),
    "list of strings": json.dumps([f"{n}: {x}" for n, x in PAIRS]),
    "mapping": json.dumps(dict(PAIRS)),
    "other key": json.dumps({"experts": [{"expert_name": n, "task": x} for n, x in PAIRS]}),
    "unknown key": json.dumps({"panel": [{"title": n, "perspective": x} for n, x in PAIRS]}),
    "nested": json.dumps({"result": {"roles": [f"{n}: {x}" for n, x in PAIRS]}}),
    "encoded twice": json.dumps(json.dumps([f"{n}: {x}" for n, x in PAIRS])),
    "fenced": "Sure:\n```json\n" + json.dumps([f"{n}: {x}" for n, x in PAIRS]) + "\n```\nBye.",
    "escaped key": '{"roles": ['
    + lines('{{"role\\_name": "{name}", "lens": "{lens}"}}', ",")
    + "]}",
    "trailing comma": '{"roles": [' + lines('"{name}: {lens}"', ",\n") + ",]}",
    "numbered": lines("{n}. {name} - {lens}"),
    "numbered colon": lines("{n}. {name}: {lens}"),
    "numbered em dash": lines("{n}. {name} — {lens}"),
    "parenthesis": lines("{n}) {name}: {lens}"),
    "two parentheses": lines("({n}) {name}: {lens}"),
    "in brackets": lines("{n}. {name} ({lens})"),
    "bold": lines("{n}. **{name}** - {lens}"),
    "bold colon": lines("{n}. **{name}:** {lens}"),
    "bold all": lines("**{n}. {name}** - {lens}"),
    "bold line": lines("{n}. **{name}: {lens}**"),
    "labelled": lines("Role {n}: {name} - {lens}"),
    "labelled bold": lines("**Role {n}: {name}** — {lens}"),
    "labelled inside": lines("{n}. Role: {name} - {lens}"),
    "headings": lines("### {n}. {name}\n{lens}", "\n\n"),
    "aligned": lines(" {n}. {name}: {lens}").strip(),
    "lens below": lines("{n}. {name}\n   {lens}"),
    "nested bullet": lines("{n}. **{name}**\n   - {lens}").replace("   - ", "   "),
    "bullets": lines("- {name}: {lens}"),
    "stars": lines("* {name} - {lens}"),
    "dots": lines("• {name}: {lens}"),
    "with prose": "Five roles:\n\n" + lines("{n}. {name}: {lens}") + "\n\nThey differ.",
    "repeated numbers": lines("1. {name}: {lens}"),
    "YAML": "roles:\n" + lines("  - name: {name}\n    lens: {lens}"),
    "labelled lines": lines("expert\\_name: {name}\nlens: {lens}"),
    "think": "<think>1. Poet\n2. Painter</think>\n" + lines("{n}. {name}: {lens}"),
    "think not opened": "1. Poet\n2. Painter</think>\n" + lines("- {name}: {lens}"),
    "harmony": "<|channel|>final<|message|>" + lines("{n}. {name}: {lens}") + "<|return|>",
}


@pytest.mark.parametrize("text", [pytest.param(text, id=kind) for kind, text in WITH_LENS.items()])
def test_names_and_lenses_are_read(text: str) -> None:
    parsed = parse_roster(text)
    assert parsed.reason is None
    assert [(role.name, role.lens) for role in parsed.roles] == PAIRS


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(NAMES),
        json.dumps({"roles": NAMES}),
        json.dumps({"roles": [{"name": name} for name in NAMES]}),
        lines("{n}. {name}"),
        lines("{n}. {name}."),
        lines("- **{name}**"),
        lines("{n}. `{name}`"),
        lines("{n}. {name}") + "\n\nThey differ.",
        lines('{n}. "{name}"'),
        lines("name: {name}"),
    ],
)
def test_roles_without_lens(text: str) -> None:
    assert parse_roster(text).roles == tuple(ExpertRole(name) for name in NAMES)


def with_last(last: str) -> list[str]:
    """Return a numbered list and JSON whose fifth role is another."""
    roles = [*NAMES[:4], last]
    return [
        "\n".join(f"{number}. {role}" for number, role in enumerate(roles, 1)),
        json.dumps({"roles": roles}),
        json.dumps([{"name": role, "lens": "x"} for role in roles]),
        json.dumps({f"role_{number}": f"{role}: x" for number, role in enumerate(roles, 1)}),
    ]


REFUSED = {
    "wrong number": [
        lines("{n}. {name}: {lens}", count=3),
        lines("- {name}", count=4),
        lines("{n}. {name}") + "\n6. Poet",
        json.dumps(NAMES[:4]),
        json.dumps({"roles": [*NAMES, "Poet"]}),
        "Only one:\n1. Skeptic",
        "expert_name: Skeptic",
        '{"name": "Skeptic", "lens": "doubts"}',
    ],
    "twice": [
        *with_last("Number Theorist"),
        *with_last("number  theorist"),
        *with_last("NUMBERTHEORIST"),
        lines("{n}. Solver {name}").replace("Solver Skeptic", "Solver C++ Modeller"),
    ],
    "empty or nameless": [
        *with_last(""),
        *with_last("  "),
        "1. A x\n2. B x\n3. C x\n4.\n5. E x",
        "1. A x\n2. B x\n3. C x\n4. : lens\n5. E x",
        json.dumps({"roles": [*({"name": n} for n in NAMES[:4]), {"lens": "x"}]}),
        json.dumps({"roles": [*({"name": n} for n in NAMES[:4]), {"name": None}]}),
        json.dumps({"roles": [*({"name": n} for n in NAMES[:4]), {"name": 5}]}),
        json.dumps([*NAMES[:4], 5]),
        json.dumps([*NAMES[:4], None]),
        json.dumps([*NAMES[:4], ["Skeptic"]]),
    ],
    "placeholders": [
        lines("{n}. <role {n}>"),
        lines("{n}. Role {n}"),
        lines("{n}. [Expert {n}]: lens"),
        lines("- ..."),
        json.dumps({"roles": [f"Role {number}: lens {number}" for number in range(1, 6)]}),
        *with_last("<name>"),
        *with_last("TBD"),
        *with_last("{role}"),
    ],
    "two rosters": [
        lines("{n}. {name}") + "\n\nOr:\n" + lines("{n}. {name}").replace("Skeptic", "Poet"),
        lines("- {name}") + "\n\n" + lines("- {name}"),
        json.dumps(NAMES) + "\n" + json.dumps([*NAMES[:4], "Poet"]),
        json.dumps({"roles": NAMES}) + json.dumps({"roles": NAMES[::-1]}),
    ],
    "no roster": [
        "",
        "I can't help with that.",
        "{}",
        "[]",
        '{"roles": []}',
        '{"roles": null}',
        ", ".join(NAMES),
        "<think>" + lines("{n}. {name}"),
        "<|channel|>analysis<|message|>" + lines("{n}. {name}"),
    ],
    "a sentence as a name": with_last("x" * 121),
}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, id=f"{kind} {number}")
        for kind, texts in REFUSED.items()
        for number, text in enumerate(texts)
    ],
)
def test_output_is_refused(text: str) -> None:
    assert names_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        lines("{n}. {name}: {lens}"),
        lines("{n}. {name}: {lens}")[:-20],
        lines("- {name}"),
        '{"roles": ["A: x", "B: y',
        '{"roles": ["A: x", "B: y", "C: z", "D: u", "E: v"]',
        "",
    ],
)
def test_text_at_the_token_limit_is_truncated(text: str) -> None:
    assert parse_roster(text, finish_reason="length").status == "truncated"


def test_complete_json_counts_even_at_the_token_limit() -> None:
    assert names_of(json.dumps({"roles": NAMES}) + "\n" * 50, "length") == NAMES


def test_none_is_invalid() -> None:
    assert parse_roster(None).status == "invalid_format"


def test_other_sizes() -> None:
    assert len(parse_roster(lines("{n}. {name}", count=3), size=3).roles) == 3
    assert parse_roster(lines("{n}. {name}"), size=3).status == "invalid_format"


def test_reason_says_how_many_there_are() -> None:
    assert parse_roster(lines("{n}. {name}", count=1)).reason == "1 role instead of 5"
    assert parse_roster(lines("{n}. {name}", count=3)).reason == "3 roles instead of 5"


def test_nested_bullets_are_no_roles() -> None:
    text = lines("- **{name}**\n  - {lens}\n  - and more")
    assert names_of(text) == NAMES
    assert names_of(lines("{n}. {name}\n- {lens}\n- and more")) == NAMES


@pytest.mark.parametrize("separator", [" - ", ": ", " – "])
@pytest.mark.parametrize("name", ["Optics Expert", "Sign-Error Agent", "Symbolic Solver"])
def test_a_name_may_end_like_a_label(name: str, separator: str) -> None:
    roles = [name, *NAMES[:4]]
    text = "\n".join(f"{n}. {role}{separator}its view" for n, role in enumerate(roles, 1))
    parsed = parse_roster(text)
    assert [(role.name, role.lens) for role in parsed.roles] == [(one, "its view") for one in roles]
