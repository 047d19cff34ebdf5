"""Shell commands: what one is for, when two are the same, and what its output says went wrong."""

import posixpath
import re
from dataclasses import dataclass, replace
from typing import Literal

from claude_mem_lite.lazy_regex import lazy

Role = Literal["commit", "test", "build", "lint", "install", "git", "files", "explore", "run"]

_TEST = (
    r"(?:py\.?test|unittest|nosetests|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|pest|ctest|bats|behave|ginkgo"
    r"|playwright test"
    r"|cypress run|go test|gotestsum|cargo (?:nextest|test)|dotnet test|swift test|mix test|deno test"
    r"|bun (?:run )?test|rake (?:test|spec)"
    r"|(?:\./)?gradlew? .*\btest|(?:\./)?mvnw? .*\b(?:test|verify)|(?:npm|pnpm|yarn)(?: run)? test\S*|npm t"
    r"|(?:make|just|task|mise run|mise r|hatch run|pdm run|invoke|rake|nx|turbo run) (?:\S+:)?(?:test|tests|check"
    r"|spec)(?:[:_-]\S+)?)"
)
_LINT = (
    r"(?:ruff|flake8|pylint|mypy|pyright|basedpyright|black|isort|eslint|prettier|biome|stylelint|tslint"
    r"|golangci-lint|go vet|gofmt|goimports"
    r"|staticcheck|cargo (?:clippy|fmt)|rustfmt|rubocop|shellcheck|shfmt|hadolint|yamllint|actionlint"
    r"|markdownlint\S*|ktlint|swiftlint"
    r"|pre-commit|tsc .*--noEmit|(?:npm|pnpm|yarn)(?: run)? (?:lint|typecheck|type-check|format|fmt|check)\S*"
    r"|(?:make|just|task|mise run|mise r|hatch run|invoke) (?:\S+:)?(?:lint|fmt|format|typecheck|vet)(?:[:_-]\S+)?)"
)
_BUILD = (
    r"(?:go (?:build|install|generate)|cargo (?:build|check)|make|cmake|ninja|bazel build|tsc|vite build|next build"
    r"|webpack|rollup|esbuild"
    r"|docker(?:-compose| compose)? (?:build|buildx)|(?:\./)?gradlew?\b|(?:\./)?mvnw?\b|dotnet (?:build|publish)"
    r"|swift build|xcodebuild|gcc|g\+\+"
    r"|clang(?:\+\+)?|javac|rustc|hugo|mkdocs build|goreleaser|python\d? -m build|(?:npm|pnpm|yarn"
    r"|bun)(?: run)? (?:build|compile|bundle)\S*"
    r"|(?:just|task|mise run|mise r) (?:\S+:)?(?:build|compile)(?:[:_-]\S+)?)"
)
GIT_OPTIONS = r"(?:(?:-[cC]|--(?:git-dir|work-tree|namespace)) (?:[^\s\"']|\"[^\"]*\"|'[^']*')+ |--[\w-]+(?:=\S+)? )*"
_INSTALL = (
    r"(?:pip3? install|uv (?:add|sync|pip install|tool install)|poetry (?:add|install)|pdm (?:add|install)"
    r"|pipx install|conda install"
    r"|npm (?:install|i|ci|add)|yarn(?: add| install|$)|pnpm (?:add|install|i)|bun (?:add|install)|cargo (?:add"
    r"|install)|go (?:get|mod (?:tidy|download|vendor))"
    r"|gem install|bundle (?:install|add|update)|brew (?:install|upgrade)|apt(?:-get)? (?:-\S+ )*install|apk add"
    r"|dnf install"
    r"|composer (?:require|install)|dotnet add"
    r"|mix deps\.get|pod install|rustup|nvm install|pyenv install)"
)
_EXPLORE = (
    r"(?:ls|cat|bat|head|tail|grep|egrep|rg|ag|ack|find|fd|sed|awk|wc|tree|pwd|which|whereis|echo|printf|diff|cmp"
    r"|stat|file|du|df|ps|top|env"
    r"|printenv|jq|yq|less|more|sort|uniq|cut|tr|xxd|od|hexdump|strings|type|man|date|whoami|id|uname|hostname|sleep"
    r"|true|false|test|\[|cd"
    r"|export|set|unset|source|\.|history|lsof|pgrep|nproc|free|xargs|tee|column|basename|dirname|realpath|readlink"
    r"|md5sum|sha\d*sum"
    r"|git (?:status|log|diff|show|branch|blame|ls-\S+|rev-\S+|remote|config|stash list|describe|grep|shortlog"
    r"|reflog|cat-file|check-ignore)"
    r"|gh (?:pr|issue|run|repo|release|api) (?:view|list|diff|checks|status)|gh (?:api|search)|go (?:doc|env|list"
    r"|version|mod \w+)|node -[ev]|\S+ --?version"
    r"|\S+ --?help|npm (?:ls|list|view|outdated)|pip3? (?:show|list|freeze)|docker (?:ps|images|logs|inspect)"
    r"|kubectl (?:get|describe|logs|explain|top)|journalctl|systemctl (?:status|is-\S+|list-\S+|show|cat)|dmesg"
    r"|terraform (?:show|state|output|version)|git tag -[ln]\S*|git stash show)"
)
_FILES = (
    r"(?:mkdir|touch|cp|mv|rm|ln|chmod|chown|rmdir"
    r"|git (?:mv|rm|add|restore|checkout|switch|reset|stash (?:pop|apply|drop|clear)|clean))"
)
_ROLE_PATTERNS: dict[Role, str] = {
    "commit": rf"git {GIT_OPTIONS}(?:commit|cherry-pick|revert|am)", "test": _TEST, "lint": _LINT, "install": _INSTALL,
    "explore": _EXPLORE, "files": _FILES,
    "build": _BUILD, "git": r"git \S+|gh \S+",
}  # fmt: skip
_FLAGS = r"(?:-\S{1,200}\s+){0,20}"
# Others write issues, releases and the pages of packages. `gh run` shows what our own commands printed elsewhere.
_FETCHER = (
    r"(?:\S{0,60}/)?(?:curl|wget|aria2c|httpie|https?|xh|lynx|w3m|elinks"
    rf"|(?:gh|glab)\s+{_FLAGS}(?:api|issue|pr|mr|search|release|repo|gist|discussion)|hub\s+(?:api|issue|pr)|npm\s+(?:view|info|show|search)|cargo\s+(?:search|info)"
    rf"|docker\s+search|gem\s+(?:search|info)|brew\s+info|ssh\s+{_FLAGS}\S+(?=\s+[^\s-])|scp|aws\s+s3\s+(?:cp|sync)"
    rf"|gsutil\s+{_FLAGS}(?:cp|cat|rsync))(?=[\s\"'`)]|$)"
)
_STARTER = lazy(r"^(?:(?:nohup|env|setsid|stdbuf|nice|ionice|watch)\s+(?:-\S+\s+)*)+")
_CLONE = lazy(r"git\s+(?:-\S+\s+\S+\s+)*clone\s")
_SHOW = lazy(r"(?:cat|bat|head|tail|less|more|sed|awk|grep|egrep|rg|jq|strings)\s")
_FETCH = lazy(_FETCHER)
_FETCH_INSIDE = lazy(
    rf"(?:\$\(|`|<\(|\bxargs\s+{_FLAGS}|\b(?:ba|z|da|k)?sh\s+-\w*c\s+[\"']?)\s*{_FETCHER}"
    r"|\b(?:requests|httpx|urllib\d?\S{0,20}|aiohttp)\.(?:get|post|request|urlopen|stream)\b|\bfetch\(\s*[\"']https?:"
)
_ROLES = tuple((role, lazy(rf"(?:{pattern})(?:\s|$)")) for role, pattern in _ROLE_PATTERNS.items())
# Which part of `cd x && make && git commit` the whole is about.
_RANK: tuple[Role, ...] = ("commit", "test", "build", "lint", "install", "git", "run", "files", "explore")

