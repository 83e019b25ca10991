"""Receives a file, by multipart or as the raw body, into a temporary file."""

import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

from anyio.to_thread import run_sync
from fastapi import Request
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException

from app.sandbox.tasks import Upload
from ism_jobs.errors import InvalidTable
from ism_jobs.settings import Settings
from ism_jobs.tables import disk_full_is_a_problem

WRITE_BYTES = 2**20  # a piece as it comes is too small for a thread of its own
NAME_LENGTH = 200

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
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}  # for the OpenAPI document: the body is read by hand


@asynccontextmanager
async def received(
    request: Request, settings: Settings, name: str | None, header: bool | None
) -> AsyncIterator[Upload]:
    """The file that the request carries, for as long as it is needed."""
    folder = settings.upload_dir
    with disk_full_is_a_problem(), tempfile.NamedTemporaryFile(dir=folder, prefix="ism-upload-", delete=False) as file:
        path = Path(file.name)
        try:
            kind = request.headers.get("content-type", "")
            if kind.lower().startswith("multipart/form-data"):
                filename, kind = await _from_form(request, file)
            else:
                filename = None
                await _from_body(request, file)
            file.flush()
            size = os.fstat(file.fileno()).st_size
            if size == 0:
                raise InvalidTable("The upload is empty; send a file, as in: curl -F file=@table.csv …/datasets")
            shown = (name or filename or "table")[:NAME_LENGTH]
            yield Upload(path, size, shown, filename or name, kind or None, header)
        finally:
            path.unlink(missing_ok=True)


async def _from_body(request: Request, file: IO[bytes]) -> None:
    pieces: list[bytes] = []
    held = 0
    async for piece in request.stream():
        pieces.append(piece)
        held += len(piece)
        if held >= WRITE_BYTES:
            await run_sync(file.write, b"".join(pieces))
            pieces, held = [], 0
    await run_sync(file.write, b"".join(pieces))


async def _from_form(request: Request, file: IO[bytes]) -> tuple[str | None, str]:
    try:
        async with request.form(max_files=1, max_fields=10) as form:
            part = form.get("file")
            if not isinstance(part, UploadFile):
                raise InvalidTable('The form has no file in its field "file"; send one with: curl -F file=@table.csv …')
            while piece := await part.read(WRITE_BYTES):
                await run_sync(file.write, piece)
            # Some character sets give halves of characters, which UTF-8 cannot hold.
            return part.filename and part.filename.encode(errors="replace").decode(), part.content_type or ""
    except MultiPartException as error:
        raise InvalidTable(f"The multipart body cannot be read: {error.message}") from None
    except UnicodeError:
        raise InvalidTable("The form cannot be read in the character set that it names; send it in UTF-8.") from None
