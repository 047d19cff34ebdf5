"""Command `claude-mem-lite`: the table of commands, and the exit status of every command.

Exit status: 0 when done, 1 when something failed (one sentence on stderr), 2 for wrong usage, 130 after Ctrl-C."""

import errno
import io
import os
import sys
from collections.abc import Sequence

import click

from claude_mem_lite import __version__
from claude_mem_lite.cli.groups import LazyCommand, LazyGroup
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.paths import find_home

_HERE = "claude_mem_lite.cli"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
SECTIONS = {
    "Set up": {
        "install": LazyCommand(f"{_HERE}.setup.install", "install", "Let your agent use this memory."),
        "uninstall": LazyCommand(f"{_HERE}.setup.uninstall", "uninstall", "Remove the hooks from your agent."),
        "doctor": LazyCommand(f"{_HERE}.setup.doctor", "doctor", "Check everything and say what to do."),
        "hooks": LazyCommand(f"{_HERE}.setup.install", "hooks", "Print the hook configuration that install writes."),
        "plugin": LazyCommand(f"{_HERE}.setup.plugin", "plugin", "Print the folder of the Claude Code plugin."),
        "completion": LazyCommand(
            f"{_HERE}.setup.shell_completion", "completion", "Print the script that lets your shell complete words."
        ),
        "config": LazyCommand(f"{_HERE}.setup.settings", "config", "Show every setting in force, and its source."),
        "on": LazyCommand(f"{_HERE}.status", "on", "Turn capture and context on again."),
        "off": LazyCommand(f"{_HERE}.status", "off", "Turn capture and context off, everywhere."),
    },
    "Look": {
        "status": LazyCommand(f"{_HERE}.status", "status", "Show the state of worker, queue and memory."),
        "search": LazyCommand(f"{_HERE}.search", "search", "Find memories and turns, by words and by meaning."),
        "list": LazyCommand(f"{_HERE}.search", "list_memories", "List the newest memories."),
        "show": LazyCommand(f"{_HERE}.search", "show", "Show memories, turns and sessions in full."),
        "timeline": LazyCommand(
            f"{_HERE}.search", "timeline", "Show the memories and turns around a memory or a turn."
        ),
        "sessions": LazyCommand(
            f"{_HERE}.sessions", "sessions", "List the last sessions, or the sessions about a topic."
        ),
        "projects": LazyCommand(
            f"{_HERE}.projects", "projects", "See your projects, and merge, rename, move or split them."
        ),
        "context": LazyCommand(
            f"{_HERE}.context", "context", "Print the context that a new session or a prompt would get."
        ),
        "receipts": LazyCommand(f"{_HERE}.receipts", "receipts", "Show the texts given to sessions, and their use."),
        "stats": LazyCommand(f"{_HERE}.figures.stats", "stats", "Show what is stored, given, used and spent."),
        "eval": LazyCommand(
            f"{_HERE}.figures.evaluation", "evaluate", "Measure on your own sessions how much memory helps."
        ),
        "experiment": LazyCommand(
            f"{_HERE}.figures.experiment",
            "experiment",
            "Find out whether memories help you, with some sessions without them.",
        ),
        "code": LazyCommand(f"{_HERE}.code", "code", "Find definitions, callers and callees in your code."),
        "ui": LazyCommand(f"{_HERE}.serve", "ui", "See, search and correct all memories in your browser."),
    },
    "Keep": {
        "remember": LazyCommand(f"{_HERE}.remember", "remember", "Store a statement of yours as a memory."),
        "edit": LazyCommand(f"{_HERE}.edit", "edit", "Change the text or the fields of a memory."),
        "pin": LazyCommand(f"{_HERE}.edit", "pin", "Pin a memory, so that it is always given first."),
        "confirm": LazyCommand(f"{_HERE}.edit", "confirm", "Say that a memory still holds, or holds again."),
        "retire": LazyCommand(f"{_HERE}.edit", "retire", "Say that a memory no longer holds."),
        "forget": LazyCommand(f"{_HERE}.remember", "forget", "Remove memories for good."),
        "lessons": LazyCommand(
            f"{_HERE}.lessons", "lessons", "See, accept, dismiss or edit lessons from your prompts."
        ),
        "guards": LazyCommand(f"{_HERE}.guards.group", "guards", "Hold tool calls against your rules before they run."),
        "quarantine": LazyCommand(f"{_HERE}.quarantine", "quarantine", "See, approve or drop memories in quarantine."),
        "import": LazyCommand(
            f"{_HERE}.transfer.import_transcripts", "import_", "Import earlier sessions and memories."
        ),
        "export": LazyCommand(f"{_HERE}.transfer.export", "export", "Write all memories to JSON lines or Markdown."),
    },
    "Team": {
        "team": LazyCommand(f"{_HERE}.team.group", "team", "Share memories of a project with your team."),
        "share": LazyCommand(f"{_HERE}.team.sharing", "share_memory", "Share one memory with the team."),
        "keep": LazyCommand(f"{_HERE}.team.sharing", "keep", "Keep one memory from the team."),
    },
    "Run": {
        "worker": LazyCommand(f"{_HERE}.worker", "worker", "Start, stop and look at the background worker."),
        "queue": LazyCommand(f"{_HERE}.status", "queue", "Show waiting and failed events."),
        "backup": LazyCommand(f"{_HERE}.transfer.backup", "backup", "Make a backup now, or list the backups."),
        "restore": LazyCommand(f"{_HERE}.transfer.backup", "restore", "Go back to a backup."),
        "rebuild": LazyCommand(
            f"{_HERE}.rebuild", "rebuild", "Rebuild the search index, or the memories of an older version."
        ),
        "mcp": LazyCommand(f"{_HERE}.serve", "mcp", "Serve memories to an agent (MCP)."),
    },
}

