"""Spans are made only for a collector, and continue the trace of a caller that records it."""

import pytest

from ism_jobs import telemetry
from ism_jobs.telemetry import SpanContext
from tests.support.collector import running_collector


def test_nothing_is_recorded_without_a_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    before = telemetry._current_exporter
    telemetry.record("a", 1.0, 2.0, SpanContext.child_of(None))
    telemetry.flush()
    assert not telemetry.is_enabled()
    assert telemetry._current_exporter is before


@pytest.mark.parametrize(
    "header",
    [None, "", "00-" + "0" * 32 + "-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
     "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", "x" * 1000],
)  # fmt: skip
def test_a_header_that_is_invalid_or_not_sampled_is_not_continued(header: str | None) -> None:
    assert SpanContext.parsed(header) is None


def test_a_span_has_the_ids_times_and_attributes_of_otlp(monkeypatch: pytest.MonkeyPatch) -> None:
    parent = SpanContext.parsed("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    assert parent is not None
    span = SpanContext.child_of(parent)
    assert SpanContext.parsed(span.traceparent) == span
    monkeypatch.setattr(telemetry, "_current_exporter", None)
    with running_collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url + "/")
        attributes = {"a": 1, "b": 0.5, "c": "x", "d": True, "e": [1]}
        telemetry.record("step", 1.5, 2.0, span, parent=parent, attributes=attributes, error="Problem")
        telemetry.flush()
    assert collector.spans == [
        {
            "traceId": parent.trace,
            "spanId": span.span,
            "parentSpanId": parent.span,
            "name": "step",
            "kind": 1,
            "startTimeUnixNano": "1500000000",
            "endTimeUnixNano": "2000000000",
            "attributes": [
                {"key": "a", "value": {"intValue": "1"}},
                {"key": "b", "value": {"doubleValue": 0.5}},
                {"key": "c", "value": {"stringValue": "x"}},
                {"key": "d", "value": {"boolValue": True}},
            ],
            "status": {"code": 2, "message": "Problem"},
        }
    ]


def test_a_collector_that_is_gone_raises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "_current_exporter", None)
    with running_collector() as collector:
        url = collector.url
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    telemetry.record("a", 1.0, 2.0, SpanContext.child_of(None))
    telemetry.flush()
