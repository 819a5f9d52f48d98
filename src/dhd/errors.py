"""The exceptions that this package raises on purpose.

::

    DhdError
    ├── ConfigError        a setting is missing, unknown or out of range
    ├── BenchmarkError     a benchmark file is not what its loader expects
    ├── RecordsError       a records table breaks its contract
    ├── JournalError       a journal is damaged, or its owner is another live job
    ├── EngineError        an engine cannot start or answers with another model
    ├── ModelError         model files are missing or their checksum differs
    ├── SchedulerError     a command of the scheduler failed or answered what nobody understands
    └── IncompleteError    work is left: requests failed or the job was told to stop

Every message names the file, the key and the value at fault, and what would be right.
"""


class DhdError(Exception):
    """Base of all errors that a user can mend; the command line prints it without a traceback."""


class ConfigError(DhdError):
    """A setting is missing, unknown or out of range."""


class BenchmarkError(DhdError):
    """A benchmark file is not what its loader expects."""


class RecordsError(DhdError):
    """A records table breaks its contract."""


class JournalError(DhdError):
    """A journal is damaged, or another live job owns it."""


class EngineError(DhdError):
    """An engine cannot start, or answers with another model than the one configured."""


class ModelError(DhdError):
    """Model files are missing or their checksum differs."""


class SchedulerError(DhdError):
    """A command of the scheduler failed, or its answer cannot be read."""


class IncompleteError(DhdError):
    """Work is left: some requests failed and may be retried, or the job was told to stop."""
