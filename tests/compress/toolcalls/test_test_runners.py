"""Tests of `compress/toolcalls/test_runners/go.py`, `compress/toolcalls/test_runners/javascript.py`,
`compress/toolcalls/test_runners/python.py` and `compress/toolcalls/test_runners/others.py`: totals, failing tests and
first errors in the output of each runner."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.compress.toolcalls.commands import read_run
from claude_mem_lite.compress.toolcalls.test_runners.test_run import FailedTest
from tests.support.turns import PYTEST_FAILED, PYTEST_PASSED

UNITTEST = """..F.
======================================================================
FAIL: test_total (tests.test_cart.CartTest.test_total)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/dev/shop/tests/test_cart.py", line 9, in test_total
    self.assertEqual(cart.total(), 30)
AssertionError: 20 != 30

----------------------------------------------------------------------
Ran 4 tests in 0.002s

FAILED (failures=1)
"""
JEST = """FAIL src/cart.test.js
  cart
    ✓ is empty at first (2 ms)
    ✕ adds up prices (4 ms)

  ● cart › adds up prices

    expect(received).toBe(expected) // Object.is equality

    Expected: 30
    Received: "1020"

      at Object.toBe (src/cart.test.js:9:24)

Test Suites: 1 failed, 3 passed, 4 total
Tests:       1 failed, 11 passed, 12 total
Snapshots:   0 total
Time:        1.204 s
"""
VITEST = """ RUN  v1.6.0 /home/dev/shop

 ❯ src/cart.test.ts (2 tests | 1 failed) 5ms
   × cart > adds up prices

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/cart.test.ts > cart > adds up prices
AssertionError: expected '1020' to be 30 // Object.is equality
 ❯ src/cart.test.ts:9:24

 Test Files  1 failed | 3 passed (4)
      Tests  1 failed | 11 passed (12)
   Duration  812ms
"""
GO = """--- FAIL: TestTotal (0.00s)
    --- FAIL: TestTotal/two_items (0.00s)
        cart_test.go:21: loading fixtures
        cart_test.go:24: Total() = 20, want 30
FAIL
FAIL\texample.com/shop/cart\t0.004s
ok  \texample.com/shop/auth\t0.010s
"""
GO_UNBUILT = """# example.com/shop/cart [example.com/shop/cart.test]
./cart_test.go:12:9: undefined: NewCart
FAIL\texample.com/shop/cart [build failed]
ok  \texample.com/shop/auth\t0.010s
"""
CARGO = """running 3 tests
test cart::tests::empty ... ok
test cart::tests::total ... FAILED

failures:

---- cart::tests::total stdout ----
thread 'cart::tests::total' panicked at src/cart.rs:31:9:
assertion `left == right` failed

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""


@pytest.mark.parametrize(
    ("output", "runner", "totals", "failure"),
    [
        (
            PYTEST_FAILED,
            "pytest",
            "1 failed, 13 passed",
            FailedTest("tests/test_session.py::test_fresh_is_valid", "AssertionError: assert False"),
        ),
        (UNITTEST, "unittest", "1 failed, 3 passed", FailedTest("CartTest.test_total", "AssertionError: 20 != 30")),
        (
            JEST,
            "jest",
            "1 failed, 11 passed",
            FailedTest("cart › adds up prices", 'expect(received).toBe(expected); Expected: 30; Received: "1020"'),
        ),
        (
            VITEST,
            "vitest",
            "1 failed, 11 passed",
            FailedTest(
                "src/cart.test.ts > cart > adds up prices",
                "AssertionError: expected '1020' to be 30",
            ),
        ),
        (
            GO,
            "go test",
            "1 failed, 1 passed",
            FailedTest("TestTotal/two_items", "cart_test.go:24: Total() = 20, want 30"),
        ),
        (
            CARGO,
            "cargo test",
            "1 failed, 2 passed",
            FailedTest("cart::tests::total", "assertion `left == right` failed (src/cart.rs:31:9)"),
        ),
    ],
)
def test_a_failed_run_is_read(output: str, runner: str, totals: str, failure: FailedTest) -> None:
    run = read_run(output)
    assert run is not None
    assert (run.runner, run.totals(), run.failures) == (runner, totals, (failure,))


