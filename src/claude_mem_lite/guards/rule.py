"""Rule of a guard: what a tool call must do for the guard to fire."""

from collections.abc import Sequence
from dataclasses import fields

from claude_mem_lite.hook.guard_match import EDIT_TOOLS
from claude_mem_lite.models import JsonObject, texts
from claude_mem_lite.values import frozen

SHELL_TOOL = "Bash"
ALWAYS = "*"
"""Token of a rule without a word that every matching payload holds."""
_MIN_TOKEN_LENGTH = 2


@frozen
class Rule:
    """Words and path patterns, of which `hook/guard_match.py` tells the meaning. A rule has `commands`, `paths` or
    `imports`; the rest narrows it."""

    commands: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    excepts: tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """Return the tools whose calls the rule can match, by Claude Code's names."""
        return (SHELL_TOOL,) if self.commands else EDIT_TOOLS

    def tokens(self) -> tuple[str, ...]:
        """Return words of which every payload that the rule matches holds at least one."""
        wanted = [command.split()[0] for command in self.commands if command.strip()] or [*self.paths, *self.imports]
        found = [_token(word) for word in wanted]
        return tuple(dict.fromkeys(found)) if all(found) else (ALWAYS,)

    def to_lists(self) -> dict[str, list[str]]:
        """Return the lists that are not empty, as `hook/guard_match.py` matches them."""
        return {one.name: list(getattr(self, one.name)) for one in fields(self) if getattr(self, one.name)}

    def to_json(self) -> JsonObject:
        """Return the lists that are not empty, as the hook reads them."""
        return {**self.to_lists()}


def rule_from_json(value: JsonObject) -> Rule:
    """Return the rule of a JSON object; unknown keys are ignored."""
    return Rule(**{one.name: tuple(texts(value.get(one.name))) for one in fields(Rule)})


def _token(word: str) -> str:
    """Return the longest run of characters that JSON never escapes, '' if it is too short to look for."""
    runs = "".join(c if c.isascii() and (c.isalnum() or c in "-_.@") else " " for c in word).split()
    longest = max(runs, key=len, default="")
    return longest if len(longest) >= _MIN_TOKEN_LENGTH else ""


def all_tokens(rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return the tokens of several rules, each once."""
    found = tuple(dict.fromkeys(token for rule in rules for token in rule.tokens()))
    return (ALWAYS,) if ALWAYS in found else found
