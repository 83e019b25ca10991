"""The OpenAPI document, with the parts that FastAPI cannot derive: manually parsed bodies, and authentication."""

from typing import Any

from fastapi import FastAPI
from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from app.auth import ApiKeys, is_public
from app.links import prefix
from app.problems import ProblemView, problem_responses
from app.schemas import EVENT_DATA, JOB_EVENT, WEBHOOK_MESSAGE, TableReference, resolve
from ism_jobs.spec import GRID_FIELDS, KERNEL, POSTED_JOB, POSTED_JOBS

DESCRIPTION = """
Upload a table, post a job, follow its progress, and download its results. The main result is a matrix **W**: each
column is an axis, and its entries are the weights of the features in that axis. The other results are the rows in the
new axes, the trace of the iteration, metrics, plots, and a model that projects new rows.

Errors are `application/problem+json` documents that say what is wrong and how to fix it. If the service has API keys,
send yours as `Authorization: Bearer KEY`. You see only the data sets and jobs that were created with your key.
"""


def install_openapi(app: FastAPI, keys: ApiKeys) -> None:
    """Make the app serve the completed document. It changes when the first API key is made."""
    plain = app.openapi
    documents: dict[bool, dict[str, Any]] = {}

    def complete() -> dict[str, Any]:
        if keys.enabled not in documents:
            app.openapi_schema = None  # otherwise FastAPI returns its cached document
            document = plain()
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            for name, schema in _manual_schemas().items():
                schemas.setdefault(name, schema)
            _type_events(document)
            document["webhooks"] = _webhooks()
            _add_authentication(document, keys.enabled)
            documents[keys.enabled] = resolve(document)
        servers = {"servers": [{"url": prefix()}]} if prefix() else {}
        return {**documents[keys.enabled], **servers}

    app.openapi = complete  # type: ignore[method-assign]


def _add_authentication(document: dict[str, Any], keys: bool) -> None:
    """Add the responses of the access middleware, and the API key that it requires."""
    for path, operations in document["paths"].items():
        for operation in operations.values():
            refusals = {
                str(status): view for status, view in problem_responses(*((401, 429) if keys else (403,))).items()
            }
            if not keys or not is_public(path):
                operation["responses"] = {**refusals, **operation["responses"]}
            if keys and not is_public(path):
                operation["security"] = [{"apiKey": []}]
    if keys:
        scheme = {"type": "http", "scheme": "bearer", "description": "An API key, made with `ism keys make`."}
        document["components"]["securitySchemes"] = {"apiKey": scheme}


def _type_events(document: dict[str, Any]) -> None:
    """Describe each kind of event of the stream, whose data is JSON in a line of text."""
    stream = document["paths"]["/jobs/{id}/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]
    kinds = [
        {
            "properties": {
                "event": {"const": kind},
                "data": {
                    "type": "string",
                    "contentMediaType": "application/json",
                    "contentSchema": {"$ref": f"#/components/schemas/{name}"},
                },
            }
        }
        for kind, name in EVENT_DATA.items()
    ]
    stream["itemSchema"] = {**stream["itemSchema"], "required": ["id", "event", "data"], "oneOf": kinds}
    stream["itemSchema"]["description"] = "With its data decoded, an event is a JobEvent."


def _webhooks() -> dict[str, Any]:
    """Describe the messages that the service sends to a URL in `notify`."""
    headers = [
        {"name": f"webhook-{name}", "in": "header", "required": True, "schema": {"type": "string"}, "description": text}
        for name, text in (
            ("id", "The id of the message, the same in every try."),
            ("timestamp", "The time of this try, in seconds since 1970."),
            ("signature", "v1, and the base64 of the HMAC-SHA256 of id, timestamp and body, joined by dots."),
        )
    ]
    schema = {"$ref": "#/components/schemas/WebhookMessage"}
    operation = {
        "operationId": "receiveMessage",
        "summary": "A job or batch has ended",
        "parameters": headers,
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {"2XX": {"description": "Delivered. After any other answer the message is sent again."}},
    }
    return {"message": {"post": operation}}


def _manual_schemas() -> dict[str, Any]:
    adapters = {
        "PostedJob": POSTED_JOB,
        "PostedJobs": POSTED_JOBS,
        "Kernel": KERNEL,
        "ProblemView": TypeAdapter(ProblemView),
        "TableReference": TypeAdapter(TableReference),
        "JobEvent": JOB_EVENT,
        "WebhookMessage": WEBHOOK_MESSAGE,
    }
    schemas: dict[str, Any] = {}
    for name, adapter in adapters.items():
        mode: JsonSchemaMode = "serialization" if adapter in (JOB_EVENT, WEBHOOK_MESSAGE) else "validation"
        schema = adapter.json_schema(mode=mode, ref_template="#/components/schemas/{model}")
        schemas = schema.pop("$defs", {}) | schemas
        schemas[name] = schema
    fields = schemas["SemiSupervisedSpec"]["properties"] | schemas["SupervisedSpec"]["properties"]
    schemas["JobSettings"] = {
        "type": "object",
        "title": "JobSettings",
        "description": "The settings in which jobs may differ, as far as the job has them.",
        "properties": {"paradigm": {"type": "string"}} | {name: fields[name] for name in GRID_FIELDS},
    }
    return schemas
