"""The main language of a folder: by the manifests in its root, else by the names git's index has, else by a listing.

Nothing is read but names, and of them a bounded number."""

import os
from collections import Counter
from pathlib import Path

from claude_mem_lite.code.git.entries import Entries
from claude_mem_lite.code.git.repository import open_repository
from claude_mem_lite.code.git.safe_files import list_folder
from claude_mem_lite.scopes import LANGUAGE_ENDINGS

_MOST_LISTED = 2_000
# In this order: a manifest that names the language more surely comes first. Where it may mean several, files decide.
_MANIFESTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Cargo.toml", ("rust",)),
    ("go.mod", ("go",)),
    ("tsconfig.json", ("typescript",)),
    ("pyproject.toml", ("python",)),
    ("setup.py", ("python",)),
    ("requirements.txt", ("python",)),
    ("package.json", ("javascript", "typescript")),
    ("pom.xml", ("java", "kotlin")),
    ("build.gradle", ("java", "kotlin")),
    ("build.gradle.kts", ("java", "kotlin")),
    ("Gemfile", ("ruby",)),
    ("composer.json", ("php",)),
    ("mix.exs", ("elixir",)),
    ("Package.swift", ("swift",)),
    ("CMakeLists.txt", ("c++", "c")),
)
_BY_ENDING = {ending: language for language, endings in LANGUAGE_ENDINGS.items() for ending in endings.split()}


def language_of(root: str) -> str:
    """The main language of a checkout, by its own look at git's index; '' when nothing tells."""
    repository = open_repository(root) if root else None
    return main_language(root, repository.entries() if repository else None) if root else ""


def main_language(root: str, entries: Entries | None = None) -> str:
    """The language a project is mainly written in; '' when nothing tells."""
    named: dict[str, None] = {}
    for manifest, languages in _MANIFESTS:
        if os.path.isfile(os.path.join(root, manifest)):
            named.update(dict.fromkeys(languages))
    if len(named) == 1:
        return next(iter(named))
    counts = _count(entries.endings() if entries is not None and entries.count else _listed(root))
    if named:
        return max(named, key=lambda language: counts[language])  # of equals, the one that was named first
    return max(sorted(counts), key=lambda language: counts[language], default="")


def _count(endings: Counter[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for ending, number in endings.items():
        if ending in _BY_ENDING:
            counts[_BY_ENDING[ending]] += number
    return counts


def _listed(root: str) -> Counter[str]:
    """The endings of the files in the root and in its `src`."""
    names = [name for folder in ("", "src") for name, _ in list_folder(Path(root), folder, _MOST_LISTED)]
    return Counter(name.rpartition(".")[2].lower() for name in names if "." in name)
