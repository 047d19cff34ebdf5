"""Figures of the source: size, folders, imports and wording. `python tools/house.py` prints them as a table.

The targets are those of docs/architecture.md#figures. Counting only: tests hold the rules that must never break."""

import ast
import re
import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "claude_mem_lite"
_RELATIVE_OPENER = re.compile(r"(?:What|How|Which|Whether|Whose|Those|Where|Why|Who)\b")
_PRONOUN = re.compile(
    r"(?i)\b(?:its?|th(?:at|is|ese|ose)|what|which|whose|who|ones?|they|them|their|such|t?here)\b(?!['’])"
)
_WORD = re.compile(r"[^\W\d_]+")
_OLD_LIMIT = re.compile(r"_?(?:MOST|LEAST|LONGEST|SHORTEST)_\w+")
_PATCHED_CONSTANT = re.compile(r"setattr\([^)]*?[\"'.,\s]_?[A-Z][A-Z0-9_]+[\"']", re.S)


@dataclass
class Figures:
    """Counts over all modules of the package."""

    lines: dict[str, int] = field(default_factory=dict)
    functions: list[int] = field(default_factory=list)
    docstrings: list[str] = field(default_factory=list)
    classes: Counter[str] = field(default_factory=Counter)
    identifiers: Counter[str] = field(default_factory=Counter)
    imports: dict[str, set[str]] = field(default_factory=dict)
    broad_excepts: int = 0
    dict_answers: int = 0
    deadline_floats: int = 0


def measure(package: Path = PACKAGE) -> Figures:
    """Count everything in the modules of a package."""
    figures = Figures()
    paths = {_name(path, package): path for path in sorted(package.rglob("*.py"))}
    for name, path in paths.items():
        text = path.read_text("utf-8")
        if not text.strip():
            continue
        figures.lines[name] = text.count("\n")
        tree = ast.parse(text)
        figures.imports[name] = set(_imported(tree, package.name, paths)) - {name}
        for node in ast.walk(tree):
            _count(node, figures)
    return figures


def _count(node: ast.AST, figures: Figures) -> None:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        figures.functions.append((node.end_lineno or node.lineno) - node.lineno + 1)
        figures.identifiers[node.name] += 1
        figures.dict_answers += node.returns is not None and ast.unparse(node.returns) == "dict[str, object]"
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            figures.identifiers[argument.arg] += 1
            is_float = argument.annotation is not None and ast.unparse(argument.annotation) == "float"
            figures.deadline_floats += argument.arg == "deadline" and is_float
    elif isinstance(node, ast.ClassDef):
        figures.classes[node.name] += 1
        figures.identifiers[node.name] += 1
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        figures.identifiers[node.id] += 1
    elif isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Name):
        figures.broad_excepts += node.type.id in ("Exception", "BaseException")
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        docstring = ast.get_docstring(node)
        figures.docstrings += [docstring] if docstring else []


def _imported(tree: ast.AST, package: str, paths: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for first, *rest in (name.split(".") for name in names):
            full = "/".join(rest) if first == package else ""
            yield from (each for each in (full, full.rpartition("/")[0]) if each in paths)


def _name(path: Path, package: Path) -> str:
    return path.relative_to(package).as_posix().removesuffix(".py")


def cycles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Return the modules that import each other in circles, as one group; imports inside functions count."""
    left = {name: set(found) & set(imports) for name, found in imports.items()}
    while outside := [name for name in left if not left[name] or not any(name in found for found in left.values())]:
        left = {name: found.difference(outside) for name, found in left.items() if name not in outside}
    return [sorted(left)] if left else []


def folders(figures: Figures) -> Counter[str]:
    """Return how many modules each folder holds."""
    names = (name for name in figures.lines if not name.endswith("__init__"))
    return Counter(name.rpartition("/")[0] or "(top)" for name in names)


def patched_constants(tests: Path = ROOT / "tests") -> int:
    """Return how many constants of modules the tests replace."""
    return sum(len(_PATCHED_CONSTANT.findall(path.read_text("utf-8"))) for path in tests.rglob("*.py"))


def rows(figures: Figures) -> list[tuple[str, str, str]]:
    """Return the table: what is counted, its figure, its target."""
    sizes = [lines for name, lines in figures.lines.items() if not name.endswith("__init__")]
    words = _WORD.findall(" ".join(figures.docstrings))
    pronouns = _PRONOUN.findall(" ".join(figures.docstrings))
    openers = sum(1 for one in figures.docstrings if _RELATIVE_OPENER.match(one))
    (largest, number), *_ = folders(figures).most_common(1)
    told = sum(count for name, count in figures.identifiers.items() if "told" in name.lower())
    limits = sum(count for name, count in figures.identifiers.items() if _OLD_LIMIT.fullmatch(name))
    return [
        ("source lines", str(sum(figures.lines.values())), "≤ 53,000"),
        ("modules", str(len(sizes)), "≤ 385"),
        ("modules in the largest folder", f"{number} ({largest})", "≤ 25"),
        ("import cycles", str(len(cycles(figures.imports))), "0"),
        ("median and largest module", f"{statistics.median(sizes):g}, {max(sizes)}", "130 to 160, ≤ 400"),
        ("median and 90th percentile of functions", _spread(figures.functions), "≤ 6, ≤ 17"),
        ("broad excepts per 1,000 lines", f"{1000 * figures.broad_excepts / sum(sizes):.2f}", "≤ 0.5"),
        ("class names used twice or more", str(sum(1 for n in figures.classes.values() if n > 1)), "≤ 10"),
        ("docstrings with a relative opener", f"{100 * openers / len(figures.docstrings):.1f} %", "≤ 5 %"),
        ("pronouns per 100 words of docstrings", f"{100 * len(pronouns) / len(words):.1f}", "≤ 6"),
        ("identifiers with `told`", str(told), "0"),
        ("limits not named MAX or MIN", str(limits), "0"),
        ("functions that return dict[str, object]", str(figures.dict_answers), "0"),
        ("parameters `deadline: float`", str(figures.deadline_floats), "0"),
        ("constants that tests replace", str(patched_constants()), "0"),
    ]


def _spread(sizes: list[int]) -> str:
    return f"{statistics.median(sizes):g}, {sorted(sizes)[int(0.9 * len(sizes))]}"


if __name__ == "__main__":
    print("| check | now | target |\n|---|--:|--:|")
    for name, now, target in rows(measure()):
        print(f"| {name} | {now} | {target} |")