_HEREDOC = lazy(r"<<-?[ \t]*(['\"]?)(\w++)\1[^\n]*\n")
_EMPTY_DOCUMENT = lazy(r"[\"']?\$\(cat\s*\)[\"']?")
_QUOTED = lazy(r"'[^']*'|(?<!\\)\"(?:[^\"\\]|\\.)*\"|\$\([^()]*\)")
_SEPARATOR = lazy(r"&&|\|\||;|\n|(?<!\|)\|(?!\|)|(?<![&>])&(?![&>\d])")
_GOES_ON = lazy(r"\|(?!&)|;\s*\w")
_SHOWS_END = lazy(r"&?\s*(?:tail|cat|tee)\b[^;&|\n]*")
_PREFIX = lazy(
    r"^(?:[A-Za-z_]\w*=(?:\S*)\s+|sudo\s+(?:-\S+\s+)*|time\s+|timeout\s+(?:-\S+\s+)*\S+\s+|nice\s+|exec\s+"
    r"|command\s+|env\s+(?=\w+=)"
    r"|\(+\s*|!\s+|if\s+|then\s+|do\s+)"
)
_WRAPPER = lazy(
    r"^(?:(?:poetry|uv|pipenv|pdm|rye) run\s+|bundle exec\s+|npx\s+(?:-\S+\s+)*|pnpm (?:exec|dlx)\s+|yarn dlx\s+"
    r"|bunx\s+"
    r"|(?:\S*/)?python3?(?:\.\d+)? -m\s+|(?:\S*/)?(?:\.?venv|node_modules|env)/(?:\.?bin/)+)"
)
_KEYWORD = lazy(r"done|fi|esac|else|then|do|wait|[{}]|(?:for|select) \w+ in .*|case .* in|(?:while|until) .*")
_SETS_BACK = lazy(
    rf"git {GIT_OPTIONS}(?:stash(?!\s+(?:list|show|drop|clear|branch))|restore|reset|checkout(?!\s+-[bB])"
    r"|switch(?!\s+-[cC])|worktree)\b"
)
_BRINGS_BACK = lazy(rf"git {GIT_OPTIONS}stash\s+(?:pop|apply)\b")
_REDIRECT = lazy(r"\d?>{1,2}&?\s*\S+|<\s*\S+|&>\s*\S+")
_NOISY_FLAG = lazy(
    r"\s+(?:-v+(?!\s+\w+=)|-q+|--verbose|--quiet|-s|-x|--tb[= ]\S+|--no-header|--count[= ]?\d+|-count[= ]\d+|--color\S*"
    r"|--no-cov|-rA|-ra|--lf|--ff"
    r"|--silent|--maxfail\S*|-timeout[= ]\S+)(?=\s|$)"
)

