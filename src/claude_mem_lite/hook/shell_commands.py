"""Simple commands of a shell line: what would run, with wrappers removed, and in which folder.

Nothing is run and nothing is expanded. A word in quotes, a message, a here-document or a path is an argument, never a
command, unless a shell runs it (`sh -c`, `eval`, `$(…)`). Imports nothing, because the hook parses lines before every
guarded tool call; every step reads each character a bounded number of times."""

Words = list[str]

MAX_DEPTH = 8
"""Maximum of scripts within scripts: `sh -c` within `sh -c`, substitutions within substitutions."""
MAX_COMMANDS = 400
UNKNOWN = "\0"
"""Stands in a word for a part that only a running shell knows: a variable, a substitution."""

SHELLS = ("sh", "bash", "zsh", "dash", "ksh", "ash", "fish")
# Words of the shell's grammar before a command.
KEYWORDS = ("if", "then", "elif", "else", "do", "while", "until", "!", "{", "}", "coproc")
# Simple commands that only hold data: `for x in npm`, `case $x in npm`.
HEADERS = ("for", "select", "case", "function", "[[")
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
PLAIN_END = frozenset(" \t\n;&|()<>'\"\\$`#")

# Programs that run the rest of their words: their options that take a value, and the number of words in between.
WRAPPERS = {
    "sudo": ("-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir", 0),
    "doas": ("-u -C", 0),
    "env": ("-u -C --unset --chdir", 0),
    "timeout": ("-s -k --signal --kill-after", 1),
    "gtimeout": ("-s -k --signal --kill-after", 1),
    "nice": ("-n --adjustment", 0),
    "ionice": ("-c -n -p", 0),
    "chrt": ("-p", 1),
    "taskset": ("", 1),
    "stdbuf": ("-i -o -e", 0),
    "time": ("-f -o --format --output", 0),
    "gtime": ("-f -o --format --output", 0),
    "xargs": ("-I -n -P -L -d -a -E -s --max-args --max-procs --replace --delimiter --arg-file", 0),
    "nohup": ("", 0),
    "setsid": ("", 0),
    "exec": ("-a", 0),
    "command": ("", 0),
    "builtin": ("", 0),
    "noglob": ("", 0),
    "chronic": ("", 0),
    "unbuffer": ("", 0),
    "caffeinate": ("-t -w", 0),
    "strace": ("-e -o -p -s -u", 0),
    "watch": ("-n --interval", 0),
    "flock": ("-w -E --timeout", 1),
    "corepack": ("", 0),
    "npx": ("-p --package --prefix -w --workspace", 0),
    "bunx": ("-p --package", 0),
    "pnpx": ("", 0),
    "uvx": ("--from --with -p --python", 0),
    "dotenv": ("-e -f -v", 0),
}
# Wrappers whose second word chooses to run something: `uv run X`, `bundle exec X`.
RUNNERS = {
    "uv run": ("--with --python -p --extra --group --directory --project --env-file --package --index", 0),
    "poetry run": ("-C --directory", 0),
    "pdm run": ("-p --project", 0),
    "rye run": ("", 0),
    "hatch run": ("", 0),
    "pipenv run": ("", 0),
    "pixi run": ("-e --environment", 0),
    "conda run": ("-n -p --name --prefix", 0),
    "mamba run": ("-n -p --name --prefix", 0),
    "micromamba run": ("-n -p --name --prefix", 0),
    "pipx run": ("--spec --python", 0),
    "bundle exec": ("", 0),
    "npm exec": ("-p --package -w --workspace", 0),
    "npm x": ("-p --package -w --workspace", 0),
    "pnpm exec": ("-C --dir --filter -F", 0),
    "pnpm dlx": ("--package", 0),
    "yarn exec": ("", 0),
    "yarn dlx": ("-p --package", 0),
    "bun x": ("-p --package", 0),
    "mise exec": ("", 0),
    "mise x": ("", 0),
    "asdf exec": ("", 0),
    "pyenv exec": ("", 0),
    "rbenv exec": ("", 0),
    "volta run": ("--node --npm --yarn", 0),
    "fnm exec": ("--using", 0),
    "nvm exec": ("", 1),
    "direnv exec": ("", 1),
    "op run": ("--env-file", 0),
    "doppler run": ("-p -c --project --config", 0),
    "dotenvx run": ("-f --env-file", 0),
}
# Options of git before its command that take a value.
GIT_OPTIONS = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix")


Command = tuple[Words, str, str]
"""Words of a simple command, the program's own name first; the folder in which it runs, '' if that cannot be known; and
the branch that the line has switched to before, '' if it has not, UNKNOWN if that cannot be known."""


