"""File that is read or edited -> memories to know before: lessons, decisions, causes, discoveries.

Called while a hook waits; reads only. A plain edit in the past is no reason to interrupt, so a memory that only reports
work is shown with the sentence that gives a cause or a reason, or not at all."""

import math
import os
import posixpath
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from claude_mem_lite.authors import received_note
from claude_mem_lite.code.syntax.changes import read_anchor
from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.compress.prose.mentions import CODE_NAME, GENERAL_NAMES, NAME, files_named
from claude_mem_lite.compress.prose.sentence_types import is_talk, reads_like_an_order
from claude_mem_lite.context.eligibility import Eligibility
from claude_mem_lite.context.item_block import BlockItem
from claude_mem_lite.context.render import opens_with
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.scoring import factor, is_stated
from claude_mem_lite.context.similarity import StemmedText
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Kind, Memory, Tally, without_request
from claude_mem_lite.store import memories, receipts, symbol_changes
from claude_mem_lite.store.index import fts
from claude_mem_lite.text import query_words, tokens_of

FINDING_KINDS: tuple[Kind, ...] = ("bugfix", "discovery")
"""Kinds that report findings: shown with their cause, or not at all."""
_MAX_LENGTH = 230
_MAX_SUMMARY_READ = 4_000
_CAUSE = lazy(
    r"(?i)\b(?:because|since (?!(?:v?\d|then|last)\b)|due to|caus(?:e[sd]?|ing)|root cause|to (?:avoid|prevent)"
    r"|prevent(?:s|ing)|otherwise|lead(?:s|ing) to|result(?:s|ed|ing) in|which means|unless"
    r"|only (?:when|if|after|once|works?|accepts?|supports?))\b"
)
_FAULT = lazy(
    r"(?i)\b(?:can(?:not|'t)|silently|ignor(?:es|ed)|requires?|rejects?|throws?|threw|raises?|crash(?:es|ed)?"
    r"|races? (?:with|condition)|deadlocks?|hangs?|leak(?:s|ed)|breaks?|broke)\b"
)
# In a decision these words give a reason; in a report of work they give a state or a purpose.
_PURPOSE = lazy(r"(?i)\b(?:so that|must|never|(?:do|does|did|is|are)(?: not|n't))\b")
_STATUS = lazy(
    r"(?i)\b(?:no longer|nothing|none|(?:do|does|did)(?: not|n't) (?:crash|hang|break|throw|raise|reject|require)"
    r"|merge[ds]?|squash\w*|rebase[ds]?|push\w*|commit(?:s|ted)?|CI|green|pass(?:e[sd]|ing)?)\b"
)
_POINTS_AWAY = lazy(r"(?i)^(?:this|that|these|those|it|they|both|all|same|such|here|there|also|and|but|then|so)\b")
_ERROR_TITLE = lazy(r"(?i)^fix \w+ failure: |^fix \S+: \w*(?:error|exception)\b")
MAX_ITEMS = 3
SOURCE = "file"
_WEIGHTS: dict[Kind, float] = {
    "rule": 1.0,
    "anti_pattern": 1.0,
    "correction": 1.0,
    "gotcha": 0.95,
    "convention": 0.9,
    "pattern": 0.85,
    "architecture": 0.8,
    "decision": 0.75,
    "bugfix": 0.6,
    "discovery": 0.5,
}
_MAX_SYMBOLS = 24
_MIN_NAME_LENGTH = 6
_MAX_CHECKED = 2
_MAX_OWN_FILES = 2
_SAME_SHARE = 0.9
_DAYS_TO_HALF = 90
_MAX_READ = 60
_MAX_NAMES = 24
_MAX_PATH_LENGTH = 1_000
# A memory that names more files is about none of them in particular.
_MAX_FILES = 5
_SECONDS_A_DAY = 86_400


