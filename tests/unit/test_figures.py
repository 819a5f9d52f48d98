"""Figures of any number of models and benchmarks, in three formats, the same bytes again."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from dhd.analysis.settings import AnalysisSettings
from dhd.cli import main
from dhd.errors import RecordsError
from dhd.figures.render import FIGURES, FORMATS, render_figure, write_figures
from dhd.figures.style import RC, SMALL_PT, short
from dhd.report.labels import Labels

SETTINGS = AnalysisSettings()
CATEGORIES = ("wrong_helpful", "wrong_harmful", "correct_helpful", "correct_harmful")


def figure_tables(models: int, benchmarks: int) -> dict[str, pd.DataFrame]:
    """Return the frames of all figures, with long and hostile names among the models."""
    rng = np.random.default_rng(models * 100 + benchmarks)
    names = ["A-very-long-model-name-480B-Instruct-FP8", "$x_1$ <b>", "oss", "m4"][:models]
    tasks = [f"exam_with_a_long_name_{i}" if i % 3 else f"b{i}" for i in range(benchmarks)]
    cells = [(m, b) for m in names for b in tasks]
    share = rng.uniform(0, 100, len(names) * 2)
    table_04 = pd.DataFrame(
        {
            "model": np.repeat(names, 2),
            "proposed_answer": ["wrong", "correct"] * len(names),
            "flip_rate_pct": rng.uniform(0, 20, len(share)),
            "helpful_share_pct": share,
            "helpful_n": rng.integers(1, 3000, len(share)),
            "harmful_share_pct": 100 - share,
            "harmful_n": rng.integers(1, 3000, len(share)),
        }
    )
    pairs = pd.DataFrame(cells, columns=["model", "benchmark"])
    rates = {f"{c}_pct": rng.uniform(0, 8, 4 * len(cells)) for c in CATEGORIES}
    return {
        "figure_04": table_04,
        "figure_06": pairs.assign(
            k0_accuracy_pct=rng.uniform(20, 100, len(cells)),
            k5_accuracy_pct=rng.uniform(20, 100, len(cells)),
            candidate_available_pct=rng.uniform(20, 100, len(cells)),
        ),
        "figure_07": pd.concat(
            [
                pairs.assign(
                    panel=panel,
                    share_of_flips_pct=rng.uniform(0, 100, len(cells)),
                    flip_rate_pct=rng.uniform(0, 30, len(cells)),
                    flips_n=rng.integers(1, 9000, len(cells)),
                )
                for panel in ("wrong_helpful", "correct_harmful")
            ],
            ignore_index=True,
        ),
        "figure_08": pairs.loc[pairs.index.repeat(4)].assign(k=[2, 3, 4, 5] * len(cells), **rates),
        "figure_09": pd.DataFrame(
            {
                "evaluator_a": ["gpt-oss-120b"],
                "evaluator_b": ["Meta-Llama-3.1-70B-Instruct"],
                "submissions_n": [100],
                "agreement_pct": [94.2],
                "kappa": [0.85],
            }
        ),
    }


def _drawn(name: str, frame: pd.DataFrame) -> Figure:
    with mpl.rc_context(RC):
        figure = FIGURES[name].draw(frame, Labels(SETTINGS))
        figure.draw_without_rendering()
    return figure


def _texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_visible()]


@pytest.mark.parametrize(
    ("models", "benchmarks"),
    [
        (1, 1),
        pytest.param(2, 5, marks=pytest.mark.slow),
        pytest.param(4, 8, marks=pytest.mark.slow),
    ],
)
def test_all_figures_in_all_formats(tmp_path: Path, models: int, benchmarks: int) -> None:
    paths, absent = write_figures(figure_tables(models, benchmarks), SETTINGS, tmp_path)
    assert absent == []
    names = {f"{name}.{suffix}" for name in FIGURES for suffix in (*FORMATS, "txt")}
    assert {path.name for path in paths} == names
    starts = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}
    for path in paths:
        start = starts.get(path.suffix[1:], b"Figure ")
        assert path.read_bytes().startswith(start)
        assert path.suffix != ".pdf" or b"/FontFile2" in path.read_bytes()


def test_bytes_are_the_same_again() -> None:
    frame = figure_tables(1, 1)["figure_07"]
    first = render_figure("figure_07", frame, SETTINGS)
    assert render_figure("figure_07", frame, SETTINGS) == first
    assert b"CreationDate" not in first["figure_07.pdf"]


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize(
    ("models", "benchmarks"), [(1, 1), pytest.param(4, 8, marks=pytest.mark.slow)]
)
def test_text_is_legible_and_inside_the_figure(name: str, models: int, benchmarks: int) -> None:
    figure = _drawn(name, figure_tables(models, benchmarks)[name])
    renderer = FigureCanvasAgg(figure).get_renderer()
    page = figure.bbox
    for text in figure.findobj(Text):
        if not text.get_text().strip() or not text.get_visible():
            continue
        assert text.get_fontsize() >= SMALL_PT
        box = text.get_window_extent(renderer)
        inside = box.x0 > -1 and box.y0 > -1 and box.x1 < page.x1 + 1 and box.y1 < page.y1 + 1
        assert inside, text.get_text()
    assert figure.get_figwidth() in (3.3, 7.0) or name == "figure_08"
    assert figure.get_figheight() < 9.5


def test_values_stand_in_the_figure(project_root: Path) -> None:
    frame = pd.read_csv(project_root / "resources" / "published" / "figure_04.csv")
    texts = _texts(_drawn("figure_04", frame))
    # Figure 4 of the paper, row "OSS, wrong answer".
    for expected in ("58.1%\nn=2,251", "41.9%\nn=1,623", "Wrong answer\nflip rate 15.0%"):
        assert expected in texts


def test_missing_values_are_drawn_and_named_as_missing() -> None:
    tables: Mapping[str, pd.DataFrame] = figure_tables(2, 2)
    flips, heat, dots = (tables[f"figure_0{i}"].copy() for i in (4, 7, 6))
    flips.loc[0, ["helpful_share_pct", "harmful_share_pct"]] = np.nan
    assert "no flips" in _texts(_drawn("figure_04", flips))
    flips.loc[0, "flip_rate_pct"] = np.nan
    texts = _texts(_drawn("figure_04", flips))
    answer = str(flips.loc[0, "proposed_answer"]).capitalize()
    assert f"{answer} answer\nno messages" in texts
    heat.loc[0, "share_of_flips_pct"] = np.nan
    texts = _texts(_drawn("figure_07", heat.drop(index=len(heat) - 1)))
    assert "no flips" in texts
    assert "no data" in texts
    dots.loc[0, "k0_accuracy_pct"] = np.nan
    assert "no data: Independent K=0" in _texts(_drawn("figure_06", dots))
    caption = render_figure("figure_06", dots, SETTINGS)["figure_06.txt"].decode()
    assert "Not determined, shown as missing: A-very-long-model-name" in caption
    lacking = dots.drop(index=3)
    assert "no data" in _texts(_drawn("figure_06", lacking))
    caption = render_figure("figure_06", lacking, SETTINGS)["figure_06.txt"].decode()
    assert "; $x_1$ <b> / exam_with_a_long_name_1." in caption


def test_a_dollar_sign_is_no_formula() -> None:
    frame = figure_tables(2, 1)["figure_04"]
    assert any("$x_1$ <b>" in text for text in _texts(_drawn("figure_04", frame)))


@pytest.mark.parametrize(
    ("name", "width", "lines", "expected"),
    [
        ("Omni-MATH-2", 16, 1, "Omni-MATH-2"),
        ("my_private_exam", 11, 2, "my_private_\nexam"),
        ("abcdefghijkl", 6, 1, "abcde…"),
    ],
)
def test_names_are_broken_or_cut(name: str, width: int, lines: int, expected: str) -> None:
    assert short(name, width, lines) == expected


def test_lacking_column_is_named() -> None:
    frame = figure_tables(1, 1)["figure_09"].drop(columns="kappa")
    with pytest.raises(RecordsError, match="figure_09: lacks the column kappa"):
        render_figure("figure_09", frame, SETTINGS)


def test_command_draws_what_the_tables_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables, out = tmp_path / "tables", tmp_path / "figures"
    tables.mkdir()
    figure_tables(1, 1)["figure_09"].to_csv(tables / "figure_09.csv", index=False)
    out.mkdir()
    (out / "figure_04.png").write_bytes(b"of an earlier run")
    assert main(["figures", "--tables", str(tables), "--out", str(out)]) == 0
    assert "absent: figure_04" in capsys.readouterr().out
    assert {p.name for p in out.iterdir()} == {
        f"figure_09.{s}" for s in ("pdf", "svg", "png", "txt")
    }


def test_command_needs_one_source(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["figures", "--out", str(tmp_path)])
