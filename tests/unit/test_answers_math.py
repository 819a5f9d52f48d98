"""Mathematical answers: variants of every kind of hard case, right, wrong and undecidable.

Outcomes are letters: T right, F wrong, N deferred; several letters accept several outcomes.
"""

from dhd.answers import compare_answers
from dhd.problems import Problem

OUTCOMES = {"T": True, "F": False, "N": None}


def judge(reference: str, submitted: str, answer_format: str = "math") -> bool | None:
    problem = Problem("p", "own", "", reference, answer_format)  # type: ignore[arg-type]
    return compare_answers(problem, submitted).equivalent


def check_table(*rows: tuple[str, str, str]) -> None:
    """Judge rows of reference, submission and accepted outcomes; all faults in one report."""
    wrong = [
        (reference, submitted, accepted, outcome)
        for reference, submitted, accepted in rows
        if (outcome := judge(reference, submitted)) not in [OUTCOMES[one] for one in accepted]
    ]
    assert wrong == []


def test_decoration() -> None:
    check_table(
        ("7", "7.", "T"), ("7", "$7$.", "T"), ("7", "7;", "T"), ("7", "7。", "T"),
        ("7", "7,", "T"), ("7", r"7\,", "T"), ("7", r"\(7\)", "T"), ("7", r"\[7\]", "T"),
        ("7", "**7**", "T"), ("7", r"\(7\).", "T"),
        ("7", r"\[ 7 \].", "T"), ("even", "odd", "F"),
        ("7", "`7`", "T"), ("7", "8.", "F"), ("7", "70.", "F"),
        ("-7", "$-7$.", "T"), ("x+1", "$x+1$.", "T"), ("31", r"\text{31}", "T"),
        ("31", r"\mathrm{31}", "T"), ("31", r"\text{32}", "F"),
        ("24", r"\text{the answer is } 24", "TN"), ("24", "The answer is 25", "FN"),
        ("24", r"24 \text{ apples}", "TN"), ("12", r"x = 12", "T"), ("12", r"\boxed{12}", "T"),
        ("12", r"\boxed{\boxed{12}}", "T"), ("12", "13 ", "F"), ("12", r"\textbf{12}", "T"),
    )  # fmt: skip


def test_fractions_and_decimals() -> None:
    check_table(
        (r"\frac{7}{3}", r"\dfrac{7}{3}", "T"), (r"\frac{7}{3}", r"\frac73", "T"),
        (r"\frac{7}{3}", "7/3", "T"), (r"\frac{7}{3}", r"\frac 7 3", "T"),
        (r"\frac{7}{3}", r"\frac{7}3", "T"), (r"\frac{7}{3}", r"\frac7{3}", "T"),
        (r"\frac{7}{3}", r"{7}/{3}", "T"), (r"\frac{7}{3}", r"\frac{14}{6}", "T"),
        (r"\frac{7}{3}", r"\cfrac{7}{3}", "T"), (r"\frac{7}{3}", r"\frac{3}{7}", "F"),
        (r"\frac{7}{3}", "3/7", "F"), (r"-\frac{7}{3}", r"\frac{-7}{3}", "T"),
        (r"-\frac{7}{3}", r"\frac{7}{-3}", "T"), (r"\frac{7}{3}", r"-\frac{7}{3}", "F"),
        (r"\frac{7}{3}", "7÷3", "T"), (r"\frac{7}{3}", r"\frac{7}{3}.", "T"),
        (r"\frac{3}{4}", "0.75", "T"), (r"\frac{3}{4}", ".75", "T"),
        (r"\frac{3}{4}", "0.750", "T"), (r"\frac{3}{4}", "0.57", "F"),
        (r"\frac{1}{8}", "0.125", "T"), (r"\frac{1}{8}", "0.13", "FN"),
        (r"\frac{2}{7}", "0.29", "FN"), (r"\frac{2}{7}", "0.2857", "NFT"),
        (r"\frac{2}{7}", "0.31", "F"), ("0.4", r"\frac{2}{5}", "T"),
        (r"\frac{22}{7}", "3.14", "NF"), (r"\pi", "3.14", "NF"), (r"\pi", "3.2", "F"),
        ("2.5", "2", "F"), ("0.1", "1/10", "T"), ("1/3", "0.333", "NF"), ("½", "0.5", "T"),
        ("0.5", "½", "T"), (r"\frac{1}{2}", "½", "T"), (r"\frac{1}{2}", r"\frac{1}{3}", "F"),
        (r"\frac{5}{2}", "2½", "T"), (r"\frac{25}{2}", "2½", "F"),
    )  # fmt: skip


