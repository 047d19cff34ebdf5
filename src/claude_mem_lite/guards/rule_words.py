"""A rule in words, for lists and for people who decide about it."""

from collections.abc import Sequence

from claude_mem_lite.guards.rule import Rule
from claude_mem_lite.hook.guard_match import FILTERING, LINKED

_POSITIONS = {LINKED: "inside a pipe or with a redirection", FILTERING: "as a filter of another command's output"}


def in_words(rule: Rule) -> str:
    """Return what a call must do for a rule to match, as in "runs `git push` with --force"."""
    if rule.commands:
        return _command_words(rule)
    if rule.paths:
        return f"writes a file that matches {_listed(rule.paths)}{_but(rule)}"
    return f"writes an import of {_listed(rule.imports)}{_but(rule)}"


def _command_words(rule: Rule) -> str:
    words = f"runs {_listed(rule.commands)}"
    if rule.flags:
        words += f" with {_listed(rule.flags)}"
    if rule.arguments:
        words += f" {'and' if rule.flags else 'with'} the argument {_listed(rule.arguments)}"
    if rule.branches:
        is_push = all(command.startswith("git push") for command in rule.commands)
        words += f" {'to' if is_push else 'on'} branch {_listed(rule.branches)}"
    return words + _but(rule)


def _but(rule: Rule) -> str:
    words = [word for word in rule.excepts if word not in _POSITIONS]
    positions = [_POSITIONS[word] for word in rule.excepts if word in _POSITIONS]
    excepted = [*([_listed(words)] if words else []), *positions]
    return f", except {' or '.join(excepted)}" if excepted else ""


def _listed(words: Sequence[str]) -> str:
    quoted = [f"`{word}`" for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
