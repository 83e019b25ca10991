"""Requests that schemathesis makes from the OpenAPI document, for one operation at a time.

Its pytest plugin would build the requests of all operations when tests are collected, in each process of pytest-xdist;
that takes longer than the tests. Here only the process that runs the tests imports it.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings

DOCUMENT = json.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_text(encoding="utf-8"))
OPERATIONS = [f"{method.upper()} {path}" for path, methods in DOCUMENT["paths"].items() for method in methods]
BOUNDED: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "derandomize": True,
    "suppress_health_check": list(HealthCheck),
    "phases": [Phase.explicit, Phase.generate],
}


def loaded(document: dict[str, Any], config: dict[str, Any]) -> Any:
    """Return the schema of a document for `check_operation`."""
    import schemathesis

    return schemathesis.openapi.from_dict(document, config=schemathesis.Config.from_dict(config))


def check_operation(schema: Any, operation: str, check: Callable[[Any], None]) -> int:
    """Call `check` with each request that schemathesis makes for "METHOD /path"; return their number."""
    from schemathesis.checks import load_all_checks
    from schemathesis.generation.feedback import FeedbackSources
    from schemathesis.pytest._test_builder import build_operation_test

    made = 0

    @settings(**BOUNDED)
    def test(case: Any) -> None:
        nonlocal made
        made += 1
        check(case)

    load_all_checks()
    method, path = operation.split(" ", 1)
    build_operation_test(
        config=schema.config,
        operation=schema[path][method],
        test_func=test,
        given_kwargs={},
        feedback=FeedbackSources(),
    )()
    return made
