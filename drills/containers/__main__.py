"""`python -m drills.containers [python3.12]`: exit code 1 if a step fails, 2 if there is no engine."""

import sys
import tempfile
from pathlib import Path

from drills.containers.base_images import base_images
from drills.containers.engine import NoEngine, engine
from drills.containers.rehearsal import rehearse
from drills.containers.stack import Stack, default_images
from drills.deployment import say
from drills.report import table


def main(python: str) -> None:
    """Make what is missing, rehearse, print the figures, and remove everything again."""
    with tempfile.TemporaryDirectory(prefix="ism-containers-") as name, engine(Path(name)) as environment:
        stand_ins = base_images(Path(name), environment, python, default_images())
        stack = Stack(environment, stand_ins)
        try:
            figures = rehearse(stack)
        except BaseException:
            print(stack.logs(), file=sys.stderr)
            raise
        finally:
            stack.remove()
    print(table("Containers", figures))
    if stand_ins:
        print(f"Stand-ins made here took the place of {', '.join(default_images().values())}.")
    say("The containers work.")


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "python3.12")
    except NoEngine as reason:
        print(reason, file=sys.stderr)
        sys.exit(2)
