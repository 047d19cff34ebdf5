"""Identity of the project of a folder, read from git's own files.

git is never started: the configuration of a hostile repository may name programs to run, and the worker has no child
processes. `store.projects` maps the identity to a stored project."""

import os
import re
from pathlib import Path

from claude_mem_lite.code.git.refs import common_folder, find_checkout, folder_identity, read_head
from claude_mem_lite.code.git.safe_files import read_text
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Location
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.scopes import project_name

_NOWHERE = "unknown"
_SCP_REMOTE = lazy(r"^(?P<host>[^:/\s]+):(?!//)(?P<path>.+)$")
_URL_REMOTE = lazy(r"^[a-z][a-z0-9+.-]*://(?P<host>[^/\s]+)/(?P<path>.+)$", re.I)
_USUAL_PORTS = ("", "22", "80", "443")
_MAX_NAME_LENGTH = 250
_SECTION = lazy(r'^\[\s*remote\s+"(?P<name>[^"]+)"\s*\]$', re.I)


def find_location(folder: str) -> Location:
    """Return the location of a folder.

    `project` is the id for a new project: the normalised git remote, else the shared git folder, else the path.
    `store.projects.locate` knows the id assigned earlier. Worktrees and subdirectories of a repository share a project;
    two repositories of the same name are two projects. Any text has a location: a text that is no folder of the machine
    is a project of its own."""
    folder = folder.encode("utf-8", "replace").decode()
    if not os.path.isabs(folder):
        return Location(project=_NOWHERE, name=_NOWHERE, root="")
    try:
        return _locate(Path(os.path.realpath(folder)))
    except (OSError, ValueError):  # too long, or with a NUL: no such folder can exist
        return Location(project=folder.replace("\x00", ""), name=_NOWHERE, root="")


def _locate(folder: Path) -> Location:
    found = find_checkout(folder)
    if found is None:
        return Location(project=str(folder), name=folder.name or "/", root=str(folder), path=str(folder))
    root, git_folder = found
    common = common_folder(git_folder)
    branch, commit = read_head(git_folder, common)
    remote, path = _remote(common), str(common.parent if common.name == ".git" else common)
    project = remote or path
    return Location(project, project_name(project), str(root), branch, commit, path, remote, folder_identity(common))


def normalise_remote(url: str) -> str:
    """Return `host/owner/name` of a remote, equal for ssh and https, without credentials; '' for a local remote."""
    address = re.split(r"[?#]", url.strip(), maxsplit=1)[0]
    match = _URL_REMOTE.match(address) or _SCP_REMOTE.match(address)
    if match is None or address.lower().startswith("file:"):
        return ""
    # A password may contain an @: the host follows the last @.
    host = match["host"].rpartition("@")[2].lower()
    name, _, port = host.partition(":")
    path = match["path"].strip("/").removesuffix(".git").strip("/")
    address_path = f"{name}/{path}" if port in _USUAL_PORTS else f"{host}/{path}"
    return redact(address_path)[:_MAX_NAME_LENGTH] if path and name else ""


def _remote(common: Path) -> str:
    """Return the normalised address of `origin`, else of the first remote with an address."""
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
