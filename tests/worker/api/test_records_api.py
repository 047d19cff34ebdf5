"""Tests of `worker/api/records.py` and `worker/api/memories.py`: responses to search, list, show and timeline."""

from pathlib import Path
from urllib.parse import urlencode

import pytest

from claude_mem_lite.paths import Home
from tests.support import commit_turns
from tests.support.fake_worker import run
from tests.support.running import Json, Machine, leave, payload, query, turn

HIT = {
    "made_by",
    "trust",
    "id",
    "kind",
    "origin",
    "author",
    "title",
    "summary",
    "session",
    "project",
    "created_at",
    "score",
    "why",
    "certain",
    "status",
    "alike",
    "pinned",
} | {
    "freshness",
    "elsewhere",
    "retired_because",
}


@pytest.fixture(scope="module")
def shop(served: Machine) -> Path:
    """A project with two sessions of work, and what the user stated."""
    root = served.user_home / "shop"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for file in ("src/auth.py", "tests/test_auth.py", "web/style.css"):
        (root / file).parent.mkdir()
        (root / file).write_text("x = 1\n")
    cwd = str(root)
    for given in (
        *edited("s-login", cwd, "Why are users logged out at midnight?", "src/auth.py", "renew the token"),
        *edited("s-login", cwd, "Please add a test for it", "tests/test_auth.py", "test the renewal"),
        *edited("s-style", cwd, "Make the buttons green", "web/style.css", "paint the buttons"),
    ):
        leave(served.home, given)
    for kind, text, scope in (
        ("decision", "Tokens are renewed by the gateway", None),
        ("rule", "Never log a token", None),
        ("note", "Type hints everywhere", "language:python"),
    ):
        served.post("/api/memories", {"kind": kind, "text": text, "scope": scope, "cwd": cwd})
    served.drain()
    return root


def edited(session: str, cwd: str, prompt: str, file: str, what: str) -> list[Json]:
    """The payloads of a turn that changed a file."""
    asked, _, _ = turn(session, prompt, cwd=cwd)
    wrote = payload(
        "PostToolUse",
        session,
        cwd,
        tool_name="Write",
        tool_input={"file_path": f"{cwd}/{file}", "content": "x = 1\n"},
        tool_response={"type": "create", "filePath": f"{cwd}/{file}", "content": "x = 1\n"},
    )
    return [asked, wrote, *commit_turns.ending(session, cwd, f"I changed {file} to {what}.", file)]


def ask(served: Machine, route: str, **parameters: object) -> Json:
    return served.get(f"/api/{route}?{urlencode(parameters, doseq=True)}")


def titles(found: Json) -> set[str]:
    return {one["title"] for one in found}


def test_a_search_finds_memories_and_raw_text_and_tells_why(served: Machine, shop: Path) -> None:
    hits = ask(served, "search", query="token renewal gateway", cwd=shop)["hits"]
    assert set(hits[0]) == HIT
    assert hits[0]["title"] == "Tokens are renewed by the gateway"
    assert any(reason.startswith("words ") for reason in hits[0]["why"])
    assert 0 < hits[0]["score"] <= 1
    raw = ask(served, "search", query="logged out at midnight", cwd=shop)["hits"]
    assert "turn" in {hit["kind"] for hit in raw}
    assert all(len(hit["summary"]) <= 500 for hit in raw if hit["kind"] == "turn")


def test_filters_narrow_a_search(served: Machine, shop: Path) -> None:
    def found(**filters: object) -> set[str]:
        return titles(ask(served, "search", query="token auth buttons hints", cwd=shop, **filters)["hits"])

    assert found(kind="rule") == {"Never log a token"}
    assert found(kind=["rule", "decision"]) == {"Never log a token", "Tokens are renewed by the gateway"}
    assert found(scope="language:python") == {"Type hints everywhere"}
    assert found(scope="universal") == {"Never log a token"}
    assert found(branch="next") == set()
    assert found(until="2020-01-01T00:00:00Z") == set()
    assert found(status="retired") == set()


