"""Conversion of requests to typed arguments, and of results of handlers to JSON.

Each module of the API has a `Router`. A handler's parameter is the `RoutedRequest`, the result of the function of a
`From`, a `Body`, text of the path, or else a value of the query; a tuple takes all values of its name. Handlers read
with their own connections and write through the job thread.
"""

import inspect
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from functools import cache
from typing import Annotated, Any, TypeGuard, TypeVar, get_origin
from urllib.parse import parse_qs, unquote

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import to_json as json_bytes

from claude_mem_lite.errors import ConfigError, InvalidRequest, MemoryLiteError
from claude_mem_lite.responses.encoding import to_json
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.api.agent_gate import refuse_control
from claude_mem_lite.worker.http.messages import HttpError, HttpResponse, Request
from claude_mem_lite.worker.services import Services

Handler = TypeVar("Handler", bound=Callable[..., object])
Result = TypeVar("Result")
_WRITE_TIMEOUT_S = 60.0
SETTINGS_READ_S = 1.0
"""Time in which a worker reads changed settings."""
_building = threading.Lock()  # pydantic does not promise that two threads may build the same model


@frozen
class From:
    """Mark of a parameter provided by a function; the function declares its own parameters in the same way."""

    function: Callable[..., object]


class Body(BaseModel):
    """JSON body of a request, or a part of a body."""

    # Built by the first request that needs it: all of them take 2 MB, and a worker that only hooks talk to needs none.
    model_config = ConfigDict(defer_build=True)


@frozen
class RoutedRequest:
    """Request that was matched with a route: values of path and query, and the worker that answers."""

    request: Request
    services: Services
    stop: Callable[[], None]
    path_values: Mapping[str, str]
    query: Mapping[str, list[str]]


@frozen
class Route:
    """Method, parts of the path, and the handler. A part in braces takes any text as a value of its name."""

    method: str
    parts: tuple[str, ...]
    handler: Callable[..., object]

    def values(self, parts: tuple[str, ...]) -> dict[str, str] | None:
        """Return the values of a path; None for a path that does not match."""
        if len(parts) != len(self.parts):
            return None
        found: dict[str, str] = {}
        for own, given in zip(self.parts, parts, strict=True):
            if own.startswith("{") and given:
                found[own[1:-1]] = unquote(given)
            elif own != given:
                return None
        return found


class Router:
    """Routes under one prefix, in the order of their handlers."""

    def __init__(self, prefix: str = "", routes: Iterable[Route] = ()) -> None:
        self.routes = list(routes)
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
            self.routes.append(Route(method, tuple((self._prefix + path).split("/")), handler))
            return handler

        return add

    def respond(self, request: Request, services: Services, stop: Callable[[], None]) -> HttpResponse:
        """Return the response of the first route that matches. HttpError if none does."""
        parts, is_path_known = tuple(request.path.split("/")), False
        for route in self.routes:
            values = route.values(parts)
            if values is None:
                continue
            if route.method != request.method:
                is_path_known = True
                continue
            refuse_control(request, services)
            query = parse_qs(request.query, keep_blank_values=True)
            call = RoutedRequest(request, services, stop, values, query)
            return _response(route.handler(**_arguments(route.handler, call, {})))
        raise HttpError(405 if is_path_known else 404)


def _arguments(
    function: Callable[..., object], call: RoutedRequest, provided: dict[Callable[..., object], object]
) -> Mapping[str, object]:
    """Return the arguments of a function from a call; missing ones are left to the defaults."""
    found: dict[str, object] = {}
    for parameter in _parameters(function):
        name, annotation = parameter.name, parameter.annotation
        if source := _source(annotation):
            if source.function not in provided:
                provided[source.function] = source.function(**_arguments(source.function, call, provided))
            found[name] = provided[source.function]
        elif annotation is RoutedRequest:
            found[name] = call
        elif name in call.path_values:
            found[name] = call.path_values[name]
        elif _is_body(annotation):
            found[name] = _checked(annotation, _content(call.request), "body")
        elif name in call.query:
            values = call.query[name]
            found[name] = _checked(annotation, values if get_origin(annotation) is tuple else values[-1], "query", name)
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


def _content(request: Request) -> object:
    """Return the content of a JSON body; other bodies stay bytes, and bytes fit no model."""
    if not request.body:
        raise InvalidRequest("Field required", "body")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        return request.body
    try:
        return json.loads(request.body)
    except json.JSONDecodeError as error:
        raise InvalidRequest("JSON decode error", "body", error.pos) from None
    except (ValueError, RecursionError) as error:  # no text, a number of thousands of digits, or too deep
        raise _unreadable() from error


def _unreadable() -> HttpError:
    return HttpError(400, "There was an error parsing the body")


def _response(returned: object) -> HttpResponse:
    if isinstance(returned, HttpResponse):
        return returned
    return HttpResponse(body=json_bytes(to_json(returned), inf_nan_mode="null"))


def _running(call: RoutedRequest) -> Services:
    """Return the services, and note the request as activity."""
    call.services.activity.note_request()
    return call.services


def _watched(call: RoutedRequest) -> Services:
    call.services.activity.note_watching()
    return call.services


Running = Annotated[Services, From(_running)]
Watched = Annotated[Services, From(_watched)]
"""Services, for clients that poll for changes."""
Limit = Annotated[int, Field(ge=1, le=10_000)]


def require_settings(services: Services, otherwise: str) -> None:
    """Raise ConfigError, with the consequence for the caller, if the settings cannot be read; the user may have changed
    or repaired them just now."""
    if services.settings.problem or not services.settings.is_current():
        services.passes.wait_until_idle(SETTINGS_READ_S)
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
