"""What a command that went well has done, where its output says so: versions installed, refs pushed, migrations run.

Told by program; most commands have no outcome worth a word."""

import re
from dataclasses import dataclass

from claude_mem_lite.compress.tools import shell
from claude_mem_lite.patterns import lazy
from claude_mem_lite.words import within

_MOST_RESULTS = 3
_LONGEST_RESULT = 160
_LONGEST_LIST = 240
_MOST_PACKAGES = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """The lines of an output that tell what a command did."""

    results: tuple[str, ...] = ()


# program and what it was told to do; the lines of its output that tell
_RULES: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (lazy(command), lazy(f"(?m)^{line}"))
    for command, line in (
        (
            r"git push\b",
            r"[ \t]{0,8}([*+]?[ ]?(?:\[new (?:tag|branch)\]|[0-9a-f]{6,40}\.\.\.?[0-9a-f]{6,40}) {1,20}\S+ -> \S+)",
        ),
        (
            r"git stash(?: push| save| -|$)",
            r"Saved working directory and index state On [^:\n]*: (.*)$",
        ),
        (r"git (?:rebase|pull)\b", r"(Successfully rebased[^\n]*)$"),
        (r"git (?:merge|pull)\b", r"(Merge made by[^\n]*|[ ]\d+ files? changed[^\n]*)$"),
        (r"gh pr create", r"(https://\S+)$"),
        (r"gh pr merge", r"(✓ [^\n]*)$"),
        (r"gh issue create", r"(https://\S+)$"),
        (r"gh release create", r"(https://\S+)$"),
        (r"alembic\b", r"[^\n]*Running ((?:upgrade|downgrade) [^\n]*)$"),
        (r"prisma (?:migrate|db)\b", r"Applying migration `([^`\n]+)`"),
        (r"(?:\S*python\S* )?\S*manage\.py migrate", r"[ \t]+Applying (\S+?)\.\.\. OK"),
        (r"(?:\S*/)?(?:rails|rake) db:\w+", r"== \d+ (\w+): migrated"),
        (
            r"(?:terraform|tofu) plan\b",
            r"(Plan: [^\n]*|[ \t]*# \S+ (?:must be replaced|will be destroyed))",
        ),
        (
            r"(?:terraform|tofu) (?:apply|destroy)\b",
            r"((?:Apply|Destroy) complete![^\n]*)$",
        ),
        (
            r"kubectl\b",
            r"([\w.-]{1,80}/[\w.:-]{1,120} (?:created|configured|deleted|scaled|patched|restarted)"
            r"|[^\n]*successfully rolled out)$",
        ),
        (r"helm (?:install|upgrade|rollback)\b", r"((?:STATUS|REVISION): [^\n]*)$"),
        (
            r"docker(?: \S+)* (?:build|push|tag)\b",
            r"(?:#\d+ (?:\d+\.\d+ )?)?(?:naming to |Successfully tagged )(\S+)",
        ),
        (r"go test\b.* -bench", r"(Benchmark\S+[ \t]+\d+[^\n]*)$"),
    )
)
_ASSET = lazy(r"(?m)^[ \t]*(?:asset )?(\S+\.(?:m?js|css|wasm|html))[ \t]+(\d{1,9}(?:\.\d{1,9})?) ?([kKM]i?B)\b")
_UNITS = {"k": 1.0, "K": 1.0, "M": 1024.0}
_PACKAGES = lazy(
    r"(?m)^(?:Successfully installed (?P<pip>[^\n]+)"
    r"|[ ]?[+~][ ](?P<plus>[@\w][^\s=@]*(?:==| |@)v?\d\S*)"
    r"|[ \t]*[-•] (?:Installing|Updating|Upgrading) (?P<poetry>\S+ \([^)\n]*\))"
    r"|info Direct dependencies\n(?P<yarn>(?:[└├]─ \S+\n?)+)"
    r"|[ \t]+Adding (?P<cargo>\S+ v\S+) to "
    r"|go: (?:added|upgraded|downgraded) (?P<go>[^\n]+)"
    r"|(?:Installing|Fetching) (?P<gem>[\w-]+ \d[\w.]*)(?: \(was [^)\n]*\))?$"
    r"|🍺[ \t]+\S{0,200}/(?P<brew>[\w.@+-]+/[\w.@+-]+):"
    r"|Setting up (?P<apt>\S+ \([^)\n]*\))"
    r"|installed (?P<bun>@?[\w/.-]+@\d\S*))"
)
_PACKAGE_TOTALS = lazy(
    r"(?m)^(?:added|removed|changed) \d+ packages?[^\n]*|^\d+ (?:\w+ severity )?vulnerabilit\w+[^\n]*"
    r"|^(?:Resolved|Installed|Bundle complete!) \d+ [^\n]*"
)
_NAMED = lazy(r"(?!-)@?[A-Za-z][\w./@\[\],<>=~^:-]*")
_WITH_VALUE = lazy(
    r"\s(?:-[rcitFGEpe]|--(?:features|requirement|constraint|index-url|extra-index-url|registry|group|extra|target|tag"
    r"|python|prefix|source))[ =]\S+"
)
_INSTALL_WORDS = frozenset(
    ("install", "add", "i", "get", "require", "update", "pip", "sync", "ci", "mod", "tidy", "download", "vendor")
)


