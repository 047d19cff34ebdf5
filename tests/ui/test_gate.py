"""Who may ask the page's server, and what every answer carries."""

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from claude_mem_lite.ui.access_gate import MAX_BODY_LENGTH, Gate

TOKEN = "a-token-that-nobody-guesses-0123456789"
OWN = "http://127.0.0.1:4711"
KEY = {"authorization": f"Bearer {TOKEN}"}


async def answering(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await PlainTextResponse(f"secret {len(body)}")(scope, receive, send)


@pytest.fixture
def page() -> TestClient:
    gate = Gate(answering, TOKEN, 4711, is_open=lambda path: path == "/open")
    return TestClient(gate, base_url=OWN)


def test_who_has_the_token_is_answered(page: TestClient) -> None:
    assert page.get("/part/", headers=KEY).text == "secret 0"
    assert page.post("/do/pin", json={"id": "a"}, headers=KEY).status_code == 200


def test_what_holds_no_data_needs_no_token(page: TestClient) -> None:
    assert page.get("/open").status_code == 200


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": "Bearer "},
        {"authorization": f"Bearer {TOKEN[:-1]}"},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": TOKEN},
        {"cookie": f"token={TOKEN}"},
    ],
)
def test_without_the_right_token_nothing_is_told(page: TestClient, given: dict[str, str]) -> None:
    for answer in (page.get("/part/", headers=given), page.post("/do/forget", json={}, headers=given)):
        assert answer.status_code == 401
        assert "secret" not in answer.text
        assert TOKEN not in answer.text


def test_a_token_in_the_address_is_none(page: TestClient) -> None:
    assert page.get(f"/part/?token={TOKEN}").status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:4711", "127.0.0.1", "127.0.0.1:80", "localhost.evil.example:4711", ""]
)
def test_a_foreign_host_is_refused_even_with_the_token(page: TestClient, host: str) -> None:
    assert page.get("/part/", headers={**KEY, "host": host}).status_code == 403
    assert page.get("/open", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:4711", "localhost:4711", "LOCALHOST:4711"])
def test_its_own_names_are_known(page: TestClient, host: str) -> None:
    assert page.get("/part/", headers={**KEY, "host": host}).status_code == 200


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "127.0.0.1:80", "localhost:80"])
def test_at_the_usual_port_a_browser_leaves_it_out(name: str) -> None:
    page = TestClient(Gate(answering, TOKEN, 80, is_open=lambda _: False), base_url="http://127.0.0.1")
    assert page.get("/part/", headers={**KEY, "host": name}).status_code == 200
    assert page.post("/do/pin", json={}, headers={**KEY, "host": name, "origin": f"http://{name}"}).status_code == 200
    assert page.get("/part/", headers={**KEY, "host": "evil.example"}).status_code == 403


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:4712", "https://127.0.0.1:4711", "127.0.0.1:4711", ""]
)
def test_a_foreign_origin_is_refused(page: TestClient, origin: str) -> None:
    answer = page.post("/do/forget", json={}, headers={**KEY, "origin": origin})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_its_own_origin_may_ask(page: TestClient) -> None:
    assert page.post("/do/pin", json={}, headers={**KEY, "origin": OWN}).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_site_fetches_is_refused(page: TestClient, site: str) -> None:
    assert page.get("/part/", headers={**KEY, "sec-fetch-site": site}).status_code == 403


def test_a_link_from_another_site_opens_the_empty_shell_only(page: TestClient) -> None:
    assert page.get("/open", headers={"sec-fetch-site": "cross-site"}).status_code == 200


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", ""]
)
def test_a_form_of_another_site_is_refused(page: TestClient, kind: str) -> None:
    answer = page.post("/do/forget", content=b'{"id": "a"}', headers={**KEY, "content-type": kind})
    assert answer.status_code == 415


def test_too_much_is_refused_before_it_is_read(page: TestClient) -> None:
    headers = {**KEY, "content-type": "application/json"}
    assert page.post("/do/edit", content=b" " * (MAX_BODY_LENGTH + 1), headers=headers).status_code == 413
    assert page.post("/do/edit", content=iter([b"{}"]), headers=headers).status_code == 411
    assert page.post("/do/edit", content=b" " * MAX_BODY_LENGTH, headers=headers).status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD"])
def test_other_methods_are_not_known(page: TestClient, method: str) -> None:
    answer = page.request(method, "/part/", headers=KEY)
    assert answer.status_code == 405
    assert "access-control-allow-methods" not in answer.headers


@pytest.mark.parametrize("path", ["/part/", "/open"])
@pytest.mark.parametrize("headers", [KEY, {}, {"host": "evil.example"}])
def test_every_answer_is_guarded(page: TestClient, path: str, headers: dict[str, str]) -> None:
    answer = page.get(path, headers=headers)
    assert answer.headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    )
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
