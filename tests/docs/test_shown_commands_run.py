"""Every command that a page shows is run, on a home that has what the examples speak of, and does what it should.

In one process and on few homes: what changes something comes after what reads it, and what removes it last."""

import itertools
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from claude_mem_lite.cli.main import cli
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, migrate
from claude_mem_lite.guards.changes import by_hand
from claude_mem_lite.guards.guard import row_of_proposal
from claude_mem_lite.guards.rule import Rule
from claude_mem_lite.models import Receipt, SessionSummary
from claude_mem_lite.paths import Home
from claude_mem_lite.store import guard_ledger, guards, lesson_candidates, receipts
from claude_mem_lite.store.guard_ledger import Firing
from claude_mem_lite.timestamps import time_to_text, utc_now
from tests.docs.pages import pages
from tests.support import claude_mem_databases
from tests.support.fakes import Store
from tests.support.git_repositories import make_checkout
from tests.support.running import Machine, open_machine, wait_until

AT = utc_now()
PROJECT = "github.com/me/shop"
SESSION = "2f6d1c0e-8a4b-4c55-9d1e-0b7a6f3c2e11"
GIVEN = Receipt("its-start", SESSION, PROJECT, "startup", (), (), (), 20, 2000, 1.0, AT, AT)
PIPED = json.dumps({"kind": "rule", "title": "Never commit to main"})
PROGRAM = "from claude_mem_lite.cli.entry import run; run()"
_PLACEHOLDER = re.compile(r"\[?[A-Z]{2,}(?:\.\.\.)?\]?")
# What is changed by one of these is read by those before it.
_ORDER = (
    r"projects split",
    r"projects (?:merge|move|rename|undo)",
    r"guards remove",
    r"edit|pin|confirm|remember|import|rebuild|queue --retry",
    r"retire",
    r"forget \w",
    r"forget --session",
    r"forget --project",
    r"backup|restore",
    r"off|on",
    r"worker",
    r"install|doctor --fix",
    r"uninstall",
    r"uninstall (?:--all )?--purge",
)
# These want a terminal: for somebody to say yes, or for an editor.
_ON_A_TERMINAL = re.compile(r"forget --(?:project|session) |uninstall (?:--all )?--purge|restore|edit \w+$")
# Named in sentences; they are called with an id.
_NAMES = ("confirm", "edit", "forget", "keep", "pin", "retire", "share", "show", "timeline")
_OF_QUARANTINE = "quarantine "
OF_TEAM = re.compile(r"team |(?:share|keep) \w+$|search --team ")
"""These need a team: `test_shown_team_commands` runs them."""
_IN_FRONT = re.compile(r"worker run$|mcp$|ui\b")
"""These go on until they are ended: run as programs of their own."""
_WITHOUT_WORKER = re.compile(r"worker|install|uninstall")


class Ran(NamedTuple):
    code: int
    told: str


def shown() -> dict[str, list[str]]:
    """Each command once, without the name of the program, in the order to run them; forms of usage with placeholders
    are left out."""
    found: dict[str, list[str]] = {}
    for page in pages():
        for words in page.commands("claude-mem-lite"):
            words = list(itertools.takewhile(lambda word: word != ">", words[1:]))
            words = [word for word in words if word != "--yes"]
            line = " ".join(words)
            if words and line not in _NAMES and not any(map(_PLACEHOLDER.fullmatch, words)):
                found[line] = words
    for line in [line for line in found if line.startswith("install --agent ")]:  # else there is no purge
        found[f"un{line}"] = ["uninstall", *found[line][1:]]
    return {line: found[line] for line in sorted(found, key=lambda line: (_rank(line), line))}


def _rank(line: str) -> int:
    matching = [place for place, begins in enumerate(_ORDER, 1) if re.match(f"(?:{begins})", line)]
    return max(matching, default=0)


