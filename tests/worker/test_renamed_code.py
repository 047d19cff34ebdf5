"""A function that was renamed is followed, also when it is edited afterwards: by the agent, by hand, or by both."""

from collections.abc import Iterator

import pytest

from tests.support.running import Json, open_machine, query, short_folder
from tests.worker.trigger_events import ask
from tests.worker.working_repository import WorkingRepository

PRICE = """\
def round_price(value):
    cents = value * 100
    return round(cents) / 100
"""
SHORT = "def round_price(value):\n    return round(value, 2)\n"
RENAMED = PRICE.replace("round_price", "rounded")
EDITED = RENAMED.replace("* 100", "* 100 + 0.001")
SAID = "Added round_price() in src/price.py, which rounds half even because the bank demands it."
QUESTION = "how does round_price in src/price.py round half even for the bank?"


@pytest.fixture
def work() -> Iterator[WorkingRepository]:
    """A repository in which an agent added one function."""
    with open_machine() as machine, short_folder() as folder:
        machine.start_worker()
        made = WorkingRepository(machine, folder / "shop")
        made.root.mkdir()
        made.git("init", "--quiet", "--initial-branch=main")
        made.write("README.md", "# Shop\n")
        made.commit("Start")
        yield made


def added(work: WorkingRepository, text: str = PRICE) -> None:
    work.session("add a rounding helper", {"src/price.py": text}, SAID)
    work.commit("Round")


def edited(work: WorkingRepository, text: str) -> None:
    """The agent changes the file, and says nothing that could be remembered."""
    work.session("go on", {"src/price.py": text}, "Done.")


def told(work: WorkingRepository) -> Json:
    """The memory of the function, with how it stands with its code."""
    work.machine.drain()
    work.context()  # a start has the code looked at
    found = work.machine.get(f"/api/memories?cwd={work.root}&status=active&status=retired")["memories"]
    (memory,) = [one for one in found if "half even" in one["title"] + one["summary"] and one["kind"] != "handoff"]
    record = work.machine.get(f"/api/records/{memory['id']}?cwd={work.root}")
    assert isinstance(record, dict)
    return record


def test_a_rename_by_the_agent_is_followed_when_the_function_is_edited_in_the_next_turn(
    work: WorkingRepository,
) -> None:
    added(work)
    edited(work, RENAMED)
    assert told(work)["freshness"]["verdict"] == "fresh"

    edited(work, EDITED)

    memory = told(work)
    assert (memory["status"], memory["freshness"]["verdict"]) == ("active", "changed")
    assert memory["freshness"]["reasons"] == ["src/price.py::round_price was renamed to rounded and changed"]


def test_a_rename_and_an_edit_in_one_turn_are_followed(work: WorkingRepository) -> None:
    added(work)
    name = "both"
    work._hook("UserPromptSubmit", name, prompt="rename and improve")
    work._edit(name, "src/price.py", RENAMED)
    work._edit(name, "src/price.py", EDITED)
    work._hook("Stop", name, last_assistant_message="Done.")
    memory = told(work)
    assert (memory["status"], memory["freshness"]["verdict"]) == ("active", "changed")


def test_a_rename_by_hand_is_followed_when_the_agent_edits_the_function_before_any_look(
    work: WorkingRepository,
) -> None:
    added(work)
    work.write("src/price.py", RENAMED)
    edited(work, EDITED)
    memory = told(work)
    assert (memory["status"], memory["freshness"]["verdict"]) == ("active", "changed")


@pytest.mark.parametrize("text", [PRICE, SHORT], ids=["long", "short"])
def test_a_rename_by_hand_that_a_look_has_seen_is_followed_through_edits_by_hand(
    work: WorkingRepository, text: str
) -> None:
    added(work, text)
    work.write("src/price.py", text.replace("round_price", "rounded"))
    assert told(work)["freshness"]["verdict"] == "fresh"
    work.machine.stop_worker()
    work.machine.start_worker()

    work.write("src/price.py", text.replace("round_price", "rounded").replace("round(", "int("))

    memory = told(work)
    assert (memory["status"], memory["freshness"]["verdict"]) == ("active", "changed")


def test_what_was_renamed_and_then_removed_is_gone(work: WorkingRepository) -> None:
    added(work)
    edited(work, RENAMED)
    edited(work, EDITED)
    assert told(work)["status"] == "active"

    work.write("src/price.py", "# nothing left\n")

    told(work)
    assert told(work)["status"] == "retired"


def test_it_is_gone_from_the_table_when_the_memory_is_forgotten(work: WorkingRepository) -> None:
    added(work)
    work.write("src/price.py", RENAMED)
    memory = told(work)
    known = "select memory, name from renames"
    assert (memory["id"], "rounded") in query(work.machine.home.memory_db, known)
    work.machine.post("/api/forget", {"ids": [memory["id"]]})
    assert memory["id"] not in dict(query(work.machine.home.memory_db, known))


def test_a_prompt_is_told_the_new_name(work: WorkingRepository) -> None:
    added(work)
    work.write("src/price.py", RENAMED)
    renamed = ask(work.machine, "s-new", str(work.root), QUESTION)
    assert "[since: src/price.py::round_price was renamed to rounded]" in renamed
    assert "[may be stale]" not in renamed

    told(work)
    work.write("src/price.py", EDITED)
    changed = ask(work.machine, "s-newer", str(work.root), QUESTION)
    assert "[may be stale]" in changed
    assert "was renamed to rounded" in changed


def test_the_map_of_functions_of_a_start_has_the_new_name(work: WorkingRepository) -> None:
    added(work)
    work.write("src/price.py", RENAMED)
    context = work.machine.get(f"/api/context?cwd={work.root}&preset=layers")["context"]
    line = next(line for line in context.split("\n") if "def round_price" in line)
    assert line.endswith("[NEW, then RENAMED to rounded outside of sessions]")
