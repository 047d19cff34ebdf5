"""What is asked to be remembered is tied to the code that it names: marked when that changes or goes, never retired."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.running import Json, open_machine, payload, short_folder
from tests.worker.trigger_events import answered, ask, remember
from tests.worker.working_repository import WorkingRepository

PRICE = """\
def round_price(value):
    return round(value, 2)


def tax(value):
    return value * 0.19


class Ledger:
    def post(self):
        return 1
"""
OTHER = "def tax(value):\n    return value * 0.07\n"
GOTCHA = "round_price() in src/price.py rounds half even, the bank demands it"
QUESTION = "how does round_price in src/price.py round half even for the bank?"


@pytest.fixture
def work() -> Iterator[WorkingRepository]:
    """A repository with code that no session has touched."""
    with open_machine() as machine, short_folder() as folder:
        machine.start_worker()
        made = WorkingRepository(machine, folder / "shop")
        made.root.mkdir()
        made.git("init", "--quiet", "--initial-branch=main")
        made.write("src/price.py", PRICE)
        made.write("src/abroad.py", OTHER)
        made.commit("Start")
        yield made


def record(work: WorkingRepository, id_: str) -> Json:
    return work.machine.get(f"/api/records/{id_}?cwd={work.root}")


def kept(work: WorkingRepository, text: str, kind: str = "gotcha", cwd: str = "") -> Json:
    return record(work, remember(work.machine, cwd or str(work.root), kind, text))


def names(memory: Json) -> list[str]:
    """What a memory is tied to, without hashes."""
    return [anchor.split(":", 3)[3] for anchor in memory["anchors"]]


def stale(work: WorkingRepository) -> dict[str, str]:
    found = work.machine.get(f"/api/stale?cwd={work.root}")["memories"]
    return {memory["id"]: memory["verdict"] for memory in found}


def opened(work: WorkingRepository, session: str, file: str = "src/price.py") -> str:
    """What a session is given that reads a file."""
    given = payload(
        "PostToolUse",
        session,
        str(work.root),
        tool_name="Read",
        tool_input={"file_path": str(work.root / file)},
        tool_response={"type": "text", "file": {"filePath": str(work.root / file), "content": "x"}},
    )
    return answered(work.machine, "PostToolUse", given)


def test_what_the_user_remembers_is_marked_when_its_function_changes_and_when_it_goes(work: WorkingRepository) -> None:
    memory = kept(work, GOTCHA)
    assert (names(memory), memory["files"]) == (["src/price.py::round_price"], ["src/price.py"])
    assert stale(work) == {}
    assert "[may be stale]" not in ask(work.machine, "s-0", str(work.root), QUESTION)

    work.replace("src/price.py", "round(value, 2)", "int(value * 100) / 100")
    assert stale(work) == {memory["id"]: "changed"}
    for given in (ask(work.machine, "s-1", str(work.root), QUESTION), opened(work, "s-2"), work.context()):
        assert "[may be stale]" in given
        assert "half even" in given

    work.write("src/price.py", "def tax(value):\n    return 0\n")
    work.context()
    assert stale(work) == {memory["id"]: "changed"}

    work.git("rm", "--quiet", "--force", "src/price.py")
    work.commit("No prices any more")
    work.context()
    work.context()
    assert stale(work) == {memory["id"]: "changed"}
    assert record(work, memory["id"])["status"] == "active"
    assert "[may be stale]" in ask(work.machine, "s-3", str(work.root), QUESTION)


def test_an_agent_that_asks_is_told_that_it_may_be_stale(work: WorkingRepository) -> None:
    kept(work, GOTCHA)
    work.replace("src/price.py", "round(value, 2)", "int(value * 100) / 100")
    ask(work.machine, "s-9", str(work.root), "hello there")
    told = work.machine.post("/api/ask", {"cwd": str(work.root), "session": "s-9", "query": QUESTION})["text"]
    assert "half even" in told
    assert "[may be stale]" in told


def test_what_only_names_a_file_is_marked_when_that_goes(work: WorkingRepository) -> None:
    memory = kept(work, "src/price.py must never import decimal")
    work.replace("src/price.py", "round(value, 2)", "int(value)")
    assert stale(work) == {}
    work.git("rm", "--quiet", "--force", "src/price.py")
    work.commit("No prices any more")
    assert stale(work) == {memory["id"]: "changed"}


def test_what_an_agent_saves_is_tied_and_not_retired_when_the_function_goes(work: WorkingRepository) -> None:
    saved = work.machine.post(
        "/api/ask/save", {"kind": "gotcha", "text": GOTCHA, "cwd": str(work.root), "session": "s-1"}
    )
    memory = record(work, str(saved["id"]))
    assert (memory["origin"], names(memory)) == ("assistant", ["src/price.py::round_price"])

    work.replace("src/price.py", "def round_price(value):\n    return round(value, 2)\n", "")
    work.context()
    work.context()

    assert stale(work) == {memory["id"]: "changed"}
    assert record(work, memory["id"])["status"] == "active"


def test_what_a_prompt_teaches_is_tied_to_what_it_names(work: WorkingRepository) -> None:
    work.session("Remember that round_price() must never be given floats", {}, "Noted.")
    (found,) = [
        one
        for one in work.machine.get(f"/api/memories?cwd={work.root}")["memories"]
        if "round_price" in one["title"] and one["kind"] != "handoff"
    ]
    memory = record(work, found["id"])
    assert (memory["origin"], names(memory)) == ("user", ["src/price.py::round_price"])

    work.replace("src/price.py", "round(value, 2)", "int(value)")
    assert stale(work) == {memory["id"]: "changed"}


def test_what_names_only_a_function_is_given_with_the_file_that_has_it(work: WorkingRepository) -> None:
    kept(work, "round_price() must never be given floats")
    post = kept(work, "Ledger.post stays synchronous, because the bank closes at five", "decision")
    assert (names(post), post["files"]) == (["src/price.py::Ledger.post"], ["src/price.py"])
    given = opened(work, "s-1")
    assert "never be given floats" in given
    assert "stays synchronous" in given
    assert opened(work, "s-1", "src/abroad.py") == ""


def test_a_name_that_several_have_is_tied_to_none_unless_a_file_decides(work: WorkingRepository) -> None:
    assert kept(work, "Keep tax() free of discounts", "decision")["anchors"] == []
    assert names(kept(work, "tax() in src/abroad.py knows no exceptions")) == ["src/abroad.py::tax"]


def test_paths_are_seen_from_where_the_user_is(work: WorkingRepository) -> None:
    memory = kept(work, "tax() in abroad.py is for books only", cwd=str(work.root / "src"))
    assert (names(memory), memory["files"]) == (["src/abroad.py::tax"], ["src/abroad.py"])


def test_a_renamed_function_is_told_with_its_new_name_when_its_file_is_opened(work: WorkingRepository) -> None:
    memory = kept(work, GOTCHA)
    work.replace("src/price.py", "def round_price(", "def rounded(")
    assert stale(work) == {}
    assert "[since: src/price.py::round_price was renamed to rounded]" in opened(work, "s-1")
    work.context()
    work.replace("src/price.py", "round(value, 2)", "int(value)")
    assert stale(work) == {memory["id"]: "changed"}
    assert record(work, memory["id"])["freshness"]["reasons"] == [
        "src/price.py::round_price was renamed to rounded and changed"
    ]


def test_what_holds_everywhere_is_tied_to_no_project(work: WorkingRepository) -> None:
    id_ = remember(work.machine, str(work.root), "rule", "round_price() must be pure", scope="universal")
    assert record(work, id_)["anchors"] == []


def test_nothing_of_an_excluded_folder_is_read(work: WorkingRepository) -> None:
    config = Path(work.machine.home.config)
    config.write_text(f'exclude = ["{work.root}"]\n')
    work.machine.stop_worker()
    work.machine.start_worker()
    memory = work.machine.post(
        "/api/memories", {"kind": "gotcha", "text": GOTCHA, "scope": "universal", "cwd": str(work.root)}
    )
    assert record(work, str(memory["id"]))["anchors"] == []
