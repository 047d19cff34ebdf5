"""Tests of tools/house.py: each fault that it counts is found in a small package."""

from pathlib import Path

from tools.house import cycles, folders, measure, patched_constants

FAULTY = '''"""What a module does."""
_MOST_ROWS = 3


def told(deadline: float) -> dict[str, object]:
    """Which one of them it is."""
    try:
        return {}
    except Exception:
        return {}
'''


def test_faults_of_a_module_are_counted(tmp_path: Path) -> None:
    figures = measure(_package(tmp_path, {"rows": FAULTY, "store/rows": "class Row:\n    pass\n"}))
    assert (figures.dict_answers, figures.deadline_floats, figures.broad_excepts) == (1, 1, 1)
    assert (figures.identifiers["told"], figures.identifiers["_MOST_ROWS"], figures.classes["Row"]) == (1, 1, 1)
    assert figures.docstrings == ["What a module does.", "Which one of them it is."]
    assert folders(figures) == {"(top)": 1, "store": 1}


def test_modules_that_import_each_other_are_a_cycle_however_they_are_imported(tmp_path: Path) -> None:
    for number, statement in enumerate(("import house.b", "from house import b", "from house.b import B")):
        package = _package(
            tmp_path / str(number), {"a": f"{statement}\n", "b": "from house.a import A\n", "c": "import house.a\n"}
        )
        assert cycles(measure(package).imports) == [["a", "b"]]


def test_modules_in_order_are_no_cycle(tmp_path: Path) -> None:
    package = _package(tmp_path, {"a": "import house.b\n", "b": "from house import c\n", "c": "C = 1\n"})
    assert cycles(measure(package).imports) == []


def test_constants_that_tests_replace_are_counted(tmp_path: Path) -> None:
    replacing = "monkeypatch.setattr"
    lines = (
        f'{replacing}(rows, "_MAX_ROWS", 3)',
        f'{replacing}("house.rows.MAX_ROWS", 3)',
        f'{replacing}(rows, "find", f)',
    )
    (tmp_path / "test_rows.py").write_text("\n".join(lines))
    assert patched_constants(tmp_path) == 2


def _package(folder: Path, modules: dict[str, str]) -> Path:
    for name, text in modules.items():
        path = folder / "house" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "house"