@pytest.mark.parametrize(
    ("output", "totals"),
    [
        (PYTEST_PASSED, "14 passed"),
        ("14 passed, 2 skipped in 1.20s", "14 passed, 2 skipped"),
        (
            "....\n" + "-" * 70 + "\nRan 4 tests in 0.002s\n\nOK\n",
            "4 passed",
        ),
        ("Tests:       12 passed, 12 total\n", "12 passed"),
        ("      Tests  12 passed (12)\n", "12 passed"),
        ("ok  \texample.com/shop/cart\t0.004s\nok  \texample.com/shop/auth\t(cached)\n", "2 packages passed"),
        ("--- PASS: TestA (0.00s)\n--- PASS: TestB (0.00s)\nPASS\nok  \texample.com/shop\t0.004s\n", "2 passed"),
        ("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\n", "3 passed, 1 skipped"),
        ("  12 passing (40ms)\n  1 failing\n", "1 failed, 12 passed"),
        ("12 examples, 0 failures\n", "12 passed"),
        ("Tests run: 12, Failures: 1, Errors: 0, Skipped: 0\n", "1 failed, 11 passed"),
        ("Passed!  - Failed:     0, Passed:    12, Skipped:     0\n", "12 passed"),
        ("# pass 12\n# fail 1\n", "1 failed, 12 passed"),
    ],
)
def test_the_totals_of_a_run_are_read(output: str, totals: str) -> None:
    run = read_run(output)
    assert run is not None
    assert run.totals() == totals


def test_a_package_that_does_not_build_is_told_from_a_failing_test() -> None:
    run = read_run(GO_UNBUILT)
    assert run is not None
    assert run.failures == (FailedTest("example.com/shop/cart", "cart_test.go:12:9: undefined: NewCart"),)


def failures(output: str) -> list[tuple[str, str]]:
    run = read_run(output)
    assert run is not None
    return [(test.name, test.error) for test in run.failures]


def test_a_test_of_a_class_with_parameters_has_the_error_of_its_own_section() -> None:
    output = """_________________________ TestCart.test_total[1.5-a b] _________________________
E       assert 1 == 2
=========================== short test summary info ============================
FAILED tests/test_cart.py::TestCart::test_total[1.5-a b] - ass...
1 failed in 0.10s
"""
    assert failures(output) == [("tests/test_cart.py::TestCart::test_total[1.5-a b]", "assert 1 == 2")]


def test_a_reason_with_brackets_is_no_part_of_the_name() -> None:
    output = "FAILED tests/a.py::test_b - assert [1] == [2]\n1 failed in 0.10s\n"
    assert failures(output) == [("tests/a.py::test_b", "assert [1] == [2]")]


def test_a_reason_cut_short_is_made_whole() -> None:
    output = "E       assert 'a long text' == 'another'\nFAILED a.py::test_b - assert 'a long...\n1 failed in 0.1s\n"
    assert failures(output) == [("a.py::test_b", "assert 'a long text' == 'another'")]


def test_a_module_that_is_no_python_has_the_error_not_its_place() -> None:
    output = """_____________________ ERROR collecting tests/test_a.py _____________________
E     File "/home/dev/shop/tests/test_a.py", line 3
E       foo(
E          ^
E   SyntaxError: '(' was never closed
=========================== short test summary info ============================
ERROR tests/test_a.py
1 error in 0.10s
"""
    assert failures(output) == [("tests/test_a.py", "SyntaxError: '(' was never closed")]


def test_an_exception_with_a_name_of_its_own_is_the_error_of_a_unittest() -> None:
    output = """ERROR: test_a (tests.test_cart.CartTest)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "tests/test_cart.py", line 3, in test_a
    pay()
shop.CardRefused: no funds

----------------------------------------------------------------------
Ran 1 test in 0.001s

FAILED (errors=1)
"""
    assert failures(output) == [("CartTest.test_a", "shop.CardRefused: no funds")]


def test_a_suite_that_does_not_start_has_failed() -> None:
    run = read_run("""FAIL src/a.test.ts
  ● Test suite failed to run

    Cannot find module './b'

Tests:       3 passed, 3 total
""")
    assert run is not None
    assert run.totals() == "1 failed, 3 passed"
    assert run.failures == (FailedTest("src/a.test.ts", "Cannot find module './b'"),)


