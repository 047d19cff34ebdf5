"""Tool calls -> steps of a turn. One reader per tool; payloads are not trusted."""

from collections.abc import Mapping, Sequence

from claude_mem_lite.compress.prose.clean import clean, clip
from claude_mem_lite.compress.toolcalls import diagnostics, shell
from claude_mem_lite.compress.toolcalls.commands import read_command
from claude_mem_lite.compress.toolcalls.edits import EDIT_TOOLS, is_scratch, read_change
from claude_mem_lite.compress.toolcalls.payload_fields import (
    COMMAND_TOOLS,
    READ_TOOLS,
    WEB_TOOLS,
    fields,
    file_of,
    flatten,
    folder_of,
    line,
)
from claude_mem_lite.compress.toolcalls.steps import (
    Agreed,
    Answered,
    Called,
    Delegated,
    FileEdited,
    Opened,
    Planned,
    Step,
    Tracked,
)
from claude_mem_lite.models import Event, JsonValue, ToolCall, text
from claude_mem_lite.text import one_line

ASKING_TOOL = "AskUserQuestion"
_AGENT_TOOLS = ("Task", "Agent")


def read_steps(event: Event) -> list[Step]:
    call = event.tool
    if call is None:
        return []
    if call.tool in COMMAND_TOOLS:
        return read_command(call, folder_of(event))
    if call.error is not None:
        return _failure(call)
    if call.tool in EDIT_TOOLS:
        change = read_change(call, folder_of(event))
        return [FileEdited(change)] if change and not is_scratch(change.path) else []
    if call.tool in READ_TOOLS:
        path = file_of(call)
        return [Opened(folder_of(event).name(path))] if path.strip() and len(path) < 1_000 else []
    if call.tool in _AGENT_TOOLS:
        task = line(text(call.input.get("description")))
        return [Delegated(task, clip(clean(flatten(call.response)), 20_000))]
    if call.tool == "TodoWrite":
        return [_planned(call.input.get("todos"), "content")]
    if call.tool in ("TaskCreate", "TaskUpdate", "TaskGet"):
        return _tracked(call)
    if call.tool == "TeamDelete" and fields(call.response).get("success") is not False:
        return [Planned(())]  # the task list goes with the team
    if call.tool == "TaskList":
        return _listed(call.response)
    if call.tool == "ExitPlanMode":
        plan = text(fields(call.response).get("plan")) or text(call.input.get("plan"))
        return [Agreed(clip(clean(plan), 20_000))] if plan.strip() else []
    if call.tool == ASKING_TOOL:
        return list(_answers(call))
    if call.tool.startswith("mcp__"):
        return [Called(call.tool)]
    return []


def _failure(call: ToolCall) -> list[Step]:
    """Return the failed call of an unknown tool; a missing file or a stale edit is not worth a step."""
    known = (*EDIT_TOOLS, *READ_TOOLS, *WEB_TOOLS, *_AGENT_TOOLS, "TodoWrite", ASKING_TOOL, "ExitPlanMode", "Skill")
    error = clean(clip(call.error or "", 4_000))
    if call.tool in known or len(error) < 12 or shell.was_refused(error):
        return []
    return [Called(call.tool, diagnostics.first_error(error) or line(error))]


def _planned(entries: JsonValue, name: str) -> Planned:
    """Return a to-do list from entries with the task in the field `name`."""
    items = [fields(entry) for entry in entries[:200]] if isinstance(entries, list | tuple) else []
    statuses = [(text(entry.get("status")), line(clean(clip(text(entry.get(name)), 1_000)))) for entry in items]
    still_open = [entry for status, entry in statuses if status in ("pending", "in_progress") and entry]
    return Planned(
        tuple(still_open[:20]), tuple(entry for status, entry in statuses if status == "completed" and entry)
    )


def _tracked(call: ToolCall) -> list[Step]:
    """Return an entry that was created, changed or read; nothing for a refused change."""
    response = fields(call.response)
    if response.get("success") is False:
        return []
    task = fields(response.get("task"))
    name = text(call.input.get("taskId")) or text(task.get("id"))
    subject = line(clean(clip(text(call.input.get("subject")) or text(task.get("subject")), 1_000)))
    status = text(call.input.get("status")) or text(task.get("status"))
    return [Tracked(name, subject, status not in ("completed", "deleted"))] if name or subject else []


def _listed(response: JsonValue) -> list[Step]:
    tasks = fields(response).get("tasks")
    return [_planned(tasks, "subject")] if isinstance(tasks, list) else []


def _answers(call: ToolCall) -> list[Answered]:
    answers = fields(call.response).get("answers")
    # Only the response of the client has the user's words: the input may have words of the agent.
    offered = _offered(call) if isinstance(answers, Mapping) else {}
    if not isinstance(answers, Mapping):
        answers = call.input.get("answers")
    steps: list[Answered] = []
    for question, answer in list(answers.items())[:8] if isinstance(answers, Mapping) else ():
        chosen = (
            ", ".join(part for part in answer if isinstance(part, str)) if isinstance(answer, list) else text(answer)
        )
        if isinstance(question, str) and question.strip() and chosen.strip():
            in_own_words = _is_in_own_words(chosen[:1_000], offered.get(question, ()))
            steps.append(Answered(line(clean(question[:1_000])), one_line(clean(chosen[:1_000])), in_own_words))
    return steps


def _is_in_own_words(answer: str, labels: Sequence[str]) -> bool:
    """Return whether an answer has more words than the offered labels; False for unknown labels."""
    rest = answer
    for label in sorted(labels, key=len, reverse=True):
        rest = rest.replace(label, "")
    return bool(labels) and any(map(str.isalnum, rest))


def _offered(call: ToolCall) -> dict[str, list[str]]:
    """Return the labels of the options of each question."""
    questions = call.input.get("questions")
    labels_of: dict[str, list[str]] = {}
    for entry in map(fields, questions[:8] if isinstance(questions, list) else ()):
        options = entry.get("options")
        labels = [text(fields(option).get("label")) for option in (options[:20] if isinstance(options, list) else ())]
        labels_of[text(entry.get("question"))] = [label for label in labels if label]
    return labels_of
