"""The page of health: how things stand, what can be done about it, and how it went by day."""

from collections.abc import Iterator
from html import escape

import pytest
from starlette.testclient import TestClient

from tests.support.running import Json, Machine, leave, open_machine, payload, turn
from tests.ui.conftest import browser_of
from tests.ui.html_checks import faults


@pytest.fixture(scope="module")
def worked(served: Machine) -> None:
    """A session that was given something, what it left, and an event that cannot be read."""
    served.post("/api/memories", {"kind": "anti_pattern", "text": "Never sell quokkas", "cwd": "/"})
    served.hook("SessionStart", payload("SessionStart", "s-health", source="startup"))
    for given in turn("s-health", "Sell the quokkas after all"):
        leave(served.home, given)
    leave(served.home, payload("SessionEnd", "s-health", reason="other"))
    leave(served.home, None, event="Stop", raw=b"<script>no JSON</script>")
    served.drain()


@pytest.fixture
def configured_model(served: Machine) -> Iterator[None]:
    """With a model that nobody can ask: there is no key."""
    served.home.config.write_text('provider = "anthropic"\n')
    yield
    served.home.config.unlink()
    served.drain()


def shown(page: TestClient, **query: str) -> str:
    answer = page.get("/part/health", params=query)
    assert answer.status_code == 200, answer.text
    assert faults(answer.text) == []
    return answer.text


def done(page: TestClient, name: str, **given: Json) -> str:
    answer = page.post(f"/do/{name}", json=given)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["message"])


def test_the_worker_is_told(served: Machine, page: TestClient, worked: None) -> None:
    html = shown(page)
    assert f"process {served.worker_pid()}" in html
    assert "Rules write the notes without a model" in html
    assert "1 memory (1 today), 1 session<" in html


def test_of_what_is_stored_it_is_told_how_much_is_active(served: Machine, page: TestClient, worked: None) -> None:
    id_ = served.post("/api/memories", {"kind": "note", "text": "Quokkas smile", "cwd": "/"})["id"]
    served.ask("PATCH", f"/api/memories/{id_}", {"status": "retired"})
    assert "2 memories (1 of them active, 2 today), 1 session<" in shown(page, only="now")
    served.ask("DELETE", f"/api/memories/{id_}")


def test_what_failed_is_told_with_its_reason_and_a_way_to_try_it_again(page: TestClient, worked: None) -> None:
    html = shown(page, only="now")
    assert "the payload is no JSON" in html
    assert html.count('data-do="retry"') == 2
    (event,) = [part.split(",")[0].split("}")[0] for part in html.split("{&#34;id&#34;: ")[1:]]
    assert done(page, "retry", id=int(event)) == "1 event put back to work."
    assert done(page, "retry") in ("0 events put back to work.", "1 event put back to work.")


def test_what_is_not_in_error_cannot_be_tried_again(page: TestClient, worked: None) -> None:
    answer = page.post("/do/retry", json={"id": 999_999})
    assert answer.status_code == 409
    assert "999999 is not in error" in answer.json()["error"]


def test_the_verdict_comes_first(served: Machine, page: TestClient, worked: None) -> None:
    html = shown(page, only="now")
    assert html.startswith('<div class="problem verdict">')
    assert "Something needs you." in html
    assert "1 event is in error" in html.partition("<h2>")[0]
    served.home.off_switch.touch()
    try:
        verdict = shown(page, only="now").partition("<h2>")[0]
    finally:
        served.home.off_switch.unlink()
    assert "2 things need you." in verdict
    assert "until you run <code>claude-mem-lite on</code>." in verdict


def test_days_are_plotted_with_their_numbers(page: TestClient, worked: None) -> None:
    html = shown(page, days="7")
    for told in (
        "How often memories were given",
        "Outcomes of what was given",
        "Tokens given",
        "New memories",
        "Sessions",
    ):
        assert f"<h3>{told}</h3>" in html
    assert "<desc id=" in html
    assert "spent on models" in html  # among what has nothing to show
    assert 'value="7" selected' in html


def test_until_there_are_three_days_the_numbers_are_told(page: TestClient, worked: None) -> None:
    (chart,) = [one for one in shown(page).split('<figure class="chart">') if "<h3>Sessions</h3>" in one]
    assert "<svg" not in chart
    assert chart.count("<tr>") == 2
    assert "From three days on" in shown(page)


def test_what_is_stored_is_plotted_by_kind_and_project(page: TestClient, worked: None) -> None:
    html = shown(page)
    assert "anti pattern: 1</title>" in html
    assert ">Memories by project</title>" in html


def test_days_can_be_those_of_one_project(page: TestClient, worked: None) -> None:
    assert "<h3>Sessions</h3>" in shown(page, project="/")
    assert 'value="30" selected' in shown(page, project="/no/such", days="a million")


def test_only_what_moves_is_fetched_anew(page: TestClient, worked: None) -> None:
    now = shown(page, only="now")
    assert "<h1" not in now
    assert "chart" not in now
    assert 'data-fresh="/health?only=now"' in shown(page)


def test_a_backup_is_made_when_asked_for(page: TestClient, worked: None) -> None:
    assert done(page, "back_up").startswith("Backup made, with ")
    assert "None is made yet" not in shown(page, only="now")


def test_a_restore_is_undone_by_a_command_only_while_that_works() -> None:
    """Forgetting deletes the copies that hold what was forgotten, also the one that would undo a restore."""
    with open_machine() as machine:
        machine.start_worker()
        id_ = machine.post("/api/memories", {"kind": "note", "text": "Numbats eat termites", "cwd": "/"})["id"]
        restored = machine.run("restore", machine.post("/api/backup", {})["path"], "--yes").stdout
        command = restored.partition("`")[2].partition("`")[0]
        page = browser_of(machine)
        assert escape(command) in shown(page, only="now")
        machine.ask("DELETE", f"/api/memories/{id_}")
        assert "claude-mem-lite restore" not in shown(page, only="now")
        assert "was put in the place of memory.db." in shown(page, only="now")


def test_without_a_model_there_is_none_to_try(page: TestClient, worked: None) -> None:
    assert "no model is configured" in done(page, "try_model")


def test_a_model_that_does_not_answer_is_told(page: TestClient, configured_model: None) -> None:
    html = shown(page, only="now")
    assert "anthropic/" in html
    assert 'data-do="try_model"' in html
    assert html.index('class="problem verdict"') < html.index("<h2>Worker</h2>")
    assert "$0.00 of $1.00" in html
    assert "No answer: anthropic/" in done(page, "try_model")


def test_when_memory_is_off_it_says_so(served: Machine, page: TestClient) -> None:
    served.home.off_switch.touch()
    try:
        assert "Memory is switched off" in shown(page, only="now")
    finally:
        served.home.off_switch.unlink()