def test_surds() -> None:
    check_table(
        (r"\frac{1}{\sqrt{3}}", r"\frac{\sqrt{3}}{3}", "T"),
        (r"\frac{2}{\sqrt{5}}", r"\frac{2\sqrt5}{5}", "T"), (r"\sqrt{12}", r"2\sqrt{3}", "T"),
        (r"\sqrt{12}", r"3\sqrt{2}", "F"), (r"\sqrt{3+2\sqrt{2}}", r"1+\sqrt{2}", "T"),
        (r"\sqrt{3-2\sqrt{2}}", r"1-\sqrt{2}", "F"), ("2√3", r"\sqrt{12}", "T"),
        ("sqrt(12)", r"2\sqrt{3}", "T"), (r"\sqrt[3]{16}", r"2\sqrt[3]{2}", "T"),
        (r"2^{1/2}", r"\sqrt{2}", "T"), (r"5\sqrt{7}", r"5\sqrt7", "T"),
        (r"5\sqrt{7}", r"7\sqrt5", "F"), ("5", r"5\sqrt(7)", "FN"), ("3", r"3\sqrt(2)", "FN"),
        ("7", r"\sqrt(7)", "FN"), (r"5\sqrt{7}", r"5\sqrt(7)", "TN"), ("6", r"6\sqrt", "FN"),
        ("2", r"2\sqrt{}", "FN"), (r"\sqrt{23}", r"\sqrt23", "TN"),
        (r"\frac{1}{\sqrt{x}}", r"\sqrt{1/x}", "TN"), (r"\sqrt{x^2}", "|x|", "TN"),
        (r"(\sqrt{5}-1)/2", r"\frac{2}{1+\sqrt5}", "T"),
        (r"\frac{\sqrt{6}+\sqrt{2}}{4}", r"\cos 15^\circ", "TN"),
        (r"\sqrt{n+1}", r"\sqrt{n}+1", "F"),
    )  # fmt: skip


def test_plain_and_latex_names() -> None:
    check_table(
        ("e^{4}+1", "exp(4) + 1", "TN"), ("e^{4}+1", r"\exp(4)+1", "TN"),
        ("e^{4}+1", "e^4 + 1", "T"), ("e^{4}+1", "e^5+1", "F"), (r"\ln 5", "ln(5)", "T"),
        (r"\ln 5", "log(5)", "NFT"), (r"\frac{\pi}{6}", "pi/6", "T"),
        (r"\frac{\pi}{6}", "π/3", "F"), (r"2\pi", "2*pi", "T"), (r"2\pi", "2π", "T"),
        (r"2\pi", "2pi", "TN"), (r"\sqrt{5}", "sqrt(5)", "T"), (r"\sqrt{5}", "√5", "T"),
        (r"\sin(x)", "sin(x)", "T"), (r"\sin x", "sin(x)", "T"), (r"\sin x", "cos(x)", "F"),
        (r"\arctan 2", "atan(2)", "T"), (r"\tan^{-1}(2)", r"\arctan(2)", "T"),
        (r"\log_{2} 3", r"\frac{\ln 3}{\ln 2}", "T"),
        (r"\operatorname{arcsin}(x)", r"\arcsin x", "T"), ("2^{10}", "2**10", "T"),
        ("x^2", "x**2", "T"), ("2x", "2*x", "T"), ("2x", r"2\cdot x", "T"), ("2x", "x*2", "T"),
        ("2x", "x^2", "F"),
    )  # fmt: skip


