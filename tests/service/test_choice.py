"""Jobs that say what they want to explain and nothing else: what the service chooses, tells and lets go of."""

from typing import Any

import pandas as pd
import pytest

from tests.service.conftest import SLOW
from tests.support.api import Api, problem
from tests.support.tables import planted_csv


@pytest.fixture(scope="module")
def few(api: Api, wine: pd.DataFrame) -> str:
    """A third of the wines, so that a choice is soon made."""
    return api.upload(wine.iloc[::3].to_csv(index=False).encode(), "few.csv")["id"]


@pytest.fixture(scope="module")
def long(api: Api) -> str:
    """A table whose choice of settings takes some seconds."""
    rows = (",".join(str((row * prime) % 1009) for prime in (3, 7, 11, 13, 17, 19, 23, 29)) for row in range(1_200))
    return api.upload(("a,b,c,d,e,f,g,y\n" + "\n".join(rows)).encode(), "long.csv")["id"]


@pytest.fixture(scope="module")
def chosen(api: Api, few: str, features: list[str]) -> str:
    job = api.submit(dataset=few, paradigm="supervised", target="class", features=features, folds=2, resamples=2)
    api.succeeded(job)
    return job


def test_a_dataset_a_paradigm_and_a_target_are_enough(api: Api, wine: pd.DataFrame, features: list[str]) -> None:
    table = wine.iloc[::3][[*features, "class"]]
    dataset = api.upload(table.to_csv(index=False).encode(), "numbers.csv")["id"]
    job = api.submit(dataset=dataset, paradigm="supervised", target="class")
    view = api.succeeded(job)
    assert (view["spec"]["kernel"], view["spec"]["q"], view["spec"]["scale"]) == ("auto", "auto", "auto")
    assert view["metrics"]["accuracy"] > 0.9
    assert view["metrics"]["folds"] == 5


def test_the_result_tells_what_was_tried_and_pins_what_was_taken(api: Api, chosen: str) -> None:
    result = api.get(f"/jobs/{chosen}/result").json()
    choice = result["choice"]
    assert choice["criterion"] == "accuracy"
    assert choice["reason"].endswith(".")
    (taken,) = [each for each in choice["candidates"] if each["chosen"]]
    assert taken["kernel"] == choice["spec"]["kernel"]
    assert all(each["error"] >= 0 for each in choice["candidates"] if each["error"] is not None)
    assert result["stability"]["resamples"] == 2
    pinned = api.submit(**choice["spec"])
    api.succeeded(pinned)
    again = api.get(f"/jobs/{pinned}/result").json()
    assert again["choice"] is None
    assert [pytest.approx(row, abs=1e-8) for row in result["W"]] == again["W"]


@pytest.mark.parametrize(  # `ism fit` and the core are tested without settings, too
    "settings",
    [{"kernel": "gaussian", "q": 2}, {"kernel": "gaussian", "q": 1}, pytest.param({}, marks=pytest.mark.thorough)],
)
def test_planted_features_are_ranked_first_and_collinear_noise_is_not(api: Api, settings: dict[str, Any]) -> None:
    dataset = api.upload(planted_csv(), "planted.csv")["id"]
    job = api.submit(dataset=dataset, paradigm="supervised", target="class", folds=0, **settings)
    api.succeeded(job)
    result = api.get(f"/jobs/{job}/result").json()
    importance = dict(zip(result["features"], result["importance"], strict=True))
    assert sorted(importance, key=lambda name: -importance[name])[:3] == ["x0", "x1", "x2"]
    assert importance["x0"] + importance["x1"] + importance["x2"] > 0.9
    assert [group["features"] for group in result["groups"]] == [["x27", "x28"]]
    assert [each["informative"] for each in result["contributions"]] == [True, False][: len(result["axes"])]
    assert not {"x0", "x1", "x2"} & set(result["unclear"])
    assert (result["picture"] is None) == (len(result["axes"]) > 1)
    table = api.get(f"/jobs/{job}/embedding").json()
    assert ("picture" in table["columns"]) == (len(result["axes"]) == 1)


def test_those_who_follow_hear_of_trials_and_of_the_choice(api: Api, chosen: str) -> None:
    events = [(kind, data) for _, kind, data in api.events(chosen)]
    kinds = [kind for kind, _ in events]
    assert kinds.count("choice") == 1
    place = kinds.index("choice")
    assert "trial" in kinds[:place]
    assert "step" not in kinds[:place]
    trial = next(data for kind, data in events if kind == "trial")
    assert {"scale", "q", "fold", "folds", "tried", "best", "elapsed_seconds"} <= trial.keys()
    told = events[place][1]
    assert told["spec"] == api.get(f"/jobs/{chosen}/result").json()["choice"]["spec"]