_CHANGE_FOLDER = lazy(
    r"(?:(?P<stays>(?:^|[;&|(\n])[ \t]*(?:cd|pushd)[ \t]+(?:-- )?)|\bgit (?:-c \S{1,200} ){0,5}-C[ \t]+"
    r"|(?:--(?:git-dir|work-tree)[ =]|\bGIT_(?:DIR|WORK_TREE)=))"
    r"[\"']?(?P<folder>\$\([^()\n]{1,200}\)|[^\s\"';&|)]+)"
)
_UNDER_HOME = lazy(r"(?:~|\$HOME|\$\{HOME\})(?=/|$)")
_HOME = lazy(r"/(?:(?:home|Users)/[^/]+|root)(?=/|$)")
_ROOT_OF_CHECKOUT = lazy(r"\$\(git rev-parse --show-toplevel\)|\$\{?(?:CLAUDE_PROJECT_DIR|PWD)\}?")
_EXIT_CODE = lazy(r"^\s*(?:Error:\s*)?Exit code (\d+)\s*\n?")
_DENIED = lazy(
    r"(?i)permission to use \w+|doesn't want to (?:proceed|take this action)|request interrupted"
    r"|tool use was rejected|user rejected"
    r"|requires approval|has been denied|was blocked|no longer exists on disk|<tool_use_error>"
)
_COMMITTED = lazy(
    r"(?m)^\[(?P<branch>[^\]\n]{1,200}?) (?P<hash>[0-9a-f]{6,40})\] (?P<subject>\S[^\n]{0,500})$"
    r"(?:\n (?:Author|Date):[^\n]*){0,3}(?:\n[ ](?P<size>\d+ files? changed[^\n]{0,80}))?"
)
_MAKES_COMMITS = lazy(rf"\bgit {GIT_OPTIONS}(?:commit|cherry-pick|revert|am)\b")
_MESSAGE_FLAG = lazy(
    r"(?:-m|-[a-z]*m|--message)(?:\s+|=)(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|\$'((?:[^'\\]|\\.)*)')", re.S
)
_TRAILER = lazy(r"(?im)^(?:co-authored-by|signed-off-by|change-id|generated with|🤖).*$")


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit a command made."""

    subject: str
    body: str = ""
    hash: str = ""
    branch: str = ""
    size: str = ""
    """ "2 files changed, 9 insertions(+), 3 deletions(-)" """
    source: str = ""
    """The commit it was picked from."""
    is_typed: bool = True
    """Its subject stands in the command: else it is only known from what was printed, and may be anybody's word."""


