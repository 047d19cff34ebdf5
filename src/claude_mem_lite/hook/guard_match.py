"""Match of a tool call with the rule of a guard: command, flag, argument, branch, path or import.

Rules hold words and path patterns, never regular expressions, so that no rule can take long. Imports nothing, because
the hook matches before every guarded tool call; `claude_mem_lite.guards` uses it for replays and trials."""

Words = list[str]
Rule = dict[str, list[str]]
Command = tuple[Words, str, str]
"""A simple command as `shell_commands.parse` returns it."""

UNKNOWN = "\0"
EDIT_TOOLS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
# Words with which a program only tells about itself.
ASKING = ("--version", "--help", "-h", "-V", "version", "help")
# Commands of git that add commits to the current branch.
COMMITTING = ("commit", "merge", "cherry-pick", "revert", "am", "pull", "rebase")
PUSH_OPTIONS = ("-o", "--push-option", "--repo", "--receive-pack", "--exec")
IMPORT_STARTS = ("import", "from", "use", "using", "require", "require_relative", "#include", "@import", "export")
MODULE_END = frozenset("./:;,'\"` \t)>]}")


class Branches:
    """Name of the current branch of a folder; the hook and the replay each have their own."""

    def current(self, folder: str) -> str:
        """Return the branch, '' if it cannot be known."""
        raise NotImplementedError


def matched_command(rule: Rule, commands: list[Command], branches: Branches) -> Words:
    """Return the words of the first simple command that a rule matches; none if no command does."""
    for command in commands:
        words = command[0]
        if not any(_leads(words, lead) for lead in rule.get("commands", ())):
            continue
        if _asks(words) or any(_leads(words, lead) for lead in rule.get("excepts", ())):
            continue
        if "flags" in rule and not any(_has_flag(words, flag) for flag in rule["flags"]):
            continue
        if "arguments" in rule and not any(_has_argument(words, one) for one in rule["arguments"]):
            continue
        if "branches" in rule and not _is_on(rule["branches"], command, branches):
            continue
        return words
    return []


def matched_path(rule: Rule, path: str, root: str) -> bool:
    """Return whether a rule matches a file that a tool writes; `root` is the top folder of the checkout."""
    inside = path[len(root) + 1 :] if root and path.startswith(root + "/") else path.lstrip("/")
    parts = [part for part in inside.split("/") if part not in ("", ".")]
    matches = [one for one in rule.get("paths", ()) if _matches_path(one, parts)]
    return bool(matches) and not any(_matches_path(one, parts) for one in rule.get("excepts", ()))


def matched_import(rule: Rule, written: str, replaced: str) -> str:
    """Return the module of a rule that a text imports and the replaced text did not; '' if it imports none."""
    modules = [one for one in rule.get("imports", ()) if one in written]
    if modules:
        before = set(replaced.split("\n"))
        for line in written.split("\n"):
            if line not in before:
                for module in modules:
                    if module in line and _imports(line.strip(), module):
                        return module
    return ""


def written_path(tool_input: dict) -> str:  # type: ignore[type-arg]
    """Return the file that an edit writes; '' if the input names none."""
    path = tool_input.get("file_path") or tool_input.get("notebook_path")
    return path if isinstance(path, str) else ""


def written_texts(tool_input: dict) -> list[tuple[str, str]]:  # type: ignore[type-arg]
    """Return each text that an edit writes, with the text that it replaces."""
    edits = tool_input.get("edits")
    found = []
    for edit in [tool_input, *(edits if isinstance(edits, list) else [])]:
        if isinstance(edit, dict):
            written = edit.get("content") or edit.get("new_string") or edit.get("new_source")
            replaced = edit.get("old_string")
            if isinstance(written, str):
                found.append((written, replaced if isinstance(replaced, str) else ""))
    return found


# Commands.


def _leads(words: Words, lead: str) -> bool:
    """Return whether a command begins with a program and words, whatever options stand between.

    A word that does not belong to the lead may only be the value of an option: `npm --prefix web ci`."""
    program, *wanted = lead.split()
    if not words or not _is_program(words[0], program):
        return False
    at = 1
    for word in wanted:
        while at < len(words) and words[at] != word:
            is_value = words[at - 1].startswith("-") and at > 1 and "=" not in words[at - 1]
            if not words[at].startswith("-") and not is_value:
                return False
            at += 1
        if at >= len(words):
            return False
        at += 1
    return True


