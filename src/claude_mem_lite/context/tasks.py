"""What a session is about, by words: coding, debugging, documentation or architecture.

Read from prompts by `detect`, and looked for in memories by `scores`. The words stand in docs/scores.md too."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, get_args

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
