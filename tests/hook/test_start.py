"""Tests of `hook/spawn_worker.py`: the worker is started once, detached, without the environment of the agent, and not
again and again."""

import json
import os
import shutil
import stat
import subprocess
import time
from pathlib import Path

import pytest

from claude_mem_lite.hook.kernel import folder_identity
from claude_mem_lite.paths import Home
from tests.hook.conftest import GUARD_S, PYTHON, Hooks, until

RECORDER = f"""#!{PYTHON} -IS
import json, os, sys, time
home = os.environ["CLAUDE_MEM_LITE_HOME"]
def kind(fd):
    try:
        return os.fstat(fd).st_rdev or "open"
    except OSError:
        return None
found = {{
    "argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(), "leader": os.getsid(0) == os.getpid(),
    "standard": [kind(fd) for fd in (0, 1, 2)], "fds": [fd for fd in range(3, 256) if kind(fd)],
    "umask": os.umask(0o077),
}}
with open(f"{{home}}/started-{{os.getpid()}}.part", "w") as file:
    json.dump(found, file)
os.rename(file.name, file.name[:-5])
for _ in range(6000):
    if not os.path.exists(home):
        break
    time.sleep(0.01)
"""
ANSWERING = f"""#!{PYTHON} -IS
import os, socket
home = os.environ["CLAUDE_MEM_LITE_HOME"]
os.chdir(home)
listener = socket.socket(socket.AF_UNIX)
listener.bind("worker.sock")
listener.listen(8)
listener.settimeout(20)
while True:
    connection, _ = listener.accept()
    if connection.recv(65536):
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\n{{}}")
        break
"""


@pytest.fixture
def recorder(home: Home, user: Path) -> Home:
    """A home whose worker writes down how it was started and stays as long as the home does."""
    link_worker(home, user, RECORDER)
    return home


def link_worker(home: Home, user: Path, script: str) -> None:
    home.make()
    (user / "worker").write_text(script)
    (user / "worker").chmod(0o700)
    home.worker_python.symlink_to(user / "worker")


def records(home: Home) -> list[dict[str, object]]:
    """What started workers wrote down, after at least one did."""
    until(lambda: any(home.root.glob("started-*[0-9]")))
    return [json.loads(file.read_bytes()) for file in home.root.glob("started-*[0-9]")]


def attempts(home: Home) -> str:
    return home.start_lock.read_text().partition(" ")[0] if home.start_lock.exists() else ""


def test_a_hook_that_finds_nobody_starts_the_worker(hooks: Hooks, recorder: Home, user: Path) -> None:
    assert hooks.run("PostToolUse") == b""
    (found,) = records(recorder)
    assert found["argv"] == ["-I", "-m", "claude_mem_lite.worker"]


def test_a_socket_nobody_listens_on_counts_as_nobody(hooks: Hooks, recorder: Home) -> None:
    recorder.socket.touch()
    hooks.run("Stop")
    assert len(records(recorder)) == 1


def test_the_worker_leads_a_session_of_its_own_away_from_the_project(hooks: Hooks, recorder: Home) -> None:
    hooks.run("Stop")
    (found,) = records(recorder)
    assert (found["leader"], found["cwd"], found["umask"]) == (True, "/", 0o077)


def test_the_worker_has_none_of_the_agents_variables(hooks: Hooks, recorder: Home) -> None:
    hooks.run(
        "Stop",
        CLAUDECODE="1",
        CLAUDE_CODE_SESSION_ID="s",
        CLAUDE_CODE_MESSAGING_TOKEN="secret",
        CLAUDE_PROJECT_DIR="/p",
        CLAUDE_MEM_LITE_DEBUG="1",
        ANTHROPIC_BASE_URL="http://127.0.0.1:1",
    )
    (found,) = records(recorder)
    environment = found["env"]
    assert isinstance(environment, dict)
    assert sorted(key for key in environment if key.startswith("CLAUDE")) == [
        "CLAUDE_MEM_LITE_DEBUG",
        "CLAUDE_MEM_LITE_HOME",
    ]
    assert environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert environment["CLAUDE_MEM_LITE_HOME"] == str(recorder.root)