def test_tiny_and_huge_values() -> None:
    check_table(
        ("5^{-90}", "5^{-91}", "F"), ("5^{-90}", "5^{-90}", "T"),
        ("5^{-90}", r"\frac{1}{5^{90}}", "T"), ("5^{-90}", "0", "F"), ("10^{-40}", "0", "F"),
        ("10^{50}", "10^{50}+1", "F"), ("2^{200}", "4^{100}", "T"), ("2^{200}", "2^{200}+1", "F"),
        (r"\frac{3^{400}+1}{3^{401}}", r"\frac{1}{3}", "F"),
        (r"\frac{3^{400}+1}{3^{401}}", r"\frac13+3^{-401}", "T"),
        (r"\sqrt{2}\cdot 10^{-60}", r"\sqrt{3}\cdot 10^{-60}", "F"), (r"e^{-200}", "0", "F"),
        (r"e^{-200}", r"e^{-201}", "F"), (r"\pi^{100}", r"\pi^{100}+10^{-5}", "F"),
        ("100!", "99!", "F"), ("100!", r"100\cdot 99!", "T"),
        ("9999999999999999", "10000000000000000", "F"), ("0.1", "0.10000000000000001", "FN"),
        ("1" * 70, "1" * 70, "T"), ("1" * 70, "1" * 69 + "2", "F"), ("1" * 70, "1" * 69, "F"),
        ("3" * 5000, "3" * 4999 + "4", "FN"), ("3" * 5000, "3" * 5000, "T"),
        ("3" * 5000, "3" * 4999, "FN"), ("3" * 5000, "0" + "3" * 5000, "TN"),
        ("-" + "3" * 5000, "3" * 5000, "FN"),
    )  # fmt: skip


def test_equations() -> None:
    check_table(
        ("P=(3,4)", "P=(3,5)", "F"), ("P=(3,4)", "P=(3,4)", "T"), ("P=(3,4)", "(3,4)", "T"),
        ("(3,4)", "P=(3,4)", "T"), ("P=(3,4)", "(4,3)", "F"), ("x=5", "5", "T"), ("5", "x=5", "T"),
        ("x=5", "x=6", "F"), ("x=5", "6", "F"), ("x=5", "t=5", "NTF"), ("x=5", "t=6", "FN"),
        ("S = 2^3 = 8", "8", "T"), ("8", "S = 2^3 = 8", "T"), ("8", "S = 2^4 = 16", "F"),
        ("4", r"a+b=4", "NT"), ("4", "x^2=4", "NF"), ("4", "2+2=4", "T"),
        ("y=2x+1", "y = 1+2x", "T"), ("y=2x+1", "y=2x-1", "F"), ("y=2x+1", "2x+1", "T"),
        ("x=1, y=2", "y=2, x=1", "TN"), ("x=1, y=2", "x=2, y=1", "F"),
        ("x=1, y=2", "x=1,y=2", "T"), ("x=1 or x=2", "1, 2", "TN"),
        ("x=1 or x=2", "x=2 or x=1", "TN"), ("x=1 or x=2", "x=1", "F"), ("n = 3k", "3k", "T"),
        (r"x_1=3", "3", "T"), ("2x+6y-5=0", "2x+6y+5=0", "F"), ("2x+6y-5=0", "4x+12y-10=0", "TN"),
        ("2x+6y-5=0", "x+3y=5/2", "TN"), ("3x-y=4", "x+y=4", "F"), ("3x-y=4", "y=3x-4", "TN"),
        ("3x-y=4", "y=4-3x", "F"), ("x^2+y^2=9", "x^2+y^2=3", "F"),
        ("x^2+y^2=9", "y^2+x^2-9=0", "TN"), ("x^2+y^2=9", "x^2-y^2=9", "F"),
        ("xy=1", "y=1/x", "TN"), ("y=x^2", "x=y^2", "FN"), ("3x-y=4", "0=0", "FN"),
        ("3x-y=4", "0", "FN"), (r"\pm 6", "6, -6", "TN"), (r"\pm 6", "-6, 6", "TN"),
        (r"\pm 6", r"\pm6", "T"), (r"\pm 6", "6", "F"), (r"\pm 6", "±6", "T"),
        (r"\pm 6", "+/-6", "TN"), (r"\pm 6", r"x=\pm 6", "T"), (r"\pm 6", r"\pm 7", "F"),
        ("6", r"\pm 6", "F"), (r"\pm 6", "6 or -6", "TN"),
        (r"2\pm\sqrt{3}", r"2+\sqrt{3}, 2-\sqrt{3}", "TN"), (r"2\pm\sqrt{3}", r"2+\sqrt{3}", "F"),
        (r"2\pm\sqrt{3}", r"3\pm\sqrt{2}", "F"),
    )  # fmt: skip


