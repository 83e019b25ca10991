"""Tables as numbers: the training data of a job, and the model that projects new rows."""

from ism_jobs.data.encoding import Encoding
from ism_jobs.data.frames import FrameEncoding
from ism_jobs.data.imputation import Missing, imputed
from ism_jobs.data.parts import PartedData, PartedRows, parted_data
from ism_jobs.data.projection import Model
from ism_jobs.data.training import Guidance, TrainingData, used_columns

__all__ = [
    "Encoding",
    "FrameEncoding",
    "Guidance",
    "Missing",
    "Model",
    "PartedData",
    "PartedRows",
    "TrainingData",
    "imputed",
    "parted_data",
    "used_columns",
]
