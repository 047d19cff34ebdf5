"""`python -m benchmarks.false_alarms DATA`: what redaction takes out of recorded sessions, by rule and per MB.

Every redaction is counted as if it were a false alarm, so the figure is the most it can be: whether one was right only
a person can say, who is shown each distinct one with what stands around it. That goes to the terminal and is kept
nowhere. What is looked at is what a hook would send: prompts, replies, the inputs and the results of tools."""

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from benchmarks.figures import Figure, keep
from benchmarks.transcripts import Data, RawTurn
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.safety.redact import redact_json

_MARK = re.compile(r"\[redacted:([\w-]+)\]")
_AROUND = 50


def main(arguments: Sequence[str]) -> int:
    data = Data(Path(arguments[0]))
    alarms: Counter[tuple[str, str, str, str]] = Counter()
    characters, seconds = 0, 0.0
    for turn in data.turns():
        for payload in _payloads(turn):
            characters += sum(map(len, _texts(payload)))
            began = time.perf_counter()
            cleaned = redact_json(payload)
            seconds += time.perf_counter() - began
            alarms.update(_alarms(payload, cleaned))
    for (rule, before, taken, after), times in sorted(alarms.items()):
        print(f"{times:5} {rule}: {before!r} >>>{taken!r}<<< {after!r}")
    megabytes = characters / 1e6
    figures = [
        Figure("redactions per MB", round(alarms.total() / megabytes, 3), "", 1, note="all of them, right or wrong"),
        Figure("redactions", alarms.total(), "", note=f"{len(alarms)} distinct with what surrounds them"),
        Figure("text looked at", round(megabytes, 1), "MB"),
        Figure("redaction", round(seconds / megabytes * 1000), "ms per MB"),
    ]
    by_rule: Counter[str] = Counter()
    for (rule, *_), times in alarms.items():
        by_rule[rule] += times
    figures += [Figure(f"redactions by {rule}", times, "") for rule, times in by_rule.most_common()]
    for figure in figures:
        print(figure.line())
    return keep("false_alarms", "Redaction on recorded sessions", figures, "python -m benchmarks.false_alarms DATA")


def _payloads(turn: RawTurn) -> Iterator[JsonObject]:
    yield {"prompt": turn.prompt, "last_assistant_message": "\n".join(turn.prose)}
    for call in turn.calls:
        response = call.output if call.failed or call.record is None else call.record
        yield cast("JsonObject", {"tool_name": call.tool, "tool_input": call.input, "tool_response": response})


def _alarms(before: JsonValue, after: JsonValue) -> Iterator[tuple[str, str, str, str]]:
    """(rule, text before, what was taken, text after) of every redaction."""
    for old, new in zip(_texts(before), _texts(after), strict=True):
        if old != new:
            yield from _differences(old, new)


def _differences(old: str, new: str) -> Iterator[tuple[str, str, str, str]]:
    at = 0
    parts = _MARK.split(new)
    for position in range(0, len(parts) - 2, 2):
        start = at + len(parts[position])
        following = parts[position + 2]
        end = old.find(following, start) if following else len(old)
        end = end if end >= 0 else min(len(old), start + _AROUND)
        yield parts[position + 1], old[max(0, start - _AROUND) : start], old[start:end], old[end : end + _AROUND]
        at = end


def _texts(value: JsonValue) -> Iterator[str]:
    """Every string of a value, keys included, in an order that redaction does not change."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
