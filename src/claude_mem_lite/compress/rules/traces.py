"""Events of a turn that left something in its memories, its open tasks or its log, found by their words there."""

from collections.abc import Iterator, Sequence
from dataclasses import fields

from claude_mem_lite.compress.language.prose import plain
from claude_mem_lite.compress.tools.steps import Edited, Opened, Planned, Ran, Step, Tracked
from claude_mem_lite.models import Draft, Event
from claude_mem_lite.words import one_line

_ENOUGH = 60
_LEAST = 4


class Traces:
    """The text of a turn's memories, open tasks and log, to look things up in."""

    def __init__(self, drafts: Sequence[Draft], open_tasks: Sequence[str], log: str = "") -> None:
        self._titles = [draft.title.lower()[:_ENOUGH] for draft in drafts]
        self._files = {path for draft in drafts for path in draft.files}
        self._tasks = set(open_tasks)
        told = (part for draft in drafts for part in (draft.title, draft.summary, draft.detail, *draft.facts))
        self._told = one_line("\n".join((*told, log))).lower()

    def has(self, event: Event, steps: Sequence[Step]) -> bool:
        """Return whether anything of a tool call or of a sub-agent's words was kept; a path that was read is not."""
        if event.kind == "SubagentStop" and event.message:
            said = one_line("\n".join(map(plain, event.message.split("\n")))).lower()
            start = one_line(event.message).lower()[:_ENOUGH]
            return f"sub-agent: {start}" in self._told or any(title and title in said for title in self._titles)
        return any(self._has_step(step) for step in steps)

    def _has_step(self, step: Step) -> bool:
        if isinstance(step, Opened):
            return False
        if isinstance(step, Planned):
            return not self._tasks.isdisjoint(step.still_open)
        if isinstance(step, Tracked):
            return step.subject in self._tasks
        if isinstance(step, Edited):
            return step.change.path in self._files or step.change.path.lower() in self._told
        told = (one_line(text).lower()[:_ENOUGH] for text in _words_of(step))
        return any(len(text) >= _LEAST and text in self._told for text in told)


def _words_of(step: Step) -> Iterator[str]:
    """What would be found of a step: of a command its own words, its errors, its failing tests and its commits."""
    if isinstance(step, Ran):
        yield from (step.typed, step.command, *step.errors)
        yield from (test.name for test in (step.run.failures if step.run else ()))
        yield from (commit.subject for commit in step.commits)
        return
    for field in fields(step):
        value = getattr(step, field.name)
        if isinstance(value, str):
            yield value
