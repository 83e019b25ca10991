"""Look up known vulnerabilities of the locked dependencies: `python -m tools.audit SECONDS`.

The exit code is 1 only if a vulnerability is found. If no database answers in that time, a notice says so.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
COMMAND = ["--requirement", "requirements.lock", "--disable-pip", "--require-hashes", "--format", "json"]
QUIET = ["--progress-spinner", "off", "--timeout", "3"]


def report(seconds: float) -> list[dict[str, Any]] | None:
    """Return what pip-audit reports for each dependency, or None if no database could be reached."""
    program = Path(sys.executable).parent / "pip-audit"
    try:
        done = subprocess.run(
            [program, *COMMAND, *QUIET], cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False
        )
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError):
        return None
    return found


def verdict(found: list[dict[str, Any]] | None) -> tuple[bool, str]:
    """Return whether no vulnerability is known, and the text to print."""
    known = [entry for entry in found or [] if "vulns" in entry]
    if not known:
        return True, "audit: skipped, no vulnerability database could be reached in time"
    lines = [
        f"audit: {entry['name']} {entry['version']}: {flaw['id']}, fixed in {', '.join(flaw['fix_versions']) or 'none'}"
        for entry in known
        for flaw in entry["vulns"]
    ]
    skipped = len(found or []) - len(known)
    missing = f", {skipped} are not in the database" if skipped else ""
    return not lines, "\n".join([*lines, f"audit: {len(known)} locked dependencies looked up{missing}"])


if __name__ == "__main__":
    well, text = verdict(report(float(sys.argv[1])))
    print(text)
    sys.exit(not well)
