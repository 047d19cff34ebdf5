"""A machine of a team's member, with a real PostgreSQL behind it: what a teammate shared has arrived, one entry of hers
is damaged on the server, and one project may be shared and is not."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from demo.machine import COMMAND, Machine

from tests.e2e.page.serving import Served, serving
from tests.support.postgres import Database, fresh_database, running_server

SHOP, TILL = "github.com/acme/teashop", "github.com/acme/till"
OWN = "Keep invoices in PostgreSQL, because SQLite locked under two writers"
TILL_RULE = "The till rounds half up, since the tax office checks it to the cent"
RECEIVED = "Clear the CI cache after a change of the lockfile, since it keeps old node_modules"
DAMAGED = "Deploy on Tuesdays only, because the bank closes its gateway on Mondays"
PREFERENCE = "I like short answers"


@dataclass(frozen=True, slots=True)
class TeamPage:
    """The page on the machine of ben, and the database of his team."""

    served: Served
    database: Database


@contextmanager
def team_page() -> Iterator[TeamPage]:
    with running_server() as server, fresh_database(server) as database, Machine() as ana, Machine() as ben:
        for machine in (ana, ben):
            machine.user.mkdir()
            make_checkout(machine.project, SHOP)
        make_checkout(ben.root / "till", TILL)
        admin = database.address.url()
        for name, machine in (("ana", ana), ("ben", ben)):
            projects = ("--project", SHOP, "--project", TILL)
            invitation = machine.run("team", "invite", name, *projects, "--url", admin, "--json")
            machine.run("team", "join", json.loads(invitation)["url"])
        for text in (RECEIVED, DAMAGED):
            ana.run("remember", "gotcha", text)
        ana.run("team", "share", str(ana.project))
        ana.run("team", "sync")
        damage(database, DAMAGED)
        ben.run("remember", "decision", OWN)
        ben.run("remember", "preference", PREFERENCE)
        command = [str(COMMAND), "remember", "gotcha", TILL_RULE]
        subprocess.run(command, cwd=ben.root / "till", env=ben.environment(), check=True, capture_output=True)
        ben.run("team", "share", str(ben.project))
        ben.run("team", "sync")
        address = ben.home / "team-admin-url"  # ben runs the team
        address.write_text(admin)
        address.chmod(0o600)
        with serving(ben) as served:
            yield TeamPage(served, database)


def make_checkout(folder: Path, remote: str) -> None:
    folder.mkdir(exist_ok=True)
    for words in (["init", "--quiet"], ["remote", "add", "origin", f"https://{remote}.git"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


def damage(database: Database, words: str, *, is_whole: bool = False) -> None:
    """Change the body of an entry on the server, as a hand in the table would; `is_whole`: make it whole again."""
    change = "rtrim(body)" if is_whole else "body || ' '"
    with database.connect() as connection:
        connection.execute(
            f"update claude_mem_lite.entries set body = {change} where strpos(body, %(words)s) > 0".encode(),
            {"words": words},
        )
