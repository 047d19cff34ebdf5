"""Setting of a session at its start: main language, task, search query, and forecast of the files it will touch.

Fast and bounded: does not run git, walks no tree, and omits results that exceed the time. The language comes from
manifests in the root, else from file names in git's index, else from a listing. The task comes from keywords in
prompts. docs/project-facts.md, docs/scores.md and docs/context.md have the rules."""

import math
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from claude_mem_lite.code.git.index import Entries
from claude_mem_lite.code.git.repository import open_repository
from claude_mem_lite.code.git.safe_files import list_folder
from claude_mem_lite.code.git.status import touched
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.limits import LIMITS
from claude_mem_lite.models import Location, Session
from claude_mem_lite.scopes import LANGUAGE_ENDINGS
from claude_mem_lite.store import sessions, turns
from claude_mem_lite.text import one_line, within
from claude_mem_lite.values import frozen

MAX_SESSIONS = 100
"""Number of past sessions that count."""
_FADE = 0.93
"""Weight of a session relative to the next newer session."""
_SAME_BRANCH = 3.0
_TOUCHED_NOW = 3.0
"""Evidence of uncommitted changes in a file; an edit in the last session counts 1."""
_CERTAINTY = 0.3
USUAL_BRANCHES = frozenset(("", "main", "master", "trunk", "develop", "dev"))
"""Branch names without information about the work."""


@frozen
class EditedFiles:
    """Files that a session edited, relative to the root, and the branch of the session."""

    branch: str
    files: tuple[str, ...]


@frozen
class Forecast:
    """Shares of the coming work by file; the sum is 1, or 0 without evidence."""

    shares: Mapping[str, float] = field(default_factory=dict)
    sessions: int = 0
    """Number of past sessions behind the forecast."""

    def share(self, files: Iterable[str]) -> float:
        """Return the share of the coming work that files are expected to be."""
        # fsum: the order of a set differs between processes and must not change the sum
        return math.fsum(self.shares.get(file, 0.0) for file in set(files))

    def most_expected(self, files: Sequence[str], limit: int) -> list[str]:
        """Return the files with the highest shares, in their given order."""
        best = sorted(dict.fromkeys(files), key=lambda file: -self.shares.get(file, 0.0))[:limit]
        return [file for file in dict.fromkeys(files) if file in best]


def forecast(past: Sequence[EditedFiles], branch: str, touched: Iterable[str]) -> Forecast:
    """Return the forecast for a session on a branch, from earlier sessions, newest first."""
    evidence: dict[str, float] = {}
    sessions: dict[str, int] = {}
    for age, session in enumerate(past):
        is_same = session.branch == branch and branch not in USUAL_BRANCHES
        weight = _FADE**age * (_SAME_BRANCH if is_same else 1.0)
        for file in set(session.files):
            evidence[file] = evidence.get(file, 0.0) + weight
            sessions[file] = sessions.get(file, 0) + 1
    for file in touched:
        evidence[file] = evidence.get(file, 0.0) + _TOUCHED_NOW
    expected = {
        file: (1 - math.exp(-_CERTAINTY * seen)) * math.log((len(past) + 1) / sessions.get(file, 1))
        for file, seen in evidence.items()
    }
    # Without past sessions every logarithm is 0; then the evidence itself is the forecast.
    if not any(expected.values()):
        expected = evidence
    total = math.fsum(expected.values())
    return Forecast({file: value / total for file, value in expected.items()} if total else {}, len(past))


Task = Literal["coding", "debugging", "documentation", "architecture"]
TASKS: tuple[Task, ...] = get_args(Task)
# Spellings of each keyword in English, German and Chinese. They match beginnings of words; with $ at the end, whole
# words: `fix` must not match a fixture, nor `add` an address.
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
_MAX_LISTED = 2_000
# The surest manifests come first. For a manifest of several languages, files decide.
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
_LAST_SESSIONS = 5
_MAX_PROMPTS = 30
_MAX_ASKED_ABOUT = 40
_MAX_TOUCHED = 20
_MAX_SUMMARY_LENGTH = 300
_MAX_NAMED = 8
_BETWEEN_WORDS = re.compile(r"[^\w.]+|_+")


@frozen
class Setting:
    """Facts about a location, known before any layer runs."""

    language: str = ""
    task: Task | None = None
    query: str = ""
    """Last summary, branch and touched files, in a few words."""
    forecast: Forecast = field(default_factory=Forecast)
    """Files that the coming session will probably touch."""
    last_began_at: datetime | None = None
    """Beginning of the last session: what teammates shared later is news."""


