"""What one hook costs the user, as a ratio to a bare interpreter start."""

import json
import os
import signal
import statistics
import subprocess
from collections.abc import Iterator

from benchmarks.figures import Figure
from benchmarks.stage import Stage, payload, stage
from claude_mem_lite.hook.kernel import ANSWER_WITHIN_S

ROUNDS = 120
WITHOUT = 30
AT_ONCE = 200
ANSWERED = ("PostToolUse of a file", "UserPromptSubmit", "SessionStart")
TAKEN = f"worker up, median of {ROUNDS} in turns"
CLOSING = "The login test failed because the clock was not frozen. I froze it. Next: do the same for the logout test."


def measure() -> Iterator[Figure]:
    with stage() as made:
        yield from _one_hook(made)
    with stage() as made:
        yield from _cold_start(made)
    with stage() as made:
        yield from _without_a_worker(made)
    with stage() as made:
        yield from _many_at_once(made)


def _one_hook(made: Stage) -> Iterator[Figure]:
    made.start_worker()
    inputs = {
        "PostToolUse": payload("PostToolUse", made.folder),
        "PostToolUse of a file": _opened(made),
        "Stop": payload("Stop", made.folder, last_assistant_message=CLOSING),
        "UserPromptSubmit": payload("UserPromptSubmit", made.folder, prompt="Make the login test pass again"),
        "SessionStart": payload("SessionStart", made.folder, session="next", source="startup"),
    }
    for event in ("UserPromptSubmit", "PostToolUse", "Stop"):  # so that there is something to tell
        made.time_hook_s(event, inputs[event])
    made.client.drain(10.0)
    taken: dict[str, list[float]] = {event: [] for event in (*inputs, "pass")}
    own: dict[str, list[float]] = {event: [] for event in ANSWERED}
    for _ in range(ROUNDS):
        taken["pass"].append(made.time_pass_s())
        for event, data in inputs.items():
            made.client.drain(10.0)
            taken[event].append(made.time_hook_s(event.split()[0], data))
        for event in ANSWERED:
            made.client.drain(10.0)
            own[event].append(made.time_answer_s(event.split()[0], inputs[event]))
    base = statistics.median(taken["pass"])
    yield Figure("python -c pass, clean environment", round(base * 1000, 1), "ms", note="the unit of the ratios")
    capture = statistics.median(taken["PostToolUse"]) / base
    yield Figure("capture hook (PostToolUse, 20 KB)", round(capture, 2), "×", 0.9, note=f"a peer's: 60 ×; {TAKEN}")
    yield Figure("end-of-turn hook (Stop, fsynced)", round(statistics.median(taken["Stop"]) / base, 2), "×", note=TAKEN)
    for event in ANSWERED:
        worker_s = statistics.median(own[event])
        ratio = (statistics.median(taken[event]) - worker_s) / base
        note = f"without the worker's own {worker_s * 1000:.1f} ms; {TAKEN}"
        yield Figure(f"{event} hook", round(ratio, 2), "×", 1.2, note=note)


def _opened(made: Stage) -> bytes:
    """A call that opened a file: its hook waits for an answer."""
    call = json.loads(payload("PostToolUse", made.folder))
    return json.dumps({**call, "tool_name": "Read", "tool_input": {"file_path": str(made.folder / "a.py")}}).encode()


def _cold_start(made: Stage) -> Iterator[Figure]:
    taken = []
    for number in range(10):
        started = payload("SessionStart", made.folder, session=f"cold-{number}", source="startup")
        taken.append(made.time_hook_s("SessionStart", started))
        made.stop_worker()
    yield Figure("start hook, worker cold", round(max(taken), 2), "s", 1.5, note="worst of 10; the bar is its deadline")


def _without_a_worker(made: Stage) -> Iterator[Figure]:
    """What a hook costs that waits for an answer, when the worker hangs, and when none can be started."""
    made.start_worker()
    given = {
        "UserPromptSubmit": payload("UserPromptSubmit", made.folder, prompt="Make the login test pass again"),
        "PostToolUse": payload("PostToolUse", made.folder),
    }
    pid = made.client.health().pid
    base = statistics.median(made.time_pass_s() for _ in range(WITHOUT))
    os.kill(pid, signal.SIGSTOP)
    try:
        hanging = {event: [made.time_hook_s(event, data) for _ in range(WITHOUT)] for event, data in given.items()}
    finally:
        os.kill(pid, signal.SIGCONT)
    made.stop_worker()
    made.home.worker_python.unlink()
    missing: dict[str, list[float]] = {event: [] for event in (*given, "pass")}
    for _ in range(WITHOUT):
        missing["pass"].append(made.time_pass_s())
        for event, data in given.items():
            missing[event].append(made.time_hook_s(event, data))
    for event in given:
        deadline_s = ANSWER_WITHIN_S[event]
        taken = max(hanging[event]) - base
        note = f"worst of {WITHOUT}, without the start of the interpreter; the bar is its deadline and 50 ms to end"
        yield Figure(f"{event} hook, the worker hangs", round(taken, 3), "s", deadline_s + 0.05, note=note)
        taken = statistics.median(missing[event]) / statistics.median(missing["pass"])
        note = f"median of {WITHOUT} in turns"
        yield Figure(f"{event} hook, no worker can be started", round(taken, 2), "×", 1.2, note=note)


def _many_at_once(made: Stage) -> Iterator[Figure]:
    running = [
        subprocess.Popen(
            made.hook_command("PostToolUse"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=made.environment,
            cwd=made.folder,
        )
        for _ in range(AT_ONCE)
    ]
    sent = [payload("PostToolUse", made.folder) for _ in running]
    failed = sum(
        hook.communicate(data)[0] != b"" or hook.returncode != 0 for hook, data in zip(running, sent, strict=True)
    )
    made.until_answer()  # by the worker that the hooks started, or none
    counts = made.client.drain(60.0)
    workers = made.home.worker_log.read_text().count('"worker up"')
    yield Figure(f"{AT_ONCE} hooks at once, worker cold: events lost", AT_ONCE - counts.done - counts.skipped, "", 0)
    yield Figure(f"{AT_ONCE} hooks at once: hooks that failed or said something", failed, "", 0)
    yield Figure(f"{AT_ONCE} hooks at once: workers besides the one that served", workers - 1, "", 0)