def test_ratios_and_lists() -> None:
    check_table(
        ("3:4", "4:3", "F"), ("3:4", "3:4", "T"), ("3:4", "3 : 4", "T"), ("3:4", "6:8", "TN"),
        ("3:4", "3/4", "TN"), ("3:4", "4/3", "FN"), ("3:4", r"\frac{3}{4}", "TN"),
        ("1:2:3", "1:3:2", "F"), ("1:2:3", "2:4:6", "TN"), ("1:2:3", "1:2", "F"),
        ("7:30", "7:03", "F"), ("7:30", "7:30", "T"), ("7:30", "7:30 pm", "NTF"),
        ("7:30", "14:60", "NF"), ("12:45", "45:12", "F"), (r"1:\sqrt{2}", r"\sqrt{2}:2", "TN"),
        (r"1:\sqrt{2}", r"\sqrt{2}:1", "F"), (r"1:4:9:\ldots", r"1:2:3:\ldots", "FN"),
        (r"1:4:9:\ldots", r"1:4:9:\ldots", "T"), (r"1,3,\ldots,2n-1", r"1,3,\dots,2n-1", "TN"),
        (r"1,3,\ldots,2n-1", r"2,4,\ldots,2n", "FN"), (r"1,3,\ldots,2n-1", "1,3,...,2n-1", "TN"),
        (r"a_1,\ldots,a_n", "a_1", "FN"), ("5, 6, and 7", "5, 6, 7", "T"),
        (r"5, 6, \text{ and } 7", "5, 6 and 7", "T"), ("5, 6, and 7", "5, 6, and 8", "F"),
        ("5, 6, and 7", "7, 6 and 5", "TN"), ("5 and 7", "5, 7", "T"), ("5 and 7", "5", "F"),
        ("5 and 7", "7", "F"), ("5 and 7", "12", "F"), ("5 and 7", "5 or 7", "TN"),
        ("5, 6, and 7", "5, 6", "F"), (r"5 \text{ and } 7", "5和7", "TN"),
        ("x and y", "y and x", "TN"), ("5, 6, and 7", "5; 6; 7", "TN"),
    )  # fmt: skip


def test_conditions_and_functions() -> None:
    check_table(
        ("f(x)=2x", r"\exists x,\ f(x)=2x", "NF"),
        ("f(x)=2x", r"f(x)=2x \text{ for all } x", "NT"), (r"\forall x: f(x)=1", "f(x)=1", "NTF"),
        ("f(n)=n^2", "f(x)=x^2", "TN"), ("f(n)=n^2", "f(x)=x^3", "FN"),
        ("f(n)=n^2", "f(n)=n^2", "T"), ("f(n)=n^2", "n^2", "TN"), ("f(x)=c x", "f(t)=c t", "TN"),
        ("f(x)=x+a", "f(x)=x+b", "NTF"), ("f(x)=x", "g(x)=x", "NFT"), ("f(x)=0", "f(x)=1", "F"),
        ("f(n)=n", "f(x)=n", "NF"), ("f(x)=x, f(x)=0", "f(x)=0, f(x)=x", "TN"),
        ("f(x)=x, f(x)=0", "f(x)=0", "FN"), ("n odd", r"\text{all even } n", "FN"),
        ("n odd", r"n \text{ odd}", "TN"), ("all primes", "all odd primes", "FN"),
        ("n=2 or n odd", "n odd", "FN"), ("n is a multiple of 3", r"3\mid n", "NT"),
        (r"\text{even}", "even", "T"), (r"\text{even}", "odd", "FN"),
        (r"\{x: x>0\}", r"\{x: x>0\}", "T"), (r"\{(a,b): a\mid b\}", r"\{(a,b): b\mid a\}", "FN"),
        (r"\log n\text{ is unbounded}", r"\log n\text{ is unbounded}", "T"),
        (r"\log n\text{ is unbounded}", r"\log n\text{ is bounded}", "FN"),
        (r"3^{n}+1\ (n\ge 2)", r"3^{n}+1\ (n\ge 2)", "T"),
        (r"3^{n}+1\ (n\ge 2)", r"3^{n}-1\ (n\ge 2)", "FN"), (r"\angle ABC", r"\angle ABC", "T"),
        (r"\triangle", r"\triangle", "T"), ("P(x) \\equiv 0", "P(x) \\equiv 0", "T"),
        ("\\overline{AB}", "\\overline{AB}", "T"), ("\\text{No}", "No", "T"),
        ("\\text{No}", "Yes", "FN"),
    )  # fmt: skip


