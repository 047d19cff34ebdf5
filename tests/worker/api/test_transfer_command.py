"""Tests of `cli/transfer/export.py` and `cli/transfer/import_jsonl.py`: both commands as a person runs them, with a
real worker."""

import gzip
import json
import os
import pty
import signal
import stat
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from claude_mem_lite.cli.transfer.send_with_retry import interrupted_after
from claude_mem_lite.importers.memory_file import BATCH_LINES
from claude_mem_lite.paths import Home
from tests.support.fake_worker import fake_worker
from tests.support.fake_worker import run as run_here
from tests.support.past_sessions import Json
from tests.support.running import COMMAND, PROC, WAIT_S, Machine, open_machine, query, wait_until
from tests.worker.commands import run_raw_here as run

TOKEN = "ghp_" + "a8Kd93jfLq02MzXc7VbN5tYpRw61HsGeUoIi"
LINES = [
    {"kind": "decision", "title": "Keep the naïve parser 日本", "facts": ["one\u2028two", ""], "trust": 0.1},
    {"kind": "rule", "title": "Never commit to main", "created_at": "0001-01-01T00:00:00Z", "pinned": True},
    {"kind": "note", "title": "Old", "id": "old-1", "status": "superseded", "superseded_by": "nowhere"},
    {"kind": "failure", "title": "Broke\x9b", "symbols": [{"file": "a.py", "name": "f", "action": "new"}]},
    {"kind": "note", "title": "Last", "last_seen_at": "9999-12-31T23:59:59.999999Z", "cost_usd": 1e-9},
]


