"""Generator of the table of settings in `docs/configuration.md`, from `Config`: `python -m
claude_mem_lite.cli.reference.settings docs/configuration.md`.

A test compares the page with the output, so that every setting is documented.
"""

import ast
import inspect
import json
import sys
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from pathlib import Path

from claude_mem_lite import config
from claude_mem_lite.config import VARIABLES, Config
from claude_mem_lite.project_config import ALLOWED

BEGIN, END = "<!-- settings: begin (generated) -->", "<!-- settings: end -->"
_TYPES = {"int": "whole number", "float": "number", "str": "string", "bool": "true or false"}
_OF_PROJECTS = {
    "budget_tokens": "A project may lower it.",
    "prompt_budget_tokens": "A project may lower it.",
    "preset": "A project may choose a built-in one.",
    "exclude": "A project may add folders of its own.",
    "ignored_tools": "A project may add some.",
}


def table() -> str:
    """Return the generated part of the page."""
    docstrings = dict(_docstrings())
    lines = ["| key | type | default | what it does |", "|---|---|---|---|"]
    lines += [_row(field, docstrings[field.name]) for field in fields(Config)]
    return "\n".join(lines)


def with_table(page: str) -> str:
    """Return the page with a new generated part."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def _row(field: "Field[object]", about: str) -> str:
    parts = [about]
    if field.name in VARIABLES:
        parts.append(f"`{VARIABLES[field.name]}` goes before it.")
    if field.name in ALLOWED:
        parts.append(_OF_PROJECTS[field.name])
    return f"| `{field.name}` | {_type_of(field)} | `{_default_of(field)}` | {' '.join(parts)} |"


def _type_of(field: "Field[object]") -> str:
    name = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", "")
    if field.name == "presets":
        return "tables"
    return _TYPES.get(name, "list of strings")


def _default_of(field: "Field[object]") -> str:
    assert field.default is not MISSING
    if field.name == "presets":
        return "{}"
    return json.dumps(list(field.default) if isinstance(field.default, tuple) else field.default)


def _docstrings() -> Iterator[tuple[str, str]]:
    """Return each setting with its docstring on one line."""
    (made,) = (
        node
        for node in ast.parse(inspect.getsource(config)).body
        if isinstance(node, ast.ClassDef) and node.name == "Config"
    )
    for one, below in zip(made.body, made.body[1:], strict=False):
        has_docstring = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and has_docstring:
            yield one.target.id, " ".join(str(below.value.value).split())  # type: ignore[attr-defined]


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(with_table(page.read_text("utf-8")), "utf-8")
