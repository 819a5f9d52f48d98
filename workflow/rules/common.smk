from pathlib import Path

from snakemake.exceptions import WorkflowError

from dhd.config.load import load_study
from dhd.errors import DhdError
from dhd.layout import StudyPaths
from dhd.stages.bundles import study_bundles
from dhd.stages.settings import stage_digest

ROOT = Path(workflow.basedir)

try:
    STUDY = load_study(
        config, source=", ".join(map(str, workflow.configfiles)) or "config", root=ROOT
    )
    BUNDLES = {
        stage: {
            name: study_bundles(STUDY, name, stage)
            for name in STUDY.settings.benchmarks
        }
        for stage in ("deliberation", "judging")
    }
except DhdError as error:
    raise WorkflowError(str(error)) from None

PATHS = StudyPaths.of(STUDY.settings.study)
FAMILIES = list(STUDY.settings.families)
BENCHMARKS = list(STUDY.settings.benchmarks)
KINDS = ("messages", "outcomes")


wildcard_constraints:
    model="|".join(map(re.escape, FAMILIES)),
    benchmark="|".join(map(re.escape, BENCHMARKS)),
    bundle=r"\d{4}",


def benchmark_source(wildcards):
    """Return the local file or folder of a benchmark; the download's folder for a remote one."""
    entry = STUDY.settings.benchmarks[wildcards.benchmark]
    if entry.path is None:
        return PATHS.folder / "downloads" / wildcards.benchmark
    return STUDY.resolve(entry.path)


def needs_engine(model):
    """Return how many of the machine's engines a model takes: in-job models take one."""
    return int(model is not None and model.engine == "vllm")


def deliberated(benchmark, bundles):
    """Return the interim tables of all families for some deliberation bundles."""
    return [
        PATHS.bundle("deliberation", model, benchmark) / f"{bundle}.{kind}.parquet"
        for model in FAMILIES
        for bundle in bundles
        for kind in KINDS
    ]


def bundles_to_judge(wildcards):
    """Return the interim tables that hold the problems of one judging bundle."""
    wanted = set(BUNDLES["judging"][wildcards.benchmark][wildcards.bundle])
    sources = BUNDLES["deliberation"][wildcards.benchmark].items()
    return deliberated(
        wildcards.benchmark,
        [name for name, shards in sources if wanted.intersection(shards)],
    )