def test_degrees_and_percent() -> None:
    check_table(
        (r"30^{\circ}", "30 degrees", "T"), (r"30^{\circ}", "30°", "T"),
        (r"30^\circ", r"30^{\circ}", "T"), (r"30^\circ", "30", "TN"), ("30", r"30^\circ", "TN"),
        (r"30^\circ", r"\frac{\pi}{6}", "TN"), (r"30^\circ", r"\frac{\pi}{3}", "F"),
        (r"\frac{\pi}{6}", r"30^\circ", "TN"), (r"30^\circ", "60 degrees", "F"),
        (r"30^\circ", "30 rad", "NF"), ("30", "30 rad", "NF"), ("45", "45 radians", "NF"),
        (r"\frac{\pi}{6}", r"\frac{\pi}{6} \text{ rad}", "T"),
        (r"30^\circ", r"\frac{\pi}{6}\text{ radians}", "TN"),
        (r"30^\circ", r"30\,\text{deg}", "T"), (r"22.5^\circ", "22.5°", "T"),
        (r"\sin 30^\circ", r"\frac12", "TN"), (r"120^\circ", "2π/3", "TN"),
        (r"120^\circ", r"120\degree", "T"), ("30", "31°", "F"), (r"35\%", "35 percent", "T"),
        (r"35\%", "35%", "T"), (r"35\%", "0.35", "TN"), (r"35\%", "35", "TN"),
        (r"35\%", r"\frac{7}{20}", "TN"), (r"35\%", "3.5", "F"), (r"35\%", "36%", "F"),
        (r"35\%", "53%", "F"), ("0.35", r"35\%", "TN"), ("35", r"35\%", "NTF"),
        (r"0.2\%", r"20\%", "F"), (r"0.2\%", "0.002", "TN"), (r"0.2\%", "0.2", "NF"),
        (r"12.5\%", r"12\frac12\%", "TN"), (r"35\%", r"35 \text{ percent}", "T"),
        (r"100\%", "1", "TN"), (r"35\%", "35 per cent", "T"),
    )  # fmt: skip


def test_separators_sets_and_tuples() -> None:
    check_table(
        ("20160", "20,160", "T"), ("20160", "20{,}160", "T"), ("20160", r"20\,160", "T"),
        ("20160", "20 160", "TN"), ("20160", r"20,\!160", "T"), ("1234567", "1,234,567", "T"),
        ("1234567", r"1{,}234{,}567", "T"), ("20,160", "20160", "T"), ("20160", "20,161", "F"),
        ("20160", "20.160", "NF"), ("93104.25", r"93,\!104.25", "T"),
        ("93104.25", "93,104.25", "T"), ("93104.25", "93,104.52", "F"), ("4,7", "(4,7)", "TN"),
        ("4,7", "7", "F"), ("4,7", "4", "F"), ("4,7", "47", "F"), ("4, 7", "4,7", "T"),
        ("4,7,9", "479", "F"), ("4,7,9", "4, 7, 9", "T"), ("(4,7)", "4,7", "TN"),
        ("(4,7)", "47", "F"), ("2.5", "2,5", "NF"), ("12.75", "12,75", "NF"),
        ("1234.5", "1.234,5", "NTF"), ("2.5", "2,6", "FN"), ("7,250", "(7,250)", "NTF"),
        ("1,000,000", "10^6", "T"), ("1,000", "1", "F"), ("1000", "1,000.0", "T"),
        (r"\$5,000", "5000", "T"), ("(1,234)", "1234", "FN"), ("4, 75", "475", "F"),
        ("(5,3)", "(3,5)", "F"), ("(5,3)", "(5,3)", "T"), (r"\{5,3\}", r"\{3,5\}", "TN"),
        (r"\{5,3\}", r"\{5,3,3\}", "TN"), (r"\{5,3\}", r"\{5\}", "F"),
        (r"\{5,3\}", r"\{5,4\}", "F"), (r"\{5,3\}", "3, 5", "TN"), (r"\{5,3\}", "(5,3)", "NTF"),
        (r"\{5,3\}", "{3, 5}", "TN"), ("(1,4),(4,1)", "(4,1),(1,4)", "TN"),
        ("(1,4),(4,1)", "(1,4)", "F"), ("(1,4),(4,1)", "(1,4),(4,2)", "F"),
        ("(1,4),(4,1)", r"\{(4,1),(1,4)\}", "TN"), ("(1,4),(4,1)", "(1,4) and (4,1)", "TN"),
        ("(1,2,3)", "(1,2,3)", "T"), ("(1,2,3)", "(3,2,1)", "F"), ("(1,2,3)", "(1,2)", "F"),
        ("[1,2,3]", "(1,2,3)", "TN"), ("5, 3", "3, 5", "TN"), (r"\{1,2,3\}", r"\{1,2,3,4\}", "F"),
        (r"\{\sqrt{4}, 3\}", r"\{3,2\}", "TN"), (r"\left(\frac{1}{2},3\right)", "(0.5,3)", "T"),
        (r"\emptyset", r"\{\}", "TN"), (r"\emptyset", r"\varnothing", "T"), (r"\{1\}", "1", "TN"),
        (r"(1,2)", r"\langle 1,2\rangle", "TN"),
    )  # fmt: skip


