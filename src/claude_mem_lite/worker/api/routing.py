"""Conversion of requests to typed arguments, and of results of handlers to JSON, on top of Starlette.

Each module of the API has a `Router`. A handler's parameter is the `Request`, the result of the function of a `From`, a
`Body`, text of the path, or else a value of the query; a tuple takes all values of its name. Handlers read with their
own connections and write through the job thread.
"""

import inspect
import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeGuard, TypeVar, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import to_json as json_bytes
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from claude_mem_lite.errors import ConfigError, InvalidRequest, MemoryLiteError
from claude_mem_lite.responses.encoding import to_json
from claude_mem_lite.worker.answers.routes import running
from claude_mem_lite.worker.api.agent_gate import SESSION_HEADER, refuse_control
from claude_mem_lite.worker.services import Services

Handler = TypeVar("Handler", bound=Callable[..., object])
Result = TypeVar("Result")
_WRITE_TIMEOUT_S = 60.0
CONFIG_LOOK_S = 1.0
"""Time in which a worker reads changed settings."""
_building = threading.Lock()  # pydantic does not promise that two threads may build the same model


@dataclass(frozen=True, slots=True)
class From:
    """Mark of a parameter provided by a function; the function declares its own parameters in the same way."""

    function: Callable[..., object]


class Body(BaseModel):
    """JSON body of a request, or a part of a body."""

    # Built by the first request that needs it: all of them take 2 MB, and a worker that only hooks talk to needs none.
    model_config = ConfigDict(defer_build=True)


class Router:
    """Routes under one prefix, in the order of their handlers."""

    def __init__(self, prefix: str = "") -> None:
        self.routes: list[Route] = []
        self._prefix = prefix

    def get(self, path: str) -> Callable[[Handler], Handler]:
        return self._adding("GET", path)

    def post(self, path: str) -> Callable[[Handler], Handler]:
        return self._adding("POST", path)

    def patch(self, path: str) -> Callable[[Handler], Handler]:
        return self._adding("PATCH", path)

    def delete(self, path: str) -> Callable[[Handler], Handler]:
        return self._adding("DELETE", path)

    def _adding(self, method: str, path: str) -> Callable[[Handler], Handler]:
        def add(handler: Handler) -> Handler:
            route = Route(self._prefix + path, _endpoint(handler))
            route.methods = {method}  # Starlette would answer HEAD too, with all the work of a GET
            self.routes.append(route)
            return handler

        return add


def _endpoint(handler: Callable[..., object]) -> Callable[[Request], object]:
    """Return a handler in the form of Starlette: on the event loop if it is async, else in a thread."""

    async def answer(request: Request) -> Response:
        # Also where no handler wants it: who is answered before it is sent finds the connection closed.
        body = await _read_body(request) if request.method != "GET" else b""
        if SESSION_HEADER in request.headers:
            await run_in_threadpool(refuse_control, request)
        if inspect.iscoroutinefunction(handler):
            return _response(await handler(**_arguments(handler, request, body, {})))
        return await run_in_threadpool(lambda: _response(handler(**_arguments(handler, request, body, {}))))

    return answer


def _arguments(
    function: Callable[..., object], request: Request, body: bytes, provided: dict[Callable[..., object], object]
) -> Mapping[str, object]:
    """Return the arguments of a function from a request; missing ones are left to the defaults."""
    found: dict[str, object] = {}
    for parameter in _parameters(function):
        name, annotation = parameter.name, parameter.annotation
        if source := _source(annotation):
            if source.function not in provided:
                provided[source.function] = source.function(**_arguments(source.function, request, body, provided))
            found[name] = provided[source.function]
        elif annotation is Request:
            found[name] = request
        elif name in request.path_params:
            found[name] = request.path_params[name]
        elif _is_body(annotation):
            found[name] = _checked(annotation, _content(request, body), "body")
        elif name in request.query_params:
            is_many = get_origin(annotation) is tuple
            given = request.query_params.getlist(name) if is_many else request.query_params[name]
            found[name] = _checked(annotation, given, "query", name)
        elif parameter.default is parameter.empty:
            raise InvalidRequest("Field required", "query", name)
    return found


@cache
def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the parameters of a function, after the parameters of other functions, whose errors come first."""
    return sorted(inspect.signature(function).parameters.values(), key=lambda one: _source(one.annotation) is None)


def _source(annotation: object) -> From | None:
    return next((one for one in getattr(annotation, "__metadata__", ()) if isinstance(one, From)), None)


def _is_body(annotation: object) -> TypeGuard[type[Body]]:
    return isinstance(annotation, type) and issubclass(annotation, Body)


@cache
def _check(annotation: Any) -> Callable[..., object]:
    """Return the function that validates a value of a type."""
    with _building:
        if _is_body(annotation):
            annotation.model_rebuild()
            return annotation.model_validate
        return TypeAdapter(annotation).validate_python


def _checked(annotation: Any, given: object, *where: str) -> object:
    try:
        return _check(annotation)(given, from_attributes=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise InvalidRequest(first["msg"], *where, *first["loc"]) from None


async def _read_body(request: Request) -> bytes:
    try:
        return await request.body()
    except ClientDisconnect as error:
        raise _unreadable() from error


def _content(request: Request, body: bytes) -> object:
    """Return the content of a JSON body; other bodies stay bytes, and bytes fit no model."""
    if not body:
        raise InvalidRequest("Field required", "body")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        return body
    try:
        return json.loads(body)
    except json.JSONDecodeError as error:
        raise InvalidRequest("JSON decode error", "body", error.pos) from None
    except (ValueError, RecursionError) as error:  # no text, a number of thousands of digits, or too deep
        raise _unreadable() from error


def _unreadable() -> HTTPException:
    return HTTPException(400, "There was an error parsing the body")


def _response(returned: object) -> Response:
    if isinstance(returned, Response):
        return returned
    return Response(json_bytes(to_json(returned), inf_nan_mode="null"), media_type="application/json")


def _watched(request: Request) -> Services:
    services = request.app.state.services
    assert isinstance(services, Services)
    services.activity.note_watching()
    return services


Running = Annotated[Services, From(running)]
Watched = Annotated[Services, From(_watched)]
"""Services, for clients that poll for changes."""
Limit = Annotated[int, Field(ge=1, le=10_000)]


def require_settings(services: Services, otherwise: str) -> None:
    """Raise ConfigError, with the consequence for the caller, if the settings cannot be read; the user may have changed
    or repaired them just now."""
    if services.settings.problem or not services.settings.is_current():
        services.passes.wait_until_idle(CONFIG_LOOK_S)
    if services.settings.problem:
        raise ConfigError(
            f"the configuration is broken: {services.settings.problem}", f"until it is fixed, {otherwise}"
        )


def wait(future: Future[Result]) -> Result:
    """Return the result of a write by the job thread."""
    try:
        return future.result(_WRITE_TIMEOUT_S)
    except TimeoutError:
        raise MemoryLiteError("the worker is busy", "try again in a moment") from None
