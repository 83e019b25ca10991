"""Time and peak memory of a process that reads the MNIST test set (10,000×784) and solves it, supervised, q = 10.

    python -m benchmarks.memory [linear polynomial gaussian multiquadratic]

Each kernel runs in a process of its own, whose peak is what the operating system counted.
"""

import resource
import subprocess
import sys
import time

KERNELS = ["linear", "polynomial", "gaussian", "multiquadratic"]


def measure(kernel: str) -> None:
    from benchmarks.datasets import load
    from ism_core import Supervised, solve

    data = load("mnist_test")
    start = time.perf_counter()
    result = solve(data.standardised, Supervised(data.y), kernel, 10)
    taken = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{kernel:16}{result.way:10}{result.objective:14.1f}{result.iterations:6}{taken:9.1f}{peak:10.2f}"
        f"{result.certificate.gradient:10.1e}  {result.stop.name}",
        flush=True,
    )


def main(kernels: list[str]) -> None:
    print(f"{'kernel':16}{'way':10}{'J':>14}{'steps':>6}{'s':>9}{'peak GiB':>10}{'gradient':>10}  stop", flush=True)
    for kernel in kernels:
        subprocess.run([sys.executable, "-m", "benchmarks.memory", "--measure", kernel], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2])
    else:
        main(sys.argv[1:] or KERNELS)
