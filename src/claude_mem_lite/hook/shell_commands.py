"""Simple commands of a shell line: what would run, with wrappers removed, and in which folder.

Nothing is run and nothing is expanded. A word in quotes, a message, a here-document or a path is an argument, never a
command, unless a shell runs it (`sh -c`, `eval`, `$(…)`). Imports nothing and stays one module: the hook's copy and
the package would import a second module by different names. Every step reads each character a bounded number of
times."""

Words = list[str]
Command = tuple[Words, str, str, list[Words], bool]
"""Words of a simple command, the program's own name first; the folder in which it runs, '' if that cannot be known; the
branch that the line has switched to before, '' if it has not, UNKNOWN if that cannot be known; the wrappers that run
it, outermost first; and whether another part of the line gives its input or takes its output."""

MAX_LENGTH = 200_000
"""Maximum of characters of a line that are read."""
MAX_DEPTH = 8
"""Maximum of scripts within scripts: `sh -c` within `sh -c`, substitutions within substitutions."""
MAX_COMMANDS = 400
MAX_WRAPPERS = 16
MAX_ARITHMETIC = 200
"""Maximum of characters in `((…))`."""
UNKNOWN = "\0"
"""Stands in a word for a part that only a running shell knows: a variable, a substitution."""

SHELLS = ("sh", "bash", "zsh", "dash", "ksh", "ash", "fish")
# Programs that are given a script as the value of an option, and these options.
SCRIPT_OPTIONS = {
    "su": ("-c", "--command"),
    "runuser": ("-c", "--command"),
    "script": ("-c", "--command"),
    "nix-shell": ("--run", "--command"),
    "npx": ("-c", "--call"),
    "flock": ("-c", "--command"),
    "env": ("-S", "--split-string"),
    "pwsh": ("-c", "-Command", "-command"),
    "powershell": ("-c", "-Command", "-command"),
    "nodemon": ("-x", "--exec"),
}
# Programs that run those of their words that hold a space.
SCRIPT_RUNNERS = ("tmux", "screen", "concurrently", "hyperfine")
# Options of shells that take a value.
SHELL_OPTIONS = ("--rcfile", "--init-file", "-O", "+O")
# Words of the shell's grammar before a command.
KEYWORDS = ("if", "then", "elif", "else", "do", "while", "until", "!", "{", "}", "coproc")
MAX_KEYWORD = max(map(len, KEYWORDS))
# Simple commands that only hold data: `for x in npm`, `case $x in npm`.
HEADERS = ("for", "select", "case", "[[")
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
CLOSING = {"(": ")", "{": "}"}
PLAIN_END = frozenset(" \t\n;&|()<>'\"\\$`#")

# Programs that run what stands behind one of these words.
DEBUGGERS = ("gdb", "rust-gdb", "lldb", "rust-lldb", "dlv")
DEBUGGED = ("--args", "-args", "--")
BEHIND_DASHES = -1
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
    "chroot": ("--userspec --groups", 1),
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
    "flock": ("-w -E --timeout --wait", 1),
    "corepack": ("", 0),
    "npx": ("-p --package --prefix -w --workspace", 0),
    "bunx": ("-p --package", 0),
    "pnpx": ("", 0),
    "uvx": ("--from --with -p --python", 0),
    "dotenv": ("-e -f -v", 0),
    "env-cmd": ("-f -e -r", 0),
    "cross-env": ("", 0),
    "parallel": ("-j --jobs -a --arg-file -I", 0),
    "entr": ("", 0),
    "valgrind": ("", 0),
    "xvfb-run": ("-n -s -e -f -p -w", 0),
    "fakeroot": ("", 0),
    "eatmydata": ("", 0),
    "busybox": ("", 0),
    "systemd-run": ("-p -u --property --unit", 0),
    "systemd-inhibit": ("", 0),
    "rlwrap": ("", 0),
    "wine": ("", 0),
    "arch": ("", 0),
    "unshare": ("", 0),
    "prlimit": ("", 0),
    "firejail": ("", 0),
    "dbus-run-session": ("", 0),
    "proxychains": ("-f", 0),
    "proxychains4": ("-f", 0),
    "torsocks": ("", 0),
    "ltrace": ("-e -o -p -s -u", 0),
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
    "mise exec": ("", BEHIND_DASHES),
    "mise x": ("", BEHIND_DASHES),
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
    "rtk proxy": ("", 0),
    "nix develop": ("", 0),
    "nix shell": ("", 0),
    "cmd /c": ("", 0),
    "cmd /C": ("", 0),
}
# Package managers that run a program of the project by its name: `yarn jest`.
PACKAGE_RUNNERS = {
    "yarn": "--cwd",
    "pnpm": "-C --dir --filter -F",
    "bun": "--cwd --filter",
}
# Options of git before its command that take a value.
GIT_OPTIONS = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix")


