"""Scopes of memories, as users write them and as the store keeps them; canonical names of languages; names of
projects."""

from collections.abc import Mapping

SCOPES = "universal, language:NAME, project or project:ID"
"""Forms in which a user writes a scope."""
SCOPE_FORMS = ("universal", "language:", "project", "project:")
"""Beginnings of these forms."""
UNIVERSAL_KINDS = ("preference", "rule", "anti_pattern")
"""Kinds with scope `universal` if the user gives none with `remember`."""
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
"""Languages that can be detected for a project, with the file name endings."""
LANGUAGES = tuple(LANGUAGE_ENDINGS)
SAME_LANGUAGE = {
    "js": "javascript", "jsx": "javascript", "ecmascript": "javascript", "ts": "typescript", "tsx": "typescript",
    "py": "python", "python3": "python", "golang": "go", "rs": "rust", "rb": "ruby", "kt": "kotlin",
    "bash": "shell", "sh": "shell", "zsh": "shell", "cpp": "c++", "cxx": "c++", "cplusplus": "c++",
    "cs": "c#", "csharp": "c#", "c-sharp": "c#", "ex": "elixir",
}  # fmt: skip
"""Other names of a language, with the canonical name."""


def language_name(written: str) -> str:
    """Return the canonical name of a language: "Golang" is `go`, and "bash" is `shell`."""
    name = written.strip().lower()
    return SAME_LANGUAGE.get(name, name)


def written_scope(written: str) -> str | None:
    """Return a user's scope in the stored spelling; None for an invalid scope.

    The id of a project stays unchanged: an id may be the path of a folder with spaces at the end."""
    word, colon, rest = written.partition(":")
    word = word.strip().lower()
    if not colon:
        return word if word in ("universal", "project") else None
    if word == "project" and rest.strip():
        return f"project:{rest}"
    name = language_name(rest)
    return f"language:{name}" if word == "language" and name else None


def project_of_scope(scope: str, otherwise: str) -> str:
    """Return the project that a scope names, else `otherwise`."""
    return scope.removeprefix("project:") if scope.startswith("project:") else otherwise


def project_name(project: str) -> str:
    """Return the default name of a project: the end of its path or remote. A stored name takes precedence, see
    `called`."""
    return project.rstrip("/").rpartition("/")[2] or project


def called(project: str, names: Mapping[str, str]) -> str:
    """Return the stored name of a project; without a stored name, the default name."""
    return names.get(project) or project_name(project)
