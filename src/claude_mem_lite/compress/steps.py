"""Tool calls -> the steps a turn is folded from. One reader per tool; payloads are not to be trusted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from claude_mem_lite.compress import diagnostics, shell
from claude_mem_lite.compress.clean import clean, clip
from claude_mem_lite.compress.edits import EDIT_TOOLS, FileChange, read_change, read_moves, relative
from claude_mem_lite.compress.sentence_kinds import reads_like_an_order
from claude_mem_lite.compress.testruns import FailedTest, TestRun, read_run
from claude_mem_lite.models import Event, JsonObject, JsonValue, ToolCall, text

_LONGEST_OUTPUT = 200_000
_READ_TOOLS = ("Read", "NotebookRead", "ViewFile", "read_file")
_COMMAND_TOOLS = ("Bash", "shell", "run_shell_command", "PowerShell")
_WEB_TOOLS = ("WebFetch", "WebSearch")
_AGENT_TOOLS = ("Task", "Agent")
# Notes an agent makes for itself: its plans, and what it tries out.
_SCRATCH = re.compile(r"(?:/.*|~)?/\.claude/(?:plans|projects|todos)/|(?:/private)?/(?:var/)?tmp/|.*/scratchpad/")
_CHANGING = re.compile(
    r"(?i)(?:^|[_-])(?:create|update|add|delete|remove|send|post|merge|close|assign|move|save|publish|deploy"
    r"|set)(?:[_-]|$)"
)


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that was run."""

    command: str
    role: shell.Role
    goal: str
    """Equal for runs that try the same thing."""
    output: str
    code: int | None = None
    failed: bool = False
    run: TestRun | None = None
    errors: tuple[str, ...] = ()
    commits: tuple[shell.Commit, ...] = ()


@dataclass(frozen=True, slots=True)
class Edited:
    change: FileChange


@dataclass(frozen=True, slots=True)
class Opened:
    path: str


@dataclass(frozen=True, slots=True)
class Looked:
    """Something read from the web."""

    subject: str
    place: str
    answer: str


