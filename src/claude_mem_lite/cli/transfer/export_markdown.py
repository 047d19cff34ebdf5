"""Memories as Markdown for people: grouped by where they hold, then by kind, what guides first and the newest first.

The same memories are always the same text. What waits in quarantine is left out: an agent may read the file.

Any text in Markdown that shows as it is: nothing in it becomes a heading, a link, a picture or HTML."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from claude_mem_lite.cli.output import field as field_of
from claude_mem_lite.cli.output import items, plain
from claude_mem_lite.client.responses import part
from claude_mem_lite.models import GUIDANCE_KINDS, HELP_KINDS, WORK_KINDS, JsonObject
from claude_mem_lite.scopes import called
from claude_mem_lite.text import counted

# What means something within a line, wherever it stands.
_INLINE = re.compile(r"([\\`*_\[\]<>|~&#$!])")
# What means something at the beginning of a line: lists, quotes, rules and the underline of a heading.
_LEADING = re.compile(r"^([-+=:]|\d{1,9}(?=[.)]))")
_SPACES = re.compile(r"^[ \t]+")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
# An address would become a link, also without any marks.
_ADDRESS = re.compile(r"(?i)(https?|ftp|mailto)(:)|(www)(\.)|(@)")
_NO_BREAK = "\u00a0"


def one_line(text: str) -> str:
    """A text as one line."""
    return _escaped(" ".join(_shown(text).split()))


def lines(text: str) -> str:
    """A text with its lines and their indentation, as paragraphs."""
    paragraphs: list[list[str]] = [[]]
    for line in _shown(text).splitlines():
        if line.strip():
            paragraphs[-1].append(_indented(line.rstrip()))
        elif paragraphs[-1]:
            paragraphs.append([])
    return "\n\n".join("\\\n".join(paragraph) for paragraph in paragraphs if paragraph)


def code(text: str) -> str:
    """A name as code, whatever it holds."""
    shown = " ".join(_shown(text).split())
    fence = "`" * (max(map(len, re.findall(r"`+", shown)), default=0) + 1)
    room = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{fence}{room}{shown}{room}{fence}"


def _shown(text: str) -> str:
    return _BIDI.sub("", plain(text))


def _indented(line: str) -> str:
    """Spaces at the beginning would make code of a line, or a part of a list."""
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
    """All that holds in one place."""

    scope: str
    title: str
    kinds: dict[str, list[JsonObject]] = field(default_factory=dict)
    """By kind; what no longer holds under a name of its own."""
    sessions: list[JsonObject] = field(default_factory=list)
    name: str = ""
    """Of its file and its anchors."""

    def count(self) -> int:
        return sum(map(len, self.kinds.values()))

    def parts(self) -> list[tuple[str, str, list[JsonObject]]]:
        """What it consists of, in order: a name, a title and the records."""
        every = [(kind, _TITLES[kind], self.kinds.get(kind, [])) for kind in (*KIND_ORDER, _OVER)]
        return [part for part in (*every, (_SESSIONS, "Sessions", self.sessions)) if part[2]]


def grouped(memories: Sequence[JsonObject], sessions: Sequence[JsonObject], names: Mapping[str, str]) -> list[Group]:
    """Return universal memories, then those of languages, then those of projects; `names` has project names by id."""
    groups: dict[str, Group] = {}
    for memory in memories:
        if field_of(memory, "status") == "quarantined":
            continue
        scope = field_of(memory, "scope")
        group = groups.setdefault(scope, Group(scope, _title(scope, names)))
        kind = field_of(memory, "kind") if field_of(memory, "status") == "active" else _OVER
        group.kinds.setdefault(kind, []).append(memory)
    for session in sessions:
        if _headline(session):
            scope = f"project:{field_of(session, 'project')}"
            groups.setdefault(scope, Group(scope, _title(scope, names))).sessions.append(session)
    for group in groups.values():
        for found in group.kinds.values():
            found.sort(key=lambda one: (field_of(one, "created_at"), field_of(one, "id")), reverse=True)
        group.sessions.sort(key=lambda one: (field_of(one, "last_event_at"), field_of(one, "id")), reverse=True)
    ordered = sorted(groups.values(), key=lambda one: (_rank(one.scope), one.title.lower(), one.scope))
    return _with_names(ordered)


def page(groups: Sequence[Group]) -> Iterator[str]:
    """Everything as one text, piece by piece."""
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
    """The table of contents of a folder of pages; before they are all there it says so."""
    entries = (f"- [{one_line(one.title)}]({one.name}.md) ({_counted(one)})\n" for one in groups)
    unfinished = "" if is_complete else "This export was not finished: write it once more.\n\n"
    return f"{_head(groups)}{unfinished}## Contents\n\n{''.join(entries)}"


def pages_of(text: str) -> set[str] | None:
    """The names of the files that a table of contents leads to, its own among them; None when it is none of ours."""
    return {"index.md", *_PAGE_LINK.findall(text)} if _OUR_HEAD.match(text) else None


def page_of(group: Group) -> Iterator[str]:
    """One place as a text of its own."""
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
            told = _session(record) if name == _SESSIONS else _memory(record, with_kind=name == _OVER)
            yield f"\n{level}# {told}"


def _memory(memory: JsonObject, *, with_kind: bool) -> str:
    parts = [one_line(field_of(memory, "title"))]
    parts += [text for name in ("summary", "detail") if (text := lines(field_of(memory, name)))]
    if facts := items(memory, "facts"):
        parts.append("\n".join(f"- {one_line(str(fact))}" for fact in facts))
    if files := items(memory, "files"):
        parts.append("Files: " + ", ".join(code(str(file)) for file in files))
    status = field_of(memory, "status")
    told = [
        code(field_of(memory, "id")),
        field_of(memory, "created_at")[:10],
        field_of(memory, "kind").replace("_", " ") if with_kind else "",
        status if status != "active" else "",
        "pinned" if memory.get("pinned") is True else "",
        f"origin: {field_of(memory, 'origin')}",
        f"tags: {', '.join(one_line(str(tag)) for tag in tags)}" if (tags := items(memory, "tags")) else "",
    ]
    parts.append(" · ".join(filter(None, told)))
    return "\n\n".join(parts) + "\n"


def _session(session: JsonObject) -> str:
    summary = _summary(session)
    parts = [one_line(_headline(session))]
    for name in _PROSE:
        if (text := lines(field_of(summary, name))) and not (name == "request" and text == parts[0]):
            parts.append(f"{_label(name)}: {text}")
    for name in _LISTS:
        if found := items(summary, name):
            listed = "\n".join(f"- {one_line(str(one))}" for one in found)
            parts.append(f"{_label(name)}:\n\n{listed}")
    if files := items(summary, "files_edited"):
        parts.append("Files: " + ", ".join(code(str(file)) for file in files))
    parts.append(f"{code(field_of(session, 'id'))} · {field_of(session, 'started_at')[:10]}")
    return "\n\n".join(parts) + "\n"


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _summary(session: JsonObject) -> JsonObject:
    return part(session, "summary")


def _headline(session: JsonObject) -> str:
    return field_of(_summary(session), "headline")


def _counted(group: Group) -> str:
    told = [counted(group.count(), "memory", "memories")] if group.count() else []
    told += [counted(len(group.sessions), "session")] if group.sessions else []
    return ", ".join(told)


def _place(scope: str) -> str:
    return scope.removeprefix("project:") if scope.startswith("project:") else _title(scope, {})


def _title(scope: str, names: Mapping[str, str]) -> str:
    if scope.startswith("project:"):
        return called(scope.removeprefix("project:"), names)
    return "Everywhere" if scope == "universal" else f"In {scope.removeprefix('language:')}"


def _rank(scope: str) -> int:
    return 0 if scope == "universal" else 2 if scope.startswith("project:") else 1


def _with_names(groups: Sequence[Group]) -> list[Group]:
    """Names for files and anchors, of plain letters; the second of a name has a number behind it."""
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
