"""Match of a tool call with the rule of a guard: command, flag, argument, branch, path or import.

Rules hold words and path patterns, never regular expressions, so that no rule can take long. Imports nothing, because
the hook matches before every guarded tool call; `claude_mem_lite.guards` uses it for replays and trials."""

Words = list[str]
Rule = dict[str, list[str]]
Command = tuple[Words, str, str, list[Words], bool]
"""A simple command as `shell_commands.parse` returns it."""

EDIT_TOOLS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
LINKED = "|"
"""Exception for commands whose input or output is another part of the line: `ps | grep node`, `cat > notes <<END`."""
FILTERING = "<"
"""Exception for commands that search or read nothing but what another part of the line gives them: `ps | grep node`,
but not `cat notes | grep x` and not `find | xargs grep x`."""
# Options and commands with which a program only tells about itself.
ASKING = ("--version", "--help", "-h", "-V")
ASKING_ALONE = ("version", "help", "-v", "-version", "-help", "-VV")
# Words and options with which a command changes nothing and runs nothing of the project. A rule that names the program
# leaves them alone; one that names the word itself does not. Programs that look at other machines are not here.
QUERYING = {
    "npm": "view info show v list ls ll la outdated search explain why ping whoami docs repo bugs",
    "pnpm": "view info show list ls ll la outdated search why",
    "yarn": "info list outdated why versions",
    "bun": "outdated info why",
    "pip": "list index show freeze check inspect debug search",
    "uv": "tree",
    "poetry": "show about search check",
    "pipenv": "graph",
    "conda": "list info search",
    "cargo": "tree metadata search info locate-project pkgid --list",
    "go": "env list doc",
    "gem": "list info search outdated environment",
    "bundle": "list show info outdated",
    "composer": "show info search outdated",
    "brew": "list ls info search outdated deps config --prefix",
    "apt": "list search show policy",
    "golangci-lint": "linters formatters",
    "ruff": "rule linter",
    "eslint": "--print-config",
    "prettier": "--find-config-path --file-info --support-info",
    "tsc": "--showConfig --listFilesOnly",
    "gradle": "tasks projects dependencies properties",
    "mvn": "dependency:tree help:effective-pom",
    "dotnet": "list --info --list-sdks --list-runtimes",
    "pytest": "--collect-only --co --fixtures --markers --fixtures-per-test",
    "go test": "-c -list",
    "cargo test": "--list --no-run",
    "cargo nextest": "list",
    "jest": "--listTests --showConfig",
    "vitest": "list",
    "mocha": "--dry-run",
    "rspec": "--dry-run",
}
SEARCHING = ("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack")
READING = ("cat", "bat", "head", "tail", "less", "more")
FILTERS = (*SEARCHING, *READING)
# Options of these with a value; those that give the pattern, so that no word does.
PATTERN_OPTIONS = ("-e", "-f", "--regexp", "--file")
SEARCH_OPTIONS = (*PATTERN_OPTIONS, "-m", "-A", "-B", "-C", "--max-count", "--context", "--color", "--label")
READ_OPTIONS = ("-n", "-c", "--lines", "--bytes")
GIVING_FILES = ("xargs", "parallel")
RUNNING_OTHERS = ("npx", "bunx", "pnpx", "uvx", "sudo", "env", "xargs", "time", "timeout")
# Programs whose long options have one dash, so that letters behind a dash are no options of their own.
LONG_BY_ONE_DASH = (
    "go",
    "find",
    "java",
    "javac",
    "terraform",
    "tofu",
    "ffmpeg",
    "openssl",
    "xcodebuild",
    "gcc",
    "clang",
)
# Commands of git that add commits to the current branch.
COMMITTING = ("commit", "merge", "cherry-pick", "revert", "am", "pull", "rebase")
PUSH_OPTIONS = ("-o", "--push-option", "--repo", "--receive-pack", "--exec")
IMPORT_STARTS = ("import", "from", "use", "using", "require", "require_relative", "#include", "@import", "export")
# Files that hold no source: lines of code in them import nothing.
PROSE_FILES = (".md", ".mdx", ".markdown", ".txt", ".rst", ".adoc", ".json", ".jsonl", ".yaml", ".yml", ".html", ".log")
MODULE_END = frozenset("./:;,'\"` \t)>]}")
# Programs whose options end where the words of a script begin: `python -m pytest -c x`.
INTERPRETERS = ("python", "node", "ruby", "perl", "php", "sh", "bash", "zsh")
# Options of git whose value is a text of the user.
TEXT_OPTIONS = ("-m", "--message", "-F", "--file", "--author", "--date")
MAX_CLUSTER_LENGTH = 6
# Long options that mean a letter with every program that has both.
LONG_OPTIONS = {"--recursive": "r", "--force": "f", "--all": "A", "--in-place": "i"}
FORCING = ("--force", "-f")
# Programs that take a long option by its first letters: `git push --forc`.
ABBREVIATING = ("git", "rm", "cp", "mv", "ln", "chmod", "chown", "grep", "sed", "head", "tail", "tar", "sort")
MIN_ABBREVIATION = len("--for")
# Programs with which `-R` means `-r`.
RECURSIVE = ("rm", "cp", "grep")