@dataclass(frozen=True, slots=True)
class Called:
    """A tool of someone else: an MCP server's or one this product does not know."""

    tool: str
    subject: str
    changes: bool
    error: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """What the user chose when asked."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Planned:
    """The to-do list as it stands."""

    still_open: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tracked:
    """One entry of a task list that is kept entry by entry; an update names only the id."""

    id: str
    subject: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class Delegated:
    """What a sub-agent was sent for and what it came back with."""

    task: str
    answer: str


Step = Ran | Edited | Opened | Looked | Called | Answered | Planned | Tracked | Delegated


def read_steps(event: Event) -> list[Step]:
    """What one tool event amounts to; nothing when it is not worth a look."""
    call = event.tool
    if call is None:
        return []
    if call.tool in _COMMAND_TOOLS:
        return _command(call, event.cwd)
    if call.error is not None:
        return _failure(call)
    if call.tool in EDIT_TOOLS:
        change = read_change(call, event.cwd)
        return [Edited(change)] if change and not _SCRATCH.match(change.path) else []
    if call.tool in _READ_TOOLS:
        path = text(call.input.get("file_path")) or text(call.input.get("path"))
        return [Opened(relative(path, event.cwd))] if path.strip() and len(path) < 1_000 else []
    if call.tool in _WEB_TOOLS:
        return _web(call)
    if call.tool in _AGENT_TOOLS:
        task = _line(text(call.input.get("description")))
        return [Delegated(task, clip(clean(flatten(call.response)), 20_000))]
    if call.tool == "TodoWrite":
        return [Planned(_open_todos(call.input))]
    if call.tool in ("TaskCreate", "TaskUpdate"):
        return _tracked(call)
    if call.tool == "AskUserQuestion":
        return list(_answers(call))
    if call.tool.startswith("mcp__"):
        name = call.tool.rsplit("__", 1)[-1]
        return [Called(call.tool, _subject(call.input), _CHANGING.search(name) is not None)]
    return []


def flatten(value: JsonValue, depth: int = 0) -> str:
    """The text in a response of any shape: a string, content blocks, an object with one of the usual fields."""
    if isinstance(value, str):
        return value
    if depth > 6:
        return ""
    if isinstance(value, Mapping):
        for name in ("text", "result", "results", "content", "output", "stdout", "message", "title"):
            if found := flatten(value.get(name), depth + 1):
                return found
        return ""
    if isinstance(value, Sequence):
        return "\n".join(part for item in value[:50] if (part := flatten(item, depth + 1)))
    return ""


def _command(call: ToolCall, cwd: str) -> list[Step]:
    typed = call.input.get("command")
    command = " ".join(word for word in typed if isinstance(word, str)) if isinstance(typed, list) else text(typed)
    if not command.strip():
        return []
    code: int | None = None
    if call.error is not None:
        if shell.was_refused(call.error):
            return []
        code, raw = shell.exit_code(call.error)
    else:
        raw = _printed(call.response)
        if isinstance(call.response, Mapping) and call.response.get("interrupted") is True:
            return []
    output = clean(clip(raw, _LONGEST_OUTPUT))
    part, role = shell.main_part(command)
    run = read_run(output) if role not in ("explore", "files", "commit") else None
    if run and role == "run":
        role = "test"
    # `make test | tail` succeeds whatever the tests do: only the output tells.
    failed = call.error is not None or bool(run and run.failed)
    errors = tuple(diagnostics.error_lines(output, 4)) if failed else ()
    if failed and not errors and output.count("\n") < 5 and (last := diagnostics.last_line(output)):
        errors = (last,)
    errors, run = _without_orders(errors, run)
    elsewhere = shell.leaves(command, cwd)
    made = tuple(shell.commits(command, output)) if role == "commit" and not failed and not elsewhere else ()
    shown = _line(shell.key(part)) or _line(command)
    moved = [] if failed or elsewhere else [Edited(change) for change in read_moves(shell.parts(command), cwd)]
    return [*moved, Ran(shown, role, _goal(part, role, run), output, code, failed, run, errors, made)]


def _without_orders(errors: tuple[str, ...], run: TestRun | None) -> tuple[tuple[str, ...], TestRun | None]:
    """What a command printed, without lines that speak to the reader: anything may have put them there."""
    kept = tuple(error for error in errors if not reads_like_an_order(error))
    if run is None:
        return kept, None
    failures = tuple(
        FailedTest(test.name, "" if reads_like_an_order(test.error) else test.error)
        for test in run.failures
        if not reads_like_an_order(test.name)
    )
    return kept, replace(run, failures=failures)


def _goal(part: str, role: shell.Role, run: TestRun | None) -> str:
    if role == "test" and run:
        return f"test {run.runner}"
    if role in ("test", "build", "lint", "git"):
        return f"{role} {shell.tool(part)}"
    return shell.key(part)


def _printed(response: JsonValue) -> str:
    if isinstance(response, Mapping):
        return "\n".join(part for part in (text(response.get("stdout")), text(response.get("stderr"))) if part.strip())
    return flatten(response)


def _failure(call: ToolCall) -> list[Step]:
    """Only a tool we do not know the failures of is worth a word; a missing file or a stale edit is not."""
    known = (
        *EDIT_TOOLS,
        *_READ_TOOLS,
        *_WEB_TOOLS,
        *_AGENT_TOOLS,
        "TodoWrite",
        "AskUserQuestion",
        "ExitPlanMode",
        "Skill",
    )
    error = clean(clip(call.error or "", 4_000))
    if call.tool in known or len(error) < 12 or shell.was_refused(error):
        return []
    return [Called(call.tool, _subject(call.input), False, diagnostics.first_error(error) or _line(error))]


def _web(call: ToolCall) -> list[Step]:
    subject = text(call.input.get("query")) or text(call.input.get("prompt"))
    place = text(call.input.get("url"))
    answer = clip(clean(flatten(call.response)), 6_000)
    return [Looked(_line(clean(clip(subject, 1_000))), _line(place), answer)] if subject or place else []


def _open_todos(given: JsonObject) -> tuple[str, ...]:
    todos = given.get("todos")
    still_open: list[str] = []
    for todo in todos if isinstance(todos, list | tuple) else ():
        if isinstance(todo, Mapping) and text(todo.get("status")) in ("pending", "in_progress"):
            content = _line(clean(clip(text(todo.get("content")), 1_000)))
            if content:
                still_open.append(content)
    return tuple(still_open[:20])


def _tracked(call: ToolCall) -> list[Step]:
    response = call.response if isinstance(call.response, Mapping) else {}
    task = response.get("task")
    made = text(task.get("id")) if isinstance(task, Mapping) else ""
    name = text(call.input.get("taskId")) or made
    subject = _line(clean(clip(text(call.input.get("subject")), 1_000)))
    is_open = text(call.input.get("status")) not in ("completed", "deleted")
    return [Tracked(name, subject, is_open)] if name or subject else []


def open_tasks(steps: Sequence[Step]) -> tuple[str, ...] | None:
    """What the to-do list holds open at the end of these steps; None when they do not speak of one."""
    plans = [step for step in steps if isinstance(step, Planned)]
    if plans:
        return plans[-1].still_open
    tasks: dict[str, Tracked] = {}
    for step in steps:
        if isinstance(step, Tracked):
            before = tasks.get(step.id)
            if before or step.subject:
                tasks[step.id or step.subject] = Tracked(
                    step.id, step.subject or (before.subject if before else ""), step.is_open
                )
    return tuple(task.subject for task in tasks.values() if task.is_open) if tasks else None


def _answers(call: ToolCall) -> list[Answered]:
    response = call.response if isinstance(call.response, Mapping) else {}
    answers = response.get("answers")
    if not isinstance(answers, Mapping):
        answers = call.input.get("answers")
    found: list[Answered] = []
    for question, answer in list(answers.items())[:8] if isinstance(answers, Mapping) else ():
        chosen = (
            ", ".join(part for part in answer if isinstance(part, str)) if isinstance(answer, list) else text(answer)
        )
        if isinstance(question, str) and question.strip() and chosen.strip():
            found.append(Answered(_line(clean(question[:1_000])), _line(clean(chosen[:1_000]))))
    return found


def _subject(given: JsonObject) -> str:
    """What a foreign call was about: the first of the fields that usually name it."""
    for name in ("title", "name", "subject", "summary", "query", "path", "id", "key"):
        if value := text(given.get(name)).strip():
            return _line(clean(value[:400]))
    return ""


def _line(value: str) -> str:
    return " ".join(clean(value[:2_000]).split())[:300]
