"""Linters, formatters and type checkers."""

from tests.cases.case import Case, bash, bash_failed, edit

RUFF = """F841 Local variable `retries` is assigned to but never used
  --> shop/mail.py:41:5
   |
40 | def send(mail):
41 |     retries = 3
   |     ^^^^^^^
   |
help: Remove assignment to unused variable `retries`

E501 Line too long (113 > 88)
  --> shop/rates.py:12:89
   |
12 | TABLE = {"EUR": 1.0, "USD": 1.08, "CHF": 0.94, "GBP": 0.85, "JPY": 162.5, "SEK": 11.2, "NOK": 11.6, "DKK": 7.46}
   |                                                                                         ^^^^^^^^^^^^^^^^^^^^^^^^
   |

Found 2 errors.
"""
ESLINT = """
/home/dev/shop/src/cart.ts
  14:9   error    'subtotal' is never reassigned. Use 'const' instead  prefer-const
  30:21  warning  Unexpected any. Specify a different type             @typescript-eslint/no-explicit-any

/home/dev/shop/src/hooks/useStock.ts
  22:6  error  React Hook useEffect has a missing dependency: 'sku'  react-hooks/exhaustive-deps

✖ 3 problems (2 errors, 1 warning)
  1 error and 0 warnings potentially fixable with the `--fix` option.

"""
MYPY = """shop/orders.py:33: error: Argument 1 to "charge" has incompatible type "str"; expected "Decimal"  [arg-type]
shop/orders.py:34: note: Revealed type is "builtins.str"
shop/api.py:71: error: Item "None" of "User | None" has no attribute "email"  [union-attr]
Found 2 errors in 2 files (checked 58 source files)
"""
ORDERS = """from decimal import Decimal


def place(order):
    charge(order.total_text)
    return order.id
"""
PYRIGHT = """/home/dev/shop/shop/feed.py
  /home/dev/shop/shop/feed.py:18:16 - error: "get" is not a known attribute of "None" (reportOptionalMemberAccess)
  /home/dev/shop/shop/feed.py:25:9 - warning: Import "lxml" could not be resolved from source
1 error, 1 warning, 0 informations
"""
GOLANGCI = """internal/mail/send.go:48:15: Error return value of `conn.Close` is not checked (errcheck)
	defer conn.Close()
	              ^
internal/mail/queue.go:12:6: func `drainAll` is unused (unused)
func (q *Queue) drainAll() {
     ^
2 issues:
* errcheck: 1
* unused: 1
"""
CLIPPY = """    Checking shop v0.3.0 (/home/dev/shop)
error: this loop could be written as a `for` loop
  --> src/order.rs:52:5
   |
52 |     while let Some(line) = lines.next() {
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ help: try: `for line in lines`
   |
   = note: `-D clippy::while-let-on-iterator` implied by `-D warnings`

error: could not compile `shop` (lib) due to 1 previous error
"""
PRETTIER = """Checking formatting...
[warn] src/cart.ts
[warn] src/pages/checkout.tsx
[warn] Code style issues found in 2 files. Run Prettier with --write to fix.
"""
SHELLCHECK = """
In deploy.sh line 14:
rm -rf $TARGET/*
       ^-----^ SC2086 (info): Double quote to prevent globbing and word splitting.
       ^-----^ SC2115 (warning): Use "${var:?}" to ensure this never expands to /* .

For more information:
  https://www.shellcheck.net/wiki/SC2115 -- Use "${var:?}" to ensure this nev...
"""

CASES = (
    Case(
        "ruff complains",
        "lint it",
        [bash_failed("ruff check .", RUFF)],
        facts=(
            "F841 Local variable `retries` is assigned to but never used",
            "shop/mail.py:41:5",
            "E501 Line too long (113 > 88)",
            "shop/rates.py:12:89",
        ),
    ),
    Case(
        "eslint complains",
        "npm run lint",
        [bash_failed("npm run lint", ESLINT)],
        facts=(
            "'subtotal' is never reassigned. Use 'const' instead",
            "React Hook useEffect has a missing dependency: 'sku'",
            "src/hooks/useStock.ts",
            "2 errors",
        ),
    ),
    Case(
        "mypy complains and is satisfied",
        "mypy is red, fix the types",
        [
            bash_failed("mypy shop", MYPY),
            edit("shop/orders.py", ORDERS, "charge(order.total_text)", "charge(Decimal(order.total_text))"),
            edit("shop/api.py", "def me(user):\n    return user.email\n", "user.email", 'user.email if user else ""'),
            bash("mypy shop", "Success: no issues found in 58 source files\n"),
        ],
        "The types are right, and mypy shop has no complaints any more.",
        facts=(
            'Argument 1 to "charge" has incompatible type "str"; expected "Decimal"',
            'Item "None" of "User | None" has no attribute "email"',
            "place",
            "shop/orders.py",
            "mypy shop",
        ),
        kinds=("bugfix",),
    ),
    Case(
        "pyright complains",
        "pyright?",
        [bash_failed("npx pyright", PYRIGHT)],
        facts=('"get" is not a known attribute of "None"', "shop/feed.py:18:16"),
    ),
    Case(
        "golangci-lint complains",
        "run golangci-lint",
        [bash_failed("golangci-lint run", GOLANGCI)],
        facts=(
            "internal/mail/send.go:48:15: Error return value of `conn.Close` is not checked (errcheck)",
            "func `drainAll` is unused",
        ),
    ),
    Case(
        "clippy complains",
        "clippy with warnings as errors",
        [bash_failed("cargo clippy -- -D warnings", CLIPPY, 101)],
        facts=("this loop could be written as a `for` loop", "src/order.rs:52:5"),
    ),
    Case(
        "prettier complains",
        "is everything formatted?",
        [bash_failed("npx prettier --check .", PRETTIER)],
        facts=("src/cart.ts", "src/pages/checkout.tsx", "Code style issues found in 2 files"),
    ),
    Case(
        "shellcheck complains",
        "shellcheck deploy.sh",
        [bash_failed("shellcheck deploy.sh", SHELLCHECK)],
        facts=("SC2086", "SC2115", "deploy.sh line 14"),
    ),
)