def parts(command: str) -> list[str]:
    """The simple commands of a command line, without prefixes such as `cd x`, `VAR=1`, `sudo`, `npx`."""
    return [part for part in map(bare, raw_parts(command)) if part and not _KEYWORD.fullmatch(part)]


def raw_parts(command: str) -> list[str]:
    """The simple commands of a command line as they were typed."""
    text, _ = _without_heredocs(command[:20_000])
    text = _EMPTY_DOCUMENT.sub("…", text)
    quoted: list[str] = []

    def hide(found: re.Match[str]) -> str:
        quoted.append(found[0])
        return f"\x00{len(quoted) - 1}\x00"

    hidden = _QUOTED.sub(hide, text.replace("\\\n", " "))
    return [re.sub("\x00(\\d+)\x00", lambda found: quoted[int(found[1])], part) for part in _SEPARATOR.split(hidden)]


def fetches(command: str) -> bool:
    """Whether a command's output is what somebody else has put on the network."""
    if _FETCH_INSIDE.search(" ".join(command[:20_000].split())):
        return True
    simple = [_STARTER.sub("", unwrapped(part)) for part in parts(command)]
    shows_clone = any(map(_CLONE.match, simple)) and any(map(_SHOW.match, simple))
    return shows_clone or any(map(_FETCH.match, simple))


def showing(command: str) -> list[str]:
    """The simple commands of a command line that show what is in files."""
    return [part for part in parts(command) if _SHOW.match(part)]


def role(part: str) -> Role:
    """What one simple command is for."""
    part = unwrapped(part)
    for name, pattern in _ROLES:
        if pattern.match(part):
            return name
    return "run"


def main_part(command: str) -> tuple[str, Role]:
    """The simple command that the whole line is about, and its role."""
    rated = [(part, role(part)) for part in parts(command)]
    if not rated:
        return "", "explore"
    return min(reversed(rated), key=lambda pair: _RANK.index(pair[1]))


def setting_back(command: str) -> tuple[str, ...]:
    """The simple commands of a line that set files of the checkout back, or bring back what was put away."""
    return tuple(part for part in parts(command) if _SETS_BACK.match(part))


def brings_back(part: str) -> bool:
    """Return whether a command brings back what `git stash` had put away."""
    return _BRINGS_BACK.match(part) is not None


def key(part: str) -> str:
    """The same for commands that do the same: without flags that only change what is printed."""
    return " ".join(_NOISY_FLAG.sub("", unwrapped(part)).split())


def tool(part: str) -> str:
    """The program and its subcommand: `go test`, `npm run build`, `pytest`."""
    words = [word for word in unwrapped(part).split() if not word.startswith("-")][:3]
    runner = words[:1] and words[0] in (
        "npm", "pnpm", "yarn", "bun", "mise", "make", "just", "task", "go", "cargo", "git", "docker", "dotnet", "uv",
        "poetry", "gh", "mix"
    )  # fmt: skip
    if not runner:
        return words[0] if words else ""
    return " ".join(words[: 3 if words[1:2] in (["run"], ["compose"], ["r"]) else 2])


def exit_code(error: str) -> tuple[int | None, str]:
    """The exit code a failure names, and what the command printed."""
    found = _EXIT_CODE.match(error)
    return (int(found[1][:6]), error[found.end() :]) if found else (None, error)


def was_refused(error: str) -> bool:
    """Stopped by the user or the client: not a failure of the command."""
    return _DENIED.search(error[:600]) is not None


def commits(command: str, output: str) -> list[Commit]:
    """The commits a successful command made, with the messages it was given."""
    command = command[:20_000]
    making = [part for part in parts(command) if _MAKES_COMMITS.match(part)]
    if not making:
        return []
    given = _given_message(command) if any(re.search(r"\bcommit\b", part) for part in making) else ""
    subject, _, body = given.partition("\n")
    typed = _unescaped(command)
    found = [
        Commit(
            match["subject"].strip(),
            hash=match["hash"],
            branch=_branch(match["branch"]),
            size=match["size"] or "",
            is_typed=_unescaped(match["subject"]) in typed,
        )
        for match in _COMMITTED.finditer(output[-100_000:])
    ]
    if not found:
        nothing = re.search(r"(?i)nothing (?:added )?to commit|no changes added", output)
        return [Commit(subject.strip(), body.strip())] if subject.strip() and not nothing else []
    if len(found) == 1:
        one = replace(found[0], body=body.strip(), source=_picked(making))
        # What was typed goes before what was printed: any hook can print such a line.
        is_told = subject.strip() and len(making) == 1 and not one.is_typed
        return [replace(one, subject=subject.strip(), is_typed=True) if is_told else one]
    return found


