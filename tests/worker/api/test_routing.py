"""From requests to the arguments of a handler and back, over an app of its own."""

import json
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal, cast

import pytest
from pydantic import AwareDatetime, ConfigDict, Field

from claude_mem_lite.errors import InvalidRequest
from claude_mem_lite.worker.api.routing import Body, From, RoutedRequest, Router
from claude_mem_lite.worker.http.messages import HttpError, HttpResponse, Request, error_response
from claude_mem_lite.worker.services import Services
from tests.support.app_client import AppClient

Colour = Literal["red", "blue"]
JSON = {"Content-Type": "application/json"}
router = Router(prefix="/shop")


class Part(Body):
    at: AwareDatetime


class Order(Body):
    name: str
    number: Annotated[int, Field(ge=1)] = 1
    parts: list[Part] = Field(default_factory=list)


class Note(Body):
    model_config = ConfigDict(extra="forbid")

    text: str


@dataclass(frozen=True, slots=True)
class Range:
    first: int
    last: int


def _range(call: RoutedRequest, first: int = 0, last: int = 9) -> Range:
    if first > last:
        raise InvalidRequest("is before first", "last")
    assert call.request.path == "/shop/range"
    return Range(first, last)


@router.get("/list")
def listed(
    name: str,
    limit: Annotated[int, Field(ge=1, le=10)] = 5,
    colour: tuple[Colour, ...] = (),
    since: AwareDatetime | None = None,
    is_new: bool = False,
) -> dict[str, object]:
    return {"name": name, "limit": limit, "colour": colour, "since": since, "is_new": is_new}


@router.get("/items/{id_}")
def item(id_: str, note: str = "") -> dict[str, str]:
    return {"id": id_, "note": note}


@router.delete("/items/{id_}")
def removed(id_: str) -> dict[str, str]:
    return {"removed": id_}


@router.patch("/items/{id_}")
def noted(id_: str, note: Note) -> dict[str, str]:
    return {"id": id_, "text": note.text}


@router.post("/orders")
def ordered(order: Order) -> dict[str, object]:
    return order.model_dump()


@router.get("/range")
def ranged(step: int, asked: Annotated[Range, From(_range)]) -> Range:
    return Range(asked.first * step, asked.last * step)


def _fresh(count: Annotated[object, From(object)]) -> object:
    return count


@router.get("/once")
def once(first: Annotated[object, From(object)], second: Annotated[object, From(_fresh)]) -> bool:
    return first is second


@router.get("/values")
def values() -> dict[str, object]:
    at = datetime(2026, 3, 4, 5, 6, 7, 120_000, tzinfo=UTC)
    return {"at": at, "range": Range(1, 2), "tuple": (1, 2.0, None), "text": "é", "nan": float("nan"), "small": 1e-7}


@router.get("/call")
def called(call: RoutedRequest) -> str:
    return f"{call.request.method} {call.query['a']}"


@router.post("/empty")
def empty() -> HttpResponse:
    return HttpResponse(204)


def client_of(routes: Router) -> AppClient:
    """Return a client of routes that need no services."""

    def respond(request: Request) -> HttpResponse:
        try:
            return routes.respond(request, cast(Services, None), lambda: None)
        except HttpError as error:
            return error_response(error.status, "http", str(error))
        except InvalidRequest as error:
            return HttpResponse(422, json.dumps(str(error)).encode())

    return AppClient(respond)


@pytest.fixture(scope="module")
def shop() -> AppClient:
    return client_of(router)


def test_a_function_provides_its_value_once_for_a_request(shop: AppClient) -> None:
    assert shop.get("/shop/once").json() is True


def test_values_of_the_query_get_their_types(shop: AppClient) -> None:
    asked = "name=a%20b&limit=7&colour=red&colour=blue&since=2026-03-04T05:06:07%2B02:00&is_new=yes&unknown=1"
    assert shop.get(f"/shop/list?{asked}").json() == {
        "name": "a b",
        "limit": 7,
        "colour": ["red", "blue"],
        "since": "2026-03-04T05:06:07+02:00",
        "is_new": True,
    }


def test_what_is_not_asked_for_is_left_to_its_default(shop: AppClient) -> None:
    told = shop.get("/shop/list?name=").json()
    assert told == {"name": "", "limit": 5, "colour": [], "since": None, "is_new": False}


def test_of_a_value_that_is_given_twice_the_last_one_counts(shop: AppClient) -> None:
    assert shop.get("/shop/list?name=a&name=b").json()["name"] == "b"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "query.name: Field required"),
        ("name=a&limit=0", "query.limit: Input should be greater than or equal to 1"),
        ("name=a&limit=11", "query.limit: Input should be less than or equal to 10"),
        ("name=a&limit=x", "query.limit: Input should be a valid integer, unable to parse string as an integer"),
        ("name=a&limit=", "query.limit: Input should be a valid integer, unable to parse string as an integer"),
        ("name=a&colour=red&colour=green", "query.colour.1: Input should be 'red' or 'blue'"),
        ("name=a&since=2026-03-04T05:06:07", "query.since: Input should have timezone info"),
        ("name=a&is_new=2", "query.is_new: Input should be a valid boolean, unable to interpret input"),
        ("limit=0&is_new=2", "query.name: Field required"),
    ],
)
def test_a_wrong_query_is_refused_with_its_place_and_reason(shop: AppClient, query: str, message: str) -> None:
    answer = shop.get(f"/shop/list?{query}")
    assert (answer.status_code, answer.json()) == (422, message)


