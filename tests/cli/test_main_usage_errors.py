"""Tests of `cli/main.py`, `cli/groups.py`, `cli/serve.py` and `install/targets.py`: mistakes on the command
line, help, and lazy imports."""

import json
import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from claude_mem_lite import __version__
from claude_mem_lite.cli.main import SECTIONS, cli
from claude_mem_lite.cli.reference.commands import commands
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from tests.support.fake_worker import fake_worker, run

COMMANDS = dict(commands(cli, "claude-mem-lite"))
READING = ["search", "list", "show", "timeline", "sessions", "context", "status", "queue", "doctor", "worker status"]
FALSE = shutil.which("false") or "/bin/false"
SCRIPTS = Path(sys.executable).parent


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["serch", "x"], "did you mean search?"),
        (["ls"], "did you mean list?"),
        (["start"], "did you mean worker start?"),
        (["rm"], "did you mean forget?"),
        (["xyzzy"], "there is no command 'xyzzy'"),
        (["worker", "strat"], "did you mean start"),
        (["search"], "QUERY"),
        (["search", "x", "--limt", "3"], "--limit"),
        (["search", "x", "--limit", "0"], "Invalid value for '--limit': '0' is not a whole number from 1 to 1000"),
        (["context", "--budget", "x"], "Invalid value for '--budget': 'x' is not a whole number from 1 to 100000"),
        (["ui", "--port", "80x"], "Invalid value for '--port': '80x' is not a whole number from 0 to 65535"),
        *(
            (["experiment", "on", share], "SHARE is a number above 0 and at most 0.5, such as 0.2")
            for share in ("-0.1", "20%", "0,2", "x", "0", "0.6", "nan")
        ),
        (["search", "x", "--since", "soon"], "2026-03-01"),
        (["search", "x", "--cwd", "/", "--all-projects"], "exclude each other"),
        (["search", "x", "--kind", "decisoin"], "did you mean decision"),
        (["search", "x", "--scope", "galaxy"], "universal, language:NAME"),
        (["search", "x", "--status", "gone"], "quarantined"),
        (["list", "--until", "someday"], "'2 weeks ago'"),
        (["list", "--file", " "], "--file needs a path"),
        (["list", "--project", ""], "--project needs a name"),
        (["export", "--project", " "], "--project needs a name"),
        (["timeline"], "ID"),
        (["timeline", "k7f3", "--before", "-1"], "--before"),
        (["history"], "did you mean timeline?"),
        (["remember", "prefrence", "x"], "did you mean preference"),
        (["remember", "note"], "no text after the kind note; write it as in: claude-mem-lite remember note 'TEXT'"),
        (["remember", "note", "  "], "no text"),
        (["remember", "note", "x", "--scope", "galaxy"], "universal, language:NAME"),
        (["remember", "note", "x", "--scope", "language:"], "universal, language:NAME"),
        (["install", "--agent", "claude"], "did you mean claude-code?"),
        (["show"], "ID"),
        (["show", ""], "is no id"),
        (["forget"], "one --session"),
        (["forget", "k7f3", "--project", "p"], "one --session"),
        (["queue", "--retry", "some"], "all"),
        (["worker", "drain", "--timeout", "soon"], "--timeout"),
        (["install", "--scope", "galaxy"], "user"),
        (["install", "--agent", "emacs"], "claude-code"),
        (["install", "--scope", "project", "--config-dir", "/x"], "exclude each other"),
    ],
)
def test_a_mistake_is_told_in_one_sentence_with_a_way_out(
    line: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*line) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1
    assert told in shown.err
    assert "--help`)" in shown.err


def test_a_mistake_starts_no_worker_and_makes_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", str(tmp_path / "never"))
    run("search", "x", "--kind", "nonsense")
    run("forget", "--session", "s")
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize(
    "line",
    [
        ["status"],
        ["list"],
        ["search", "x"],
        ["sessions"],
        ["context"],
        ["context", "--prompt", "x"],
        ["receipts"],
        ["receipts", "--summary"],
        ["stats"],
        ["queue"],
        ["queue", "--errors"],
        ["quarantine"],
        ["doctor", "--stale"],
    ],
)
def test_looking_where_nothing_is_stored_says_so_and_makes_nothing(
    tmp_path: Path, line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*line) == 0
    shown = capsys.readouterr()
    assert shown.out + shown.err == "Nothing is stored here yet; run `claude-mem-lite install`.\n"
    assert run(*line, "--json") == 0
    json.loads(capsys.readouterr().out)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("line", [["show", "k7f3"], ["timeline", "k7f3"], ["receipts", "k7f3"], ["export"]])
def test_asking_for_what_cannot_be_there_fails_and_makes_nothing(
    tmp_path: Path, line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*line) == 1
    assert "nothing is stored here yet; run `claude-mem-lite install`" in capsys.readouterr().err
    assert not (tmp_path / "home").exists()