def parse(line: str, folder: str) -> list[Command]:
    """Return the simple commands of a line that a shell runs in `folder`, each also without its wrappers: `sudo npm ci`
    gives `sudo npm ci` and `npm ci`."""
    found = _Line(folder)
    found.run(line[:MAX_LENGTH], 0)
    return found.commands


class _Line:
    """Commands found so far, and the folder and branch that they leave."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.branch = ""
        self.commands: list[Command] = []

    @property
    def is_full(self) -> bool:
        return len(self.commands) >= MAX_COMMANDS

    def run(self, script: str, depth: int, *, is_linked: bool = False) -> None:
        if depth <= MAX_DEPTH and not self.is_full:
            _ScriptReader(self, script, depth, is_linked).read()

    def add(self, words: Words, depth: int, document: str = "", *, is_linked: bool = False) -> None:
        """Add a simple command and what it runs; `document` is the text on its standard input, if it is in the line."""
        words = _without_prefix(words)
        outer: list[Words] = []
        while words and not self.is_full and len(outer) <= MAX_WRAPPERS:
            if " " in words[0].strip() or "\n" in words[0]:
                self.run(words[0], depth + 1)  # `watch 'npm test'`
                return
            folder, words = _own_words(words, self.folder)
            self.commands.append((words, folder, self.branch, outer, is_linked))
            if self._changes_place(words) or self._runs_script(words, depth, document):
                return
            outer = [*outer, words]
            words = _without_prefix(_inner(words))

    def _changes_place(self, words: Words) -> bool:
        """Follow `cd` and `git switch`; return whether a command is one that runs no other."""
        if words[0] in ("cd", "pushd"):
            target = next((word for word in words[1:] if not word.startswith("-")), "")
            self.folder = _joined(self.folder, target) if target and UNKNOWN not in target else ""
        elif words[0] == "popd":
            self.folder = ""
        elif words[:2] in (["git", "switch"], ["git", "checkout"]):
            self._switch(words)
        return words[0] in ("cd", "pushd", "popd", "git")

    def _switch(self, words: Words) -> None:
        names = [word for word in words[2:] if not word.startswith("-") or word == "-"]
        is_new = any(word in ("-b", "-B", "-c", "-C", "--orphan") for word in words[2:])
        is_file = words[1] == "checkout" and not is_new and bool(names) and _is_file_name(names[0])
        if names and not is_file and "--" not in words and (is_new or len(names) == 1):
            self.branch = UNKNOWN if UNKNOWN in names[0] or names[0] == "-" else names[0]

    def _runs_script(self, words: Words, depth: int, document: str) -> bool:
        """Parse the scripts that a command is given: as arguments, or on its standard input. Return whether the command
        runs nothing else."""
        program = words[0]
        if program == "eval":
            self.run(" ".join(words[1:]), depth + 1)
        elif program == "trap" and len(words) > 2:
            self.run(words[1], depth + 1)
        elif program in SHELLS:
            script, is_script = _script_of_shell(words)
            if is_script:
                self.run(script, depth + 1)
            elif document:
                self.run(document, depth + 1)
        elif program in SCRIPT_RUNNERS:
            for word in words[1:]:
                if " " in word.strip():
                    self.run(word, depth + 1)
        elif program == "find":
            self._run_each(words, depth)
        elif script := _option_value(words, SCRIPT_OPTIONS.get(program, ())):
            self.run(script, depth + 1)
        else:
            return program == "su"
        return True

    def _run_each(self, words: Words, depth: int) -> None:
        """Add the commands that `find -exec` runs."""
        at = 1
        while at < len(words) and depth <= MAX_DEPTH and not self.is_full:
            at += 1
            if words[at - 1] in ("-exec", "-execdir", "-ok", "-okdir"):
                start = at
                while at < len(words) and words[at] not in (";", "+"):
                    at += 1
                self.add(words[start:at], depth + 1)


class _ScriptReader:
    """Reader of one script: splits it into words and simple commands."""

    def __init__(self, line: _Line, text: str, depth: int, is_linked: bool) -> None:
        self.line = line
        self.text = text
        self.depth = depth
        self.is_inside = is_linked
        """True if the output of the whole script is a part of the line."""
        self.at = 0
        self.words: Words = []
        self.parts: Words = []
        self.is_word = False
        self.redirect = ""
        self.is_linked = is_linked
        self.document = ""
        self.is_test = False
        self.is_pattern = False
        """True between `case … in` or `;;` and the bracket behind the pattern."""
        self.documents = _Documents(text)
        # Brackets and `case` that are open: the folder and branch before a bracket, None for a `case`.
        self.outer: list[tuple[str, str] | None] = []

    def read(self) -> None:
        text = self.text
        while self.at < len(text) and not self.line.is_full:
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
                self._end_word()
                self._end_command()
                self.at = self.documents.behind(self.at)
            elif c in ";&|()<>" and self.is_test:
                self._put(c)
                self.at += 1
            elif c in ";&|()":
                self._separator(c)
            elif c in "<>":
                self._redirect()
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
        if self.redirect:
            if ">" in self.redirect and word != "/dev/null":
                self.is_linked = True
            self.redirect = ""
            return
        self.words.append(word)
        if word == "[[" and len(_without_keywords(self.words)) == 1:
            self.is_test = True
        elif word == "]]":
            self.is_test = False

    def _end_command(self, *, into_pipe: bool = False) -> None:
        words, document, is_linked = self.words, self.document, self.is_linked
        self.words, self.document, self.redirect, self.is_test = [], "", "", False
        reads_file = len(words) > 1 and words[0] == "cat" and not is_linked  # `cat notes | grep x` reads the file
        self.is_linked = self.is_inside or (into_pipe and not reads_file)
        if not words:
            return
        if words[0] == "esac" and None in self.outer:
            while self.outer.pop() is not None:
                pass
            self.is_pattern = False
        elif self.is_pattern:
            return
        elif _without_keywords(words)[:1] == ["case"]:
            self.outer.append(None)
            self.is_pattern = True
        if into_pipe:
            self.document = document if words[0] in ("cat", "tee") else _printed(words)
        self.line.add(words, self.depth, document, is_linked=is_linked)

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

    def _double_quoted(self, closing: str = '"', *, has_quotes: bool = False) -> None:
        text, ends = self.text, f"{closing}\\`$" + ("'" if has_quotes else "")
        self._put("")
        while self.at < len(text):
            c = text[self.at]
            if c == closing:
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
            elif c == "'" and has_quotes:
                self._quoted(c)
            else:
                start = self.at
                while self.at < len(text) and text[self.at] not in ends:
                    self.at += 1
                self._put(text[start : self.at])

    def _backquoted(self) -> None:
        start = self.at + 1
        end = _closing_backquote(self.text, start)
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
            is_number = text[start + 2 : start + 3] == "(" and _closing(text, start + 2) == end - 1
            if not is_number:
                self._run_apart(text[start + 2 : end])
        elif follows == "{":
            end = _closing(text, start + 1, in_quotes=in_quotes)
            self.at = end + 1
            self._put(UNKNOWN)
            self._run_substitutions(text[start + 2 : end], has_quotes=not in_quotes)
        elif follows == "'" and not in_quotes:
            end = start + 2
            while end < len(text) and text[end] != "'":
                end += 2 if text[end] == "\\" else 1
            self._put(text[start + 2 : end].replace("\\n", "\n").replace("\\'", "'"))
            self.at = end + 1
        elif follows and (follows in LETTERS or follows in "@*#?$!-"):
            self.at += 2
            while follows in LETTERS and self.at < len(text) and text[self.at] in LETTERS:
                self.at += 1
            self._put(UNKNOWN)
        elif follows == '"' and not in_quotes:
            self.at += 1  # $"…" is a translated string
        else:
            self._put("$")
            self.at += 1

    def _run_apart(self, script: str) -> None:
        """Parse a substitution: its commands run, in a folder and on a branch of their own."""
        line = self.line
        folder, branch = line.folder, line.branch
        line.run(script, self.depth + 1, is_linked=True)
        line.folder, line.branch = folder, branch

    def _run_substitutions(self, text: str, *, has_quotes: bool) -> None:
        """Parse the substitutions in a document or in `${…}`; with quotes, those between `'` are plain text."""
        if self.depth >= MAX_DEPTH or ("$(" not in text and "`" not in text):
            return
        _ScriptReader(self.line, text, self.depth + 1, True)._double_quoted("", has_quotes=has_quotes)

    # Separators, redirections and documents.

    def _separator(self, c: str) -> None:
        text = self.text
        if c == "&" and text[self.at + 1 : self.at + 2] == ">":
            self._end_word()
            self.at += 1
            self._redirect()
            return
        self.at += 1
        self._end_word()
        if c == "(":
            self._open_bracket()
        elif c == ")":
            self._close_bracket()
        elif c == "|":
            is_list = text[self.at : self.at + 1] == "|"
            self.at += 1 if is_list or text[self.at : self.at + 1] == "&" else 0
            self._end_command(into_pipe=not is_list)
        else:
            self._end_command()
            if c == ";" and text.startswith(";", self.at) and self.outer and self.outer[-1] is None:
                self.is_pattern = True

    def _open_bracket(self) -> None:
        text = self.text
        if self.words and self.words[-1].endswith("="):
            self.at = _closing(text, self.at - 1) + 1  # an array: NAME=(…)
        elif self.words and text[self.at : self.at + 1] == ")":
            self.at += 1
            self.words = []  # the head of a function
        elif (end := _behind_arithmetic(text, self.at - 1)) > 0:
            self.at = end
        elif not self.is_pattern:
            self._end_command()
            self.outer.append((self.line.folder, self.line.branch))

    def _close_bracket(self) -> None:
        self._end_command()
        if self.is_pattern:
            self.is_pattern = False
        elif self.outer and self.outer[-1] is not None:
            self.line.folder, self.line.branch = self.outer.pop() or ("", "")

    def _redirect(self) -> None:
        text = self.text
        is_error = False
        if self.is_word and "".join(self.parts).isdigit():
            is_error = self.parts != ["1"]
            self.parts, self.is_word = [], False
        self._end_word()
        if text.startswith("(", self.at + 1):
            end = _closing(text, self.at + 1)
            self._run_apart(text[self.at + 2 : end])
            self._put(UNKNOWN)
            self.at = end + 1
        elif text.startswith("<<<", self.at):
            self.at += 3
            self._read_string()
        elif text.startswith("<<", self.at) and (document := self.documents.read(self.at)) is not None:
            self.at, self.document, is_quoted = document
            self.is_linked = True
            if not is_quoted:
                self._run_substitutions(self.document, has_quotes=False)
        else:
            start = self.at
            while self.at < len(text) and text[self.at] in "<>&|-":
                self.at += 1
            is_copy = "&" in text[start : self.at] and text[self.at : self.at + 1].isdigit()
            self.redirect = "&" if is_error or is_copy else text[start : self.at]

    def _read_string(self) -> None:
        """Read `<<< WORD` as a document."""
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        while self.at < len(self.text) and self.text[self.at] not in " \t\n;&|()<>":
            c = self.text[self.at]
            if c in PLAIN_END:
                self._quoted(c)
            else:
                self._put(c)
                self.at += 1
        self.document, self.parts, self.is_word, self.is_linked = "".join(self.parts), [], False, True


class _Documents:
    """Here-documents of a text: they begin on the line after the one that names them, one behind the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line_end = -1
        self.end = -1
        """Position behind the documents of the current line."""

    def read(self, at: int) -> tuple[int, str, bool] | None:
        """Return the position behind `<<MARK`, the document, and whether the mark is quoted, so that the shell puts
        nothing into the document; None if the mark is a number, as in `1 << 2`."""
        text = self.text
        at += 2
        strips = text.startswith("-", at)
        at += 1 if strips else 0
        while at < len(text) and text[at] in " \t":
            at += 1
        start = at
        if text[at : at + 1] in ("'", '"'):
            closing = text.find(text[at], at + 1)
            at = len(text) if closing < 0 else closing + 1
        while at < len(text) and text[at] not in " \t\n;&|()<>":
            at += 1
        mark = "".join(c for c in text[start:at] if c not in "'\"\\")
        is_quoted = len(mark) < at - start
        if (not mark and not is_quoted) or mark.isdigit() or "\n" in mark:
            return None
        return at, self._body(at, mark, strips), is_quoted

    def _body(self, at: int, mark: str, strips: bool) -> str:
        text = self.text
        if at > self.line_end:
            found = text.find("\n", at)
            self.line_end = len(text) if found < 0 else found
        start = begin = max(self.end, self.line_end + 1)
        while begin < len(text):
            found = text.find("\n", begin)
            end = len(text) if found < 0 else found
            line = text[begin:end].rstrip("\r")
            if (line.lstrip("\t") if strips else line) == mark:
                self.end = end + 1
                return text[start:begin]
            begin = end + 1
        self.end = len(text)
        return text[start:]

    def behind(self, newline: int) -> int:
        """Return the position to go on from after a line break: behind the documents of the line."""
        return max(newline + 1, self.end)


