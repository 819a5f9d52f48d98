"""Final text against reasoning: think tags, Harmony channels, and markers that are only quoted."""

from __future__ import annotations

import pytest

from dhd.parsing import final_text

ANALYSIS = "<|channel|>analysis<|message|>"
FINAL = "<|channel|>final<|message|>"
NEXT = "<|end|><|start|>assistant"


@pytest.mark.parametrize(
    ("text", "final"),
    [
        ("plain", "plain"),
        (" plain \n", "plain"),
        ("", None),
        (" \n", None),
        (None, None),
        ("a < b and <|x|> c", "a < b and <|x|> c"),
        # think tags
        ("<think>16</think>17", "17"),
        ("<think>16</think>\n\n17\n", "17"),
        ("<THINK>16</THINK>17", "17"),
        ("<think>16</think><think>15</think>17", "17"),
        ("<thinking>16</thinking>17", "17"),
        ("<seed:think>16</seed:think>17", "17"),
        ("[THINK]16[/THINK]17", "17"),
        ("<|channel>thought\n16<channel|>17<turn|>", "17"),
        ("16, no.</think>17", "17"),
        ("<think>16", None),
        ("<think>16</think>", None),
        ("<think>16</think>\n", None),
        ("Sure.\n<think>16", None),
        ("<think>16</think>17\n<think>18", None),
        ("The tag <think> opens reasoning", "The tag <think> opens reasoning"),
        ('{"a": "use <think> and </think>"}', '{"a": "use <think> and </think>"}'),
        # Harmony
        (f"{FINAL}17<|return|>", "17"),
        (f"{FINAL}17", "17"),
        (f"{ANALYSIS}16{NEXT}{FINAL}17<|return|>", "17"),
        (f"<|start|>assistant{ANALYSIS}16{NEXT}{FINAL}17<|end|>", "17"),
        (f"{ANALYSIS}16<|end|>{FINAL}17", "17"),
        (f"{ANALYSIS}16{FINAL}17", "17"),
        (f"{ANALYSIS}16{NEXT}<|channel|>commentary<|message|>15{NEXT}{FINAL}17", "17"),
        ("<|channel|>final <|constrain|>json<|message|>{}<|return|>", "{}"),
        ("<|channel|>final json<|message|>{}", "{}"),
        (f"{FINAL}16{NEXT}{FINAL}17<|return|>", "17"),
        (f"{FINAL}17{NEXT}{ANALYSIS}18", "17"),
        (f"16 is a guess{NEXT}{FINAL}17", "17"),
        (f"analysis<|message|>16{NEXT}{FINAL}17", "17"),
        ("17<|return|>", "17"),
        ("17<|im_end|>\n</s>", "17"),
        (f"{ANALYSIS}16", None),
        (f"{ANALYSIS}16<|end|>", None),
        ("<|channel|>commentary<|message|>17<|end|>", None),
        ("<|channel|>commentary to=functions.f<|message|>{}<|call|>", None),
        (f"<|channel|>final{ANALYSIS}17", None),
        ("<|channel|>final<|message|>", None),
        ("<|channel|>final", None),
        (f"<|channel|>analysis{FINAL}17", None),
        ("<|start|>assistant<|message|>17<|return|>", None),
        (f"<|channel|>fin al<|message|>16{NEXT}{FINAL}17", "17"),
        # Harmony without its special tokens
        ("analysisTry 16.assistantfinal17", "17"),
        ("analysisWe need 16assistantcommentary15assistantfinal17", "17"),
        ("analysiswe need 16", None),
        ("commentary{}", None),
        ("assistantanalysis16assistantfinal17", "17"),
        ("assistantfinal17", "17"),
        ('final{"a": 1}', '{"a": 1}'),
        ("analysis of the sum: 17", "analysis of the sum: 17"),
        ("analysis: 17", "analysis: 17"),
        ("finally 17", "finally 17"),
        ("final answer: 17", "final answer: 17"),
        # markers that a final text quotes
        (f"17, not `{FINAL}18`", f"17, not `{FINAL}18`"),
        ("17, not assistantfinal18", "17, not assistantfinal18"),
        (f'{FINAL}17, it says "{FINAL}18"', '17, it says "'),
        ('analysis16.assistantfinal17 for "assistantfinal18"', '17 for "assistantfinal18"'),
    ],
)
def test_final_text(text: str | None, final: str | None) -> None:
    assert final_text(text) == final


def test_final_text_is_stable() -> None:
    once = final_text(f"{ANALYSIS}16{NEXT}{FINAL}The sum is 17.<|return|>")
    assert final_text(once) == once
