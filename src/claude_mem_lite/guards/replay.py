"""Replay of guards over the calls of earlier sessions, before anything is enforced: how often would each have fired, on
which calls, and did the user let those pass?"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from claude_mem_lite.guards.guard import Guard
from claude_mem_lite.guards.history import PastCall
from claude_mem_lite.guards.occasions import fires, is_alternative, shown_call
from claude_mem_lite.store.guards import Occasion, Replay, ReplayMatch
from claude_mem_lite.text import denies, words_of

MAX_MATCHES = 500
"""Firings that a replay keeps, the newest; all are counted for their sessions."""
MIN_LET_PASS = 3
MIN_TURNS = 2
_FIRST_WORDS = 200
_OBJECTIONS = frozenset(("no", "nope", "stop", "wrong", "undo", "revert", "why", "again", "instead"))


@dataclass(slots=True)
class GuardRun:
    """Run of one guard over past calls, which are added in any order."""

    guard: Guard
    matches: list[ReplayMatch] = field(default_factory=list)
    firings: dict[str, int] = field(default_factory=dict)
    """Number of firings by session with an occasion."""
    first_at: dict[str, str] = field(default_factory=dict)
    """Time of the first occasion by session."""

    def add(self, past: PastCall) -> None:
        """Run the guard over one call."""
        if matched := fires(self.guard, past.call):
            self._note_occasion(past, 1)
            corrected = objects(past.next_prompt, self.guard)
            shown = shown_call(past.call)
            self.matches.append(
                ReplayMatch(
                    past.session, past.turn, past.at, past.call.tool, shown, matched, past.outcome, int(corrected)
                )
            )
        elif past.outcome != "refused" and is_alternative(self.guard, past.call):
            self._note_occasion(past, 0)

    def doubt(self) -> str:
        """Return the reason why a guard should not be proposed; '' if there is none."""
        passed = [match for match in self.matches if was_let_pass(match, self.guard.created_at)]
        turns = {(match.session, match.turn) for match in passed}
        if len(passed) < MIN_LET_PASS or len(turns) < MIN_TURNS:
            return ""
        return f"it would have fired on {len(passed)} calls that you let pass after you stated the rule"

    def occasions(self) -> list[Occasion]:
        """Return the sessions with an occasion, each with the number of its firings."""
        return [
            Occasion(self.guard.id, session, self.first_at[session], number) for session, number in self.firings.items()
        ]

    def kept_matches(self) -> Sequence[ReplayMatch]:
        """Return the newest firings."""
        return sorted(self.matches, key=lambda match: match.at, reverse=True)[:MAX_MATCHES]

    def _note_occasion(self, past: PastCall, firings: int) -> None:
        self.first_at[past.session] = min(past.at, self.first_at.get(past.session, past.at))
        self.firings[past.session] = self.firings.get(past.session, 0) + firings


@dataclass(slots=True)
class ProjectReplay:
    """Replay of the guards of one project, over calls that are read once for all of them."""

    guards: Sequence[GuardRun]
    calls: int = 0
    sessions: set[str] = field(default_factory=set)
    since: str = ""
    until: str = ""

    def add(self, past: PastCall) -> None:
        """Run all guards over one call."""
        self.calls += 1
        self.sessions.add(past.session)
        self.since = min(self.since or past.at, past.at)
        self.until = max(self.until, past.at)
        for guard in self.guards:
            guard.add(past)

    def result(self, guard: GuardRun, at: str, *, is_whole: bool) -> Replay:
        """Return what a guard was run over."""
        return Replay(guard.guard.id, at, self.calls, len(self.sessions), self.since, self.until, int(is_whole))


def was_let_pass(match: ReplayMatch, stated_at: str) -> bool:
    """Return whether a call ran after the user stated the rule, and the user did not object."""
    return match.outcome == "ran" and match.is_corrected == 0 and match.at > stated_at


def objects(prompt: str, guard: Guard) -> bool:
    """Return whether a prompt objects to the calls before it: it names what is guarded, or begins with a denial.

    Without a prompt nobody had a chance to object, which counts as an objection."""
    if not prompt:
        return True
    start = prompt[:_FIRST_WORDS].lower()
    if denies(start) or not _OBJECTIONS.isdisjoint(words_of(start)):
        return True
    return any(token in start for token in guard.rule.tokens())
