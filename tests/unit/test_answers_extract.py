"""Extraction of final answers from raw outputs: variants of every kind of hard case."""

import pytest

from dhd.answers import compare_answers, extract_answer
from dhd.problems import AnswerFormat, Problem

NUMBERS = ("48", "52", "61", "75")
STATEMENTS = ("mass is conserved", "charge is lost", "entropy rises", "heat flows out")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"So the set is $\boxed{\{2,3,5\}}$.", r"\{2,3,5\}"),
        (r"Hence \boxed{\frac{a}{b+\frac{1}{2}}}", r"\frac{a}{b+\frac{1}{2}}"),
        (r"\boxed{\text{if } x\in\{1,2\}}", r"\text{if } x\in\{1,2\}"), (r"\fbox{12}", "12"),
        (r"\boxed {12}", "12"), ("\\boxed\n{12}", "12"), (r"\boxed{ 12 }", "12"),
        (r"\boxed 7", "7"), (r"\boxed{\boxed{4}}", r"4"), (r"\boxed{3}, no wait, \boxed{4}", "4"),
        (r"First \boxed{3}. Then \boxed{5}. Finally \boxed{3}.", "3"),
        (r"\boxed{57} again \boxed{57}", "57"),
        ("So \\boxed{57}.\n\n**Final Answer**\n\\boxed{57}", "57"),
        ("**Final Answer:** \\boxed{57}", "57"), ("Final answer: $\\boxed{57}$", "57"),
        (r"I put it in \boxed{}. We get \boxed{19}", "19"),
        (r"\boxed{19} as asked in \boxed{}", "19"),
        (r"\boxed{19}. (Format: \boxed{your answer})", "19"),
        (r"\boxed{...} then \boxed{19}", "19"), (r"\boxed{19} and \boxed{\text{answer}}", "19"),
        (r"Use \boxed{\ldots}. \boxed{8}", "8"), (r"\boxed{ANSWER} \boxed{8}", "8"),
        (r"Put the final answer in \boxed{}.", None), (r"Write \boxed{your answer here}", None),
        (r"\boxed{...}", None), ("", None), ("   \n", None), ("I do not know how to start.", None),
        ("We need more thought about this problem and its parity.", None),
        ("Answer: 5\nMore\nAnswer: 11", "11"), ("Final answer: 7", "7"), ("**Answer:** 7", "7"),
        ("**Answer**: 7", "7"), ("The final answer is 7.", "7"), ("The answer is $x=7$.", "$x=7$"),
        ("ANSWER: 7", "7"), ("answer : 7", "7"), ("# Final Answer\n\n7", "7"),
        ("Final Answer\n7", "7"), ("Answer:\n\n7", "7"), ("Answer: 7. I hope it is correct.", "7"),
        ("The final answer is 7. I hope it is correct.", "7"), ("Answer: 3.14", "3.14"),
        ("Antwort: 7", "7"), ("Réponse : 7", "7"), ("答案：7", "7"), ("Ответ: 7", "7"),
        ("The answer is: 7", "7"), ("<answer>7</answer>", "7"), ("Ans: 7", "7"),
        ("Final answer: -7/2", "-7/2"), ("Answer: [your answer]\n\nAnswer: 9", "9"),
        ("Answer: 9\nAnswer: <answer>", "9"), ("#### 72", "72"), ("work\n#### 72", "72"),
        ("#### 72\n\nQuestion: what is 2+2?\nAnswer: #### 4", "72"),
        ("Answer: 72\n\nQuestion: what is 2+2?\nAnswer: 4", "72"),
        ("\\boxed{72}\n\nProblem 2: two\n\\boxed{4}", "72"),
        ("Question: how many?\nAnswer: 72", "72"),
        ("\\boxed{72}\nHuman: and then?\n\\boxed{3}", "72"), ("Answer: 5\nWait, \\boxed{6}", "6"),
        ("\\boxed{5}. Hold on.\nAnswer: 6", "6"),
        ("\\boxed{5}\n\nAnswer: see the box above for the value", "5"), ("42", "42"),
        ("$\\frac{1}{2}$", "$\\frac{1}{2}$"), ("So the total is 318, altogether.", "318"),
        ("Hence it equals 1,318.", "1,318"), ("There are 3 of 5.", None),
        ("Perhaps it is 5.", None),
    ],
)  # fmt: skip
def test_math_outputs(text: str, answer: str | None) -> None:
    got = extract_answer(text, answer_format="math")
    assert (
        got is None
        if answer is None
        else got is not None and got.strip() in (answer, rf"\boxed{{{answer}}}")
    )


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"<think>\boxed{8}? no</think>The answer is \boxed{9}.", "9"),
        (r"<think>\boxed{8}</think>", None), (r"<think>so \boxed{8} unless", None),
        (r"thinking \boxed{8}</think>\boxed{9}", "9"), (r"thinking \boxed{8}</think>", None),
        (r"<thinking>\boxed{8}</thinking>\boxed{9}", "9"),
        (r"<reasoning>\boxed{8}</reasoning>Answer: 9", "9"),
        ("[THINK]\\boxed{8}[/THINK]\\boxed{9}", "9"),
        (r"<think>a</think>\boxed{9}<think>\boxed{8}</think>", "9"),
        (r"<think>a</think>\boxed{9}<think>\boxed{8}", "9"),
        (r"<THINK>\boxed{8}</THINK>\boxed{9}", "9"),
        (r"<|channel|>analysis<|message|>\boxed{8}<|end|><|start|>assistant<|channel|>final<|message|>\boxed{9}<|return|>",
         "9"),
        (r"<|channel|>analysis<|message|>\boxed{8}<|end|>", None),
        (r"<|channel|>analysis<|message|>\boxed{8}", None),
        (r"<|channel|>commentary<|message|>\boxed{8}<|end|><|channel|>final<|message|>Answer: 9",
         "9"),
        (r"analysisWe try \boxed{8}.assistantfinal\boxed{9}", "9"),
        (r"analysisWe try \boxed{8}", None),
        ("<|channel>thought\n\\boxed{8}<channel|>\\boxed{9}", "9"),
        ("<|channel>thought\n\\boxed{8}", None), (r"\boxed{9}<|im_end|>", "9"),
        (r"\boxed{9}</s>", "9"), ("analysis of cases gives \\boxed{9}", "9"),
    ],
)  # fmt: skip
def test_reasoning_is_no_answer(text: str, answer: str | None) -> None:
    assert extract_answer(text, answer_format="math") == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"so \boxed{\frac{3}{", None), (r"so \boxed{12", None),
        (r"\boxed{5} hmm, rather \boxed{1", None), (r"\boxed{5}. Let me check that", "5"),
        ("Answer: 12", None), ("Answer: 12\nCheck: 3", "12"),
        ("The answer is 12. Let me verify by", "12"), ("The answer is 12", None),
        ("so x = 12", None), ("12", None), ('{"final_answer": "12', None),
        ('{"reasoning": "long', None), ('{"final_answer": "12"} and', "12"), ("#### 12", None),
        ("#### 12\n", None), ("<think>\\boxed{5} but", None), (r"\boxed", None),
        (r"\boxed{\{1,2\}", None), ("Final Answer\n", None),
    ],
)  # fmt: skip
def test_truncated_outputs(text: str, answer: str | None) -> None:
    assert extract_answer(text, answer_format="math", finish_reason="length") == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"final_answer": "12"}', "12"), ('{"answer": 12}', "12"),
        ('{"proposed_answer": "x+1", "confidence": "high"}', "x+1"),
        ('{"final_answer": 1.5}', "1.5"), ('{"final_answer": ["A", "C"]}', "A, C"),
        ('{"final_answer": null}', None), ('{"final_answer": ""}', None),
        ('{"final_answer": "  "}', None), ('{"final_answer": true}', "true"),
        ('```json\n{"final_answer": "12"}\n```', "12"),
        ('Sure:\n```json\n{"answer": "12"}\n```\nBye', "12"),
        ('Here {"final_answer": "12"} it is', "12"),
        ('{"reasoning": "see \\\\boxed{5}", "final_answer": "12"}', "12"),
        ('{"final_answer": "12", "answer": "13"}', "12"),
        ('{"answer": "1"}\n{"answer": "2"}', "1"),
        (r'{"final_answer": "\\frac{1}{2}"}', r"\frac{1}{2}"),
        (r'{"final_answer": "\frac{1}{2}"}', r"\frac{1}{2}"),
        (r'{"final_answer": "\boxed{5}"}', r"\boxed{5}"),
        (r'{"final_answer": "\theta"}', r"\theta"), (r'{"final_answer": "2\pi"}', r"2\pi"),
        (r'{"final_answer": "a\nb"}', "a\nb"), (r'{"final_answer": "\u0031"}', "1"),
        ('{"other": 1} \\boxed{3}', "3"), ("{\\{1,2\\}} \\boxed{3}", "3"),
    ],
)  # fmt: skip
def test_structured_outputs(text: str, answer: str | None) -> None:
    assert extract_answer(text, answer_format="math") == answer


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Answer: **C**", "C"), ("**Answer: C**", "C"), ("ANSWER: C", "C"), ("Answer: (C)", "C"),
        ("Answer: C) 61", "C"), ("Answer: C.", "C"), ("The answer is C.", "C"),
        ("The answer is (C).", "C"), ("The correct answer is **C**.", "C"),
        ("The answer is C, since the sum is 61.", "C"), ("The answer is C because it fits.", "C"),
        ("It must be C because 48 is too low.", "C"), ("It must be (C).", "C"),
        ("I choose C.", "C"), ("I would go with C.", "C"), ("So the correct option is C.", "C"),
        ("Therefore option C is correct.", "C"), ("(C) is the correct answer.", "C"),
        ("At first (A) seemed right, but final choice: C.", "C"), ("Final answer: C", "C"),
        ("C", "C"), ("(C)", "C"), ("C.", "C"), ("$\\boxed{C}$", "C"), ("\\boxed{\\text{C}}", "C"),
        ("\\boxed{(C)}", "C"), ("\\boxed{61}", "C"), ("Answer: 61", "C"), ("Option C", "C"),
        ("The answer: option C", "C"), ("Correct option: C", "C"), ("故选 C", "C"),
        ("故选C。", "C"), ("故选：C", "C"), ("答案：C", "C"), ("答案是C", "C"),
        ("答案为（C）", "C"), ("正确答案是 C。", "C"), ("因此选择C", "C"), ("选C", "C"),
        ("Antwort: C", "C"), ("Antwort:\n\nAntwort: C", "C"), ("Réponse : C", "C"),
        ("Respuesta: C", "C"), ("Ответ: C", "C"), ("答え：C", "C"), ("정답: C", "C"),
        ("ANSWER: [LETTER]\n\nANSWER: C", "C"), ("Answer: $LETTER\nAnswer: C", "C"),
        ("Answer: <letter>\n\nAnswer: C", "C"),
        ("Answer: X\nwhere X is a letter.\nAnswer: C", "C"),
        ("Answer: A\nWait, sign error.\nAnswer: C", "C"),
        ("The answer is A. No wait, the answer is C.", "C"),
        ("\\boxed{A} Hmm, no: \\boxed{C}", "C"),
        ("\\boxed{A}\nHold on, I misread.\nAnswer: C", "C"),
        ("Answer: A\nActually \\boxed{C}", "C"), ("\\boxed{E = mc^2} so\n**Answer: C**", "C"),
        ("\\boxed{x > 0}\nThe answer is C.", "C"), ("<think>Answer: A</think>Answer: C", "C"),
        ('{"final_answer": "C"}', "C"), ('{"answer": "(C) 61"}', "C"), ("ANSWER: Dunno", None),
        ("Answer: Let us go through the options.", None), ("ANSWER: Cannot be determined", None),
        ("Answer: Both", None), ("Answer: Clearly hard.", None), ("Answer: Depends", None),
        ("A or C", None), ("ANSWER: AC", None), ("Answer: A and C", None),
        ("Answer: A or C", None), ("Answer: B/C", None), ("Consider a case.", None),
        ("A careful look is needed here, Bob.", None), ("It cannot be C.", None), ("Not C.", None),
        ("", None), ("I", None), ("Answer: F", None), ("Answer:", None),
        ("A current of 5 A flows. Done.", None), ("Answer: A current flows", None),
    ],
)  # fmt: skip
def test_choice_outputs(text: str, letter: str | None) -> None:
    answer = extract_answer(text, answer_format="choice", options=NUMBERS)
    outcomes = []
    for reference in "ABCD":
        problem = Problem("p", "own", "", reference, "choice", NUMBERS)
        outcomes.append(None if answer is None else compare_answers(problem, answer).equivalent)
    assert outcomes == (
        [None] * 4 if letter is None else [reference == letter for reference in "ABCD"]
    )


