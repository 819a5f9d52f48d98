"""What is known of the paper's five benchmarks before a file is read (paper Table 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Upstream:
    """The fixed facts of one upstream benchmark.

    Attributes
    ----------
    license
        Licence of the upstream files, with what the authors ask for; goes into every problem.
    count
        Problems that the loader's rule yields.
    strata
        Problems per stratum, in display order; None where the number is not known before the
        file is read. Empty for a benchmark without strata.
    repository
        Git address of the upstream repository.
    url
        Address of its files; ``{revision}`` stands for the commit.
    revision
        Commit, or None where the user has to pin one.
    files
        Files that the loader reads and their sha256, None where the user has to pin it.
    """

    license: str
    count: int
    strata: Mapping[str, int | None]
    repository: str
    url: str
    revision: str | None = None
    files: Mapping[str, str | None] = field(default_factory=dict)


def _github(name: str) -> tuple[str, str]:
    return (
        f"https://github.com/{name}",
        f"https://raw.githubusercontent.com/{name}/{{revision}}/",
    )


HUGGING_FACE = "https://huggingface.co"


def dataset_addresses(name: str) -> tuple[str, str]:
    """Return the git address and the files' address of a Hugging Face data set."""
    return (
        f"{HUGGING_FACE}/datasets/{name}",
        f"{HUGGING_FACE}/datasets/{name}/resolve/{{revision}}/",
    )


#: sha256 of SciBench's ``dataset/original/<source>.json``.
_SCIBENCH_SHA256 = {
    "atkins": "d2dd481ade7a3a2c6a108e2539bddaf2df83ecb5ef4021f04f520d55ec51f5ac",
    "calculus": "69779c85d33afe2bf17d6f2a0cb7ccbb172e609cc21c3e86b17e1c21eb9fb2c6",
    "chemmc": "134baf281dc7636fd01729b7f3b52465a44ea55fec5cb00e76a5fe809da520a0",
    "class": "113f73bf829e73ed4ab7ccb97a3a8cc50531075ebdb13e5421d62230a96e239a",
    "diff": "009547bcb646c7c88532908b9c3a689f02af66233869ea6e35c2d7c676478565",
    "fund": "d6b90173970bfa5ed04355c77731c5a28921a0224a0fb7240817f6cb18ea3790",
    "matter": "641291cb3d62b18bd73daa1f62988733d039f4df940f77f46052e92ac284ea94",
    "quan": "a3c4f483b5dd7ce162d3d95610bb56614b5003ecba80f450c79755811176e4f1",
    "stat": "a0f84cf8fbb94512174e4ecddb5a7bfa2b6ce7ddde0094c70d886a51a003dcfb",
    "thermo": "723e550d350dbb13644bf72eda5f19a5d8978aa5abd1c779399051618604494b",
}

CATALOGUE: Mapping[str, Upstream] = {
    "omni_math_2": Upstream(
        "Apache-2.0",
        4181,
        {f"t{tier}": None for tier in range(1, 11)},
        *dataset_addresses("martheballon/Omni-MATH-2"),
    ),
    "jeebench": Upstream(
        "MIT",
        515,
        {"MCQ": 110, "MCQ(multiple)": 186, "Integer": 82, "Numeric": 137},
        *_github("dair-iitd/jeebench"),
        files={
            "data/dataset.json": "c9e46ee7585ff83711e89f18e067ee447c88c08602f837b328c5a169c3011de0"
        },
    ),
    "scibench": Upstream(
        "MIT",
        580,
        {},
        *_github("mandyyyyii/scibench"),
        files={f"dataset/original/{name}.json": sha for name, sha in _SCIBENCH_SHA256.items()},
    ),
    "lab_bench": Upstream(
        "CC-BY-SA-4.0; the authors ask that the data are never used for training",
        741,
        {"SeqQA": 600, "ProtocolQA": 108, "CloningScenarios": 33},
        *dataset_addresses("futurehouse/lab-bench"),
        revision="5c77cec648430f30611808808861eb86f81d5eaa",
        files={
            f"{subset}/train-00000-of-00001.parquet": None
            for subset in ("SeqQA", "ProtocolQA", "CloningScenarios")
        },
    ),
    "mascqa": Upstream(
        "CC-BY-NC-SA-4.0",
        649,
        {"MCQS": 285, "NUM": 227, "MATCH": 70, "MCQS-NUM": 67},
        *_github("M3RG-IITD/MaScQA"),
        files={
            "mascqa-eval.json": "545669a0474df358e096aaac5e780602c06ddf132a7d84225c4b2c336b1e78a2",
            "scoresheets/all_questions.xlsx": (
                "00c3e95d63c5765aef49f07e13bb00313c8a51856f81ff0a6986e542440003c3"
            ),
        },
    ),
}
