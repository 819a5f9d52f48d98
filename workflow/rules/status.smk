from dhd.schedulers.controller import note_controller
from dhd.status.plan import write_plan
from dhd.status.planned import study_plan


# By the controller alone, when a run starts: who works here, for `dhd resume`, what jobs need of
# the site, and what there is to do, for `dhd status`.
onstart:
    note_controller()
    if STUDY.site is not None:
        write_notes(STUDY.site, WORKDIR)
    write_plan(study_plan(STUDY, BUNDLES), PATHS.folder)