def _closing(text: str, opening: int, *, in_quotes: bool = False) -> int:
    """Return the position of the bracket that closes the one at `opening`; the end of the text if there is none. A `'`
    between the brackets of `"${…}"` is a plain character."""
    outside = ['"'] if in_quotes else []
    stack, at = [*outside, text[opening]], opening + 1
    is_script = text[opening] == "(" and not _behind_arithmetic(text, opening)  # not `${…}` and not `$((…))`
    documents = _Documents(text) if is_script else None
    while at < len(text):
        c, top = text[at], stack[-1]
        if c == "\\":
            at += 1
        elif c == "$" and text[at + 1 : at + 2] in ("(", "{"):
            at += 1
            stack.append(text[at])
        elif c == "`":
            at = _closing_backquote(text, at + 1)
        elif top == '"':
            if c == '"':
                stack.pop()
        elif c == "'" and (top != "{" or stack[-2:-1] != ['"']):
            end = text.find("'", at + 1)
            at = len(text) if end < 0 else end
        elif c in ('"', top) or (c == "(" and top == "case"):
            stack.append(c)
        elif c == "c" and top != "{" and _begins_command(text, at, "case"):
            stack.append("case")  # the brackets of its patterns close nothing
        elif c == "e" and top == "case" and _begins_command(text, at, "esac"):
            stack.pop()
        elif c == CLOSING.get(top):
            stack.pop()
            if len(stack) == len(outside):
                return at
        elif top != "{" and documents:
            at = _behind_text(text, at, documents) - 1
        at += 1
    return len(text)