class Branches:
    """Name of the current branch of a folder; the hook and the replay each have their own."""

    def current(self, folder: str) -> str:
        """Return the branch, '' if it cannot be known."""
        raise NotImplementedError


def matched_command(rule: Rule, commands: list[Command], branches: Branches) -> Words:
    """Return the words of the first simple command that a rule matches; none if no command does."""
    for command in commands:
        words = command[0]
        leads = [lead for lead in rule.get("commands", ()) if _leads(words, lead)]
        if any(not _only_queries(words, lead) for lead in leads) and not _is_exempt(rule, command):
            if "flags" in rule and not any(_has_flag(words, flag) for flag in rule["flags"]):
                continue
            if "arguments" in rule and not any(_has_argument(words, one) for one in rule["arguments"]):
                continue
            if "branches" in rule and not _is_on(rule["branches"], command, branches):
                continue
            return words
    return []


def matched_edit(rule: Rule, path: str, texts: list[tuple[str, str]], root: str) -> str:
    """Return the module, or else the path, by which a rule matches a file that a tool writes; '' if it does not.

    `texts` are the written texts, each with the text that it replaces; `root` is the top folder of the checkout."""
    if "imports" not in rule:
        return path if matched_path(rule, path, root) else ""
    if "paths" in rule and not matched_path(rule, path, root):
        return ""
    if _matches_any(rule.get("excepts", []), path, root):
        return ""
    return next((module for new, old in texts if (module := matched_import(rule, new, old, path))), "")


def matched_path(rule: Rule, path: str, root: str) -> bool:
    """Return whether the patterns of a rule match a file. Patterns that begin with a slash or a tilde are of the whole
    machine, the others of the checkout."""
    return _matches_any(rule.get("paths", []), path, root) and not _matches_any(rule.get("excepts", []), path, root)


def matched_import(rule: Rule, written: str, replaced: str, path: str = "") -> str:
    """Return the module of a rule that a text imports and the replaced text did not; '' if it imports none, or if the
    file is prose or data."""
    if path.lower().endswith(PROSE_FILES):
        return ""
    for module in rule.get("imports", ()):
        if module in written and _has_import(written, module) and not _has_import(replaced, module):
            return module
    return ""


def written_path(tool_input: dict[str, object]) -> str:
    """Return the file that an edit writes; '' if the input names none."""
    path = tool_input.get("file_path") or tool_input.get("notebook_path")
    return path if isinstance(path, str) else ""