def test_bases_intervals_and_units() -> None:
    check_table(
        ("345_6", "345", "TN"), ("345_6", "345_6", "T"), ("345_6", "345_{6}", "T"),
        ("345_6", "345_7", "F"), ("345_6", "346_6", "F"), ("345_6", "354", "FN"),
        ("345_6", "137", "NTF"), ("1011_2", "1011_{2}", "T"), ("1011_2", "11", "NTF"),
        ("1011_{\\text{two}}", "1011_2", "T"), ("345_6", r"345_{\text{six}}", "NT"),
        ("2A_{16}", "42", "NTF"), ("(-\\infty,3)", "x<3", "T"), ("(-\\infty,3)", "3>x", "T"),
        ("(-\\infty,3)", r"x\le 3", "F"), ("(-\\infty,3)", "(-\\infty,3]", "F"),
        ("(-\\infty,3)", "x>3", "F"), ("(2,7.5)", "2 < x < 7.5", "T"),
        ("(2,7.5)", r"2\le x<7.5", "F"), ("(2,7.5)", "7.5>x>2", "T"), ("[2,7]", "(2,7)", "F"),
        ("[2,7]", r"2\leq x\leq 7", "T"), ("[2,7)", "[2,7]", "F"), ("(2,7]", "2<x<=7", "T"),
        (r"x\geq 5", "x>=5", "T"), (r"x\geq 5", "[5,∞)", "TN"), (r"x\geq 5", "(5,\\infty)", "F"),
        (r"x\geq 5", "x>5", "F"), (r"x\geq 5", "5", "FN"),
        (r"(-\infty,2)\cup(2,\infty)", r"x\ne 2", "TN"),
        (r"(-\infty,2)\cup(2,\infty)", "all real numbers except 2", "TN"),
        (r"(-\infty,2)\cup(2,\infty)", r"\mathbb{R}\setminus\{2\}", "TN"),
        (r"(-\infty,2)\cup(2,\infty)", "all real numbers except 3", "FN"),
        (r"(-\infty,2)\cup(2,\infty)", "all real numbers", "FN"),
        (r"(-\infty,2)\cup(2,\infty)", r"(-\infty,\infty)", "F"),
        (r"(-\infty,2)\cup(2,\infty)", r"(2,\infty)", "F"),
        (r"(-\infty,1)\cup(1,3)\cup(3,\infty)", "all real numbers except 3 and 1", "T"),
        (r"[0,2)", r"[0,1]\cup(1,2)", "T"), (r"[0,2)", r"[0,1)\cup(1,2)", "F"),
        (r"[0,2)", r"(1,2)\cup[0,1]", "T"), (r"(0,3]", r"(0,2)\cup[1,3]", "T"),
        (r"[0,3)", r"[0,\sqrt{2})\cup[2^{1/2},3)", "T"),
        (r"[0,3)", r"[0,\sqrt{2})\cup(2^{1/2},3)", "F"), (r"(a,b)\cup(c,d)", r"(a,d)", "N"),
        (r"(-\infty,1)\cup(3,\infty)", "x<1 or x>3", "TN"),
        (r"(-\infty,1)\cup(3,\infty)", "x>3 or x<1", "TN"),
        (r"(-\infty,1)\cup(3,\infty)", "1<x<3", "FN"), (r"\mathbb{R}", "(-\\infty,\\infty)", "TN"),
        (r"\mathbb{R}", "all real numbers", "TN"), ("x>2", "2x>4", "TN"), ("x>2", "y>2", "NTF"),
        ("[0,1]", "[0,1]", "T"), ("(0,1)", r"x\in(0,1)", "TN"), ("(0,1)", "]0,1[", "TN"),
        ("(0,1)", "(0,2)", "F"), ("[1,\\infty)", r"[1,+\infty)", "T"),
        (r"\left(-\infty,-1\right]", r"x\leq-1", "T"), ("(1,3)", "1<x<3", "T"),
        (r"-1<x<1", r"|x|<1", "NT"), ("x^2+y^2<1", "y^2+x^2<1", "TN"),
        ("(3, \\infty)", r"\left(3,+\infty\right)", "T"),
        ("(3, \\infty)", r"\left[3,\infty\right)", "F"),
        (r"\left(2,\frac{\pi}{4}\right)", r"(2,\frac{\pi}{4})", "T"),
        (r"\left(2,\frac{\pi}{4}\right)", r"(2,\frac{\pi}{3})", "F"),
        (r"\left\{1,2\right\}", r"\{1,2\}", "T"), (r"\left[0,1\right)", "[0,1)", "T"),
        (r"\big(1,2\big)", "(1,2)", "T"), (r"\min(a,b)", r"\min(a,b)", "T"), ("18", "18 m", "TN"),
        ("18", "18 cm", "TN"), ("18", r"18\text{ cm}^2", "TN"), ("18", "18 inches", "TN"),
        ("18", "19 ft", "FN"), ("18 ft", "18", "TN"), ("18 ft", "18 m", "FN"),
        ("1 ft", "12 in", "TN"), ("18", r"18\ \mathrm{kg}", "TN"), ("3", "3m", "NTF"),
        ("3m", "3", "NF"), ("m", "3m", "F"), (r"18\text{ square units}", "18", "TN"),
    )  # fmt: skip


