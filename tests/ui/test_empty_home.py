"""Pages of a home in which nothing has happened yet: whole, and with a word on what to do."""

import pytest
from starlette.testclient import TestClient

from tests.ui.html_checks import faults


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/search", "as you type"),
        ("/search?query=anything", "Nothing is found."),
        ("/context", "No project is known yet"),
        ("/context?prompt=anything", "No project is known yet"),
        ("/health", "Nothing is stored yet."),
        ("/health?only=now", "All is well."),
    ],
)
def test_an_empty_home_is_explained(page: TestClient, path: str, told: str) -> None:
    answer = page.get(f"/part{path}")
    assert answer.status_code == 200, answer.text
    assert told in answer.text
    assert faults(answer.text) == []
