"""Compare the NMI of clusterings with the values that the paper reports.

    python -m benchmarks.clusterings [wine cancer face alternative mnist]

Wine, Cancer and Face: unsupervised, q = k = classes. Alternative: Face with its 20 people as given clustering, 4
clusters, q = 20, default μ; the NMI with the 4 poses should be high, and that with the people low. MNIST: the 10,000
test digits, unsupervised, q = k = 10.
"""

import sys
import time

from benchmarks.datasets import load
from ism_core import Alternative, Unsupervised, solve
from ism_core.metrics import nmi

PAPER = {  # Tables 4 and 5 of the paper
    "wine": {"gaussian": 0.86, "polynomial": 0.84, "linear": 0.85, "squared": 0.85, "multiquadratic": 0.88},
    "cancer": {"gaussian": 0.80, "polynomial": 0.79, "linear": 0.80, "squared": 0.79, "multiquadratic": 0.84},
    "face": {"gaussian": 0.94, "polynomial": 0.94, "linear": 0.93, "squared": 0.95, "multiquadratic": 0.92},
}


def main(names: list[str]) -> None:
    for name in names:
        if name == "alternative":
            alternative()
        elif name == "mnist":
            mnist()
        else:
            unsupervised(name)


def unsupervised(name: str) -> None:
    data = load(name)
    for kernel, paper in PAPER[name].items():
        start = time.perf_counter()
        result = solve(data.standardized, Unsupervised(data.classes), kernel, data.classes)
        taken = time.perf_counter() - start
        print(f"{name:8}{kernel:16}NMI {nmi(data.y, result.labels):.3f}  paper {paper:.2f}  {taken:6.2f} s", flush=True)


def alternative() -> None:
    data = load("face")
    for kernel in ("gaussian", "polynomial", "linear", "squared", "multiquadratic"):
        start = time.perf_counter()
        result = solve(data.standardized, Alternative(data.y, 4), kernel, 20)
        taken = time.perf_counter() - start
        pose, people = nmi(data.extra["pose"], result.labels), nmi(data.y, result.labels)
        print(f"face alternative {kernel:16}pose {pose:.3f}  people {people:.3f}  {taken:6.2f} s", flush=True)


def mnist() -> None:
    data = load("mnist_test")
    X = data.standardized
    for kernel in ("gaussian", "polynomial", "multiquadratic"):
        start = time.perf_counter()
        result = solve(X, Unsupervised(data.classes), kernel, data.classes)
        taken = time.perf_counter() - start
        steps = f"{len(result.steps)} steps in {result.steps[-1].round + 1} rounds"
        print(f"mnist   {kernel:16}NMI {nmi(data.y, result.labels):.3f}  {steps}  {taken:6.2f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or [*PAPER, "alternative", "mnist"])
