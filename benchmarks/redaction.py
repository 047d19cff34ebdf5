"""`python -m benchmarks.redaction [DATA]`: how fast redaction is, and whether google-re2 would pay.

With re2 the rules that an event needs would be found by one automaton for the signs of all rules, instead of by the
words of the text; the patterns themselves stay with `re`, because most look behind. Both ways are timed over the same
texts, turn by turn in one run, on made-up text and, if DATA is given, on what hooks would have sent of recorded
sessions. Without google-re2 installed (`pip install google-re2`) only ours is told."""

import importlib
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

from benchmarks.figures import Figure, keep
from benchmarks.transcripts import Data
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.safety.positional_secrets import spots
from claude_mem_lite.safety.prefilter import Signs
from claude_mem_lite.safety.redact import redact_json, texts_of
from claude_mem_lite.safety.token_formats import JWT_SIGNS, KEY_SIGNS, formats

ROUNDS = 5
Given = TypeVar("Given")
IMPORT_BAR_MB_PER_MINUTE = 50
OF_RULES = [
    KEY_SIGNS,
    JWT_SIGNS,
    *(one.signs for one in formats()),
    *(spot.signs for spot in spots()),
]


@dataclass(frozen=True, slots=True)
class Timed:
    """CPU seconds of the best round."""

    whole: float
    ours: float
    re2: float | None


def main(arguments: Sequence[str]) -> int:
    with_re2 = _re2_finder()
    figures = list(_measured("made-up text", list(_made_up()), with_re2))
    if arguments:
        figures += _measured("recorded sessions", list(_recorded(Path(arguments[0]))), with_re2)
    figures.append(Figure("formats", len(formats()), "patterns"))
    figures.append(Figure("commands, connections and files", len(spots()), "patterns"))
    for figure in figures:
        print(figure.line())
    return keep("redaction", "Redaction", figures, "python -m benchmarks.redaction [DATA]")


def _measured(name: str, payloads: list[JsonObject], with_re2: Callable[[str], object] | None) -> Iterator[Figure]:
    texts = ["\n".join(texts_of(payload)) for payload in payloads]
    megabytes = sum(map(len, texts)) / 1e6
    timed = _timed(payloads, texts, with_re2)
    yield Figure(f"{name}: redaction", timed.whole / megabytes * 100, "ms per 100 KB", note=f"{megabytes:.1f} MB")
    yield Figure(
        f"{name}: speed",
        megabytes / timed.whole * 60,
        "MB/min",
        floor=10 * IMPORT_BAR_MB_PER_MINUTE,
        note="at most a tenth of the time that an import may take",
    )
    yield Figure(f"{name}: share of finding the rules", timed.ours / timed.whole, "of redaction")
    if timed.re2 is not None:
        with_it = timed.whole - timed.ours + timed.re2
        yield Figure(f"{name}: finding the rules with google-re2", timed.re2 / timed.ours, "of ours")
        yield Figure(f"{name}: redaction with google-re2", with_it / timed.whole, "of ours")
        saved = (timed.whole - with_it) / megabytes
        yield Figure(
            f"{name}: saved by google-re2",
            saved * IMPORT_BAR_MB_PER_MINUTE / 60 * 100,
            "% of an import",
            note=f"at {IMPORT_BAR_MB_PER_MINUTE} MB/min",
        )


def _timed(payloads: list[JsonObject], texts: list[str], with_re2: Callable[[str], object] | None) -> Timed:
    find = Signs(OF_RULES).seen_in
    whole, ours, theirs = [], [], []
    for _ in range(ROUNDS):
        whole.append(_seconds(redact_json, payloads))
        ours.append(_seconds(find, texts))
        if with_re2:
            theirs.append(_seconds(with_re2, texts))
    return Timed(min(whole), min(ours), min(theirs) if theirs else None)


def _seconds(work: Callable[[Given], object], given: Sequence[Given]) -> float:
    began = time.process_time()
    for one in given:
        work(one)
    return time.process_time() - began


def _re2_finder() -> Callable[[str], object] | None:
    try:
        re2 = importlib.import_module("re2")
    except ModuleNotFoundError:
        return None
    signs = re2.Set.SearchSet()
    for of_rule in OF_RULES:
        for sign in of_rule:
            literal = sign[1:] if sign.startswith("*") else sign.rstrip(".")
            signs.Add(f"(?i){re2.escape(literal)}")
    signs.Compile()
    return cast("Callable[[str], object]", signs.Match)


def _recorded(folder: Path) -> Iterator[JsonObject]:
    for turn in Data(folder).turns():
        yield {"prompt": turn.prompt, "last_assistant_message": "\n".join(turn.prose)}
        for call in turn.calls:
            response = call.output if call.failed or call.record is None else call.record
            yield {
                "tool_name": call.tool,
                "tool_input": cast("JsonValue", call.input),
                "tool_response": cast("JsonValue", response),
            }


def _made_up() -> Iterator[JsonObject]:
    """Events of 100 KB: code, paths and hashes, in every tenth line a name of secrets."""
    chance = random.Random(3)
    words = ["return", "order", "self.items", "index", "if", "value", "import", "test_login", "def", "response"]
    for number in range(40):
        lines = []
        for line in range(1250):
            some = " ".join(chance.choices(words, k=6)) + ("" if line % 10 else " password = read(api_key)")
            lines.append(f"{line:5} src/shop/{chance.choice(words)}.py: {some} = {chance.getrandbits(64):x}")
        output = "\n".join(lines)
        yield {
            "tool_name": "Bash",
            "tool_input": {"command": f"make step{number}"},
            "tool_response": {"stdout": output},
        }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
