"""Model weights: fetched where there is internet, checked, found again where there is none."""

from dhd.staging.absent import absent_models, refuse_absent_models
from dhd.staging.locate import weight_files, weights_folder
from dhd.staging.stage import models_to_stage, stage_model

__all__ = [
    "absent_models",
    "models_to_stage",
    "refuse_absent_models",
    "stage_model",
    "weight_files",
    "weights_folder",
]