def run_program(machine: Machine, *arguments: str | Path, environment: Mapping[str, str]) -> bytes:
    """What the program itself writes to standard output."""
    done = subprocess.run(
        [COMMAND, *arguments],
        env=machine.environment(environment),
        cwd=machine.user_home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=WAIT_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(path: Path, lines: list[Json]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def report(machine: Machine, path: Path, *options: str) -> Json:
    return json.loads(run(machine, "import", "jsonl", path, "--json", *options).stdout)


@pytest.fixture
def machine(unserved: Machine) -> Machine:
    """A home with a worker, so that no command has to start one."""
    unserved.start_worker()
    return unserved


def test_what_is_exported_and_imported_elsewhere_is_exported_the_same_byte_for_byte(
    machine: Machine, tmp_path: Path
) -> None:
    imported = run(machine, "import", "jsonl", write(tmp_path / "given.jsonl", LINES), "--trust")
    assert imported.stdout == b"Imported 5 memories.\n"
    run(machine, "remember", "gotcha", "The test database needs port 5433", "--tag", "db")
    first = run(machine, "export")
    assert first.stderr == b"Exported 6 memories.\n"
    (tmp_path / "all.jsonl").write_bytes(first.stdout)
    with open_machine() as other:
        other.start_worker()
        assert report(other, tmp_path / "all.jsonl", "--trust")["imported"] == 6
        assert run(other, "export").stdout == first.stdout
        assert report(other, tmp_path / "all.jsonl", "--trust")["known"] == 6
    assert len(first.stdout.decode().splitlines()) == 6


def test_the_report_tells_what_became_of_every_line(machine: Machine, tmp_path: Path) -> None:
    notes = [{"kind": "note", "title": f"Note {number}", "id": f"note-{number}"} for number in range(4)]
    run(machine, "import", "jsonl", write(tmp_path / "a.jsonl", notes[:3]))
    run(machine, "forget", "note-2", "--yes")
    changed = [notes[0], {**notes[1], "title": "Changed"}, notes[2], {**notes[3], "detail": f"use {TOKEN}"}]
    done = run(machine, "import", "jsonl", write(tmp_path / "b.jsonl", changed))
    assert done.stdout.decode() == (
        "Imported 1 memory.\n"
        "1 memory was there already.\n"
        "1 memory differs from what is there by that id, which was left as it is: note-1.\n"
        "1 memory was forgotten earlier and stays so.\n"
        "Secrets or private passages were taken out of 1 value.\n"
    )
    assert done.stderr.startswith(b"Reading ")
    assert machine.files_with(TOKEN) == []
    assert report(machine, tmp_path / "b.jsonl") == {
        "lines": 4,
        "imported": 0,
        "known": 2,
        "different": ["note-1"],
        "forgotten": 1,
        "redacted": 1,
        "quarantined": 0,
        "disbelieved": 0,
        "dry_run": False,
    }


def test_what_a_file_says_to_be_the_users_word_is_taken_as_imported_unless_it_is_trusted(
    machine: Machine, tmp_path: Path
) -> None:
    claims: list[Json] = [
        {"id": "rule", "kind": "rule", "title": "Use tabs", "origin": "user", "trust": 1.0, "made_by": "user"},
        {"id": "pinned", "kind": "note", "title": "Look at this", "pinned": True},
        {"id": "page", "kind": "note", "title": "A page said so", "origin": "web", "pinned": True},
        {"id": "plain", "kind": "note", "title": "Nothing claimed"},
    ]
    told = run(machine, "import", "jsonl", write(tmp_path / "a.jsonl", claims)).stdout.decode()
    assert "3 memories say to be your word or pinned; taken as imported. If the file is your own, --trust keeps" in told
    asked = "select id, origin, trust, made_by, pinned from memories order by id"
    assert [tuple(row) for row in query(machine.home.memory_db, asked)] == [
        ("page", "web", 0.2, "import", 0),
        ("pinned", "import", 0.6, "import", 0),
        ("plain", "import", 0.6, "import", 0),
        ("rule", "import", 0.6, "import", 0),
    ]
    own = [{**one, "id": f"{one['id']}-own"} for one in claims]
    assert report(machine, write(tmp_path / "b.jsonl", own), "--trust")["disbelieved"] == 0
    found = {row[0]: tuple(row)[1:] for row in query(machine.home.memory_db, asked)}
    assert found["rule-own"] == ("user", 1.0, "user", 0)
    assert (found["pinned-own"][-1], found["page-own"][-1]) == (1, 0)


def test_one_wrong_line_and_nothing_is_imported(machine: Machine, tmp_path: Path) -> None:
    lines: list[Json] = [*LINES, {"kind": "note", "title": "x", "sumary": "y"}, {"kind": "nte", "title": "x"}]
    done = run(machine, "import", "jsonl", write(tmp_path / "given.jsonl", lines), status=1)
    assert done.stdout == b""
    assert done.stderr.decode().splitlines()[1:] == [
        'line 6: unknown key "sumary", did you mean summary?',
        'line 7: kind cannot be "nte", did you mean note?',
        "claude-mem-lite: nothing was imported, because of 2 problems; correct the file and try again",
    ]
    told = json.loads(run(machine, "import", "jsonl", tmp_path / "given.jsonl", "--json", status=1).stdout)
    assert told["problems"][0] == {"line": 6, "reason": 'unknown key "sumary", did you mean summary?'}
    assert run(machine, "export").stdout == b""


def test_ten_problems_are_listed_and_the_rest_is_counted(machine: Machine, tmp_path: Path) -> None:
    lines = [{"kind": "note"}] * 12
    done = run(machine, "import", "jsonl", write(tmp_path / "given.jsonl", lines), status=1)
    assert done.stderr.decode().splitlines()[-3:] == [
        "line 10: title is missing",
        "and 2 more",
        "claude-mem-lite: nothing was imported, because of 12 problems; correct the file and try again",
    ]


def test_a_project_that_a_line_names_must_be_known(machine: Machine, tmp_path: Path) -> None:
    lines = [LINES[0], {"kind": "note", "title": "x", "scope": "project:nobody"}]
    done = run(machine, "import", "jsonl", write(tmp_path / "given.jsonl", lines), status=1)
    assert b"line 2: scope project:nobody: there is no project nobody" in done.stderr
    assert run(machine, "export").stdout == b""


def test_a_dry_run_only_checks(machine: Machine, tmp_path: Path) -> None:
    done = run(machine, "import", "jsonl", write(tmp_path / "given.jsonl", LINES), "--dry-run")
    assert done.stdout == b"5 lines are as they should be. Nothing was imported, because of --dry-run.\n"
    assert run(machine, "export").stdout == b""


def test_lines_belong_to_the_project_of_the_folder_that_is_named(machine: Machine, tmp_path: Path) -> None:
    run(machine, "import", "jsonl", write(tmp_path / "given.jsonl", LINES[:1]), "--cwd", tmp_path)
    run(machine, "import", "jsonl", write(tmp_path / "given.jsonl", LINES[3:]))
    (line,) = run(machine, "export", "--cwd", tmp_path).stdout.splitlines()
    assert json.loads(line)["project"] == str(tmp_path)


def test_standard_input_and_packed_files_are_read(machine: Machine, tmp_path: Path) -> None:
    given = "\n".join(map(json.dumps, LINES)).encode()
    assert run(machine, "import", "jsonl", "-", "--trust", given=given).stdout == b"Imported 5 memories.\n"
    out = tmp_path / "all.jsonl.gz"
    run(machine, "export", "--output", out)
    assert gzip.decompress(out.read_bytes()) == run(machine, "export").stdout
    assert report(machine, out)["known"] == 5


def test_an_empty_file_is_told_of(machine: Machine, tmp_path: Path) -> None:
    done = run(machine, "import", "jsonl", write(tmp_path / "empty.jsonl", []), status=1)
    assert b"there are no memories in" in done.stderr


def test_an_import_tells_whose_memories_it_brought_and_where_to_see_them(machine: Machine, tmp_path: Path) -> None:
    lines = [{"kind": "note", "title": f"Note {name}", "project": name} for name in ("/a", "/b", "/b")]
    rule = {"kind": "rule", "title": "Never commit to main"}
    told = run(machine, "import", "jsonl", write(tmp_path / "given.jsonl", [*lines, rule])).stdout.decode()
    assert told == (
        "Imported 4 memories.\n"
        "They belong to 2 other projects, not to this folder's; `claude-mem-lite list --all-projects` shows them.\n"
    )
    told = run(machine, "import", "jsonl", tmp_path / "given.jsonl").stdout.decode()
    assert told == "There was nothing new to import.\n4 memories were there already.\n"
    more: list[Json] = [*lines, {"kind": "note", "title": "Here"}]
    told = run(machine, "import", "jsonl", write(tmp_path / "more.jsonl", more)).stdout.decode()
    assert told.splitlines()[-1] == "The file has memories of 3 projects, this folder's among them."


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            '{"type": "summary", "leafUuid": "x"}\n{"type": "user", "sessionId": "s", "message": {}}\n',
            "is a transcript of Claude Code, no file of memories; run `claude-mem-lite import transcripts PATH`",
        ),
        ('[\n  {"kind": "note", "title": "x"}\n]\n', "is a JSON array; one object a line is needed"),
        ('[{"kind": "note", "title": "x"}]\n', "is a JSON array; one object a line is needed"),
    ],
)
def test_a_file_of_another_form_is_known_for_what_it_is(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, told: str
) -> None:
    path = tmp_path / "given.jsonl"
    path.write_text(content)
    with fake_worker(home) as worker:
        assert run_here("import", "jsonl", str(path)) == 1
        assert worker.seen == []
    assert capsys.readouterr().err.endswith(f"{path} {told.replace('PATH', str(path))}\n")