def test_what_is_known_about_a_file_is_listed(served: Machine, shop: Path) -> None:
    for file in ("src/auth.py", "auth.py", str(shop / "src" / "auth.py")):
        listed = ask(served, "memories", cwd=shop, file=file)["memories"]
        assert listed
        assert all("src/auth.py" in memory["files"] for memory in listed)
    assert ask(served, "memories", cwd=shop, file="uth.py")["memories"] == []


def test_memories_of_a_scope_are_listed_whatever_project_is_at_hand(served: Machine, shop: Path) -> None:
    own = ask(served, "memories", cwd=shop, scope="project")["memories"]
    assert "Tokens are renewed by the gateway" in titles(own)
    assert "Never log a token" not in titles(own)
    by_name = ask(served, "memories", cwd="/", scope="project:shop")["memories"]
    assert [one["id"] for one in by_name] == [one["id"] for one in own]


def test_a_turn_is_shown_with_all_that_was_asked_and_answered(served: Machine, shop: Path) -> None:
    hits = ask(served, "search", query="logged out at midnight", cwd=shop)["hits"]
    (id_,) = [hit["id"] for hit in hits if hit["title"] == "Why are users logged out at midnight?"]
    told = served.get(f"/api/records/{id_[:8]}")
    assert (told["kind"], told["id"], told["session"]) == ("turn", id_, "s-login")
    assert told["asked"] == "Why are users logged out at midnight?"
    assert told["answered"].startswith("I changed src/auth.py to renew the token.")


def test_a_session_is_shown_by_its_own_id_and_by_that_of_its_summary(served: Machine, shop: Path) -> None:
    rows = query(served.home.memory_db, "select id from passages where kind = 'session' and session = 's-style'")
    by_passage, by_session = served.get(f"/api/records/{rows[0][0]}"), served.get("/api/records/s-style")
    assert by_session["session"] == by_passage["session"] == "s-style"
    assert by_session["summary"] == by_passage["summary"]
    assert by_session["kind"] == "session"


def test_a_timeline_tells_what_was_asked_before_a_memory_and_what_came_after(served: Machine, shop: Path) -> None:
    memory = ask(served, "memories", cwd=shop, file="tests/test_auth.py")["memories"][-1]
    told = ask(served, "timeline", id=memory["id"], before=3, after=2)
    items = told["items"]
    assert [item["is_center"] for item in items].count(True) == 1
    center = next(at for at, item in enumerate(items) if item["is_center"])
    assert items[center]["id"] == memory["id"]
    assert "Please add a test for it" in titles(items[:center])
    assert [item["created_at"] for item in items] == sorted(item["created_at"] for item in items)
    assert told["session"] == "s-login"
    assert "s-login" in [session["id"] for session in told["sessions"]]
    assert set(items[0]) == {"id", "kind", "origin", "title", "summary", "session", "created_at", "is_center"}


def test_a_timeline_of_a_session_can_be_read_some_at_a_time(served: Machine, shop: Path) -> None:
    whole = ask(served, "timeline", id="s-style")["items"]
    assert len(whole) == 2
    assert ask(served, "timeline", id="s-style", limit=1)["items"] == whole[:1]
    assert ask(served, "timeline", id="s-style", skip=1)["items"] == whole[1:]
    assert ask(served, "timeline", id="s-style", skip=2)["items"] == []


def test_a_timeline_of_a_session_has_all_of_it_and_nothing_else(served: Machine, shop: Path) -> None:
    items = ask(served, "timeline", id="s-style")["items"]
    assert items[0]["title"] == "Make the buttons green"
    assert {item["session"] for item in items} == {"s-style"}
    assert {item["kind"] for item in items} > {"turn"}


def test_sessions_about_something_come_best_first(served: Machine, shop: Path) -> None:
    about_login = ask(served, "sessions", query="users logged out, token", cwd=shop)["sessions"]
    about_style = ask(served, "sessions", query="green buttons", cwd=shop)["sessions"]
    assert (about_login[0]["id"], about_style[0]["id"]) == ("s-login", "s-style")
    assert about_login[0]["score"] > 0
    assert ask(served, "sessions", query="users logged out", cwd="/nowhere/else")["sessions"] == []