@contextmanager
def filled_machine(monkeypatch: pytest.MonkeyPatch, *, quarantined: bool = False) -> Iterator[Machine]:
    """A home with what the examples name, and the folder of the project they are about as the current one."""
    with open_machine() as machine:
        user = machine.user_home
        shop = make_checkout(user / "src" / "shop")
        shop.git("remote", "add", "origin", "https://github.com/me/shop.git")
        shop.commit(
            "src/auth.py",
            "class Session:\n    def renew(self):\n        return sign(self)\n\n\n"
            "def sign(session):\n    return Session().renew()\n",
        )
        (user / "code").mkdir()
        (user / "code" / "shop").symlink_to(shop.root)
        (user / ".claude").mkdir()
        _fill(machine.home, str(shop.root), quarantined)
        _fill_projects(machine.home, str(user / "shop-old"), str(user / "old" / "notes"), "/Users/me/webshop")
        _fill_folders(machine.home, str(user / "code" / "blog"), str(user / "code" / "starter"))
        _fill_inbox(machine.home)
        _write_files(user, shop.root)
        for name, value in (machine.environment() | {"EDITOR": "true", "VISUAL": "true"}).items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(shop.root)
        yield machine


def _fill(home: Home, root: str, quarantined: bool) -> None:
    place = find_location(root)
    assert place.project == PROJECT
    now = utc_now()
    told = (
        ("k7f3a5mq2x", "The test database listens on port 5433"),
        ("k7f3a9", "The test server listens on port 8081"),
        ("y72a5b", "Carts live in SQLite"),
        ("b21c07", "x"),
        ("b2xcm4t6qd", "y"),
    )
    with Store(home.memory_db) as store:
        store.session(SESSION, SessionSummary(headline="Refresh tokens before they end"), place=place, at=now)
        store.turn("t1", "refresh the token", "The token is refreshed.", session=SESSION, place=place, at=now)
        for begin, title in told:
            store.remember(
                title,
                id=begin.ljust(12, "0"),
                kind="decision",
                place=place,
                session=SESSION,
                status="quarantined" if quarantined else "active",
                origin="web" if quarantined else "assistant",
                created_at=now - timedelta(days=1),
            )
        with atomic(store.db):
            receipts.add(store.db, GIVEN)
            said = lesson_candidates.make(PROJECT, SESSION, "t1", "We should keep commits small here", 0.5, now)
            lesson_candidates.put(store.db, replace(said, id="m4t9w2cz7e"))
            for id_, command in (("k3v9x2ab4d", "npm"), ("p5n8d3rw6t", "yarn")):
                proposed = by_hand(Rule(commands=(command,)), f"We use pnpm, not {command}", "use pnpm")
                guards.put(store.db, row_of_proposal(proposed, id_, PROJECT, "", time_to_text(now)))
            fired = ("its-firing", "k3v9x2ab4d", SESSION, "p1", "call-1", "Bash")
            guard_ledger.add(store.db, Firing(*fired, "ask", time_to_text(now), 0.4, "overridden", "npm ci"))


def _fill_projects(home: Home, *folders: str) -> None:
    with Store(home.memory_db) as store:
        for folder in folders:
            store.session(folder, SessionSummary(headline="Sort the list"), place=find_location(folder))


def _fill_folders(home: Home, *folders: str) -> None:
    """More folders of the project that the examples are about."""
    with Store(home.memory_db) as store:
        for folder in folders:
            place = replace(find_location(folder), project=PROJECT, name="shop")
            store.session(folder, SessionSummary(headline="Sort the list"), place=place)


def _fill_inbox(home: Home) -> None:
    with closing(open_for_writing(home.inbox_db)) as db:
        migrate(db, INBOX_MIGRATIONS, utc_now())
        db.execute(
            """insert into inbox (id, name, event, session, payload, raw_bytes, status, reason, received_at)
               values (412, '00000000000000000412-1-00000000-Stop', 'Stop', 's', '{}', 2, 'error', 'broken', 1)"""
        )


