from dhd.status.plan import write_plan
from dhd.status.planned import study_plan


# What there is to do, for `dhd status`: noted when a run starts, by the controller alone.
onstart:
    write_plan(study_plan(STUDY, BUNDLES), PATHS.folder)