@pytest.mark.parametrize(
    "text",
    [
        "The correct choice is (", "The answer is C", "Answer: C", r"\boxed{C", "So I choose",
        "Answer: (C", "It must be C",
    ],
)  # fmt: skip
def test_truncated_choice_outputs(text: str) -> None:
    assert (
        extract_answer(text, answer_format="choice", options=NUMBERS, finish_reason="length")
        is None
    )


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [
        ("Answer: A, C and D", [True]), ("Answer: ACD", [True]), (r"\boxed{A, C, D}", [True]),
        (r"\boxed{ACD}", [True]), ("The correct options are A, C and D.", [True, None]),
        ("Answer: AC", [False]), ("ANSWER: (A), (C), (D)", [True]),
        ("Not B; only A, C and D.", [True, None]), ("A, C, D", [True]), ("答案：ACD", [True]),
        ("Answer: A, C or D", [None, False]), ("Answer: A\nAnswer: ACD", [True]),
        ("故选 ACD", [True, None]),
        ("A is right. B is wrong. C is right. D is right.", [True, None]),
        ("It must be A because mass is conserved.", [False, None]),
    ],
)  # fmt: skip
def test_option_set_outputs(text: str, outcomes: list[bool | None]) -> None:
    answer = extract_answer(text, answer_format="multi_choice", options=STATEMENTS)
    problem = Problem("p", "own", "", "ACD", "multi_choice", STATEMENTS)
    got = None if answer is None else compare_answers(problem, answer).equivalent
    assert got in outcomes


@pytest.mark.parametrize(
    ("answer_format", "text", "answer"),
    [
        ("integer", r"\boxed{\$7{,}250}", r"\$7{,}250"), ("integer", "Final Answer: 27", "27"),
        ("integer", "Final Answer: **27**", "27"),
        ("numeric", r"\boxed{\nu = 6 \times 10^{13} \text{ Hz}}",
         r"\nu = 6 \times 10^{13} \text{ Hz}"),
        ("numeric", "Answer: 3.5 m/s", "3.5 m/s"),
        ("numeric", "The answer is approximately 3.5.", "approximately 3.5"),
        ("text", "Answer: graphite", "graphite"), ("text", "graphite", "graphite"),
        ("text", r"\boxed{\text{no solution}}", r"\text{no solution}"),
        ("matching", "Answer: P-2, Q-3, R-1, S-4", "P-2, Q-3, R-1, S-4"),
        ("matching", r"\boxed{A}", "A"),
    ],
)  # fmt: skip
def test_other_formats(answer_format: AnswerFormat, text: str, answer: str) -> None:
    assert extract_answer(text, answer_format=answer_format) == answer
