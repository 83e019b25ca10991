"""Simulated histories break no promise, a store that breaks one is found, and a seed repeats its history."""

from collections.abc import Iterable
from typing import Any

import pytest

from drills.simulation import History, Violation
from drills.simulation.faulty_store import Wire


def run(redis_url: str, seeds: Iterable[int]) -> None:
    for seed in seeds:
        History(seed, redis_url).run()


@pytest.mark.parametrize("first", [0, 10, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(20, 200, 10))])
def test_ten_histories_break_no_promise(redis_url: str, first: int) -> None:
    run(redis_url, range(first, first + 10))


def test_a_worker_that_stands_still_after_its_claim_ends_no_job_again(redis_url: str) -> None:
    """The history in which a job was counted twice before."""
    run(redis_url, [3292])


def test_a_seed_repeats_its_history(redis_url: str) -> None:
    histories = [History(7, redis_url) for _ in range(2)]
    for history in histories:
        history.run()
    assert histories[0].wire.log == histories[1].wire.log
    assert {"loses its answer", "is killed", "stalls"} <= {
        line[23:].partition(" ")[2] for line in histories[0].wire.log
    }


@pytest.mark.parametrize(
    ("line", "broken", "sentence"),
    [
        pytest.param(
            "redis.call('HGET', KEYS[1], 'claim') ~= ARGV[2]",
            "false",
            "was reported",
            id="fencing",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            "if fewest == 0 then break end", "if fewest then break end", "it was the turn of", id="fair share"
        ),
        pytest.param(
            "return math.max(0, may_start - tickets)",
            "return 0",
            "do not end",
            id="lost tickets",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            "count < tonumber(ARGV[7])", "true", "runs more than", id="running jobs", marks=pytest.mark.thorough
        ),
    ],
)
def test_a_store_that_breaks_a_promise_is_found(
    redis_url: str, monkeypatch: pytest.MonkeyPatch, line: str, broken: str, sentence: str
) -> None:
    whole = Wire.script
    texts = []

    def script(wire: Wire, connection: Any, text: str) -> Any:
        texts.append(text)
        return whole(wire, connection, text.replace(line, broken))

    monkeypatch.setattr(Wire, "script", script)
    with pytest.raises(Violation, match=sentence):
        run(redis_url, range(30))
    assert any(line in text for text in texts)