def test_the_worker_is_told_a_home_that_was_only_found(hooks: Hooks, user: Path) -> None:
    home = Home(user / ".claude-mem-lite")
    link_worker(home, user, RECORDER)
    hooks.run("Stop", CLAUDE_MEM_LITE_HOME="")
    (found,) = records(home)
    assert isinstance(found["env"], dict)
    assert found["env"]["CLAUDE_MEM_LITE_HOME"] == str(home.root)


def test_the_worker_inherits_no_descriptor(hooks: Hooks, recorder: Home) -> None:
    reading, writing = os.pipe()
    command, environment = hooks.command("Stop"), hooks.environment()
    # Returns only when every copy of the stdout pipe is closed, while the worker goes on.
    done = subprocess.run(
        command, input=b"{}", capture_output=True, env=environment, pass_fds=[writing], timeout=GUARD_S, check=False
    )
    os.close(reading)
    os.close(writing)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (found,) = records(recorder)
    assert found["standard"] == [Path("/dev/null").stat().st_rdev] * 3
    assert found["fds"] == []


def test_thirty_hooks_at_once_start_one_worker(hooks: Hooks, recorder: Home) -> None:
    running = [hooks.start("PostToolUse") for _ in range(30)]
    for hook in running:
        assert hook.stdin
        hook.stdin.close()
        hook.stdin = None
    assert [hook.communicate(timeout=GUARD_S) for hook in running] == [(b"", b"")] * 30
    assert [hook.returncode for hook in running] == [0] * 30
    assert len(hooks.kept()) == 30
    assert attempts(recorder) == "1"
    assert len(records(recorder)) == 1


def test_a_start_is_noted_with_its_time_in_a_private_file(hooks: Hooks, recorder: Home) -> None:
    before = time.time()
    hooks.run("Stop")
    count, at = recorder.start_lock.read_text().split()
    assert count == "1"
    assert before - 0.01 <= float(at) <= time.time() + 0.01
    assert stat.S_IMODE(recorder.start_lock.stat().st_mode) == 0o600
    assert len(records(recorder)) == 1


@pytest.mark.parametrize("age_s", [30, -30])
def test_a_worker_that_keeps_failing_is_not_started_again_soon(hooks: Hooks, home: Home, age_s: int) -> None:
    home.make()
    home.worker_python.symlink_to("/nonexistent/python")
    note = f"9 {time.time() - age_s:.3f}"
    home.start_lock.write_text(note)
    assert hooks.run("Stop") == b""
    assert home.start_lock.read_text() == note


@pytest.mark.parametrize(
    ("note", "count"),
    [
        (f"9 {time.time() - 1000}", "10"),
        (f"9 {time.time() + 1000}", "10"),
        (f"1 {time.time() - 100}", "2"),
        ("99999999999 0", "1001"),
        ("-5 0", "1"),
        ("3 nan", "4"),
        ("", "1"),
        ("no number", "1"),
    ],
    ids=["long ago", "ahead", "a while ago", "huge", "negative", "no time", "empty", "no number"],
)
def test_an_old_or_unreadable_note_allows_a_start(hooks: Hooks, home: Home, note: str, count: str) -> None:
    home.make()
    home.worker_python.symlink_to("/nonexistent/python")
    home.start_lock.write_text(note)
    assert hooks.run("Stop") == b""
    assert attempts(home) == count


def test_a_failed_start_is_counted_and_leaves_no_second_hook_running(hooks: Hooks, home: Home) -> None:
    home.make()
    home.worker_python.symlink_to("/nonexistent/python")
    assert hooks.run("SessionEnd", payload=b"once") == b""
    assert attempts(home) == "1"
    assert [file.read_bytes() for file in hooks.kept()] == [b"once"]