def about_file(
    db: sqlite3.Connection, path: str, request: ContextRequest, already_given: Collection[str]
) -> list[BlockItem]:
    """Return up to three memories that would change the work on a file, highest weight first.

    Files outside of the project have none. `already_given` has the ids known to the session."""
    file = relative_path(request.location.root, path)
    if not file:
        return []
    eligibility = Eligibility(request, already_given)
    memory_lines = {
        memory.id: (memory, line) for memory, line in _about(db, file, request) if eligibility.applies(memory)
    }
    stale = eligibility.eligible([memory for memory, _ in memory_lines.values()])
    if not stale:
        return []
    tallies = receipts.tallies_since_last_seen(db, list(stale), at_need=True)
    items: list[BlockItem] = []
    for memory, line in (memory_lines[id_] for id_ in stale):
        useful = factor(tallies.get(memory.id, Tally()), is_stated=is_stated(memory))
        weight = round(_weight(memory, request) * useful, 3)
        reason = f"about {file}{received_note(memory.origin, memory.author)}"
        items.append(BlockItem(memory, reason, weight, SOURCE, is_stale=stale[memory.id], line=line))
    items.sort(key=lambda item: (item.score or 0.0, item.memory.last_seen_at), reverse=True)
    chosen = [replace(item, note=eligibility.since(item.memory)) for item in _each_once(items)[:MAX_ITEMS]]
    return [*chosen, *eligibility.opposites(db, chosen, SOURCE)]


def _each_once(items: Sequence[BlockItem]) -> list[BlockItem]:
    """Return items without repetition: a fault that came back is shown by the lesson alone."""
    distinct: list[tuple[BlockItem, StemmedText]] = []
    for item in items:
        text = StemmedText(item.line or item.memory.title)
        if not any(text.share_in(other) >= _SAME_SHARE for _, other in distinct):
            distinct.append((item, text))
    return [item for item, _ in distinct]


def _about(db: sqlite3.Connection, file: str, request: ContextRequest) -> Iterator[tuple[Memory, str]]:
    """Yield the memories about a file, each with a line; '' for a memory that is shown by title."""
    project = request.location.project
    names = _Names(db, project, file)
    for memory in memories.by_seq(db, fts.about_files(db, _names_of(file), project, _MAX_READ)).values():
        if memory.kind in _WEIGHTS and memory.kind not in FINDING_KINDS and is_about(memory, file):
            line = "" if is_stated(memory) else reason_in(memory, names.may_be_in)
            if line or memory.kind != "decision" or is_stated(memory):
                yield memory, line
    rows = fts.of_kinds_naming(db, [*_specific_names(file), *names.symbols], FINDING_KINDS, project, _MAX_READ)
    for memory in memories.by_seq(db, rows).values():
        if not (is_about(memory, file) or names.may_be_in(f"{memory.title}\n{memory.summary}")):
            continue
        line = reason_in(memory, names.may_be_in)
        if line and ((is_about(memory, file) and _is_rare(memory, line, file)) or names.are_in(line)):
            yield memory, line


def _is_rare(memory: Memory, line: str, file: str) -> bool:
    """Return whether a memory is specific to a file: few other files, or a word of the path in the line."""
    if len(memory.files) > _MAX_FILES:
        return False
    path = posixpath.splitext(file)[0].split("/")
    words = {word for part in path if part.lower() not in GENERAL_NAMES for word in query_words(part)}
    return len(memory.files) <= _MAX_OWN_FILES or not words.isdisjoint(tokens_of(line))


class _Names:
    """Names of a file in texts: the path, and the functions and classes that sessions changed in the file."""

    def __init__(self, db: sqlite3.Connection, project: str, file: str) -> None:
        self._db, self._project, self._file = db, project, file
        bare = (name.rpartition(".")[2] for name in symbol_changes.newest_names(db, project, file, _MAX_SYMBOLS))
        specific = (name for name in bare if len(name) >= _MIN_NAME_LENGTH and CODE_NAME.search(name))
        self.symbols = tuple(dict.fromkeys(specific))

    def may_be_in(self, line: str) -> bool:
        """Return whether a line names the file, or a function or class that other files may have too."""
        return self._is_file_in(line) or not set(self.symbols).isdisjoint(NAME.findall(line))

    def are_in(self, line: str) -> bool:
        """Return whether a line names the file, or a function or class of no other file."""
        if self._is_file_in(line):
            return True
        names = [name for name in dict.fromkeys(NAME.findall(line)) if name in self.symbols]
        return any(
            not symbol_changes.is_elsewhere(self._db, self._project, self._file, name) for name in names[:_MAX_CHECKED]
        )

    def _is_file_in(self, line: str) -> bool:
        return any(_is_meant(name, self._file) and not _is_general(name) for name in files_named(line))


def _specific_names(file: str) -> list[str]:
    name = posixpath.basename(file)
    return [file if name.lower() in GENERAL_NAMES else name]


