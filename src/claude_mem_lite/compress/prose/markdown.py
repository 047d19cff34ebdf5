"""Markdown of an assistant -> plain blocks and sentences. Code blocks are left out."""

from typing import Literal

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.values import frozen

BlockKind = Literal["heading", "text", "item", "todo", "row", "quote"]


@frozen
class MarkdownBlock:
    """One paragraph, list item, open checkbox or table row in plain text, with the heading above."""

    kind: BlockKind
    text: str
    under: str = ""


_FENCE = lazy(r"\s{0,12}(```+|~~~+)")
_HEADING = lazy(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_BOLD_LINE = lazy(r"\s{0,3}\*\*([^*]{2,120}?)\*\*\s*:?\s*$")
_ITEM = lazy(r"\s*(?:[-*+•◦▪]|\d{1,3}[.)]|[✓✔✅☑✗❌→➜])\s+(?:\[([ xX])\]\s+)?(.+)$")
_ROW = lazy(r"\s*\|(.+)\|\s*$")
_TABLE_RULE = lazy(r"[\s|:+-]+$")
_RULE = lazy(r"\s*(?:[-*_=─━]\s*){3,}$")
# Only tags of HTML: `<your name>` and `Option<String>` are text.
_TAG = lazy(
    r"(?i)</?(?:a|b|i|p|br|hr|em|code|pre|kbd|sub|sup|div|span|strong|details|summary|img|h[1-6]|ul|ol|li|table|tr"
    r"|td|th"
    r"|thead|tbody|blockquote)(?:\s[^<>]{0,300})?/?>"
)
_IMAGE = lazy(r"!\[[^\]\n]{0,200}\]\([^)\s]{0,500}\)")
_LINK = lazy(r"\[([^\]\n]{1,300})\]\(([^)\s]{1,500})\)")
_EMPHASIS = lazy(r"(?<![\w*/.])(\*\*\*|\*\*|\*)(?=[^\s)\],;])([^*\n]{1,400}?)(?<=[^\s(\[,])\1(?![\w*/.])")
# `**/*.py` and `f(x, **options)` are code; any other pair of asterisks is half of bold text.
_HALF_BOLD = lazy(r"(?<![/(*])(?<!, )\*\*(?![/*]|kwargs\b)")
# `__init__` is a name; only several words between underscores are bold.
_UNDERLINED = lazy(r"(?<!\w)__(\S[^_\n]{0,200} [^_\n]{0,200}\S)__(?!\w)")
_CODE_SPAN = lazy(r"`([^`\n]{1,400})`")
# Code that looks like prose without backticks: `count`, `git push`. At the beginning it would be capitalised.
_LIKE_PROSE = lazy(r"[a-z][a-z0-9-]*(?: [\w./:=@-]+){0,4}")
_LEADING_SIGNS = lazy(r"^[\s\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff\ufe0f•▪●○·]+(?=\S)")
_SPACES = lazy(r"\s+")

_SENTENCE_END = lazy(r"(?<=[.!?])[\"')\]]?\s+(?=[\"'(\[]?[A-Z0-9/~<@#$_.`-])|(?<=\w[.?])\s+(?=[a-z])|(?<=[。！？])\s*")
# Periods that end no sentence: abbreviations and list numbers. A period behind a value ends the sentence.
_ABBREVIATION = lazy(
    r"(?:\b(?:e\.g|i\.e|vs|cf|approx|resp|incl|Dr|Mr|Ms|St|fig|[A-Z]\.[A-Z])|[:;(]\s*\d{1,3}|(?:^|[:;(])\s*[A-Za-z])\.$"
)
_LIST_NUMBER = lazy(r"\d{1,3}\.")
_OPEN_BEFORE_SMALL = lazy(r"(?:\betc|\.\.)\.$")
_CODE_WORD = lazy(r"[^A-Za-z]*[A-Za-z][^A-Za-z]*|.*(?:[_./:()\[\]{}<>=$@#`\\|+*\d]|[a-z][A-Z]).*")
_ARTICLE = lazy(r"a [A-Za-z`]")
# Programs with names that are no English words, as `go`, `make` and `just` are.
_PROGRAMS = frozenset(
    """npm npx pnpm yarn bun deno tsc eslint vite vitest jest mocha webpack esbuild pip pipx uv poetry pytest mypy
    pyright ruff flake8 pylint isort cargo rustc rustfmt gofmt gradle mvn maven javac dotnet rspec rubocop bundler
    phpunit ctest cmake gcc clang ld git gh docker kubectl helm terraform ansible systemctl sqlite psql mysql redis
    nginx curl wget ssh bash zsh sed awk grep jq""".split()  # noqa: SIM905
)
_MAX_LENGTH = 60_000


def markdown_blocks(markdown: str) -> list[MarkdownBlock]:
    """Return the plain blocks of a message, in order."""
    blocks: list[MarkdownBlock] = []
    paragraph: list[str] = []
    under = ""

    def close() -> None:
        if paragraph and (text := plain(" ".join(paragraph))):
            is_label = len(paragraph) == 1 and paragraph[0].startswith("**") and text[-1] not in ".!?:"
            blocks.append(MarkdownBlock("item" if is_label else "text", text, under))
        paragraph.clear()

    lines = _without_code(markdown[:_MAX_LENGTH].split("\n"))
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        block = _block(line, below)
        if block is None:
            if _continues_item(line, blocks) and not paragraph:
                blocks[-1] = MarkdownBlock("item", f"{blocks[-1].text} {plain(line)}".strip(), under)
                continue
            # "**Lead** - place" is a paragraph even without a blank line below.
            if paragraph and (line.startswith("**") or (paragraph[-1].startswith("**") and line[:1].isupper())):
                close()
            paragraph.append(line.strip())
            continue
        close()
        kind, text = block
        under = text if kind == "heading" else under
        if text:
            blocks.append(MarkdownBlock(kind, text, under))
    close()
    return blocks


def _without_code(lines: list[str]) -> list[str]:
    """Return the lines outside of fenced code, with a blank line for the code."""
    kept: list[str] = []
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1][:3]
            kept.append("")
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif not fence:
            kept.append(line)
    return kept


