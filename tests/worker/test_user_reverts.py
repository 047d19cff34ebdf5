"""A change that the user takes back by hand is seen when the agent edits it again."""

from pathlib import Path

import pytest

from tests.support.running import Json, Machine, query
from tests.worker.working_repository import WorkingRepository

CART = '''\
"""The cart."""


def total(items):
    """What it costs."""
    return sum(item.price for item in items)


def count(items):
    """How many there are."""
    return len(items)
'''
ROUNDED = CART.replace("return sum(item.price for item in items)", "return round(sum(item.price for item in items), 2)")
COUNTED = CART.replace("return len(items)", "return sum(item.number for item in items)")
UNDONE = "The change of total in src/cart.py was undone by the user"


class Session:
    """One session of several turns."""

    def __init__(self, work: WorkingRepository, name: str) -> None:
        self.work, self.name = work, name

    def turn(self, asked: str, files: dict[str, str], *commands: str) -> None:
        self._hook("UserPromptSubmit", prompt=asked)
        for command in commands:
            printed: Json = {"stdout": "", "stderr": "", "interrupted": False}
            self._hook("PostToolUse", tool_name="Bash", tool_input={"command": command}, tool_response=printed)
        for path, text in files.items():
            self.work._edit(self.name, path, text)
        self._hook("Stop", last_assistant_message="Done.")
        self.work.machine.drain()

    def _hook(self, event: str, **more: Json) -> None:
        self.work._hook(event, self.name, **more)


@pytest.fixture
def work(machine: Machine, tmp_path: Path) -> WorkingRepository:
    machine.start_worker()
    return WorkingRepository.begin(machine, tmp_path / "shop", {"src/cart.py": CART})


def corrections(work: WorkingRepository) -> list[Json]:
    found: list[Json] = work.machine.get(f"/api/memories?cwd={work.root}&kind=correction")["memories"]
    return found


def test_a_change_that_is_gone_when_its_function_is_edited_again_was_undone_by_the_user(
    work: WorkingRepository,
) -> None:
    session = Session(work, "s-1")
    session.turn("round the total", {"src/cart.py": ROUNDED})
    work.write("src/cart.py", CART)  # the person takes it back in the editor
    session.turn(
        "skip free items", {"src/cart.py": CART.replace("for item in items)", "for item in items if item.price)")}
    )

    (found,) = corrections(work)

    assert found["title"] == UNDONE
    assert (found["origin"], found["confidence"], found["detail"]) == ("user", 0.6, "")
    assert found["files"] == ["src/cart.py"]
    assert found["anchors"][0].endswith("src/cart.py::total")


def test_a_session_that_starts_is_told_what_the_user_undid(work: WorkingRepository) -> None:
    session = Session(work, "s-1")
    session.turn("round the total", {"src/cart.py": ROUNDED})
    work.write("src/cart.py", CART)
    session.turn("skip free items", {"src/cart.py": ROUNDED.replace("2)", "3)")})
    assert UNDONE in work.context()


def test_what_is_undone_again_is_one_memory_seen_twice(work: WorkingRepository) -> None:
    session = Session(work, "s-1")
    for factor in (2, 3, 4):
        session.turn("scale the total", {"src/cart.py": CART.replace("item.price for", f"item.price * {factor} for")})
        work.write("src/cart.py", CART)

    (found,) = corrections(work)

    assert (found["title"], found["times_seen"]) == (UNDONE, 2)


def test_an_undone_change_that_was_dismissed_does_not_come_back_and_another_is_told(work: WorkingRepository) -> None:
    def undo_twice(session: Session, *changed: str) -> None:
        for text in changed:
            session.turn("scale the total", {"src/cart.py": text})
            work.write("src/cart.py", CART)

    scaled = [CART.replace("item.price for", f"item.price * {factor} for") for factor in (2, 3, 4)]
    undo_twice(Session(work, "s-1"), *scaled[:2])
    (found,) = corrections(work)
    work.machine.post("/api/lessons/dismiss", {"ids": [found["id"]]})
    times_seen = f"select times_seen from memories where id = '{found['id']}'"
    seen = query(work.machine.home.memory_db, times_seen)

    undo_twice(Session(work, "s-2"), *scaled)
    assert corrections(work) == []
    assert query(work.machine.home.memory_db, times_seen) == seen

    undo_twice(Session(work, "s-3"), COUNTED, COUNTED.replace("number", "amount"))
    assert [one["title"] for one in corrections(work)] == [UNDONE.replace("total", "count")]


@pytest.mark.parametrize("command", ["git checkout -- src/cart.py", "git stash", "cp /backup/cart.py src/cart.py"])
def test_what_a_command_of_the_agent_may_have_put_back_was_not_the_user(work: WorkingRepository, command: str) -> None:
    session = Session(work, "s-1")
    session.turn("round the total", {"src/cart.py": ROUNDED})
    work.write("src/cart.py", CART)
    session.turn("start over", {}, command)
    session.turn("skip free items", {"src/cart.py": ROUNDED.replace("2)", "3)")})
    assert corrections(work) == []


def test_what_the_agent_takes_back_itself_was_not_the_user(work: WorkingRepository) -> None:
    session = Session(work, "s-1")
    session.turn("round the total", {"src/cart.py": ROUNDED})
    session.turn("take it back", {"src/cart.py": CART})
    session.turn("round it to three digits", {"src/cart.py": ROUNDED.replace("2)", "3)")})
    assert corrections(work) == []


def test_what_another_session_took_back_was_not_the_user(work: WorkingRepository) -> None:
    session = Session(work, "s-1")
    session.turn("round the total", {"src/cart.py": ROUNDED})
    Session(work, "s-2").turn("take the rounding back", {"src/cart.py": CART})
    session.turn("round it to three digits", {"src/cart.py": ROUNDED.replace("2)", "3)")})
    assert corrections(work) == []


def test_an_edit_of_other_code_finds_nothing_undone(work: WorkingRepository) -> None:
    session = Session(work, "s-1")
    session.turn("round the total", {"src/cart.py": ROUNDED})
    work.write("src/cart.py", CART)
    session.turn("count the numbers", {"src/cart.py": COUNTED})
    assert corrections(work) == []


def test_a_new_file_that_the_user_deleted_and_the_agent_writes_again_was_unwanted(work: WorkingRepository) -> None:
    session = Session(work, "s-1")
    session.turn("explain the cart", {"docs/cart.md": "# Cart\n\nIt holds items.\n"})
    (work.root / "docs" / "cart.md").unlink()
    session.turn("go on", {"docs/cart.md": "# Cart\n\nIt holds items, and their prices.\n"})
    assert [one["title"] for one in corrections(work)] == ["The new file docs/cart.md was deleted by the user"]
