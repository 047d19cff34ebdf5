"""Folders of a guarded call: the project, the top folder of the checkout, the branch, and excluded folders.

git is never started. Of the library only C modules are imported, unless the user or the repository excludes folders."""

import posix

import guard_json  # type: ignore[import-not-found]

MAX_PARENTS = 64
MAX_BYTES = 65_536
HEAD_LEAD = "ref: refs/heads/"


def parents(folder: str) -> list[str]:
    """Return a folder and the folders around it, innermost first; none for a relative path."""
    if not folder.startswith("/"):
        return []
    parts = [part for part in folder.split("/") if part]
    return ["/" + "/".join(parts[:end]) for end in range(len(parts), -1, -1)][:MAX_PARENTS]


def root_of(folder: str) -> str:
    """Return the top folder of the checkout around a folder; '' outside of any."""
    for each in parents(folder):
        if posix.access(each.rstrip("/") + "/.git", posix.F_OK):
            return each
    return ""


def git_folder(root: str) -> str:
    """Return the git folder of a checkout; a worktree has a file that names it."""
    named = read_small(root + "/.git")
    if not named.startswith("gitdir:"):
        return root + "/.git"
    folder = named[len("gitdir:") :].strip()
    return folder if folder.startswith("/") else f"{root}/{folder}"


def branch_of(folder: str) -> str:
    """Return the current branch of the checkout around a folder; '' if it has none, or cannot be known."""
    root = root_of(folder)
    head = read_small(git_folder(root) + "/HEAD").strip() if root else ""
    return head[len(HEAD_LEAD) :] if head.startswith(HEAD_LEAD) else ""


def read_small(path: str) -> str:
    """Return the text of a small regular file; '' for any other."""
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        is_file = posix.fstat(fd).st_mode & 0o170000 == 0o100000
        return posix.read(fd, MAX_BYTES).decode("utf-8", "surrogateescape") if is_file else ""
    except OSError:
        return ""
    finally:
        posix.close(fd)


def names_of_roots(roots: bytes) -> dict[str, str]:
    """Return the guarded folders, each with its project's name: a line has a name, tools and a folder."""
    lines = [line.split(" ", 2) for line in roots.decode("utf-8", "surrogateescape").split("\n")]
    return {line[2]: line[0] for line in lines if len(line) == 3}


def project_of_call(roots: bytes, payload: bytes) -> str:
    """Return the name of the guarded project in which a call is made; '' if it is made elsewhere."""
    known = names_of_roots(roots)
    call = guard_json.members(guard_json.parse(payload.decode("utf-8", "replace"))) if known else {}
    folder: str = guard_json.word(call, "cwd")
    if not folder:
        return ""
    for each in folders_around(folder):
        if each in known:
            return known[each]
    return ""


def folders_around(folder: str) -> list[str]:
    """Return a folder and the folders around it, and the main checkout of a worktree."""
    root = root_of(folder)
    return [*parents(folder), git_folder(root).partition("/.git/worktrees/")[0] if root else ""]


def is_elsewhere(roots: bytes, name: str, folder: str) -> bool:
    """Return whether a call is made outside of all folders of a project, as after a change of the folder; False if the
    folders, or that of the call, are not known. Links are resolved."""
    own = {identity(each) for each, of in names_of_roots(roots).items() if of == name} - {None}
    return bool(own and folder) and own.isdisjoint(identity(each) for each in folders_around(folder))


def identity(path: str) -> "tuple[int, int] | None":
    """Return the device and the number of a folder; None if there is none."""
    try:
        found = posix.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def is_excluded(home: bytes, folder: str) -> bool:
    """Return whether the user's configuration or the repository excludes a folder: there no guard holds."""
    root = root_of(folder)
    users = read_small(home.decode("utf-8", "surrogateescape") + "/config.toml")
    repositorys = read_small(root + "/.claude-mem-lite.toml") if root else ""
    if not excludes(users) and not excludes(repositorys):
        return False
    import guard_exclusion  # type: ignore[import-not-found]

    excluded: bool = guard_exclusion.is_excluded(users, repositorys, root, folder)
    return excluded


def excludes(configuration: str) -> bool:
    """Return whether a line of a configuration names the setting, outside of comments."""
    return "exclude" in configuration and any("exclude" in line.partition("#")[0] for line in configuration.split("\n"))
