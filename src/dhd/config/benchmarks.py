"""Settings of the benchmarks: one entry of the config's ``benchmarks`` section."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, Field, model_validator

from dhd.benchmarks.catalogue import CATALOGUE, HUGGING_FACE, Upstream, dataset_addresses
from dhd.config.strict import Strict

LoaderName = Literal["omni_math_2", "jeebench", "scibench", "lab_bench", "mascqa", "user"]


def _inside(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or str(path) in ("", "."):
        raise ValueError("must be a relative file name with / between folders and without ..")
    return str(path)


def _web_address(url: str) -> str:
    parts = urlsplit(url)
    local = parts.hostname in ("127.0.0.1", "localhost")
    if parts.scheme != "https" and not (parts.scheme == "http" and local):
        raise ValueError("must start with https:// (http:// is for 127.0.0.1 alone)")
    if "{revision}" not in url:
        raise ValueError("must have {revision} where the commit goes, so that it is pinned")
    return url.rstrip("/") + "/"


def _mirrored(address: str) -> str:
    """Put a site's mirror of Hugging Face in place, where HF_ENDPOINT names one."""
    mirror = os.environ.get("HF_ENDPOINT", "").rstrip("/") or HUGGING_FACE
    return (
        mirror + address.removeprefix(HUGGING_FACE) if address.startswith(HUGGING_FACE) else address
    )


FileName = Annotated[str, AfterValidator(_inside)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file to download: its name below the destination, its address and its checksum."""

    name: str
    url: str
    sha256: str


class RemoteSettings(Strict):
    """Files on the web, pinned by commit and checksum.

    What is left out is taken from the loader's upstream where that is known; settings that
    are neither given nor known are refused with the way to find them.
    """

    repository: str | None = Field(
        None,
        pattern=r"^[\w.-]+/[\w.-]+$",
        description="Hugging Face data set, owner/name; null: the loader's own, or url.",
    )
    url: Annotated[str, AfterValidator(_web_address)] | None = Field(
        None,
        description="Address of the folder with the files, {revision} in place of the commit; "
        "null: the loader's own, or repository.",
    )
    revision: str | None = Field(
        None,
        pattern=r"^[0-9a-f]{40}$",
        description="Commit, 40 hex digits; null: the loader's own.",
    )
    files: dict[FileName, Sha256] = Field(
        default={}, description="File name: its sha256, 64 hex digits; {}: the loader's own."
    )

    def resolve(self, upstream: Upstream | None) -> tuple[RemoteFile, ...]:
        """Return the files to download; raise ValueError where something is not pinned."""
        if self.repository and self.url:
            raise ValueError("remote: repository and url exclude each other; give one")
        git, url, known = self._addresses(upstream)
        revision = self.revision or (known.revision if known else None)
        files = {**(known.files if known else {}), **self.files}
        pinned = {name: sha256 for name, sha256 in files.items() if sha256 is not None}
        if revision is None or not files or len(pinned) < len(files):
            raise ValueError(_how_to_pin(revision, files, git, url))
        base = _web_address(url).replace("{revision}", revision)
        return tuple(
            RemoteFile(name, base + quote(name), sha256) for name, sha256 in pinned.items()
        )

    def _addresses(self, upstream: Upstream | None) -> tuple[str, str, Upstream | None]:
        if self.repository:
            git, url = dataset_addresses(self.repository)
            return _mirrored(git), _mirrored(url), None
        if self.url:
            return "REPOSITORY", self.url, None
        if upstream is None:
            raise ValueError("remote: give repository or url; this loader has no upstream")
        return _mirrored(upstream.repository), _mirrored(upstream.url), upstream


def _how_to_pin(revision: str | None, files: Mapping[str, str | None], git: str, url: str) -> str:
    """Say which pins are missing and how to find them."""
    faults = []
    if revision is None:
        faults.append(
            "remote.revision is missing: give the 40-hex commit to use, "
            f"e.g. from `git ls-remote {git} HEAD`"
        )
    lacking = [name for name, sha256 in files.items() if sha256 is None]
    if lacking or not files:
        what = f"lacks the sha256 of {', '.join(lacking)}" if lacking else "is missing"
        faults.append(
            f"remote.files {what}: fetch the data once from {url}, look at it with "
            "`dhd benchmarks --loader … --path …`, which prints each file's sha256, and "
            "write name: sha256 for each"
        )
    return "; ".join(faults)


class BenchmarkSettings(Strict):
    """One benchmark: its loader, its source and which of its problems are used.

    Exactly one of ``path`` and ``remote`` is given. ``strata`` is applied before ``limit``;
    ``expected_count`` counts after ``strata`` and before ``limit``.
    """

    loader: LoaderName = Field(
        description="Reader of the files: one for each of the paper's benchmarks; user for a JSONL "
        "of your own (README, Your own problems)."
    )
    path: str | None = Field(
        None, min_length=1, description="Local file or folder; null where remote is given."
    )
    remote: RemoteSettings | None = Field(
        None, description="Pinned files to download; null where path is given."
    )
    sha256: dict[FileName, Sha256] = Field(
        default={}, description="sha256 of local files by name below path; others go unchecked."
    )
    limit: int | None = Field(None, gt=0, description="Use the first n problems only; null: all.")
    strata: list[str] | None = Field(
        None,
        min_length=1,
        description="Use these strata only, e.g. [t9, t10] or [SeqQA]; null: all.",
    )
    expected_count: int | None = Field(
        None,
        gt=0,
        le=10_000_000,
        description="Problems that must be found, for a variant that is not the paper's; null: the "
        "paper's number, and for user no check.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.path is None) == (self.remote is None):
            raise ValueError("give exactly one of path (local) and remote (download)")
        if self.remote is not None:
            if self.sha256:
                raise ValueError("sha256 is for path; a remote's checksums are in remote.files")
            self.remote_files()
        self._check_strata()
        return self

    def _check_strata(self) -> None:
        if self.strata is None or self.loader == "user":
            return
        known = CATALOGUE[self.loader].strata
        wrong = [name for name in self.strata if name not in known]
        if wrong:
            expected = f"some of {', '.join(known)}" if known else f"none: {self.loader} has none"
            raise ValueError(f"strata: unknown {', '.join(wrong)}; expected {expected}")
        if len(set(self.strata)) < len(self.strata):
            raise ValueError(f"strata: a name is repeated in {', '.join(self.strata)}")

    def remote_files(self) -> tuple[RemoteFile, ...]:
        """Return the files to download; none for a local source."""
        if self.remote is None:
            return ()
        return self.remote.resolve(CATALOGUE.get(self.loader))

    def checksums(self) -> Mapping[str, str]:
        """Return the pinned sha256 of each file by its name below the source's folder."""
        if self.remote is None:
            return self.sha256
        return {file.name: file.sha256 for file in self.remote_files()}