def test_nobody_starts_while_somebody_else_does(hooks: Hooks, recorder: Home) -> None:
    holder = subprocess.Popen(
        [
            PYTHON,
            "-c",
            "import fcntl,sys; f=open(sys.argv[1],'a'); fcntl.flock(f,2); print(flush=True); input()",
            str(recorder.start_lock),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout
    holder.stdout.readline()
    assert hooks.run("Stop") == b""
    holder.communicate(b"\n", timeout=GUARD_S)
    assert recorder.start_lock.read_bytes() == b""


def test_a_lock_that_is_a_link_is_not_followed(hooks: Hooks, recorder: Home, user: Path) -> None:
    (user / "victim").write_text("precious")
    recorder.start_lock.symlink_to(user / "victim")
    assert hooks.run("Stop") == b""
    assert (user / "victim").read_text() == "precious"


def test_a_home_without_a_worker_starts_nothing(hooks: Hooks, home: Home) -> None:
    assert hooks.run("SessionStart") == b""
    assert not home.start_lock.exists()


def test_a_relative_worker_link_is_read_from_the_home(hooks: Hooks, home: Home, user: Path) -> None:
    home.make()
    (home.root / "run").write_text(RECORDER)
    (home.root / "run").chmod(0o700)
    home.worker_python.symlink_to("run")
    hooks.run("Stop")
    assert len(records(home)) == 1


def test_a_session_start_waits_for_the_worker_it_started(patient: Hooks, home: Home, user: Path) -> None:
    link_worker(home, user, ANSWERING)
    assert patient.run("SessionStart") == b"{}"
    assert attempts(home) == "1"


def test_a_prompt_does_not_wait_for_the_worker_it_started(hooks: Hooks, recorder: Home) -> None:
    assert hooks.run("UserPromptSubmit") == b""
    assert len(records(recorder)) == 1


def test_a_spool_that_nobody_empties_stops_growing(hooks: Hooks, home: Home) -> None:
    home.make()
    for number in range(19_999):
        os.close(os.open(f"{home.spool_new}/{number:020d}-1-00000000-Stop", os.O_CREAT))
    for release in (False, True):
        assert hooks.run("Stop") == b""
        assert len(os.listdir(home.spool_new)) == 20_000
        assert home.dropped.exists() is release


def test_the_person_is_told_once_a_day_that_the_program_is_gone(hooks: Hooks, home: Home) -> None:
    home.make()
    home.worker_python.symlink_to("/nonexistent/python")
    assert hooks.run("UserPromptSubmit") == b""
    told = json.loads(hooks.run("SessionStart"))
    assert list(told) == ["systemMessage"]
    assert f"claude-mem-lite was removed, but its hooks were not: they keep what you do in {home.root}" in next(
        iter(told.values())
    )
    assert hooks.run("SessionStart") == b""
    os.utime(home.notice_mark, (0, 0))
    assert b"systemMessage" in hooks.run("SessionStart")
    assert len(hooks.kept()) == 4


def test_a_plugin_whose_program_is_gone_is_taken_out_by_its_own_command(hooks: Hooks, home: Home) -> None:
    home.make()
    home.worker_python.symlink_to("/nonexistent/python")
    told = hooks.run("SessionStart", CLAUDE_PLUGIN_ROOT="/plugins/mem-lite")
    assert b"claude plugin uninstall mem-lite@mem-lite" in told


@pytest.mark.parametrize(("starts", "is_told"), [(0, False), (4, False), (5, True)])
def test_a_worker_that_never_comes_up_is_told_of(hooks: Hooks, home: Home, starts: int, is_told: bool) -> None:
    home.make()
    home.worker_python.symlink_to(shutil.which("false") or "/bin/false")
    home.start_lock.write_text(f"{starts} {time.time()}")
    assert (b"claude-mem-lite doctor" in hooks.run("SessionStart")) == is_told


@pytest.mark.parametrize("agent", ["cursor", "copilot"])
def test_agents_that_take_another_form_are_told_nothing(hooks: Hooks, home: Home, agent: str) -> None:
    home.make()
    home.worker_python.symlink_to("/nonexistent/python")
    assert hooks.run("SessionStart", agent) == b""
    assert not home.notice_mark.exists()


def test_the_message_comes_with_the_context_that_was_rendered_ahead(hooks: Hooks, home: Home) -> None:
    home.make()
    home.worker_python.symlink_to("/nonexistent/python")
    identity = folder_identity(b"/").decode()
    home.rendered_for("/").write_text(f'/\n{identity}\n{{}}\n{{"hookSpecificOutput": {{"additionalContext": "é"}}}}')
    printed = json.loads(hooks.run("SessionStart", payload=b'{"cwd": "/", "source": "startup"}'))
    assert printed["hookSpecificOutput"] == {"additionalContext": "é"}
    assert "was removed" in printed["systemMessage"]
    assert [path.name.rpartition("-")[2] for path in hooks.kept()] == ["SessionStart", "Rendered"]