def parse(line: str, folder: str) -> list[Command]:
    """Return the simple commands of a line that a shell runs in `folder`, each also without its wrappers: `sudo npm ci`
    gives `sudo npm ci` and `npm ci`."""
    return _Line(folder).run(line, 0)


class _Line:
    """Commands found so far, and the folder and branch that they leave."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.branch = ""
        self.found: list[Command] = []

    def run(self, script: str, depth: int) -> list[Command]:
        if depth <= MAX_DEPTH:
            _Reader(self, script, depth).read()
        return self.found

    def add(self, words: Words, depth: int, document: str = "") -> None:
        """Add a simple command and what it runs; `document` is the text on its standard input, if it is in the line."""
        words = _without_prefix(words)
        while words and len(self.found) < MAX_COMMANDS:
            words = [_base_name(words[0]), *words[1:]]
            if words[0] == "git":
                folder, words = _git_words(words, self.folder)
                self.found.append((words, folder, self.branch))
                self._switch(words)
                return
            self.found.append((words, self.folder, self.branch))
            if words[0] in ("cd", "pushd"):
                self._enter(words)
                return
            if words[0] in SHELLS or words[0] in ("eval", "su", "nix-shell", "nix", "script"):
                self._run_script(words, depth, document)
                return
            if words[0] == "find":
                self._run_each(words, depth)
                return
            words = _without_prefix(_inner(words))

    def _enter(self, words: Words) -> None:
        target = next((word for word in words[1:] if not word.startswith("-")), "")
        self.folder = _joined(self.folder, target) if target and UNKNOWN not in target else ""

    def _switch(self, words: Words) -> None:
        if words[1:2] == ["switch"] or words[1:2] == ["checkout"]:
            names = [word for word in words[2:] if not word.startswith("-")]
            is_new = any(word in ("-b", "-B", "-c", "-C", "--orphan") for word in words[2:])
            if names and "--" not in words and (is_new or len(names) == 1):
                self.branch = UNKNOWN if UNKNOWN in names[0] else names[0]

    def _run_script(self, words: Words, depth: int, document: str) -> None:
        """Parse the script that a shell is given: an argument, or its standard input."""
        if words[0] == "eval":
            self.run(" ".join(words[1:]), depth + 1)
            return
        names_script = ("-c", "--command", "--run")
        for at, word in enumerate(words[1:-1], 1):
            is_cluster = words[0] in SHELLS and word[:1] == "-" and word[:2] != "--" and word.endswith("c")
            if word in names_script or is_cluster:
                self.run(words[at + 1], depth + 1) if words[0] != "nix" else self.add(words[at + 1 :], depth + 1)
                return
            if words[0] in SHELLS and not word.startswith("-") and not word.startswith("+"):
                return  # a script in a file
        if document and words[0] in SHELLS:
            self.run(document, depth + 1)

    def _run_each(self, words: Words, depth: int) -> None:
        """Add the commands that `find -exec` runs."""
        for at, word in enumerate(words):
            if word in ("-exec", "-execdir", "-ok", "-okdir"):
                rest = words[at + 1 :]
                end = next((n for n, one in enumerate(rest) if one in (";", "+")), len(rest))
                self.add(rest[:end], depth)


class _Reader:
    """Reader of one script: splits it into words and simple commands."""

    def __init__(self, line: _Line, text: str, depth: int) -> None:
        self.line = line
        self.text = text
        self.depth = depth
        self.at = 0
        self.words: Words = []
        self.parts: list[str] = []
        self.is_word = False
        self.skips_word = False
        self.document = ""
        self.pending: list[tuple[str, bool]] = []
        self.outer: list[tuple[str, str]] = []

    def read(self) -> None:
        text = self.text
        while self.at < len(text):
            c = text[self.at]
            if c not in PLAIN_END:
                start = self.at
                while self.at < len(text) and text[self.at] not in PLAIN_END:
                    self.at += 1
                self._put(text[start : self.at])
            elif c in " \t":
                self.at += 1
                self._end_word()
            elif c == "#" and not self.is_word:
                self.at = self._find("\n", self.at)
            elif c == "\n":
                self.at += 1
                self._end_word()
                self._read_documents()
                self._end_command()
            elif c in ";&|()":
                self._separator(c)
            elif c in "<>":
                self._redirect(c)
            else:
                self._quoted(c)
        self._end_word()
        self._end_command()

    # Words.

    def _put(self, part: str) -> None:
        self.parts.append(part)
        self.is_word = True

    def _end_word(self) -> None:
        if not self.is_word:
            return
        word, self.parts, self.is_word = "".join(self.parts), [], False
        if self.skips_word:
            self.skips_word = False
        else:
            self.words.append(word)

    def _end_command(self) -> None:
        words, document = self.words, self.document
        self.words, self.document, self.skips_word = [], "", False
        if words:
            self.line.add(words, self.depth, document)

    def _find(self, what: str, start: int) -> int:
        found = self.text.find(what, start)
        return len(self.text) if found < 0 else found

    # Quotes and substitutions.

    def _quoted(self, c: str) -> None:
        """Read a quoted part, an escaped character or a substitution at the position."""
        text = self.text
        if c == "'":
            end = self._find("'", self.at + 1)
            self._put(text[self.at + 1 : end])
            self.at = end + 1
        elif c == '"':
            self.at += 1
            self._double_quoted()
        elif c == "\\":
            if text[self.at + 1 : self.at + 2] != "\n":
                self._put(text[self.at + 1 : self.at + 2])
            self.at += 2
        elif c == "`":
            self._backquoted()
        elif c == "$":
            self._dollar(in_quotes=False)
        else:
            self._put(c)
            self.at += 1

    def _double_quoted(self) -> None:
        text = self.text
        self._put("")
        while self.at < len(text):
            c = text[self.at]
            if c == '"':
                self.at += 1
                return
            if c == "\\":
                follows = text[self.at + 1 : self.at + 2]
                self._put(follows if follows in '"\\$`' else "" if follows == "\n" else c + follows)
                self.at += 2
            elif c == "`":
                self._backquoted()
            elif c == "$":
                self._dollar(in_quotes=True)
            else:
                start = self.at
                while self.at < len(text) and text[self.at] not in '"\\`$':
                    self.at += 1
                self._put(text[start : self.at])

    def _backquoted(self) -> None:
        start = self.at + 1
        end = self._find("`", start)
        while end < len(self.text) and self.text[end - 1] == "\\":
            end = self._find("`", end + 1)
        self._put(UNKNOWN)
        self.at = end + 1
        self._run_apart(self.text[start:end].replace("\\`", "`"))

    def _dollar(self, *, in_quotes: bool) -> None:
        text, start = self.text, self.at
        follows = text[start + 1 : start + 2]
        if follows == "(":
            end = _closing(text, start + 1)
            self.at = end + 1
            self._put(UNKNOWN)
            if text[start + 2 : start + 3] != "(":
                self._run_apart(text[start + 2 : end])
        elif follows == "{":
            self.at = _closing(text, start + 1) + 1
            self._put(UNKNOWN)
        elif follows == "'" and not in_quotes:
            end = start + 2
            while end < len(text) and text[end] != "'":
                end += 2 if text[end] == "\\" else 1
            self._put(text[start + 2 : end].replace("\\n", "\n").replace("\\'", "'"))
            self.at = end + 1
        elif follows in LETTERS or (follows and follows in "@*#?$!-"):
            self.at += 2
            while follows in LETTERS and self.at < len(text) and text[self.at] in LETTERS:
                self.at += 1
            self._put(UNKNOWN)
        else:
            self._put("$")
            self.at += 1

    def _run_apart(self, script: str) -> None:
        """Parse a substitution: its commands run, in a folder and on a branch of their own."""
        line = self.line
        folder, branch = line.folder, line.branch
        line.run(script, self.depth + 1)
        line.folder, line.branch = folder, branch

    # Separators, redirections and documents.

    def _separator(self, c: str) -> None:
        text = self.text
        if c == "&" and text[self.at + 1 : self.at + 2] == ">":
            self._end_word()
            self.at += 1
            self._redirect(">")
            return
        self.at += 1
        self._end_word()
        if c == "(" and self.words and not self.words[-1].endswith("="):
            # Behind a word, brackets hold a pattern, an array or the head of a function: no subshell.
            if text[self.at : self.at + 1] == ")":
                self.at += 1
                self.words = []
                return
        elif c == "(" and self.words:
            self.at = _closing(text, self.at - 1) + 1  # an array: NAME=(…)
            return
        self._end_command()
        if c == "(":
            self.outer.append((self.line.folder, self.line.branch))
        elif c == ")" and self.outer:
            self.line.folder, self.line.branch = self.outer.pop()

    def _redirect(self, c: str) -> None:
        text = self.text
        if self.is_word and "".join(self.parts).isdigit():
            self.parts, self.is_word = [], False
        self._end_word()
        if text.startswith("(", self.at + 1):
            end = _closing(text, self.at + 1)
            self._run_apart(text[self.at + 2 : end])
            self._put(UNKNOWN)
            self.at = end + 1
            return
        if text.startswith("<<", self.at) and not text.startswith("<<<", self.at):
            self._begin_document()
            return
        while self.at < len(text) and text[self.at] in "<>&|-":
            self.at += 1
        if c == "<" and text[self.at - 3 : self.at] == "<<<":
            self._read_string()
            return
        self.skips_word = True

    def _read_string(self) -> None:
        """Read `<<< WORD` as a document."""
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        kept, self.words = self.words, []
        while self.at < len(self.text) and self.text[self.at] not in " \t\n;&|()<>":
            c = self.text[self.at]
            if c in PLAIN_END:
                self._quoted(c)
            else:
                self._put(c)
                self.at += 1
        self._end_word()
        self.document, self.words = " ".join(self.words), kept

    def _begin_document(self) -> None:
        text = self.text
        self.at += 2
        strips = text.startswith("-", self.at)
        self.at += 1 if strips else 0
        while self.at < len(text) and text[self.at] in " \t":
            self.at += 1
        start = self.at
        while self.at < len(text) and text[self.at] not in " \t\n;&|()<>":
            self.at += 1
        self.pending.append(("".join(c for c in text[start : self.at] if c not in "'\"\\"), strips))

    def _read_documents(self) -> None:
        """Read the here-documents that began on the line before."""
        for mark, strips in self.pending:
            start = self.at
            while self.at < len(self.text):
                end = self._find("\n", self.at)
                line, begin = self.text[self.at : end], self.at
                self.at = end + 1
                if (line.lstrip("\t") if strips else line).rstrip("\r") == mark:
                    self.document = self.text[start:begin]
                    break
            else:
                self.document = self.text[start:]
        self.pending = []


def _closing(text: str, opening: int) -> int:
    """Return the position of the bracket that closes the one at `opening`; the end of the text if there is none."""
    opens, depth, at = text[opening], 0, opening
    closes = ")" if opens == "(" else "}"
    while at < len(text):
        c = text[at]
        if c == "\\":
            at += 1
        elif c == "'":
            end = text.find("'", at + 1)
            at = len(text) if end < 0 else end
        elif c == '"':
            at += 1
            while at < len(text) and text[at] != '"':
                if text[at] == "\\":
                    at += 1
                elif text.startswith("$(", at):
                    at = _closing(text, at + 1)
                at += 1
        elif c == opens:
            depth += 1
        elif c == closes:
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return len(text)


def _without_prefix(words: Words) -> Words:
    """Return a simple command without the shell's own words and without `NAME=value` before it."""
    at = 0
    while at < len(words) and (words[at] in KEYWORDS or _is_assignment(words[at])):
        at += 1
    return [] if at < len(words) and words[at] in HEADERS else words[at:]


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    name = name.removesuffix("+")
    return bool(equals and name) and not name[0].isdigit() and all(c in LETTERS for c in name)


