"""`claude-mem-lite import transcripts` as a person runs it, with a real worker behind it."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from claude_mem_lite.cli.transfer.transcript_import import SWITCH_EVERY_S, TranscriptImport
from claude_mem_lite.cli.transfer.transcript_report import TranscriptReport
from claude_mem_lite.importers.transcripts import FolderMap, Transcript, find_transcripts, read_transcript
from claude_mem_lite.importers.turn_batches import BATCH_BYTES
from claude_mem_lite.paths import Home
from tests.support.fake_worker import fake_worker
from tests.support.fake_worker import run as run_here
from tests.support.lesson_stories import stories
from tests.support.past_sessions import LONG_AGO, SHOP, Json, PastSession, fixed_bug
from tests.support.running import COMMAND, WAIT_S, Machine, dump, query, wait_until
from tests.support.turns import PYTEST_FAILED, PYTEST_PASSED
from tests.worker.commands import run_here as run_on

NEXT = "Next: `claude-mem-lite sessions --all-projects`, or `claude-mem-lite context` in a project's folder."
READ = "Read 3 files of Claude Code."
NOT_PAUSED: Json = {"off": [], "excluded_then": []}
WHATEVER_THE_MODE = "-dac_override,-dac_read_search"
ONE_AFTER_THE_OTHER = """
import json, sys
from claude_mem_lite.cli.main import cli, invoke
print(json.dumps([invoke(cli, "claude-mem-lite", line) for line in json.loads(sys.argv[1])]))
"""


def run(
    machine: Machine, *arguments: str | Path, status: int = 0, within: Sequence[str] = ()
) -> "subprocess.CompletedProcess[str]":
    """The import, by a program of its own where it is to run within another."""
    if not within:
        return run_on(machine, "import", "transcripts", *arguments, status=status)
    return run_within(within, machine, "import", "transcripts", *arguments, status=status)


def run_within(
    within: Sequence[str], machine: Machine, *arguments: str | Path, status: int
) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [*within, COMMAND, *arguments],
        env=machine.environment(),
        cwd=machine.user_home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture
def machine(unserved: Machine) -> Machine:
    """A home with a worker, so that no command has to start one."""
    unserved.start_worker()
    return unserved


@pytest.fixture
def bound_by_modes() -> Sequence[str]:
    """What to put before a command so that the modes of files hold for it, even as root."""
    if os.geteuid():
        return ()
    within = ("setpriv", f"--inh-caps={WHATEVER_THE_MODE}", f"--bounding-set={WHATEVER_THE_MODE}")
    if not shutil.which("setpriv") or subprocess.run([*within, "true"], capture_output=True).returncode:
        pytest.skip("root reads everything, and setpriv cannot take that from it here")
    return within


@pytest.mark.parametrize("option", [(), ("--also-paused",)])
def test_sessions_of_an_excluded_folder_are_left_out_also_as_those_of_another_folder(
    machine: Machine, tmp_path: Path, option: tuple[str, ...]
) -> None:
    machine.home.config.write_text(f'exclude = ["{SHOP}"]\n')
    path = fixed_bug("0c5f4ee2-6f0b-4f5e-9d7e-2d9f5b0a0002").write(tmp_path / "laptop")
    told = report(machine, path, "--project", f"shop={tmp_path}", *option)
    assert (told["turns"], told["excluded"], told["excluded_then"]) == (0, 1, 0)
    assert [one["reason"] for one in told["unused"]] == ["excluded"]
    assert query(machine.view.memory_db, "select id from sessions") == []


def test_sessions_of_another_machine_belong_to_the_folder_that_is_named_for_theirs(
    machine: Machine, tmp_path: Path
) -> None:
    here = tmp_path / "webshop"
    here.mkdir()
    past = fixed_bug("0c5f4ee2-6f0b-4f5e-9d7e-2d9f5b0a0001")
    run(machine, past.write(tmp_path / "laptop"), "--project", f"shop={here}")
    (project,) = machine.get("/api/projects")["projects"]
    assert (project["id"], project["name"]) == (str(here), "webshop")
    files = {file for one in machine.get("/api/memories?all_projects=true")["memories"] for file in one["files"]}
    assert files
    assert not any(file.startswith("/") for file in files)
    assert run_on(machine, "context", "--cwd", here).stdout


def test_a_name_for_a_folder_that_no_session_was_in_is_told(machine: Machine, tmp_path: Path) -> None:
    past = fixed_bug("0c5f4ee2-6f0b-4f5e-9d7e-2d9f5b0a0002")
    done = run(machine, past.write(tmp_path / "laptop"), "--project", f"shap={tmp_path}")
    assert "No session was in a folder called shap." in done.stderr


@contextmanager
def shut(path: Path) -> Iterator[Path]:
    """A file or folder that nobody may read, for a while."""
    before = path.stat().st_mode
    path.chmod(0)
    try:
        yield path
    finally:
        path.chmod(before)


def report(machine: Machine, *arguments: str | Path) -> Json:
    return json.loads(run(machine, *arguments, "--json").stdout)


def three_sessions(folder: Path) -> None:
    for number in range(3):
        fixed_bug(f"s{number}", number, LONG_AGO + timedelta(days=number)).write(folder, packed=number == 1)


def test_it_reads_the_clients_own_folder_when_none_is_given(unserved: Machine) -> None:
    three_sessions(unserved.user_home / ".claude" / "projects" / "-home-dev-shop")
    done = run(unserved)
    assert done.stdout == f"Imported 3 turns of 3 sessions: 3 new memories.\n{READ}\n{NEXT}\n"
    assert done.stderr.startswith("Reading 3 transcripts, 0.0 MB (partly compressed).")


@pytest.mark.parametrize(("packed", "size"), [(True, "0.0 MB (compressed)."), (False, "0.0 MB.")])
def test_a_size_that_is_a_compressed_one_says_so(machine: Machine, tmp_path: Path, packed: bool, size: str) -> None:
    path = fixed_bug("s1").write(tmp_path, packed=packed)
    assert run(machine, path).stderr.startswith(f"Reading 1 transcript, {size}")


def test_a_second_time_adds_nothing(machine: Machine, tmp_path: Path) -> None:
    three_sessions(tmp_path)
    run(machine, tmp_path)
    once, rows = dump(machine.view.memory_db), machine.rows()
    assert run(machine, tmp_path).stdout.splitlines() == [
        "There was nothing new to import.",
        "3 turns were there already.",
        READ,
        "3 files gave nothing new: 3 already known (`claude-mem-lite import transcripts --verbose` lists them).",
    ]
    assert dump(machine.view.memory_db) == once
    assert machine.rows() == rows


def test_it_tells_what_later_turns_ended_and_which_sentences_wait(machine: Machine, tmp_path: Path) -> None:
    (story,) = stories(1)
    session = PastSession("s1").prompt("run it").runs("pytest", PYTEST_FAILED, 1)
    session.says("There it is: pytest fails.")
    session.prompt(story.said).runs("pytest", PYTEST_PASSED).says("There it is.").write(tmp_path)
    told = run(machine, tmp_path).stdout
    assert "2 memories were retired or replaced by what came later" in told
    assert told.endswith(
        f"{NEXT}\nAlso: `claude-mem-lite lessons --all-projects`, for 1 sentence that may be a lesson.\n"
    )
    ((at,),) = query(machine.view.memory_db, "select at from retirements")
    assert at.startswith(f"{LONG_AGO:%Y-%m-%d}")


def test_a_session_that_went_on_is_imported_from_where_it_was(machine: Machine, tmp_path: Path) -> None:
    session = fixed_bug("s1")
    session.write(tmp_path)
    run(machine, tmp_path)
    session.prompt("And the tax?").says("The tax is included.").write(tmp_path)
    told = report(machine, tmp_path)
    assert (told["sessions"], told["turns"], told["known"]) == (1, 1, 1)
    assert (told["excluded"], told["still_open"], told["waiting"], told["unreadable"]) == (0, 0, 0, [])


def test_the_report_tells_what_was_left_out_and_why(machine: Machine, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    fixed_bug("s1").write(tmp_path)
    fixed_bug("s2", 2, now - timedelta(minutes=5)).prompt("still at it").write(tmp_path)
    fixed_bug("s3", 3, cwd="/home/dev/diary").write(tmp_path)
    broken = fixed_bug("s4", 4)
    broken.lines += ["{}{}"] * 22
    path = broken.write(tmp_path)
    machine.home.config.write_text('exclude = ["/home/dev/diary"]\n')

    told = run(machine, tmp_path).stdout.splitlines()

    assert told[:4] == [
        "Imported 3 turns of 3 sessions: 3 new memories.",
        "1 turn was in excluded folders and left out.",
        "1 turn still goes on; run it again later.",
        "22 lines could not be read:",
    ]
    assert (
        told[4] == f"  {path}:{len(broken.lines) - 21}: more than one JSON object on the line (the second at column 3)"
    )
    assert told[24:] == [
        "  and 2 more (--json names them all)",
        "Such lines are left out every time; the rest of their files is read.",
        "Read 4 files of Claude Code.",
        "1 file gave nothing new: 1 excluded (`claude-mem-lite import transcripts --verbose` lists them).",
        NEXT,
    ]
    assert len(report(machine, path)["unreadable"]) == 22


def test_a_folder_that_may_not_be_read_is_reported_and_the_others_are_read(
    machine: Machine, tmp_path: Path, bound_by_modes: Sequence[str]
) -> None:
    three_sessions(tmp_path / "open")
    fixed_bug("s9").write(tmp_path / "shut")
    with shut(tmp_path / "shut") as folder:
        told = run(machine, tmp_path, within=bound_by_modes).stdout.splitlines()
    assert told == [
        "Imported 3 turns of 3 sessions: 3 new memories.",
        "1 folder could not be read in full:",
        f"  {folder}: this folder cannot be read: Permission denied",
        READ,
        NEXT,
    ]


def test_a_folder_of_sub_agents_that_may_not_be_read_is_reported_once(
    machine: Machine, tmp_path: Path, bound_by_modes: Sequence[str]
) -> None:
    path = fixed_bug("s1").write(tmp_path)
    (tmp_path / "s1" / "subagents").mkdir(parents=True)
    with shut(tmp_path / "s1"):
        done = run(machine, tmp_path, path, "--json", within=bound_by_modes)
    assert [one["file"] for one in json.loads(done.stdout)["unreadable"]] == [str(tmp_path / "s1")]


def test_when_nothing_could_be_read_it_fails_and_names_the_files(
    machine: Machine, tmp_path: Path, bound_by_modes: Sequence[str]
) -> None:
    broken = tmp_path / "broken.jsonl.gz"
    broken.write_bytes(b"plainly not packed\n")
    with shut(fixed_bug("s1").write(tmp_path)) as path, shut(fixed_bug("s2").write(tmp_path / "shut").parent) as folder:
        done = run(machine, path, broken, folder, status=1, within=bound_by_modes)
    told = done.stdout.splitlines()
    assert told[0] == "2 files and 1 folder could not be read in full:"
    assert sorted(line.split(": ", 1)[0] for line in told[1:]) == sorted(f"  {one}" for one in (path, broken, folder))
    assert f"  {path}: cannot be read: Permission denied" in told
    [problem] = done.stderr.splitlines()[-1:]
    assert problem.startswith("claude-mem-lite: not one turn could be read; the reasons are above")


def test_a_file_of_noise_alone_fails_with_the_lines_it_tried(machine: Machine, tmp_path: Path) -> None:
    noise = tmp_path / "noise.jsonl"
    noise.write_text("noise\n")
    told = run(machine, noise, status=1).stdout.splitlines()
    assert told[0] == "1 line could not be read:"
    assert told[1].startswith(f"  {noise}:1: no JSON")
    noise.write_text("noise\n" * 5000)
    told = run(machine, noise, status=1).stdout.splitlines()
    assert told[0] == "1 file could not be read in full:"
    assert told[1].startswith(f"  {noise}: more than 1,000 lines could not be read")
    assert len(told) == 2


def test_what_cannot_be_read_is_no_failure_where_turns_are_known(machine: Machine, tmp_path: Path) -> None:
    fixed_bug("s1").write(tmp_path)
    (tmp_path / "noise.jsonl").write_text("noise\n")
    run(machine, tmp_path)
    assert run(machine, tmp_path).stdout.splitlines()[:2] == [
        "There was nothing new to import.",
        "1 turn was there already.",
    ]


def test_where_there_are_no_transcripts_it_says_where_it_looked(unserved: Machine, tmp_path: Path) -> None:
    folder = unserved.user_home / ".claude" / "projects"
    told = run(unserved).stdout.splitlines()
    assert told[:3] == [
        "There are no transcripts in:",
        f"  {folder}",
        f"  {unserved.user_home / '.codex' / 'sessions'}",
    ]
    assert "PATH" in told[-2]
    assert told[-1].startswith("agent: CLAUDE_CONFIG_DIR, ")
    assert all(len(line) <= 120 for line in told[-2:])
    assert "agent: CODEX_HOME.\n" in run(unserved, "--agent", "codex").stdout
    assert run(unserved, tmp_path).stdout.startswith(
        f"There are no transcripts (.jsonl, .jsonl.gz, .json, opencode*.db) in {tmp_path}. "
    )
    assert report(unserved, tmp_path)["turns"] == 0


@pytest.mark.parametrize("name", ["missing.jsonl", "notes.txt"])
def test_a_wrong_path_is_told_in_one_sentence(unserved: Machine, tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.txt").touch()
    told = run(unserved, tmp_path / name, status=2).stderr
    assert name in told
    assert told.count("\n") == 1


def test_a_broken_configuration_is_told_in_one_sentence(machine: Machine, tmp_path: Path) -> None:
    fixed_bug("s1").write(tmp_path)
    machine.home.config.write_text("exclude = 7\n")
    told = run(machine, tmp_path, status=1).stderr.splitlines()
    assert len(told) == 2
    assert "exclude" in told[1]


def test_a_terminal_is_shown_a_bar(machine: Machine, tmp_path: Path) -> None:
    three_sessions(tmp_path)
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [COMMAND, "import", "transcripts", tmp_path],
            env=machine.environment({"TERM": "xterm", "COLUMNS": "120"}),
            stdout=subprocess.PIPE,
            stderr=theirs,
            timeout=WAIT_S,
        )
        shown = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.stdout.startswith(b"Imported 3 turns of 3 sessions: 3 new memories.\n")
    assert "3 transcripts" in shown
    assert "\u2501" in shown
    assert re.search(r"[-\d]:[-\d]{2}:[-\d]{2}", shown), "the time that is left"


def test_ctrl_c_ends_it_at_once_and_says_how_to_go_on(unserved: Machine, tmp_path: Path) -> None:
    three_sessions(tmp_path)
    with fake_worker(unserved.home) as worker:
        worker.held.add("/api/import/known")
        command = subprocess.Popen(
            [COMMAND, "import", "transcripts", tmp_path],
            env=unserved.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until(lambda: any(one.path == "/api/import/known" for one in worker.seen), "the first question")
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=WAIT_S)
    assert command.returncode == 130
    assert out == ""
    assert "Stopped. Imported memories are kept; run the import again to continue." in err
    assert "Traceback" not in err


def test_known_turns_are_not_sent(home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = PastSession("s1").prompt("one").says("One.").prompt("two").says("Two.")
    session.write(tmp_path / "t")
    with fake_worker(home) as worker:
        worker.answer("POST /api/import/known", {"known": [], "excluded": [], **NOT_PAUSED})
        worker.answer("POST /api/import", {"turns": 2, "memories": 1, "ended": 0, "unsure_lessons": 0})
        assert run_here("import", "transcripts", str(tmp_path / "t")) == 0
        sent: Json = worker.last("/api/import").body
        names = [turn["name"] for turn in sent["turns"]]
        worker.answer("POST /api/import/known", {"known": names[:1], "excluded": [], **NOT_PAUSED})
        worker.answer("POST /api/import", {"turns": 1, "memories": 1, "ended": 0, "unsure_lessons": 0})
        run_here("import", "transcripts", str(tmp_path / "t"))
        again: Json = worker.last("/api/import").body
        assert [turn["name"] for turn in again["turns"]] == names[1:]
        worker.answer("POST /api/import/known", {"known": names, "excluded": [], **NOT_PAUSED})
        asked = len(worker.seen)
        run_here("import", "transcripts", str(tmp_path / "t"))
        assert [one.path for one in worker.seen[asked:]] == ["/api/health", "/api/import/known"]
    assert "2 turns were there already." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("group", "reason"),
    [
        ("known", "already known"),
        ("excluded", "excluded"),
        ("off", "from a time when memory was off"),
        ("excluded_then", "excluded"),
    ],
)
def test_the_reason_for_an_unused_file_is_that_of_its_turns(
    home: Home, tmp_path: Path, group: str, reason: str
) -> None:
    (transcript,) = find_transcripts([fixed_bug("s1").write(tmp_path)])
    names = [turn.name for turn in read_transcript(transcript, datetime.now(UTC))]
    with fake_worker(home) as worker:
        worker.answer("POST /api/import/known", {"known": [], "excluded": [], **NOT_PAUSED, group: names})
        report = imported([transcript])
    assert [(one.path, one.reason) for one in report.unused] == [(transcript.path, reason)]


def test_the_reason_for_a_file_whose_only_turn_goes_on_is_that_the_turn_is_open(home: Home, tmp_path: Path) -> None:
    path = PastSession("s1", at=datetime.now(UTC)).prompt("still at it").write(tmp_path)
    assert [one.reason for one in imported(find_transcripts([path])).unused] == ["still open"]


def test_turns_that_fail_in_the_worker_are_counted_and_their_file_was_used(home: Home, tmp_path: Path) -> None:
    with fake_worker(home) as worker:
        worker.answer("POST /api/import/known", {"known": [], "excluded": [], **NOT_PAUSED})
        worker.answer("POST /api/import", {"turns": 0, "memories": 0, "ended": 0, "unsure_lessons": 0})
        report = imported(find_transcripts([fixed_bug("s1").write(tmp_path)]))
    assert (report.turns, report.waiting, report.unused) == (0, 1, [])


def test_progress_goes_up_within_a_file_and_ends_with_the_size_of_all_files(home: Home, tmp_path: Path) -> None:
    large = PastSession("s1").prompt(f"one {'x' * BATCH_BYTES}").says("One.").prompt("two").says("Two.")
    paths = [large.write(tmp_path), fixed_bug("s2", 2).write(tmp_path)]
    found, done = find_transcripts(paths), list[int]()
    with fake_worker(home) as worker:
        worker.answer("POST /api/import/known", {"known": [], "excluded": [], **NOT_PAUSED})
        worker.answer("POST /api/import", {"turns": 1, "memories": 1, "ended": 0, "unsure_lessons": 0})
        imported(found, done.append)
    sizes = [one.size_bytes for one in found]
    assert done == sorted(done)
    assert (done[0] > BATCH_BYTES, sizes[0] in done, done[-1]) == (True, True, sum(sizes))
    assert sys.getswitchinterval() != SWITCH_EVERY_S


def imported(found: Sequence[Transcript], advance: Callable[[int], None] = lambda _: None) -> TranscriptReport:
    report = TranscriptReport()
    TranscriptImport(report, FolderMap({}), advance, also_paused=False).run(found)
    return report


class Followed(list[Transcript]):
    """Transcripts that tell when all of them were read."""

    def __init__(self, transcripts: Sequence[Transcript]) -> None:
        super().__init__(transcripts)
        self.are_read = Event()

    def __iter__(self) -> Iterator[Transcript]:
        yield from super().__iter__()
        self.are_read.set()


def test_turns_that_are_read_while_the_worker_is_at_work_come_with_digests(home: Home, tmp_path: Path) -> None:
    session = PastSession("s1")
    for name in ("one", "two", "three"):  # a batch each
        session.prompt(f"{name} {'x' * BATCH_BYTES}").says(f"Done with {name}.")
    found = Followed(find_transcripts([session.write(tmp_path)]))

    def wait_for_reader(_: int) -> None:
        assert found.are_read.wait(WAIT_S)

    with fake_worker(home) as worker:
        worker.answer("POST /api/import/known", {"known": [], "excluded": [], **NOT_PAUSED})
        worker.answer("POST /api/import", {"turns": 1, "memories": 1, "ended": 0, "unsure_lessons": 0})
        imported(found, wait_for_reader)
        sent: Json = [one.body for one in worker.seen if one.path == "/api/import"]
    assert [len(body["turns"]) for body in sent] == [1, 1, 1]
    assert set(sent[2]["turns"][0]["made_digest"]) == {"key", "digest"}


def test_a_path_that_the_user_may_not_use_is_named_and_another_is_asked_for(
    machine: Machine, tmp_path: Path, bound_by_modes: Sequence[str]
) -> None:
    readable = "cannot be read: permission denied; choose one that you can read"
    writable = "cannot be written: permission denied; choose one that you can write"
    folder = tmp_path / "locked"
    lines = [
        (["export", "--output", f"{folder}/a.jsonl"], writable),
        (["export", "--format", "markdown", "--output", f"{folder}/b"], writable),
        (["import", "jsonl", f"{folder}/c.jsonl"], readable),
        (["import", "claude-mem", f"{folder}/d.db"], readable),
        (["import", "transcripts", f"{folder}/e.jsonl"], readable),
        (["restore", f"{folder}/f.db"], "choose one that you can read"),
    ]
    folder.mkdir()
    with shut(folder):
        done = subprocess.run(
            [*bound_by_modes, sys.executable, "-c", ONE_AFTER_THE_OTHER, json.dumps([line for line, _ in lines])],
            env=machine.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=True,
        )
    statuses, said = json.loads(done.stdout.splitlines()[-1]), done.stderr.splitlines()
    for (line, told), status in zip(lines, statuses, strict=True):
        assert status == 1, line
        assert any(line[-1] in one and told in one for one in said), (line, done.stderr)
