"""Types of fields that hold a stored document as it is, with the schema that describes it in the OpenAPI document.

A spec or a kernel is stored by the worker, perhaps by another release, so it is passed on without being parsed again.
`app/openapi.py` replaces the mark by a reference to the schema of that name.
"""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import WithJsonSchema

MARK = "x-schema"  # in place of $ref, which pydantic would try to resolve
_NULL = {"type": "null"}

Spec = Annotated[dict[str, Any], WithJsonSchema({MARK: "PostedJob"})]
JobSettings = Annotated[dict[str, Any], WithJsonSchema({MARK: "JobSettings"})]
KernelDocument = Annotated[dict[str, Any], WithJsonSchema({MARK: "Kernel"})]
AnyKernel = Annotated[Any, WithJsonSchema({"anyOf": [{MARK: "Kernel"}, _NULL]})]  # null before a kernel is known


def resolve(node: Any) -> Any:
    """Return a JSON schema with references in place of the marks."""
    if isinstance(node, dict):
        return dict(_resolved(node))
    return [resolve(each) for each in node] if isinstance(node, list) else node


def _resolved(node: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in node.items():
        if name == MARK:
            yield "$ref", f"#/components/schemas/{value}"
        else:
            yield name, resolve(value)