def test_a_job_can_be_cancelled_while_it_chooses(api: Api, long: str) -> None:
    job = api.submit(dataset=long, paradigm="supervised", target="y", target_kind="values")
    while (view := api.get(f"/jobs/{job}").json())["progress"] is None or view["progress"]["trying"] is None:
        assert view["state"] in ("queued", "running")
    assert view["progress"]["stage"] == "choosing"
    assert api.post(f"/jobs/{job}/cancel").status_code in (200, 202)
    assert api.ended(job)["state"] == "cancelled"


def test_clusterings_choose_by_what_most_settings_agree_on(api: Api, few: str, features: list[str]) -> None:
    job = api.submit(dataset=few, paradigm="unsupervised", clusters=3, features=features, reference="class")
    view = api.succeeded(job)
    choice = api.get(f"/jobs/{job}/result").json()["choice"]
    assert (choice["criterion"], choice["spec"]["q"]) == ("consensus", 3)
    assert view["metrics"]["nmi_reference"] > 0.7


def test_what_cannot_be_chosen_is_refused_with_a_sentence(api: Api, few: str) -> None:
    summed = {"sum": [{"weight": 1, "kernel": {"name": "gaussian", "sigma": "auto"}}]}
    answer = api.post("/jobs", json={"dataset": few, "paradigm": "supervised", "target": "class", "kernel": summed})
    assert "in a sum of kernels; give a number" in problem(answer, 422)["detail"]


def running_with_picture(api: Api, job: str) -> dict[str, Any]:
    """Wait for the first picture; return the job."""
    while (view := api.get(f"/jobs/{job}").json())["best"] is None or view["state"] == "queued":
        assert view["state"] in ("queued", "running")
    return view


@pytest.fixture(scope="module")
def finished(api: Api, slow_id: str) -> dict[str, Any]:
    """A job that would take very long, finished after its first picture."""
    job = api.submit(dataset=slow_id, **SLOW)
    before = running_with_picture(api, job)
    picture = api.get(before["best"]["picture"]).json()
    answer = api.post(before["links"]["finish"])
    assert answer.status_code == 202
    return {"before": before, "picture": picture, "after": api.succeeded(job)}


def test_a_running_job_tells_its_best_and_shows_it(finished: dict[str, Any]) -> None:
    view, picture = finished["before"], finished["picture"]
    assert view["best"].keys() == {"number", "score", "q", "kernel", "scale", "picture"}
    assert view["links"]["picture"] == view["best"]["picture"]
    assert picture["number"] >= view["best"]["number"]
    assert len(picture["rows"]) == len(picture["coordinates"]) == len(picture["group"]) == 2_000
    assert len(picture["features"]) == len(picture["W"]) == 60


def test_a_finished_job_succeeds_and_says_what_was_cut_short(api: Api, finished: dict[str, Any]) -> None:
    result = api.get(finished["after"]["links"]["result"]).json()
    assert any("finished early" in warning for warning in result["warnings"])
    assert "finish" not in finished["after"]["links"]


def test_an_ended_job_is_not_finished_again(api: Api, done: str, finished: dict[str, Any]) -> None:
    for job in (done, finished["after"]["id"]):
        assert "already ended (succeeded)" in problem(api.post(f"/jobs/{job}/finish"), 409)["detail"]
    problem(api.post("/jobs/nosuchjob/finish"), 404)


def test_a_search_that_is_finished_says_so_in_its_choice(api: Api, long: str) -> None:
    job = api.submit(dataset=long, paradigm="supervised", target="y", target_kind="values")
    while (view := api.get(f"/jobs/{job}").json())["progress"] is None or view["progress"]["trying"] is None:
        assert view["state"] in ("queued", "running")
    assert view["progress"]["percent"] in range(101)
    api.post(f"/jobs/{job}/finish")
    api.succeeded(job)
    result = api.get(f"/jobs/{job}/result").json()
    assert result["choice"]["cut_short"]
    assert "finished early" in result["choice"]["reason"]
    assert any("finished early" in warning for warning in result["warnings"])


def test_a_queued_job_can_be_finished_before_it_starts(api: Api, long: str) -> None:
    jobs = [api.submit(dataset=long, **SLOW, seed=seed) for seed in (11, 12, 13)]  # more than there are workers
    for job in reversed(jobs):
        assert api.post(f"/jobs/{job}/finish").status_code == 202
    for job in jobs:
        api.succeeded(job)


def test_followers_get_pictures_and_late_ones_the_latest(api: Api, wine_id: str, features: list[str]) -> None:
    job = api.submit(dataset=wine_id, paradigm="supervised", target="class", features=features, kernel="gaussian")
    live = [data for _, kind, data in api.events(job) if kind == "picture"]
    late = [data for _, kind, data in api.events(job) if kind == "picture"]
    assert len(late) == 1
    assert late[0] == live[-1] == api.get(f"/jobs/{job}/picture").json()
    numbers = [picture["number"] for picture in live]
    assert numbers == sorted(set(numbers))
    api.delete(f"/jobs/{job}")
    problem(api.get(f"/jobs/{job}/picture"), 404)