def test_a_name_in_the_path_is_text_as_it_is(shop: AppClient) -> None:
    assert shop.get("/shop/items/0%201?note=x&id_=other").json() == {"id": "0 1", "note": "x"}
    assert shop.delete("/shop/items/2").json() == {"removed": "2"}


def test_a_body_becomes_its_model(shop: AppClient) -> None:
    parts = [{"at": "2026-03-04T05:06:07Z"}]
    told = shop.post("/shop/orders", json={"name": "n", "number": "3", "parts": parts, "unknown": 1}).json()
    assert told == {"name": "n", "number": 3, "parts": parts}
    assert shop.post("/shop/orders", json={"name": "n"}).json() == {"name": "n", "number": 1, "parts": []}
    assert shop.patch("/shop/items/4", json={"text": "t"}).json() == {"id": "4", "text": "t"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "body: Field required"),
        (b"{broken", "body.1: JSON decode error"),
        (b"null", "body: Input should be a valid dictionary or object to extract fields from"),
        (b"[]", "body: Input should be a valid dictionary or object to extract fields from"),
        (b"{}", "body.name: Field required"),
        (b'{"name": 3}', "body.name: Input should be a valid string"),
        (b'{"name": "n", "number": 0}', "body.number: Input should be greater than or equal to 1"),
        (
            b'{"name": "n", "parts": [{"at": "2026-03-04T05:06:07"}]}',
            "body.parts.0.at: Input should have timezone info",
        ),
    ],
)
def test_a_wrong_body_is_refused_with_its_place_and_reason(shop: AppClient, body: bytes, message: str) -> None:
    answer = shop.post("/shop/orders", content=body, headers=JSON)
    assert (answer.status_code, answer.json()) == (422, message)


def test_a_model_that_forbids_more_fields_has_them_refused(shop: AppClient) -> None:
    answer = shop.patch("/shop/items/4", json={"text": "t", "more": 1})
    assert (answer.status_code, answer.json()) == (422, "body.more: Extra inputs are not permitted")


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json; charset=utf-8", 200),
        ("Application/JSON", 200),
        ("application/merge+json", 200),
        ("text/plain", 422),
        ("application/x-www-form-urlencoded", 422),
        ("", 422),
    ],
)
def test_a_body_has_to_call_itself_json(shop: AppClient, kind: str, status: int) -> None:
    answer = shop.post("/shop/orders", content=b'{"name": "n"}', headers={"Content-Type": kind})
    assert answer.status_code == status


@pytest.mark.parametrize(
    "body", [b'{"name": "\xff"}', b"[" * 100_000, b'{"number": ' + b"9" * 5_000 + b"}"], ids=["bytes", "deep", "digits"]
)
def test_a_body_that_cannot_be_read_is_a_bad_request(shop: AppClient, body: bytes) -> None:
    assert shop.post("/shop/orders", content=body, headers=JSON).status_code == 400


def test_a_parameter_can_be_given_by_a_function_with_parameters_of_its_own(shop: AppClient) -> None:
    assert shop.get("/shop/range?step=2&first=3").json() == {"first": 6, "last": 18}


def test_errors_of_such_a_function_come_before_those_of_the_handler(shop: AppClient) -> None:
    assert shop.get("/shop/range?first=x").json().startswith("query.first: ")
    assert shop.get("/shop/range?first=10").json() == "last: is before first"
    assert shop.get("/shop/range").json() == "query.step: Field required"


def test_values_are_told_as_json(shop: AppClient) -> None:
    assert shop.get("/shop/values").text == (
        '{"at":"2026-03-04T05:06:07.120000Z","range":{"first":1,"last":2},"tuple":[1,2.0,null],"text":"é",'
        '"nan":null,"small":1e-7}'
    )


def test_a_response_is_sent_as_it_is(shop: AppClient) -> None:
    answer = shop.post("/shop/empty")
    assert (answer.status_code, answer.content) == (204, b"")


def test_a_handler_may_take_the_whole_call(shop: AppClient) -> None:
    assert shop.get("/shop/call?a=1&a=%C3%A9").json() == "GET ['1', 'é']"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/list", 404),
        ("GET", "/shop/nothing", 404),
        ("GET", "/shop/items/1/2", 404),
        ("POST", "/shop/list", 405),
        ("HEAD", "/shop/list", 405),
        ("PUT", "/shop/items/1", 405),
        ("GET", "/shop/orders", 405),
    ],
)
def test_another_path_is_not_found_and_another_method_not_allowed(
    shop: AppClient, method: str, path: str, status: int
) -> None:
    assert shop.request(method, path).status_code == status


def test_the_first_requests_of_all_may_come_at_once() -> None:
    class Parcel(Body):
        order: Order

    parcels = Router()

    @parcels.post("/")
    def send(parcel: Parcel) -> dict[str, object]:
        return parcel.model_dump()

    sent = {"order": {"name": "n", "number": 2, "parts": []}}
    told: list[object] = []
    client = client_of(parcels)
    threads = [threading.Thread(target=lambda: told.append(client.post("/", json=sent).json())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [sent] * 8


def test_nothing_is_built_to_check_requests_before_one_comes() -> None:
    class Letter(Body):
        text: str

    letters = Router()

    @letters.post("/{to}")
    def send(to: str, letter: Letter) -> str:
        return f"{letter.text} to {to}"

    client = client_of(letters)
    assert not Letter.__pydantic_complete__
    assert client.post("/you", json={"text": "a line"}).json() == "a line to you"
    assert Letter.__pydantic_complete__
