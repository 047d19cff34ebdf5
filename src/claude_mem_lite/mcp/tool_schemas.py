"""Descriptions of the tools for agents: names, purposes, parameters. Every session pays for the tokens."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from claude_mem_lite.models import JsonObject

INSTRUCTIONS = (
    "Memory of earlier sessions on this project: decisions, conventions, failures and their fixes. Look here before "
    "you ask the user about the past or decide again what may have been decided (memory_search, memory_context), and "
    "save what the next session must know (memory_save)."
)
# As `models` has them; importing that would take longer than all the rest of a start.
KINDS = (
    "decision",
    "bugfix",
    "feature",
    "refactor",
    "change",
    "discovery",
    "preference",
    "rule",
    "anti_pattern",
    "correction",
    "convention",
    "gotcha",
    "architecture",
    "pattern",
    "failure",
    "handoff",
    "goal",
    "note",
    "project_fact",
)
_TEXT: "JsonObject" = {"type": "string"}
_TEXTS: "JsonObject" = {"type": "array", "items": _TEXT}
_READS: "JsonObject" = {"readOnlyHint": True}
_ADDS: "JsonObject" = {"destructiveHint": False}
_REMOVES: "JsonObject" = {"destructiveHint": True}


def _tool(
    name: str, description: str, takes: "JsonObject", needs: tuple[str, ...], hints: "JsonObject"
) -> "JsonObject":
    schema: JsonObject = {"type": "object", "properties": takes, **({"required": list(needs)} if needs else {})}
    return {"name": name, "description": description, "inputSchema": schema, "annotations": hints}


TOOLS: "tuple[JsonObject, ...]" = (
    _tool(
        "memory_context",
        "What is known about a task or question, chosen and kept short. Use it before work on something that may have "
        "a history here. Twice a session with a query; without one: the context of a new session. For more, or for one "
        "certain thing, use memory_search.",
        {
            "query": {"type": "string", "description": "The task in a few words"},
            "scope": {"type": "string", "enum": ["universal", "language", "project"]},
            "category": {"type": "string", "description": "guidance, work, help, or one kind"},
        },
        (),
        _READS,
    ),
    _tool(
        "memory_search",
        "Find memories and earlier conversations by words or meaning: why something was decided, whether an error was "
        "seen before, what is known about a file. Gives one line and an id each.",
        {
            "query": _TEXT,
            "kinds": {**_TEXTS, "description": "such as decision, bugfix, gotcha, failure"},
            "file": {"type": "string", "description": "only about this path; the query may then be empty"},
            "limit": {"type": "integer", "description": "10 if not given, 30 at most"},
        },
        ("query",),
        _READS,
    ),
    _tool(
        "memory_timeline",
        "What came before and after a memory, or all of a session: how something came about.",
        {"id": _TEXT},
        ("id",),
        _READS,
    ),
    _tool(
        "memory_get",
        "All that is stored under ids from search, timeline or context: details, facts, files.",
        {"ids": {**_TEXTS, "description": "20 at most"}},
        ("ids",),
        _READS,
    ),
    _tool(
        "memory_save",
        "Keep one thing that later sessions need and cannot read in the code: a decision with its reason, a trap, how "
        "to run something. It holds in this project. Not what was just done (that is kept anyway), no secrets, nothing "
        "unsure.",
        {
            "kind": {"type": "string", "enum": list(KINDS)},
            "text": {"type": "string", "description": "First line: the point. Then why, in 1 to 3 sentences"},
            "tags": _TEXTS,
        },
        ("kind", "text"),
        _ADDS,
    ),
    _tool(
        "memory_forget",
        "Delete memories for good, when the user asks for it or they are wrong. What the user stated or pinned can "
        "only be removed by the user.",
        {"ids": {**_TEXTS, "description": "20 at most"}},
        ("ids",),
        _REMOVES,
    ),
)