def read_outcome(command: str, role: shell.Role, output: str) -> Outcome | None:
    """The outcome of one simple command by what it printed, or None."""
    if role == "install":
        return _installed(command, output)
    for program, line in _RULES:
        if program.match(command) and (results := _results(line, output)):
            return Outcome(results)
    return _assets(output) if role == "build" else None


def packages_of(command: str) -> list[str]:
    """The packages an installing command names."""
    return [
        word.strip("'\"")
        for word in _WITH_VALUE.sub("", command).split()[1:]
        if _NAMED.fullmatch(word.strip("'\"")) and word not in _INSTALL_WORDS and not word.endswith((".txt", ".toml"))
    ]


def _results(line: re.Pattern[str], output: str) -> tuple[str, ...]:
    """The first lines that tell, and the last; the sum of a plan comes before its parts."""
    told = sorted(line.findall(output), key=lambda one: not one.startswith("Plan: "))
    found = list(dict.fromkeys(within(" ".join(one.split()), _LONGEST_RESULT) for one in told))
    return tuple(found if len(found) <= _MOST_RESULTS else (*found[: _MOST_RESULTS - 1], found[-1]))


def _installed(command: str, output: str) -> Outcome | None:
    """Packages with their versions: those that were asked for and those that changed; else the first and how many."""
    found = _packages(output)
    asked = packages_of(command)
    stems = [re.split(r"[\[<>=~^:]|(?<=.)@", name, maxsplit=1)[0].lower() for name in asked]
    ours = [one for one in found if any(_is_of(one.lower(), stem) for stem in stems)]
    changed = [one for one in found if "->" in one or "=>" in one]
    kept = list(dict.fromkeys([*ours, *changed] or found))
    more = f" and {len(kept) - _MOST_PACKAGES} more" if len(kept) > _MOST_PACKAGES else ""
    results = [", ".join(kept[:_MOST_PACKAGES]) + more] if kept else []
    totals = [" ".join(line.split()) for line in _PACKAGE_TOTALS.findall(output)[:2]]
    results += [total for total in totals if not kept or "vulnerab" in total]
    return Outcome(tuple(within(result, _LONGEST_LIST) for result in results)) if results else None


def _packages(output: str) -> list[str]:
    found: list[str] = []
    for match in _PACKAGES.finditer(output):
        if match["pip"]:
            found += match["pip"].split()
        elif match["yarn"]:
            found += re.findall(r"[└├]─ (\S+)", match["yarn"])
        else:
            found.append(" ".join(next(group for group in match.groups() if group).split()))
    return found


def _is_of(package: str, name: str) -> bool:
    return package.startswith(name) or package.replace("_", "-").startswith(name)


def _assets(output: str) -> Outcome | None:
    """The largest file that a bundler made."""
    sizes = [(float(size) * _UNITS[unit[0]], f"{name} {size} {unit}") for name, size, unit in _ASSET.findall(output)]
    return Outcome((max(sizes)[1],)) if sizes else None
