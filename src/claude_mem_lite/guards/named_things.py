"""Things that a part of a sentence names and a rule can match: commands, paths, modules, branches.

In doubt a text names nothing: a guard on the wrong thing costs more than a guard that is missing."""

from claude_mem_lite.guards.programs import (
    AGENT_TOOLS,
    AMBIGUOUS,
    FLAG_COMMANDS,
    LOCK_FILES,
    NOT_MODULES,
    PHRASES,
    PROGRAMS,
    RUNNERS,
    SUBCOMMANDS,
    TASK_RUNNERS,
)
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import STOPWORDS
from claude_mem_lite.values import frozen

Code = frozenset[str]
"""Spans in backticks of the sentence."""

_MAX_ALTERNATIVES = 6
_MAX_COMMAND_WORDS = 6
_END = lazy(r"(?<=[\w/*)`'\"])[.!,;:]+$")
_BETWEEN = lazy(r"\s*,\s*(?:(?:or|and|nor)\s+)?|\s+(?:or|nor|and|oder|und)\s+")
_ARTICLE = lazy(r"(?i)^(?:(?:the|any|a|an|our|your|plain|bare|raw|direct|to|system|global|existing)\s+)+")
_AFTER = lazy(
    r"(?i)(?:[\s,]+(?:directly|manually|by hand|ever|again|any ?more|any longer|here|anywhere|at all|please|yourself"
    r"|instead|in this (?:repo|project|codebase|repository|code base)|in the (?:repo|project|codebase)|period"
    r"|from now on"
    r"|for this (?:repo|project)|under any circumstances|for anything|on your own|mehr|hier|in diesem (?:projekt|repo)"
    r"|direkt|bitte|one-liners?|commands?|itself|everywhere|to any branch(?:es)?))+$"
)
_KIND_OF_COMMAND = lazy(r"(?i)\s+(?:flags?|options?|switch|commands?|cli|binary|tool)$")
_TOOL = lazy(r"(?:(?:the|your|built-in|builtin|dedicated|native|Claude's)\s+)*(?P<name>[A-Za-z]+)(?P<tool>\s+tools?)?")
_WORD_OF_COMMAND = lazy(r"[\w./:@+=*~,%^-]+")
_SCRIPT = lazy(r"(?:\./)?(?:[\w.-]+/)*[\w-]+\.(?:sh|py|js|ts|mjs|rb|pl|ps1)|\./[\w./-]+")
_PROGRAM = lazy(r"[a-z][a-z0-9_.+-]*")
_GENERATED = lazy(r"(?i)(?:(?:the|any|all|our)\s+)*(?:auto-?)?generated\b")
_GENERATED_FOLDER = lazy(r"(?i)gen|dist|build|out|target|pb|proto|stubs|/?__")
_IN_FOLDER = lazy(
    r"(?i)^(?:(?:the|any|all|our|a|an|generated|auto-?generated|existing|vendored|compiled|built|files?|anything|everything"
    r"|something|stuff|code|sources?|contents?|of|in|inside|under|below|within|from|to|at|into|folder|directory)\s+)+"
)
_FOLDER = lazy(r"(?i)\s+(?P<folder>folder|directory|dir|tree|ordner|verzeichnis)$")
_FILE = lazy(r"(?i)\s+(?:files?|dateien|datei)$")
_PATH = lazy(r"(?:\.{1,2}/|/)?[\w.@*+-]+(?:/[\w.@*+-]+)*/?")
_EXTENSION = lazy(r"[\w.*-]*\.[a-zA-Z][a-zA-Z0-9]{0,9}")
_LOCKS = lazy(r"(?i)(?:the |any |our )?lock ?files?")
_MODULE = lazy(r"(?:@/?)?[A-Za-z_][\w./:-]*\w|[a-z]\w*")
_OF_MODULE = lazy(
    r"(?i)^(?:(?:the|from|anything from|module|package|library)\s+)+|\s+(?:module|package|library|modules)$"
)
_BRANCH = lazy(r"(?i)(?:the\s+)?(?P<name>[\w./-]+)(?:\s+branch)?")
_BRANCHES = frozenset(
    ("main", "master", "develop", "dev", "trunk", "production", "prod", "staging", "release", "gh-pages")
)


def trimmed(text: str) -> str:
    """Return a text without words that name nothing at its ends: "the npm command here" is `npm command`."""
    return _ARTICLE.sub("", without_end(_AFTER.sub("", without_end(text))))


def without_end(text: str) -> str:
    """Return a text without the mark that ends it; the dot of `git add .` stays."""
    return _END.sub("", text.strip().rstrip(",;:!")).lstrip(",;:!")


def alternatives(text: str, code: Code) -> list[str]:
    """Return the things between "or", "and" and commas; a span in backticks stays whole."""
    whole = trimmed(text)
    if whole in code:
        return [whole]
    parts = [trimmed(part) for part in _BETWEEN.split(whole)]
    if len(parts) == 1 and "/" in whole and all(part in PROGRAMS for part in whole.split("/")):
        parts = whole.split("/")
    return parts if all(parts) and len(parts) <= _MAX_ALTERNATIVES else []


@frozen
class _Reading:
    """Reading of words as a command."""

    code: Code
    has_rival: bool
    """True if another program stands beside: then a plain `find` is the program, and not a deed."""
    is_run: bool
    """True if the sentence says that it is run: then a span of code names any program."""
    is_free: bool = False
    """True if any word may follow `make` and `npm run`."""


