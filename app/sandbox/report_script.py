"""The script of a report: the page's own modules as one text, because a file without network cannot import."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path, PurePosixPath

WEB = Path(__file__).parents[1] / "web"
ENTRY = "report/report.js"

_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|const|let) (\w+)", re.MULTILINE)


@cache
def report_script() -> str:
    """Return the script, which draws the picture from the JSON in the element with the id "data"."""
    modules: dict[str, str] = {}
    _add(ENTRY, modules)
    start = (
        f"{_name(ENTRY)}.reportPicture(document.getElementById('picture'),"
        " JSON.parse(document.getElementById('data').textContent));"
    )
    return "\n".join(["'use strict';", *modules.values(), start])


def script_hash() -> str:
    """Return the source expression that allows the script in a content security policy."""
    digest = hashlib.sha256(report_script().encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def stylesheet() -> str:
    """Return the stylesheet of the page."""
    return (WEB / "style.css").read_text()


def _add(path: str, modules: dict[str, str]) -> None:
    """Add a module after all modules that it imports, each as a function that returns its exports."""
    if path in modules:
        return
    text = (WEB / path).read_text()
    for names, target in _IMPORT.findall(text):
        imported = _resolve(path, target)
        _add(imported, modules)
        text = text.replace(f'import {{{names}}} from "{target}";', f"const {{{names}}} = {_name(imported)};")
    exported = ", ".join(name for _, name in _EXPORT.findall(text))
    text = _EXPORT.sub(r"\1 \2", text)
    modules[path] = f"const {_name(path)} = (() => {{\n{text}\nreturn {{ {exported} }};\n}})();"


def _resolve(path: str, target: str) -> str:
    parts = list(PurePosixPath(path).parent.parts)
    for part in PurePosixPath(target).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _name(path: str) -> str:
    return "module_" + re.sub(r"\W", "_", path)
