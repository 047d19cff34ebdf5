"""Tests of `team/outbox.py`, `team/policy.py`, `team/body.py` and `team/local_paths.py` together: of a planted set of
secrets, paths, prompts, preferences, private and foreign memories, nothing reaches the log of the device, the traffic,
the team's database or the log of its server."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Kind, Memory, Origin
from claude_mem_lite.store import memories
from claude_mem_lite.store.ids import short_id
from tests.support.database_front import database_front
from tests.support.fakes import NOW, Store
from tests.support.generated_secrets import generated_secrets
from tests.support.postgres import Database
from tests.support.team_homes import TeamHome
from tests.support.team_sync import team_on

FIELDS = ("title", "summary", "facts", "tags", "branch")
NAMES = ("ana", "kowalski", "jdoe", "svc-build")


class Planted(NamedTuple):
    """Memory with a text that must not leave."""

    mark: str
    """Part of the text that must not be in any log."""
    values: dict[str, object]


def _secrets() -> Iterator[Planted]:
    for number, secret in enumerate(generated_secrets()):
        name = FIELDS[number % len(FIELDS)]
        yield Planted(secret.secret, {name: (secret.text,) if name in ("facts", "tags") else secret.text})


def _paths() -> Iterator[Planted]:
    forms = (
        "/home/{}/shop/a.py",
        "/Users/{}/Library/x",
        "C:\\Users\\{}\\AppData\\x",
        "c:/Users/{}/x",
        "/mnt/c/Users/{}/x",
        "/var/home/{}/x",
        "file:///home/{}/x",
        "%2Fhome%2F{}%2Fx",
        "/export/home/{}/x",
        "/run/media/{}/x",
        "~{}/x",
        "x/-home-{}-shop/y",
    )
    for form in forms:
        for name in NAMES:
            path = form.format(name)
            if "-" in name and "-home-" in form:
                continue
            yield Planted(name, {"summary": f"The cause was in {path} since the start", "files": (path,)})
            yield Planted(name, {"facts": (f"see {path}",), "anchors": (f"code:1:2:{path}::load",)})


def _prompts() -> Iterator[Planted]:
    for number in range(20):
        asked = f"could you tell my boss nothing about salary plan {number}q"
        yield Planted(f"plan {number}q", {"summary": f"Rounding was wrong in invoices. Asked: {asked}"})
        yield Planted(f"plan {number}q", {"title": f"Asked: {asked}"})
        yield Planted(f"plan {number}q", {"detail": f'The user said: "{asked}"'})


def _kept() -> Iterator[Planted]:
    kinds: tuple[Kind, ...] = ("preference", "correction", "failure", "note", "goal", "project_fact", "discovery")
    origins: tuple[Origin, ...] = ("web", "mcp", "import", "command")
    for number in range(8):
        mark = f"zebra{number}z"
        said = f"The {mark} is striped on both sides"
        for kind in kinds:
            yield Planted(mark, {"title": said, "kind": kind})
        for origin in origins:
            yield Planted(mark, {"title": said, "origin": origin})
        yield Planted(mark, {"title": said, "tags": ("private",)})
        yield Planted(mark, {"title": said, "scope": "universal"})
        yield Planted(mark, {"title": said, "scope": "language:python"})
        yield Planted(mark, {"title": said, "status": "quarantined"})
        yield Planted(mark, {"summary": f"Ok <private>{said}</private> done"})


def planted_set() -> list[Planted]:
    return [*_secrets(), *_paths(), *_prompts(), *_kept()]


def plant(db: sqlite3.Connection, like: Memory, planted: Sequence[Planted]) -> None:
    """Store the planted memories behind the back of the first redaction."""
    with atomic(db):
        for number, item in enumerate(planted):
            plain = replace(like, id=short_id("planted", str(number)), title=f"Matter {number} of the shop")
            memories.insert(db, replace(plain, **item.values), NOW)  # type: ignore[arg-type]


def leaked(planted: Sequence[Planted], text: str) -> set[str]:
    return {item.mark for item in planted if item.mark in text}


def everything_on(database: Database) -> str:
    """All rows of all tables of the team."""
    names = database.rows("select tablename from pg_tables where schemaname = 'claude_mem_lite'")
    rows = [row for (name,) in names for row in database.rows(f"select t::text from claude_mem_lite.{name} t")]
    return "\n".join(text for (text,) in rows)


def test_nothing_of_the_planted_set_reaches_the_log_or_the_preview(store: Store) -> None:
    planted = planted_set()
    assert len(planted) >= 200
    home = TeamHome(store, "member", "device-m", handoffs=True)
    shared = home.decide("Use pnpm for the shop")
    plant(home.db, shared, planted)
    assert len(home.titles()) == len(planted) + 1
    shown = "\n".join(item.body for item in home.preview().would_send)
    while home.fill():
        pass
    rows = home.db.execute("select body, uid from team_log").fetchall()
    log = "\n".join(f"{row['body']} {row['uid']}" for row in rows)
    assert shared.title in log
    assert leaked(planted, log + shown) == set()


def test_nothing_of_the_planted_set_is_in_the_traffic_the_database_or_its_log(
    database: Database, tmp_path: Path
) -> None:
    planted = planted_set()
    with database.connect() as connection:
        for setting in ("log_statement = 'all'", "log_min_messages = 'info'", "log_parameter_max_length = -1"):
            connection.execute(f"alter database {database.name} set {setting}".encode())
    written = (database.server.folder / "log").stat().st_size
    with team_on(database, tmp_path) as team, database_front(database.server.port) as front:
        home = team.home("member")
        home.address = replace(home.address, port=front.port)
        shared = home.team.decide("Use pnpm for the shop")
        plant(home.db, shared, planted)
        assert home.sync().pushed > len(NAMES)
        assert home.states() == ["sent"] * len(home.states())
    places = {
        "log": (database.server.folder / "log").read_bytes()[written:].decode(errors="replace"),
        "traffic": front.received.decode(errors="replace"),
        "database": everything_on(database),
    }
    assert [name for name, text in places.items() if shared.title not in text] == []
    assert {name: found for name, text in places.items() if (found := leaked(planted, text))} == {}


def test_the_path_of_a_memory_that_goes_is_cut_and_the_rest_stays(store: Store) -> None:
    home = TeamHome(store, "member", "device-m")
    for number, item in enumerate(_paths()):
        home.decide(f"Matter {number} of the shop", id=short_id("path", str(number)), turn=str(number), **item.values)
    while home.fill():
        pass
    (sent,) = home.db.execute("select count(*) from team_log").fetchone()
    assert sent == len(list(_paths()))
