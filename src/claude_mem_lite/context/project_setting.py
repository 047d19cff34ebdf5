"""Where a session starts: the main language, the task, and what to look for. Fast and bounded: git is not run, no
tree is walked, and what cannot be told within the time is left out. docs/project-facts.md has the rules.

The main language of a folder: by the manifests in its root, else by the names git's index has, else by a listing.

Nothing is read but names, and of them a bounded number.

What a session is about, by words: coding, debugging, documentation or architecture.

Read from prompts by `detect`, and looked for in memories by `scoring`. The words stand in docs/scores.md too."""

import os
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from claude_mem_lite.code.git.entries import Entries
from claude_mem_lite.code.git.repository import open_repository
from claude_mem_lite.code.git.safe_files import list_folder
from claude_mem_lite.code.git.status import touched
from claude_mem_lite.context.forecast import SESSIONS, USUAL_BRANCHES, Edited, Forecast, forecast
from claude_mem_lite.models import Place, Session
from claude_mem_lite.scopes import LANGUAGE_ENDINGS
from claude_mem_lite.store import sessions, turns
from claude_mem_lite.text import one_line, within

Task = Literal["coding", "debugging", "documentation", "architecture"]
TASKS: tuple[Task, ...] = get_args(Task)

# Each keyword with how it is written, English, German, Chinese. Beginnings of words, but for those that end in $:
# `fix` is not what a fixture is about, nor `add` an address.
_SPELLINGS: dict[Task, dict[str, str]] = {
    "coding": {
        "implement": "implement 实现",
        "add": "add$ adds$ added$ adding$ hinzu füg 添加 增加",
        "create": "creat erstell 创建",
        "build": "build bau$ baue 构建",
        "feature": "feature 功能",
        "refactor": "refactor 重构",
        "function": "function funktion$ funktionen$ 函数",
        "test": "test 测试",
    },
    "debugging": {
        "bug": "bug 漏洞",
        "error": "error fehler 错误 报错",
        "fail": "fail fehlgeschl schlägt 失败",
        "fix": "fix$ fixes$ fixed$ fixing$ behebe behoben repar 修复 修正",
        "crash": "crash abstürz absturz 崩溃",
        "debug": "debug 调试",
        "exception": "exception ausnahme 异常",
        "trace": "trace$ traces$ traceback stacktrace 堆栈",
    },
    "documentation": {
        "document": "document docs$ doc$ dokument 文档",
        "readme": "readme",
        "docstring": "docstring",
        "comment": "comment kommentar 注释",
        "changelog": "changelog",
        "guide": "guide$ guides$ anleitung 指南",
        "tutorial": "tutorial 教程",
        "example": "example beispiel 示例 例子",
    },
    "architecture": {
        "architecture": "architec architek 架构",
        "design": "design entwurf entwirf 设计",
        "structure": "structur restructur struktur 结构",
        "module": "modul 模块",
        "interface": "interface schnittstelle 接口",
        "schema": "schema",
        "dependency": "dependenc abhängig 依赖",
        "decision": "decision decide entscheid 决定",
    },
}
KEYWORDS: dict[Task, tuple[str, ...]] = {task: tuple(_SPELLINGS[task]) for task in TASKS}


def _pattern(spellings: dict[str, str]) -> re.Pattern[str]:
    def written(spelling: str) -> str:
        return f"{spelling[:-1]}(?![a-zäöüß])" if spelling.endswith("$") else spelling

    groups = (f"(?P<{word}>{'|'.join(map(written, ways.split()))})" for word, ways in spellings.items())
    return re.compile(f"(?<![a-zäöüß])(?:{'|'.join(groups)})")


_PATTERNS = {task: _pattern(_SPELLINGS[task]) for task in TASKS}


def keywords_in(text: str, task: Task) -> set[str]:
    """Which of a task's keywords a text has; one pass, because every memory that may be given is asked."""
    return {found.lastgroup for found in _PATTERNS[task].finditer(text.lower()) if found.lastgroup}


def share_of(text: str, task: Task) -> float:
    """The share of a task's keywords that a text has, from 0 to 1."""
    return len(keywords_in(text, task)) / len(KEYWORDS[task])


