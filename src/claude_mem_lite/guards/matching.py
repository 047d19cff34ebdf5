"""Match of a rule with a tool call of the past or of a trial, by the same code as the hook."""

from claude_mem_lite.guards.guard import Example
from claude_mem_lite.guards.rule import SHELL_TOOL, Rule
from claude_mem_lite.hook import guard_match, shell_commands
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.values import frozen


@frozen
class Call:
    """One tool call: name and input in Claude Code's form, the folder it runs in, the top folder of the checkout, and
    the branch, '' if unknown."""

    tool: str
    tool_input: JsonObject
    folder: str
    root: str
    branch: str = ""


class _OneBranch(guard_match.Branches):
    """Branch of the folder of a call and of the folders below; the branch of other checkouts is unknown."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def current(self, folder: str) -> str:
        is_inside = f"{folder}/".startswith(self._call.folder.rstrip("/") + "/")
        return self._call.branch if is_inside else ""


def matched(rule: Rule, call: Call) -> str:
    """Return the command, path or module by which a rule matches a call; '' if it does not."""
    if call.tool not in rule.tools:
        return ""
    lists = rule.to_lists()
    if call.tool == SHELL_TOOL:
        commands = shell_commands.parse(text(call.tool_input.get("command")), call.folder)
        return " ".join(guard_match.matched_command(lists, commands, _OneBranch(call)))
    given: dict[str, object] = dict(call.tool_input)
    return guard_match.matched_edit(lists, guard_match.written_path(given), guard_match.written_texts(given), call.root)


def example_call(example: Example, root: str) -> Call:
    """Return the call of an example: `Bash` runs its text; an edit writes the text to a file of that name."""
    if example.tool == SHELL_TOOL:
        return Call(example.tool, {"command": example.text}, root, root)
    return Call(example.tool, {"file_path": f"{root}/{example.text}", "content": example.text}, root, root)