def _block(line: str, below: str) -> tuple[BlockKind, str] | None:
    """Return kind and text of a line that is a block; None for a part of a paragraph, no text for a separator."""
    if not line.strip() or _RULE.match(line):
        return "text", ""
    if line.lstrip().startswith(">"):
        return "quote", plain(line.lstrip("> \t"))
    if heading := _HEADING.match(line) or _BOLD_LINE.match(line):
        return "heading", plain(heading[1]).rstrip(":")
    if row := _ROW.match(line):
        is_header = "-" in below and _TABLE_RULE.match(below) is not None
        return "row", "" if is_header or _TABLE_RULE.match(line) else _row(row[1])
    if item := _ITEM.match(line):
        return "todo" if item[1] == " " else "item", plain(item[2])
    return None


def _continues_item(line: str, blocks: list[MarkdownBlock]) -> bool:
    return bool(blocks) and blocks[-1].kind == "item" and line.startswith("  ")


def plain(text: str) -> str:
    """Return one line of markdown without marks; only code that looks like prose keeps backticks."""
    text = _LINK.sub(r"\1", _IMAGE.sub("", text)) if "](" in text else text
    # Text between backticks is code: `__init__.py` has no emphasis.
    spans = _CODE_SPAN.split(text) if "`" in text else [text]
    spans[::2] = [_without_marks(span).replace("`", "") for span in spans[::2]]
    spans[1::2] = [f"`{span}`" if _LIKE_PROSE.fullmatch(span) else span for span in spans[1::2]]
    text = "".join(spans).replace("’", "'").replace("‘", "'")
    return _SPACES.sub(" ", _LEADING_SIGNS.sub("", text)).strip()


def _without_marks(text: str) -> str:
    text = _TAG.sub("", text) if "<" in text else text
    text = _UNDERLINED.sub(r"\1", text) if "__" in text else text
    if "*" in text:
        # Twice: bold may be inside italics. A code span may split a pair.
        text = _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", text))
        text = _HALF_BOLD.sub("", text)
    return text


def sentences(text: str) -> list[str]:
    """Return the sentences of a plain text."""
    texts: list[str] = []
    for part in _SENTENCE_END.split(text):
        piece = part.strip()
        if texts and _LIST_NUMBER.fullmatch(texts[-1]):
            texts[-1] = piece or texts[-1]
        elif texts and piece and _goes_on(texts[-1], piece):
            texts[-1] = f"{texts[-1]} {piece}"
        elif piece:
            texts.append(piece)
    return texts


def _goes_on(before: str, piece: str) -> bool:
    """Return whether a sentence continues behind the last period."""
    if _ABBREVIATION.search(before):
        return True
    return piece[0].islower() and _OPEN_BEFORE_SMALL.search(before) is not None


def capital(text: str) -> str:
    """Return the text with a capital first letter, except before code: `f`, `total()`, `src/app.py`, `npm`."""
    first = text.split(" ", 1)[0]
    if _ARTICLE.match(text):
        return f"A{text[1:]}"
    if _CODE_WORD.fullmatch(first) or first.strip(",;!?'\"") in _PROGRAMS:
        return text
    return text[:1].upper() + text[1:]


def _row(cells: str) -> str:
    first, *rest = [plain(cell) for cell in cells.split("|")]
    values = "; ".join(cell for cell in rest if cell)
    return f"{first}: {values}" if first and values else first or values