def rivals_named(text: str, code: Code) -> tuple[str, ...]:
    """Return the commands that a text recommends, all or none."""
    return _commands(text, _Reading(code, has_rival=True, is_run=True, is_free=True))


def commands_named(text: str, code: Code, *, has_rival: bool, is_run: bool) -> tuple[str, ...]:
    """Return the commands that a text names, all or none."""
    has_other = any(part in PROGRAMS and part not in AMBIGUOUS for part in alternatives(text, code))
    return _commands(text, _Reading(code, has_rival or has_other, is_run))


def _commands(text: str, reading: _Reading) -> tuple[str, ...]:
    found = [_command(part, reading) for part in alternatives(text, reading.code)]
    return tuple(dict.fromkeys(command for named in found for command in named)) if all(found) else ()


def _command(part: str, reading: _Reading) -> tuple[str, ...]:
    bare = trimmed(_KIND_OF_COMMAND.sub("", part))
    if known := PHRASES.get(_phrase(bare)) or FLAG_COMMANDS.get(bare):
        return known
    words = bare.split()
    if not words or len(words) > _MAX_COMMAND_WORDS or not all(_WORD_OF_COMMAND.fullmatch(word) for word in words):
        return ()
    is_code = bool({part, bare} & reading.code)
    program = words[0] if is_code else words[0].lower()
    if program not in PROGRAMS:
        is_script = bool(_SCRIPT.fullmatch(program)) and ("/" in program or program.endswith(".sh") or reading.is_run)
        is_named = is_script or (is_code and reading.is_run and _PROGRAM.fullmatch(program))
        program = program.rpartition("/")[2]
    else:
        is_named = is_code or _is_plain_command([program, *words[1:]], reading)
    return (" ".join([program, *words[1:]]),) if is_named else ()


def _is_plain_command(words: list[str], reading: _Reading) -> bool:
    """Return whether words without backticks are a command: each word behind the program is an option or known."""
    if len(words) == 1:
        return words[0] not in AMBIGUOUS or reading.has_rival
    lead = words[0]
    for word in words[1:]:
        if word.startswith("-") or word in (".", "./..."):
            continue
        is_known = word in SUBCOMMANDS.get(lead, "").split() or (lead in RUNNERS and word in PROGRAMS)
        if not is_known and not (reading.is_free and lead in TASK_RUNNERS and word not in STOPWORDS):
            return False
        lead = f"{lead} {word}"
    return True


def _phrase(text: str) -> str:
    words = [word for word in text.lower().split() if word not in ("the", "any", "a", "your", "my", "our", "git")]
    words = [word[:-3] if word in ("pushing", "amending") else word for word in words]
    words = ["force push" if word == "force-push" else word for word in words]
    singular = [word.removesuffix("es") if word.endswith("shes") else word.removesuffix("s") for word in words[-1:]]
    return " ".join([*words[:-1], *singular])


def agent_tool(text: str) -> str:
    """Return the tool of the agent that a text names, in lower case: "the Read tool"; '' if it names none."""
    found = _TOOL.fullmatch(trimmed(text))
    if not found or found["name"].lower() not in AGENT_TOOLS:
        return ""
    return found["name"].lower() if found["tool"] or found["name"][0].isupper() else ""


def paths_named(text: str, code: Code) -> tuple[str, ...]:
    """Return the path patterns that a text names, all or none."""
    if _LOCKS.fullmatch(trimmed(text)):
        return LOCK_FILES
    found = [_path(part, code) for part in alternatives(text, code)]
    return tuple(dict.fromkeys(found)) if all(found) else ()


def _path(part: str, code: Code) -> str:
    bare = _FILE.sub("", _IN_FOLDER.sub("", part))
    if _GENERATED.match(part) and not _GENERATED_FOLDER.search(bare):
        return ""  # which files of the folder are generated, no pattern tells
    folder = _FOLDER.search(bare)
    bare = bare[: folder.start()] if folder else bare
    if not _PATH.fullmatch(bare) or "://" in bare or bare.strip("./*") == "":
        return ""
    if folder:
        return bare.rstrip("/") + "/"
    has_mark = "/" in bare.rstrip("/") or bare.endswith("/") or "*" in bare or bare.startswith(".")
    is_file = bool(_EXTENSION.fullmatch(bare.rpartition("/")[2]))
    return bare.removeprefix("./") if has_mark or is_file or (bare in code and part in code and bare != part) else ""


def modules_named(text: str, code: Code) -> tuple[str, ...]:
    """Return the modules that a text names, all or none."""
    found: list[str] = []
    for part in alternatives(text, code):
        bare = _OF_MODULE.sub("", part)
        if not _MODULE.fullmatch(bare) or (bare not in code and bare.lower() in NOT_MODULES):
            return ()
        found.append(bare if bare in code else bare.lower())
    return tuple(dict.fromkeys(found))


def branches_named(text: str, code: Code) -> tuple[str, ...]:
    """Return the branches that a text names, all or none."""
    found: list[str] = []
    for part in alternatives(text, code):
        named = _BRANCH.fullmatch(part)
        if not named or (named["name"] not in code and named["name"].lower() not in _BRANCHES):
            return ()
        found.append(named["name"] if named["name"] in code else named["name"].lower())
    return tuple(dict.fromkeys(found))
