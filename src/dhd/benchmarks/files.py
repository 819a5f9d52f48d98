"""Reading upstream files: found by name, checked by checksum, decoded with clear errors."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from dhd.errors import BenchmarkError


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One upstream file, read once: its name below the source, its bytes and their sha256."""

    name: str
    path: Path
    data: bytes
    sha256: str


@dataclass(slots=True)
class Source:
    """A benchmark's file or folder; remembers the checksum of each file that was read."""

    path: Path
    checksums: dict[str, str] = field(default_factory=dict)

    def locate(self, patterns: Sequence[str]) -> Path:
        """Return the one file that the source is, or that the patterns find in its folder."""
        if self.path.is_file():
            return self.path
        found = self.find(patterns)
        if len(found) != 1:
            seen = ", ".join(str(path.relative_to(self.path)) for path in found) or "none"
            raise BenchmarkError(
                f"{self.path}: found {seen}, expected exactly one file {' or '.join(patterns)}"
            )
        return found[0]

    def read(self, patterns: Sequence[str]) -> SourceFile:
        """Read the file that :meth:`locate` finds.

        Raises
        ------
        BenchmarkError
            If there is no such file, more than one, or it is empty or cannot be read.
        """
        return self._read(self.locate(patterns))

    def find(self, patterns: Sequence[str]) -> list[Path]:
        """Return the files of the folder that match a pattern, sorted by name."""
        self.need_folder(patterns)
        found = sorted({path for pattern in patterns for path in self.path.glob(pattern)})
        for path in found:
            if not path.is_file():
                raise BenchmarkError(f"{path}: found a folder, expected a file")
        return found

    def read_all(self, patterns: Sequence[str], without: str) -> list[SourceFile]:
        """Read the files that match a pattern and not ``without``, or the file the source is."""
        if self.path.is_file():
            return [self._read(self.path)]
        found = [path for path in self.find(patterns) if not path.match(without)]
        if not found:
            raise BenchmarkError(f"{self.path}: found no file, expected {' or '.join(patterns)}")
        return [self._read(path) for path in found]

    def need_folder(self, patterns: Sequence[str]) -> None:
        """Raise BenchmarkError unless the source is a folder, which should hold the patterns."""
        if not self.path.exists():
            raise BenchmarkError(f"{self.path}: no such file or folder; check `path`")
        if not self.path.is_dir():
            raise BenchmarkError(
                f"{self.path}: found a file, expected a folder with {' or '.join(patterns)}"
            )

    def _read(self, path: Path) -> SourceFile:
        name = path.name if path == self.path else path.relative_to(self.path).as_posix()
        try:
            data = path.read_bytes()
        except OSError as error:
            raise BenchmarkError(f"{path}: cannot be read: {error.strerror}") from error
        if not data.strip():
            raise BenchmarkError(f"{path}: found an empty file")
        self.checksums[name] = hashlib.sha256(data).hexdigest()
        return SourceFile(name, path, data, self.checksums[name])


def verify_checksums(root: Path, pinned: Mapping[str, str]) -> None:
    """Compare the files of a source with their pinned sha256.

    Raises
    ------
    BenchmarkError
        If a pinned file is missing or differs; the message has both checksums.
    """
    for name, expected in pinned.items():
        is_root = root.is_file() and root.name == PurePosixPath(name).name
        path = root if is_root else root / name
        try:
            found = file_sha256(path)
        except OSError as error:
            raise BenchmarkError(
                f"{path}: cannot be read ({error.strerror}), yet its sha256 is pinned"
            ) from error
        if found != expected:
            raise BenchmarkError(f"{path}: found sha256 {found}, expected {expected}")


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file, read in chunks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def decode(file: SourceFile) -> str:
    """Return the text of a UTF-8 file, without a byte order mark."""
    try:
        return file.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BenchmarkError(
            f"{file.path}: not UTF-8 at byte {error.start}: the file is cut or of another kind"
        ) from error


def parse_json(file: SourceFile, text: str | None = None, where: str = "") -> Any:
    """Parse a whole file, or one text of it, as JSON."""
    try:
        return json.loads(decode(file) if text is None else text)
    except (ValueError, RecursionError) as error:
        raise BenchmarkError(
            f"{file.path}{where}: not valid JSON ({error}): the file is cut or of another kind"
        ) from error


def text_lines(text: str) -> list[tuple[int, str]]:
    """Return the lines with content and their numbers, the first being 1.

    Only a line feed ends a line: JSON strings may hold other Unicode line separators.
    """
    return [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]


def read_rows(file: SourceFile) -> list[Any]:
    """Return the rows of a Parquet file, a JSON array or JSON lines, told apart by content."""
    if file.path.suffix == ".parquet" or file.data.startswith(b"PAR1"):
        return _parquet_rows(file)
    text = decode(file)
    if text.lstrip().startswith("["):
        rows = parse_json(file, text)
        if not isinstance(rows, list):
            raise BenchmarkError(f"{file.path}: found {type(rows).__name__}, expected a JSON array")
        return rows
    return [parse_json(file, line, f":{number}") for number, line in text_lines(text)]


def _parquet_rows(file: SourceFile) -> list[Any]:
    # Imported here: counting problems must not wait for it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: list[Any] = pq.read_table(pa.BufferReader(file.data)).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise BenchmarkError(
            f"{file.path}: not a complete Parquet file ({error}): fetch it again"
        ) from error
    return rows


def read_sheet(file: SourceFile) -> list[dict[str, Any]]:
    """Return the rows of a workbook's first sheet by the names in its first row."""
    # Imported here: counting problems must not wait for it.
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = openpyxl.load_workbook(io.BytesIO(file.data), read_only=True, data_only=True)
        rows = list(book.worksheets[0].iter_rows(values_only=True))
        book.close()
    except (zipfile.BadZipFile, InvalidFileException, KeyError, ValueError, EOFError) as error:
        raise BenchmarkError(
            f"{file.path}: not a complete xlsx workbook ({error}): fetch it again"
        ) from error
    if not rows:
        raise BenchmarkError(f"{file.path}: the first sheet is empty")
    header = ["" if name is None else str(name).strip() for name in rows[0]]
    return [
        dict(zip(header, row, strict=False))
        for row in rows[1:]
        if any(cell is not None for cell in row)
    ]
