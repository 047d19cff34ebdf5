"""Recorded tool calls held against the guards that come of the rules in `guard_rules.toml`; read without a worker."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.transcripts import EDITING_TOOLS, blocks, records, session_of
from claude_mem_lite.guards.guard import Proposal
from claude_mem_lite.guards.matching import Call, matched
from claude_mem_lite.guards.proposal import propose
from claude_mem_lite.guards.rule import ALWAYS, SHELL_TOOL, Rule
from claude_mem_lite.models import JsonObject

RULES = Path(__file__).parent / "guard_rules.toml"


@dataclass(frozen=True, slots=True)
class PastCall:
    """One recorded call that a guard could match."""

    project: str
    session: str
    id: str
    call: Call

    @property
    def text(self) -> str:
        """Return what a rule can match: the command, or the path and the written texts."""
        return "\n".join(str(value) for value in self.call.tool_input.values() if isinstance(value, str))


@dataclass(frozen=True, slots=True)
class Pair:
    """A call beside a rule, and the match, '' if there is none."""

    past: PastCall
    rule: str
    match: str

    @property
    def cell(self) -> tuple[str, str]:
        return self.rule, self.past.project

    @property
    def key(self) -> tuple[str, str, str]:
        return self.past.project, self.past.id, self.rule


def rules() -> dict[str, str]:
    """Return the rules as a team says them, by name."""
    return {name: str(sentence) for name, sentence in tomllib.loads(RULES.read_text("utf-8")).items()}


def proposals() -> dict[str, Proposal]:
    """Return the proposals of the rules; a rule that gets none is left out."""
    made = {name: propose(sentence) for name, sentence in rules().items()}
    return {name: proposal for name, proposal in made.items() if proposal}


def past_calls(folder: Path) -> Iterator[PastCall]:
    """Yield the calls of a data folder, each once, those of sub-agents included."""
    seen: set[str] = set()
    for path in sorted((folder / "sessions").glob("*.jsonl.gz")):
        session = session_of(path)
        for record in records(path):
            for block in blocks(record) if record.get("type") == "assistant" else ():
                name, given, call_id = str(block.get("name")), block.get("input"), str(block.get("id"))
                if block.get("type") != "tool_use" or call_id in seen or not isinstance(given, dict):
                    continue
                if name == SHELL_TOOL or name in EDITING_TOOLS:
                    seen.add(call_id)
                    yield PastCall(folder.name, session, call_id, _call(name, given, record))


def _call(name: str, given: JsonObject, record: Mapping[str, object]) -> Call:
    folder = str(record.get("cwd") or "")
    return Call(name, given, folder, folder, str(record.get("gitBranch") or ""))


def pairs(calls: Sequence[PastCall], guards: Mapping[str, Rule]) -> Iterator[Pair]:
    """Yield each call beside each rule whose tokens it holds."""
    for name, rule in guards.items():
        for past in calls:
            if holds_token(past, rule):
                yield Pair(past, name, matched(rule, past.call))


def holds_token(past: PastCall, rule: Rule) -> bool:
    """Return whether the hook would hold a call against a rule."""
    tokens = rule.tokens()
    return past.call.tool in rule.tools and (ALWAYS in tokens or any(token in past.text for token in tokens))
