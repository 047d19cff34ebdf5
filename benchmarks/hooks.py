"""What one hook costs the user, as a ratio to a bare interpreter start."""

import statistics
import subprocess
from collections.abc import Iterator

from benchmarks.figures import Figure
from benchmarks.stage import Stage, payload, stage

ROUNDS = 120
AT_ONCE = 200


def measure() -> Iterator[Figure]:
    with stage() as made:
        yield from _one_hook(made)
    with stage() as made:
        yield from _cold_start(made)
    with stage() as made:
        yield from _many_at_once(made)


def _one_hook(made: Stage) -> Iterator[Figure]:
    made.start_worker()
    asked = {
        "capture hook (PostToolUse, 20 KB, worker up)": ("PostToolUse", 0.9),
        "end-of-turn hook (Stop, fsynced, worker up)": ("Stop", None),
        "prompt hook (UserPromptSubmit, worker up)": ("UserPromptSubmit", 1.2),
        "start hook (SessionStart, worker up)": ("SessionStart", 1.2),
    }
    inputs = {
        "PostToolUse": payload("PostToolUse", made.folder),
        "Stop": payload("Stop", made.folder, last_assistant_message="Done."),
        "UserPromptSubmit": payload("UserPromptSubmit", made.folder, prompt="Make the login test pass again"),
        "SessionStart": payload("SessionStart", made.folder, source="startup"),
    }
    times: dict[str, list[float]] = {name: [] for name in (*asked, "pass")}
    for _ in range(ROUNDS):
        times["pass"].append(made.time_pass_s())
        for name, (event, _bar) in asked.items():
            times[name].append(made.time_hook_s(event, inputs[event]))
    base = statistics.median(times["pass"])
    yield Figure("python -c pass, clean environment", round(base * 1000, 1), "ms", note="the unit of the ratios")
    for name, (_event, bar) in asked.items():
        ratio = statistics.median(times[name]) / base
        yield Figure(name, round(ratio, 2), "×", bar, note=f"median of {ROUNDS}, taken in turns")


def _cold_start(made: Stage) -> Iterator[Figure]:
    taken = []
    for number in range(10):
        started = payload("SessionStart", made.folder, session=f"cold-{number}", source="startup")
        taken.append(made.time_hook_s("SessionStart", started))
        made.stop_worker()
    yield Figure("start hook, worker cold", round(max(taken), 2), "s", 1.6, note="worst of 10; its deadline is 1.5 s")


def _many_at_once(made: Stage) -> Iterator[Figure]:
    data = payload("PostToolUse", made.folder)
    running = [
        subprocess.Popen(made.hook_command("PostToolUse"), stdin=subprocess.PIPE, env=made.environment, cwd=made.folder)
        for _ in range(AT_ONCE)
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write(data)
        process.stdin.close()
    failed = sum(process.wait() != 0 for process in running)
    made.start_worker()
    counts = made.client.drain(60.0).counts
    workers = made.home.worker_log.read_text().count('"worker up"')
    yield Figure(f"{AT_ONCE} hooks at once, worker cold: events lost", AT_ONCE - counts.done - counts.skipped, "", 0)
    yield Figure(f"{AT_ONCE} hooks at once: hooks that failed", failed, "", 0)
    yield Figure(f"{AT_ONCE} hooks at once: workers that served", workers, "", 1)
