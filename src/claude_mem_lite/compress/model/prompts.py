"""The prompts that models are given: files of the package, each with its version in the first line."""

from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told, and the version that is stored with all it answers."""

    text: str
    version: str


@cache
def load(name: str) -> Prompt:
    """The prompt of this name. A changed text needs a new version: memories say by which one they were made."""
    file = resources.files("claude_mem_lite") / "prompts" / f"{name}.md"
    version, _, text = file.read_text("utf-8").partition("\n")
    return Prompt(text.strip(), version.strip())
