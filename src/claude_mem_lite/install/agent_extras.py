"""Extras of an agent besides hooks: the MCP server for questions to the memory, and the skill that explains its use.

Called by `install` and `uninstall`. A note in the home records the changes, so that exactly these are undone."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Literal

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.errors import SettingsChanged, SettingsError
from claude_mem_lite.install import install_record, mcp_registration, settings_files
from claude_mem_lite.models import JsonObject, JsonValue, text
from claude_mem_lite.paths import Home
from claude_mem_lite.values import frozen

_ALL_EXISTED = 99
"""More objects than lead to any entry: only the entry was made."""
_NO_SERVER_FILE = (
    "There is no file for the MCP servers of one project that is yours alone, so the tools for asking are not there;"
    " `claude-mem-lite install --agent copilot` registers them for all your work."
)
_REMOVE_FOREIGN = "; remove it and install again to use the tools"
FOLDER = "claude-mem-lite"
SkillState = Literal["absent", "current", "other", "changed"]
"""`other` is our skill as written by an install of another version."""


@frozen
class ExtraPaths:
    """Places of server and skill for one agent's settings."""

    settings: Path
    server: mcp_registration.ServerLocation
    skill: Path
    agent: str = CLAUDE_CODE
    has_server: bool = True
    """False if the agent has no file for servers that belongs to the user alone: then no server is registered."""


@frozen
class _Note:
    """Changes of an install besides the entry: the file, objects in it, folders, and the skill."""

    file: bool = False
    existing_depth: int = _ALL_EXISTED
    folders: tuple[Path, ...] = ()
    skill_sha256: str = ""
    """Checksum of the written skill: an unchanged file belongs to this package, even if a later version has another
    skill."""


def check(home: Home, where: ExtraPaths) -> None:
    """Raise SettingsError if a file must not or cannot be changed; called before any change."""
    if (
        where.has_server
        and mcp_registration.plan_adding(where.server, mcp_registration.entry(home, where.agent)).after is not None
    ):
        settings_files.check_writable(settings_files.real_path(where.server.path))
    if skill_state(home, where) in ("absent", "other"):
        settings_files.check_writable(where.skill)


def preview_install(home: Home, where: ExtraPaths) -> Iterator[str]:
    """Yield sentences about the changes that an install would make."""
    if not where.has_server:
        yield _NO_SERVER_FILE
    else:
        state = mcp_registration.plan_adding(where.server, mcp_registration.entry(home, where.agent)).state
        if state == "foreign":
            yield _foreign(where.server, _REMOVE_FOREIGN)
        elif state != "current":
            yield f"Would register the MCP server {mcp_registration.SERVER_NAME} in {where.server.describe()}."
    skill = skill_state(home, where)
    if skill in ("absent", "other"):
        yield f"Would {'write' if skill == 'absent' else 'update'} the skill {where.skill}."


def server_state(home: Home, where: ExtraPaths) -> mcp_registration.State:
    """Return the state of our entry among an agent's servers; absent if the agent has no file for servers."""
    if not where.has_server:
        return "absent"
    return mcp_registration.plan_adding(where.server, mcp_registration.entry(home, where.agent)).state


def install(home: Home, where: ExtraPaths) -> Iterator[str]:
    """Register the server and write the skill; yield sentences about the changes."""
    known = _load(home, where)
    note = known or _Note()
    if not where.has_server:
        yield _NO_SERVER_FILE
    else:
        location, entry = where.server, mcp_registration.entry(home, where.agent)
        planned = mcp_registration.plan_adding(location, entry)
        if planned.existing_depth is not None and known is None:
            note = _Note(planned.before is None, planned.existing_depth)
        if planned.after is not None:
            _save(home, where, note)  # first: whoever is killed after the change has the note to take it back
        change = _apply(lambda: mcp_registration.plan_adding(location, entry))
        if change.state == "foreign":
            yield _foreign(location, _REMOVE_FOREIGN)
        elif change.after is not None:
            word = "Updated" if change.state == "other" else "Registered"
            yield f"{word} the MCP server {mcp_registration.SERVER_NAME} in {location.describe()}."
    skill = skill_file_state(where.skill, note.skill_sha256)
    folders = settings_files.missing_folders(where.skill.parent) if skill == "absent" else ()
    if folders and not note.folders:
        note = replace(note, folders=folders)
        _save(home, where, note)  # first: as above
    add_skill(where.skill, note.skill_sha256)
    written = note.skill_sha256 if skill == "changed" else install_record.sha256(skill_content())
    note = replace(note, skill_sha256=written)
    if note != (known or _Note()):
        _save(home, where, note)
    if skill in ("absent", "other"):
        yield f"{'Wrote' if skill == 'absent' else 'Updated'} the skill {where.skill}."
    elif skill == "changed":
        yield f"The skill {where.skill} was changed since the install, so it stays."