def _behind_arithmetic(text: str, opening: int) -> int:
    """Return the position behind the `((…))` that begins at a position; 0 if its brackets hold commands. Words of a
    command stand side by side, those of a calculation have operators between them."""
    if not text.startswith("((", opening):
        return 0
    depth, before = 0, ""
    for at in range(opening, min(len(text), opening + MAX_ARITHMETIC)):
        c = text[at]
        if c in "\n'\"`" or (c in LETTERS and before in LETTERS and text[at - 1] == " "):
            return 0
        depth += (c == "(") - (c == ")")
        if c == ")" and depth < 2:
            return at + 2 if text.startswith("))", at) else 0
        before = c if c != " " else before
    return 0


def _begins_command(text: str, at: int, word: str) -> bool:
    """Return whether a word stands at a position where a command begins."""
    if not text.startswith(word, at) or text[at + 4 : at + 5] not in ("", " ", "\t", "\n", ";", ")"):
        return False
    end = at
    while end > 0 and text[end - 1] in " \t":
        end -= 1
    start = end
    while start > 0 and end - start < MAX_KEYWORD and text[start - 1] not in " \t\n;(&|":
        start -= 1
    return start == end or text[start:end] in KEYWORDS


def _behind_text(text: str, at: int, documents: _Documents) -> int:
    """Return the position behind a comment or the documents of a line; else the next position."""
    c = text[at]
    if c == "#" and text[at - 1] in " \t\n;(":
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if c == "\n":
        return documents.behind(at)
    if c == "<" and text.startswith("<<<", at):
        return at + 3
    if c == "<" and text.startswith("<<", at) and (document := documents.read(at)) is not None:
        return document[0]
    return at + 1


