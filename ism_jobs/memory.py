"""How the parts of the service on one machine share its memory. What they may use never adds up to more than it has."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

CONTAINER_MEMORY_LIMITS = (  # of Linux control groups, version 2 and version 1, as a container sees them
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)

Part = Literal["jobs", "redis", "sandbox", "rest"]

# How the parts that run on a machine share what its operator has not assigned. The rest is for the API, the worker
# processes between their jobs, the operating system and its file cache.
WEIGHTS: dict[Part, int] = {"jobs": 4, "redis": 2, "sandbox": 1, "rest": 1}
LEAST_BYTES = 2**26  # of a part, also if the operator has assigned everything to others


def memory_of_machine() -> int:
    """Return the bytes of memory of this machine, or of the container in which this process runs."""
    limits = [path.read_text().strip() for path in CONTAINER_MEMORY_LIMITS if path.exists()]
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *(int(limit) for limit in limits if limit.isdigit())])


def memory_plan(machine: int, parts: Collection[Part], assigned: Mapping[Part, int]) -> dict[Part, int]:
    """Return the bytes of each part that runs on a machine, and of the rest.

    `assigned` has the bytes of parts that the operator has chosen. The others share what is left.
    """
    chosen = {part: size for part, size in assigned.items() if part in parts}
    left = max(0, machine - sum(chosen.values()))
    open_parts: list[Part] = [part for part in WEIGHTS if part not in chosen and (part in parts or part == "rest")]
    weights = sum(WEIGHTS[part] for part in open_parts)
    shares = {part: max(LEAST_BYTES, left * WEIGHTS[part] // weights) for part in open_parts}
    return {part: (chosen | shares)[part] for part in WEIGHTS if part in chosen or part in shares}