def uninstall(home: Home, where: ExtraPaths) -> Iterator[str]:
    """Remove server and skill; yield sentences about the changes. SettingsError for the server is raised after the
    rest."""
    noted = _load(home, where)
    known, trouble = noted or _Note(), None
    try:
        yield from _unregister(where, known)
    except SettingsError as error:
        # A file that was never installed into, and does not name us, may have any form.
        trouble = None if noted is None and not mcp_registration.is_named(where.server) else error
    state = remove_skill(where.skill, known.folders, known.skill_sha256)
    if state == "changed":
        yield f"The skill {where.skill} was changed since the install, so it stays."
    elif state != "absent":
        yield f"Removed the skill {where.skill}."
    if trouble is not None:
        raise trouble
    settings_files.delete(_note_path(home, where))
    settings_files.remove_empty([home.installs])


def check_removal(home: Home, where: ExtraPaths) -> None:
    """Raise SettingsError if a file or folder cannot be written; called before any removal."""
    known = _load(home, where) or _Note()
    if _is_to_go(where, known):
        settings_files.check_writable(settings_files.real_path(where.server.path))
    if skill_state(home, where) in ("current", "other"):
        for path in (where.skill, *known.folders):
            settings_files.check_writable(path)


def preview_removal(home: Home, where: ExtraPaths) -> Iterator[str]:
    """Yield sentences about the changes that an uninstall would make."""
    if _is_to_go(where, _load(home, where) or _Note()):
        yield f"Would remove the MCP server {mcp_registration.SERVER_NAME} from {where.server.describe()}."
    if skill_state(home, where) in ("current", "other"):
        yield f"Would remove the skill {where.skill}."


def with_noted_server(home: Home, where: ExtraPaths) -> ExtraPaths:
    """Return the places with the server as registered: for a deleted project, the server's place cannot be computed any
    more."""
    content = _read_note(home, where)
    path, inside = content.get("server"), content.get("inside")
    if not isinstance(path, str) or not isinstance(inside, list):
        return where
    return replace(where, server=mcp_registration.ServerLocation(Path(path), tuple(map(str, inside)), where.agent))


def without_server(home: Home, where: ExtraPaths, content: bytes) -> bytes:
    """Return the settings without our server, if both share a file: the server is added after the hooks and removed
    before them."""
    if not where.has_server or settings_files.real_path(where.server.path) != settings_files.real_path(where.settings):
        return content
    note = _load(home, where) or _Note()
    change = mcp_registration.plan_removing_from(where.server, content, note.existing_depth)
    return content if change.after is None else change.after


def skill_state(home: Home, where: ExtraPaths) -> SkillState:
    """Return the state of the skill, by the noted checksum."""
    return skill_file_state(where.skill, (_load(home, where) or _Note()).skill_sha256)


def _is_to_go(where: ExtraPaths, known: _Note) -> bool:
    """Return whether the server is to be removed. An unreadable file is reported by the removal itself."""
    with suppress(SettingsError):
        return where.has_server and mcp_registration.plan_removing(where.server, known.existing_depth).after is not None
    return False


