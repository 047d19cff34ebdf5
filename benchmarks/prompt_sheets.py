"""`python -m benchmarks.prompt_sheets DATA [--sample N]`: prompts of users, to be labelled sentence by sentence.

Prints each prompt that a person typed with the end of the agent's message before it and its numbered sentences.
docs/labels.md tells how to label; `python -m benchmarks.prompt_labels` turns the answers into references."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.label_files import fingerprint
from benchmarks.past_turns import past_turns
from claude_mem_lite.compress.prose.clean import clean, clip
from claude_mem_lite.compress.prose.markdown import markdown_blocks, sentences
from claude_mem_lite.evaluation.trigger_walk import is_typed
from claude_mem_lite.text import one_line, within

_MAX_BEFORE = 700
_MAX_PROMPT = 6_000
_MAX_SENTENCES = 40
_MAX_SENTENCE = 400
# Agents of a team speak through prompts too.
_NOT_A_PERSON = ("<teammate-message", "<system-reminder", "Caveat:", "This session is being continued")


@dataclass(frozen=True, slots=True)
class PastPrompt:
    """One prompt that a person typed, in sentences, and what the agent had said before it."""

    project: str
    session: str
    number: int
    """The place of its turn in the session, from 1."""
    before: str
    prompt: str
    sentences: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.session[:8]}:{self.number}"

    def refs(self) -> dict[str, str]:
        """Return the hash of each sentence by its number: `q1`, `q2` …"""
        return {f"q{at}": fingerprint(text) for at, text in enumerate(self.sentences, 1)}


def past_prompts(folder: Path) -> Iterator[PastPrompt]:
    """Yield the prompts of a data folder, session by session."""
    for past in past_turns(folder):
        prompt = past.turn.prompt
        if is_typed(prompt) and not prompt.lstrip().startswith(_NOT_A_PERSON) and (said := sentences_of(prompt)):
            yield PastPrompt(past.project, past.turn.session, past.number, past.before, prompt, tuple(said))


def sentences_of(prompt: str) -> list[str]:
    """Return the sentences of a prompt; headings, list items and lines of a paste count as sentences."""
    found = markdown_blocks(clip(clean(prompt), _MAX_PROMPT))
    return [text for part in found for text in (sentences(part.text) or [part.text])][:_MAX_SENTENCES]


def sheet(prompt: PastPrompt) -> str:
    """Return one prompt as text to be read and labelled."""
    before = f"BEFORE: …{one_line(prompt.before)[-_MAX_BEFORE:]}" if prompt.before else "BEFORE: (first prompt)"
    lines = (f"  q{at}: {within(text, _MAX_SENTENCE)}" for at, text in enumerate(prompt.sentences, 1))
    return "\n".join((f"=== {prompt.name}", before, "PROMPT:", *lines))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prompt_sheets", description=__doc__)
    parser.add_argument("data", type=Path, help="a folder of recorded sessions")
    parser.add_argument("--sample", type=int, default=0, help="only so many, the first ones (0: all)")
    given = parser.parse_args(arguments)
    found = list(past_prompts(given.data))
    print("\n\n".join(map(sheet, found[: given.sample or len(found)])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
