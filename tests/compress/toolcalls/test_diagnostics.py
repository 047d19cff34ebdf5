"""The lines that say what went wrong, out of what compilers, linters and dying programs print."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.compress.toolcalls.diagnostics import error_lines, first_error, last_line, names_errors


@pytest.mark.parametrize(
    ("output", "error"),
    [
        (
            "> tsc\n\nsrc/a.ts(4,7): error TS2322: Type 'string' is wrong.\n",
            "src/a.ts(4,7): error TS2322: Type 'string' is wrong.",
        ),
        ("src/a.ts:4:7 - error TS2322: Type is wrong.\n", "src/a.ts:4:7: error TS2322: Type is wrong."),
        ("# shop\n./a.go:4:2: undefined: x\n", "./a.go:4:2: undefined: x"),
        ("npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://r/x\n", "404 Not Found - GET https://r/x"),
        ("fatal: not a git repository\n", "fatal: not a git repository"),
        ("bash: foo: command not found\n", "bash: foo: command not found"),
        ("#7 5.871   Error: pg_config executable not found.\n", "Error: pg_config executable not found."),
        ("│ Error: creating queue: AccessDenied\n", "Error: creating queue: AccessDenied"),
        ("web-1  | fatal: no database\n", "fatal: no database"),
        ("2026-03-04 10:00:00,123 ERROR shop: no broker\n", "ERROR shop: no broker"),
        ("e: file:///a/Tax.kt:17:22 Unresolved reference 'x'.\n", "/a/Tax.kt:17:22: Unresolved reference 'x'."),
        ("./app/page.tsx:14:9\nType error: no such property\n", "./app/page.tsx:14:9: Type error: no such property"),
        ("a.cpp:(.text+0x1): undefined reference to `f'\nclang: error: linker command failed\n",
         "a.cpp:(.text+0x1): undefined reference to `f'"),
        ("Segmentation fault (core dumped)\n", "Segmentation fault (core dumped)"),
        ("hint: Updates were rejected because\n ! [rejected] main -> main (fetch first)\n",
         "! [rejected] main -> main (fetch first)"),
        ("all good\n", ""),
        ("src/a.ts:4:7 - warning: unused\n", ""),
    ],
)  # fmt: skip
def test_the_first_error_is_the_line_that_tells(output: str, error: str) -> None:
    assert first_error(output) == error


@pytest.mark.parametrize(
    ("output", "errors"),
    [
        (
            'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nKeyError: \'id\'\n\n'
            "The above exception was the direct cause of the following exception:\n\n"
            'Traceback (most recent call last):\n  File "b.py", line 2, in g\n  File "/x/site-packages/c.py", line 9\n'
            "shop.NoOrder: id\n",
            ["shop.NoOrder: id (b.py:2)", "KeyError: 'id' (a.py:1)"],
        ),
        (
            "TypeError: x is undefined\n    at Module.run (node:internal/a:1:1)\n    at sync (file:///w/sync.mjs:27:30)\n",
            ["TypeError: x is undefined (/w/sync.mjs:27:30)"],
        ),
        (
            'Exception in thread "main" shop.Broken: no\n\tat a.B.c(B.java:1)\n'
            "Caused by: java.io.IOException: gone\n\tat a.D.e(D.java:2)\n",
            ["java.io.IOException: gone (D.java:2)"],
        ),
        ("thread 'main' panicked at src/main.rs:4:5:\nno config\n", ["no config (src/main.rs:4:5)"]),
        (
            "panic: no config\n\ngoroutine 1 [running]:\nmain.main()\n\t/w/main.go:12 +0x1d\n",
            ["panic: no config (/w/main.go:12)"],
        ),
        ("error[E0308]: mismatched types\n --> src/a.rs:4:5\n", ["error[E0308]: mismatched types (src/a.rs:4:5)"]),
        ("F841 Unused variable\n  --> a.py:4:5\n   |\n", ["F841 Unused variable (a.py:4:5)"]),
        (
            "/w/a.ts\n  1:2  error  'x' is wrong  no-x\n  3:4  warning  meh  no-y\n\n✖ 2 problems\n",
            ["/w/a.ts:1:2: 'x' is wrong no-x"],
        ),
        (
            "In a.sh line 3:\nrm $x\n   ^-- SC2086 (info): Quote it.\n",
            ["a.sh line 3: SC2086 (info): Quote it."],
        ),
        (
            "CMake Error at CMakeLists.txt:3 (find_package):\n  Could not find\n  fmt.\n\n",
            ["CMake Error at CMakeLists.txt:3 (find_package): Could not find fmt."],
        ),
        ("ERROR in ./a.js 1:1\nModule not found: b\n", ["./a.js: Module not found: b"]),
        (
            "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\nnpm error Found: a@2\n"
            'npm error peer a@"1" from b@3\n',
            ["ERESOLVE could not resolve", "Found: a@2", 'peer a@"1" from b@3'],
        ),
        (
            "ERROR: Cannot install a and b\n\nThe conflict is caused by:\n"
            "    a 1 depends on c<2\n    b 1 depends on c>2\n",
            ["Cannot install a and b", "a 1 depends on c<2", "b 1 depends on c>2"],
        ),
        (
            "Because a depends on b,\n  c is out.\nSo, because d,\n  version solving failed.\n",
            ["Because a depends on b, c is out", "So, because d, version solving failed"],
        ),
        ("would reformat a.py\nwould reformat b.py\n2 files would be reformatted\n",
         ["2 files would be reformatted: a.py, b.py"]),
        ("* What went wrong:\nA problem occurred.\n> No such task 'x'.\n", ["A problem occurred: No such task 'x'."]),
    ],
)  # fmt: skip
def test_an_error_over_several_lines_becomes_one_with_its_place(output: str, errors: list[str]) -> None:
    assert error_lines(output, 4) == errors


def test_error_lines_are_different_and_few() -> None:
    output = "\n".join(
        ["a.py:1:1: error: one", "a.py:1:1: error: one", "b.py:2:1: error: two", "c.py:3:1: error: three"]
    )
    assert error_lines(output, 2) == ["a.py:1:1: error: one", "b.py:2:1: error: two"]


def test_an_error_is_found_in_the_middle_of_a_long_log() -> None:
    log = "\n".join(f"DEBUG took job {n}" for n in range(8_000))
    assert first_error(f"{log}\nERROR: no such table orders\n{log}") == "ERROR: no such table orders"


def test_words_that_could_mean_an_error_do_not_name_one() -> None:
    assert not names_errors("checked 3 files that failed before\nnothing to refuse")
    assert names_errors("a.go:1:2: undefined: x")


def test_the_last_line_is_the_last_with_words() -> None:
    assert last_line("Imported 3 rows\n-----\n\n12\n") == "Imported 3 rows"


@given(st.text() | st.text(alphabet="Errort:a.py123 ()\n\t->|~", max_size=300), st.integers(1, 6))
def test_errors_are_short_lines_and_no_more_than_asked_for(output: str, limit: int) -> None:
    errors = error_lines(output, limit)
    assert len(errors) <= limit
    assert all(error and "\n" not in error and len(error) <= 240 for error in errors)


@pytest.mark.parametrize(
    "noise",
    [
        "Traceback (most recent call last):\n",
        " x\n",
        "TypeError: x\n    at a (b:1:1)\n",
        "Because a ",
        "In a line 1:\n",
        "error: x\n --> a:1:1\n",
        "a.py:1:1: x\n",
        "#1 1.1 ",
        "panic: x\n",
        "a.",
        "  1:1  error  x\n",
    ],
)
def test_a_long_output_is_read_in_linear_time(noise: str) -> None:
    # Nothing is timed: what takes the square of it runs into the suite's timeout.
    output = noise * (200_000 // len(noise))
    marks = "Traceback (most recent call last):\n at goroutine version solving"
    assert len(error_lines(output + marks, 4)) <= 4
