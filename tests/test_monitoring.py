"""The dashboard and the alert rules in deploy/monitoring name metrics that the service has, with labels they have."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from app.monitoring import LATENCY, REQUESTS, StoreCollector
from ism_jobs.store import Store

ROOT = Path(__file__).parents[1]
DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy" / "monitoring" / "dashboard.json").read_text())
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((ROOT / "deploy" / "monitoring" / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
EXPRESSIONS = [rule["expr"] for rule in RULES]
EXPRESSIONS += [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


@pytest.fixture
def samples(store: Store) -> dict[str, set[str]]:
    """The labels of each sample at /metrics."""
    REQUESTS.labels("GET", "/jobs", 200).inc()
    LATENCY.labels("GET", "/jobs").observe(0.1)
    text = (generate_latest() + generate_latest(StoreCollector(store))).decode()
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_expression_names_metrics_and_labels_that_there_are(
    samples: dict[str, set[str]], expression: str
) -> None:
    for name in re.findall(r"\bism_\w+", expression):
        assert name in samples
    for name, labels in re.findall(r"(\bism_\w+)\{([^}]*(?:\{[^}]*\}[^}]*)*)\}", expression):
        assert set(re.findall(r"(\w+)\s*[=!]", labels)) <= samples[name]
    grouped = {label.strip() for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(",")}
    assert all(grouped <= samples[name] for name in re.findall(r"\bism_\w+", expression))
    assert all(expression.count(one) == expression.count(other) for one, other in ("()", "{}", "[]"))


def test_the_manual_lists_every_metric_of_jobs(samples: dict[str, set[str]]) -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    suffix = r"_(bucket|count|sum|created|total)$"
    named = {re.sub(suffix, "", name) for name in re.findall(r"`(ism_\w+)`", page)}
    assert {re.sub(suffix, "", name) for name in samples if name.startswith("ism_")} == named
    assert {rule["alert"] for rule in RULES} == set(re.findall(r"`(Ism\w+)`", page))


def test_every_panel_has_a_place_of_its_own() -> None:
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in DASHBOARD["panels"])
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