def _write_files(user: Path, project: Path) -> None:
    """The files that examples read."""
    for name in ("memories.jsonl", "team-rules.jsonl", "my-own-export.jsonl"):
        (project / name).write_text(f"{PIPED}\n")
    said = {"type": "user", "sessionId": "old", "cwd": str(project), "timestamp": "2026-03-01T10:00:00Z", "uuid": "u1"}
    transcript = f"{json.dumps({**said, 'message': {'role': 'user', 'content': 'rename the parser'}})}\n"
    (project / "session.jsonl").write_text(transcript)
    for folder in ("backup/claude/projects/shop", ".claude/projects/shop", "laptop/projects/shop"):
        (user / folder).mkdir(parents=True)
        (user / folder / "old.jsonl").write_text(transcript)
    for path in (".claude-mem/claude-mem.db", "backup/claude-mem.db"):
        claude_mem_databases.load(user / path)


def run(words: list[str], piped: str = PIPED) -> Ran:
    """One command as a user would give it; what is to be read from a pipe is there."""
    is_piped = "-" in words or piped != PIPED
    result = CliRunner().invoke(cli, [*map(_as_here, words)], input=f"{piped}\n" if is_piped else None)
    return Ran(result.exit_code, f"{result.output[-600:]} {result.exception!r}")


def run_on_terminal(machine: Machine, words: list[str]) -> Ran:
    """The same by somebody who says yes to whatever is asked."""
    mine, its = pty.openpty()
    command = [sys.executable, "-c", PROGRAM, *map(_as_here, words)]
    more = {"EDITOR": "true", "TERM": "dumb"}
    with subprocess.Popen(
        command, env=machine.environment(more), stdin=its, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as running:
        os.close(its)
        os.write(mine, b"y\n")
        told, _ = running.communicate(timeout=60)
        os.close(mine)
    return Ran(running.returncode, told.decode()[-300:])


def _as_here(word: str) -> str:
    """A word as the shell would give it."""
    return str(Path(word).expanduser()) if word.startswith("~") else word


def run_in_front(machine: Machine, words: list[str]) -> Ran:
    """A command that serves until its input ends, or somebody stops it."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        env=machine.environment({"PYTHONUNBUFFERED": "1", "BROWSER": "true"}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        if words[0] == "worker":
            wait_until(machine.answers, "the worker to answer")
            machine.stop_worker()
        if words[0] == "ui" and running.stdout is not None and running.stdout.readline():
            running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=60)
    return Ran(running.returncode, told.decode()[-300:])


def failures(machine: Machine, chosen: dict[str, list[str]]) -> list[str]:
    """The commands that do not end well, each with what it said."""
    failed = []
    for line, words in chosen.items():
        if line == "worker run":
            machine.stop_worker()
        elif not _WITHOUT_WORKER.match(line) and not machine.is_served():
            machine.start_worker()  # quicker than the one that the command would start
        if _IN_FRONT.match(line):
            ran = run_in_front(machine, words)
        elif _ON_A_TERMINAL.match(line):
            ran = run_on_terminal(machine, words)
        elif line.startswith("projects undo k7f3a"):
            ran = run(words[:2])
        elif line.startswith("receipts k7f3a"):  # the id of a receipt cannot be chosen
            ran = run(["receipts", receipts.id_of(GIVEN), *words[2:]])
        else:
            ran = run(words)
        if ran.code:
            failed.append(f"{line}: {ran.code} {ran.told}")
    return failed


def test_every_command_that_is_shown_does_what_it_should(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {
        line: words
        for line, words in shown().items()
        if not line.startswith(_OF_QUARANTINE) and not OF_TEAM.match(line)
    }
    with filled_machine(monkeypatch) as machine:
        failed = failures(machine, {"install": ["install"], "worker start": ["worker", "start"], **chosen})
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("what", ["approve", "drop"])
def test_what_is_quarantined_can_be_dealt_with_as_shown(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {line: words for line, words in shown().items() if line.startswith(f"{_OF_QUARANTINE}{what}")}
    assert chosen
    with filled_machine(monkeypatch, quarantined=True) as machine:
        machine.start_worker()
        failed = failures(machine, chosen)
    assert not failed, "\n".join(failed)
