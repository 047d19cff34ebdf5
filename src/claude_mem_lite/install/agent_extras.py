"""What an agent gets besides hooks: the MCP server by which it asks for memories, and the skill that says when.

`install` and `uninstall` call it. What was made is noted in the home, so that exactly that is taken back."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.errors import SettingsChanged, SettingsError
from claude_mem_lite.install import install_record, mcp_registration, settings_files, skill_file
from claude_mem_lite.models import JsonObject, JsonValue, text
from claude_mem_lite.paths import Home

_ALL_THERE = 99
"""More objects than lead to any entry: nothing was made but the entry."""
_NO_PLACE = (
    "There is no file for the MCP servers of one project that is yours alone, so the tools for asking are not there;"
    " `claude-mem-lite install --agent copilot` registers them for all your work."
)
_TO_USE_OURS = "; remove it and install again to use the tools"


@dataclass(frozen=True, slots=True)
class Places:
    """Where both stand for one agent's settings."""

    settings: Path
    server: mcp_registration.Place
    skill: Path
    agent: str = CLAUDE_CODE
    has_server: bool = True
    """False where the agent has no file for servers that is the user's own: then none is registered."""


@dataclass(frozen=True, slots=True)
class _Made:
    """What an install made besides the entry: the file, objects in it, folders, and the skill."""

    file: bool = False
    made_from: int = _ALL_THERE
    folders: tuple[Path, ...] = ()
    skill_sha256: str = ""
    """Of the skill as it was written: one that is still so is ours, also when a later version has another."""


def check(home: Home, where: Places) -> None:
    """SettingsError when a file must not or cannot be touched; asked before anything is."""
    if (
        where.has_server
        and mcp_registration.plan_adding(where.server, mcp_registration.entry(home, where.agent)).after is not None
    ):
        settings_files.check_writable(settings_files.real_path(where.server.path))
    if skill_state(home, where) in ("absent", "other"):
        settings_files.check_writable(where.skill)


def told_before(home: Home, where: Places) -> Iterator[str]:
    """What an install would do, in sentences."""
    if not where.has_server:
        yield _NO_PLACE
    else:
        state = mcp_registration.plan_adding(where.server, mcp_registration.entry(home, where.agent)).state
        if state == "foreign":
            yield _foreign(where.server, _TO_USE_OURS)
        elif state != "current":
            yield f"Would register the MCP server {mcp_registration.SERVER_NAME} in {where.server.told()}."
    skill = skill_state(home, where)
    if skill in ("absent", "other"):
        yield f"Would {'write' if skill == 'absent' else 'update'} the skill {where.skill}."


def server_state(home: Home, where: Places) -> mcp_registration.State:
    """Return the state of our entry among an agent's servers; absent where the agent has no file for one."""
    if not where.has_server:
        return "absent"
    return mcp_registration.plan_adding(where.server, mcp_registration.entry(home, where.agent)).state


def install(home: Home, where: Places) -> Iterator[str]:
    """Register the server and write the skill; what was done, in sentences."""
    known = _load(home, where)
    made = known or _Made()
    if not where.has_server:
        yield _NO_PLACE
    else:
        place, wanted = where.server, mcp_registration.entry(home, where.agent)
        change = _apply(lambda: mcp_registration.plan_adding(place, wanted))
        if change.made_from is not None and known is None:
            made = _Made(change.before is None, change.made_from)
        if change.after is not None:
            _save(home, where, made)  # now: should the skill fail, it is known all the same what was made
        if change.state == "foreign":
            yield _foreign(place, _TO_USE_OURS)
        elif change.after is not None:
            word = "Updated" if change.state == "other" else "Registered"
            yield f"{word} the MCP server {mcp_registration.SERVER_NAME} in {place.told()}."
    skill = skill_file.state_of(where.skill, made.skill_sha256)
    folders = skill_file.add(where.skill, made.skill_sha256)
    written = made.skill_sha256 if skill == "changed" else install_record.sha256(skill_file.content())
    made = replace(made, folders=made.folders or folders, skill_sha256=written)
    if made != (known or _Made()):
        _save(home, where, made)
    if skill in ("absent", "other"):
        yield f"{'Wrote' if skill == 'absent' else 'Updated'} the skill {where.skill}."
    elif skill == "changed":
        yield f"The skill {where.skill} was changed by somebody and was left as it is."


def uninstall(home: Home, where: Places) -> Iterator[str]:
    """Take both back; what was done, in sentences. SettingsError when the server could not be, after all the rest."""
    noted = _load(home, where)
    known, trouble = noted or _Made(), None
    try:
        yield from _unregister(where, known)
    except SettingsError as error:
        # What was never installed into, and does not name us, may be written as it likes.
        trouble = None if noted is None and not mcp_registration.is_named(where.server) else error
    state = skill_file.remove(where.skill, known.folders, known.skill_sha256)
    if state == "changed":
        yield f"The skill {where.skill} was changed by somebody and was left as it is."
    elif state != "absent":
        yield f"Removed the skill {where.skill}."
    if trouble is not None:
        raise trouble
    settings_files.delete(_note(home, where))
    settings_files.remove_empty([home.installs])