def written_texts(tool_input: dict[str, object]) -> list[tuple[str, str]]:
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
    """Return whether a command begins with a program and words and has the options between, in any order.

    A word that does not belong to the lead may only be the value of an option: `npm --prefix web ci`."""
    wanted = lead.split()
    if not words or not wanted or not _is_program(words[0], wanted.pop(0)):
        return False
    at = 1
    for word in wanted:
        if word == "--":
            if word not in words:
                return False
        elif word.startswith("-"):
            if not _has_flag(words, word):
                return False
        else:
            while at < len(words) and not _matches_glob(word, words[at]):
                is_value = at > 1 and words[at - 1].startswith("-") and "=" not in words[at - 1]
                if not words[at].startswith("-") and not is_value:
                    return False
                at += 1
            if at >= len(words):
                return False
            at += 1
    return True


def _is_exempt(rule: Rule, command: Command) -> bool:
    """Return whether a rule leaves a command alone: by an exception for it or for a wrapper of it, or because the
    program only tells about itself."""
    words, _, _, outer, is_linked = command
    excepts = rule.get("excepts", ())
    if _asks(words) or (is_linked and LINKED in excepts):
        return True
    if is_linked and FILTERING in excepts and _filters(words) and not any(one[0] in GIVING_FILES for one in outer):
        return True
    return any(_leads(one, lead) for lead in excepts for one in (words, *outer))


def _is_program(word: str, program: str) -> bool:
    """Return whether a program is the named one, in any version: `python3.12` is `python`, `npm@8` is `npm`."""
    if not word.startswith(program):
        return False
    rest = word[len(program) :]
    return (
        not rest
        or (rest[0] == "@" and len(rest) > 1)
        or (rest[0].isdigit() and not program[-1].isdigit() and _is_version(rest))
    )


def _is_version(text: str) -> bool:
    return all(c.isdigit() or c == "." for c in text)


def _asks(words: Words) -> bool:
    if len(words) == 2 and words[1] in (*ASKING, *ASKING_ALONE):
        return True
    if words[0] in RUNNING_OTHERS:
        return False  # the question is for another program: `npx jest --help`
    options = _options(words)
    if "--help" in options or options[-1:] == ["--version"]:
        return True
    return options[-1:] in (["-h"], ["-V"]) and all(w in ASKING or not w.startswith("-") for w in options)


def _only_queries(words: Words, lead: str) -> bool:
    """Return whether a command only looks something up, and a lead does not name just that."""
    named = lead.split()
    for key in (named[0], " ".join((named[0], *words[1:2]))):
        for one in QUERYING.get(key, "").split():
            is_given = any(w == one or w.startswith(one + "=") for w in words) if one[0] == "-" else False
            if one not in named and (is_given or (one[0] != "-" and _leads(words, f"{key} {one}"))):
                return True
    return False


def _filters(words: Words) -> bool:
    """Return whether a command that searches or reads is given no file."""
    is_search = words[0] in SEARCHING
    if words[0] not in FILTERS or (is_search and _has_flag(words, "-r")):
        return False
    taking = SEARCH_OPTIONS if is_search else READ_OPTIONS
    operands = [
        word
        for at, word in enumerate(words)
        if at and (not word.startswith("-") or word == "-") and words[at - 1] not in taking
    ]
    has_pattern = is_search and not any(word in PATTERN_OPTIONS for word in words)
    return all(word == "-" for word in operands[1 if has_pattern else 0 :])


