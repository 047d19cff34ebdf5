"""`claude-mem-lite code` as a person runs it, with a real worker that reads a real checkout."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.support.running import Answer, Json, Machine, short_folder
from tests.worker.commands import run_here

AUTH = """class Session:
    def renew(self, token: str) -> str:
        return check(token)


def check(token: str) -> str:
    return token
"""
WEB = """from shop.auth import Session


def handle(session: Session) -> None:
    session.renew("a")


def guess(thing):
    thing.renew("b")


handle(Session())
"""


@pytest.fixture
def machine(served: Machine) -> Iterator[Machine]:
    """The worker that all of them share, without settings when a test begins."""
    yield served
    served.home.config.unlink(missing_ok=True)


@pytest.fixture
def shop() -> Iterator[Path]:
    """A checkout with a function, a method and their callers."""
    with short_folder() as folder:
        for path, text in (("shop/__init__.py", ""), ("shop/auth.py", AUTH), ("shop/web.py", WEB)):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
        git(folder, "init", "--quiet")
        git(folder, "add", ".")
        yield folder


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def run(machine: Machine, folder: Path, *arguments: str, status: int = 0) -> "subprocess.CompletedProcess[str]":
    return run_here(machine, "code", *arguments, cwd=folder, status=status)


def ask(machine: Machine, folder: Path, what: str, name: str, **more: object) -> Answer:
    return machine.ask("GET", f"/api/code?{urlencode({'what': what, 'name': name, 'cwd': folder, **more})}")


def test_callers_are_told_with_their_lines_and_whether_it_is_sure(machine: Machine, shop: Path) -> None:
    assert run(machine, shop, "callers", "Session.renew").stdout.splitlines() == [
        "Session.renew  shop/auth.py:2",
        "    def renew(self, token: str) -> str",
        "  called by",
        "    guess   shop/web.py:9  possible",
        "    handle  shop/web.py:5",
    ]


def test_callees_are_told_with_their_places(machine: Machine, shop: Path) -> None:
    assert run(machine, shop / "shop", "callees", "renew").stdout.splitlines() == [
        "Session.renew  shop/auth.py:2",
        "    def renew(self, token: str) -> str",
        "  calls",
        "    check  shop/auth.py:6",
    ]
    assert (
        "no call of anything that the project defines was found in it" in run(machine, shop, "callees", "check").stdout
    )


def test_symbols_are_told_with_their_signatures(machine: Machine, shop: Path) -> None:
    assert run(machine, shop, "symbols", "shop/auth.py").stdout.splitlines() == [
        "Session  shop/auth.py:1",
        "    class Session",
        "Session.renew  shop/auth.py:2",
        "    def renew(self, token: str) -> str",
        "check  shop/auth.py:6",
        "    def check(token: str) -> str",
    ]


def test_json_has_all_of_it(machine: Machine, shop: Path) -> None:
    told: Json = json.loads(run(machine, shop, "callers", "Session", "--json").stdout)
    assert (told["root"], told["files"], told["total"], told["is_cut"], told["too_large"]) == (
        str(shop),
        3,
        1,
        False,
        0,
    )
    (symbol,) = told["symbols"]
    assert {key: symbol[key] for key in ("file", "name", "kind", "signature", "line", "last_line")} == {
        "file": "shop/auth.py",
        "name": "Session",
        "kind": "class",
        "signature": "class Session",
        "line": 1,
        "last_line": 3,
    }
    assert symbol["callers"] == [
        {
            "file": "shop/web.py",
            "name": "",
            "kind": "file",
            "signature": "",
            "line": 0,
            "calls": [12],
            "sure": True,
        }
    ]
    assert (symbol["callers_total"], symbol["unclear"]) == (1, 0)
    callees: Json = json.loads(run(machine, shop, "callees", "handle", "--json").stdout)
    assert callees["symbols"][0]["foreign"] == {}


def test_an_edit_is_seen_by_the_next_question(machine: Machine, shop: Path) -> None:
    assert "(top level)  shop/web.py:12" in run(machine, shop, "callers", "handle").stdout
    (shop / "shop" / "web.py").write_text(WEB.replace("handle(Session())", ""))
    assert "no call of it was found" in run(machine, shop, "callers", "handle").stdout


def test_a_name_that_is_not_there_names_what_may_be_meant(machine: Machine, shop: Path) -> None:
    failed = run(machine, shop, "callers", "Session.renwe", status=1)
    assert failed.stdout == ""
    assert "is called 'Session.renwe' among the 3 source files that git tracks; did you mean Session.renew? A new" in (
        failed.stderr
    )


def test_a_file_that_is_not_read_says_why(machine: Machine, shop: Path) -> None:
    (shop / "shop" / "new.py").write_text("def fresh(): pass\n")
    (shop / "shop" / "page.kt").write_text("fun page() {}\n")
    (shop / "shop" / "huge.py").write_text("def huge(): pass\n" + "#" * 1024 * 1024)
    git(shop, "add", "shop/huge.py")
    for name, why in (
        ("shop/new.py", "shop/new.py is not tracked by git; it is seen after `git add`"),
        ("shop/page.kt", "shop/page.kt is in a language that is not read"),
        ("shop/huge.py", "shop/huge.py is over 1 MiB"),
        ("shop/huge.py::huge", "shop/huge.py is over 1 MiB"),
        ("shop/__init__.py", "shop/__init__.py defines no function"),
        (str(shop / "shop" / "new.py"), "shop/new.py is not tracked by git"),
        ("shop/auth.py::nothing", "is called 'shop/auth.py::nothing'"),
    ):
        assert why in run(machine, shop, "symbols", name, status=1).stderr, name
    failed = run(machine, shop / "shop", "symbols", "new.py", status=1)
    assert "shop/new.py is not tracked by git" in failed.stderr
    assert "1 file over 1 MiB was not read." in failed.stderr


def test_a_path_of_the_machine_or_from_here_is_a_file_of_the_project(machine: Machine, shop: Path) -> None:
    told = run(machine, shop, "symbols", "shop/auth.py").stdout
    assert run(machine, shop, "symbols", str(shop / "shop" / "auth.py")).stdout == told
    assert run(machine, shop / "shop", "symbols", "./auth.py").stdout == told
    assert "called by" in run(machine, shop, "callers", f"{shop}/shop/auth.py::Session.renew").stdout
    failed = run(machine, shop, "symbols", "/etc/hosts.py", status=1)
    assert f"/etc/hosts.py is outside of the project {shop}" in failed.stderr


def test_before_the_first_file_is_added_all_are_read(machine: Machine, shop: Path) -> None:
    (shop / ".git" / "index").unlink()
    assert "shop/auth.py:2" in run(machine, shop, "symbols", "renew").stdout
    (shop / "readme.md").write_text("A shop.\n")
    git(shop, "add", "readme.md")
    failed = run(machine, shop, "symbols", "renew", status=1)
    assert f"among the files that git tracks in {shop}; a new file is seen after `git add`" in failed.stderr


def test_neither_the_home_folder_nor_the_whole_machine_is_read(machine: Machine) -> None:
    (machine.user_home / "a.py").write_text("def f(): pass\n")
    for folder in (machine.user_home, Path("/")):
        failed = run(machine, folder, "symbols", "f", status=1)
        assert f"{folder.resolve()} is no project" in failed.stderr
        assert "name it with --cwd" in failed.stderr
    below = machine.user_home / "project"
    below.mkdir()
    (below / "a.py").write_text("def f(): pass\n")
    assert "a.py:1" in run(machine, below, "symbols", "f").stdout


def test_a_folder_without_code_says_so(machine: Machine, tmp_path: Path) -> None:
    failed = run(machine, tmp_path, "symbols", "main", status=1)
    assert f"there is no code that can be read in {tmp_path}; the languages are Python," in failed.stderr


def test_an_excluded_folder_is_not_read(unserved: Machine, shop: Path) -> None:
    unserved.home.config.write_text(f'exclude = ["{shop}"]\n')
    unserved.start_worker()
    for folder in (shop, shop / "shop"):
        failed = run(unserved, folder, "symbols", "renew", status=1)
        assert "is excluded by the configuration; its code is not read" in failed.stderr
    assert not unserved.home.code_db.exists() or not unserved.files_with("renew")


def test_an_excluded_folder_inside_a_checkout_is_left_out(machine: Machine, shop: Path) -> None:
    (shop / "shop" / "private").mkdir()
    (shop / "shop" / "private" / "keys.py").write_text("def hidden_key(): pass\n")
    git(shop, "add", ".")
    assert "hidden_key" in run(machine, shop, "symbols", "hidden_key").stdout
    machine.home.config.write_text(f'exclude = ["{shop}/shop/private"]\n')
    assert "is called 'hidden_key'" in run(machine, shop, "symbols", "hidden_key", status=1).stderr


def test_settings_that_cannot_be_read_stop_it(machine: Machine, shop: Path) -> None:
    machine.home.config.write_text("exclude = [")
    assert "until it is fixed, no code is read" in run(machine, shop, "symbols", "renew", status=1).stderr


def test_the_limit_holds_and_the_rest_is_counted(machine: Machine, shop: Path) -> None:
    calls = "".join(f"def caller_{number}():\n    check('')\n\n" for number in range(5))
    (shop / "shop" / "more.py").write_text(f"from shop.auth import check\n\n{calls}")
    git(shop, "add", ".")
    told = run(machine, shop, "callers", "check", "--limit", "2").stdout
    assert "… and 4 more; --limit shows them" in told
    answer = ask(machine, shop, "callers", "check", limit=2).body["symbols"][0]
    assert (len(answer["callers"]), answer["callers_total"]) == (2, 6)


@pytest.mark.parametrize("query", [{"what": "nothing", "name": "x"}, {"what": "symbols", "name": ""}])
def test_a_question_that_makes_no_sense_is_refused(query: dict[str, str], machine: Machine, shop: Path) -> None:
    assert ask(machine, shop, **query).status == 422


def test_nothing_of_the_code_but_names_and_signatures_is_kept(machine: Machine, shop: Path) -> None:
    (shop / "shop" / "auth.py").write_text(AUTH + "\nNOTE = 'a sentence that is nobody else s business'\n")
    run(machine, shop, "callers", "check")
    assert machine.home.code_db.stat().st_mode & 0o777 == 0o600
    assert machine.files_with("nobody else") == []
