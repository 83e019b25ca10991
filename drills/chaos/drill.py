"""Run the chaos drill: clients post jobs while a nemesis injects faults; then every job is checked."""

import argparse
import asyncio
import shutil
import sys
import time
from pathlib import Path

import httpx

from drills import report
from drills.chaos.checker import check
from drills.chaos.clients import Clients
from drills.chaos.figures import Run, Scale, as_text, document
from drills.chaos.history import History
from drills.chaos.nemesis import Nemesis
from drills.chaos.recovery import Recoveries
from drills.chaos.stack import running
from drills.chaos.survey import learn_references, survey, wait_until_idle
from drills.chaos.workload import Workload, table

HEALING_SECONDS = 120  # time after the faults for clients to be answered, and again for jobs to end
PROGRESS_SECONDS = 10  # between two lines of progress


async def run(scale: Scale, folder: Path) -> Run:
    """Start the service, run reference jobs, inject faults, heal, survey and check."""
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
        watching = [
            asyncio.create_task(recoveries.watch()),
            asyncio.create_task(_print_progress(history, clients, nemesis)),
        ]
        deadline = time.monotonic() + scale.seconds
        posting = [asyncio.create_task(clients.post_until(deadline, f"client{n}")) for n in range(scale.clients)]
        await nemesis.inject_faults(scale.seconds)
        await nemesis.heal()
        await stack.ready()
        await _wait_for_answers(posting, history)
        async with httpx.AsyncClient(base_url=stack.urls[0], timeout=60) as http:
            await wait_until_idle(http, HEALING_SECONDS)
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
            {process.name: process.unprovoked_deaths for process in stack.processes if process.unprovoked_deaths},
            [orphan for process in stack.processes for orphan in process.orphans()],
            time.monotonic() - began,
        )


async def _wait_for_answers(posting: list[asyncio.Task[None]], history: History) -> None:
    """Wait for the clients that repeat a request until it is answered."""
    _, left = await asyncio.wait(posting, timeout=HEALING_SECONDS)
    for task in left:
        task.cancel()
        history.unexpected_answers.append(
            f"A client was not answered within {HEALING_SECONDS} seconds after the faults."
        )


async def _print_progress(history: History, clients: Clients, nemesis: Nemesis) -> None:
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
    """Run the drill, print the table and save the figures; exit with 1 if the run did not pass."""
    parser = argparse.ArgumentParser("python -m drills.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=Scale.seconds, help="with faults")
    parser.add_argument("--seed", type=int, default=Scale.seed, help="another seed injects other faults")
    parser.add_argument("--folder", type=Path, default=Path("build/chaos"), help="for logs, Redis's files and figures")
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    done = asyncio.run(run(Scale(options.seconds, options.seed), options.folder))
    report.save(options.folder / "chaos.json", document(done))
    print(as_text(done))
    if not done.passed:
        sys.exit(f"See the logs and the history (chaos.json) in {options.folder}.")
