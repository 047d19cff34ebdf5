"""What an agent gets besides hooks: the MCP server by which it asks for memories, and the skill that says when.

`install` and `uninstall` call it. What was made is noted in the home, so that exactly that is taken back."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.errors import SettingsChanged
from claude_mem_lite.install import files, record, serving, skills
from claude_mem_lite.models import JsonObject, JsonValue
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
    server: serving.Place
    skill: Path
    agent: str = CLAUDE_CODE
    has_server: bool = True
    """False where the agent has no file for servers that is the user's own: then none is registered."""


@dataclass(frozen=True, slots=True)
class _Made:
    """What an install made besides the entry and the skill: the file, objects in it, folders."""

    file: bool = False
    made_from: int = _ALL_THERE
    folders: tuple[Path, ...] = ()


def places(scope: str, config_dir: Path | None, settings: Path, environment: Mapping[str, str]) -> Places:
    return Places(settings, serving.place_of(scope, config_dir, environment), skills.path_beside(settings))


def check(home: Home, where: Places) -> None:
    """SettingsError when a file must not or cannot be touched; asked before anything is."""
    if where.has_server and serving.plan_adding(where.server, serving.entry(home, where.agent)).after is not None:
        files.check_writable(files.real_path(where.server.path))
    if skills.state_of(where.skill) in ("absent", "other"):
        files.check_writable(where.skill)


def told_before(home: Home, where: Places) -> Iterator[str]:
    """What an install would do, in sentences."""
    if not where.has_server:
        yield _NO_PLACE
    else:
        state = serving.plan_adding(where.server, serving.entry(home, where.agent)).state
        if state == "foreign":
            yield _foreign(where.server, _TO_USE_OURS)
        elif state != "current":
            yield f"Would register the MCP server {serving.SERVER_NAME} in {where.server.told()}."
    if skills.state_of(where.skill) == "absent":
        yield f"Would write the skill {where.skill}."


def is_registered(home: Home, where: Places) -> bool:
    """Whether the server of our name is ours, as it should be."""
    entry = serving.entry(home, where.agent)
    return where.has_server and serving.plan_adding(where.server, entry).state == "current"


def install(home: Home, where: Places) -> Iterator[str]:
    """Register the server and write the skill; what was done, in sentences."""
    known = _load(home, where)
    made = known or _Made()
    if not where.has_server:
        yield _NO_PLACE
    else:
        place, wanted = where.server, serving.entry(home, where.agent)
        change = _apply(lambda: serving.plan_adding(place, wanted))
        if change.made_from is not None and known is None:
            made = _Made(change.before is None, change.made_from)
        if change.after is not None:
            _save(home, where, made)  # now: should the skill fail, it is known all the same what was made
        if change.state == "foreign":
            yield _foreign(place, _TO_USE_OURS)
        elif change.after is not None:
            word = "Updated" if change.state == "other" else "Registered"
            yield f"{word} the MCP server {serving.SERVER_NAME} in {place.told()}."
    skill = skills.state_of(where.skill)
    folders = skills.add(where.skill)
    if folders or known:
        _save(home, where, _Made(made.file, made.made_from, made.folders or folders))
    if skill in ("absent", "other"):
        yield f"{'Wrote' if skill == 'absent' else 'Updated'} the skill {where.skill}."
    elif skill == "changed":
        yield f"The skill {where.skill} was changed by somebody and was left as it is."


def uninstall(home: Home, where: Places) -> Iterator[str]:
    """Take both back; what was done, in sentences."""
    known = _load(home, where) or _Made()
    if where.has_server:
        place = where.server
        change = _apply(lambda: serving.plan_removing(place, known.made_from))
        if change.after is not None:
            if known.file and serving.is_empty(change.after):
                files.delete(files.real_path(place.path))
            yield f"Took the MCP server {serving.SERVER_NAME} out of {place.told()}."
        elif change.state == "foreign":
            yield _foreign(place)
    state = skills.remove(where.skill, known.folders)
    if state == "changed":
        yield f"The skill {where.skill} was changed by somebody and was left as it is."
    elif state != "absent":
        yield f"Removed the skill {where.skill}."
    files.delete(_note(home, where))
    files.remove_empty([home.installs])


def _apply(plan: Callable[[], serving.Change]) -> serving.Change:
    change = plan()
    try:
        serving.apply(change)
    except SettingsChanged:  # by the client, which keeps its notes there
        change = plan()
        serving.apply(change)
    return change


def _foreign(place: serving.Place, more: str = "") -> str:
    return f"A server called {serving.SERVER_NAME} in {place.told()} is not ours and was left alone{more}."


def _note(home: Home, where: Places) -> Path:
    return home.installs / f"{record.sha256(bytes(files.real_path(where.settings)))[:16]}.tools"


def _save(home: Home, where: Places, made: _Made) -> None:
    home.installs.mkdir(mode=0o700, parents=True, exist_ok=True)
    told: JsonObject = {
        "made_file": made.file,
        "made_from": made.made_from,
        "folders_made": [str(folder) for folder in made.folders],
    }
    path = _note(home, where)
    files.replace(path, files.read(path), json.dumps(told, indent=2).encode() + b"\n")


def _load(home: Home, where: Places) -> _Made | None:
    """What was noted; None when nothing was, or it cannot be read: then only the entry and the skill are taken back."""
    content = files.read(_note(home, where))
    try:
        told: JsonValue = json.loads(content) if content else None
    except ValueError:
        return None
    if not isinstance(told, dict):
        return None
    depth, folders = told.get("made_from"), told.get("folders_made")
    return _Made(
        told.get("made_file") is True,
        depth if isinstance(depth, int) else _ALL_THERE,
        tuple(Path(str(one)) for one in folders) if isinstance(folders, list) else (),
    )
