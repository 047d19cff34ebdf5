"""Totals, failing tests and their first errors, by the output of each runner."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.compress.testruns import FailedTest, read_run
from tests.unit.compress.build import PYTEST_FAILED, PYTEST_PASSED

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
        (UNITTEST, "unittest", "1 failed, 3 passed", FailedTest("test_total", "AssertionError: 20 != 30")),
        (
            JEST,
            "jest",
            "1 failed, 11 passed",
            FailedTest("cart › adds up prices", "expect(received).toBe(expected) // Object.is equality"),
        ),
        (
            VITEST,
            "vitest",
            "1 failed, 11 passed",
            FailedTest(
                "src/cart.test.ts > cart > adds up prices",
                "AssertionError: expected '1020' to be 30 // Object.is equality",
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
    assert run.unbuilt
    assert run.failures == (FailedTest("example.com/shop/cart", "cart_test.go:12:9: undefined: NewCart"),)


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