def _has_flag(words: Words, flag: str) -> bool:
    """Return whether an option is given: whole, with a value, or by its letters, as `-rf` is by `-fr` or `-r -f`."""
    letters = flag[1:] if flag[:2] != "--" and words[0] not in LONG_BY_ONE_DASH else ""
    given = ""
    for word in _options(words):
        if word == flag or word.startswith(flag + "=") or _abbreviates(words[0], word, flag):
            return True
        if len(letters) == 1 and word.startswith(flag) and not word[2].isalpha():
            return True  # `-i.bak`
        if word[:1] == "-" and word[1:].isalpha() and len(word) <= MAX_CLUSTER_LENGTH:
            given += word[1:]
        elif word[:2] == "--":
            given += LONG_OPTIONS.get(word, "")
            given += "".join(c for long, c in LONG_OPTIONS.items() if _abbreviates(words[0], word, long))
    if words[0] in RECURSIVE:
        given += "r" if "R" in given else ""
    if letters and len(letters) < MAX_CLUSTER_LENGTH and all(letter in given for letter in letters):
        return True
    return flag in FORCING and words[:2] == ["git", "push"] and any(word.startswith("+") for word in words[2:])


def _abbreviates(program: str, word: str, option: str) -> bool:
    """Return whether a word is the first letters of a long option; `--force` is none of `--force-with-lease`."""
    return (
        program in ABBREVIATING
        and MIN_ABBREVIATION <= len(word) < len(option)
        and option.startswith(word)
        and option[len(word)] != "-"
    )


def _options(words: Words) -> Words:
    """Return the words of a command that may be options: no text behind `-m`, nothing behind `--`, and of an
    interpreter nothing behind its script."""
    found: Words = []
    is_git, is_interpreter = words[0] == "git", any(_is_program(words[0], one) for one in INTERPRETERS)
    for at, word in enumerate(words):
        if word == "--":
            break
        before = words[at - 1] if at > 1 else ""
        is_text = before in TEXT_OPTIONS or (before[:1] == "-" and before[1:].isalpha() and before.endswith("m"))
        if at and not (is_git and is_text):
            found.append(word)
        if at and is_interpreter and (word == "-m" or (not word.startswith("-") and before not in ("-X", "-W"))):
            break
    return found


def _has_argument(words: Words, argument: str) -> bool:
    return any(word == argument or _matches_glob(argument, word) for word in words[1:])


def _is_on(names: Words, command: Command, branches: Branches) -> bool:
    """Return whether a command of git commits or pushes to one of some branches."""
    words, folder, switched = command[:3]
    if words[:2] == ["git", "push"]:
        targets = _pushed(words)
        if targets or "--tags" in words:
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


def _matches_any(patterns: Words, path: str, root: str) -> bool:
    if not patterns:
        return False
    names, top = _parts(path), _parts(root)
    is_inside = not path.startswith("/") or (bool(root) and names[: len(top)] == top)
    inside = names[len(top) :] if path.startswith("/") and is_inside else names
    return any(_matches_path(pattern, inside, names, is_inside) for pattern in patterns)


def _matches_path(pattern: str, inside: Words, names: Words, is_inside: bool) -> bool:
    """Return whether a pattern matches a file, as in a `.gitignore`: with a slash inside from the top folder on, else
    at any depth; a folder matches everything below it. `inside` are the file's folders and name from the top folder on,
    `names` from the root of the machine on."""
    wanted = [part for part in pattern.split("/") if part not in ("", ".", "**")]
    if not wanted or (wanted == ["*"]):
        return False
    if pattern.startswith("~"):
        return any(_matches_parts(wanted[1:], names[start:]) for start in (1, 2))
    if pattern.startswith("/"):
        return _matches_parts(wanted, names) or (is_inside and _matches_parts(wanted, inside))
    if not is_inside:
        return False
    is_anchored = len(wanted) > 1 and not pattern.startswith("**")
    starts = range(1) if is_anchored else range(len(inside))
    return any(_matches_parts(wanted, inside[start:]) for start in starts)


def _parts(path: str) -> Words:
    """Return the folders and the name of a path, without `.` and `..`."""
    found: Words = []
    for part in path.split("/"):
        if part == "..":
            del found[-1:]
        elif part not in ("", "."):
            found.append(part)
    return found


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


def _has_import(text: str, module: str) -> bool:
    return any(module in line and _imports(line.strip(), module) for line in text.split("\n"))


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
