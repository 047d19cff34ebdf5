"""Memories as Markdown for people: by scope, then by kind, guidance first and the newest first.

The same memories always give the same text. Quarantined memories are left out: an agent may read the file. Stored text
is escaped: nothing in it becomes a heading, a link, a picture or HTML."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from claude_mem_lite.authors import received_from
from claude_mem_lite.cli.output import plain
from claude_mem_lite.models import GUIDANCE_KINDS, HELP_KINDS, WORK_KINDS
from claude_mem_lite.responses.memories import StoredMemory
from claude_mem_lite.responses.records import SessionRecord
from claude_mem_lite.scopes import called
from claude_mem_lite.text import counted

# Characters with a meaning anywhere in a line.
_INLINE = re.compile(r"([\\`*_\[\]<>|~&#$!])")
# Characters with a meaning at the beginning of a line: lists, quotes, rules and the underline of a heading.
_LEADING = re.compile(r"^([-+=:]|\d{1,9}(?=[.)]))")
_SPACES = re.compile(r"^[ \t]+")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
# An address becomes a link, even without link syntax.
_ADDRESS = re.compile(r"(?i)(https?|ftp|mailto)(:)|(www)(\.)|(@)")
_NO_BREAK = "\u00a0"


def one_line(text: str) -> str:
    """Return a text as one escaped line."""
    return _escaped(" ".join(_shown(text).split()))


def lines(text: str) -> str:
    """Return a text as escaped paragraphs, with its lines and their indentation."""
    paragraphs: list[list[str]] = [[]]
    for line in _shown(text).splitlines():
        if line.strip():
            paragraphs[-1].append(_indented(line.rstrip()))
        elif paragraphs[-1]:
            paragraphs.append([])
    return "\n\n".join("\\\n".join(paragraph) for paragraph in paragraphs if paragraph)


def code(text: str) -> str:
    """Return a name as code."""
    shown = " ".join(_shown(text).split())
    fence = "`" * (max(map(len, re.findall(r"`+", shown)), default=0) + 1)
    room = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{fence}{room}{shown}{room}{fence}"


def _shown(text: str) -> str:
    return _BIDI.sub("", plain(text))


def _indented(line: str) -> str:
    """Return a line with its indentation as no-break spaces: plain spaces would make the line code or a list item."""
    room = _SPACES.match(line)
    if room is None:
        return _escaped(line)
    return _NO_BREAK * len(room[0].expandtabs(4)) + _escaped(line[room.end() :])


def _escaped(text: str) -> str:
    escaped = _INLINE.sub(r"\\\1", text)
    escaped = _ADDRESS.sub(_broken_up, escaped)
    leading = _LEADING.match(escaped)
    if leading is None:
        return escaped
    if leading[1].isdigit():
        return f"{leading[1]}\\{escaped[leading.end() :]}"
    return f"\\{escaped}"


def _broken_up(found: "re.Match[str]") -> str:
    word, mark = next((word, mark) for word, mark in (found.group(1, 2), found.group(3, 4), ("", found[5])) if mark)
    return f"{word or ''}\\{mark}"


KIND_ORDER = (*GUIDANCE_KINDS, *WORK_KINDS, *HELP_KINDS)
_TITLES = {
    "preference": "Preferences",
    "rule": "Rules",
    "anti_pattern": "Anti-patterns",
    "correction": "Corrections",
    "convention": "Conventions",
    "gotcha": "Gotchas",
    "architecture": "Architecture",
    "pattern": "Patterns",
    "decision": "Decisions",
    "bugfix": "Bug fixes",
    "feature": "Features",
    "refactor": "Refactorings",
    "change": "Changes",
    "discovery": "Discoveries",
    "failure": "Failures",
    "handoff": "Handoffs",
    "goal": "Goals",
    "note": "Notes",
    "project_fact": "Facts of the project",
    "over": "No longer holds",
}
_OVER = "over"
_SESSIONS = "sessions"
_PROSE = ("request", "investigated", "learned", "completed", "notes")
_LISTS = ("key_decisions", "next_steps")
_WRITTEN_BY = "written by `claude-mem-lite export --format markdown`."
_OUR_HEAD = re.compile(rf"# Memories\n\n[\d,]+ memor(?:y|ies), {re.escape(_WRITTEN_BY)}\n")
_PAGE_LINK = re.compile(r"^- \[.*\]\(([a-z0-9-]+\.md)\) \([^()]*\)$", re.MULTILINE)


@dataclass(slots=True)
class Group:
    """Memories of one scope, with the sessions of a project."""

    scope: str
    title: str
    kinds: dict[str, list[StoredMemory]] = field(default_factory=dict)
    """Active memories by kind, and all others under `over`."""
    sessions: list[SessionRecord] = field(default_factory=list)
    name: str = ""
    """Name of the file and the anchors of the group."""

    def count(self) -> int:
        return sum(map(len, self.kinds.values()))

    def parts(self) -> list[tuple[str, str, Sequence[StoredMemory | SessionRecord]]]:
        """Return name, title and records of each part, in order."""
        found: list[tuple[str, str, Sequence[StoredMemory | SessionRecord]]] = [
            (kind, _TITLES[kind], self.kinds[kind]) for kind in (*KIND_ORDER, _OVER) if kind in self.kinds
        ]
        return [*found, (_SESSIONS, "Sessions", self.sessions)] if self.sessions else found


def grouped(
    memories: Sequence[StoredMemory], sessions: Sequence[SessionRecord], names: Mapping[str, str]
) -> list[Group]:
    """Return universal memories, then memories of languages, then of projects; `names` has project names by id."""
    groups: dict[str, Group] = {}
    for memory in memories:
        if memory.status == "quarantined":
            continue
        scope = plain(memory.scope)
        group = groups.setdefault(scope, Group(scope, _title(scope, names)))
        group.kinds.setdefault(memory.kind if memory.status == "active" else _OVER, []).append(memory)
    for session in sessions:
        if session.summary.headline:
            scope = f"project:{plain(session.project)}"
            groups.setdefault(scope, Group(scope, _title(scope, names))).sessions.append(session)
    for group in groups.values():
        for found in group.kinds.values():
            found.sort(key=lambda memory: (memory.created_at, memory.id), reverse=True)
        group.sessions.sort(key=lambda session: (session.last_event_at, session.id), reverse=True)
    ordered = sorted(groups.values(), key=lambda group: (_rank(group.scope), group.title.lower(), group.scope))
    return _with_names(ordered)


def page(groups: Sequence[Group]) -> Iterator[str]:
    """Yield one text with all groups, piece by piece."""
    yield _head(groups)
    yield "## Contents\n\n"
    for group in groups:
        yield f"- [{one_line(group.title)}](#{group.name}) ({_counted(group)})\n"
        for name, title, found in group.parts():
            yield f"  - [{title}](#{group.name}--{name}) ({len(found)})\n"
    for group in groups:
        yield f'\n<a id="{group.name}"></a>\n\n## {one_line(group.title)}\n'
        yield from _body(group, "###", f"{group.name}--")


def index(groups: Sequence[Group], *, is_complete: bool = True) -> str:
    """Return the table of contents of a folder of pages, with a notice while pages are missing."""
    entries = (f"- [{one_line(group.title)}]({group.name}.md) ({_counted(group)})\n" for group in groups)
    unfinished = "" if is_complete else "This export was not finished: write it once more.\n\n"
    return f"{_head(groups)}{unfinished}## Contents\n\n{''.join(entries)}"


def pages_of(text: str) -> set[str] | None:
    """Return the file names in a table of contents, including its own; None if no export wrote the text."""
    return {"index.md", *_PAGE_LINK.findall(text)} if _OUR_HEAD.match(text) else None


def page_of(group: Group) -> Iterator[str]:
    """Yield the page of one group, piece by piece."""
    yield f"# {one_line(group.title)}\n\n{_counted(group).capitalize()}.\n\n## Contents\n\n"
    for name, title, found in group.parts():
        yield f"- [{title}](#{name}) ({len(found)})\n"
    yield from _body(group, "##", "")


def _head(groups: Sequence[Group]) -> str:
    total = counted(sum(group.count() for group in groups), "memory", "memories")
    return f"# Memories\n\n{total}, {_WRITTEN_BY}\n\n"


def _body(group: Group, level: str, prefix: str) -> Iterator[str]:
    place = _place(group.scope)
    if place != group.title:
        yield f"\n{code(place)}\n"
    for name, title, found in group.parts():
        yield f'\n<a id="{prefix}{name}"></a>\n\n{level} {title}\n'
        for record in found:
            is_over = name == _OVER
            body = _memory(record, with_kind=is_over) if isinstance(record, StoredMemory) else _session(record)
            yield f"\n{level}# {body}"


def _memory(memory: StoredMemory, *, with_kind: bool) -> str:
    parts = [one_line(memory.title), *filter(None, (lines(memory.summary), lines(memory.detail)))]
    if memory.facts:
        parts.append(_list(memory.facts))
    if memory.files:
        parts.append(_files(memory.files))
    origin = f"team, {received_from(memory.author)}" if memory.origin == "team" else memory.origin
    details = [
        code(memory.id),
        plain(memory.created_at)[:10],
        plain(memory.kind).replace("_", " ") if with_kind else "",
        plain(memory.status) if memory.status != "active" else "",
        "pinned" if memory.pinned else "",
        f"origin: {one_line(origin)}",
        f"tags: {', '.join(map(one_line, memory.tags))}" if memory.tags else "",
    ]
    parts.append(" · ".join(filter(None, details)))
    return "\n\n".join(parts) + "\n"


def _session(session: SessionRecord) -> str:
    summary = session.summary
    parts = [one_line(summary.headline)]
    for name in _PROSE:
        if (text := lines(getattr(summary, name))) and not (name == "request" and text == parts[0]):
            parts.append(f"{_label(name)}: {text}")
    for name in _LISTS:
        if found := getattr(summary, name):
            parts.append(f"{_label(name)}:\n\n{_list(found)}")
    if summary.files_edited:
        parts.append(_files(summary.files_edited))
    parts.append(f"{code(session.id)} · {plain(session.started_at)[:10]}")
    return "\n\n".join(parts) + "\n"


def _list(texts: Sequence[str]) -> str:
    return "\n".join(f"- {one_line(text)}" for text in texts)


def _files(paths: Sequence[str]) -> str:
    return "Files: " + ", ".join(map(code, paths))


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _counted(group: Group) -> str:
    counts = [counted(group.count(), "memory", "memories")] if group.count() else []
    counts += [counted(len(group.sessions), "session")] if group.sessions else []
    return ", ".join(counts)


def _place(scope: str) -> str:
    return scope.removeprefix("project:") if scope.startswith("project:") else _title(scope, {})


def _title(scope: str, names: Mapping[str, str]) -> str:
    if scope.startswith("project:"):
        return called(scope.removeprefix("project:"), names)
    return "Everywhere" if scope == "universal" else f"In {scope.removeprefix('language:')}"


def _rank(scope: str) -> int:
    return 0 if scope == "universal" else 2 if scope.startswith("project:") else 1


def _with_names(groups: Sequence[Group]) -> list[Group]:
    """Give each group a name for files and anchors, of plain letters; equal names get numbers."""
    used: set[str] = {"index"}
    for group in groups:
        plain = re.sub(r"[^a-z0-9]+", "-", group.title.lower()).strip("-")[:60] or "project"
        name, number = plain, 1
        while name in used:
            number += 1
            name = f"{plain}-{number}"
        used.add(name)
        group.name = name
    return list(groups)
