"""Files of a web server, read in ranges."""

import io
import time

from ism_jobs.tables.references.places import Place

ATTEMPTS = 8  # at one request
FIRST_PAUSE = 0.1  # seconds before the second attempt; each pause is twice the one before
TIMEOUT = 60.0  # seconds of one request
FAULTS = (429, 500, 502, 503, 504)  # statuses after which another attempt may succeed


class WebFile(io.RawIOBase):
    """A file at a URL. Redirects are not followed, because they could lead to another host."""

    def __init__(self, place: Place) -> None:
        import httpx  # the library alone does not need it

        self._url = place.uri
        self._client = httpx.Client(timeout=TIMEOUT, follow_redirects=False, trust_env=False)
        answer = self._request("HEAD", {"Accept-Encoding": "identity"})
        if answer.headers.get("accept-ranges") != "bytes" or "content-length" not in answer.headers:
            raise OSError(f"{self._url} is on a server that does not send parts of files (Accept-Ranges)")
        self.size = int(answer.headers["content-length"])
        self.stamp = str(answer.headers.get("etag") or answer.headers.get("last-modified") or "")
        self._at = 0

    def _request(self, method: str, headers: dict[str, str]) -> "httpx.Response":  # type: ignore[name-defined] # noqa: F821
        import httpx

        reason = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(FIRST_PAUSE * 2 ** (attempt - 1))
            try:
                answer = self._client.request(method, self._url, headers=headers)
            except httpx.HTTPError as error:
                reason = str(error) or type(error).__name__
                continue
            if answer.status_code in FAULTS:
                reason = f"status {answer.status_code}"
                continue
            if answer.status_code == 404:
                raise FileNotFoundError(self._url)
            if answer.status_code in (401, 403):
                raise PermissionError(self._url)
            if answer.status_code not in (200, 206):
                raise ConnectionError(f"status {answer.status_code}")
            return answer
        raise ConnectionError(reason)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        end = self.size if size < 0 else min(self.size, self._at + size)
        if self._at >= end:
            return b""
        headers = {"Range": f"bytes={self._at}-{end - 1}", "Accept-Encoding": "identity"}
        if self.stamp.startswith('"'):
            headers["If-Match"] = self.stamp
        content: bytes = self._request("GET", headers).content
        if len(content) != end - self._at:
            raise ConnectionError(f"{len(content):,} bytes came instead of {end - self._at:,}")
        self._at = end
        return content

    def close(self) -> None:
        self._client.close()
        super().close()


def web_file(place: Place) -> WebFile:
    """Open a file of a web server."""
    return WebFile(place)
