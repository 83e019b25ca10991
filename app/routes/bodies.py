"""The JSON bodies of POST /jobs and /batches, and the parameters that both take."""

import json
from functools import partial
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import Header, Query, Request

from app.schemas import PlanView
from ism_jobs.errors import FieldError, InvalidSpec

MAX_OBJECT_FIELDS = 100  # fields of one JSON object in the body; no job has that many
INLINE_PARSE_BYTES = 2**16  # bodies below this size are parsed faster than a thread starts
RETRY_AFTER = {"description": "Seconds to wait before the first request for it.", "schema": {"type": "integer"}}


async def json_body(request: Request) -> Any:
    """Parse the body. FastAPI would report invalid JSON in its own words, not as a problem."""
    body = await request.body()
    try:
        parse = partial(json.loads, body, parse_constant=_refuse_constant, object_pairs_hook=_object)
        return parse() if len(body) < INLINE_PARSE_BYTES else await run_sync(parse)
    except RecursionError:
        sentence = "The body is nested too deeply; a job is an object with a few levels at most."
    except ValueError as error:
        reason = "a number has thousands of digits" if "digits" in str(error) else error
        sentence = f"The body is not JSON: {reason}."
    raise InvalidSpec(sentence, [FieldError("body", sentence)])


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse objects with very many fields, because error messages for all of them would take minutes."""
    if len(pairs) > MAX_OBJECT_FIELDS:
        sentence = f"The body has an object with {len(pairs):,} fields; no job has more than {MAX_OBJECT_FIELDS}."
        raise InvalidSpec(sentence, [FieldError("body", sentence)])
    return dict(pairs)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


IdempotencyKey = Annotated[
    str | None,
    Header(
        description="A repeated request with the same key and body returns the same job or batch.",
        min_length=1,
        max_length=200,
    ),
]
ValidateOnly = Annotated[
    bool, Query(description="Only say what the request would do: answer 200 with a plan, and store nothing.")
]


def posted_schema(name: str) -> dict[str, Any]:
    """Return the OpenAPI entry of a body with this schema."""
    schema = {"$ref": f"#/components/schemas/{name}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def accepted(description: str, model: Any) -> dict[int | str, Any]:
    """Return the OpenAPI entries of the answers: the plan, or what was queued."""
    location = {"description": "Its path.", "schema": {"type": "string"}}
    headers = {"Location": location, "Retry-After": RETRY_AFTER}
    return {
        200: {"model": PlanView, "description": "With validate_only: what would happen"},
        202: {"model": model, "description": description, "headers": headers},
    }
