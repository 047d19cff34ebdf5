"""Where a memory holds: scopes as users write and as we store them, languages by their one name, projects by theirs."""

from collections.abc import Mapping

SCOPES = "universal, language:NAME, project or project:ID"
"""How a user writes where a memory holds."""
SCOPE_FORMS = ("universal", "language:", "project", "project:")
"""How what he writes begins."""
UNIVERSAL_KINDS = ("preference", "rule", "anti_pattern")
"""The kinds that hold everywhere when the user asks for one to be remembered and does not say where."""
LANGUAGE_ENDINGS = {
    "python": "py pyi pyw",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts tsx mts cts",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c",
    "c++": "cc cpp cxx hh hpp hxx",
    "ruby": "rb rake",
    "php": "php",
    "c#": "cs",
    "kotlin": "kt kts",
    "swift": "swift",
    "scala": "scala",
    "elixir": "ex exs",
    "dart": "dart",
    "lua": "lua",
    "shell": "sh bash zsh",
}
"""The languages that a project can be found to be written in, with how the names of their files end."""
LANGUAGES = tuple(LANGUAGE_ENDINGS)
SAME_LANGUAGE = {
    "js": "javascript", "jsx": "javascript", "ecmascript": "javascript", "ts": "typescript", "tsx": "typescript",
    "py": "python", "python3": "python", "golang": "go", "rs": "rust", "rb": "ruby", "kt": "kotlin",
    "bash": "shell", "sh": "shell", "zsh": "shell", "cpp": "c++", "cxx": "c++", "cplusplus": "c++",
    "cs": "c#", "csharp": "c#", "c-sharp": "c#", "ex": "elixir",
}  # fmt: skip
"""The names that a language goes by besides the one under which a project's language is found out."""


def language_name(given: str) -> str:
    """The one name of a language: "Golang" is `go`, and "bash" is `shell`."""
    name = given.strip().lower()
    return SAME_LANGUAGE.get(name, name)


def written_scope(given: str) -> str | None:
    """A scope as a user writes it, in the one spelling that is stored; None when it is none.

    The id of a project stays as it is: it may be the path of a folder, with spaces at its end."""
    word, colon, rest = given.partition(":")
    word = word.strip().lower()
    if not colon:
        return word if word in ("universal", "project") else None
    if word == "project" and rest.strip():
        return f"project:{rest}"
    name = language_name(rest)
    return f"language:{name}" if word == "language" and name else None


def project_of_scope(scope: str, otherwise: str) -> str:
    """The project that a scope names; another when it names none."""
    return scope.removeprefix("project:") if scope.startswith("project:") else otherwise


def project_name(project: str) -> str:
    """What a project is called until the user renames it: the end of its path or remote. Where one is shown, the stored
    name counts, see `called`."""
    return project.rstrip("/").rpartition("/")[2] or project


def called(project: str, names: Mapping[str, str]) -> str:
    """What to call a project, by the stored names; by its id where nothing is stored of it."""
    return names.get(project) or project_name(project)