def test_a_file_in_the_place_of_a_command_is_known_for_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "given.jsonl"
    assert run_here("import", str(path)) == 2
    told = capsys.readouterr().err
    assert f"did you mean import jsonl {path} (memories) or import transcripts {path} (sessions)?" in told
    assert run_here("import", str(tmp_path)) == 2
    assert f"did you mean import transcripts {tmp_path}?" in capsys.readouterr().err


# The file that is written.


def test_a_file_is_for_the_user_alone_and_replaces_what_was_there(machine: Machine, tmp_path: Path) -> None:
    run(machine, "import", "jsonl", write(tmp_path / "given.jsonl", LINES), "--trust")
    out = tmp_path / "out" / "all.jsonl"
    out.parent.mkdir()
    out.write_text("before")
    out.chmod(0o644)
    done = run(machine, "export", "--output", out)
    assert (done.stdout, done.stderr) == (b"", f"Exported 5 memories to {out}.\n".encode())
    assert out.read_bytes() == run(machine, "export").stdout
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert [path.name for path in out.parent.iterdir()] == ["all.jsonl"]


def test_a_link_stays_a_link(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "target.jsonl")
    run(machine, "export", "--output", tmp_path / "link.jsonl")
    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "target.jsonl").read_bytes() == b""


@pytest.mark.parametrize("name", ["/dev/null", "/no/such/folder/file"])
def test_what_cannot_be_a_file_is_refused_and_left(machine: Machine, name: str) -> None:
    before = os.stat("/dev/null")
    run(machine, "export", "--output", name, status=1)
    assert os.stat("/dev/null").st_rdev == before.st_rdev


