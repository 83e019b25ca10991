"""The solver: from X, a paradigm and a kernel to the W that maximizes J, with a certificate.

`solve` validates its arguments (`options`), chooses starting points (`starts`), climbs from the best one (`ascent`, or
`alternation` for clusterings), limits the features of each axis if asked to (`sparse`) and checks the W it found
(`certificate`). `iter_solve` is the same as a generator of steps.
"""

from ism_core.solver.options import SolveOptions
from ism_core.solver.progress import ReturnCapture, drain, relay
from ism_core.solver.result import Certificate, Error, Result, Sparsity, Step, Stop
from ism_core.solver.solve import iter_solve, solve

__all__ = [
    "Certificate",
    "Error",
    "Result",
    "ReturnCapture",
    "SolveOptions",
    "Sparsity",
    "Step",
    "Stop",
    "drain",
    "iter_solve",
    "relay",
    "solve",
]
