"""A Jepsen-like run: clients post jobs while a nemesis kills, pauses and cuts; then every job is accounted for.

python -m drills.chaos [--seconds 300] [--seed 0]
"""

import argparse
import asyncio
import shutil
import sys
import time
from pathlib import Path

import httpx

from drills import report
from drills.checker import check
from drills.clients import Clients
from drills.figures import Run, Scale, document, shown
from drills.history import History
from drills.nemesis import Nemesis
from drills.recovery import Recoveries
from drills.stack import running
from drills.survey import learn_references, quiet, survey
from drills.workload import Workload, table

HEALING_SECONDS = 120
PROGRESS_SECONDS = 10


async def run(scale: Scale, folder: Path) -> Run:
    """Start, learn how the jobs end undisturbed, disturb, heal, look, judge."""
    began = time.monotonic()
    history = History()
    async with running(folder, apis=scale.apis, workers=scale.workers) as stack:
        async with httpx.AsyncClient(base_url=stack.urls[0], timeout=60) as http:
            files = {"file": ("table.csv", table(scale.rows))}
            workload = Workload((await http.post("/datasets", files=files)).raise_for_status().json()["id"])
            history.references = await learn_references(http, workload)
        recoveries = Recoveries(stack)
        nemesis = Nemesis(stack, recoveries, scale.seed)
        clients = Clients(stack, workload, history, scale.seed)
        watching = [asyncio.create_task(recoveries.watch()), asyncio.create_task(_progress(history, clients, nemesis))]
        deadline = time.monotonic() + scale.seconds
        posting = [asyncio.create_task(clients.post_until(deadline, f"client{n}")) for n in range(scale.clients)]
        await nemesis.rage(scale.seconds)
        await nemesis.heal()
        await stack.ready()
        await _answered(posting, history)
        async with httpx.AsyncClient(base_url=stack.urls[0], timeout=60) as http:
            await quiet(http, HEALING_SECONDS)
            await survey(http, stack, history)
        await clients.close()
        for task in watching:
            task.cancel()
        return Run(
            scale,
            history,
            check(history),
            nemesis,
            recoveries,
            dict(clients.answers),
            sum(process.restarts for process in stack.processes),
            {process.name: process.own_deaths for process in stack.processes if process.own_deaths},
            [orphan for process in stack.processes for orphan in process.orphans()],
            time.monotonic() - began,
        )


async def _answered(posting: list[asyncio.Task[None]], history: History) -> None:
    """Those who insist on an answer get it when all is healed."""
    _, left = await asyncio.wait(posting, timeout=HEALING_SECONDS)
    for task in left:
        task.cancel()
        history.odd_answers.append(f"A client was not answered in {HEALING_SECONDS} seconds after all was healed.")


async def _progress(history: History, clients: Clients, nemesis: Nemesis) -> None:
    began = time.monotonic()
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        acknowledged = sum(bool(post.jobs) for post in history.posts)
        print(
            f"{time.monotonic() - began:5.0f} s: {acknowledged} jobs acknowledged, {clients.ended} ended,"
            f" {nemesis.kills} kills",
            flush=True,
        )


def main() -> None:
    """Run it, print the table, keep the figures; exit code 1 where a promise did not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=Scale.seconds)
    parser.add_argument("--seed", type=int, default=Scale.seed)
    parser.add_argument("--folder", type=Path, default=Path("build/chaos"), help="For logs, Redis's files and figures.")
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    done = asyncio.run(run(Scale(options.seconds, options.seed), options.folder))
    report.save(options.folder / "chaos.json", document(done))
    print(shown(done))
    if not done.good:
        sys.exit(f"The logs, and the history as chaos.json, are in {options.folder}.")


if __name__ == "__main__":
    main()
