"""Shell commands: role, parts, identity, exit codes and folders."""

import posixpath
import re
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
# Issues, releases and pages of packages are foreign text. `gh run` shows output of the project's own commands.
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
# Roles by importance: the main part of `cd x && make && git commit` is the commit.
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
_RESETS_FILES = lazy(
    rf"git {GIT_OPTIONS}(?:stash(?!\s+(?:list|show|drop|clear|branch))|restore|reset|checkout(?!\s+-[bB])"
    r"|switch(?!\s+-[cC])|worktree)\b"
)
_RESTORES_STASH = lazy(rf"git {GIT_OPTIONS}stash\s+(?:pop|apply)\b")
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


def parts(command: str) -> list[str]:
    """Return the simple commands of a command line, without prefixes such as `VAR=1`, `sudo`, `timeout 5`."""
    return [part for part in map(bare, raw_parts(command)) if part and not _KEYWORD.fullmatch(part)]


def raw_parts(command: str) -> list[str]:
    """Return the simple commands of a command line as typed."""
    text, _ = without_heredocs(command[:20_000])
    text = _EMPTY_DOCUMENT.sub("…", text)
    quoted: list[str] = []

    def hide(match: re.Match[str]) -> str:
        quoted.append(match[0])
        return f"\x00{len(quoted) - 1}\x00"

    hidden = _QUOTED.sub(hide, text.replace("\\\n", " "))
    return [re.sub("\x00(\\d+)\x00", lambda match: quoted[int(match[1])], part) for part in _SEPARATOR.split(hidden)]


def fetches(command: str) -> bool:
    """Return whether the output of a command comes from the network."""
    if _FETCH_INSIDE.search(" ".join(command[:20_000].split())):
        return True
    simple = [_STARTER.sub("", unwrapped(part)) for part in parts(command)]
    shows_clone = any(map(_CLONE.match, simple)) and any(map(_SHOW.match, simple))
    return shows_clone or any(map(_FETCH.match, simple))


def showing(command: str) -> list[str]:
    """Return the simple commands of a command line that show contents of files."""
    return [part for part in parts(command) if _SHOW.match(part)]


def role(part: str) -> Role:
    part = unwrapped(part)
    return next((name for name, pattern in _ROLES if pattern.match(part)), "run")


def main_part(command: str) -> tuple[str, Role]:
    """Return the most important simple command of a line, with the role."""
    rated = [(part, role(part)) for part in parts(command)]
    if not rated:
        return "", "explore"
    return min(reversed(rated), key=lambda pair: _RANK.index(pair[1]))


def setting_back(command: str) -> tuple[str, ...]:
    """Return the simple commands of a line that reset files of the checkout, or restore a stash."""
    return tuple(part for part in parts(command) if _RESETS_FILES.match(part))


def restores_stash(part: str) -> bool:
    return _RESTORES_STASH.match(part) is not None


def key(part: str) -> str:
    """Return a command without flags that only change the output: equal for equal work."""
    return " ".join(_NOISY_FLAG.sub("", unwrapped(part)).split())


def tool(part: str) -> str:
    """Return the program and the subcommand: `go test`, `npm run build`, `pytest`."""
    words = [word for word in unwrapped(part).split() if not word.startswith("-")][:3]
    runner = words[:1] and words[0] in (
        "npm", "pnpm", "yarn", "bun", "mise", "make", "just", "task", "go", "cargo", "git", "docker", "dotnet", "uv",
        "poetry", "gh", "mix"
    )  # fmt: skip
    if not runner:
        return words[0] if words else ""
    return " ".join(words[: 3 if words[1:2] in (["run"], ["compose"], ["r"]) else 2])


def exit_code(error: str) -> tuple[int | None, str]:
    """Return the exit code in the error of a call, and the output of the command."""
    match = _EXIT_CODE.match(error)
    return (int(match[1][:6]), error[match.end() :]) if match else (None, error)


def was_refused(error: str) -> bool:
    """Return whether user or client stopped a command: no failure of the command."""
    return _DENIED.search(error[:600]) is not None


def hides_exit(command: str) -> bool:
    """Return whether a command line may succeed although the main part failed: piped, or followed by a command."""
    text, _ = without_heredocs(command[:20_000])
    return _GOES_ON.search(_QUOTED.sub("", text)) is not None


def shows_end(command: str) -> bool:
    """Return whether a command line is only piped into programs that show the end of the output, with the errors."""
    text, _ = without_heredocs(command[:20_000])
    first, *parts_behind = re.split(r"(?<!\|)\|(?!\|)", _QUOTED.sub("", text))
    return not _GOES_ON.search(first) and all(_SHOWS_END.fullmatch(part) for part in parts_behind)


def folders_outside(command: str, cwd: str, root: str = "") -> list[str]:
    """Return the folders outside the checkout that a command changes to, and unknown folders."""
    home = (root or cwd).rstrip("/")
    if not home:
        return []
    outside: list[str] = []
    at = cwd
    for match in _CHANGE_FOLDER.finditer(command[:20_000]):
        folder = match["folder"].rstrip("/").removesuffix("/.git") or "/"
        named = _ROOT_OF_CHECKOUT.sub(lambda _: home, folder)
        if (user := _HOME.match(home)) and (under := _UNDER_HOME.match(named)):
            named = user[0] + named[under.end() :]
        place = named if named.startswith(("~", "$", "-")) else posixpath.normpath(posixpath.join(at, named))
        at = place if match["stays"] else at
        if place != home and not place.startswith(home + "/") and not cwd.startswith(place.rstrip("/") + "/"):
            outside.append(folder)
    return outside


def without_heredocs(command: str) -> tuple[str, list[str]]:
    """Return a command line without here-documents, and the bodies of the here-documents."""
    kept: list[str] = []
    bodies: list[str] = []
    at = 0
    last = command.rfind("\n") + 1
    while match := _HEREDOC.search(command, at, last):
        kept.append(command[at : match.start()])
        lines = command[match.end() :].split("\n")
        end = next((n for n, line in enumerate(lines) if line.strip() == match[2]), len(lines))
        bodies.append("\n".join(lines[:end]))
        at = min(match.end() + sum(len(line) + 1 for line in lines[: end + 1]) - 1, len(command))
        if len(bodies) == 20:
            break
    return "".join(kept) + command[at:], bodies


def unwrapped(part: str) -> str:
    """Return a simple command without a starting program: `npx`, `uv run`, `python -m`."""
    while (stripped := _WRAPPER.sub("", part, count=1)) != part:
        part = stripped
    return part


def bare(part: str) -> str:
    """Return a simple command without redirections and prefixes: `VAR=1`, `sudo`, `timeout 5`."""
    part = part.strip()
    while (stripped := _PREFIX.sub("", part, count=1)) != part:
        part = stripped
    return " ".join(_REDIRECT.sub("", part).strip(" ()").split())
