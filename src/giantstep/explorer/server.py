"""The server: static files, calls that answer at once, jobs that stream."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from giantstep import __version__
from giantstep.errors import shown
from giantstep.explorer import plotly
from giantstep.explorer.guard import PAGE, Access, Guard
from giantstep.explorer.jobs import Full, Job, Jobs
from giantstep.explorer.pool import Pool, Slow, Superseded
from giantstep.explorer.tasks import TASKS

SHAPES = {"setting": (dict, "object"), "other": (dict, "object"), "axes": (list, "array")}
"""What parts of a request must be, where it has them; the tasks read what they hold."""

STATIC = Path(str(files("giantstep.explorer") / "static"))
KINDS = {"css": "text/css", "html": "text/html", "js": "text/javascript", "svg": "image/svg+xml"}
RENEWED = {"cache-control": "no-cache"}
STATUS = {"result": 200, "problem": 422, "bug": 500, "died": 500}


def make_app(
    access: Access,
    folder: Path | None = None,
    ready: Callable[[], object] = lambda: None,
    **pool: Any,
) -> Starlette:
    """The application; ``folder`` is the only one that a page may look into.

    ``ready`` is called once a worker is warm and requests are answered; ``pool`` are the
    options of ``Pool``.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.pool = Pool(**pool)
        app.state.jobs = Jobs(app.state.pool)
        await app.state.pool.start()
        ready()
        yield
        app.state.pool.stop()

    app = Starlette(
        routes=[
            Route("/", _index),
            Route("/plotly.js", _plotly),
            Route("/static/{name:path}", _static),
            Route("/api/jobs", _submit, methods=["POST"]),
            Route("/api/jobs", _list),
            Route("/api/jobs/{id}/events", _events),
            Route("/api/jobs/{id}/files/{name}", _file),
            Route("/api/jobs/{id}", _cancel, methods=["DELETE"]),
            Route("/api/export/{task}", _export, methods=["POST"]),
            Route("/api/{task}", _call, methods=["GET", "POST", "DELETE"]),
        ],
        middleware=[Middleware(Guard, access=access)],
        lifespan=lifespan,
    )
    app.state.folder = folder
    return app


def refused(message: str, status: int = 422, field: str | None = None) -> JSONResponse:
    """One sentence, in the form of every refusal."""
    return JSONResponse({"message": message, "field": field, "position": None}, status)


@lru_cache(maxsize=1)
def static_files() -> dict[str, bytes]:
    """The files of the page by name, read once: a page asks for thirty of them."""
    paths = {path.relative_to(STATIC).as_posix(): path for path in STATIC.rglob("*.*")}
    return {name: path.read_bytes() for name, path in sorted(paths.items())}


async def _index(request: Request) -> Response:
    """The page, with the elements that Plotly looks for and the names of all modules.

    A browser that knows them asks for all at once, not for those that others import in turn.
    """
    names = [name for name in static_files() if name.endswith(".js")]
    modules = [f'<link rel="modulepreload" href="/static/{name}" />' for name in names]
    text = static_files()["index.html"].decode()
    text = text.replace('<html lang="en">', f'<html lang="en" data-version="{__version__}">')
    page = text.replace("<!-- plotly -->", plotly.placeholders())
    page = page.replace("<!-- modules -->", "\n    ".join(modules))
    return HTMLResponse(page, headers=RENEWED)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in static_files():
        return refused("no such file", 404)
    kind = KINDS[name.rpartition(".")[2]]
    return Response(static_files()[name], media_type=kind, headers=RENEWED)


async def _plotly(request: Request) -> Response:
    kept = {"cache-control": "max-age=86400"}
    return Response(plotly.script(), media_type=KINDS["js"], headers=kept)


async def _body(request: Request, most_bytes: int) -> dict[str, Any] | None:
    """The JSON object of a request, None for anything else."""
    if request.method == "GET":
        return {}
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > most_bytes:
            return None
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