def test_a_vitest_file_that_does_not_load_has_failed() -> None:
    run = read_run(""" FAIL  src/a.test.ts [ src/a.test.ts ]
Error: Failed to resolve import "./b" from "src/a.ts"

 Test Files  1 failed | 2 passed (3)
      Tests  9 passed (9)
""")
    assert run is not None
    assert run.totals() == "1 failed, 9 passed"
    assert run.failures == (FailedTest("src/a.test.ts", 'Error: Failed to resolve import "./b" from "src/a.ts"'),)


@pytest.mark.parametrize(
    ("output", "totals", "failure"),
    [
        (
            "  3 passing (9ms)\n  1 pending\n  1 failing\n\n  1) Cart\n       adds up:\n     Error: no\n      at x\n",
            "1 failed, 3 passed, 1 skipped",
            ("Cart adds up", "Error: no"),
        ),
        (
            "not ok 1 - adds up\n  ---\n  error: 'boom'\n  ...\n# pass 2\n# fail 1\n",
            "1 failed, 2 passed",
            ("adds up", "boom"),
        ),
        (
            "        FAIL [   0.004s] shop cart::adds\n"
            "thread 'cart::adds' panicked at src/cart.rs:3:5:\nboom\nnote: x\n"
            "     Summary [   0.010s] 3 tests run: 2 passed, 1 failed, 0 skipped\n",
            "1 failed, 2 passed",
            ("cart::adds", "boom (src/cart.rs:3:5)"),
        ),
        (
            "[ERROR]   CartTest.adds:12 expected: <1> but was: <2>\n"
            "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s\n"
            "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 1\n",
            "1 failed, 3 passed, 1 skipped",
            ("CartTest.adds", "expected: <1> but was: <2>"),
        ),
        (
            "Failure:\nCartTest#test_adds [test/cart_test.rb:9]:\nExpected: 1\n  Actual: 2\n\n"
            "4 runs, 6 assertions, 1 failures, 0 errors, 0 skips\n",
            "1 failed, 3 passed",
            ("CartTest#test_adds", "Expected: 1 Actual: 2"),
        ),
    ],
)
def test_other_runners_name_their_failures(output: str, totals: str, failure: tuple[str, str]) -> None:
    run = read_run(output)
    assert run is not None
    assert run.totals() == totals
    assert failures(output) == [failure]


def test_a_package_built_on_a_broken_one_does_not_repeat_its_errors() -> None:
    output = "# shop/cart\n./cart.go:3:1: undefined: x\nFAIL\tshop/cart [build failed]\nFAIL\tshop/web [build failed]\n"
    assert failures(output) == [("shop/cart", "cart.go:3:1: undefined: x"), ("shop/web", "does not build")]


@pytest.mark.parametrize(
    "noise",
    [
        "--- FAIL: TestA{} (0s)\n    a.go:1: want x\n",
        "FAILED a.py::test_{}[\n",
        "  ● cart › adds {}\n\n    x\n",
        "  {}) adds\n",
        "test a{} ... FAILED\n",
        "_____ a{} _____\nE   x\n",
        "1 passed, ",
        '{{"Action":"output","Output":"x{}\\n"}}\n',
        "[ERROR]   A.b:{} x\n",
        "  Failed a{} [1 ms]\n  Error Message:\n   x\n",
    ],
)
def test_a_long_output_is_read_in_linear_time(noise: str) -> None:
    # Nothing is timed: what takes the square of it runs into the suite's timeout.
    output = "".join(noise.format(at) for at in range(20_000))
    ends = "Tests:       1 failed, 1 total\n1 failed in 0.1s\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n"
    for end in ("", ends, "  1 passing\n  1 failing\n", "Failed: 1, Passed: 1\n"):
        run = read_run(output + end)
        assert run is None or len(run.failures) <= 12


@pytest.mark.parametrize(
    "output", ["", "hello\nworld", "3 files changed, 10 insertions(+)", "FAIL", "ok", "12 passed the exam"]
)
def test_other_output_is_no_test_run(output: str) -> None:
    assert read_run(output) is None


@given(st.text() | st.text(alphabet="=_FAILED- \n\tok./:0123456789passedin", max_size=300))
def test_counts_are_never_negative_and_failures_stay_few(output: str) -> None:
    run = read_run(output)
    if run is not None:
        assert min(run.passed, run.failed, run.skipped) >= 0
        assert len(run.failures) <= 12
        assert all(len(test.error) <= 240 for test in run.failures)
        assert run.totals()