def _is_program(word: str, program: str) -> bool:
    """Return whether a program is the named one, in any version: `python3.12` is `python`, `pip3` is `pip`."""
    return word == program or (word.startswith(program) and _is_version(word[len(program) :]))


def _is_version(text: str) -> bool:
    return text[0].isdigit() and all(c.isdigit() or c == "." for c in text)


def _asks(words: Words) -> bool:
    return len(words) >= 2 and words[-1] in ASKING and all(w in ASKING or not w.startswith("-") for w in words[1:])


def _has_flag(words: Words, flag: str) -> bool:
    """Return whether an option is given: whole, with a value, or as a letter of `-xvf`."""
    for word in words[1:]:
        if word == "--":
            return False
        if word == flag or word.startswith(flag + "="):
            return True
        is_cluster = len(flag) == 2 and flag[0] == "-" and word[:1] == "-" and word[1:2].isalpha()
        if is_cluster and flag[1] in word[1:] and word[1:].isalpha():
            return True
    return False


def _has_argument(words: Words, argument: str) -> bool:
    return any(word == argument or _matches_glob(argument, word) for word in words[1:])


def _is_on(names: Words, command: Command, branches: Branches) -> bool:
    """Return whether a command of git commits or pushes to one of some branches."""
    words, folder, switched = command
    if words[:2] == ["git", "push"]:
        targets = _pushed(words)
        if targets:
            return any(target in names for target in targets)
    elif words[0] != "git" or words[1:2] == [] or words[1] not in COMMITTING:
        return False
    current = switched or (branches.current(folder) if folder else "")
    return current in names


def _pushed(words: Words) -> Words:
    """Return the branches that a push names: `origin main`, `origin HEAD:main`, `origin +main`."""
    named: Words = []
    at = 2
    while at < len(words):
        if words[at].startswith("-"):
            at += 2 if words[at] in PUSH_OPTIONS else 1
            continue
        named.append(words[at])
        at += 1
    targets = [one.rpartition(":")[2].lstrip("+").removeprefix("refs/heads/") for one in named[1:]]
    return [target for target in targets if target not in ("HEAD", "@")]


# Paths.


def _matches_path(pattern: str, parts: Words) -> bool:
    """Return whether a pattern matches a file, as in a `.gitignore`: with a slash inside from the top folder on, else at
    any depth; a folder matches everything below it."""
    wanted = [part for part in pattern.strip("/").split("/") if part not in ("", ".")]
    is_anchored = pattern.startswith("/") or len(wanted) > 1
    if not wanted:
        return False
    starts = range(1) if is_anchored and wanted[0] != "**" else range(len(parts))
    return any(_matches_parts([one for one in wanted if one != "**"], parts[start:]) for start in starts)


def _matches_parts(wanted: Words, parts: Words) -> bool:
    return len(wanted) <= len(parts) and all(_matches_glob(one, part) for one, part in zip(wanted, parts, strict=False))


def _matches_glob(pattern: str, name: str) -> bool:
    """Return whether a pattern with `*` matches a whole name, in time linear in both."""
    if "*" not in pattern:
        return pattern == name
    first, *middle, last = pattern.split("*")
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for part in middle:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


# Imports.


def _imports(line: str, module: str) -> bool:
    """Return whether a line of source imports a module, or a part of it."""
    start = line.split(" ", 1)[0].split("(", 1)[0].split('"', 1)[0].split("'", 1)[0].split("<", 1)[0]
    is_import = start in IMPORT_STARTS or "require(" in line or "import(" in line or " from " in line
    if not is_import and not (line.startswith('"') and line.endswith('"')):  # a line of Go's import block
        return False
    if start in ("import", "from", "use", "using") and "'" not in line and '"' not in line:
        return any(_is_module(word, module) for word in line[len(start) :].replace(",", " ").split()[:20])
    return any(f"{quote}{module}{end}" in line for quote in "'\"`<" for end in "'\"`>/")


def _is_module(word: str, module: str) -> bool:
    return word.startswith(module) and (len(word) == len(module) or word[len(module)] in MODULE_END)
