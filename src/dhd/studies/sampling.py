"""Drawing the problems of a replay study from those with a complete pool."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from dhd.studies.draws import shuffled, uniform


@dataclass(frozen=True, slots=True)
class Candidate:
    """A problem that may be drawn: its five messages are eligible.

    Attributes
    ----------
    problem_uid
        The problem.
    stratum
        Stratum in which it is drawn; None where the benchmark is not stratified.
    """

    problem_uid: str
    stratum: str | None = None


def sample_problems(
    candidates: Iterable[Candidate], count: int, *, seed: int, label: str
) -> tuple[Candidate, ...]:
    """Draw ``count`` problems, every stratum in proportion to its size.

    The ``r``-th of the ``m`` shuffled problems of a stratum gets the place (r + u)/m, with one
    uniform u a stratum; the problems with the lowest places are drawn. A stratum gives its
    proportional share, give or take one, every problem has the same chance, and a larger
    sample contains the smaller ones. Without strata this is a simple random sample (paper,
    Experimental Setup: 200 problems per benchmark; Omni-MATH-2 by tier).

    Parameters
    ----------
    candidates
        Problems with distinct ``problem_uid``.
    count
        How many to draw; all are taken when there are fewer.
    seed, label
        What the choice follows from; ``label`` names family and benchmark.

    Returns
    -------
    In the order drawn.
    """
    strata: dict[str | None, list[str]] = defaultdict(list)
    for candidate in candidates:
        strata[candidate.stratum].append(candidate.problem_uid)
    places: list[tuple[float, str, Candidate]] = []
    for stratum, uids in strata.items():
        offset = uniform(seed, label, "stratum", stratum)
        places.extend(
            ((rank + offset) / len(uids), uid, Candidate(uid, stratum))
            for rank, uid in enumerate(shuffled(uids, seed, label))
        )
    return tuple(candidate for _, _, candidate in sorted(places, key=lambda at: at[:2])[:count])
