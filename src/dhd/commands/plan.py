"""``dhd plan``: what a study costs, and what a repeats design can find."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dhd.config.load import Study
    from dhd.config.models import SimulatedModel
    from dhd.simulation.settings import VerdictSettings

HELP = "say what a study will ask and cost, and how much its repeats can find"

_DEFAULT_SAMPLE = 50
_POPULATION = 2000
"""Stand-in problems of each benchmark that powers are computed on: so many that the mean counts
vary by some percent with them, far less than the counts of single studies."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dhd plan``."""
    parser.add_argument("--config", required=True, type=Path, help="the study's config file")
    parser.add_argument("--assume", type=Path, metavar="FILE", help="lengths, rates, throughputs")
    parser.add_argument(
        "--measured", metavar="STUDY", help="measure lengths on a finished study in results/"
    )
    parser.add_argument(
        "--sample",
        default=str(_DEFAULT_SAMPLE),
        metavar="N",
        help=f"problems of each benchmark in the pilot, or all (default: {_DEFAULT_SAMPLE})",
    )
    parser.add_argument("--out", type=Path, metavar="CSV", help="write all lines, by benchmark")
    parser.add_argument(
        "--power",
        metavar="MODEL",
        help="the power of a repeats design instead, if messages are as those of this simulated "
        "model (a key of the study's models file)",
    )
    parser.add_argument("--blocks", type=int, nargs="+", default=[3, 5, 8], help="with --power")
    parser.add_argument(
        "--problems", type=int, nargs="+", default=[100, 300, 1000], help="with --power"
    )
    parser.add_argument(
        "--least-effect", type=float, default=0.3, help="with --power: smallest effect to find"
    )


def run(args: argparse.Namespace) -> int:
    """Print the plan, or the power of designs."""
    import sys

    from dhd.config.load import load_study_file
    from dhd.staging import absent_models

    study = load_study_file(args.config, root=Path.cwd())
    lines = _power(study, args) if args.power else _plan(study, args)
    print("\n".join(lines))
    for fault in absent_models(study):
        print(f"dhd: warning: a run would be refused: {fault}", file=sys.stderr)
    return 0


def _plan(study: Study, args: argparse.Namespace) -> list[str]:
    from dhd.planning.assumptions import read_assumptions
    from dhd.planning.plan import make_plan
    from dhd.planning.report import plan_lines, write_plan

    assumptions = read_assumptions(args.assume)
    if args.measured is not None:
        from dhd.planning.measured import measured_assumptions

        assumptions = measured_assumptions(study, args.measured, assumptions)
    rows = make_plan(study, assumptions, _sample(args.sample))
    if args.out is not None:
        write_plan(rows, args.out)
    return plan_lines(rows)


def _sample(text: str) -> int | None:
    from dhd.errors import ConfigError

    if text == "all":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ConfigError(f"--sample = {text!r}: must be a number of problems, or all")
    return int(text)


def _power(study: Study, args: argparse.Namespace) -> list[str]:
    from dhd.errors import ConfigError
    from dhd.planning.report import power_lines
    from dhd.simulation.pools import draw_pools
    from dhd.simulation.power import PowerSettings, power_table
    from dhd.simulation.stand_ins import PREFIXES, codes

    if min(args.blocks) < 2 or min(args.problems) < 1:
        raise ConfigError("--blocks must be 2 or more, --problems 1 or more")
    model = _simulated(study, args.power)
    population = [code for benchmark in PREFIXES.values() for code in codes(benchmark, _POPULATION)]
    pools = draw_pools(model.world(), population, seed=study.settings.seed)
    settings = PowerSettings(
        least_effect=args.least_effect,
        rate=study.settings.analysis.false_discovery_rate,
        seed=study.settings.analysis.seed,
        verdicts=_verdicts(study),
        format=model.format,
    )
    return power_lines(power_table(pools, args.problems, args.blocks, settings))


def _verdicts(study: Study) -> VerdictSettings:
    """Return the errors of the study's evaluator; none unless it is a simulated model."""
    from dhd.config.models import SimulatedModel
    from dhd.simulation.power import NO_ERRORS

    evaluator = study.evaluator()
    if isinstance(evaluator, SimulatedModel):
        return evaluator.verdicts
    return NO_ERRORS


def _simulated(study: Study, key: str) -> SimulatedModel:
    from dhd.config.models import SimulatedModel
    from dhd.errors import ConfigError

    model = study.models.get(key)
    if not isinstance(model, SimulatedModel):
        known = [name for name, one in study.models.items() if isinstance(one, SimulatedModel)]
        raise ConfigError(
            f"--power = {key!r}: no simulated model in {study.settings.models_file}; "
            f"has {', '.join(known) or 'none'}"
        )
    return model
