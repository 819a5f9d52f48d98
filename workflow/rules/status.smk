import sys

from dhd.schedulers.controller import note_controller, profile_of
from dhd.schedulers.stop import Stop
from dhd.status.plan import write_plan
from dhd.status.planned import study_plan
from dhd.staging import refuse_absent_models

STOP = Stop(logger.warning, STUDY.settings.journal.drain_s)


# By the controller alone, when a run starts: whether the models are there, who works here, for
# `dhd resume`, what jobs need of the site, and what there is to do, for `dhd status`.
onstart:
    try:
        refuse_absent_models(STUDY)
    except DhdError as error:
        logger.error(str(error))
        sys.exit(1)
    note_controller()
    if STUDY.site is None:
        STOP.listen()
    else:
        write_notes(STUDY.site, WORKDIR)
    plan = study_plan(STUDY, BUNDLES).run_with(
        workflow.configfiles, profile_of(sys.argv)
    )
    write_plan(plan, PATHS.folder)


# Where a run was stopped, the last word is not that a job failed.
onerror:
    if STOP.reason is not None:
        logger.error(
            f"Stopped by {STOP.reason}: all finished requests are in the journal; run the same "
            "command again"
        )
        sys.exit(1)
