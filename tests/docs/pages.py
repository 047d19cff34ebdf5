"""What the pages for users show: their commands, code blocks and links."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^ *```(?P<language>\w*)\n(?P<body>.*?)^ *```$", re.M | re.S)
_INLINE = re.compile(r"`([^`\n]+)`")
_JOINED = re.compile(r"\s+(?:\|\|?|&&)\s+")
_INSIDE = re.compile(r"\$\(([^)]+)\)")
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(?P<title>.+)$", re.M)


@dataclass(frozen=True, slots=True)
class Page:
    name: str
    text: str

    def blocks(self, language: str) -> list[str]:
        """The bodies of the code blocks in one language, '' for plain ones."""
        return [block["body"] for block in _BLOCK.finditer(self.text) if block["language"] == language]

    def calls(self) -> Iterator[str]:
        """Every piece of code that may be a call of a program: in a block, also behind a prompt or a pipe or inside of
        another call, or inside a sentence."""
        lines = [line.strip() for body in self.blocks("") for line in body.splitlines()]
        for line in (*lines, *_INLINE.findall(_BLOCK.sub("", self.text))):
            yield from _JOINED.split(line.removeprefix("$ "))
            yield from _INSIDE.findall(line)

    def commands(self, program: str) -> list[list[str]]:
        """Every call of a program that the page shows."""
        return [shlex.split(call, comments=True) for call in self.calls() if call.startswith(f"{program} ")]

    def links(self) -> Iterator[str]:
        """Where the page leads to, other pages of the web left out."""
        for link in _LINK.finditer(_BLOCK.sub("", self.text)):
            if "://" not in link["target"]:
                yield link["target"]

    def anchors(self) -> set[str]:
        """The headings as links name them."""
        titles = (heading["title"].lower() for heading in _HEADING.finditer(_BLOCK.sub("", self.text)))
        return {re.sub(r"[^\w -]", "", title).strip().replace(" ", "-") for title in titles}


def page(name: str) -> Page:
    return Page(name, (ROOT / name).read_text("utf-8"))


def pages() -> list[Page]:
    """Every page for users and contributors."""
    paths = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    return [page(str(path.relative_to(ROOT))) for path in sorted(paths)]
