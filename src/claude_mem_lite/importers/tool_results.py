"""Tool calls of a transcript: what the model wanted and what came of it, put together as a hook would tell it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from claude_mem_lite.agents.claude_code import IGNORED_TOOLS, is_own_tool
from claude_mem_lite.importers.said import text_of
from claude_mem_lite.importers.transcript_entries import word
from claude_mem_lite.models import JsonObject, JsonValue, text

# Stopped by the user or by a rule: the tool did not fail, it never ran.
_REFUSED = (
    "The user doesn't want to ",
    "[Request interrupted by user",
    "Claude requested permissions to ",
    "Permission to use ",
    "Permission for this action ",
)
_ERROR_TAG = ("<tool_use_error>", "</tool_use_error>")


@dataclass(frozen=True, slots=True)
class Ended:
    """A call that came to its end: the event, and what a hook's payload would have of it."""

    kind: str
    id: str
    members: JsonObject


class Calls:
    """The calls of one agent that wait for their results."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[str, JsonValue]] = {}

    def begin(self, block: JsonObject) -> None:
        """Note a call; one of a tool that is never captured is left out, and so is its result."""
        name, id_ = word(block.get("name")), word(block.get("id"))
        if name and id_ and name not in IGNORED_TOOLS and not is_own_tool(name):
            self._waiting[id_] = (name, block.get("input"))

    def end(self, line: JsonObject, results: Sequence[JsonObject]) -> Iterator[Ended]:
        """The calls that the results on a line belong to."""
        # The client's own record stands beside the results, so it tells of one only when that is alone.
        record = line.get("toolUseResult") if len(results) == 1 else None
        for block in results:
            id_ = word(block.get("tool_use_id"))
            call = self._waiting.pop(id_, None)
            outcome = _outcome(line, block, record) if call else None
            if call and outcome:
                kind, told = outcome
                given = call[1] if isinstance(call[1], Mapping) else {}
                yield Ended(kind, id_, {"tool_name": call[0], "tool_input": given, "tool_use_id": id_, **told})


def _outcome(line: JsonObject, block: JsonObject, record: JsonValue) -> tuple[str, JsonObject] | None:
    """The event of a result and what it adds to the payload; None when the tool was not let run."""
    if block.get("is_error") is not True:
        return "PostToolUse", {"tool_response": text_of(block.get("content")) if record is None else record}
    said = text_of(block.get("content")).removeprefix(_ERROR_TAG[0]).removesuffix(_ERROR_TAG[1])
    if line.get("toolDenialKind") or said.startswith(_REFUSED):
        return None
    error = said or text(record).removeprefix("Error: ")
    return "PostToolUseFailure", {"error": error, "is_interrupt": False}