cli = LazyGroup(
    name="claude-mem-lite",
    sections=SECTIONS,
    params=[],
    help="""A local-first memory for coding agents.

    It watches work through your agent's hooks, keeps short dated memories of it on this machine, and gives
    the right few back when a session starts. CLAUDE_MEM_LITE_HOME chooses the data folder
    (~/.claude-mem-lite if not set).

    \b
    Examples:
      claude-mem-lite install
      claude-mem-lite status
      claude-mem-lite search "why did we pin sqlite"
      claude-mem-lite remember rule "Run the linter before every commit"
    """,
)
cli = click.version_option(__version__, prog_name="claude-mem-lite")(cli)


def run() -> None:
    """Entry point of `claude-mem-lite`."""
    sys.exit(invoke(cli, "claude-mem-lite", sys.argv[1:]))


def run_worker() -> None:
    """Entry point of `claude-mem-worker`, the same as `claude-mem-lite worker`."""
    from claude_mem_lite.cli.worker import worker

    sys.exit(invoke(worker, "claude-mem-worker", sys.argv[1:]))


def invoke(command: click.Command, program: str, arguments: Sequence[str]) -> int:
    """Run a command line and return the exit status; print every expected failure as one sentence on stderr."""
    _print_whatever_comes()
    stdout = sys.stdout
    color = False if os.environ.get("NO_COLOR") else None
    try:
        outcome: object = command.main(list(arguments), program, standalone_mode=False, color=color)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else program
        return _fail(2, path, f"{_one_line(error.format_message())} (see `{path} --help`)")
    except click.Abort as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            return 130
        if isinstance(error.__context__, KeyboardInterrupt):  # at a question, which click says in this way alone
            click.echo(err=True)
            return _fail(130, program, "nothing was done")
        if isinstance(error.__context__, EOFError):  # Ctrl-D, which leaves the cursor behind the question
            click.echo(err=True)
        return _fail(1, program, "nothing was done")
    except click.ClickException as error:
        return _fail(1, program, error.format_message())
    except MemoryLiteError as error:
        return _fail(1, program, str(error))
    except FileNotFoundError as error:
        if error.filename is None:  # only the current folder has no name
            return _fail(1, program, "the current folder no longer exists; change to another one")
        return _fail(1, program, f"{_describe(error)}; {_what_to_do(error)}")
    except OSError as error:
        if error.filename is None and error.errno in _NO_ROOM and _cannot_print():
            _give_stdout_up()
            failure = f"the output cannot be written: {_describe(error)}"
            return _fail(1, program, f"{failure}; write it to another file or disk")
        return _fail(1, program, f"{_describe(error)}; {_what_to_do(error)}")
    except SystemExit:
        if sys.stdout is stdout:
            raise
        return _let_reader_go()  # click wraps it when nobody reads what is printed, and exits with 1
    return outcome if isinstance(outcome, int) else 0


def _let_reader_go() -> int:
    """Return 0 without a message: the reader of the output, such as `head`, has closed the pipe."""
    _give_stdout_up()
    return 0


def _give_stdout_up() -> None:
    """Discard further output: writing the rest would fail again when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _cannot_print() -> bool:
    """Return True if output is left that stdout does not take."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return True
    return False


def _what_to_do(error: OSError) -> str:
    """Return the next step: `doctor` for a path in the data folder, another path for a path that the user chose."""
    named = str(error.filename or "")
    home = str(find_home().root)
    if error.errno in _NO_ROOM:
        return f"make room on the disk of {named or home}, and run this again"
    if not os.path.isabs(named) or os.path.commonpath((home, named)) == home:
        return "run `claude-mem-lite doctor`"
    return "choose one that you can read and write"


def _fail(status: int, program: str, sentence: str) -> int:
    click.echo(f"{program}: {sentence}", err=True)
    return status


def _one_line(message: str) -> str:
    return " ".join(message.split()).rstrip(".")


def _describe(error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    return f"{error.filename}: {reason}" if error.filename else reason


def _print_whatever_comes() -> None:
    # A terminal that knows no UTF-8 must not turn an ellipsis into a failure.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
