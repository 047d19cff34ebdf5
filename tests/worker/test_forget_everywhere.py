"""A home filled through hooks, with contexts given, rendered and exported: what is forgotten leaves every file of it,
and neither an old export nor a transcript nor a rebuilt index brings it back."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.support import commit_turns, live_files
from tests.support.past_sessions import PastSession
from tests.support.running import Json, Machine, hung, leave, open_machine, payload, query, spool_name
from tests.worker.commands import run_here

SESSION = "5e55104a-0000-4000-8000-000000000001"
LATER = "5e55104a-0000-4000-8000-000000000002"
WORD = "zanzibarium"
KEPT = "wombatorium"
PROMPT = f"Count every {WORD} in the basket instead of returning one"
STATED = f"The {WORD} must never be mixed with quokkafish"


@dataclass(frozen=True, slots=True)
class Home:
    """A machine whose home knows the word from everywhere, and what was written of it to other places."""

    machine: Machine
    project: str
    export: Path
    transcript: Path
    folder: Path

    def traces(self, word: str = WORD) -> list[str]:
        """Where a word is left: in the bytes of a file, or as a term of a word index, where it may be cut in two."""
        found = live_files.contents(self.machine.home.root)
        forms = [word.encode(coding) for coding in ("utf-8", "utf-16-le", "utf-16-be")]
        told = [path.name for path, held in found.items() if any(form in held.lower() for form in forms)]
        return sorted(told) + [term for term in terms(self.machine) if word[:8] in term]

    def run(self, *arguments: str | Path, status: int = 0) -> str:
        return run_here(self.machine, *arguments, cwd=self.project, status=status).stdout

    def memories(self, word: str = WORD) -> list[str]:
        """The ids of the memories that have a word, whatever their status."""
        every = "status=active&status=retired&status=superseded&status=quarantined"
        listed = self.machine.get(f"/api/memories?all_projects=true&{every}")["memories"]
        return [one["id"] for one in listed if word in json.dumps(one)]

    def nothing_brings_it_back(self) -> None:
        """The old export, the transcript, a fork of it and the rebuilt index leave no trace."""
        told = json.loads(self.run("import", "jsonl", self.export, "--json"))
        assert told["forgotten"] > 0
        self.run("import", "jsonl", self._under_other_ids(), "--json")
        self.run("import", "transcripts", self.transcript, "--json")
        self.run("import", "transcripts", self._forked(), "--json")
        self.run("rebuild")
        self.machine.drain()
        assert self.traces() == []
        self.machine.stop_worker()
        assert self.traces() == []

    def _under_other_ids(self) -> Path:
        """The export as another machine may have written it: without ids, and spelled with care."""
        lines = [json.loads(line) for line in self.export.read_text("utf-8").splitlines()]
        other = [
            {key: value for key, value in line.items() if key != "id"} for line in lines if WORD in json.dumps(line)
        ]
        for line in other:
            line["title"] = f"  {line['title'].upper()} "
        path = self.folder / "other.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in other), encoding="utf-8")
        return path

    def _forked(self) -> Path:
        lines = [json.loads(line) for line in self.transcript.read_text("utf-8").splitlines()]
        path = self.folder / "forked.jsonl"
        path.write_text("".join(f"{json.dumps({**line, 'sessionId': 'a-fork'})}\n" for line in lines), encoding="utf-8")
        return path


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """The home that each test has a copy of; its worker is up, so that its logs are as full as its databases."""
    folder = tmp_path_factory.mktemp("filled")
    (folder / "shop").mkdir()
    project = str(folder / "shop")
    past = PastSession(SESSION, cwd=project).prompt(PROMPT).says(f"Every {WORD} in the basket is counted now.")
    with open_machine() as machine:
        home = Home(machine, project, folder / "export.jsonl", past.write(folder), folder)
        machine.start_worker()
        work_on_something_else(machine, project)
        machine.post("/api/memories", {"kind": "rule", "text": STATED, "tags": [WORD], "cwd": project})
        for given in the_turn(project, past.lines[0]["promptId"]):
            machine.hook(given["hook_event_name"], given)
        machine.drain()
        with hung(machine):
            start(machine, "5e55104a-0000-4000-8000-000000000003", project)
        machine.drain()
        home.run("export", "--output", home.export)
        assert WORD in home.export.read_text("utf-8")
        yield home


@pytest.fixture
def full(filled: Home, machine: Machine, tmp_path: Path) -> Home:
    """A worker of its own on all that the home knows, which has given of it once more."""
    of_the_worker = shutil.ignore_patterns("worker.sock", "worker.pid", "*.lock", "*py", "*-shm")
    with hung(filled.machine):
        shutil.copytree(filled.machine.home.root, machine.home.root, ignore=of_the_worker, dirs_exist_ok=True)
    home = replace(filled, machine=machine, folder=tmp_path)
    machine.start_worker()
    start(machine, LATER, home.project)
    machine.drain()
    told = " ".join(home.traces())
    assert all(name in told for name in ("memory.db", "inbox.db", machine.home.rendered_for(home.project).name, WORD))
    return home


def test_memories_are_forgotten_everywhere_and_do_not_come_back(full: Home) -> None:
    ids = full.memories()
    assert len(ids) >= 2
    assert query(full.machine.home.memory_db, f"select 1 from receipt_items where source in {tuple(ids)}")
    full.run("forget", *ids)
    assert full.traces() == []
    assert not query(full.machine.home.memory_db, f"select 1 from receipt_items where source in {tuple(ids)}")
    assert full.memories(KEPT) != []
    assert full.traces(KEPT) != []
    full.nothing_brings_it_back()


def test_a_turn_is_forgotten_everywhere_with_what_was_made_of_it(full: Home) -> None:
    full.run("forget", *[one for one in full.memories() if STATED in full.run("show", one)])
    hits = full.machine.get(f"/api/search?query={WORD}&all_projects=true")["hits"]
    (turn,) = [hit["id"] for hit in hits if hit["kind"] == "turn"]
    assert full.run("forget", turn).startswith("Forgot 1 turn and ")
    assert full.traces() == []
    full.nothing_brings_it_back()


def test_a_session_is_forgotten_everywhere(full: Home) -> None:
    full.run("forget", *[one for one in full.memories() if STATED in full.run("show", one)])
    leave(full.machine.home, payload("UserPromptSubmit", SESSION, full.project, prompt=f"One more {WORD}"))
    full.run("forget", "--session", SESSION, "--yes")
    assert full.traces() == []
    assert query(full.machine.home.memory_db, f"select 1 from receipt_items where source = '{SESSION}'") == []
    assert full.memories(KEPT) != []
    full.nothing_brings_it_back()


def test_a_project_is_forgotten_everywhere(full: Home) -> None:
    full.run("forget", *[one for one in full.memories() if STATED in full.run("show", one)])
    full.run("forget", "--project", full.project, "--yes")
    assert full.traces() == []
    assert full.traces(KEPT) == []
    (left,) = query(full.machine.home.memory_db, "select count(*) from receipts union select count(*) from projects")
    assert left == (0,)


def test_what_the_user_wrote_in_place_of_it_is_forgotten_with_it(full: Home) -> None:
    (stated,) = [one for one in full.memories() if STATED in full.run("show", one)]
    full.machine.ask("PATCH", f"/api/memories/{stated}", {"text": "Keep the numbatorium shut at night"})
    assert full.traces("numbatorium") != []
    full.run("forget", stated)
    assert full.traces("numbatorium") == []
    assert full.traces("quokkafish") == []


def test_what_was_forgotten_leaves_the_logs_when_nobody_reads_any_more(full: Home) -> None:
    with closing(sqlite3.connect(full.machine.home.memory_db)) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from memories").fetchone()
        full.run("forget", *full.memories())
    full.machine.stop_worker()
    assert full.traces() == []


def the_turn(project: str, prompt_id: str) -> list[Json]:
    """A turn that reads, edits and tells, whose session ends with it."""
    more = {"prompt_id": prompt_id}
    path = f"{project}/basket.py"
    edit = {
        "tool_name": "Edit",
        "tool_input": {"file_path": path, "old_string": "return 1", "new_string": f"return len(self.{WORD})"},
        "tool_response": {
            "filePath": path,
            "originalFile": "def count(self):\n    return 1\n",
            "structuredPatch": [],
        },
    }
    looked = {
        "tool_name": "Bash",
        "tool_input": {"command": f"grep -r {WORD} ."},
        "tool_response": {"stdout": f"basket.py: {WORD}", "stderr": "", "interrupted": False},
    }
    return [
        payload("SessionStart", SESSION, project, source="startup"),
        payload("UserPromptSubmit", SESSION, project, prompt=PROMPT, **more),
        payload("PostToolUse", SESSION, project, **looked, **more),
        payload("PostToolUse", SESSION, project, **edit, **more),
        *commit_turns.ending(SESSION, project, PROMPT, "basket.py", **more),
        payload("SessionEnd", SESSION, project, reason="exit"),
    ]


def work_on_something_else(machine: Machine, project: str) -> None:
    """A session that has nothing to do with it and is to stay."""
    path = f"{project}/lid.py"
    edit = {
        "tool_name": "Edit",
        "tool_input": {"file_path": path, "old_string": "red = 1", "new_string": f"{KEPT} = 2"},
        "tool_response": {"filePath": path, "structuredPatch": []},
    }
    session = "5e55104a-0000-4000-8000-000000000000"
    for given in (
        payload("UserPromptSubmit", session, project, prompt=f"Paint the lid of the {KEPT} green"),
        payload("PostToolUse", session, project, **edit),
        *commit_turns.ending(session, project, f"Painted the lid of the {KEPT} green.", "lid.py"),
    ):
        leave(machine.home, given, name=spool_name(given["hook_event_name"]))
    machine.drain()


def start(machine: Machine, session: str, project: str) -> None:
    ran = machine.hook("SessionStart", payload("SessionStart", session, project, source="startup"))
    assert WORD.encode() in ran.out


def terms(machine: Machine) -> list[str]:
    """Every term of the word indexes, and the words that are kept beside them."""
    with closing(sqlite3.connect(f"file:{machine.home.memory_db}?mode=ro", uri=True, timeout=10)) as db:
        found = []
        for index in ("memories_fts", "passages_fts"):
            db.execute(f"create virtual table temp.{index}_terms using fts5vocab (main, {index}, row)")
            found += [str(term) for (term,) in db.execute(f"select term from temp.{index}_terms")]
        return found