async def _asked(
    request: Request,
    *,
    most_bytes: int = 2**16,  # a setting is a few hundred
) -> dict[str, Any] | JSONResponse:
    """What a task is told, or the refusal of what is no such thing."""
    body = await _body(request, most_bytes)
    if body is None:
        return refused(f"the request must be a JSON object of at most {most_bytes} bytes", 400)
    for name, (kind, words) in SHAPES.items():
        if name in body and not isinstance(body[name], kind):
            return refused(f"{name} must be a JSON {words}, got {shown(body[name])}", field=name)
    # What may be read below the folder given at the start, and nothing else, is told to the task.
    folder = request.app.state.folder
    body["folder"] = None if folder is None else str(folder)
    return body


async def _answer(request: Request, task: str) -> Response:
    body = await _asked(request)
    if isinstance(body, Response):
        return body
    page = request.headers.get(PAGE, "")
    calling = asyncio.create_task(request.app.state.pool.call(page, task, body))
    leaving = asyncio.create_task(_left(request))
    await asyncio.wait({calling, leaving}, return_when=asyncio.FIRST_COMPLETED)
    leaving.cancel()
    calling.cancel()  # nobody waits for it, unless it is done
    try:
        end, data = await calling
    except Superseded:
        return refused("a newer request has taken the place of this one", 409)
    except Slow as slow:
        return refused(str(slow), 504)
    return Response(data, STATUS[end], media_type="application/json")


async def _left(request: Request) -> None:
    """Wait until whoever asked is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _call(request: Request) -> Response:
    task = request.path_params["task"]
    if not _is(task, "call"):
        return refused("no such address", 404)
    if request.method == "DELETE":
        request.app.state.pool.drop(request.headers[PAGE], task)
        return Response(status_code=204)
    return await _answer(request, task)


async def _export(request: Request) -> Response:
    task = request.path_params["task"]
    exists = _is(task, "export")
    return await _answer(request, task) if exists else refused("no such export", 404)


def _is(task: object, way: str) -> bool:
    return isinstance(task, str) and task in TASKS and TASKS[task].way == way


async def _submit(request: Request) -> Response:
    body = await _asked(request)
    if isinstance(body, Response):
        return body
    kind = body.pop("kind", None)
    if not _is(kind, "job"):
        kinds = ", ".join(name for name, task in TASKS.items() if task.way == "job")
        return refused(f"kind must be one of {kinds}, got {shown(kind)}", field="kind")
    try:
        job = request.app.state.jobs.submit(request.headers[PAGE], kind, body)
    except Full:
        return refused("too many jobs are waiting: cancel one, or wait", 429)
    return JSONResponse(job.as_dict(), 202)


async def _list(request: Request) -> Response:
    jobs = request.app.state.jobs.of(request.headers.get(PAGE, ""))
    return JSONResponse([job.as_dict() for job in jobs])


def _job(request: Request) -> Job | None:
    return request.app.state.jobs.find(request.path_params["id"])


async def _events(request: Request) -> Response:
    """Server-sent events of a job, from the beginning or after the last one that was seen."""
    job = _job(request)
    if job is None:
        return refused("no such job", 404)
    seen = request.headers.get("last-event-id", "0")
    after = int(seen) if seen.isdecimal() else 0

    async def stream() -> AsyncIterator[bytes]:
        async for number, name, data in job.listen(after):
            yield b"id: %d\nevent: %s\ndata: %s\n\n" % (number, name.encode(), data)

    return StreamingResponse(
        stream(), media_type="text/event-stream", headers={"cache-control": "no-store"}
    )


async def _file(request: Request) -> Response:
    """A text that a job has made, from memory."""
    job, name = _job(request), request.path_params["name"]
    if job is None or name not in job.files:
        return refused("no such file", 404)
    kind = "text/csv" if name.endswith(".csv") else "text/plain"
    return Response(
        job.files[name],
        media_type=kind,
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


async def _cancel(request: Request) -> Response:
    job = _job(request)
    if job is None:
        return refused("no such job", 404)
    request.app.state.jobs.cancel(job)
    return JSONResponse(job.as_dict())
