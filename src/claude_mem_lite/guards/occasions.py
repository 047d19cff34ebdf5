"""Occasions of a guard: calls that its rule matches, and calls that do what it asks for instead.

A session without an occasion says nothing about a guard: "not applicable" is never counted as obeyed."""

from dataclasses import replace

from claude_mem_lite.guards.guard import Guard
from claude_mem_lite.guards.matching import Call, matched
from claude_mem_lite.guards.rule import ALWAYS, SHELL_TOOL, Rule
from claude_mem_lite.hook import guard_match, shell_commands
from claude_mem_lite.models import text
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.text import one_line, within

MAX_TEXT = 240
"""Characters of a command or path in a replay and in the ledger."""
_FILLERS = frozenset(
    """a an the use run do try call with via by instead always only please just and or of in it for to through our your
    my this that make""".split()  # noqa: SIM905
)


def fires(guard: Guard, call: Call) -> str:
    """Return the command, path or module by which a guard would fire on a call; '' if it would not."""
    if call.tool not in guard.rule.tools or not _may_match(guard.rule, call):
        return ""
    return matched(guard.rule, call)


def is_alternative(guard: Guard, call: Call) -> bool:
    """Return whether a call does what a guard asks for: the named program, an excepted command, or the guarded command
    without what is guarded in it."""
    if call.tool not in guard.rule.tools:
        return False
    if guard.rule.commands:
        return _is_other_command(guard, call)
    others = Rule(paths=guard.rule.excepts)
    return bool(guard.rule.excepts and guard.rule.paths and matched(others, call))


def shown_call(call: Call) -> str:
    """Return a call in one short line, without secrets: its command, or its file relative to the checkout."""
    written = text(call.tool_input.get("command")) if call.tool == SHELL_TOOL else ""
    if not written:
        path = guard_match.written_path(dict(call.tool_input))
        written = path.removeprefix(f"{call.root}/") if call.root else path
    return within(one_line(redact(written[: 4 * MAX_TEXT])), MAX_TEXT)


def _is_other_command(guard: Guard, call: Call) -> bool:
    rule = guard.rule
    if rule.excepts and matched(Rule(commands=rule.excepts), call):
        return True
    if rule.flags or rule.arguments or rule.branches:
        wider = replace(rule, flags=(), arguments=(), branches=())
        if matched(wider, call):
            return True
    return any(_is_named(words, guard.instead) for words in _commands(call))


def _commands(call: Call) -> list[list[str]]:
    return [words for words, *_ in shell_commands.parse(text(call.tool_input.get("command")), call.folder) if words]


def _is_named(words: list[str], instead: str) -> bool:
    """Return whether a text names a command by its program; the next word of the text must follow, if the program has
    sub-commands there: `make test` is not named by `make clean`."""
    named = [word.strip("`'\".,;:!()") for word in instead.split()]
    for place, word in enumerate(named):
        is_program = word == words[0] and (word.lower() not in _FILLERS or word == "make")
        if not is_program:
            continue
        following = named[place + 1] if place + 1 < len(named) else ""
        plain = [one for one in words[1:] if not one.startswith("-")]
        if not following or following.lower() in _FILLERS or not plain or following in plain[:2]:
            return True
    return False


def _may_match(rule: Rule, call: Call) -> bool:
    """Return whether a call holds a token of a rule: parsing all commands of a project would take minutes."""
    tokens = rule.tokens()
    if ALWAYS in tokens:
        return True
    if call.tool == SHELL_TOOL:
        given = text(call.tool_input.get("command"))
    else:
        given = "\n".join(
            (
                guard_match.written_path(dict(call.tool_input)),
                *(written for written, _ in guard_match.written_texts(dict(call.tool_input))),
            )
        )
    return any(token in given for token in tokens)