def task_of(prompts: Sequence[str]) -> Task | None:
    """What prompts are about: the task of which most keywords are in them, a keyword counted once a prompt.

    Coding gives way when another has as many, since every task has to do with code; None when others do, or when
    nothing was found."""
    found: Counter[Task] = Counter()
    for prompt in prompts:
        found.update({task: len(keywords_in(prompt, task)) for task in TASKS})
    most = max(found.values(), default=0)
    best = [task for task in TASKS if found[task] == most]
    if most == 0:
        return None
    special = [task for task in best if task != "coding"]
    return best[0] if len(best) == 1 else special[0] if len(special) == 1 else None


_MAX_LISTED = 2_000
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
    names = [name for folder in ("", "src") for name, _ in list_folder(Path(root), folder, _MAX_LISTED)]
    return Counter(name.rpartition(".")[2].lower() for name in names if "." in name)


DETECT_S = 0.03
"""How long the files of a checkout may be looked at."""
_LAST_SESSIONS = 5
_MAX_PROMPTS = 30
_MAX_ASKED_ABOUT = 40
_MAX_TOUCHED = 20
_MAX_SUMMARY_LENGTH = 300
_MAX_NAMED = 8
_BETWEEN_WORDS = re.compile(r"[^\w.]+|_+")


@dataclass(frozen=True, slots=True)
class Setting:
    """What can be told of a place before anything is looked up."""

    language: str = ""
    task: Task | None = None
    query: str = ""
    """The last summary, the branch and the touched files, in a few words."""
    forecast: Forecast = field(default_factory=Forecast)
    """The files that the coming session will probably touch."""


def detect(db: sqlite3.Connection, place: Place, without_session: str = "", deadline: float | None = None) -> Setting:
    """The setting of a place, for a session that is not `without_session`; `deadline` is on the monotonic clock."""
    until = time.monotonic() + DETECT_S if deadline is None else deadline
    last = sessions.newest(db, project=place.project, without=without_session, with_headline=True, limit=_LAST_SESSIONS)
    repository = open_repository(place.root) if place.root else None
    entries = repository.entries() if repository else None
    files: list[str] = []
    if repository is not None and entries is not None:
        files = touched(repository, entries, place.root, _edited(last, place.root), _MAX_TOUCHED, until)
    return Setting(
        language=main_language(place.root, entries) if place.root else "",
        task=task_of(turns.last_prompts(db, last[0].id, _MAX_PROMPTS)) if last else None,
        query=_query(last[0] if last else None, place.branch, files),
        forecast=_forecast(db, place, without_session, files),
    )


def _forecast(db: sqlite3.Connection, place: Place, without_session: str, touched: Sequence[str]) -> Forecast:
    past = sessions.edited_files(db, place.project, without=without_session, limit=SESSIONS)
    edited = [Edited(branch, tuple(from_root(files, place.root))) for branch, files in past]
    return forecast(edited, place.branch, touched)


def from_root(files: Iterable[str], root: str) -> list[str]:
    """Return paths as seen from the root of the project."""
    return [file.removeprefix(f"{root}/") for file in files]


def _edited(found: Sequence[Session], root: str) -> list[str]:
    """The files that sessions edited, as seen from the root, the last edited first."""
    paths = (path for session in found for path in reversed(session.summary.files_edited))
    inside = from_root(paths, root)
    return list(dict.fromkeys(path for path in inside if not path.startswith(("/", "~"))))[:_MAX_ASKED_ABOUT]


def branch_words(branch: str) -> str:
    """What the name of a branch says of the work done there; '' when it says nothing."""
    return "" if branch in USUAL_BRANCHES else " ".join(_BETWEEN_WORDS.split(branch))


def _query(last: Session | None, branch: str, files: Sequence[str]) -> str:
    told = ""
    if last is not None:
        summary = last.summary
        request = summary.request if summary.request not in summary.headline else ""
        told = within(one_line(" ".join((summary.headline, *summary.next_steps, request))), _MAX_SUMMARY_LENGTH)
    on = branch_words(branch)
    names = dict.fromkeys(os.path.basename(path) for path in files[:_MAX_NAMED])
    return one_line(" ".join((told, on, *names)))
