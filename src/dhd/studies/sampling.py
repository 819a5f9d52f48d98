"""Drawing the problems of a replay study from those with a complete pool."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
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
    candidates: Iterable[Candidate],
    count: int,
    *,
    seed: int,
    label: str,
    earlier: Sequence[str] = (),
) -> tuple[Candidate, ...]:
    """Draw ``count`` problems, every stratum in proportion to its size.

    The ``r``-th of the ``m`` shuffled problems of a stratum gets the place (r + u)/m, with one
    uniform u a stratum; the problems with the lowest places are drawn. A stratum gives its
    proportional share, give or take one, every problem has the same chance, and a larger
    sample contains the smaller ones. Without strata this is a simple random sample (paper,
    Experimental Setup: 200 problems per benchmark; Omni-MATH-2 by tier).

    Problems that were drawn before there were so many candidates stay, first in their strata:
    what was asked of them keeps its place in the records. The rest is drawn as ever.

    Parameters
    ----------
    candidates
        Problems with distinct ``problem_uid``.
    count
        How many to draw; all are taken when there are fewer.
    seed, label
        What the choice follows from; ``label`` names family and benchmark.
    earlier
        ``problem_uid`` of an earlier draw, in its order; those that are no candidates are
        left out.

    Returns
    -------
    In the order drawn: as many of the earlier ones as are wanted, then what lacks.
    """
    everyone = {candidate.problem_uid: candidate for candidate in candidates}
    kept = [uid for uid in dict.fromkeys(earlier) if uid in everyone]
    strata: dict[str | None, list[str]] = defaultdict(list)
    for uid in [*kept, *shuffled(everyone.keys() - set(kept), seed, label)]:
        strata[everyone[uid].stratum].append(uid)
    places: dict[str, tuple[float, str]] = {}
    for stratum, uids in strata.items():
        offset = uniform(seed, label, "stratum", stratum)
        places |= {uid: ((rank + offset) / len(uids), uid) for rank, uid in enumerate(uids)}
    lacking = sorted(places.keys() - set(kept), key=places.__getitem__)
    return tuple(everyone[uid] for uid in [*kept, *lacking][:count])
