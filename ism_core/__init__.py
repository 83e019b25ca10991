"""Interpretable kernel dimension reduction by the Iterative Spectral Method.

result = solve(X, Supervised(y), Gaussian(), q=2)
"""

from ism_core.engines import Engine
from ism_core.errors import InvalidInput
from ism_core.estimators import AlternativeISM, SemiSupervisedISM, SupervisedISM, UnsupervisedISM
from ism_core.interpretation import Interpretation, interpret
from ism_core.kernels import Gaussian, Linear, Multiquadratic, Polynomial, RelativeGaussian, Squared
from ism_core.missed import Missed, missed_dependence
from ism_core.objective import Partitions, aligned, partitions
from ism_core.paradigms import Alternative, Linked, SemiSupervised, Supervised, Unsupervised
from ism_core.selection import Candidate, Choice, Trial, Update, choose, iter_choose
from ism_core.solver import Certificate, Error, Result, Step, Stop, iter_solve, solve

__all__ = [
    "Alternative",
    "AlternativeISM",
    "Candidate",
    "Certificate",
    "Choice",
    "Engine",
    "Error",
    "Gaussian",
    "Interpretation",
    "InvalidInput",
    "Linear",
    "Linked",
    "Missed",
    "Multiquadratic",
    "Partitions",
    "Polynomial",
    "RelativeGaussian",
    "Result",
    "SemiSupervised",
    "SemiSupervisedISM",
    "Squared",
    "Step",
    "Stop",
    "Supervised",
    "SupervisedISM",
    "Trial",
    "Unsupervised",
    "UnsupervisedISM",
    "Update",
    "aligned",
    "choose",
    "interpret",
    "iter_choose",
    "iter_solve",
    "missed_dependence",
    "partitions",
    "solve",
]