def _closing_backquote(text: str, start: int) -> int:
    at = text.find("`", start)
    while at > start and text[at - 1] == "\\":
        at = text.find("`", at + 1)
    return len(text) if at < 0 else at


def _printed(words: Words) -> str:
    """Return the text that `echo` or `printf` prints; '' for other programs."""
    if words[0] not in ("echo", "printf"):
        return ""
    return " ".join(word for word in words[1:] if not word.startswith("-")).replace("\\n", "\n")


def _without_keywords(words: Words) -> Words:
    at = 0
    while at < len(words) and words[at] in KEYWORDS:
        at += 1
    return words[at:]


def _without_prefix(words: Words) -> Words:
    """Return a simple command without the shell's own words and without `NAME=value` before it."""
    at = 0
    while at < len(words) and (words[at] in KEYWORDS or words[at] == "function" or _is_assignment(words[at])):
        is_named = words[at] == "function" or (words[at] == "coproc" and words[at + 2 : at + 3] == ["{"])
        at += 2 if is_named else 1
    return [] if at < len(words) and words[at] in HEADERS else words[at:]


def _is_file_name(name: str) -> bool:
    """Return whether a name is a file's or a folder's rather than a branch's: `a.py`, `src/`, but not `1.x`."""
    ending = name.rpartition("/")[2].rpartition(".")[2] if "." in name.rpartition("/")[2] else ""
    return name in (".", "..") or name.endswith("/") or "*" in name or (ending[:1].isalpha() and ending != "x")


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    name = name.removesuffix("+").partition("[")[0]
    return bool(equals and name) and not name[0].isdigit() and all(c in LETTERS for c in name)


