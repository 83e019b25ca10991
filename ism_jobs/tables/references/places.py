"""Where tables by reference may be: their URIs, and the roots that a setting allows."""

import os.path
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Self

from ism_jobs.sentences import alternatives, listed, shown

SCHEMES = ("file", "s3", "gs", "https", "http")
BUCKETS = ("s3", "gs")  # schemes of object stores
WEB = ("https", "http")  # schemes of single files, which cannot be listed or written
MOST_CHARACTERS = 2_000  # of a URI
_URI = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<host>[^/]*)(?P<path>.*)", re.IGNORECASE | re.DOTALL)
_BUCKET = re.compile(r"[\w.-]+", re.ASCII)
_HOST = re.compile(r"([\w.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?", re.ASCII | re.IGNORECASE)


class WrongPlace(ValueError):
    """A URI that cannot be used; the message says what to change."""


@dataclass(frozen=True)
class Place:
    """A file, a folder, or all files of a folder whose names match a pattern such as *.csv."""

    scheme: str
    host: str  # the bucket, or the host and its port; empty for files of this machine
    path: str  # starts with "/" and has no "/" at its end

    @classmethod
    def parse(cls, uri: str) -> Self:
        """Return the place of a URI or of an absolute path; raise WrongPlace for others."""
        if len(uri) > MOST_CHARACTERS or not uri.isprintable():
            raise WrongPlace(f"{shown(uri[:100])} is no URI; give printable text of {MOST_CHARACTERS:,} characters.")
        if uri.startswith("/"):
            return cls._checked(uri, "file", "", uri)
        found = _URI.fullmatch(uri)
        if found is None:
            raise WrongPlace(f"{shown(uri)} is no URI; give an absolute path, or a URI such as s3://bucket/folder.")
        scheme, host, path = found["scheme"].lower(), found["host"], found["path"]
        if scheme not in SCHEMES:
            raise WrongPlace(f"{shown(uri)} starts with {scheme}://; it must be one of {alternatives(SCHEMES)}.")
        if "@" in host:
            raise WrongPlace("The URI has a user or a password; leave them out, they come from the environment.")
        if scheme in WEB and ("?" in path or "#" in path):
            raise WrongPlace("The URI has a query or a fragment; leave it out, signed links are not used.")
        if scheme == "file" and host not in ("", "localhost"):
            raise WrongPlace(f"{shown(uri)} names the host {host}; write file:///path for a file of this machine.")
        pattern = _BUCKET if scheme in BUCKETS else _HOST
        if scheme != "file" and not pattern.fullmatch(host):
            what = "bucket" if scheme in BUCKETS else "host"
            raise WrongPlace(f"{shown(uri)} names no {what}; write {scheme}://{what}/path.")
        return cls._checked(uri, scheme, "" if scheme == "file" else host.lower(), path or "/")

    @classmethod
    def _checked(cls, uri: str, scheme: str, host: str, path: str) -> Self:
        path = "/" + path.strip("/")
        if path != "/" and any(part in ("", ".", "..") for part in path[1:].split("/")):
            raise WrongPlace(f"{shown(uri)} has an empty part, . or .. in its path; write the path without them.")
        if "*" in path.rpartition("/")[0]:
            raise WrongPlace(f"{shown(uri)} has * in the name of a folder; only the name of files may have it.")
        return cls(scheme, host, path)

    @property
    def uri(self) -> str:
        """The place as text."""
        return self.path if self.scheme == "file" else f"{self.scheme}://{self.host}{self.path}".rstrip("/")

    @property
    def name(self) -> str:
        """The last part of the path, or the bucket."""
        return PurePosixPath(self.path).name or self.host

    @property
    def folder(self) -> "Place":
        """The folder that the place is in."""
        return replace(self, path=self.path.rpartition("/")[0] or "/")

    @property
    def has_pattern(self) -> bool:
        """Whether the name is a pattern of names."""
        return "*" in self.name

    @property
    def location(self) -> str:
        """The path as the file system has it: it starts with the bucket."""
        return (self.host + self.path).rstrip("/") if self.scheme in BUCKETS else self.path

    def at(self, location: str) -> "Place":
        """Return the place of a path of the same file system."""
        return replace(self, path=location.removeprefix(self.host) if self.scheme in BUCKETS else location)

    def is_within(self, root: "Place") -> bool:
        """Tell whether the place is a root, or inside it. Symbolic links are followed first."""
        if (self.scheme, self.host) != (root.scheme, root.host):
            return False
        path, top = (each.path for each in (self, root))
        if self.scheme == "file":
            path, top = os.path.realpath(path), os.path.realpath(top)
        return top == "/" or path == top or path.startswith(top + "/")


@dataclass(frozen=True)
class Roots:
    """The places in which tables may be read or written; None allows every place."""

    places: tuple[Place, ...] | None
    setting: str  # the name of the setting that lists them

    @classmethod
    def of(cls, uris: Sequence[str], setting: str) -> Self:
        """Return the roots of a setting; raise WrongPlace if one is none."""
        try:
            return cls(tuple(map(Place.parse, uris)), setting)
        except WrongPlace as error:
            raise WrongPlace(f"{setting}: {error}") from None

    @property
    def uris(self) -> list[str]:
        """The roots as text."""
        return [place.uri for place in self.places or ()]

    def refusal(self, place: Place) -> str | None:
        """Return a sentence if a place is outside all roots."""
        if self.places is None or any(place.is_within(root) for root in self.places):
            return None
        if not self.places:
            return f"This service has no places for such tables: its administrator can list them in {self.setting}."
        return f"{shown(place.uri)} is not inside a place that {self.setting} allows: {listed(self.uris)}."

    def check(self, place: Place) -> None:
        """Raise WrongPlace if a place is outside all roots."""
        if sentence := self.refusal(place):
            raise WrongPlace(sentence)


ANYWHERE = Roots(None, "")  # for `ism fit`, which has the rights of its user
