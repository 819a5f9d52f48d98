"""Audits of the evaluation procedure: which saved answers several evaluators judge again.

Pure: nothing here reads, writes or asks. Choices follow from the seed by hashing.
"""

from dhd.audits.balance import balanced
from dhd.audits.submissions import AuditSubmission, saved_submissions
from dhd.audits.triplets import Triplet, saved_triplets

__all__ = ["AuditSubmission", "Triplet", "balanced", "saved_submissions", "saved_triplets"]
