"""The plan that `dhd status` counts against, from real configs."""

from pathlib import Path

from dhd.config.load import Study, load_study_file
from dhd.stages.bundles import STAGES, study_bundles
from dhd.stages.settings import stage_digest
from dhd.status.plan import StudyPlan
from dhd.status.planned import study_plan


def plan_of(study: Study) -> StudyPlan:
    names = study.settings.benchmarks
    bundles = {
        stage: {name: study_bundles(study, name, stage) for name in names} for stage in STAGES
    }
    return study_plan(study, bundles)


def test_the_trial_is_two_problems_of_one_family(project_root: Path) -> None:
    study = load_study_file(project_root / "config" / "trial.yaml", root=project_root)
    deliberation, judging = plan_of(study).stages
    assert deliberation.label == "deliberation/oss/demo"
    assert deliberation.problems == 2
    assert deliberation.requests_per_problem == 25  # 1 + 5 + 1 + 18 shared inputs
    assert deliberation.settings == stage_digest(study, "deliberation", family="oss")
    (bundle,) = deliberation.bundles
    assert bundle.shards == ("00000-00000", "00001-00001")
    assert bundle.outputs == tuple(
        f"bundles/deliberation/oss/demo/0000.{kind}.parquet" for kind in ("messages", "outcomes")
    )
    assert judging.label == "judging/scan/demo"
    assert judging.journals == "journal/judging/gpt-oss-120b/demo"
    assert judging.requests_per_problem is None
    assert judging.model == deliberation.model == str(study.actor("oss").identity())


def test_further_studies_are_stages_of_their_own(project_root: Path) -> None:
    study = load_study_file(project_root / "config" / "config.yaml", root=project_root)
    stages = {stage.label: stage for stage in plan_of(study).stages}
    repeats = stages["replays/repeats/smollm2/smollm2/demo"]
    assert repeats.sampled
    assert repeats.problems == 3
    assert repeats.requests_per_problem == 2 * 7
    assert repeats.journals == "journal/repeats/smollm2/smollm2/demo"
    assert stages["protocols/smollm2/demo"].problems == 2
    assert stages["replays/masking/smollm2/smollm2/demo"].problems == 3
    judged = [label for label in stages if label.startswith("judging/")]
    assert judged == ["judging/scan/demo", "judging/repeats/demo", "judging/masking/demo"]
    assert {stages[label].model for label in judged} == {""}  # rules judge