def check_removal(home: Home, where: Places) -> None:
    """SettingsError when a file or folder cannot be written; asked before anything is taken out."""
    known = _load(home, where) or _Made()
    if _is_to_go(where, known):
        settings_files.check_writable(settings_files.real_path(where.server.path))
    if skill_state(home, where) in ("current", "other"):
        for path in (where.skill, *known.folders):
            settings_files.check_writable(path)


def told_before_removal(home: Home, where: Places) -> Iterator[str]:
    """What an uninstall would do, in sentences."""
    if _is_to_go(where, _load(home, where) or _Made()):
        yield f"Would take the MCP server {mcp_registration.SERVER_NAME} out of {where.server.told()}."
    if skill_state(home, where) in ("current", "other"):
        yield f"Would remove the skill {where.skill}."


def as_noted(home: Home, where: Places) -> Places:
    """The same with the server where it was registered: of a project that is gone it cannot be found out any more."""
    told = _read_note(home, where)
    path, inside = told.get("server"), told.get("inside")
    if not isinstance(path, str) or not isinstance(inside, list):
        return where
    return replace(where, server=mcp_registration.Place(Path(path), tuple(map(str, inside)), where.agent))


def without_server(home: Home, where: Places, content: bytes) -> bytes:
    """What the settings hold besides our server, where that stands in the same file: it comes after the hooks and goes
    before them."""
    if not where.has_server or settings_files.real_path(where.server.path) != settings_files.real_path(where.settings):
        return content
    made = _load(home, where) or _Made()
    change = mcp_registration.plan_removing_from(where.server, content, made.made_from)
    return content if change.after is None else change.after


def skill_state(home: Home, where: Places) -> skill_file.State:
    """How the skill stands, by what was noted of the one that was written."""
    return skill_file.state_of(where.skill, (_load(home, where) or _Made()).skill_sha256)


def _is_to_go(where: Places, known: _Made) -> bool:
    """Whether the server is to be taken out. A file that cannot be read is told when it comes to it."""
    with suppress(SettingsError):
        return where.has_server and mcp_registration.plan_removing(where.server, known.made_from).after is not None
    return False


def _unregister(where: Places, known: _Made) -> Iterator[str]:
    if not where.has_server:
        return
    place = where.server
    change = _apply(lambda: mcp_registration.plan_removing(place, known.made_from))
    if change.after is not None:
        if known.file and mcp_registration.is_empty(change.after):
            settings_files.delete(settings_files.real_path(place.path))
        added = f", with what was added to it by hand: {', '.join(change.lost)}" if change.lost else ""
        yield f"Took the MCP server {mcp_registration.SERVER_NAME} out of {place.told()}{added}."
    elif change.state == "foreign":
        yield _foreign(place)


def _apply(plan: Callable[[], mcp_registration.Change]) -> mcp_registration.Change:
    change = plan()
    try:
        mcp_registration.apply(change)
    except SettingsChanged:  # by the client, which keeps its notes there
        change = plan()
        mcp_registration.apply(change)
    return change


def _foreign(place: mcp_registration.Place, more: str = "") -> str:
    return f"A server called {mcp_registration.SERVER_NAME} in {place.told()} is not ours and was left alone{more}."


def _note(home: Home, where: Places) -> Path:
    return home.installs / f"{install_record.key(settings_files.real_path(where.settings))}.tools"


def _save(home: Home, where: Places, made: _Made) -> None:
    home.installs.mkdir(mode=0o700, parents=True, exist_ok=True)
    told: JsonObject = {
        "made_file": made.file,
        "made_from": made.made_from,
        "folders_made": [str(folder) for folder in made.folders],
        "skill_sha256": made.skill_sha256,
        "server": str(where.server.path),
        "inside": list(where.server.inside),
    }
    path = _note(home, where)
    settings_files.replace(path, settings_files.read(path), json.dumps(told, indent=2).encode() + b"\n")


def _load(home: Home, where: Places) -> _Made | None:
    """What was noted; None when nothing was, or it cannot be read: then only the entry and the skill of this
    version are taken back."""
    told = _read_note(home, where)
    if not told:
        return None
    depth, folders = told.get("made_from"), told.get("folders_made")
    return _Made(
        told.get("made_file") is True,
        depth if isinstance(depth, int) else _ALL_THERE,
        tuple(Path(str(one)) for one in folders) if isinstance(folders, list) else (),
        text(told.get("skill_sha256")),
    )


def _read_note(home: Home, where: Places) -> JsonObject:
    """The note as it stands; empty when there is none that can be read."""
    content = settings_files.read(_note(home, where))
    try:
        told: JsonValue = json.loads(content) if content else {}
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
