"""`make demo`: a recorded session through the real hooks and worker, and what the next session knows of it.

Exits 1, naming what is missing, unless the next session is told the facts of the recorded one."""

import argparse
import json
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from claude_mem_lite.context.render import estimate_tokens
from demo import facts, recording
from demo.machine import CommandFailed, Machine
from demo.recording import Recorded
from demo.show import Screen


def main(arguments: Sequence[str]) -> int:
    """Run the demo; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--recording", type=Path, default=recording.BUNDLED, help="another session to replay")
    chosen = parser.parse_args(arguments)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        return run(chosen.recording, Screen())
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output has seen enough; what is still buffered must not fail at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except FileNotFoundError as error:
        print(f"demo: {error.filename} was not found; run `make demo`, with git installed", file=sys.stderr)
        return 1
    except CommandFailed as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1


def run(path: Path, screen: Screen) -> int:
    began = time.monotonic()
    screen.title(
        "claude-mem-lite",
        "A recorded Claude Code session on a small web shop, played through the real hooks and the real worker "
        "in a temporary folder. No network, no model, nothing of yours is touched.",
    )
    with Machine() as machine:
        events = recording.load(path, machine.project)
        machine.make_project(recording.files_at_start(events))
        machine.install()
        capture(machine, events, screen)
        remembered(machine, screen)
        context = next_session(machine, events, screen)
        missing = check(machine, context, screen)
    took = f"{time.monotonic() - began:.1f} s; the worker is stopped, the temporary folder is gone"
    screen.end(f"{'Failed' if missing else 'Done'} in {took}.", not missing)
    if missing:
        print(f"demo: missing: {', '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


def capture(machine: Machine, events: Sequence[Recorded], screen: Screen) -> None:
    """Play the session, then let the worker finish."""
    times: dict[str, list[float]] = defaultdict(list)
    for event in events:
        if edited := recording.file_after(event):
            machine.write(*edited)
        times[event.kind].append(machine.hook(event).ms)
    screen.heading(f"1. Captured: {len(events)} events, {_kilobytes(events)}")
    screen.hook_times(times)
    machine.run("worker", "drain", "--timeout", "30")
    counts = machine.ask("queue")
    kept = counts["done"] + counts["skipped"]
    screen.note(
        f"The first hook started the worker. It has worked on {kept} of {len(events)}, {counts['error']} failed."
    )
    if kept != len(events):
        raise CommandFailed(f"of {len(events)} events only {kept} were worked on: {counts}")


def remembered(machine: Machine, screen: Screen) -> None:
    """Show what became of it."""
    memories = machine.ask("list")
    screen.heading(f"2. Remembered: {len(memories)} memories and a summary of the session")
    screen.memories(memories[::-1])
    for session in machine.ask("sessions"):
        screen.summary(session["summary"])


def next_session(machine: Machine, events: Sequence[Recorded], screen: Screen) -> str:
    """Start another session in the same folder; the context that its hook printed."""
    told = machine.hook(recording.next_start(events))
    context = str(json.loads(told.printed)["hookSpecificOutput"]["additionalContext"]) if told.printed else ""
    tokens, raw = estimate_tokens(context), sum(estimate_tokens(event.text) for event in events)
    screen.heading(f"3. The next session starts and gets this context, after {told.ms:.0f} ms:")
    screen.exactly(context)
    screen.note(
        f"{tokens:,} tokens by estimate, {len(context.encode()):,} bytes: "
        f"{100 * tokens / raw:.1f} % of the {raw:,} tokens that went in."
    )
    return context


def check(machine: Machine, context: str, screen: Screen) -> list[str]:
    """Look for each fact by name; the names of those that are missing."""
    screen.heading("4. Checked: does it know?")
    missing = []
    for fact in facts.TOLD:
        told = facts.is_told(fact, context)
        screen.check(told, fact.name, fact.words if told else f"MISSING, expected: {fact.words}")
        missing += [] if told else [fact.name]
    for fact in facts.KEPT_OUT:
        found = machine.holds(fact.words)
        screen.check(not found, fact.name, "in no file" if not found else "was written to the data folder")
        missing += [f"a guard over {fact.name}"] if found else []
    return missing


def _kilobytes(events: Sequence[Recorded]) -> str:
    return f"{sum(len(event.text.encode()) for event in events) / 1000:.0f} KB"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