def test_a_folder_is_no_file(unserved: Machine, tmp_path: Path) -> None:
    run(unserved, "export", "--output", tmp_path, status=2)


def test_an_export_that_fails_leaves_what_was_there(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out" / "all.jsonl"
    out.parent.mkdir()
    out.write_text("before")
    with fake_worker(home) as worker:
        worker.refuse("GET /api/export", 500, "internal", "the worker failed")
        assert run_here("export", "--output", str(out)) == 1
    assert [(path.name, path.read_text()) for path in out.parent.iterdir()] == [("all.jsonl", "before")]


# Ctrl-C.


def started(machine: Machine, *arguments: str | Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [COMMAND, *arguments],
        env=machine.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def is_asleep(pid: int) -> bool:
    """Whether a process does nothing but wait; where that cannot be told, it is taken for granted."""
    if not PROC.is_dir():
        return True
    return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] == "S"


def test_an_export_that_is_stopped_says_that_nothing_was_written(unserved: Machine, tmp_path: Path) -> None:
    with fake_worker(unserved.home) as worker:
        worker.held.add("/api/export")
        command = started(unserved, "export", "--output", tmp_path / "all.jsonl")
        wait_until(lambda: any(one.path == "/api/export" for one in worker.seen), "the first page")
        wait_until(lambda: is_asleep(command.pid), "the command to wait for it")
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=WAIT_S)
    assert (command.returncode, out, err.strip()) == (130, "", "Stopped; nothing was written.")
    assert not (tmp_path / "all.jsonl").exists()


def test_an_import_that_is_stopped_counts_the_batch_under_way(unserved: Machine, tmp_path: Path) -> None:
    number = 3 * BATCH_LINES
    given = write(tmp_path / "given.jsonl", [{"kind": "note", "title": f"Note {one}"} for one in range(number)])
    first: Json = {"imported": BATCH_LINES, "known": 0, "different": [], "forgotten": 0, "redacted": 0}
    with fake_worker(unserved.home) as worker:
        go_on = worker.answer_later("POST /api/import/memories", first)
        worker.answer("POST /api/import/memories/start", {"project": "/x", "at": "2026-01-01T00:00:00Z", "unknown": {}})
        command = started(unserved, "import", "jsonl", given)
        wait_until(lambda: any(one.path == "/api/import/memories" for one in worker.seen), "the first batch")
        command.send_signal(signal.SIGINT)
        go_on.set()
        out, err = command.communicate(timeout=WAIT_S)
        assert len([one for one in worker.seen if one.path == "/api/import/memories"]) == 1
    assert (command.returncode, out) == (130, f"Imported {BATCH_LINES} memories.\n")
    assert f"Stopped after {BATCH_LINES} of {number:,} lines; run it again to go on." in err


