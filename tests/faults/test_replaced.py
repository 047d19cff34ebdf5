"""What was replaced stays so after a loss, although what had replaced it was forgotten with its words and commands."""

from pathlib import Path

import pytest

from claude_mem_lite.db import backup_files
from claude_mem_lite.db.file_swap import write_json
from tests.faults.losses import spoil_header
from tests.support.running import Json, Machine, query

STATE = "select id, status, superseded_by from memories order by id"
VALKEY = "Use Valkey for the session cache"
SQLITE = "Use SQLite for the session cache"
UNLIKE = "Carts are rebuilt from the order service"


def decide(machine: Machine, text: str) -> Json:
    return machine.post("/api/memories", {"kind": "decision", "text": text, "cwd": "/"})


def supersede(machine: Machine, old: Json, new: Json) -> None:
    answer = machine.ask("PATCH", f"/api/memories/{old['id']}", {"superseded_by": new["id"]})
    assert answer.status == 200, answer.body


def record(machine: Machine, memory: Json) -> Json:
    return machine.get(f"/api/memories/{memory['id']}")


def forget(machine: Machine, *memories: Json) -> None:
    machine.post("/api/forget", {"ids": [one["id"] for one in memories]})


def recover(machine: Machine) -> None:
    """Damage, and a worker that meets it."""
    machine.kill_worker()
    spoil_header(machine.home.memory_db)
    machine.start_worker()
    machine.drain()


def go_back_to(machine: Machine, backup: Path) -> None:
    """What `restore` orders, and a worker that does it."""
    machine.kill_worker()
    write_json(machine.home.restore_order, {"backup": str(backup)})
    machine.start_worker()
    machine.drain()


def state(machine: Machine) -> list[tuple[object, ...]]:
    return list(query(machine.home.memory_db, STATE))


@pytest.fixture
def begun(machine: Machine) -> Path:
    """A worker that has made a backup; where that is."""
    machine.start_worker()
    machine.post("/api/memories", {"kind": "note", "text": "Pears are green", "cwd": "/"})
    machine.drain()
    return Path(machine.post("/api/backup", {})["path"])


@pytest.mark.parametrize("successor", [SQLITE, UNLIKE], ids=["replaced-by-its-words", "replaced-by-command"])
def test_it_is_not_brought_back_to_life(machine: Machine, begun: Path, successor: str) -> None:
    old = decide(machine, VALKEY)
    new = decide(machine, successor)
    if successor == UNLIKE:
        supersede(machine, old, new)
    told = record(machine, new)
    assert [one["id"] for one in told["replaced"]] == [old["id"]]
    forget(machine, new)
    before = state(machine)
    assert (old["id"], "superseded", None) in before

    recover(machine)
    assert state(machine) == before
    assert begun in [one.path for one in backup_files.all_in(machine.home.backups)]
    go_back_to(machine, begun)
    assert state(machine) == before


def test_what_is_left_of_a_chain_is_linked_as_it_was(machine: Machine, begun: Path) -> None:
    first, second, third = decide(machine, VALKEY), decide(machine, SQLITE), decide(machine, UNLIKE)
    supersede(machine, second, third)
    forget(machine, second)
    before = state(machine)
    assert (first["id"], "superseded", third["id"]) in before
    recover(machine)
    assert state(machine) == before


def test_a_replacement_by_command_stands_when_its_successor_was_forgotten_in_a_copy_that_is_put_in_place(
    machine: Machine, begun: Path, tmp_path: Path
) -> None:
    """Both are in the copy, not yet replaced: the successor is forgotten again before anything is done again."""
    old, new = decide(machine, VALKEY), decide(machine, UNLIKE)
    copy = tmp_path / "copy.db"
    backup_files.copy(machine.home.memory_db, copy)
    supersede(machine, old, new)
    third = decide(machine, SQLITE)  # it replaces nothing: what it contradicts holds no more
    forget(machine, new)
    before = state(machine)
    assert {(old["id"], "superseded", None), (third["id"], "active", None)} <= set(before)
    go_back_to(machine, copy)
    assert state(machine) == before
