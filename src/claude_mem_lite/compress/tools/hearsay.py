"""What a turn heard from others, on the web or from their tools: it keeps its origin, whoever repeats it."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from claude_mem_lite.compress.language.closing import Closing
from claude_mem_lite.compress.tools import shell
from claude_mem_lite.compress.tools.responses import COMMAND_TOOLS, WEB_TOOLS, flatten, typed_command
from claude_mem_lite.models import Event, Origin, ToolCall

_OWN_TOOLS = re.compile(r"(?i)read|view|edit|write|update|notebook|bash|shell|glob|grep|^ls$|lsp|search_file")
# Planning and asking tell nothing of the world; what a sub-agent heard is in its own calls.
_SILENT_TOOLS = re.compile(r"^(?:Todo|Task|Agent$|AskUser|ExitPlan|EnterPlan|Skill|Slash|Kill)")
_LONGEST = 100_000
# So many words in a row are no chance: "the default value of the setting is" has seven.
_RUN = 8
_WORD = re.compile(r"\w+")


def origin_of(call: ToolCall) -> Origin | None:
    """Whose words a tool's answer is made of: None for the project's own, and for tools that answer nothing."""
    if call.tool in WEB_TOOLS:
        return "web"
    if call.tool in COMMAND_TOOLS:
        return "web" if shell.fetches(typed_command(call)) else None
    if call.tool.startswith("mcp__"):
        return "mcp"
    return None if _OWN_TOOLS.search(call.tool) or _SILENT_TOOLS.match(call.tool) else "mcp"


def only_source(events: Iterable[Event]) -> Origin | None:
    """The origin of all that these events found out, when nothing of it is the project's own."""
    calls = [event.tool for event in events if event.tool and not _SILENT_TOOLS.match(event.tool.tool)]
    origins = {origin_of(call) for call in calls}
    if not calls or None in origins:
        return None
    return "web" if "web" in origins else "mcp"


def source_of(end: Event, events: Iterable[Event]) -> Origin | None:
    """Where the sub-agent that ends here has all it found out from, when that is not the project."""
    return only_source(event for event in events if event.agent_id == end.agent_id)


class Hearsay:
    """The words that others have said in a turn."""

    def __init__(self, events: Sequence[Event]) -> None:
        calls = [event.tool for event in events if event.tool is not None and origin_of(event.tool)]
        # What was sent to them and comes back is not theirs.
        sent = {run for call in calls for run in _runs(_words(json.dumps(call.input, ensure_ascii=False, default=str)))}
        answers = [f"{flatten(call.response)}\n{call.error or ''}" for call in calls]
        answers += [
            event.message or "" for event in events if event.kind == "SubagentStop" and source_of(event, events)
        ]
        self._heard = {run for answer in answers for run in _runs(_words(answer))} - sent

    def has(self, sentence: str) -> bool:
        """Whether a good part of a sentence is word for word what others have said."""
        return bool(self._heard) and not self._heard.isdisjoint(_runs(_words(sentence)))

    def without(self, message: str) -> str:
        """A message without the lines that are theirs."""
        return "\n".join(line for line in message.split("\n") if not self.has(line)) if self._heard else message

    def taken_from(self, closing: Closing) -> Closing:
        """A message without the sentences that are theirs."""
        if not self._heard:
            return closing
        headings = tuple(heading for heading in closing.headings if not self.has(heading))
        return Closing(tuple(said for said in closing.said if not self.has(said.text)), headings)


def _words(told: str) -> list[str]:
    return _WORD.findall(told[:_LONGEST].lower())


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every few words in a row."""
    return (tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))
