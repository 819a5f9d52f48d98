"""Names that users and models chose must print as text in every format."""

import pytest

from dhd.report.escape import html_text, latex, markdown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("100%_done", r"100\%\_done"),
        ("a & b # c", r"a \& b \# c"),
        ("$x^2$~", r"\$x\textasciicircum{}2\$\textasciitilde{}"),
        ("<script>", r"\textless{}script\textgreater{}"),
        ("a|b", r"a\textbar{}b"),
        ("−0.5 → 1–2", r"$-$0.5 $\to$ 1--2"),
        ("Zoë", "Zoë"),
        ("中", "[U+4E2D]"),
        ("e\u0301", "é"),
        ("×", r"$\times$"),
    ],
)
def test_latex_prints_the_text(text: str, expected: str) -> None:
    assert latex(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|b", r"a\|b"),
        ("<script>", "&lt;script&gt;"),
        # Within a word an underscore marks nothing; raw text is easier to read without escapes.
        ("snake_case*", r"snake_case\*"),
        ("_a_ b__c _", r"\_a\_ b\_\_c \_"),
        ("[click](javascript:1)", r"\[click\](javascript:1)"),
        ("`code` $x$ ~~y~~", r"\`code\` \$x\$ \~\~y\~\~"),
        ("\\", r"\\"),
    ],
)
def test_markdown_prints_the_text(text: str, expected: str) -> None:
    assert markdown(text) == expected


def test_html_cannot_leave_element_or_attribute() -> None:
    assert html_text("<b>\"'&") == "&lt;b&gt;&quot;&#x27;&amp;"
