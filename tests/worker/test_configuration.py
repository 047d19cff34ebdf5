"""Tests of `worker/answers/user_notices.py` and `config_loader.py`: settings that the worker obeys: excluded folders,
ignored tools, and a file that cannot be read for a while."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from claude_mem_lite.paths import Home, state_of
from tests.support.running import (
    SILENT,
    Json,
    Machine,
    leave,
    open_machine,
    payload,
    running_loop,
    spool_name,
    turn,
    wait_until,
)
from tests.worker.commands import run_here
from tests.worker.conftest import SetClock
from tests.worker.in_process import asked

MARK = "mellonbright"


@pytest.fixture(scope="module")
def secretive() -> Iterator[Machine]:
    """A worker that is to keep nothing of one folder."""
    with open_machine() as machine:
        folder = machine.home.root.parent / "private"
        (folder / "below").mkdir(parents=True)
        machine.home.config.write_text(f'exclude = ["{folder}"]\nignored_tools = ["Bash"]\n')
        machine.start_worker()
        yield machine


def excluded(machine: Machine) -> str:
    return str(machine.home.root.parent / "private" / "below")


def test_nothing_of_an_excluded_folder_is_in_any_file(secretive: Machine) -> None:
    before = secretive.row_count()
    cwd = excluded(secretive)
    events = [
        payload("SessionStart", MARK, cwd, source="startup"),
        *turn("s-1", MARK, cwd=cwd),
        payload("SessionEnd", MARK, cwd),
    ]
    for given in events:
        assert secretive.hook(given["hook_event_name"], given) == SILENT
    secretive.drain()
    assert secretive.row_count() == before
    assert secretive.files_with(MARK) == []
    assert secretive.files_with(cwd) == []


def test_what_would_hold_in_an_excluded_folder_is_not_remembered(secretive: Machine) -> None:
    cwd = excluded(secretive)
    for words in (("note", MARK), (MARK,), ("rule", MARK, "--scope", "project"), ("rule", MARK, "--file", "cart.py")):
        refused = run_here(secretive, "remember", *words, cwd=cwd, status=1).stderr
        assert "this folder is excluded" in refused
        assert "--scope universal" in refused
    assert secretive.files_with(MARK) == []


def test_what_holds_elsewhere_is_remembered_in_an_excluded_folder_and_that_is_said(secretive: Machine) -> None:
    for words in (("rule", "Never commit to main"), ("note", "Tabs are wide", "--scope", "universal")):
        said = run_here(secretive, "remember", *words, cwd=excluded(secretive)).stdout
        assert "This folder is excluded: it is given elsewhere, and nothing is given here." in said


def test_nothing_of_an_excluded_folder_is_kept_when_only_a_piece_of_it_came(secretive: Machine) -> None:
    whole = json.dumps(payload("UserPromptSubmit", "s-1", excluded(secretive), prompt=MARK * 5)).encode()
    (secretive.home.spool_tmp / spool_name("UserPromptSubmit")).write_bytes(whole[:-10])
    secretive.drain()
    assert list(secretive.home.spool_tmp.iterdir()) == []
    assert secretive.files_with(MARK) == []


def test_nothing_of_an_excluded_folder_is_kept_when_it_came_in_a_request(secretive: Machine) -> None:
    raw = json.dumps(payload("UserPromptSubmit", "s-1", excluded(secretive), prompt=MARK)).encode()
    assert secretive.ask("POST", "/hook/UserPromptSubmit", raw=raw).status == 204
    secretive.drain()
    assert secretive.files_with(MARK) == []


def test_a_folder_beside_the_excluded_one_is_kept(secretive: Machine) -> None:
    leave(secretive.home, payload("Stop", "beside", excluded(secretive).replace("private", "privates")))
    secretive.drain()
    assert [row.status for row in secretive.rows() if row.session == "beside"] == ["done"]


def test_tools_that_are_to_be_ignored_are_skipped(secretive: Machine) -> None:
    for given in turn("tools", "run something"):
        leave(secretive.home, given)
    secretive.drain()
    (row,) = [row for row in secretive.rows() if row.session == "tools" and row.event == "PostToolUse"]
    assert (row.status, row.reason) == ("skipped", "tool Bash is ignored by configuration")


def test_a_broken_configuration_stops_intake_until_it_is_mended(machine: Machine, tmp_path: Path) -> None:
    machine.home.config.write_text("exclude = [")
    machine.start_worker()
    assert machine.hook("Stop", payload("Stop", cwd=str(tmp_path))) == SILENT
    wait_until(lambda: machine.get("/api/health")["status"] == "degraded", "the worker to tell")
    assert str(machine.home.config) in machine.get("/api/health")["problem"]
    assert machine.get("/api/health")["settings_problem"] == machine.get("/api/health")["problem"]
    assert len(machine.spooled()) == 1
    assert machine.get("/api/health")["queue_depth"] == machine.get("/api/queue/stats")["spooled"] == 1
    assert machine.rows() == []
    assert machine.ask("POST", "/api/drain", {"timeout_s": 1}).status == 400

    machine.home.config.write_text("exclude = []\n")
    wait_until(lambda: machine.get("/api/health")["status"] == "ok", "the worker to see that it was mended")
    machine.drain()
    assert [row.status for row in machine.rows()] == ["done"]


def test_the_user_hears_of_broken_settings_once_a_day_and_the_model_never(
    home: Home, clock: SetClock, tmp_path: Path
) -> None:
    home.config.write_text("budgt_tokens = 1500\n")

    def start(*, is_printed: bool = True, **more: Json) -> Json:
        name = spool_name("SessionStart", int(clock.now.timestamp() * 1e9))
        leave(home, payload("SessionStart", name, str(tmp_path), source="startup", **more), name=name)
        reply = worker.client.post("/hook/SessionStart", headers={"X-Spool": name})
        if is_printed:
            worker.client.post("/hook/printed", headers={"X-Spool": name})
        return reply.json() if reply.status_code == 200 else None

    with asked(home, clock) as worker:
        assert start(is_printed=False) == {
            "systemMessage": f"claude-mem-lite: the settings are wrong: {home.config}: unknown key budgt_tokens; "
            "did you mean budget_tokens? Until that is fixed, sessions get no context, and your work waits to be "
            "remembered."
        }
        assert start() is not None  # nobody had printed the first
        assert start() is None
        clock.advance(hours=25)
        assert start() is not None


def test_a_worker_that_ends_with_a_broken_configuration_takes_nothing_in(machine: Machine, tmp_path: Path) -> None:
    """What is broken may have named the folder that this event comes from."""
    machine.home.config.write_text("exclude = [")
    machine.start_worker()
    machine.hook("Stop", payload("Stop", cwd=str(tmp_path)))
    wait_until(lambda: machine.get("/api/health")["status"] == "degraded", "the worker to tell")
    machine.stop_worker()
    assert machine.rows() == []
    assert len(machine.spooled()) == 1


def test_an_event_held_in_memory_is_written_down_when_the_worker_ends(machine: Machine, tmp_path: Path) -> None:
    machine.home.config.write_text("exclude = [")
    machine.start_worker()
    raw = json.dumps(payload("Stop", "held", str(tmp_path))).encode()
    assert machine.ask("POST", "/hook/Stop", raw=raw).status == 204
    machine.stop_worker()
    assert [path.read_bytes() for path in machine.spooled()] == [raw]

    machine.home.config.unlink()
    machine.start_worker()
    machine.drain()
    assert [(row.session, row.status) for row in machine.rows()] == [("held", "done")]


def test_a_command_is_refused_at_once_while_the_configuration_is_broken(machine: Machine) -> None:
    machine.home.config.write_text("budget_tokens = -1")
    machine.start_worker()
    wait_until(lambda: machine.get("/api/health")["status"] == "degraded", "the worker to tell")
    answer = machine.ask("POST", "/api/memories", {"kind": "note", "text": "x", "cwd": "/"})
    assert answer.status == 400
    assert "budget_tokens" in answer.body["error"]["message"]
    assert answer.body["error"]["next_step"] == "fix that and run the command again"


def test_a_changed_file_is_told_of_at_once(machine: Machine) -> None:
    machine.start_worker()
    machine.home.config.write_text('provider = "anthropc"\n')
    assert "anthropic" in machine.get("/api/health")["problem"]
    machine.home.config.write_text('provider = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n')
    assert (machine.get("/api/health")["problem"], machine.get("/api/health")["model"]) == ("", "openai/m")
    machine.home.config.unlink()
    assert machine.get("/api/health")["model"] == "rules"


@pytest.mark.parametrize(
    ("written", "named"),
    [("preset = 'blanced'\n", "blanced"), ("preset = 'mine'\n[presets.mine]\nsesions = 300\n", "sesions")],
)
def test_a_context_is_refused_like_a_session_while_the_configuration_is_broken(
    machine: Machine, written: str, named: str
) -> None:
    machine.start_worker()
    machine.home.config.write_text(written)
    answer = machine.ask("GET", "/api/context?cwd=/&preset=mine")
    assert answer.status == 400
    told = answer.body["error"]
    assert str(machine.home.config) in told["message"]
    assert named in told["message"]
    assert "sessions are given nothing" in json.dumps(told)
    machine.home.config.unlink()
    assert machine.ask("GET", "/api/context?cwd=/").status == 200


class WatchedHome(Home):
    """A home that calls somebody each time its config.toml is named."""

    __slots__ = ("watch",)
    watch: Callable[[], None]

    @property
    def config(self) -> Path:
        self.watch()
        return self.root / "config.toml"


def test_settings_count_as_known_only_once_they_hold(home: Home, clock: SetClock) -> None:
    watched, torn = WatchedHome(home.root), []
    object.__setattr__(watched, "watch", lambda: None)
    with running_loop(watched, clock) as loop:
        assert loop.passes.wait_until_idle(30)
        (home.root / "config.toml").write_text("debug = true\n")

        def watch() -> None:
            known = state_of(home.root / "config.toml") == loop.settings._state
            torn.append(known and not loop.settings.config.debug)

        object.__setattr__(watched, "watch", watch)
        assert loop.passes.wait_until_idle(30)
        assert loop.settings.config.debug
    assert torn
    assert not any(torn)
