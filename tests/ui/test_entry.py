"""How a browser gets the token: for the code in force, and for nothing else that can be sent."""

import pytest
from starlette.testclient import TestClient

from claude_mem_lite.client.client import Client
from claude_mem_lite.paths import Home
from claude_mem_lite.ui.process import PageAccess
from claude_mem_lite.ui.server import make_app
from tests.ui.conftest import PORT


@pytest.mark.parametrize(
    "sent",
    [
        r'{"code": "\ud800"}',
        '{"code": "ä"}',
        '{"code": ""}',
        '{"code": null}',
        '{"code": 7}',
        "{}",
        "[]",
        "no JSON",
        "",
    ],
)
def test_what_is_no_code_is_refused_and_the_code_still_holds(home: Home, sent: str) -> None:
    entry = PageAccess()
    app = make_app(Client(home), entry.token, PORT, entry.enter)
    browser = TestClient(app, base_url=f"http://127.0.0.1:{PORT}", headers={"content-type": "application/json"})
    answer = browser.post("/enter", content=sent.encode())
    assert (answer.status_code, "no longer good" in answer.json()["error"]) == (403, True)
    assert browser.post("/enter", json={"code": entry.code}).json() == {"token": entry.token}


def test_a_link_that_was_used_says_so_and_how_to_get_another(home: Home) -> None:
    entry = PageAccess()
    app = make_app(Client(home), entry.token, PORT, entry.enter, entry.was_used)
    browser = TestClient(app, base_url=f"http://127.0.0.1:{PORT}", headers={"content-type": "application/json"})
    code = entry.code
    assert browser.post("/enter", json={"code": code}).status_code == 200
    answer = browser.post("/enter", json={"code": code})
    assert answer.status_code == 403
    assert answer.json()["error"].startswith("This link was used: each link opens the page once. The next link is in ")
    assert answer.json()["error"].endswith("run `claude-mem-lite ui` again.")
