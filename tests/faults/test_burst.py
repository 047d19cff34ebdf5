"""Many hooks at once with no worker there: the normal case of a busy morning."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from tests.support.running import Machine, payload, wait_until

HOOKS = 200
SMALL, LARGE = 2_000, 500_000


def test_two_hundred_hooks_at_once_lose_nothing_and_start_one_worker(machine: Machine, tmp_path: Path) -> None:
    sent = {f"s-{number:03d}": SMALL if number % 10 else LARGE for number in range(HOOKS)}
    files = {session: tmp_path / session for session in sent}
    for session, size in sent.items():
        files[session].write_bytes(sized_payload(session, size))

    with TemporaryFile() as printed, TemporaryFile() as complaints:
        with opened(files) as inputs:
            command = machine.hook_command("PostToolUse")
            hooks = [
                subprocess.Popen(command, stdin=fd, stdout=printed, stderr=complaints, env=machine.environment())
                for fd in inputs
            ]
            statuses = [hook.wait() for hook in hooks]
        said = (printed.seek(0, 2), complaints.seek(0, 2))

    assert statuses == [0] * HOOKS
    assert said == (0, 0)
    wait_until(lambda: machine.row_count() >= HOOKS, "every event to be in the inbox")
    machine.drain()
    rows = machine.rows()
    assert {row.session: row.raw_bytes for row in rows} == sent
    assert {row.status for row in rows} <= {"done", "skipped"}
    assert len(rows) == HOOKS
    assert machine.workers_started() == 1
    assert machine.spooled() == []


@contextmanager
def opened(files: dict[str, Path]) -> Iterator[list[int]]:
    with ExitStack() as stack:
        yield [stack.enter_context(path.open("rb")).fileno() for path in files.values()]


def sized_payload(session: str, size: int) -> bytes:
    """A tool call of exactly `size` bytes."""

    def encoded(output: str) -> bytes:
        given = payload("PostToolUse", session, tool_name="Bash", tool_input={"command": "make"})
        return json.dumps({**given, "tool_response": {"stdout": output}}).encode()

    return encoded(("all is well. " * (size // 13 + 1))[: size - len(encoded(""))])
