"""Records → tables → figures, as the rules and ``dhd`` make them."""

from __future__ import annotations

from pathlib import Path

from dhd.config.load import Study
from dhd.wording import number_of


def make_tables(study: Study, records: Path, out: Path) -> list[str]:
    """Compute and write all tables; return what is absent and why, for the log."""
    from dhd.analysis.registry import compute_tables
    from dhd.records import load_records
    from dhd.report.options import asked_decoding
    from dhd.report.writers import write_tables, written_line

    chosen, settings = study.settings, study.settings.analysis
    decoding = asked_decoding(chosen.decoding, chosen.judging, chosen.studies)
    computed = compute_tables(load_records(records), settings, decoding=decoding)
    paths = write_tables(computed, settings, out)
    absent = [f"absent: {name}: {reason}" for name, reason in computed.absent.items()]
    return [*absent, written_line(computed.tables, len(paths), out)]


def make_figures(study: Study, tables: Path, out: Path) -> list[str]:
    """Draw and write all figures; return what has no numbers, for the log."""
    from dhd.figures.render import write_figures
    from dhd.report.frames import read_tables

    paths, absent = write_figures(read_tables(tables), study.settings.analysis, out)
    missing = [f"absent: {name}: no numbers for it" for name in absent]
    return [*missing, f"{number_of(len(paths), 'file')} in {out}"]