class _Interrupted:
    """A terminal at which somebody presses Ctrl-C when asked."""

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        raise KeyboardInterrupt

    def fileno(self) -> int:
        raise OSError


def test_ctrl_c_at_a_question_ends_as_anywhere_else(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", _Interrupted())
    assert run("uninstall", "--purge") == 130
    assert capsys.readouterr().err.endswith("claude-mem-lite: nothing was done\n")
    assert home.root.exists()


@pytest.mark.parametrize("kind", [["transcripts"], ["jsonl"], ["claude-mem"]])
def test_a_file_that_is_not_there_is_wrong_usage_whatever_is_imported(
    kind: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("import", *kind, "/nope") == 2
    assert "'/nope' does not exist" in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_disk_that_is_full_of_what_is_printed_is_told_as_that(home: Home) -> None:
    with fake_worker(home) as worker, open("/dev/full", "w") as full:
        worker.answer("GET /api/export", {"memories": [{"id": "a"}], "total": 1, "next": None})
        line = [str(SCRIPTS / "claude-mem-lite"), "export"]
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    assert done.returncode == 1
    assert done.stderr == (
        "claude-mem-lite: the output cannot be written: no space left on device; write it to another file or disk\n"
    )


def test_a_full_disk_of_the_data_folder_is_told_as_that_where_output_goes_into_a_file(
    home: Home, tmp_path: Path
) -> None:
    def no_room() -> None:  # as on a full disk: every file that grows fails
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    line = [str(SCRIPTS / "claude-mem-lite"), "install"]
    with (tmp_path / "shown").open("w") as shown:
        done = subprocess.run(line, stdout=shown, stderr=subprocess.PIPE, text=True, preexec_fn=no_room)
    assert done.returncode == 1
    assert f"make room on the disk of {home.root}, and run this again" in done.stderr


def test_a_worker_that_cannot_start_fails_in_one_sentence(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.worker_python.symlink_to(FALSE)
    assert run("search", "x") == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    step = f"run `claude-mem-lite doctor`, and see the end of {home.worker_log}"
    assert shown.err == f"claude-mem-lite: the worker did not start; {step}\n"


def test_a_home_that_cannot_be_made_fails_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", str(tmp_path / "file" / "home"))
    assert run("off") == 1
    shown = capsys.readouterr().err
    assert len(shown.splitlines()) == 1
    assert "not a directory" in shown


IN_A_HOME = [
    *(line.split() for line in ("install", "install --dry-run", "uninstall", "uninstall --purge --yes", "hooks")),
    *(line.split() for line in ("config", "on", "off", "status", "search x", "context", "remember note x", "ui")),
    *(line.split() for line in ("backup --list", "restore", "worker status", "worker stop", "worker run", "queue")),
]


@pytest.mark.parametrize("line", IN_A_HOME, ids=" ".join)
def test_a_home_that_is_a_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: list[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", str(tmp_path / "file"))
    assert run(*line) == 1
    told = f"claude-mem-lite: {tmp_path / 'file'} is a file, not a folder; set CLAUDE_MEM_LITE_HOME to another place\n"
    assert capsys.readouterr().err == told
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("line", [*IN_A_HOME, ["doctor"]], ids=" ".join)
def test_a_relative_home_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", "data/mem")
    assert run(*line) == 1
    told = "CLAUDE_MEM_LITE_HOME is 'data/mem', which is another folder wherever you are; set it to an absolute path"
    assert capsys.readouterr().err == f"claude-mem-lite: {told}\n"
    assert not (tmp_path / "data").exists()


def test_doctor_tells_of_a_home_that_is_a_file_and_help_needs_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", str(tmp_path / "file"))
    assert run("doctor") == 1
    told = f"{tmp_path / 'file'} is a file, not a folder; set CLAUDE_MEM_LITE_HOME to another place"
    assert f"data folder: {told}" in capsys.readouterr().out
    monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", "data/mem")
    assert run("status", "--help") == 0


@pytest.mark.parametrize("path", COMMANDS)
def test_the_help_of_every_command_states_its_purpose_and_gives_examples(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*path.split()[1:], "--help") == 0
    shown = capsys.readouterr().out
    assert "Example" in shown
    assert any(line.strip().startswith(path) for line in shown.splitlines()[1:])


@pytest.mark.parametrize(("name", "entry"), [item for section in SECTIONS.values() for item in section.items()])
def test_the_overview_says_what_the_command_itself_says(name: str, entry: object) -> None:
    command = COMMANDS[f"claude-mem-lite {name}"]
    assert command.help is not None
    assert command.help.split("\n")[0] == command.short_help == getattr(entry, "summary", None)


@pytest.mark.parametrize("path", READING)
def test_every_reading_command_takes_json(path: str) -> None:
    options = [option for each in COMMANDS[f"claude-mem-lite {path}"].params for option in each.opts]
    assert "--json" in options


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_has_a_help_text(path: str) -> None:
    options = [each for each in COMMANDS[path].params if isinstance(each, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("line", [[], ["worker"]])
def test_a_bare_group_prints_its_help(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*line) == 0
    assert "Usage:" in capsys.readouterr().out


def test_help_imports_neither_the_server_nor_the_tables() -> None:
    program = (
        "import sys; from claude_mem_lite.cli.main import cli, invoke\n"
        "invoke(cli, 'claude-mem-lite', ['--help'])\n"
        "heavy = {'starlette', 'pydantic', 'uvicorn', 'rich', 'http.client', 'sqlite3', 'asyncio'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_reading_commands_do_not_import_the_server(home: Home) -> None:
    program = (
        "import sys; from claude_mem_lite.cli.main import cli, invoke\n"
        "invoke(cli, 'claude-mem-lite', ['queue', '--json'])\n"
        "heavy = {'starlette', 'pydantic', 'uvicorn', 'rich', 'sqlite3', 'asyncio'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    with fake_worker(home):
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_installed_command_tells_its_version() -> None:
    ran = subprocess.run([SCRIPTS / "claude-mem-lite", "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout == f"claude-mem-lite, version {__version__}\n"


def test_the_worker_command_is_the_worker_group_under_its_own_name(home: Home) -> None:
    ran = subprocess.run([SCRIPTS / "claude-mem-worker", "strat"], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr.startswith("claude-mem-worker: there is no command 'strat', did you mean start")


def test_output_for_a_program_has_no_colours_and_a_closed_reader_is_no_failure(home: Home) -> None:
    with fake_worker(home) as worker:
        hit: JsonObject = {
            "id": "k7",
            "kind": "note",
            "title": "t",
            "summary": "s" * 200_000,
            "created_at": None,
            "why": [],
        }
        worker.answer("GET /api/search", {"hits": [hit]})
        line = f"'{SCRIPTS / 'claude-mem-lite'}' search x | head -c 20"
        ran = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("k7  t  [note, never]", "")


def test_a_terminal_without_utf8_still_gets_its_output(home: Home) -> None:
    with fake_worker(home) as worker:
        worker.answer("GET /api/context", {"context": "naïve … 日本", "tokens": 1, "budget": 2})
        ran = subprocess.run(
            [SCRIPTS / "claude-mem-lite", "context"],
            capture_output=True,
            env={"PATH": "/usr/bin:/bin", "CLAUDE_MEM_LITE_HOME": str(home.root), "PYTHONIOENCODING": "latin-1"},
            check=False,
        )
    assert (ran.returncode, ran.stdout) == (0, b"na\xefve ? ??\n")


def test_ctrl_c_ends_a_command_without_a_word(home: Home) -> None:
    with fake_worker(home) as worker:
        worker.held.add("/api/drain")
        line = [str(SCRIPTS / "claude-mem-lite"), "worker", "drain"]
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiting:
            deadline = time.monotonic() + 30
            while not any(each.path == "/api/drain" for each in worker.seen):
                assert time.monotonic() < deadline
                time.sleep(0.01)
            waiting.send_signal(signal.SIGINT)
            out, err = waiting.communicate(timeout=30)
    assert (waiting.returncode, out.strip(), err.strip()) == (130, "", "")


_INTERRUPTED_WHILE_IMPORTING = """
import signal, sys
from claude_mem_lite.cli import entry

class Finder:
    def find_spec(self, name, *_):
        if name == "{module}":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Finder())
sys.argv = ["program", *sys.argv[1:]]
entry.{entry}()
"""


@pytest.mark.parametrize(
    ("entry", "module", "arguments"),
    [
        ("run", "click", ["status"]),
        ("run", "claude_mem_lite.cli.status", ["status"]),
        ("run", "claude_mem_lite.mcp.server", ["mcp"]),
        ("run_worker", "claude_mem_lite.cli.worker", ["status"]),
    ],
)
def test_ctrl_c_while_a_command_is_loaded_ends_it_without_a_word(entry: str, module: str, arguments: list[str]) -> None:
    program = _INTERRUPTED_WHILE_IMPORTING.format(entry=entry, module=module)
    ran = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr.strip()) == (130, "", "")


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_for_terminals_that_want_them(home: Home, variables: dict[str, str], coloured: bool) -> None:
    leader, follower = pty.openpty()
    with fake_worker(home) as worker:
        memory: JsonObject = {"id": "k7", "kind": "note", "title": "A title", "created_at": None}
        worker.answer("GET /api/memories", {"memories": [memory]})
        worker.answer("GET /api/search", {"hits": [memory]})
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **variables}
        for line in (["list"], ["search", "x"]):
            subprocess.run([SCRIPTS / "claude-mem-lite", *line], stdout=follower, env=environment, check=True)
            shown = os.read(leader, 65536).decode()
            assert "A title" in shown
            assert ("\x1b[36m" in shown) is coloured
    os.close(leader)
    os.close(follower)