def test_what_holds_everywhere_does_not_tell_of_another_projects_session(served: Machine, shop: Path) -> None:
    made = {"kind": "rule", "title": "Tabs, never spaces", "scope": "universal", "session": "s-login"}
    lines = [{"memory": made, "nth": 0}]
    served.post("/api/import/memories", {"project": "shop", "at": "2026-03-01T00:00:00Z", "lines": lines})
    assert titles(ask(served, "search", query="tabs spaces", cwd="/nowhere/else")["hits"]) == {"Tabs, never spaces"}
    assert ask(served, "sessions", query="tabs spaces", cwd="/nowhere/else")["sessions"] == []


@pytest.mark.parametrize(
    ("target", "status", "code"),
    [
        ("search?query=x&cwd=/&kind=wish", 422, "invalid"),
        ("search?query=x&cwd=/&since=whenever", 422, "invalid"),
        ("search?query=x&cwd=/&status=any", 422, "invalid"),
        ("search?query=x&cwd=/&limit=1001", 422, "invalid"),
        ("search?query=x&cwd=/&since=2026-03-01T10:00:00", 422, "invalid"),
        ("search?query=x&cwd=/&since=0001-01-01T00:00:00%2B14:00", 400, "refused"),
        ("search?query=x&cwd=/&since=2026-03-02T00:00:00Z&until=2026-03-01T00:00:00Z", 400, "refused"),
        ("search?query=x&cwd=/&scope=galaxy", 400, "refused"),
        ("search?query=x&all_projects=true&scope=project", 400, "refused"),
        ("memories?cwd=/&scope=project:nobody-has-it", 404, "not_found"),
        ("memories?cwd=/&status=gone", 422, "invalid"),
        ("records/zzzzzzzz", 404, "not_found"),
        ("records/zzz", 404, "not_found"),
        ("timeline", 422, "invalid"),
        ("timeline?id=zzzzzzzz", 404, "not_found"),
        ("timeline?id=zzzzzzzz&before=-1", 422, "invalid"),
        ("timeline?id=zzzzzzzz&after=501", 422, "invalid"),
        ("timeline?id=zzzzzzzz&skip=99999999999", 422, "invalid"),
        ("timeline?id=zzzzzzzz&limit=1001", 422, "invalid"),
    ],
)
def test_a_wrong_question_is_refused_in_the_one_shape(served: Machine, target: str, status: int, code: str) -> None:
    answer = served.ask("GET", f"/api/{target}")
    assert (answer.status, list(answer.body)) == (status, ["error"])
    assert answer.body["error"]["code"] == code
    assert answer.body["error"]["message"]
    assert status == 422 or answer.body["error"]["next_step"]


@pytest.mark.parametrize("text", ["", "   ", '"', "AND OR NOT", "a*b(c)", "\x00", "日本", "x" * 5_000])
def test_any_text_is_a_safe_question(served: Machine, shop: Path, text: str) -> None:
    assert "hits" in ask(served, "search", query=text, cwd=shop)
    assert "sessions" in ask(served, "sessions", query=text, cwd=shop)
    assert "memories" in ask(served, "memories", file=text, branch=text, cwd=shop)


@pytest.fixture
def typing(served: Machine, shop: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A terminal in a folder of the project."""
    monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", str(served.home.root))
    monkeypatch.chdir(shop / "src")
    return served.home


def test_from_search_to_show_to_timeline_on_the_command_line(typing: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("search", "renew token", "--file", "./auth.py", "--explain") == 0
    first, *rest = capsys.readouterr().out.splitlines()
    id_ = first.split()[0]
    assert any(line.startswith("    score ") for line in rest)
    assert run("show", id_) == 0
    assert "src/auth.py" in capsys.readouterr().out
    assert run("timeline", id_) == 0
    shown = capsys.readouterr().out
    assert "-- session s-login" in shown
    assert f"> {id_}" in shown
    assert "Why are users logged out at midnight?" in shown
    assert run("sessions", "green buttons", "--limit", "1") == 0
    assert capsys.readouterr().out.startswith("s-style\t")
