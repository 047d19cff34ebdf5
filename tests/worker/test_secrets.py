"""Secrets of every form, planted wherever an agent can meet one: after the worker is done, none is on disk, and none
was sent to a model."""

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.compress.model.model_server import ModelServer, anthropic_reply
from tests.support import live_files
from tests.support.generated_secrets import GeneratedSecret, generated_secrets
from tests.support.past_sessions import PastSession
from tests.support.running import Json, Machine, leave, open_machine, payload, spool_name
from tests.worker.commands import run_here
from tests.worker.model_turns import answer, long_turn

ALL = generated_secrets()
PART = 12
WORD = 8
Numbers = np.ndarray[tuple[int], np.dtype[np.uint64]]
CAPS = "daily_usd = 1000\nsession_usd = 1000\ndaily_tokens = 1000000000\nsession_tokens = 1000000000\n"


@cache
def parts_of(one: GeneratedSecret) -> set[bytes]:
    """Beginning, middle and end of a secret, and what base64 makes of it."""
    secret = one.secret
    middle = (len(secret) - PART) // 2
    encoded = base64.b64encode(secret.encode())[:20]
    return {part.encode() for part in (secret[:PART], secret[middle : middle + PART], secret[-PART:])} | {encoded}


@dataclass(frozen=True, slots=True)
class Beginnings:
    """The first eight bytes of every part as numbers, and which places of a table they fall on."""

    numbers: Numbers
    table: "np.ndarray[tuple[int], np.dtype[np.bool_]]"

    def among(self, numbers: Numbers) -> Numbers:
        few = numbers[self.table[place_of(numbers)]]
        return few[np.isin(few, self.numbers)]


def as_number(part: bytes) -> int:
    return int.from_bytes(part[:WORD], "little")


