"""What sessions did to code is stored with them, seen from the root of the checkout, and forgotten with them."""

from pathlib import Path

import pytest

from tests.support.running import Json, Machine, query
from tests.worker.working_repository import WorkingRepository

AUTH = '''\
"""Who may come in."""


def renew(token):
    """A token that holds for another hour."""
    if token.expired:
        raise ValueError("too late")
    return token.again()
'''


@pytest.fixture
def work(machine: Machine, tmp_path: Path) -> WorkingRepository:
    machine.start_worker()
    return WorkingRepository.begin(machine, tmp_path / "shop", {"README.md": "# Shop\n"})


def stored(machine: Machine) -> list[tuple[str, str, str]]:
    rows = query(machine.home.memory_db, "select action, file, name from symbol_changes order by seq")
    return [(str(action), str(file), str(name)) for action, file, name in rows]


def memories(work: WorkingRepository, **filters: str) -> list[Json]:
    wanted = "&".join(f"{key}={value}" for key, value in {"cwd": str(work.root), **filters}.items())
    found: list[Json] = work.machine.get(f"/api/memories?{wanted}")["memories"]
    return found


def test_each_turn_is_stored_with_what_it_did_to_functions(work: WorkingRepository) -> None:
    work.session("tokens must be renewed", {"src/auth.py": AUTH}, "Added `renew`, which gives a token another hour.")
    work.session(
        "be kind to late ones",
        {"src/auth.py": AUTH.replace('raise ValueError("too late")', "return None")},
        "`renew` gives back nothing for a token that has expired.",
    )
    assert stored(work.machine) == [
        ("new", "src/auth.py", ""),
        ("new", "src/auth.py", "renew"),
        ("modified", "src/auth.py", ""),
        ("modified", "src/auth.py", "renew"),
    ]
    newest, oldest = (one for one in memories(work) if one["symbols"])
    assert newest["symbols"] == [{"file": "src/auth.py", "name": "renew", "action": "modified"}]
    assert oldest["symbols"] == [{"file": "src/auth.py", "name": "renew", "action": "new"}]


def test_work_in_a_subfolder_is_told_from_the_root_and_found_fresh_from_there(work: WorkingRepository) -> None:
    folder = work.root / "packages" / "web"
    folder.mkdir(parents=True)
    below = work.at(folder)
    below.session("tokens must be renewed", {"src/auth.py": AUTH}, "Added `renew`, which gives a token another hour.")
    assert ("new", "packages/web/src/auth.py", "renew") in stored(work.machine)
    assert {file for one in memories(work) for file in one["files"]} == {"packages/web/src/auth.py"}
    assert "gives a token another hour" in work.context().partition("## Earlier work")[2]
    assert "[may be stale]" not in below.context()


def test_a_function_that_holds_a_secret_or_a_private_passage_is_not_taken_for_changed(work: WorkingRepository) -> None:
    secret = "ghp_" + "Zk3vQ9xLm2Wd7RtY5uNb8CfJ1hGs4PaE6oVi"
    text = AUTH.replace(
        "    return token.again()",
        f'    # <private>ask Mirja on 0171 555</private>\n    call(header="{secret}")\n    return token.again()',
    )
    work.session("tokens must be renewed", {"src/auth.py": text}, "Added `renew`, which gives a token another hour.")
    work.commit("Renew tokens")  # touches nothing in the file, but its change may be read at any time
    (work.root / "src" / "auth.py").touch()

    context = work.context()

    assert "gives a token another hour" in context.partition("## Earlier work")[2]
    assert "[may be stale]" not in context
    work.machine.drain()
    assert work.machine.files_with(secret) == []
    assert work.machine.files_with("0171 555") == []


def test_a_session_that_is_forgotten_takes_what_it_did_to_code_along(work: WorkingRepository) -> None:
    work.session("first", {"src/auth.py": AUTH}, "Added `renew`, which gives a token another hour.")
    work.git("switch", "--quiet", "--create", "feature/hushed")
    work.session("second", {"src/other.py": AUTH.replace("renew", "reissue")}, "Added `reissue` for lost tokens.")
    gone, *_ = (one["session"] for one in memories(work) if "reissue" in one["title"])
    work.commit("Reissue tokens")
    work.git("switch", "--quiet", "main")
    work.machine.post("/api/forget", {"session": gone})
    assert {name for _, _, name in stored(work.machine)} == {"", "renew"}
    assert "reissue" not in work.context()
    work.machine.stop_worker()
    assert work.machine.files_with("reissue") == []
    assert work.machine.files_with("feature/hushed") == []


def test_a_memory_that_is_forgotten_takes_the_functions_of_its_turn_along(work: WorkingRepository) -> None:
    work.session("go on", {"src/auth.py": AUTH}, "Added `renew`, which gives a token another hour.")
    ids = [one["id"] for one in memories(work)]
    work.machine.post("/api/forget", {"ids": ids})
    assert stored(work.machine) == []
    assert "renew" not in work.context()


def test_a_project_that_is_forgotten_leaves_no_branch_and_no_code_behind(work: WorkingRepository) -> None:
    work.git("switch", "--quiet", "--create", "feature/hushed")
    work.session("go on", {"src/auth.py": AUTH}, "Added `renew`, which gives a token another hour.")
    work.replace("src/auth.py", "too late", "far too late")
    work.context()
    work.machine.drain()
    work.machine.post("/api/forget", {"project": str(work.root)})
    work.machine.stop_worker()
    for words in ("feature/hushed", "def renew", "another hour"):
        assert work.machine.files_with(words) == []


def test_an_excluded_folder_is_not_looked_at(work: WorkingRepository) -> None:
    work.machine.home.config.write_text(f'exclude = ["{work.root}"]\n')
    work.session("go on", {"src/auth.py": AUTH}, "Added `renew`, which gives a token another hour.")
    assert work.context() == ""
    work.machine.drain()
    assert stored(work.machine) == []
    assert work.machine.files_with("def renew") == []
