"""The replay studies: who is sampled, which calls are made in which order, what is masked.

Pure: nothing here reads, writes or asks. All choices follow from the seed by hashing, so that
they are the same on every machine and do not depend on what else is sampled.
"""

from dhd.studies.cases import Case, choose_cases, message_of
from dhd.studies.draws import shuffled
from dhd.studies.masking import masked_pool
from dhd.studies.replays import replay_schedule
from dhd.studies.sampling import Candidate, sample_problems
from dhd.studies.schedules import masking_schedule, order_schedule, repeats_schedule

__all__ = [
    "Candidate",
    "Case",
    "choose_cases",
    "masked_pool",
    "masking_schedule",
    "message_of",
    "order_schedule",
    "repeats_schedule",
    "replay_schedule",
    "sample_problems",
    "shuffled",
]
