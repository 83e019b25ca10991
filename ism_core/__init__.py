"""Interpretable kernel dimension reduction by the Iterative Spectral Method.

result = solve(X, Supervised(y), Gaussian(), q=2)
"""

from ism_core.alignment import aligned
from ism_core.choice import Candidate, Choice, Trial
from ism_core.choosing import choose, choosing
from ism_core.engine import Engine
from ism_core.errors import InvalidInput
from ism_core.estimators import AlternativeISM, SemiSupervisedISM, SupervisedISM, UnsupervisedISM
from ism_core.kernels import Gaussian, Linear, Multiquadratic, Polynomial, RelativeGaussian, Squared
from ism_core.paradigms import Alternative, SemiSupervised, Supervised, Unsupervised
from ism_core.result import Certificate, Error, Result, Step, Stop
from ism_core.solver import iterate, solve

__all__ = [
    "Alternative",
    "AlternativeISM",
    "Candidate",
    "Certificate",
    "Choice",
    "Engine",
    "Error",
    "Gaussian",
    "InvalidInput",
    "Linear",
    "Multiquadratic",
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
    "aligned",
    "choose",
    "choosing",
    "iterate",
    "solve",
]
