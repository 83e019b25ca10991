"""The types of the TypeScript client: `python -m tools.typescript` writes them from docs/openapi.json."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FILE = ROOT / "ism_client" / "typescript" / "types.d.ts"
HEAD = "// Written by `make openapi` from docs/openapi.json; do not edit.\n\n"
SIMPLE = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}
Schema = dict[str, Any]


def text() -> str:
    """Return a type for each schema of the committed OpenAPI document."""
    document = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    schemas: dict[str, Schema] = document["components"]["schemas"]
    return HEAD + "\n".join(
        f"{_comment(schema)}export type {name} = {type_of(schema)};\n" for name, schema in schemas.items()
    )


def type_of(schema: Schema, indent: str = "") -> str:
    """Return the TypeScript type of a JSON schema."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(dict.fromkeys(type_of(each, indent) for each in schema[union]))
    kinds = schema.get("type", "unknown")
    if isinstance(kinds, list):
        return " | ".join(type_of({**schema, "type": kind}, indent) for kind in kinds)
    if kinds == "array":
        items = type_of(schema.get("items", {}), indent)
        return f"({items})[]" if " | " in items else f"{items}[]"
    return _object(schema, indent) if kinds == "object" else SIMPLE.get(kinds, "unknown")


def _object(schema: Schema, indent: str) -> str:
    if "properties" not in schema:
        values = schema.get("additionalProperties")
        return f"Record<string, {type_of(values, indent) if isinstance(values, dict) else 'unknown'}>"
    inner, required = indent + "  ", schema.get("required", ())
    fields = [
        f"{_comment(field, inner)}{inner}{_key(name)}{'' if name in required else '?'}: {type_of(field, inner)};\n"
        for name, field in schema["properties"].items()
    ]
    return "{\n" + "".join(fields) + indent + "}"


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _comment(schema: Schema, indent: str = "") -> str:
    about = " ".join(schema.get("description", "").split()).replace("*/", "* /")
    return f"{indent}/** {about} */\n" if about else ""


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
