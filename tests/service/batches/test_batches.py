"""Batches over HTTP: posted once, compared, listed, cancelled, deleted; and plans of what a request would do."""

from uuid import uuid4

from tests.service.conftest import SLOW
from tests.service.test_posting import spec
from tests.support.api import Api, problem


def test_a_key_makes_a_batch_safe_to_repeat(api: Api, wine_id: str) -> None:
    headers = {"Idempotency-Key": uuid4().hex}
    posted = [spec(wine_id, features=["ash", "alcohol"], q=q) for q in (1, 2)]
    first, again = (api.post("/batches", json=posted, headers=headers).json() for _ in range(2))
    assert first["id"] == again["id"]
    assert [row["id"] for row in first["jobs"]] == [row["id"] for row in again["jobs"]]
    for other in (posted[:1], posted[::-1], [*posted, posted[0]], posted[0]):
        assert (
            problem(api.post("/batches", json=other, headers=headers), 422)["errors"][0]["field"] == "Idempotency-Key"
        )


def test_a_grid_is_compared_best_first(api: Api, wine_id: str, features: list[str]) -> None:
    grid = spec(
        wine_id, features=features, kernel=["gaussian", "linear"], q=[1, 2], folds=3, missing=["refuse", "mean"]
    )
    answer = api.post("/batches", json=grid)
    assert answer.status_code == 202
    batch = answer.json()
    assert answer.headers["location"] == f"/batches/{batch['id']}"
    assert sum(batch["states"].values()) == 8
    batch = api.compared(batch["id"])
    assert batch["states"] == {"succeeded": 8}
    assert batch["metric"] == "accuracy"
    accuracies = [row["metrics"]["accuracy"] for row in batch["jobs"]]
    assert accuracies == sorted(accuracies, reverse=True)
    tried = {(row["settings"]["kernel"], row["settings"]["q"], row["settings"]["missing"]) for row in batch["jobs"]}
    assert len(tried) == 8
    listed = api.get(batch["links"]["jobs"]).json()["items"]
    assert {job["id"] for job in listed} == {row["id"] for row in batch["jobs"]}
    assert all(job["batch"] == batch["id"] for job in listed)

    answer = api.get(batch["links"]["csv"])
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    header, *lines = answer.text.splitlines()
    assert header.startswith("job,state,label,")
    assert [line.split(",")[0] for line in lines] == [row["id"] for row in batch["jobs"]]
    assert api.get(f"/batches/{batch['id']}", headers={"Accept": "text/csv"}).text == answer.text
    problem(api.get(f"/batches/{batch['id']}?format=npy"), 422)


def test_a_list_of_jobs_is_a_batch_even_of_different_paradigms(api: Api, wine_id: str, features: list[str]) -> None:
    cluster = {"dataset": wine_id, "paradigm": "unsupervised", "clusters": 3, "features": features, "kernel": "linear"}
    batch = api.post("/batches", json=[spec(wine_id, features=features), cluster]).json()
    batch = api.compared(batch["id"])
    assert batch["states"] == {"succeeded": 2}
    assert batch["metric"] is not None
    api.delete(f"/jobs/{batch['jobs'][0]['id']}")
    assert len(api.get(f"/batches/{batch['id']}").json()["jobs"]) == 1


def test_what_is_wrong_in_a_batch_is_told_with_its_place_and_nothing_is_queued(api: Api, wine_id: str) -> None:
    label = uuid4().hex
    good, bad = spec(wine_id, label=label, features=["ash"], q=1), spec(wine_id, label=label, q=0)
    document = problem(api.post("/batches", json=[good, bad]), 422)
    assert [error["field"] for error in document["errors"]] == ["1.q"]
    document = problem(api.post("/batches", json=spec(wine_id, label=label, q=[1, 0])), 422)
    assert [error["field"] for error in document["errors"]] == ["q.1"]
    problem(api.post("/batches", json=spec(wine_id, label=label, seed=list(range(1001)))), 422)
    assert api.get("/jobs", params={"label": label}).json()["items"] == []
    problem(api.get("/batches/nothing"), 404)


def test_several_jobs_are_refused_at_the_route_of_one(api: Api, wine_id: str) -> None:
    for body in ([spec(wine_id)], spec(wine_id, q=[1, 2]), spec([wine_id])):
        assert "/batches" in problem(api.post("/jobs", json=body), 422)["detail"]


def test_a_batch_over_data_sets_tells_which_table_target_and_width_each_job_had(api: Api, wine_id: str) -> None:
    small = api.upload(b"ash,alcohol,class\n1,4,a\n2,3,a\n3,9,b\n4,1,b\n5,5,a\n6,2,b\n", "small.csv")["id"]
    grid = spec([wine_id, small], features=["ash", "alcohol"], kernel="gaussian", q=1, label="one")
    batch = api.post("/batches", json={"jobs": [grid, spec(small, kernel="linear", q=1)], "label": "both"}).json()
    assert batch["label"] == "both"
    header, *rows = api.get(api.compared(batch["id"])["links"]["csv"]).text.splitlines()
    names = header.split(",")
    assert names[:5] == ["job", "state", "label", "dataset_name", "target"]
    found = sorted((row.split(",")[3], row.split(",")[names.index("sigma")] != "") for row in rows)
    assert found == [("small.csv", False), ("small.csv", True), ("wine.csv", True)]

    listed = api.get("/batches", params={"limit": 1}).json()
    (item,) = listed["items"]
    assert (item["id"], item["label"], item["states"]) == (batch["id"], "both", {"succeeded": 3})
    assert api.get("/batches", params={"cursor": listed["next"]}).json()["items"][0]["id"] != batch["id"]