def _unregister(where: ExtraPaths, known: _Note) -> Iterator[str]:
    if not where.has_server:
        return
    location = where.server
    settings_files.remove_unfinished(settings_files.real_path(location.path))
    change = _apply(lambda: mcp_registration.plan_removing(location, known.existing_depth))
    if change.after is not None:
        if known.file and mcp_registration.is_empty(change.after):
            settings_files.delete(settings_files.real_path(location.path))
        added = f", with what was added to it by hand: {', '.join(change.lost)}" if change.lost else ""
        yield f"Removed the MCP server {mcp_registration.SERVER_NAME} from {location.describe()}{added}."
    elif change.state == "foreign":
        yield _foreign(location)


def _apply(plan: Callable[[], mcp_registration.ServerChange]) -> mcp_registration.ServerChange:
    change = plan()
    try:
        mcp_registration.apply(change)
    except SettingsChanged:  # by the client, which keeps its notes in the file
        change = plan()
        mcp_registration.apply(change)
    return change


def _foreign(location: mcp_registration.ServerLocation, more: str = "") -> str:
    return (
        f"A server called {mcp_registration.SERVER_NAME} in {location.describe()} was not added by `install` and was "
        f"left alone{more}."
    )


def _note_path(home: Home, where: ExtraPaths) -> Path:
    return home.installs / f"{install_record.key(settings_files.real_path(where.settings))}.tools"


def _save(home: Home, where: ExtraPaths, note: _Note) -> None:
    home.installs.mkdir(mode=0o700, parents=True, exist_ok=True)
    content: JsonObject = {
        "made_file": note.file,
        "made_from": note.existing_depth,
        "folders_made": [str(folder) for folder in note.folders],
        "skill_sha256": note.skill_sha256,
        "server": str(where.server.path),
        "inside": list(where.server.inside),
    }
    path = _note_path(home, where)
    settings_files.replace(path, settings_files.read(path), json.dumps(content, indent=2).encode() + b"\n")


def _load(home: Home, where: ExtraPaths) -> _Note | None:
    """Return the note; None if missing or unreadable: then only the entry and the skill of this version are removed."""
    content = _read_note(home, where)
    if not content:
        return None
    depth, folders = content.get("made_from"), content.get("folders_made")
    return _Note(
        content.get("made_file") is True,
        depth if isinstance(depth, int) else _ALL_EXISTED,
        tuple(Path(str(folder)) for folder in folders) if isinstance(folders, list) else (),
        text(content.get("skill_sha256")),
    )


def _read_note(home: Home, where: ExtraPaths) -> JsonObject:
    """Return the content of the note; {} if missing or unreadable."""
    content = settings_files.read(_note_path(home, where))
    try:
        note: JsonValue = json.loads(content) if content else {}
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}


def skill_content() -> bytes:
    return resources.files("claude_mem_lite").joinpath("plugin", "skills", FOLDER, "SKILL.md").read_bytes()


def skill_path(settings: Path) -> Path:
    """Return the path of the skill for the agent with these settings."""
    return settings.parent / "skills" / FOLDER / "SKILL.md"


def skill_file_state(path: Path, written_sha256: str) -> SkillState:
    """Return the state of the skill; `written_sha256` is the checksum by the last install, '' if unknown.

    A file that somebody changed belongs to the user, and stays."""
    present = settings_files.read(path)
    if present is None:
        return "absent"
    if present == skill_content():
        return "current"
    return "other" if install_record.sha256(present) == written_sha256 else "changed"


def add_skill(path: Path, written_sha256: str) -> None:
    """Write the skill, unless the user has a skill of their own there."""
    before = settings_files.read(path)
    if skill_file_state(path, written_sha256) not in ("absent", "other"):
        return
    settings_files.make_folders(path.parent)
    settings_files.replace(path if before is None else settings_files.real_path(path), before, skill_content())


def remove_skill(path: Path, folders: Sequence[Path], written_sha256: str) -> SkillState:
    """Remove an unchanged skill with its empty folders; return its former state."""
    before = skill_file_state(path, written_sha256)
    if before in ("current", "other"):
        settings_files.delete(path)
    settings_files.remove_unfinished(path)
    if before != "changed":  # also if already gone: an interrupted uninstall may have left them
        settings_files.remove_empty(folders or ([path.parent] if before != "absent" else []))
    return before
