"""How a text becomes a tree: which grammar, within which bounds, and what is done about what grammars stumble over."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from claude_mem_lite.code.syntax.languages import encoded, language_of, parse
from claude_mem_lite.code.syntax.symbols import read_symbols

SOURCES = Path(__file__).parent / "sources"
WORKING = ["kiosk.js", "board.tsx", "storage.ts", "server.go", "ledger.rs", "Library.java", "ring.c", "shapes.cpp"]


def names_in(text: str, language: str) -> list[str]:
    found = read_symbols(text, language)
    assert found is not None
    return [f"{one.kind} {one.name}" for one in found]


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    # a process of its own: what it shows would stop this one, or stay in its caches
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/app.py", "python"),
        ("typings/app.pyi", "python"),
        ("web/app.js", "javascript"),
        ("web/App.jsx", "javascript"),
        ("web/app.mjs", "javascript"),
        ("web/app.cjs", "javascript"),
        ("web/app.ts", "typescript"),
        ("web/app.d.ts", "typescript"),
        ("web/app.mts", "typescript"),
        ("web/app.cts", "typescript"),
        ("web/App.tsx", "tsx"),
        ("main.go", "go"),
        ("src/lib.rs", "rust"),
        ("org/App.java", "java"),
        ("src/ring.c", "c"),
        ("src/ring.h", "cpp"),
        ("src/shapes.cpp", "cpp"),
        ("src/shapes.hpp", "cpp"),
        ("lib/app.rb", "ruby"),
        ("Rakefile", "ruby"),
        ("SRC/APP.PY", "python"),
        ("README.md", ""),
        ("py", ""),
        ("folder.py/notes", ""),
        ("app.py.orig", ""),
        ("", ""),
    ],
)
def test_the_name_of_a_file_tells_its_language(path: str, language: str) -> None:
    assert language_of(path) == language


def test_nodes_of_a_tree_know_their_text() -> None:
    text = "# Grüße\ndef größe(): return 1\n"
    tree = parse(text, "python")
    assert tree is not None
    function = tree.root_node.named_children[1]
    assert function.text == b"def gr\xc3\xb6\xc3\x9fe(): return 1"
    assert encoded(text)[function.start_byte : function.end_byte] == function.text


def test_threads_read_at_the_same_time_what_one_reads_alone() -> None:
    texts = [((SOURCES / file).read_text("utf-8") * 5, language_of(file)) for file in WORKING] * 4
    alone = [read_symbols(text, language) for text, language in texts]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda each: read_symbols(*each), texts))
    assert None not in alone
    assert together == alone


def test_a_grammar_that_cannot_be_imported_is_told_once_and_its_files_are_not_read() -> None:
    done = run_python(
        "import sys; sys.modules['tree_sitter_go'] = None\n"
        "from claude_mem_lite.code.syntax.symbols import read_symbols\n"
        "print([read_symbols('package a', 'go') for _ in range(3)], read_symbols('', 'python'))"
    )
    assert done.stdout == "[None, None, None] ()\n"
    assert done.stderr.count("grammar for go") == 1


def test_a_grammar_takes_time_to_load_until_it_was_used() -> None:
    code = """
from claude_mem_lite.code.syntax.languages import loading_s
from claude_mem_lite.code.syntax.symbols import read_symbols
before = [loading_s(name) for name in ("typescript", "python", "cobol")]
read_symbols("const one = 1", "typescript")
print(before, loading_s("typescript"), loading_s("tsx") > 0)
"""
    assert run_python(code).stdout == "[0.04, 0.005, 0.0] 0.0 True\n"


def test_importing_what_reads_code_imports_no_grammar() -> None:
    done = run_python(
        "import sys, claude_mem_lite.code.syntax.symbols\n"
        "print([name for name in sys.modules if name.startswith('tree_sitter')])"
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("language", ["typescript", "tsx"])
@pytest.mark.parametrize(
    "broken",
    [
        """s=[""=r''(:::::(.""",  # for ever in the middle of a text
        "<a {{b:>c:d(e f)",  # for ever at its end
    ],
)
def test_broken_text_that_the_grammar_of_typescript_goes_round_in_comes_to_an_end(language: str, broken: str) -> None:
    text = broken + "\nfunction after() {}\n" * 100
    done = run_python(
        "from claude_mem_lite.code.syntax.languages import parse\n"
        "from claude_mem_lite.code.syntax.symbols import read_symbols\n"
        f"for text in ({broken!r}, {text!r}): read_symbols(text, {language!r}), parse(text, {language!r})\n"
        f"print(read_symbols('function whole() {{}}', {language!r})[0].name)"
    )
    assert done.stdout == "whole\n"


@pytest.mark.parametrize(
    ("language", "opening", "closing"),
    [("python", "(", ")"), ("javascript", "[", "]"), ("go", "f(", ")"), ("rust", "{", "}"), ("cpp", "(", ")")],
)
def test_what_is_nested_deeper_than_anyone_writes_is_not_read(language: str, opening: str, closing: str) -> None:
    def nested(depth: int) -> str:
        return opening * depth + "1" + closing * depth

    assert read_symbols(nested(100), language) is not None
    assert read_symbols(nested(5_000), language) is None


def test_many_lines_that_each_assign_or_list_something_are_not_taken_for_nested() -> None:
    constants = "".join(f"KEY_{number} = {number}\n" for number in range(3_000))
    assert names_in(constants + "def last(): pass\n", "python") == ["function last"]
    types = "type Key =\n" + "".join(f"  | Key{number}\n" for number in range(3_000))
    assert names_in(types, "typescript") == ["class Key"]


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_macros_alone_on_a_line_do_not_hide_what_follows(language: str) -> None:
    struct = "__BEGIN_DECLS\n\nstruct header\n{\n  int size;\n};\n"
    text = struct + "\nENGINE_INLINE\nint size_of(struct header *h) { return 1; }\n"
    assert names_in(text, language) == ["class header", "function size_of"]


@pytest.mark.parametrize(
    "head", ["class ENGINE_API Window", "class ENGINE_API Window final", "struct ENGINE_API Window"]
)
@pytest.mark.parametrize("bases", ["", " : public Frame"])
def test_a_macro_before_the_name_of_a_class_does_not_make_it_a_function(head: str, bases: str) -> None:
    text = f"{head}{bases} {{\npublic:\n  int width() const {{ return 1; }}\n}};\n"
    found = read_symbols(text, "cpp")
    assert found is not None
    assert [(one.kind, one.name) for one in found] == [("class", "Window"), ("method", "Window.width")]
    assert found[0].signature == f"{head}{bases}"


def test_a_macro_before_a_type_is_no_scope_of_the_function() -> None:
    text = "static ENGINE_INLINE error_t\nerror_make (source_t source)\n{\n  return 1;\n}\n"
    assert names_in(text, "cpp") == ["function error_make"]
