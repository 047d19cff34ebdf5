"""Match of one call with the guards of a project, the answer, and notes of what fired. Imported by `guard` for payloads
with a token of the guards."""

import _signal  # type: ignore[import-not-found]
import posix
import time

import guard  # type: ignore[import-not-found]
import guard_call  # type: ignore[import-not-found]
import guard_json  # type: ignore[import-not-found]
import guard_match  # type: ignore[import-not-found]
import guard_places  # type: ignore[import-not-found]
import kernel  # type: ignore[import-not-found]
import shell_commands  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:  # the hook imports neither
    from collections.abc import Callable
    from typing import TypeVar

    Result = TypeVar("Result")

Members = dict[str, object]

LIMIT_S = 0.005
"""Maximum of processor time to parse a call, and to match it with one guard."""
STRICTEST = ("deny", "ask", "remind")
ATTENDED = b"CLAUDE_CODE_SESSION_ATTENDED"
"""Variable of Claude Code 2.1.325: 1 if a person is at the terminal, 0 with -p."""
MAX_GUARDS = 200


class TookTooLong(BaseException):
    """Limit reached; not an Exception, so that no handler on the way catches it."""


class GitBranches(guard_match.Branches):  # type: ignore[misc]
    """Branches of folders, by the files of git."""

    def current(self, folder: str) -> str:
        branch: str = guard_places.branch_of(folder)
        return branch


class HookCall:
    """Call in a form that all agents share."""

    def __init__(self, members: Members) -> None:
        self.members = members
        self.folder: str = guard_call.folder_of(members)
        self.root: str = guard_places.root_of(self.folder) or self.folder
        line = guard_call.command_of(members)
        self.commands = shell_commands.parse(line, self.folder) if line else []
        self.edits = guard_call.edits_of(members)


def check(home: bytes, name: str, agent: str, payload: bytes, data: bytes, began: float) -> None:
    """Print the strictest answer of the guards that match a call, and note every guard that fired or failed."""
    given = guard_json.members(guard_json.parse(payload.decode("utf-8", "replace")))
    call = limited(lambda: HookCall(given))
    if call is None:
        guard.note_failure(home, name, "", "slow")
        return
    event = guard_json.word(call.members, "hook_event_name")
    fired: list[tuple[str, Members]] = []
    for line in data.split(b"\n")[1 : MAX_GUARDS + 1]:
        if line:
            members = matching(home, name, call, line)
            mode = guard_json.word(members, "mode")
            decision = guard_call.decided(mode, agent, posix.environ.get(ATTENDED) == b"1")
            fired += [(decision, members)] if members else []
    if not fired or guard_places.is_excluded(home, call.folder):
        return
    if posix.environ.get(guard.TRIAL):
        kernel.print_all(guard_call.trial([guard_json.word(one, "id") for _, one in fired]))
        return
    if guard_places.is_elsewhere(guard.read(home + b"/guards/roots"), name, guard_json.word(call.members, "cwd")):
        return
    fired.sort(key=lambda one: STRICTEST.index(one[0]))
    printed = guard_call.answer(agent, event, fired[0][0], [guard_call.reason_of(one) for _, one in fired[:3]])
    if printed and kernel.print_all(printed):
        for decision, members in fired:
            note_fired(home, agent, call.members, decision, members, began)


def matching(home: bytes, name: str, call: HookCall, line: bytes) -> Members:
    """Return a guard that matches a call; no members if it does not match, or fails."""
    number = ""
    try:
        members = guard_json.members(guard_json.parse(line.decode()))
        number = guard_json.word(members, "id")
        rule = guard_json.members(members["rule"])
        matched = limited(lambda: matches(rule, call))
    except Exception as error:
        guard.note_failure(home, name, number, f"broken guard, {type(error).__name__}")
        return {}
    if matched is None:
        guard.note_failure(home, name, number, "slow")
    return members if matched else {}


def matches(rule: Members, call: HookCall) -> bool:
    """Return whether a rule matches a call."""
    if "commands" in rule:
        return bool(call.commands and guard_match.matched_command(rule, call.commands, GitBranches()))
    return any(guard_match.matched_edit(rule, path, texts, call.root) for path, texts in call.edits)


def limited(work: "Callable[[], Result]") -> "Result | None":
    """Return the result of a piece of work; None if it takes too long."""
    _signal.signal(_signal.SIGVTALRM, give_up)
    try:
        _signal.setitimer(_signal.ITIMER_VIRTUAL, LIMIT_S)
        try:
            return work()
        finally:
            _signal.setitimer(_signal.ITIMER_VIRTUAL, 0)
    except TookTooLong:
        return None


def give_up(_number: int, _frame: object) -> None:
    """Raise TookTooLong from the timer."""
    raise TookTooLong


def note_fired(home: bytes, agent: str, call: Members, decision: str, members: Members, began: float) -> None:
    """Note a guard that fired, without any text of the call: PostToolUse and the transcript have that."""
    note = {
        "guard": guard_json.word(members, "id"),
        "project": guard_json.word(members, "project"),
        "decision": decision,
    }
    for key in ("tool_use_id", "session_id", "cwd", "tool_name"):
        note[key] = guard_json.word(call, key)
    note["prompt_id"] = guard_json.word(call, "prompt_id") or guard_json.word(call, "turn_id")
    label = "GuardFired" if agent == "claude" else f"GuardFired_{agent}"
    kernel.keep(home, kernel.spool_name(label), guard_call.note(note, (time.monotonic() - began) * 1000), False)
