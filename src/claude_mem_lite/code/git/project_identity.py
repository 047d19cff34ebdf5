"""A folder -> the marks that its project is known by, read from git's own files. Starts no git: a hostile repository's
configuration may name programs to run, and the worker has no child processes.

`store.projects` turns the marks into the project that is stored under them."""

import os
import re
from pathlib import Path

from claude_mem_lite.code.git.checkout import common_folder, find_checkout, folder_identity, read_head
from claude_mem_lite.code.git.safe_files import read_text
from claude_mem_lite.models import Place
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.scopes import project_name

_NOWHERE = "unknown"
_SCP_REMOTE = re.compile(r"^(?P<host>[^:/\s]+):(?!//)(?P<path>.+)$")
_URL_REMOTE = re.compile(r"^[a-z][a-z0-9+.-]*://(?P<host>[^/\s]+)/(?P<path>.+)$", re.I)
_USUAL_PORTS = ("", "22", "80", "443")
_MAX_NAME_LENGTH = 250
_SECTION = re.compile(r'^\[\s*remote\s+"(?P<name>[^"]+)"\s*\]$', re.I)


def find_place(folder: str) -> Place:
    """The place of a folder. Its `project` is the id that a new project gets there: the normalised git remote, else the
    shared git folder, else the path itself; `store.projects.locate` knows the id that a project was given before.

    Worktrees and subdirectories of one repository are one project; two repositories of one name are two.
    Any text has a place: what is no folder of this machine is a project of its own."""
    folder = folder.encode("utf-8", "replace").decode()
    if not os.path.isabs(folder):
        return Place(project=_NOWHERE, name=_NOWHERE, root="")
    try:
        return _place(Path(os.path.realpath(folder)))
    except (OSError, ValueError):  # too long, or with a NUL: no such folder can exist
        return Place(project=folder.replace("\x00", ""), name=_NOWHERE, root="")


def _place(folder: Path) -> Place:
    found = find_checkout(folder)
    if found is None:
        return Place(project=str(folder), name=folder.name or "/", root=str(folder), path=str(folder))
    root, git_folder = found
    common = common_folder(git_folder)
    branch, commit = read_head(git_folder, common)
    remote, path = _remote(common), str(common.parent if common.name == ".git" else common)
    project = remote or path
    return Place(project, project_name(project), str(root), branch, commit, path, remote, folder_identity(common))


def normalise_remote(url: str) -> str:
    """`host/owner/name` of a remote, in one spelling for ssh and https, without credentials; '' if local."""
    address = re.split(r"[?#]", url.strip(), maxsplit=1)[0]
    match = _URL_REMOTE.match(address) or _SCP_REMOTE.match(address)
    if match is None or address.lower().startswith("file:"):
        return ""
    # A password may hold an @ itself: what comes before the last one is not the host.
    host = match["host"].rpartition("@")[2].lower()
    name, _, port = host.partition(":")
    path = match["path"].strip("/").removesuffix(".git").strip("/")
    place = f"{name}/{path}" if port in _USUAL_PORTS else f"{host}/{path}"
    return redact(place)[:_MAX_NAME_LENGTH] if path and name else ""


def _remote(common: Path) -> str:
    """The normalised address of `origin`, else of the first remote that has one."""
    addresses: dict[str, str] = {}
    name = ""
    for line in read_text(common, "config").splitlines():
        stripped = line.strip()
        if stripped.startswith("["):
            section = _SECTION.match(stripped)
            name = section["name"] if section else ""
        elif name:
            key, _, value = stripped.partition("=")
            if key.strip().lower() == "url" and name not in addresses:
                addresses[name] = normalise_remote(value.strip().strip('"'))
    return addresses.get("origin") or next((address for address in addresses.values() if address), "")
