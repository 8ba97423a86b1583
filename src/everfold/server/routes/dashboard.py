"""The dashboard's files: one page, and what it loads. They are open; all that they show comes from the API."""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import Depends, HTTPException, Request, Response

from everfold.server.access import let_anybody
from everfold.server.routing import make_router

router = make_router("dashboard")

FOLDER: Final = Path(__file__).parent.parent / "dashboard"

TYPES: Final[Mapping[str, str]] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""What is served, by the end of its name; nothing else in the folder is."""

LEAST_GZIP_BYTES: Final = 1_000
"""Shorter files go as they are: they fit one packet either way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A file as it is sent."""

    content: bytes
    zipped: bytes | None
    media_type: str
    etag: str


@router.get("/", include_in_schema=False, dependencies=[Depends(let_anybody)])
async def show_dashboard(request: Request) -> Response:
    """The page of the dashboard."""
    return _send(request, load_asset("index.html"))


@router.get("/assets/{path:path}", include_in_schema=False, dependencies=[Depends(let_anybody)])
async def send_asset(request: Request, path: str) -> Response:
    """A file that the page loads."""
    if path not in list_assets():
        raise HTTPException(404, "the dashboard has no such file")
    return _send(request, load_asset(path))


@cache
def list_assets() -> Mapping[str, Path]:
    """The files that are served, by their paths in the folder, with `/` between the parts."""
    return {
        path.relative_to(FOLDER).as_posix(): path
        for path in sorted(FOLDER.rglob("*"))
        if path.suffix in TYPES and path.is_file()
    }


def load_asset(name: str) -> Asset:
    """One of `list_assets`, read anew when its file has changed."""
    path = list_assets()[name]
    return _read_asset(path, path.stat().st_mtime_ns)


@cache
def _read_asset(path: Path, _changed_at_ns: int) -> Asset:
    content = path.read_bytes()
    zipped = gzip.compress(content, mtime=0) if len(content) >= LEAST_GZIP_BYTES else None
    digest = hashlib.sha256(content).hexdigest()[:32]
    return Asset(content=content, zipped=zipped, media_type=TYPES[path.suffix], etag=digest)


def _send(request: Request, asset: Asset) -> Response:
    """A file, zipped where the browser takes it, or 304 where it has it.

    Source: RFC 9110, sections 8.8.3 (a coded form has a tag of its own) and 13.1.2 (`If-None-Match`).
    """
    is_zipped = asset.zipped is not None and "gzip" in request.headers.get("accept-encoding", "")
    etag = f'"{asset.etag}-gz"' if is_zipped else f'"{asset.etag}"'
    headers = {"ETag": etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    if etag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    if is_zipped:
        headers["Content-Encoding"] = "gzip"
    return Response(asset.zipped if is_zipped else asset.content, media_type=asset.media_type, headers=headers)
