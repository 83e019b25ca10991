"""Receiving an uploaded file, as a multipart form or as the raw body, into a temporary file.

`app/middleware.py` enforces the size limit while the body is read.
"""

import json
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

from anyio.to_thread import run_sync
from fastapi import Request
from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException

from app.sandbox import Upload
from app.schemas import TableReference
from ism_jobs.errors import FieldError, InvalidParameter, InvalidTable
from ism_jobs.sentences import shown
from ism_jobs.settings import Settings
from ism_jobs.tables import translate_disk_full

WRITE_BYTES = 2**20  # bytes per write; chunks as they arrive are too small to be worth a thread each
MAX_NAME_LENGTH = 200  # characters of the name of a data set
MAX_REFERENCE_BYTES = 10_000  # of a body that says where a table is
EXAMPLE = '{"uri": "s3://bucket/rows/", "name": "rows"}'
MAX_FORM_FIELDS = 10  # of a multipart form; only the field "file" is used

BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary", "description": "The table."}},
                }
            },
            "text/csv": {"schema": {"type": "string"}, "example": "a,b,class\n1,2,x\n3,4,y\n"},
            "application/json": {"schema": {"$ref": "#/components/schemas/TableReference"}},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}  # for the OpenAPI document, because FastAPI does not parse this body


@asynccontextmanager
async def receive_upload(
    request: Request, settings: Settings, name: str | None, header: bool | None
) -> AsyncIterator[Upload]:
    """Yield the file that the request carries, and delete it afterwards."""
    with (
        translate_disk_full(),
        tempfile.TemporaryDirectory(
            dir=settings.upload_dir, prefix="ism-upload-", ignore_cleanup_errors=True
        ) as folder,
    ):
        path = Path(folder, "upload")  # alone in its folder, which is all that the process that reads it may see
        with path.open("wb") as file:
            kind = request.headers.get("content-type", "")
            if kind.lower().startswith("multipart/form-data"):
                filename, kind = await _receive_form(request, file)
            else:
                filename = None
                await _receive_body(request, file)
            file.flush()
            size = os.fstat(file.fileno()).st_size
            if size == 0:
                raise InvalidTable("The upload is empty; send a file, for example: curl -F file=@table.csv …/datasets")
            shown = (name or filename or "table")[:MAX_NAME_LENGTH]
            yield Upload(path, size, shown, filename or name, kind or None, header)


async def table_reference(request: Request) -> TableReference | None:
    """Return the reference that a JSON body has; None if the body is a table itself."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" or not 0 < int(request.headers.get("content-length") or 0) <= MAX_REFERENCE_BYTES:
        return None
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        return None  # the reader of tables says what is wrong with it
    if not isinstance(body, dict) or not isinstance(body.get("uri"), str):
        return None
    try:
        return TableReference.model_validate(body)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        sentence = f"{shown(field)}: {first['msg']}. A reference is an object such as {EXAMPLE}."
        raise InvalidParameter(sentence, [FieldError(field, sentence)]) from None


async def _receive_body(request: Request, file: IO[bytes]) -> None:
    chunks: list[bytes] = []
    held = 0
    async for chunk in request.stream():
        chunks.append(chunk)
        held += len(chunk)
        if held >= WRITE_BYTES:
            await run_sync(file.write, b"".join(chunks))
            chunks, held = [], 0
    await run_sync(file.write, b"".join(chunks))


async def _receive_form(request: Request, file: IO[bytes]) -> tuple[str | None, str]:
    try:
        async with request.form(max_files=1, max_fields=MAX_FORM_FIELDS) as form:
            part = form.get("file")
            if not isinstance(part, UploadFile):
                raise InvalidTable('The form has no file in its field "file"; send one with: curl -F file=@table.csv …')
            while chunk := await part.read(WRITE_BYTES):
                await run_sync(file.write, chunk)
            # Some character sets decode to lone surrogates, which UTF-8 cannot encode.
            return part.filename and part.filename.encode(errors="replace").decode(), part.content_type or ""
    except MultiPartException as error:
        raise InvalidTable(f"The multipart body cannot be read: {error.message}") from None
    except UnicodeError:
        raise InvalidTable("The form does not match its declared character set; send it in UTF-8.") from None
