"""What a project is, in one sentence: what its manifest says of it, else how its README begins."""

import re
from collections.abc import Iterator

from claude_mem_lite.code.manifests.describing import description
from claude_mem_lite.code.manifests.manifest_files import READMES, Root
from claude_mem_lite.compress.prose.markdown import passages, plain
from claude_mem_lite.text import one_line

# What looks for markdown goes some hundred characters on from each sign: of a text as long as this that is soon done.
_LONGEST_README = 4 * 1024
_MOST_PARAGRAPHS = 3
# Badges, pictures, markup and the underlines and directives of reStructuredText: no sentence stands there.
_NO_PROSE = re.compile(r"(?:<|\[!\[|!\[|\[[^\]]{1,150}+\]:|\.\. |:\w{1,40}+:|[=~^\"'#*+-]{3,200}+$|\{%|---)")
_INDENT = re.compile(r" {0,8}+")
_XML_DESCRIPTION = re.compile(r"<description>([^<]{1,600}+)</description>")
_SETUP_DESCRIPTION = re.compile(r"description[ \t]{0,8}+=[ \t]{0,8}+(?!file:)(\S.{0,190}+)")


def role(root: Root) -> str:
    """One sentence, '' when there is none that describes a thing."""
    return next((told for text in _descriptions(root) if (told := description(text))), "")


def _descriptions(root: Root) -> Iterator[str]:
    """What may tell it, the surest first."""
    project = root.table("pyproject.toml")
    yield _unmarked(project.at("project", "description").text())
    yield _unmarked(project.at("tool", "poetry", "description").text())
    yield from (_unmarked(found[1]) for line in root.lines("setup.cfg") if (found := _SETUP_DESCRIPTION.match(line)))
    yield _unmarked(root.table("package.json").at("description").text())
    yield _unmarked(root.table("Cargo.toml").at("package", "description").text())
    yield _unmarked(root.table("composer.json").at("description").text())
    found = _XML_DESCRIPTION.search(root.text("pom.xml"))
    yield found[1] if found else ""
    readme = next((root.lines(name) for name in READMES if root.text(name)), [])
    told = [passage.text for passage in passages(_prose(readme)) if passage.kind in ("text", "quote")]
    yield from told[:_MOST_PARAGRAPHS]


def _unmarked(text: str) -> str:
    """One line without the marks of markdown; commands keep their backticks, by which they are refused."""
    return plain(one_line(text[:1000]))


def _prose(lines: list[str]) -> str:
    """How a README begins, without lines in which no sentence stands and with single blanks inside of lines."""
    kept: list[str] = []
    length = 0
    for line in lines:
        told = one_line(line)
        indent = _INDENT.match(line)
        kept.append("" if not told or _NO_PROSE.match(told) else (indent[0] if indent else "") + told)
        length += len(kept[-1])
        if length > _LONGEST_README:
            break
    return "\n".join(kept)
