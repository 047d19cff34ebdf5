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
        ("/evaluation", "claude-mem-lite eval"),
        ("/experiment", "claude-mem-lite experiment on 0.2"),
        ("/experiment?project=unknown", "claude-mem-lite experiment on 0.2"),
        ("/lessons", "No lesson was learned yet."),
        ("/guards", "claude-mem-lite guards add"),
        ("/team", "claude-mem-lite team join"),
        ("/quarantine", "Nothing is in quarantine."),
    ],
)
def test_an_empty_home_is_explained(page: TestClient, path: str, told: str) -> None:
    answer = page.get(f"/part{path}")
    assert answer.status_code == 200, answer.text
    assert told in answer.text
    assert faults(answer.text) == []
