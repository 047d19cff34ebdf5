"""The same failure has the same fingerprint on another day, machine and folder; another failure has another."""

import pytest
from benchmarks.call_anchors import anchors_of_call

from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.compress.toolcalls.error_fingerprints import fingerprint
from claude_mem_lite.models import ToolCall
from tests.support.turns import (
    AUTH,
    PYTEST_FAILED,
    PYTEST_PASSED,
    bash,
    bash_failed,
    edit,
    turn,
)

SAME = [
    # Python
    ("ModuleNotFoundError: No module named 'respx'", "ModuleNotFoundError: No module named “respx”"),
    (
        "FileNotFoundError: [Errno 2] No such file or directory: '/home/ann/shop/data/rates.csv'",
        "FileNotFoundError: [Errno 2] No such file or directory: '/srv/build/17/data/rates.csv'",
    ),
    (
        "PermissionError: [Errno 13] Permission denied: '/tmp/tmpk3j2h1/lock'",
        "PermissionError: [Errno 13] Permission denied: '/tmp/tmpzz9x81/lock'",
    ),
    (
        "sqlite3.OperationalError: database is locked after 5.02 s",
        "sqlite3.OperationalError: database is locked after 7.91 s",
    ),
    (
        "TypeError: <shop.Cart object at 0x7f3a2c1d> is not JSON serializable",
        "TypeError: <shop.Cart object at 0x10ffee08> is not JSON serializable",
    ),
    ("IndexError: list index 4 is out of range for 3 items", "IndexError: list index 9 is out of range for 8 items"),
    # Node
    (
        "Error: Cannot find module './cart' from '/Users/ann/shop/src/index.js'",
        "Error: Cannot find module './cart' from '/srv/build/shop/src/index.js'",
    ),
    ("Error: connect ECONNREFUSED 127.0.0.1:5432", "Error: connect ECONNREFUSED 10.0.3.17:5432"),
    (
        "Error: listen EADDRINUSE: address already in use 127.0.0.1:49811",
        "Error: listen EADDRINUSE: address already in use 127.0.0.1:50321",
    ),
    (
        "TypeError: Cannot read properties of undefined (reading 'total')",
        "TypeError: Cannot read properties of undefined (reading `total`)",
    ),
    (
        "npm error notarget No matching version found for cart@2.9.0",
        "npm error notarget No matching version found for cart@3.0.0-rc.1",
    ),
    # TypeScript
    (
        "src/index.ts(4,7): error TS2322: Type 'string' is not assignable to type 'number'.",
        "packages/shop/src/index.ts(19,11): error TS2322: Type 'string' is not assignable to type 'number'.",
    ),
    (
        "src/cart.ts:12:5 - error TS2304: Cannot find name 'Price'.",
        "src/cart.ts:48:9 - error TS2304: Cannot find name 'Price'.",
    ),
    # Go
    ("./main.go:12:5: undefined: newCart", "cmd/shop/main.go:31:9: undefined: newCart"),
    (
        "panic: runtime error: index out of range [5] with length 3",
        "panic: runtime error: index out of range [2] with length 0",
    ),
    ("dial tcp [::1]:6379: connect: connection refused", "dial tcp 127.0.0.1:6379: connect: connection refused"),
    # Rust
    (
        "error[E0382]: borrow of moved value: `cart` (src/main.rs:9:20)",
        "error[E0382]: borrow of moved value: `cart` (src/main.rs:112:3)",
    ),
    (
        "thread 'main' panicked at src/lib.rs:40:9: no price for 17",
        "thread 'main' panicked at src/lib.rs:44:9: no price for 3",
    ),
    # C
    (
        "/home/ann/shop/cart.c:88:12: error: implicit declaration of function 'total'",
        "/build/x/cart.c:91:12: error: implicit declaration of function ‘total’",
    ),
    ("undefined reference to `cart_total'", "undefined reference to 'cart_total'"),
    # Java
    (
        'java.lang.NullPointerException: Cannot invoke "shop.Cart.total()" because "cart" is null',
        "java.lang.NullPointerException: Cannot invoke “shop.Cart.total()” because “cart” is null",
    ),
    ("Could not resolve com.shop:cart:1.4.2 for project 3", "Could not resolve com.shop:cart:1.5.0 for project 8"),
    # Shell and network
    ("bash: line 3: jq: command not found", "bash: line 17: jq: command not found"),
    (
        "curl: (28) Operation timed out after 10001 milliseconds",
        "curl: (28) Operation timed out after 30002 milliseconds",
    ),
    ("fatal: Could not read from 'https://git.test/shop/7/'", "fatal: Could not read from 'https://git.test/shop/19/'"),
    ("2026-03-01T10:00:02Z ERROR rates are stale", "2026-04-17T23:11:40.120Z ERROR rates are stale"),
    ("job 3f2a1c9d-0b1e-4c2d-9a8b-7c6d5e4f3a2b was rejected", "job 99999999-aaaa-4bbb-8ccc-0123456789ab was rejected"),
    ("error: could not apply 1a2b3c4... Add the cart", "error: could not apply 9f8e7d6... Add the cart"),
    ("Killed after 12s", "Killed after 90s"),
]

