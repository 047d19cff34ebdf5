"""The pages of the team: in this process, with real workers and a real PostgreSQL behind them."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from claude_mem_lite.models import JsonObject
from tests.support.postgres import Database, fresh_database, running_server
from tests.support.running import Machine, open_machine
from tests.support.team_workers import Member, open_members
from tests.ui.conftest import browser_of
from tests.ui.html_checks import faults

OWN = "Keep invoices in PostgreSQL, because SQLite locked under two writers"
RECEIVED = "Clear the CI cache after a change of the lockfile, since it keeps old node_modules"
PREFERENCE = "I like <b>short</b> answers"


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with running_server() as server, fresh_database(server) as database:
        yield database


@pytest.fixture(scope="module")
def pair(database: Database) -> Iterator[tuple[Member, Member]]:
    """Ana shares a memory; ben has received it and shares one of his."""
    with open_members(database, "ana", "ben") as (ana, ben):
        ana.remember("gotcha", RECEIVED)
        ana.sync()
        ben.remember("decision", OWN)
        ben.remember("preference", PREFERENCE)
        ben.sync()
        yield ana, ben


@pytest.fixture
def ben(pair: tuple[Member, Member]) -> Member:
    return pair[1]


@pytest.fixture
def page(ben: Member) -> TestClient:
    return browser_of(ben.machine)


@pytest.fixture
def alone() -> Iterator[Machine]:
    with open_machine() as machine:
        machine.start_worker()
        yield machine


def shown(page: TestClient, path: str = "/team") -> str:
    answer = page.get(f"/part{path}")
    assert answer.status_code == 200, answer.text
    return answer.text


def do(page: TestClient, action: str, /, **given: str) -> JsonObject:
    answer = page.post(f"/do/{action}", json=given)
    assert answer.status_code == 200, answer.text
    done: JsonObject = answer.json()
    return done


def id_of(member: Member, title: str) -> str:
    return next(str(one["id"]) for one in member.machine.get("/api/feed")["memories"] if title in one["title"])


def test_without_a_team_the_page_says_which_commands_begin(alone: Machine) -> None:
    for path in ("/team", "/team/preview"):
        html = shown(browser_of(alone), path)
        assert "This machine is in no team" in html
        assert "claude-mem-lite team join" in html


def test_no_page_of_the_team_has_a_field_for_a_secret(page: TestClient, alone: Machine) -> None:
    for html in (shown(page), shown(page, "/team/preview"), shown(browser_of(alone))):
        assert 'type="password"' not in html
        assert 'type="text"' not in html
        assert "<textarea" not in html


def test_no_page_of_the_team_shows_the_connection_string(ben: Member, page: TestClient) -> None:
    password = ben.url.split(":")[2].split("@")[0]
    for path in ("/team", "/team/preview"):
        assert password not in shown(page, path)


def test_members_are_listed_on_the_machine_that_runs_the_team_alone(
    ben: Member, page: TestClient, database: Database
) -> None:
    address = ben.machine.home.team_admin_address
    assert "Members" not in shown(page)
    address.write_text(database.address.url())
    address.chmod(0o600)
    try:
        html = shown(page)
    finally:
        address.unlink()
    assert faults(html) == []
    assert "<strong>ana</strong>" in html
    assert '<strong>ben</strong> <span class="tag">you</span>' in html
    assert "1 device · last synchronised" in html
    assert database.address.url() not in html


def test_a_wrong_address_of_the_administrator_leaves_the_rest_of_the_page(ben: Member, page: TestClient) -> None:
    address = ben.machine.home.team_admin_address
    address.write_text("no connection string")
    address.chmod(0o600)
    try:
        html = shown(page)
    finally:
        address.unlink()
    assert "The members cannot be listed" in html
    assert "Who shared what" in html


def test_the_state_names_member_device_login_and_what_waits(ben: Member, page: TestClient) -> None:
    html = shown(page)
    assert "accepted the login" in html
    assert "<dd>ben</dd>" in html
    assert ben.status()["device"][:8] in html
    assert "0 to send, 0 to receive" in html


def test_projects_are_shown_with_their_counts(page: TestClient) -> None:
    html = shown(page)
    assert "1 memory sent · 1 memory received" in html
    assert "you may share it</span>" in html
    assert "Stop sharing…" in html


def test_authors_lead_to_the_list_of_their_memories(page: TestClient) -> None:
    html = shown(page)
    assert "<strong>ana</strong>: 1 memory" in html
    assert 'href="/?project=%2A&amp;origin=team"' in html
    listed = shown(page, "/?project=*&origin=team")
    assert RECEIVED in listed
    assert OWN not in listed


def test_the_preview_shows_bodies_and_why_the_rest_stays(page: TestClient) -> None:
    html = shown(page, "/team/preview")
    assert "1 memory, sent already" in html
    assert "&#34;kind&#34;: &#34;decision&#34;" in html
    assert OWN in html
    assert RECEIVED not in html
    assert "short" not in html
    assert "it comes from the team" in html


def test_the_button_synchronises(pair: tuple[Member, Member], page: TestClient) -> None:
    ana, _ = pair
    ana.remember("gotcha", "The bank closes its gateway on Mondays, so deploy on Tuesdays")
    ana.sync()
    assert do(page, "sync_team")["message"] == "Sent 0 and received 1."
    assert "<strong>ana</strong>: 2 memories" in shown(page)


def test_the_page_of_a_memory_keeps_and_shares_it(ben: Member, page: TestClient) -> None:
    id_ = id_of(ben, OWN)
    assert "It goes to the team." in shown(page, f"/memories/{id_}")
    do(page, "keep_memory", id=id_)
    html = shown(page, f"/memories/{id_}")
    assert "It stays on this machine: it is kept back" in html
    assert "Keep from the team" not in html
    do(page, "share_memory", id=id_)
    assert "It goes to the team, as you chose." in shown(page, f"/memories/{id_}")


def test_a_memory_that_may_never_go_is_refused_with_the_reason(ben: Member, page: TestClient) -> None:
    answer = page.post("/do/share_memory", json={"id": id_of(ben, "short")})
    assert answer.status_code == 409
    assert "it stays here: " in answer.json()["error"]


def test_a_received_memory_offers_neither(ben: Member, page: TestClient) -> None:
    html = shown(page, f"/memories/{id_of(ben, RECEIVED)}")
    assert "Share with the team" not in html
    assert "Keep from the team" not in html
    assert "It came from the team, so it is not sent again." in html


def test_outside_of_a_team_a_memory_says_nothing_about_teams(alone: Machine) -> None:
    stored = alone.post("/api/memories", {"kind": "gotcha", "text": "The wombats bite", "cwd": "/elsewhere/zoo"})
    assert "team" not in shown(browser_of(alone), f"/memories/{stored['id']}")


def test_a_project_is_shared_and_unshared(database: Database) -> None:
    with open_members(database, "dora", is_shared=False) as (dora,):
        dora.remember("decision", OWN)
        page = browser_of(dora.machine)
        assert "Share with the team" in shown(page)
        (project,) = (one["project"] for one in dora.status()["projects"])
        assert "not shared)" in shown(page, f"/team/preview?project={project}")
        do(page, "share_project", project=project, handoffs="on")
        assert "shared with open work</span>" in shown(page)
        do(page, "sync_team")
        do(page, "unshare_project", project=project)
        assert "Share with the team" in shown(page)


def test_a_project_must_be_named(page: TestClient) -> None:
    answer = page.post("/do/share_project", json={})
    assert answer.status_code == 409
    assert "which project" in answer.json()["error"]


def test_an_unreachable_server_has_a_code_and_a_next_step(database: Database) -> None:
    with open_members(database, "eve", is_shared=False) as (eve,):
        unreachable = eve.url.replace(f":{database.server.port}/", ":1/")
        eve.machine.home.team_address.write_text(unreachable)
        page = browser_of(eve.machine)
        html = shown(page)
        assert "The login failed:" in html
        assert "<code>unreachable</code>" in html
        assert "check network and address" in html
        answer = page.post("/do/sync_team", json={})
        assert answer.status_code == 409
        assert answer.json()["error"].startswith("unreachable: ")


def test_a_damaged_entry_is_parked_alone_and_repaired(database: Database) -> None:
    with open_members(database, "fay", "gus") as (fay, gus):
        fay.remember("gotcha", "The queue drops what is older than an hour, since the broker purges it")
        fay.sync()
        with database.connect() as connection:
            connection.execute("update claude_mem_lite.entries set body = body || ' ' where author = 'fay'")
        gus.sync()
        page = browser_of(gus.machine)
        html = shown(page)
        assert "From fay, not applied: <code>bad_hash</code>" in html
        assert "1 entry is still parked" in str(do(page, "repair_team")["message"])
        with database.connect() as connection:
            connection.execute("update claude_mem_lite.entries set body = rtrim(body) where author = 'fay'")
        assert "0 entries are still parked" in str(do(page, "repair_team")["message"])
        assert "Parked entries" not in shown(page)