def test_a_batch_is_cancelled_and_deleted_with_its_jobs(api: Api, slow_id: str) -> None:
    batch = api.post("/batches", json={"dataset": slow_id, **SLOW, "seed": [0, 1, 2, 3]}).json()
    assert "cancel the batch first" in problem(api.delete(f"/batches/{batch['id']}"), 409)["detail"]
    for _ in range(2):
        assert api.post(batch["links"]["cancel"]).status_code == 202
    assert api.compared(batch["id"])["states"] == {"cancelled": 4}
    assert api.delete(f"/batches/{batch['id']}").status_code == 204
    problem(api.get(f"/batches/{batch['id']}"), 404)
    problem(api.get(f"/jobs/{batch['jobs'][0]['id']}"), 404)
    assert api.get("/jobs", params={"batch": batch["id"]}).json()["items"] == []
    for method, path in (("DELETE", ""), ("POST", "/cancel")):
        problem(api.request(method, f"/batches/nothing{path}"), 404)


def test_errors_point_into_the_body(api: Api, wine_id: str) -> None:
    bad = spec(wine_id, q=[1, 0], metadata={"a.b/c": "x" * 501}, kernel={"name": "gaussian", "sigma": -1})
    document = problem(api.post("/batches", json={"jobs": [bad]}), 422)
    pointers = {error["pointer"] for error in document["errors"]}
    assert pointers == {"#/jobs/0/q/1", "#/jobs/0/metadata/a.b~1c", "#/jobs/0/kernel/sigma"}
    assert "pointer" not in problem(api.get("/jobs", params={"limit": 0}), 422)["errors"][0]


def test_a_plan_says_what_would_happen_and_stores_nothing(api: Api) -> None:
    rows = ["1,4,red,7,a", "2,3,blue,,a", "3,9,red,9,", "4,1,green,3,b", "5,5,green,8,a", "6,2,blue,1,b"]
    dataset = api.upload("\n".join(["x,y,color,gap,class", *rows]).encode(), "plan.csv")["id"]
    planned = api.post("/jobs", params={"validate_only": True}, json=spec(dataset))
    assert planned.status_code == 200
    (job,) = planned.json()["jobs"]
    assert (job["rows"], job["rows_dropped"], job["features"], job["table_bytes"]) == (5, 1, 6, 240)
    assert job["spec"]["max_iter"] == 300
    assert any('"gap"' in warning for warning in job["warnings"])
    grid = spec(dataset, missing=["auto", "drop"])
    plan = api.post("/batches", params={"validate_only": True}, json=grid).json()
    assert [(job["rows"], job["rows_dropped"]) for job in plan["jobs"]] == [(5, 1), (4, 2)]
    problem(api.post("/jobs", params={"validate_only": True}, json=spec(dataset, q=99)), 422)
    assert api.get("/jobs", params={"dataset": dataset}).json()["items"] == []


def test_an_unknown_query_parameter_is_refused_everywhere(api: Api, done: str) -> None:
    for path in ("/jobs", "/datasets", "/batches", "/kernels", "/healthz", f"/jobs/{done}", f"/jobs/{done}/W"):
        assert problem(api.get(path, params={"unknown": 1}), 422)["errors"][0]["field"] == "unknown"
    assert "did you mean" in problem(api.get("/jobs", params={"created_afte": 1}), 422)["detail"]


def test_what_failed_in_a_batch_is_retried_and_the_rest_stays(api: Api) -> None:
    rows = "\n".join(["x,y,class", *["1,5,p", "2,4,q"] * 15])  # only a job that runs can tell that x copies the class
    dataset = api.upload(rows.encode(), "copies.csv")["id"]
    jobs = [spec(dataset, kernel="linear", q=1, features="auto"), spec(dataset, kernel="linear", q=1, features=["x"])]
    batch = api.compared(api.post("/batches", json=jobs).json()["id"])
    assert batch["states"] == {"succeeded": 1, "failed": 1}
    again = api.post(batch["links"]["retry"])
    assert (again.status_code, sum(again.json()["states"].values())) == (202, 2)
    after = api.compared(batch["id"])
    attempts = {row["state"]: api.get(f"/jobs/{row['id']}").json()["attempt"] for row in after["jobs"]}
    assert attempts == {"succeeded": 1, "failed": 2}
    api.delete(f"/datasets/{dataset}")
    assert "upload the table" in problem(api.post(batch["links"]["retry"]), 409)["detail"]
    problem(api.post("/batches/nothing/retry"), 404)


def test_a_plan_estimates_time_and_memory_from_similar_jobs(api: Api, wine_id: str, done: str) -> None:
    earlier = api.get(f"/jobs/{done}").json()
    posted = {name: earlier["spec"][name] for name in ("dataset", "paradigm", "target", "features", "kernel", "q")}
    (job,) = api.post("/jobs", params={"validate_only": True}, json=posted).json()["jobs"]
    assert job["estimate"]["jobs"] >= 1
    assert job["estimate"]["seconds"] > 0
    assert job["estimate"]["memory_bytes"] > 2**20
    (job,) = api.post("/jobs", params={"validate_only": True}, json={**posted, "q": 7}).json()["jobs"]
    assert job["estimate"] is None