def relative_path(root: str, path: str) -> str:
    """Return a path relative to the root of the checkout; '' for a path outside."""
    if not root or not path or len(path) > _MAX_PATH_LENGTH or "\0" in path:
        return ""
    whole = posixpath.normpath(path if path.startswith("/") else posixpath.join(root, path))
    if inside := _below(root, whole):
        return inside
    # The client may spell folders through a symbolic link; the root is resolved.
    folder, name = posixpath.split(whole)
    return _below(root, posixpath.join(os.path.realpath(folder), name))


def is_about(memory: Memory, file: str) -> bool:
    """Return whether a memory is about a file: names it among few files, or is anchored to code of the file.

    In statements of the user the end of the path is enough, or a folder of the file. Universal memories are about a
    file only by statements of the user."""
    if memory.scope == "universal":
        return is_stated(memory) and any(_is_meant(path, file) and not _is_general(path) for path in memory.files)
    if len(memory.files) <= _MAX_FILES and file in memory.files:
        return True
    anchors = (anchor for text in memory.anchors if (anchor := read_anchor(text)))
    anchored_files = {*(symbol.file for symbol in memory.symbols), *(anchor.file for anchor in anchors)}
    if len(anchored_files) <= _MAX_FILES and file in anchored_files:
        return True
    return is_stated(memory) and any(_is_meant(path, file) for path in memory.files)


def _weight(memory: Memory, request: ContextRequest) -> float:
    """Return the weight of a memory; the trust of its origin keeps a teammate's memory below one's own."""
    days = max((request.now - memory.last_seen_at).total_seconds() / _SECONDS_A_DAY, 0.0)
    recency = 1.0 if is_stated(memory) else 1 / (1 + days / _DAYS_TO_HALF)
    rarity = 1 / math.sqrt(max(len(memory.files), 1))
    return _WEIGHTS[memory.kind] * memory.confidence * memory.trust * recency * rarity


def _below(root: str, path: str) -> str:
    start = root.rstrip("/") + "/"
    return path[len(start) :] if path.startswith(start) else ""


def _names_of(file: str) -> list[str]:
    """Return the names of a file: the path, the name unless common, and the folders."""
    *folders, name = file.split("/")
    specific = [name for name in (*folders, name) if name.lower() not in GENERAL_NAMES]
    paths = ["/".join(folders[: index + 1]) for index in range(len(folders))]
    return list(dict.fromkeys((file, *specific, *paths)))[:_MAX_NAMES]


def _is_meant(written: str, file: str) -> bool:
    """Return whether a path as people write it means a file: by its end, or by a folder."""
    bare = written.removeprefix("./").rstrip("/")
    if not bare or (_is_general(bare) and bare != file):
        return False
    is_folder = written.endswith("/") and f"/{bare}/" in f"/{file}"
    return is_folder or file == bare or file.endswith(f"/{bare}")


def _is_general(written: str) -> bool:
    return written.removeprefix("./").rstrip("/").lower() in GENERAL_NAMES


def reason_in(memory: Memory, is_about: Callable[[str], bool]) -> str:
    """Return the title with the sentence that gives the reason, on one line; '' without a reason.

    Prefers lines accepted by `is_about`, and a stated reason over a fault."""
    lines = [line for line in _lines(memory) if len(line) <= _MAX_LENGTH]
    lines.sort(key=lambda line: (not is_about(line), not _gives_reason(memory, line)))
    return next((line for line in lines if not reads_like_an_order(line)), "")


def _lines(memory: Memory) -> Iterator[str]:
    title = memory.title.rstrip(". ")
    # This title repeats an error message of unknown origin.
    is_error = _ERROR_TITLE.match(title) is not None
    if _gives_reason(memory, title) and not is_error:
        yield title
    for text in sentences(without_request(memory.summary[:_MAX_SUMMARY_READ])):
        sentence = text.rstrip(". ")
        is_reason = _gives_reason(memory, sentence) or (_FAULT.search(sentence) and not _STATUS.search(sentence))
        if is_reason and not _POINTS_AWAY.match(sentence) and not is_talk(sentence):
            is_whole = is_error or opens_with(sentence, title)
            yield sentence if is_whole else f"{title}: {sentence}"
            if is_whole and not is_error:
                return  # the title names the fault; later sentences may be about others


def _gives_reason(memory: Memory, line: str) -> bool:
    is_choice = memory.kind not in FINDING_KINDS
    return _CAUSE.search(line) is not None or (is_choice and _PURPOSE.search(line) is not None)
