"""Run many histories: `python -m drills.simulation [--histories N] [--seed S]`; one history alone is shown."""

import argparse
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from drills.simulation.history import History
from drills.simulation.invariants import Violation
from ism_cli.embedded import RedisServer

CHUNK = 50  # histories that one process runs on one Redis


def run(seeds: Sequence[int]) -> tuple[Counter[str], str]:
    """Run histories; return counts, and the report of the first that breaks a promise."""
    counts: Counter[str] = Counter()
    began = time.process_time()
    report = ""
    with tempfile.TemporaryDirectory() as folder, RedisServer(Path(folder), fsync="no") as server:
        for seed in seeds:
            history = History(seed, server.url)
            try:
                history.run()
            except Exception as error:  # a Violation, or an error that neither clients nor workers expect
                repeat = f"Repeat it with: python -m drills.simulation --seed {seed}"
                told = str(error) if isinstance(error, Violation) else traceback.format_exc()
                report = "\n".join([*history.wire.log, f"Seed {seed}: {told}", repeat])
                break
            log = history.wire.log
            counts += Counter(histories=1, calls=len(log), jobs=len(history.acknowledged), ends=history.invariants.ends)
            counts["kills"] += sum(line.endswith("is killed") for line in log)
    counts["milliseconds"] = round(1_000 * (time.process_time() - began))
    return counts, report or ("\n".join(log) if len(seeds) == 1 else "")


def main() -> int:
    """Run the histories; print the first that breaks a promise, call by call."""
    parser = argparse.ArgumentParser(description="Simulate clients, workers and faults on a virtual clock.")
    parser.add_argument("--histories", type=int, default=1, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="of the first; the others follow it")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.histories)
    counts: Counter[str] = Counter()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for part, report in pool.map(run, [seeds[start : start + CHUNK] for start in range(0, len(seeds), CHUNK)]):
            counts += part
            if report:
                print(report)
            if "Repeat it" in report:
                pool.shutdown(cancel_futures=True)
                return 1
    seconds = counts.pop("milliseconds") / 1_000
    print(", ".join(f"{count:,} {name}" for name, count in counts.items()), f"in {seconds:,.0f} s of CPU time")
    print("lost 0, doubled 0, stuck 0, unfair 0")
    return 0


if __name__ == "__main__":
    sys.exit(main())
