"""``dhd tables`` from records to files."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from dhd.cli import main
from dhd.report.options import load_options

FAST = """
analysis:
  bootstrap_resamples: 50
  permutation_draws: 20
  crossfit_null_draws: 20
  model_names: {oss: "First & best"}
"""
RULES = "judging: {method: rules}\n"
HOT = "{temperature: 1, max_tokens: 9}"


@pytest.fixture(scope="module")
def records(shared_dir: Path) -> Path:
    return shared_dir / "records_small"


def _config(tmp_path: Path, text: str = FAST) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    return path


def test_tables_with_a_config(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tables"
    config = _config(tmp_path)
    assert (
        main(["tables", "--records", str(records), "--out", str(out), "--config", str(config)]) == 0
    )
    for number in range(1, 29):
        for suffix in ("csv", "parquet", "tex", "md"):
            assert (out / f"table_{number:02d}.{suffix}").is_file()
    accuracy = pd.read_csv(out / "table_01.csv")
    assert accuracy.loc[0, ["model", "benchmark"]].tolist() == ["oss", "omni_math_2"]
    assert "First &amp; best" in (out / "table_01.md").read_text()
    assert "50 bootstrap resamples" in (out / "table_09.md").read_text()
    assert "28 tables of the paper, numbers of 5 figures, left_out" in capsys.readouterr().out


@pytest.mark.slow
def test_tables_without_a_config_are_the_expected_ones(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tables", "--records", str(records), "--out", str(tmp_path)]) == 0
    assert "absent: table_27" in capsys.readouterr().out
    assert not (tmp_path / "table_27.csv").exists()
    expected = pd.read_csv(records / "expected" / "table_07.csv")
    found = pd.read_csv(tmp_path / "table_07.csv")
    columns = ["problems_n", "integrator_only_n", "majority_only_n", "strict_majority_n"]
    pd.testing.assert_frame_equal(found[columns], expected[columns])


def test_the_settings_of_the_records_stand_in_for_a_config(tmp_path: Path) -> None:
    """As README has it: `dhd tables --records results/<study>/records`."""
    settings = tmp_path / "settings.yaml"
    assert load_options(None, tmp_path).decoding is None
    settings.write_text(
        "decoding: {recruiter: {temperature: 0.9, max_tokens: 128}}\n"
        "judging: {method: rules}\nanalysis: {model_names: {m: Mine}}\n"
        "studies: {integrator: {temperature: 0.5, max_tokens: 96}, repeats: {problems: 3}}\n"
    )
    found = load_options(None, tmp_path)
    assert found.settings.model_names == {"m": "Mine"}
    # Rules ask no evaluator, and repeats asked the integrator with a sampling of their own.
    assert found.decoding == {
        "recruiter": (0.9, 128),
        "hypothesizer": (0.7, 4096),
        "integrator": (0.0, 4096),
        "integrator_replays": (0.5, 96),
    }
    assert load_options(_config(tmp_path), tmp_path).settings.model_names == {"oss": "First & best"}


@pytest.mark.parametrize(
    ("sections", "roles"),
    [
        ("judging: {method: llm, evaluator: j}", {"evaluator"}),
        ("analysis: {}", {"evaluator"}),
        ("judging: {method: rules}", set()),
        ("judging: {method: rules}\nstudies: {evaluators: {models: [j, k]}}", {"evaluator"}),
        ("judging: {method: rules}\nstudies: {protocols: {hint_writer: j}}", {"evaluator"}),
        (f"{RULES}studies: {{integrator: {HOT}}}", set()),
        (
            f"judging: {{method: rules}}\nstudies: {{protocols: {{actor: {HOT}}}}}",
            {"protocol_solver"},
        ),
    ],
)
def test_only_roles_that_were_asked_have_a_line(
    tmp_path: Path, sections: str, roles: set[str]
) -> None:
    decoding = load_options(_config(tmp_path, sections)).decoding
    assert decoding is not None
    assert set(decoding) == {"recruiter", "hypothesizer", "integrator"} | roles


def test_bad_records_give_one_error_and_no_file(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "records"
    bad.mkdir()
    for path in records.glob("*.parquet"):
        shutil.copy(path, bad / path.name)
    messages = pd.read_parquet(bad / "messages.parquet")
    pd.concat([messages, messages.head(1)]).to_parquet(bad / "messages.parquet", index=False)
    out = tmp_path / "tables"
    assert main(["tables", "--records", str(bad), "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert error.count("dhd: error:") == 1
    assert "messages.parquet" in error
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("analysis: {bootstrap_resample: 3}", "analysis.bootstrap_resample"),
        ("analysis: {bootstrap_resamples: 0}", "analysis.bootstrap_resamples = 0"),
        ("[1, 2]", "should be a mapping"),
    ],
)
def test_bad_config_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, expected: str
) -> None:
    config = _config(tmp_path, text)
    arguments = ["tables", "--records", str(tmp_path), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--config", str(config)]) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert "config.yaml" in error
    assert not (tmp_path / "out").exists()
