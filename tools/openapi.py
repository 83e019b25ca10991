"""The OpenAPI document as it is committed: `python -m tools.openapi` writes docs/openapi.json.

`broken` finds what a client of an earlier document would miss.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.main import create_app
from ism_jobs.settings import Settings

FILE = Path(__file__).parents[1] / "docs" / "openapi.json"
Document = dict[str, Any]


def text() -> str:
    """Return the document of this version, of a service without API keys."""
    document = create_app(Settings(redis_url="redis://unused")).openapi()
    return json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def broken(old: Document, new: Document) -> Iterator[str]:
    """Yield each change that is not additive: something removed, or a request that needs more than before."""
    for path, operations in old["paths"].items():
        for method, operation in operations.items():
            now = new["paths"].get(path, {}).get(method)
            if now is None:
                yield f"{method.upper()} {path} is gone"
                continue
            yield from _broken_operation(f"{method.upper()} {path}", operation, now)
    for name, schema in old["components"]["schemas"].items():
        now = new["components"]["schemas"].get(name)
        if now is None:
            yield f"the schema {name} is gone"
            continue
        yield from (
            f"{name}.{field} is gone" for field in schema.get("properties", {}) if field not in now["properties"]
        )
        if schema.get("additionalProperties") is False:  # a request
            yield from (f"{name}.{field} is now required" for field in _added(schema, now, "required"))
        yield from (f"{name} is no longer {value!r}" for value in _added(now, schema, "enum"))


def _broken_operation(where: str, old: Document, new: Document) -> Iterator[str]:
    parameters = {(each["in"], each["name"]): each for each in new.get("parameters", [])}
    known = {(each["in"], each["name"]) for each in old.get("parameters", [])}
    yield from (f"{where}: the parameter {name} is gone" for place, name in known - parameters.keys())
    for place, name in parameters.keys() - known:
        if parameters[place, name].get("required"):
            yield f"{where}: the new parameter {name} is required"
    for status, answer in old["responses"].items():
        if status.startswith("2"):
            formats = new["responses"].get(status, {}).get("content", {})
            yield from (
                f"{where}: {status} {form} is gone" for form in answer.get("content", {}) if form not in formats
            )


def _added(old: Document, new: Document, name: str) -> list[Any]:
    return [each for each in new.get(name, []) if each not in old.get(name, [])]


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