def test_mixed_numbers_and_algebra() -> None:
    check_table(
        ("2.75", r"2\frac{3}{4}", "T"), ("1.5", r"2\frac{3}{4}", "F"),
        (r"\frac{11}{4}", "2 3/4", "T"), (r"\frac{11}{4}", r"2\tfrac34", "T"), ("2", "2 3/4", "F"),
        (r"\frac{3}{2}", "2 3/4", "F"), ("-3.5", r"-3\frac{1}{2}", "T"),
        ("-2.5", r"-3\frac{1}{2}", "F"), ("3.5", r"-3\frac{1}{2}", "F"),
        (r"\frac{23}{4}", "2 3/4", "F"), (r"7\frac12", "7.5", "T"),
        (r"7\frac12", r"\frac{15}{2}", "T"), (r"7\frac12", r"\frac72", "F"),
        (r"7\frac12", "3.5", "F"), (r"2 \frac{3}{4}", r"2\frac{3}{4}", "T"),
        (r"\frac{53}{7}", "5 3/7", "F"), ("53/7", "5 3/7", "F"),
        (r"3\frac{1}{4} \text{ hours}", "3.25", "TN"), (r"3\frac{5}{2}", "7.5", "NTF"),
        ("x^2-1", "(x-1)(x+1)", "T"), ("x^2-1", "(x-1)^2", "F"), ("x^2-1", "x^2+1", "F"),
        ("720", "6!", "T"), ("720", "5!", "F"), ("k3^{k}", r"k\cdot 3^k", "T"),
        ("k3^{k}", r"(3k)^k", "F"), (r"\frac{x+2}{6}", r"\frac{x}{6}+\frac{1}{3}", "T"),
        (r"\frac{x+2}{6}", r"\frac{x}{6}+2", "F"), (r"\tan^2 t+1", r"\sec^2 t", "TN"),
        (r"\tan^2 t+1", r"\csc^2 t", "F"), (r"\sin 2a", r"2\sin a\cos a", "TN"),
        (r"\cos^2 x - \sin^2 x", r"\cos 2x", "TN"), (r"\binom{n}{2}", r"\frac{n(n-1)}{2}", "T"),
        (r"\binom{n}{2}", r"\frac{n(n+1)}{2}", "F"), (r"\frac{n!}{(n-2)!}", "n(n-1)", "T"),
        ("ab", "ba", "T"), ("a-b", "b-a", "F"), ("a+b", "a+c", "NF"), ("xyz", "zyx", "T"),
        ("e^{x+1}", "e\\cdot e^x", "T"), (r"\frac{1}{x-1}-\frac{1}{x+1}", r"\frac{2}{x^2-1}", "T"),
        ("2^{n+1}-2", "2(2^n-1)", "T"), ("(-1)^n", r"\cos(n\pi)", "TN"), ("X", "x", "FN"),
        ("x_1+x_2", "x_2+x_1", "T"), (r"\lambda^2", r"\lambda\cdot\lambda", "T"),
        ("1+2i", "2i+1", "T"), ("1+2i", "1-2i", "F"), ("(1+i)^2", "2i", "T"),
        (r"\frac{a}{b}", "a/b", "T"), (r"\frac{a}{bc}", "a/bc", "NT"), (r"|x-1|", "|1-x|", "T"),
        (r"\begin{pmatrix}3\\4\end{pmatrix}", r"\begin{bmatrix}3\\4\\\end{bmatrix}", "TN"),
        (r"\begin{pmatrix}3\\4\end{pmatrix}", r"\begin{pmatrix}4\\3\end{pmatrix}", "FN"),
        (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
         r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \\ \end{bmatrix}", "TN"),
        (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{pmatrix}1&3\\2&4\end{pmatrix}", "F"),
        (r"\begin{pmatrix}1&2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}", "FN"),
        (r"\begin{pmatrix}3\\4\end{pmatrix}", "(3,4)", "TN"),
        (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{pmatrix}1&2\cr 3&4\end{pmatrix}", "T"),
        (r"\int_0^1 x\,dx", r"\int_0^1 x\,dx", "T"), (r"\sum_{k=1}^{3} k", "6", "TN"),
        (r"\sum_{k=1}^{3} k", "7", "FN"),
    )  # fmt: skip


def test_unicode_infinity_and_abstention() -> None:
    check_table(
        ("-15", "−15", "T"), ("-15", "–15", "T"), ("-15", "—15", "T"), ("-15", "﹣15", "T"),
        ("-15", "－15", "T"), ("15", "−15", "F"), ("-15", "15", "F"), ("3-x", "3−x", "T"),
        ("-15", "‑15", "T"), ("-15", "- 15", "T"), ("81", "3⁴", "TN"), ("64", "3⁴", "F"),
        ("34", "3⁴", "F"), ("0.001", "10⁻³", "TN"), ("x_2", "x₂", "TN"),
        ("1024", "１０２４", "TN"), ("42", "٤٢", "TN"), ("42", "४२", "TN"), ("7", "⑦", "NT"),
        ("5/6", "⅚", "TN"), ("56", "⅚", "F"), ("42", "\u200b42\u200b", "T"),
        ("42", "4\u200b2", "T"), ("42", "\ufeff42", "T"), ("42", "4\u20602", "T"),
        ("42", "4 2", "FN"), ("42", "42\u00a0", "T"), ("3\\times 4", "12", "T"),
        ("12", "3×4", "T"), ("12", "3·4", "T"), ("-\\infty", "\\infty", "F"),
        ("\\infty", "+\\infty", "T"), ("\\infty", "∞", "T"), ("\\infty", "infinity", "T"),
        ("\\infty", "-\\infty", "F"), ("\\infty", r"\text{does not exist}", "NTF"),
        ("\\infty", "10^{100}", "FN"), ("5", "\\infty", "FN"), ("nan", "nan", "N"),
        ("5", "nan", "NF"), ("nan", "5", "NF"), ("\\infty", r"\text{DNE}", "NTF"),
        ("5", "inf", "FN"), ("12", "十二", "TN"), ("21", "二十一", "TN"),
        ("105", "一百零五", "TN"), ("12", "十三", "FN"), ("0", "", "N"), ("0", "  ", "N"),
        ("0", "N/A", "N"), ("0", "I don't know", "N"), ("0", "cannot be determined", "N"),
        ("0", "none", "N"), ("0", "?", "N"), ("0", "...", "N"), ("0", "unknown", "N"),
        ("0", "null", "N"), ("0", "-", "N"), ("0", "$$", "N"), ("0", r"\boxed{}", "N"),
        ("", "5", "N"), ("", "", "N"), ("no solution", "no solution", "T"),
        ("no solution", "There is no solution.", "TN"), ("no solution", "无解", "TN"),
        ("no solution", "0", "FN"), ("0", "no solution", "NF"),
        ("\\text{no solutions}", "no solution", "TN"),
    )  # fmt: skip
