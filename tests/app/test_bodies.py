"""Bodies that no client sends by accident: each is refused with a sentence, none is an error of ours."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from ism_jobs.settings import Settings
from tests.app.auth.test_access import answers
from tests.support.api import problem

FORM = b'--B\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\na,b\n1,2\n3,4\n\r\n--B--\r\n'


@pytest.fixture
def settings(redis_url: str, tmp_path: Path) -> Settings:
    return Settings(redis_url=redis_url, api_keys_file=tmp_path / "api-keys")


def posted(settings: Settings, path: str, content: Any, kind: str = "application/json") -> httpx.Response:
    async def ask(client: httpx.AsyncClient) -> httpx.Response:
        return await client.post(path, content=content, headers={"Content-Type": kind}, timeout=60)

    answer: httpx.Response = answers(ask, settings)
    return answer


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (json.dumps({str(place): 1 for place in range(101)}), "an object with 101 fields; no job has more than"),
        ("[" * 100_000, "nested too deeply"),
        ('{"q": ' + "9" * 5_000 + "}", "a number has thousands of digits"),
        ('{"q": NaN}', "NaN is not a JSON number"),
        ("{", "not JSON: Expecting"),
    ],
)
def test_a_job_that_cannot_be_read_is_refused_in_words_of_ours(settings: Settings, body: str, sentence: str) -> None:
    answer = posted(settings, "/jobs", body)
    assert sentence in problem(answer, 422)["detail"]
    assert "sys." not in answer.text


@pytest.mark.parametrize("charset", ["unicode_escape", "undefined", "utf-16-surrogatepass", "zlib"])
def test_a_form_in_a_strange_character_set_is_read_or_refused(settings: Settings, charset: str) -> None:
    answer = posted(settings, "/datasets", FORM % rb"\ud800.csv", f"multipart/form-data; boundary=B; charset={charset}")
    assert answer.status_code in (200, 201) or "character set" in problem(answer, 422)["detail"]
