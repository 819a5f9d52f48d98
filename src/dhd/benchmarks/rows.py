"""Upstream rows as typed models: a missing column or an empty text is an error with its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from dhd.errors import BenchmarkError


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"must be valid Unicode, not half a pair at {error.start}") from error
    return text


#: Text as upstream has it, not trimmed, with at least one visible character.
Text = Annotated[str, AfterValidator(_not_blank)]
#: Text without the white space around it, never empty.
Trimmed = Annotated[str, AfterValidator(_not_blank), AfterValidator(str.strip)]


class Row(BaseModel):
    """A row of an upstream file; columns that no loader uses are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


RowT = TypeVar("RowT", bound=BaseModel)


def parse_row(model: type[RowT], value: Any, where: str) -> RowT:
    """Check one row.

    Raises
    ------
    BenchmarkError
        With the place, the column, what was found and what would be right.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise BenchmarkError(f"{where}: {describe(error, value)}") from error


def describe(error: ValidationError, value: Any) -> str:
    """Return the first faults of a row in one line."""
    faults = []
    for fault in error.errors(include_url=False)[:3]:
        column = ".".join(str(part) for part in fault["loc"]) or "row"
        if fault["type"] == "missing" and isinstance(value, Mapping):
            found = f"columns {', '.join(map(str, value))}"
        else:
            found = _shorten(fault["input"])
        faults.append(f"{column}: {fault['msg']}, found {found}")
    return "; ".join(faults)


def _shorten(value: Any, length: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= length else text[:length] + "…"