DIFFERENT = [
    ("ModuleNotFoundError: No module named 'respx'", "ModuleNotFoundError: No module named 'httpx'"),
    ("ModuleNotFoundError: No module named 'respx'", "ImportError: cannot import name 'respx'"),
    ("KeyError: 'price'", "KeyError: 'total'"),
    ("KeyError: 'price'", "ValueError: 'price'"),
    ("AttributeError: 'Cart' object has no attribute 'sum'", "AttributeError: 'Order' object has no attribute 'sum'"),
    (
        "FileNotFoundError: [Errno 2] No such file or directory: '/a/rates.csv'",
        "FileNotFoundError: [Errno 2] No such file or directory: '/a/users.csv'",
    ),
    ("FileNotFoundError: [Errno 2] open 'x'", "FileNotFoundError: [Errno 13] open 'x'"),
    ("Error: connect ECONNREFUSED 127.0.0.1:5432", "Error: connect ECONNREFUSED 127.0.0.1:6379"),
    ("Request failed with status code 404", "Request failed with status code 500"),
    ("src/a.ts(4,7): error TS2322: Type 'string' is wrong", "src/b.ts(4,7): error TS2322: Type 'string' is wrong"),
    ("src/a.ts(4,7): error TS2322: Type 'string' is wrong", "src/a.ts(4,7): error TS2339: Type 'string' is wrong"),
    ("./main.go:12:5: undefined: newCart", "./main.go:12:5: undefined: newOrder"),
    ("./main.go:12:5: undefined: newCart", './main.go:12:5: "newCart" declared and not used'),
    ("panic: runtime error: index out of range [5]", "panic: runtime error: invalid memory address"),
    ("error[E0382]: borrow of moved value: `cart`", "error[E0382]: borrow of moved value: `order`"),
    ("error[E0382]: use of moved value: `cart`", "error[E0499]: use of moved value: `cart`"),
    ("undefined reference to `cart_total'", "undefined reference to `cart_sum'"),
    ("Could not resolve com.shop:cart:1.4.2", "Could not resolve com.shop:order:1.4.2"),
    ("bash: jq: command not found", "bash: yq: command not found"),
    ("bash: jq: command not found", "bash: jq: permission denied"),
    ("curl: (28) Operation timed out", "curl: (6) Could not resolve host"),
    ("npm error 404 GET https://registry.test/left", "npm error 404 GET https://registry.test/right"),
    ("Could not resolve host: git.test", "Could not resolve host: hub.test"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_failure_is_known_again(one: str, other: str) -> None:
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_two_failures_are_told_apart(one: str, other: str) -> None:
    assert fingerprint(one) != fingerprint(other)


def test_an_error_that_says_nothing_is_told_apart_by_its_program() -> None:
    assert fingerprint("Killed", "go test ./...") != fingerprint("Killed", "npm run build")
    assert fingerprint("Killed", "go test ./...") == fingerprint("Killed", "cd shop && go test -v ./cart")


def test_an_error_that_tells_enough_is_the_same_from_any_program() -> None:
    error = "ModuleNotFoundError: No module named 'respx'"
    assert fingerprint(error, "pytest -q") == fingerprint(error, "python -m shop")


def test_a_failing_test_is_known_by_its_name_whatever_it_compared() -> None:
    first = fold(turn("run", bash_failed("pytest", PYTEST_FAILED), closing="pytest still fails here.")).drafts[0]
    other = PYTEST_FAILED.replace("assert False", "assert 3 == 4")
    again = fold(turn("run", bash_failed("pytest -q tests", other), closing="pytest still fails here.")).drafts[0]
    stale = PYTEST_FAILED.replace("fresh", "stale")
    renamed = fold(turn("run", bash_failed("pytest", stale), closing="pytest still fails here.")).drafts[0]
    assert first.anchors == again.anchors != renamed.anchors
    assert len(first.anchors) == 1


def test_a_failure_and_its_later_fix_share_an_anchor_with_the_call_that_fails_again() -> None:
    fix = edit("src/auth.py", AUTH, "now * 1000", "now")
    failure = fold(turn("run", bash_failed("pytest", PYTEST_FAILED), closing="pytest still fails here.")).drafts[0]
    bugfix = fold(turn("go", bash_failed("pytest", PYTEST_FAILED), fix, bash("pytest", PYTEST_PASSED))).drafts[0]
    again = anchors_of_call(ToolCall("Bash", {"command": "uv run pytest -x"}, error=f"Exit code 1\n{PYTEST_FAILED}"))
    assert (failure.kind, bugfix.kind) == ("failure", "bugfix")
    assert failure.anchors == bugfix.anchors[: len(again)] == again
    assert again[0].startswith("error:")


def test_a_call_without_an_error_line_has_no_anchor() -> None:
    assert anchors_of_call(ToolCall("Bash", {"command": "grep x y"}, error="Exit code 1\n")) == ()
