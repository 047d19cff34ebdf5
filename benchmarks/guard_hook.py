"""`python -m benchmarks.guard_hook [ROUNDS]`: what a guarded tool call costs, as a ratio to a bare interpreter start.

Whole processes, turn by turn in the same run as `python -c pass` of a clean environment. No worker is up: the hook asks
none. Ten guards are in force; a call has the size of a usual one."""

import json
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure, keep
from benchmarks.stage import Stage, stage
from claude_mem_lite import held_guards
from claude_mem_lite.guards import guards_file
from claude_mem_lite.guards.guard import Example, Guard
from claude_mem_lite.guards.rule import Rule

ROUNDS = 150
PASSING_BAR, MATCHING_BAR = 1.0, 1.3
PROJECT = "example.org/team/shop"
RULES = (
    Rule(commands=("npm",)),
    Rule(commands=("git push",), flags=("--force", "-f")),
    Rule(commands=("git commit", "git push"), branches=("main",)),
    Rule(commands=("pytest",)),
    Rule(commands=("pip install",)),
    Rule(commands=("rm",), flags=("-r",)),
    Rule(commands=("docker compose up",)),
    Rule(paths=("vendor/",)),
    Rule(paths=("*.lock",)),
    Rule(imports=("requests",)),
)
CALLS = {
    "no word of a guard": ("Bash", {"command": "ls -la && make check 2>&1 | tail -20"}),
    "a mention, no match": ("Bash", {"command": "grep -rn 'npm install' docs && echo \"pip install x\" | wc -l"}),
    "a command that matches": ("Bash", {"command": "cd web && CI=1 npm ci 2>&1 | tail -20"}),
    "a written file that matches": ("Write", {"file_path": "vendor/list.py", "content": "alpha = 1\n" * 200}),
}
MATCHING = ("a command that matches", "a written file that matches")


def measure(rounds: int) -> Iterator[Figure]:
    with stage() as made:
        _hold(made)
        payloads = {case: _payload(made.folder, tool, given) for case, (tool, given) in CALLS.items()}
        command = [*made.hook_command("PreToolUse"), held_guards.name_of(PROJECT)]
        taken: dict[str, list[float]] = {case: [] for case in ("pass", *payloads)}
        for _ in range(rounds):
            taken["pass"].append(made.time_pass_s())
            for case, payload in payloads.items():
                taken[case].append(made.time_s(command, payload))
        fired = sum("GuardFired" in path.name for path in made.home.spool_new.iterdir())
    base = statistics.median(taken["pass"])
    yield Figure("python -c pass, clean environment", round(base * 1000, 1), "ms", note="the unit of the ratios")
    for case in payloads:
        bar = MATCHING_BAR if case in MATCHING else PASSING_BAR
        ratio = statistics.median(taken[case]) / base
        yield Figure(f"guarded call, {case}", round(ratio, 2), "×", bar, note=f"median of {rounds} in turns")
    yield Figure("matching calls without a note", len(MATCHING) * rounds - fired, "", 0)


def _hold(made: Stage) -> None:
    example = Example("Bash", "npm ci")
    guards_file.write(
        made.home,
        PROJECT,
        [
            Guard(
                id=f"g{number}",
                project=PROJECT,
                rule=rule,
                reason="a rule of the user, in a sentence",
                instead="the other way",
                mode="auto",
                status="active",
                fires_on=example,
                passes_on=example,
                memory="",
                created_at="2026-11-03T10:00:00Z",
            )
            for number, rule in enumerate(RULES)
        ],
    )
    (made.folder / ".git").mkdir()
    (made.folder / ".git" / "HEAD").write_text("ref: refs/heads/topic\n")


def _payload(folder: Path, tool: str, given: dict[str, str]) -> bytes:
    fields = {
        "session_id": "172c9c29-3d14-4f94-b1bf-2a50dbba8b7c",
        "transcript_path": str(folder / "t.jsonl"),
        "cwd": str(folder),
        "prompt_id": "135cf216-d474-4dbd-b891-9610c8ec8735",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": given,
        "tool_use_id": "toolu_003e41f8fb944e11a2300a72",
    }
    return json.dumps(fields).encode()


def main() -> int:
    figures = []
    for figure in measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS):
        print(figure.line(), flush=True)
        figures.append(figure)
    return keep("guard_hook", "Cost of guarded tool calls", figures, "python -m benchmarks.guard_hook")


if __name__ == "__main__":
    sys.exit(main())