def _base_name(program: str) -> str:
    return program.rpartition("/")[2] or program


def _inner(words: Words) -> Words:
    """Return the command that a wrapper runs; none if the program is no wrapper, or only looks something up."""
    program = words[0]
    if program.startswith("python") or program == "py":
        return _module(words)
    if program == "command" and any(word in ("-v", "-V") for word in words[1:2]):
        return []
    if program in WRAPPERS:
        options, between = WRAPPERS[program]
        return _behind(words[1:], options.split(), between)
    known = RUNNERS.get(f"{program} {words[1]}") if len(words) > 1 else None
    return _behind(words[2:], known[0].split(), known[1]) if known else []


def _behind(words: Words, options: Words, between: int) -> Words:
    """Return the words behind options, their values, assignments and a number of other words."""
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return words[at + 1 + between :]
        if word == "-c" and "-c" not in options and len(words) > at + 1:
            return ["sh", "-c", words[at + 1]]  # npx -c '…'
        if word.startswith("-") and len(word) > 1:
            at += 2 if word in options else 1
        elif _is_assignment(word):
            at += 1
        elif between:
            between -= 1
            at += 1
        else:
            return words[at:]
    return []


def _module(words: Words) -> Words:
    """Return `pytest -q` for `python -m pytest -q`."""
    for at, word in enumerate(words[1:-1], 1):
        if word == "-m":
            return words[at + 1 :]
        if word in ("-X", "-W"):
            continue
        if not word.startswith("-") and words[at - 1] not in ("-X", "-W"):
            return []
        if word == "-c":
            return []
    return []


def _git_words(words: Words, folder: str) -> tuple[str, Words]:
    """Return the folder in which git works, and its words without options before its command."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-C" and at + 1 < len(words):
            folder = "" if UNKNOWN in words[at + 1] else _joined(folder, words[at + 1])
        elif words[at].startswith(("--git-dir", "--work-tree")):
            folder = ""
        at += 2 if words[at] in GIT_OPTIONS else 1
    return folder, ["git", *words[at:]]


def _joined(folder: str, path: str) -> str:
    """Return a path as seen from a folder, without `.` and `..`; '' if it cannot be known."""
    if path.startswith("~") or (not folder and not path.startswith("/")):
        return ""
    parts: Words = []
    for part in (path if path.startswith("/") else f"{folder}/{path}").split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