def test_a_second_ctrl_c_does_not_wait() -> None:
    reached = []

    def send() -> None:
        with interrupted_after():
            signal.raise_signal(signal.SIGINT)
            reached.append("after the first")
            signal.raise_signal(signal.SIGINT)
            reached.append("after the second")

    with pytest.raises(KeyboardInterrupt):
        send()
    assert reached == ["after the first"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# Where it is written to.


def test_a_dash_is_standard_output(machine: Machine, tmp_path: Path) -> None:
    run(machine, "import", "jsonl", write(tmp_path / "given.jsonl", LINES), "--trust")
    done = run(machine, "export", "-o", "-")
    assert (done.stdout, done.stderr) == (run(machine, "export").stdout, b"Exported 5 memories.\n")


def test_a_file_to_export_to_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here("export", "all.jsonl") == 2
    assert "the file to write is an option: --output all.jsonl" in capsys.readouterr().err


def test_stdout_is_utf8_whatever_the_locale(machine: Machine, tmp_path: Path) -> None:
    run(machine, "import", "jsonl", write(tmp_path / "given.jsonl", LINES), "--trust")
    wanted = run(machine, "export").stdout
    assert "naïve parser 日本".encode() in wanted
    for name, value in (("LC_ALL", "C"), ("PYTHONIOENCODING", "latin-1")):
        assert run_program(machine, "export", environment={name: value, "PYTHONUTF8": "0"}) == wanted


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A home with more than fits a pipe, in a list of which is more than is held back before it is written."""
    lines = [{"kind": "note", "title": f"Note {number} {'of' * 40}", "detail": "x" * 1_000} for number in range(150)]
    with open_machine() as made:
        made.start_worker()
        run(made, "import", "jsonl", write(tmp_path_factory.mktemp("given") / "given.jsonl", lines))
        yield made


@pytest.mark.parametrize("command", ["export", "export -o -", "list --limit 150", "list --limit 150 --json"])
def test_a_closed_reader_is_no_failure(full: Machine, command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ran = subprocess.run(
            [COMMAND, *command.split()],
            env=full.environment(),
            cwd=full.user_home,
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=WAIT_S,
        )
    finally:
        os.close(writing)
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize("command", ["import", "export"])
def test_a_terminal_sees_how_far_it_is(machine: Machine, tmp_path: Path, command: str) -> None:
    given = write(tmp_path / "given.jsonl", LINES)
    if command == "export":
        run(machine, "import", "jsonl", given)
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            [COMMAND, "import", "jsonl", given] if command == "import" else [COMMAND, "export"],
            env=machine.environment({"TERM": "xterm", "COLUMNS": "120"}),
            stdout=subprocess.PIPE,
            stderr=theirs,
            timeout=WAIT_S,
            check=True,
        )
        shown = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert ("Importing" if command == "import" else "Exporting") in shown
    assert "\u2501" in shown


# What is killed.

BATCHES = 10


def test_an_import_that_was_killed_is_completed_by_the_next(machine: Machine, tmp_path: Path) -> None:
    number = BATCHES * BATCH_LINES
    lines = [{"kind": "note", "title": f"Note {one}", "detail": f"the {one} words " * 20} for one in range(number)]
    given = write(tmp_path / "given.jsonl", lines)
    with subprocess.Popen(
        [COMMAND, "import", "jsonl", given],
        env=machine.environment(),
        cwd=machine.user_home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as command:
        wait_until(lambda: stored(machine) > 0, "the first batch")
        command.kill()
    assert 0 < stored(machine) < number
    told = report(machine, given)
    assert (told["imported"] + told["known"], told["different"]) == (number, [])
    assert stored(machine) == number


def test_an_import_goes_on_with_another_worker_when_its_own_is_killed(machine: Machine, tmp_path: Path) -> None:
    number = BATCHES * BATCH_LINES
    given = write(tmp_path / "given.jsonl", [{"kind": "note", "title": f"Note {one}"} for one in range(number)])
    with subprocess.Popen(
        [COMMAND, "import", "jsonl", given],
        env=machine.environment(),
        cwd=machine.user_home,
        stdout=subprocess.DEVNULL,
    ) as command:
        wait_until(lambda: stored(machine) > 0, "the first batch")
        machine.kill_worker()
        assert command.wait(WAIT_S) == 0
    assert stored(machine) == number
    in_order = query(machine.view.memory_db, "select title from memories order by seq")
    assert [title for (title,) in in_order] == [f"Note {one}" for one in range(number)]


def stored(machine: Machine) -> int:
    found = query(machine.view.memory_db, "select count(*) from memories")
    return int(found[0][0]) if found else 0
