"""What a project is, in one sentence: what its manifest says of it, else how its README begins."""

import re
from collections.abc import Iterator

from claude_mem_lite.compress.language.prose import passages, plain, sentences
from claude_mem_lite.compress.language.sentence_kinds import reads_like_an_order
from claude_mem_lite.manifests.reading import READMES, Root
from claude_mem_lite.redaction.redact import redact
from claude_mem_lite.words import one_line, within

LONGEST = 240
_LEAST_WORDS = 4
_README_BYTES = 16 * 1024
_MOST_PARAGRAPHS = 6
# Badges, pictures, markup and the underlines and directives of reStructuredText: no sentence stands there.
_NO_PROSE = re.compile(r"^\s*(?:<|\[!\[|!\[|\[[^\]]+\]:|\.\. |:\w+:|[=~^\"'#*+-]{3,}\s*$|\{%|---)")
_CUT_OFF = re.compile(r"[\s,;:.(–-]+$")
_XML_DESCRIPTION = re.compile(r"<description>([^<]{1,600})</description>")


def role(root: Root) -> str:
    """One sentence, '' when there is none that may be repeated.

    It may stand in a foreign repository and will be read by an agent: what speaks to its reader is not taken, nor what
    looks like a secret."""
    return next((told for text in _descriptions(root) if (told := _told(text))), "")


def _descriptions(root: Root) -> Iterator[str]:
    """What may tell it, the surest first."""
    project = root.table("pyproject.toml")
    yield project.at("project", "description").text()
    yield project.at("tool", "poetry", "description").text()
    yield _setup_description(root.text("setup.cfg"))
    yield root.table("package.json").at("description").text()
    yield root.table("Cargo.toml").at("package", "description").text()
    yield root.table("composer.json").at("description").text()
    found = _XML_DESCRIPTION.search(root.text("pom.xml"))
    yield found[1] if found else ""
    readme = next((text for name in READMES if (text := root.text(name))), "")
    lines = ["" if _NO_PROSE.match(line) else line for line in readme[:_README_BYTES].splitlines()]
    told = [passage.text for passage in passages("\n".join(lines)) if passage.kind in ("text", "quote")]
    yield from told[:_MOST_PARAGRAPHS]


def _setup_description(text: str) -> str:
    found = re.search(r"(?m)^description\s*=\s*(?!file:)(\S.*)$", text)
    return found[1] if found else ""


def _told(text: str) -> str:
    """The first sentence of a text, if it says something and may be repeated."""
    told = _CUT_OFF.sub("", next(iter(sentences(plain(one_line(text[: 4 * LONGEST])))), ""))
    is_short = len(told.split()) < _LEAST_WORDS and not any(char > "\u2e80" for char in told)
    return "" if is_short or reads_like_an_order(told) or redact(told) != told else within(told, LONGEST)