def detect(
    db: sqlite3.Connection, location: Location, without_session: str = "", deadline: Deadline | None = None
) -> Setting:
    """Return the setting of a location, for a session other than `without_session`."""
    last = sessions.newest(
        db, project=location.project, without=without_session, with_headline=True, limit=_LAST_SESSIONS
    )
    repository = open_repository(location.root) if location.root else None
    entries = repository.entries() if repository else None
    files: list[str] = []
    if repository is not None and entries is not None:
        files = touched(
            repository,
            entries,
            location.root,
            _edited(last, location.root),
            _MAX_TOUCHED,
            deadline or Deadline.after(LIMITS.detect_s),
        )
    return Setting(
        language=main_language(location.root, entries) if location.root else "",
        task=task_of(turns.last_prompts(db, last[0].id, _MAX_PROMPTS)) if last else None,
        query=_query(last[0] if last else None, location.branch, files),
        forecast=_forecast(db, location, without_session, files),
        last_began_at=last[0].started_at if last else None,
    )


def _edited(last: Sequence[Session], root: str) -> list[str]:
    """Return the files that sessions edited, relative to the root, last edit first."""
    paths = (path for session in last for path in reversed(session.summary.files_edited))
    inside = from_root(paths, root)
    return list(dict.fromkeys(path for path in inside if not path.startswith(("/", "~"))))[:_MAX_ASKED_ABOUT]


def _query(last: Session | None, branch: str, files: Sequence[str]) -> str:
    summary_text = ""
    if last is not None:
        summary = last.summary
        request = summary.request if summary.request not in summary.headline else ""
        summary_text = within(one_line(" ".join((summary.headline, *summary.next_steps, request))), _MAX_SUMMARY_LENGTH)
    on = branch_words(branch)
    names = dict.fromkeys(os.path.basename(path) for path in files[:_MAX_NAMED])
    return one_line(" ".join((summary_text, on, *names)))


def branch_words(branch: str) -> str:
    """Return the words of a branch name; '' for usual branches."""
    return "" if branch in USUAL_BRANCHES else " ".join(_BETWEEN_WORDS.split(branch))


def _forecast(db: sqlite3.Connection, location: Location, without_session: str, touched: Sequence[str]) -> Forecast:
    past = sessions.edited_files(db, location.project, without=without_session, limit=MAX_SESSIONS)
    edited = [EditedFiles(branch, tuple(from_root(files, location.root))) for branch, files in past]
    return forecast(edited, location.branch, touched)


def from_root(files: Iterable[str], root: str) -> list[str]:
    """Return paths relative to the root of the project."""
    return [file.removeprefix(f"{root}/") for file in files]


def language_of(root: str) -> str:
    """Return the main language of a checkout, opening git's index; '' if unknown."""
    repository = open_repository(root) if root else None
    return main_language(root, repository.entries() if repository else None) if root else ""


def main_language(root: str, entries: Entries | None = None) -> str:
    """Return the main language of a project; '' if unknown."""
    named: dict[str, None] = {}
    for manifest, languages in _MANIFESTS:
        if os.path.isfile(os.path.join(root, manifest)):
            named.update(dict.fromkeys(languages))
    if len(named) == 1:
        return next(iter(named))
    counts = _count(entries.endings() if entries is not None and entries.count else _listed(root))
    if named:
        return max(named, key=lambda language: counts[language])  # in a tie, the first language
    return max(sorted(counts), key=lambda language: counts[language], default="")


def _count(endings: Counter[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for ending, number in endings.items():
        if ending in _BY_ENDING:
            counts[_BY_ENDING[ending]] += number
    return counts


def _listed(root: str) -> Counter[str]:
    """Return the file endings in the root and in `src`."""
    names = [name for folder in ("", "src") for name, _ in list_folder(Path(root), folder, _MAX_LISTED)]
    return Counter(name.rpartition(".")[2].lower() for name in names if "." in name)


def task_of(prompts: Sequence[str]) -> Task | None:
    """Return the task with the most keywords in prompts; each keyword counts once per prompt.

    In a tie any other task wins over coding, since every task involves code. None for other ties, or without
    keywords."""
    counts: Counter[Task] = Counter()
    for prompt in prompts:
        counts.update({task: len(keywords_in(prompt, task)) for task in TASKS})
    highest = max(counts.values(), default=0)
    best = [task for task in TASKS if counts[task] == highest]
    if highest == 0:
        return None
    special = [task for task in best if task != "coding"]
    return best[0] if len(best) == 1 else special[0] if len(special) == 1 else None


def share_of(text: str, task: Task) -> float:
    """Return the share of a task's keywords in a text, from 0 to 1."""
    return len(keywords_in(text, task)) / len(KEYWORDS[task])


def keywords_in(text: str, task: Task) -> set[str]:
    """Return the keywords of a task in a text, in one pass, because every candidate is tested."""
    return {match.lastgroup for match in _pattern(task).finditer(text.lower()) if match.lastgroup}


@cache
def _pattern(task: Task) -> re.Pattern[str]:
    def written(spelling: str) -> str:
        return f"{spelling[:-1]}(?![a-zäöüß])" if spelling.endswith("$") else spelling

    groups = (f"(?P<{word}>{'|'.join(map(written, spelled.split()))})" for word, spelled in _SPELLINGS[task].items())
    return re.compile(f"(?<![a-zäöüß])(?:{'|'.join(groups)})")
