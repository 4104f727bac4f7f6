"""An application whose errors are one sentence of JSON and never repeat what was sent.

FastAPI's own error answers repeat the input, which may be large or not even be text, and its documentation pages load
scripts from elsewhere; both are switched off.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response

from clearformer.serving.admission import BusyError, LeftError
from clearformer.serving.assets import Assets
from clearformer.serving.refusal import Refused


def new_app(assets: Assets | None = None) -> FastAPI:
    """An empty application: add routes to it, and put a `Guard` around it."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.exception_handler(RequestValidationError)(_not_understood)
    app.exception_handler(HTTPException)(_refused)
    app.exception_handler(Refused)(_say_why)
    app.exception_handler(ValueError)(_cannot)
    app.exception_handler(KeyError)(_cannot)
    app.exception_handler(BusyError)(_busy)
    app.exception_handler(LeftError)(_left)
    if assets is not None:
        _serve_files(app, assets)
    return app


def _serve_files(app: FastAPI, assets: Assets) -> None:
    @app.middleware("http")
    async def files(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        found = assets.answer(request) if request.method in ("GET", "HEAD") else None
        return found if found is not None else await call_next(request)


def sentence(status: HTTPStatus, text: str) -> JSONResponse:
    """An error as JSON; half a surrogate pair in it becomes a question mark instead of a second error."""
    return JSONResponse({"error": text.encode("utf-8", "replace").decode()}, int(status))


async def _not_understood(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")[:80]
    reason = str(first["msg"]).removeprefix("Value error, ")
    return sentence(HTTPStatus.UNPROCESSABLE_ENTITY, f"{place}: {reason}" if place else reason)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    texts = {404: "there is nothing at this address", 405: "this address is asked in another way"}
    return sentence(HTTPStatus(error.status_code), texts.get(error.status_code, str(error.detail)))


async def _cannot(request: Request, error: Exception) -> Response:
    """Our own errors are sentences already: wrong ids, too long a text, a model that lacks something."""
    return sentence(HTTPStatus.UNPROCESSABLE_ENTITY, str(error.args[0]) if error.args else str(error))


async def _say_why(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    told = {"error": str(error), "code": error.code, "values": error.values}
    return JSONResponse(told, int(HTTPStatus.UNPROCESSABLE_ENTITY))


async def asker_left(request: Request) -> AsyncIterator[Callable[[], bool]]:
    """For a handler's signature: tells its thread, at any time, whether whoever asked has gone."""
    gone = threading.Event()

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        gone.set()

    watching = asyncio.create_task(watch())  # asking once would not do: what wraps a request answers only who waits
    try:
        yield gone.is_set
    finally:
        watching.cancel()


async def _left(request: Request, error: Exception) -> Response:
    return sentence(HTTPStatus.REQUEST_TIMEOUT, str(error))  # for the log alone


async def _busy(request: Request, error: Exception) -> Response:
    told = {"error": str(error), "code": "busy", "values": {}}
    return JSONResponse(told, int(HTTPStatus.SERVICE_UNAVAILABLE))