def _unescaped(text: str) -> str:
    """Return a text on one line as it is with and without the quoting of a shell."""
    return " ".join(text.replace("\\", "").split())


def _branch(told: str) -> str:
    """The branch in `[main (root-commit) 0a4f7d2]`; '' for a detached head."""
    return "" if told.startswith("detached") else told.split(" ")[0]


def _picked(making: list[str]) -> str:
    found = re.match(rf"git {GIT_OPTIONS}cherry-pick\b.*?\b([0-9a-f]{{6,40}})\b", making[-1])
    return found[1] if found else ""


def hides_exit(command: str) -> bool:
    """Whether a command line may succeed though its main part has failed: piped on, or followed by another."""
    text, _ = _without_heredocs(command[:20_000])
    return _GOES_ON.search(_QUOTED.sub("", text)) is not None


def shows_end(command: str) -> bool:
    """Return whether a command line is only piped into what shows the end of its output: errors would be there."""
    text, _ = _without_heredocs(command[:20_000])
    first, *others = re.split(r"(?<!\|)\|(?!\|)", _QUOTED.sub("", text))
    return not _GOES_ON.search(first) and all(_SHOWS_END.fullmatch(other) for other in others)


def folders_outside(command: str, cwd: str, root: str = "") -> list[str]:
    """Return the folders outside the checkout that a command changes to, and those of which nothing is known."""
    home = (root or cwd).rstrip("/")
    if not home:
        return []
    outside: list[str] = []
    at = cwd
    for found in _CHANGE_FOLDER.finditer(command[:20_000]):
        folder = found["folder"].rstrip("/").removesuffix("/.git") or "/"
        named = _ROOT_OF_CHECKOUT.sub(lambda _: home, folder)
        if (user := _HOME.match(home)) and (under := _UNDER_HOME.match(named)):
            named = user[0] + named[under.end() :]
        place = named if named.startswith(("~", "$", "-")) else posixpath.normpath(posixpath.join(at, named))
        at = place if found["stays"] else at
        if place != home and not place.startswith(home + "/") and not cwd.startswith(place.rstrip("/") + "/"):
            outside.append(folder)
    return outside


def _given_message(command: str) -> str:
    _, bodies = _without_heredocs(command)
    if bodies:
        message = bodies[0]
    else:
        messages = ["".join(groups) for groups in _MESSAGE_FLAG.findall(command)]
        message = "\n\n".join(text.replace('\\"', '"').replace("\\n", "\n") for text in messages)
    return _TRAILER.sub("", message).strip()


def _without_heredocs(command: str) -> tuple[str, list[str]]:
    """A command line with its here-documents taken out, and their bodies."""
    kept: list[str] = []
    bodies: list[str] = []
    at = 0
    last = command.rfind("\n") + 1
    while found := _HEREDOC.search(command, at, last):
        kept.append(command[at : found.start()])
        lines = command[found.end() :].split("\n")
        end = next((n for n, line in enumerate(lines) if line.strip() == found[2]), len(lines))
        bodies.append("\n".join(lines[:end]))
        at = min(found.end() + sum(len(line) + 1 for line in lines[: end + 1]) - 1, len(command))
        if len(bodies) == 20:
            break
    return "".join(kept) + command[at:], bodies


def unwrapped(part: str) -> str:
    """A simple command without the program that only starts it: `npx`, `uv run`, `python -m`."""
    while (stripped := _WRAPPER.sub("", part, count=1)) != part:
        part = stripped
    return part


def bare(part: str) -> str:
    """A simple command without redirections and what only leads to it: `VAR=1`, `sudo`, `timeout 5`."""
    part = part.strip()
    while (stripped := _PREFIX.sub("", part, count=1)) != part:
        part = stripped
    return " ".join(_REDIRECT.sub("", part).strip(" ()").split())
