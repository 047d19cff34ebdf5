"""Guards and calls for the tests of this folder."""

from dataclasses import replace

from claude_mem_lite.guards.guard import Example, Guard
from claude_mem_lite.guards.history import PastCall
from claude_mem_lite.guards.ledger import TurnCall
from claude_mem_lite.guards.matching import Call
from claude_mem_lite.guards.rule import Rule
from claude_mem_lite.store.guard_ledger import Decision, Firing
from claude_mem_lite.store.guards import PastOutcome
from tests.support.fakes import SHOP

ROOT = "/home/me/shop"
AT = "2026-03-02T09:00:00.000000+00:00"
NPM = Rule(commands=("npm",))
VENDOR = Rule(paths=("vendor/",))
NO_FORCE = Rule(commands=("git push",), flags=("--force", "-f"))


def guard(rule: Rule = NPM, instead: str = "use pnpm", **more: object) -> Guard:
    """A guard in force that was stated at AT."""
    made = Guard(
        id="guard1",
        project=SHOP.project,
        rule=rule,
        reason="Use pnpm, not npm",
        instead=instead,
        mode="ask",
        status="active",
        fires_on=Example("Bash", "npm ci"),
        passes_on=Example("Bash", "pnpm install"),
        memory="",
        created_at=AT,
        accepted_at=AT,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def bash(command: str, branch: str = "") -> Call:
    return Call("Bash", {"command": command}, ROOT, ROOT, branch)


def write(path: str, content: str = "x = 1\n") -> Call:
    return Call("Write", {"file_path": f"{ROOT}/{path}", "content": content}, ROOT, ROOT)


def edit(path: str, old: str, new: str) -> Call:
    return Call("Edit", {"file_path": f"{ROOT}/{path}", "old_string": old, "new_string": new}, ROOT, ROOT)


def past(
    call: Call, *, turn: str = "t1", session: str = "s1", minute: int = 1, ran: PastOutcome = "ran", then: str = "go on"
) -> PastCall:
    """A call of the past, after AT, and the prompt after its turn."""
    return PastCall(session, turn, f"2026-03-02T09:{minute:02d}:00.000000+00:00", call, ran, then)


def turn_call(call: Call, second: int, id_: str = "") -> TurnCall:
    """A call of a turn that ran; its firing, if any, came a moment before."""
    return TurnCall(f"2026-03-02T10:00:{second:02d}.500000+00:00", id_ or f"call-{second}", call)


def firing(decision: Decision, second: int = 1, id_: str = "") -> Firing:
    at = f"2026-03-02T10:00:{second:02d}.000000+00:00"
    return Firing(f"firing-{second}", "guard1", "s1", "p1", id_ or f"call-{second}", "Bash", decision, at, 0.4)
