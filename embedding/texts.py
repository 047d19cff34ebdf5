"""Plain text about software out of downloaded packages (wheels, npm tarballs, Debian packages), for `make` to learn
from: short lines such as those of changelogs, and passages of documentation, docstrings and comments."""

import ast
import gzip
import hashlib
import html
import io
import lzma
import random
import re
import tarfile
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LARGEST_FILE = 400_000
FILES_A_PACKAGE = 1_500
PASSAGES_A_PACKAGE = 2_500
PAIRS_A_PACKAGE = 500
MAX_WORDS = 110


@dataclass(frozen=True)
class Package:
    name: str
    passages: list[str]
    pairs: list[tuple[str, str]]  # a short question and the passage that answers it


def read_package(path: Path, rng: random.Random) -> Package:
    """What one archive says, at most so much of it, drawn at random."""
    passages: dict[bytes, str] = {}
    pairs: list[tuple[str, str]] = []
    files = [(name, data) for name, data in _files(path) if _wanted(name) and len(data) <= LARGEST_FILE]
    rng.shuffle(files)
    for name, data in files[:FILES_A_PACKAGE]:
        text = data.decode("utf-8", "replace")
        found, own = _python(name, text) if name.endswith(".py") else _prose(name, text)
        pairs += own
        for passage in found:
            passage = " ".join(passage.split()[:MAX_WORDS])
            if 12 <= len(passage) <= 1_200 and sum(map(str.isalpha, passage)) > 0.5 * len(passage):
                passages[hashlib.sha1(passage.lower().encode("utf-8", "replace")).digest()] = passage
        if len(passages) > 6 * PASSAGES_A_PACKAGE:
            break
    kept = list(passages.values())
    rng.shuffle(kept)
    rng.shuffle(pairs)
    return Package(path.name.split("-")[0].split("_")[0], kept[:PASSAGES_A_PACKAGE], pairs[:PAIRS_A_PACKAGE])


def _wanted(name: str) -> bool:
    low = name.lower().removesuffix(".gz")
    if "/man/" in low or "changelog" in low or "relnotes" in low or "/news" in low or "readme" in low:
        return True
    return low.endswith((".py", ".md", ".rst", ".txt", ".html", ".go", ".ts", ".js", ".adoc")) and ".min." not in low


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(path) as archive:
            for item in archive.infolist():
                if _wanted(item.filename) and item.file_size <= LARGEST_FILE:
                    yield item.filename, archive.read(item)
        return
    raw = _debian_data(path) if path.suffix == ".deb" else path.read_bytes()
    with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
        for member in tar:
            if member.isfile() and member.size <= LARGEST_FILE and _wanted(member.name):
                file = tar.extractfile(member)
                data = file.read() if file else b""
                yield member.name, gzip.decompress(data) if member.name.endswith(".gz") else data


def _debian_data(path: Path) -> bytes:
    """The data.tar of a .deb, which is an `ar` archive."""
    raw, at = path.read_bytes(), 8
    while at < len(raw):
        name, size = raw[at : at + 16].strip(), int(raw[at + 48 : at + 58])
        if name.startswith(b"data.tar.xz"):
            return lzma.decompress(raw[at + 60 : at + 60 + size])
        at += 60 + size + size % 2
    raise ValueError(f"{path.name}: no data.tar.xz")


def _python(name: str, text: str) -> tuple[list[str], list[tuple[str, str]]]:
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [], []
    passages, pairs = _comments(text, "#"), []
    lines = text.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            passages += [a.value for a in node.exc.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            continue
        source = "\n".join(lines[node.lineno - 1 : (node.end_lineno or node.lineno)])
        doc = ast.get_docstring(node) or ""
        first, _, rest = doc.partition("\n")
        if not doc:
            passages += [f"{name} {source[:300]}"] if node.lineno % 5 == 0 else []
            continue
        passages += [first, *_paragraphs(rest), f"{node.name}: {first} {rest[:400]}"]
        body = re.sub(r'("""|\'\'\').*?\1', "", source, count=1, flags=re.S)
        if 4 <= len(first.split()) <= 16 and len(body) + len(rest) > 200:
            pairs.append((first, f"{rest[:400]} {body[:500]}"))
        passages += [f"{name} {body[:300]}"] if node.lineno % 3 == 0 else []
    return passages, pairs


def _prose(name: str, text: str) -> tuple[list[str], list[tuple[str, str]]]:
    if name.endswith((".go", ".ts", ".js")):
        return _comments(text, "//"), []
    if name.endswith(".html"):
        text = re.sub(r"(?s)<(script|style|head)\b.*?</\1>", " ", text)
        text = re.sub(r"</?(p|div|li|h\d|dt|dd|pre|tr|section)\b[^>]*>", "\n\n", text)
        text = html.unescape(re.sub(r"<[^>]*>", "", text))
    elif "/man/" in name:
        text = re.sub(r"(?m)^\.\\\".*$|^\.(TH|so|nh|ad|if|ie|el|de|ds|nr).*$", "", text)
        text = re.sub(r"(?m)^\.(SH|SS|PP|P|TP|IP|LP|Pp|It|RS|RE|sp).*$", "\n", text)
        text = re.sub(r"(?m)^\.[A-Za-z]+ ?|\\f.|\\[&|]|\\\(..", "", text).replace("\\-", "-")
    return _paragraphs(text), _headed(text) if name.endswith((".md", ".rst", ".txt")) else []


def _headed(text: str) -> list[tuple[str, str]]:
    """Headings of Markdown or reStructuredText with what stands below them."""
    found = re.findall(r"(?m)^(?:#+ (.+)|(\w.+)\n[=~^\-]{4,})\n+((?:.+\n?)+)", text)
    return [
        (one or two, body[:900])
        for one, two, body in found
        if 4 <= len((one or two).split()) <= 14 and len(body.split()) >= 25
    ]


def _paragraphs(text: str) -> list[str]:
    found = []
    for block in re.split(r"\n\s*\n", text):
        items = re.split(r"(?m)^\s*(?:[-*+•]|\d+\.)\s+", block)
        for item in items:
            words = re.sub(r"[`*=~|]{2,}|^\W+$|\]\([^)]*\)|[\[\]]", " ", item, flags=re.M).split()
            if len(words) > MAX_WORDS:
                found += [" ".join(words[i : i + 80]) for i in range(0, len(words), 80)]
            elif len(words) >= 3:
                found.append(" ".join(words))
    return found


def _comments(text: str, mark: str) -> list[str]:
    blocks = re.findall(rf"(?:^[ \t]*{mark}.*\n)+", text, flags=re.M)
    blocks += re.findall(r"(?s)/\*\*?.*?\*/", text) if mark == "//" else []
    return [p for block in blocks[1:] for p in _paragraphs(re.sub(r"(?m)^[ \t]*(#+|//+|/?\*+/?)[ \t]?|\*/", "", block))]