def place_of(numbers: Numbers) -> Numbers:
    return (numbers * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(44)


@cache
def beginnings() -> Beginnings:
    numbers = np.array([as_number(part) for one in ALL for part in parts_of(one)], dtype=np.uint64)
    table = np.zeros(1 << 20, dtype=np.bool_)
    table[place_of(numbers)] = True
    return Beginnings(numbers, table)


def names_in(content: bytes, looked_for: Iterable[GeneratedSecret] = ALL) -> list[str]:
    """Those of which a part is there. Parts whose beginning is not there are ruled out at once: to look for 1,300 of
    them one by one takes two seconds a database."""
    met: set[int] = set()
    for start in range(WORD):
        whole = content[start : start + (len(content) - start) // WORD * WORD]
        met.update(beginnings().among(np.frombuffer(whole, dtype="<u8")).tolist())

    def is_there(part: bytes) -> bool:
        return (len(part) < WORD or as_number(part) in met) and part in content

    return [one.name for one in looked_for if any(map(is_there, parts_of(one)))]


def files_of(machine: Machine) -> dict[Path, bytes]:
    """Every file that the product can have written, with its bytes: of the home and the places hooks turn to."""
    folders = [machine.home.root, machine.user_home, *machine.home.fallback_spools()]
    return {path: held for folder in folders for path, held in live_files.contents(folder).items()}


def leaks(machine: Machine) -> dict[str, list[str]]:
    """The files that hold a part of a secret, with the names of what they hold."""
    found = {str(path): names_in(held) for path, held in files_of(machine).items()}
    return {name: names for name, names in found.items() if names}


def met(one: GeneratedSecret, session: str, cwd: str) -> list[Json]:
    """What an agent does that has the secret in every place but what was asked and said."""
    text = one.text
    in_name = one.secret if one.is_form and one.secret == text and "/" not in text else "orders"

    def tool(name: str, given: Json, response: Json, **more: Json) -> Json:
        return payload("PostToolUse", session, cwd, tool_name=name, tool_input=given, tool_response=response, **more)

    patch = [{"lines": [*(f"-{line}" for line in text.split("\n")), "+new = 1"]}]
    path = f"{cwd}/{in_name}.py"
    return [
        tool("Bash", {"command": f"./deploy\n{text}"}, {"stdout": "ok", "stderr": ""}),
        tool("Bash", {"command": "env | sort"}, {"stdout": f"PATH=/bin\n{text}\nUSER=app", "stderr": f"warn:\n{text}"}),
        tool("Write", {"file_path": path, "content": f"# settings\n{text}\n"}, {"type": "create", "filePath": path}),
        tool(
            "Edit",
            {"file_path": path, "old_string": text, "new_string": f"{text}\nmore = 1"},
            {"filePath": path, "originalFile": f"a = 1\n{text}\n", "structuredPatch": patch},
        ),
        tool("Read", {"file_path": path}, {"type": "text", "file": {"filePath": path, "content": numbered(text)}}),
        tool("WebFetch", {"url": f"https://api.test/{in_name}", "prompt": text}, {"result": f"<p>\n{text}\n</p>"}),
        tool("mcp__shop__set", {"settings": {"note": text}, "list": ["a", text]}, [{"type": "text", "text": text}]),
        tool("Agent", {"description": "look", "prompt": f"Look up\n{text}"}, {"content": [{"text": f"Is:\n{text}"}]}),
        payload(
            "PostToolUseFailure", session, cwd, tool_name="Bash", tool_input={"command": "make"},
            error=f"Exit code 2\nError: cannot connect with\n{text}",
        ),
        payload("SubagentStop", session, cwd, agent_id="a1", agent_type="look", last_assistant_message=f"Is\n{text}"),
    ]  # fmt: skip


def turn_with(some: Sequence[GeneratedSecret], session: str, cwd: str = "/") -> list[Json]:
    """A turn that has some secrets in every place there is. Most of the time goes into turns, not into events."""
    asked = f"Please use this for the import:\n{texts_of(some)}\nand tell me."
    said = f"I set it up. The settings are now:\n{texts_of(some)}\nDone."
    return [
        payload("UserPromptSubmit", session, cwd, prompt=asked),
        *(event for one in some for event in met(one, session, cwd)),
        payload("Stop", session, cwd, last_assistant_message=said),
    ]


def texts_of(some: Iterable[GeneratedSecret]) -> str:
    return "\n\n".join(one.text for one in some)


def groups(size: int) -> list[list[GeneratedSecret]]:
    return [ALL[start : start + size] for start in range(0, len(ALL), size)]


TURNS = groups(8)


def numbered(text: str) -> str:
    return "\n".join(f"{number:6}→{line}" for number, line in enumerate(text.split("\n"), 1))


def make_repository(folder: Path) -> Path:
    """A folder whose remote carries a token, as a clone over https does."""
    token = next(one.secret for one in ALL if one.kind == "github-token")
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = https://x:{token}@git.test/acme/shop.git\n')
    return folder


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """A model that says nothing of use, so that what rules made stays."""
    with ModelServer([anthropic_reply("I cannot tell.")]) as server:
        yield server


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[Machine]:
    """A machine that has met every secret in every place, and was drained."""
    cwd = str(make_repository(tmp_path_factory.mktemp("work") / "shop"))
    with open_machine() as machine:
        machine.home.config.write_text(f'provider = "anthropic"\nbase_url = "{model.url}"\n{CAPS}')
        machine.home.api_key.write_text("key-of-the-test")
        machine.home.api_key.chmod(0o600)
        machine.also = ("anthropic.resources.messages",)
        machine.start_worker()
        for number, group in enumerate(TURNS):
            *events, last = turn_with(group, f"s-{number}", cwd)
            for event in (*events, *long_run(f"s-{number}", cwd), last):
                leave(machine.home, event)
        machine.drain()
        yield machine


def long_run(session: str, cwd: str) -> list[Json]:
    """So much that a model is asked about the turn it is in."""
    return long_turn(session, "Count", cwd=cwd)[1:-1]


def test_there_are_at_least_eighty_forms_and_every_one_was_taken_in(worked: Machine) -> None:
    assert len({one.name for one in ALL}) >= 80
    assert worked.row_count() == len(ALL) * 10 + len(TURNS) * (2 + len(long_run("s", "/shop")))
    assert worked.row_count("status = 'error'") == 0


def test_no_secret_is_in_any_file_while_the_worker_runs(worked: Machine) -> None:
    names = {path.name for path in files_of(worked)}
    assert {"inbox.db", "memory.db", "worker.log"} <= names
    assert worked.spooled() == []
    assert leaks(worked) == {}


def test_what_was_left_says_what_was_removed(worked: Machine) -> None:
    stored = b"".join(held for path, held in files_of(worked).items() if path.name.startswith("inbox"))
    kinds = {one.kind for one in ALL if one.kind}
    assert [kind for kind in sorted(kinds) if f"[redacted:{kind}]".encode() not in stored] == []


def test_no_secret_is_given_to_an_agent(worked: Machine) -> None:
    cwd = json.loads(worked.rows()[0].payload)["cwd"]
    ran = worked.hook("SessionStart", payload("SessionStart", "next", cwd, source="startup"))
    assert b"additionalContext" in ran.out
    assert names_in(ran.out) == []
    worked.drain()
    rendered = list(live_files.contents(worked.home.rendered).values())
    assert rendered
    assert [names_in(content) for content in rendered] == [[] for _ in rendered]


def test_no_secret_is_found_by_search(worked: Machine) -> None:
    told = json.dumps([worked.get("/api/memories?limit=500"), worked.get("/api/sessions?limit=500")]).encode()
    assert names_in(told) == []


def test_no_secret_is_sent_to_a_model(worked: Machine, model: ModelServer) -> None:
    model.replies = [anthropic_reply(answer("Set up the import"))]
    before = len(model.asked)
    worked.post("/api/queue/retry", {"id": None})
    worked.drain()
    assert len(model.asked) - before == len(TURNS)
    sent = [asked.text for asked in model.asked]
    assert [names_in(text.encode()) for text in sent] == [[] for _ in sent]
    assert min(text.count("[redacted:") for text in sent) > 0
    assert sum(text.count("[redacted:") for text in sent[before:]) >= 3 * len(ALL)  # asked, reported and said
    assert leaks(worked) == {}


def test_no_secret_comes_through_the_real_hook(machine: Machine) -> None:
    machine.start_worker()
    for number, one in enumerate(ALL[::4]):
        events = turn_with([one], f"s-{number // 12}")
        event = events[number % len(events)]
        assert names_in(machine.hook(event["hook_event_name"], event).out) == []
    machine.drain()
    assert machine.row_count("payload like '%[redacted:%'") == len(ALL[::4])
    assert leaks(machine) == {}


def test_no_secret_is_left_by_what_cannot_be_read(machine: Machine) -> None:
    """A payload that was cut is kept as far as it goes, for whoever looks at the error."""
    machine.start_worker()
    for one in ALL:
        raw = json.dumps(payload("Stop", last_assistant_message=f"{'word ' * 30}\n{one.text}\nend"))[:-2]
        leave(machine.home, None, event="Stop", raw=raw.encode())
    machine.drain()
    assert machine.row_count("status = 'error'") == len(ALL)
    assert leaks(machine) == {}


def test_no_secret_stays_in_the_places_hooks_turn_to(machine: Machine) -> None:
    place = machine.home.fallback_spools()[0]
    place.mkdir(mode=0o700)
    for one in ALL:
        event = payload("SubagentStop", agent_id="a1", agent_type="look", last_assistant_message=one.text)
        (place / spool_name("SubagentStop")).write_bytes(json.dumps(event).encode())
    assert names_in(b"".join(path.read_bytes() for path in place.iterdir()))
    machine.start_worker()
    machine.drain()
    assert machine.row_count() == len(ALL)
    assert leaks(machine) == {}


def test_no_secret_is_kept_of_what_a_user_says_by_command(machine: Machine) -> None:
    machine.start_worker()
    for group in groups(4):
        machine.post("/api/memories", {"kind": "rule", "text": f"Remember this:\n{texts_of(group)}", "cwd": "/"})
    machine.drain()
    assert machine.row_count() == len(groups(4))
    assert leaks(machine) == {}


def test_no_secret_is_left_when_its_memory_is_rewritten_and_the_worker_ends(machine: Machine) -> None:
    """The pages that SQLite gives free keep what was on them."""
    machine.start_worker()
    for number, group in enumerate(groups(4)[:10]):
        for event in turn_with(group, f"s-{number}"):
            leave(machine.home, event)
    machine.drain()
    for number in range(0, 10, 2):
        machine.post("/api/forget", {"session": f"s-{number}"})
    machine.stop_worker()
    assert leaks(machine) == {}


def test_no_secret_comes_in_by_the_import_of_transcripts(machine: Machine, tmp_path: Path) -> None:
    sessions = [PastSession(f"00000000-0000-4000-8000-{number:012}") for number in range(6)]
    for number, group in enumerate(TURNS):
        session = sessions[number % len(sessions)].prompt(f"Please use this:\n{texts_of(group)}")
        for one in group:
            session.runs(f"./deploy\n{one.text}", f"ok\n{one.text}")
            session.runs("make", f"cannot connect with\n{one.text}", exit_code=2)
            session.edits("/home/dev/shop/a.py", one.text, f"{one.text}\nmore = 1")
        session.says(f"The settings:\n{texts_of(group)}").write(tmp_path)
    machine.start_worker()
    done = run_here(machine, "import", "transcripts", tmp_path)
    machine.drain()
    assert machine.row_count() >= len(ALL)
    assert names_in((done.stdout + done.stderr).encode()) == []
    assert leaks(machine) == {}
