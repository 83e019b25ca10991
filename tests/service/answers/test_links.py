"""Links, `Location` and the pages of lists, also behind a proxy that serves the API under a prefix."""

import pytest

from tests.service.test_posting import spec
from tests.support.api import Api

PROXY = {"X-Forwarded-Prefix": "/ism/"}


def paths(links: dict[str, str]) -> list[str]:
    return [path for path in links.values() if not path.startswith("/ism/")]


def test_links_have_the_prefix_of_the_proxy(api: Api, wine_id: str, done: str) -> None:
    posted = api.post("/jobs", json=spec(wine_id, q=1, features=["ash"], kernel="linear"), headers=PROXY)
    assert posted.headers["location"] == f"/ism/jobs/{posted.json()['id']}"
    batch = api.post("/batches", json=spec(wine_id, q=[1], features=["ash"], kernel="linear"), headers=PROXY)
    assert batch.headers["location"] == f"/ism/batches/{batch.json()['id']}"
    for path in (f"/jobs/{done}", f"/jobs/{done}/result", f"/datasets/{wine_id}", f"/batches/{batch.json()['id']}"):
        answer = api.get(path, headers=PROXY)
        assert paths(answer.json()["links"]) == []
        assert all(not link.startswith("/ism/") for link in api.get(path).json()["links"].values()), "none remains"
    assert paths(api.get("/jobs?limit=1", headers=PROXY).json()["links"]) == []
    assert api.get("/openapi.json", headers=PROXY).json()["servers"] == [{"url": "/ism"}]
    assert "/ism/openapi.json" in api.get("/docs", headers=PROXY).text
    events = [data for _, kind, data in api.events(done) if kind == "state"]
    assert events[-1]["links"]["self"] == f"/jobs/{done}"
    assert "/ism" in api.get(f"/jobs/{done}/report.html", headers=PROXY).text


@pytest.mark.parametrize("prefix", ["//evil.example", "https://evil.example", "/a b", "/b?", "/" + "a" * 300, "/é"])
def test_a_prefix_that_is_no_path_is_ignored(api: Api, done: str, prefix: str) -> None:
    answer = api.get(f"/jobs/{done}", headers={"X-Forwarded-Prefix": prefix.encode()})
    assert answer.json()["links"]["self"] == f"/jobs/{done}"


@pytest.mark.parametrize("path", ["/jobs", "/datasets", "/batches", "/webhooks/deliveries"])
def test_lists_link_to_their_next_page(api: Api, done: str, path: str) -> None:
    for _ in range(2):
        api.post("/webhooks/test", json={"url": "https://localhost/"})
    first = api.get(path, params={"limit": 1}).json()
    assert first["links"]["self"] == f"{path}?limit=1"
    if first["next"]:
        second = api.get(first["links"]["next"]).json()
        assert [item["id"] for item in second["items"]] != [item["id"] for item in first["items"]]
        assert second["links"]["self"] == first["links"]["next"]
    last = api.get(path, params={"limit": 100}).json()
    while last["next"]:
        last = api.get(last["links"]["next"]).json()
    assert last["links"].keys() == {"self"}