def _own_words(words: Words, folder: str) -> tuple[str, Words]:
    """Return the folder in which a command works, and its words with the plain name of the program."""
    name = words[0].rpartition("/")[2] or words[0]
    for suffix in (".exe", ".cmd"):
        name = name.removesuffix(suffix)
    if name == "git":
        return _git_words(words, folder)
    if name == "cargo" and words[1:2] and words[1].startswith("+"):
        return folder, [name, *words[2:]]
    return folder, [name, *words[1:]]


def _script_of_shell(words: Words) -> tuple[str, bool]:
    """Return the script that a shell is given by `-c`, and whether it is given one, by `-c` or in a file."""
    at = 1
    while at < len(words):
        word = words[at]
        is_cluster = word[:1] in "-+" and word[:2] != "--" and len(word) > 1
        if word == "-c" or word == "--command" or (is_cluster and word[0] == "-" and word.endswith("c")):
            rest = words[at + 1 :]
            return next((one for one in rest if one != "--"), ""), True
        if not is_cluster and not word.startswith("--"):
            return "", True
        at += 2 if word in SHELL_OPTIONS or (is_cluster and word.endswith("o")) else 1
    return "", False


def _option_value(words: Words, options: tuple[str, ...]) -> str:
    for at, word in enumerate(words[1:-1] if options else (), 1):
        if word in options:
            return words[at + 1]
        if not word.startswith("-") and words[0] not in ("su", "runuser", "script", "flock", "nix-shell"):
            return ""
    return ""


def _inner(words: Words) -> Words:
    """Return the command that a wrapper runs; none if the program is no wrapper, or only looks something up."""
    program = words[0]
    if program.startswith("python") or program == "py":
        return _module(words)
    if program == "command" and words[1:2] in (["-v"], ["-V"]):
        return []
    if program in DEBUGGERS:
        at = next((at for at, word in enumerate(words) if word in DEBUGGED), len(words))
        return words[at + 1 :]
    if program in WRAPPERS:
        options, between = WRAPPERS[program]
        return _behind(words[1:], options.split(), between)
    known = RUNNERS.get(f"{program} {words[1]}") if len(words) > 1 else None
    if known:
        return _behind(words[2:], known[0].split(), known[1])
    if program in PACKAGE_RUNNERS:
        rest = words[2:] if words[1:2] == ["run"] else words[1:]
        return _behind(rest, PACKAGE_RUNNERS[program].split(), 0)
    return []


def _behind(words: Words, options: Words, between: int) -> Words:
    """Return the words behind options, their values, assignments and a number of other words."""
    if between == BEHIND_DASHES:
        return words[words.index("--") + 1 :] if "--" in words else []
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return words[at + 1 + between :]
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
    at = 1
    while at < len(words) - 1:
        if words[at] == "-m":
            return words[at + 1 :]
        if words[at] == "-c" or not words[at].startswith("-"):
            return []
        at += 2 if words[at] in ("-X", "-W") else 1
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
