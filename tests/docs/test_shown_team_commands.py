"""Every command of a team that a page shows is run with a real PostgreSQL: in place of the addresses in the examples
stand those of this server and of the invitation that was printed."""

import itertools
import re
from collections.abc import Iterator

import pytest

from tests.docs.test_shown_commands_run import OF_TEAM, Ran, filled_machine, run, run_on_terminal, shown
from tests.support.postgres import Database, PostgresServer, fresh_database, running_server
from tests.support.running import Machine

# The order in which a team lives; each needs those before it.
_ORDER = (
    r"team init",
    r"team invite",
    r"team members",
    r"team join",
    r"team preview",
    r"team share",
    r"share \w",
    r"team sync",
    r"team (?:status|repair)|search --team ",
    r"keep \w",
    r"team unshare",
    r"team leave$",
    r"team leave --purge",
    r"team revoke",
)
_ASKS_FOR_SECRET = ("team init", "team join", "team key")
_ON_A_TERMINAL = re.compile(r"team leave")
_INVITATION = re.compile(r"postgresql://cml_\S+")
_SEALED = ("team init --sealed", "team key")
_KEY = re.compile(r"Team key, shown only now: (\S+)")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def database(server: PostgresServer) -> Iterator[Database]:
    with fresh_database(server, is_set_up=False) as database:
        yield database


def shown_of_team(*, is_sealed: bool) -> dict[str, list[str]]:
    """The commands in the order to run them, without what a shell does with files."""
    chosen = {line: words for line, words in shown().items() if OF_TEAM.match(line)}
    chosen = {line: words for line, words in chosen.items() if line.startswith(_SEALED) == is_sealed}
    unknown = [line for line in chosen if _rank(line) == len(_ORDER) and not is_sealed]
    assert unknown == [], "say when they are run"
    plain = {line: [*itertools.takewhile(lambda word: word != "<", words)] for line, words in chosen.items()}
    return dict(sorted(plain.items(), key=lambda item: (_rank(item[0]), item[0])))


def _rank(line: str) -> int:
    return next((place for place, begins in enumerate(_ORDER) if re.match(begins, line)), len(_ORDER))


class Team:
    """A team that lives through the commands."""

    def __init__(self, machine: Machine, database: Database) -> None:
        self._machine = machine
        self._admin = database.address.url()
        self._invitation = ""
        self._key = ""

    def run(self, line: str, words: list[str]) -> Ran:
        if line == "team leave --purge":
            self._run(["team", "join"])  # the one before has left already
            self._run(["team", "share", "."])
        if _ON_A_TERMINAL.match(line):
            return run_on_terminal(self._machine, words)
        return self._run([self._as_here(word) for word in words])

    def _run(self, words: list[str]) -> Ran:
        is_asking = " ".join(words).startswith(_ASKS_FOR_SECRET) and not any("://" in word for word in words)
        ran = run(words, self._secret(words)) if is_asking else run(words)
        self._invitation = next(iter(_INVITATION.findall(ran.told)), self._invitation)
        self._key = next(iter(_KEY.findall(ran.told)), self._key)
        return ran

    def _secret(self, words: list[str]) -> str:
        return {"init": self._admin, "join": self._invitation, "key": self._key}[words[1]]

    def _as_here(self, word: str) -> str:
        if not word.startswith("postgresql://"):
            return word
        return self._invitation if word.startswith("postgresql://cml_") else self._admin


def failures(team: Team, chosen: dict[str, list[str]]) -> list[str]:
    ran = {line: team.run(line, words) for line, words in chosen.items()}
    return [f"{line}: {done.code} {done.told}" for line, done in ran.items() if done.code]


def test_every_command_of_a_team_that_is_shown_does_what_it_should(
    monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    chosen = shown_of_team(is_sealed=False)
    assert len(chosen) > 15
    with filled_machine(monkeypatch) as machine:
        machine.start_worker()
        failed = failures(Team(machine, database), chosen)
    assert not failed, "\n".join(failed)


def test_those_of_a_sealed_team_do_too(monkeypatch: pytest.MonkeyPatch, database: Database) -> None:
    init, *rest = shown_of_team(is_sealed=True).items()
    assert [line for line, _ in rest] == ["team key"]
    between = {
        "team invite ana --project .": ["team", "invite", "ana", "--project", "."],
        "team join": ["team", "join"],
    }
    with filled_machine(monkeypatch) as machine:
        machine.start_worker()
        failed = failures(Team(machine, database), {**dict([init]), **between, **dict(rest)})
    assert not failed, "\n".join(failed)
