"""jest, vitest, mocha, playwright, node's own and bun's runner."""

from tests.cases.case import Case, bash, bash_failed, edit

PRICE = """export function formatPrice(cents, currency) {
  const amount = (cents / 100).toFixed(2);
  return `${amount} ${currency}`;
}

export const parsePrice = (text) => {
  return Number(text.replace(",", ".")) * 100;
};
"""

JEST = """> shop@2.4.0 test
> jest --coverage=false

\x1b[0m\x1b[7m\x1b[1m\x1b[32m PASS \x1b[39m\x1b[22m\x1b[27m\x1b[0m \x1b[2msrc/\x1b[22m\x1b[1mcart.test.js\x1b[22m
\x1b[0m\x1b[7m\x1b[1m\x1b[31m FAIL \x1b[39m\x1b[22m\x1b[27m\x1b[0m \x1b[2msrc/\x1b[22m\x1b[1mprice.test.js\x1b[22m
  parsePrice
    \x1b[32m✓\x1b[39m \x1b[2mreads a point (3 ms)\x1b[22m
    \x1b[31m✕\x1b[39m \x1b[2mreads thousands (5 ms)\x1b[22m

\x1b[1m\x1b[31m  \x1b[1m● \x1b[22m\x1b[1mparsePrice › reads thousands\x1b[39m\x1b[22m

    \x1b[2mexpect(\x1b[22m\x1b[31mreceived\x1b[39m\x1b[2m).\x1b[22mtoBe\x1b[2m(\x1b[22m\x1b[32mexpected\x1b[39m\x1b[2m) // Object.is equality\x1b[22m

    Expected: \x1b[32m123450\x1b[39m
    Received: \x1b[31mNaN\x1b[39m

    \x1b[0m \x1b[90m 11 |\x1b[39m   test(\x1b[32m"reads thousands"\x1b[39m, () => {
    \x1b[31m\x1b[1m>\x1b[22m\x1b[39m\x1b[90m 12 |\x1b[39m     expect(parsePrice(\x1b[32m"1.234,50"\x1b[39m)).toBe(\x1b[35m123450\x1b[39m);
     \x1b[90m    |\x1b[39m                                      \x1b[31m\x1b[1m^\x1b[22m\x1b[39m

      \x1b[2mat Object.toBe (\x1b[22m\x1b[0m\x1b[36msrc/price.test.js\x1b[39m\x1b[0m\x1b[2m:12:38)\x1b[22m

\x1b[1mTest Suites: \x1b[22m\x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m, \x1b[1m\x1b[32m1 passed\x1b[39m\x1b[22m, 2 total
\x1b[1mTests:       \x1b[22m\x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m, \x1b[1m\x1b[32m18 passed\x1b[39m\x1b[22m, 19 total
\x1b[1mSnapshots:   \x1b[22m0 total
\x1b[1mTime:\x1b[22m        1.911 s
\x1b[2mRan all test suites\x1b[22m\x1b[2m.\x1b[22m
"""
JEST_PASSED = """ PASS  src/cart.test.js
 PASS  src/price.test.js

Test Suites: 2 passed, 2 total
Tests:       19 passed, 19 total
Snapshots:   0 total
Time:        1.702 s, estimated 2 s
Ran all test suites.
"""
JEST_SUITE = """ FAIL  src/checkout.test.tsx
  ● Test suite failed to run

    Cannot find module '@/lib/stripe' from 'src/checkout.tsx'

    Require stack:
      src/checkout.tsx
      src/checkout.test.tsx

      3 | import { stripe } from "@/lib/stripe";
        | ^

      at Resolver._throwModNotFoundError (node_modules/jest-resolve/build/resolver.js:427:11)

Test Suites: 1 failed, 11 passed, 12 total
Tests:       74 passed, 74 total
Snapshots:   3 passed, 3 total
Time:        5.32 s
"""
JEST_SNAPSHOT = """ FAIL  src/invoice.test.tsx
  ● Invoice › shows the due date

    expect(received).toMatchSnapshot()

    Snapshot name: `Invoice shows the due date 1`

    - Snapshot  - 1
    + Received  + 1

      <time>
    -   4 March 2026
    +   March 4, 2026
      </time>

 › 1 snapshot failed.
Snapshot Summary
 › 1 snapshot failed from 1 test suite.

Test Suites: 1 failed, 1 total
Tests:       1 failed, 6 passed, 7 total
Snapshots:   1 failed, 6 passed, 7 total
Time:        0.98 s
"""

VITEST = """
 \x1b[1m\x1b[46m RUN \x1b[49m\x1b[22m \x1b[36mv2.1.3 \x1b[39m\x1b[90m/home/dev/shop\x1b[39m

 \x1b[32m✓\x1b[39m src/tax.test.ts \x1b[2m(\x1b[22m\x1b[2m9 tests\x1b[22m\x1b[2m)\x1b[22m\x1b[90m 6\x1b[2mms\x1b[22m\x1b[39m
 \x1b[31m❯\x1b[39m src/stock.test.ts \x1b[2m(\x1b[22m\x1b[2m6 tests\x1b[22m\x1b[2m | \x1b[22m\x1b[31m2 failed\x1b[39m\x1b[2m)\x1b[22m\x1b[90m 14\x1b[2mms\x1b[22m\x1b[39m
\x1b[31m   \x1b[31m×\x1b[31m reserve > refuses more than is there\x1b[39m
\x1b[31m     → expected [Function] to throw an error\x1b[39m
\x1b[31m   \x1b[31m×\x1b[31m release > gives back what was reserved\x1b[39m

\x1b[31m⎯⎯⎯⎯⎯⎯⎯\x1b[1m\x1b[7m Failed Tests 2 \x1b[27m\x1b[22m⎯⎯⎯⎯⎯⎯⎯\x1b[39m

\x1b[31m\x1b[1m\x1b[7m FAIL \x1b[27m\x1b[22m\x1b[39m src/stock.test.ts\x1b[2m > \x1b[22mreserve\x1b[2m > \x1b[22mrefuses more than is there
\x1b[31m\x1b[1mAssertionError\x1b[22m: expected [Function] to throw an error\x1b[39m
\x1b[36m \x1b[2m❯\x1b[22m src/stock.test.ts:\x1b[2m21:32\x1b[22m\x1b[39m

\x1b[31m\x1b[2m⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/2]⎯\x1b[22m\x1b[39m

\x1b[31m\x1b[1m\x1b[7m FAIL \x1b[27m\x1b[22m\x1b[39m src/stock.test.ts\x1b[2m > \x1b[22mrelease\x1b[2m > \x1b[22mgives back what was reserved
\x1b[31m\x1b[1mAssertionError\x1b[22m: expected 4 to be 7 // Object.is equality\x1b[39m

\x1b[32m- Expected\x1b[39m
\x1b[31m+ Received\x1b[39m

\x1b[32m- 7\x1b[39m
\x1b[31m+ 4\x1b[39m

\x1b[31m\x1b[2m⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[2/2]⎯\x1b[22m\x1b[39m

\x1b[2m Test Files \x1b[22m \x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m\x1b[2m | \x1b[22m\x1b[1m\x1b[32m1 passed\x1b[39m\x1b[22m\x1b[90m (2)\x1b[39m
\x1b[2m      Tests \x1b[22m \x1b[1m\x1b[31m2 failed\x1b[39m\x1b[22m\x1b[2m | \x1b[22m\x1b[1m\x1b[32m13 passed\x1b[39m\x1b[22m\x1b[90m (15)\x1b[39m
\x1b[2m   Start at \x1b[22m 10:12:44
\x1b[2m   Duration \x1b[22m 612ms
"""
VITEST_PASSED = """
 RUN  v2.1.3 /home/dev/shop

 ✓ src/tax.test.ts (9 tests) 6ms
 ✓ src/stock.test.ts (6 tests) 9ms

 Test Files  2 passed (2)
      Tests  15 passed (15)
   Duration  588ms
"""
STOCK = """export class Stock {
  constructor(private amount: number) {}

  reserve(count: number): void {
    this.amount -= count;
  }

  release(count: number): void {
    this.amount = count;
  }
}
"""

MOCHA = """

  Webhooks
    ✔ accepts a signed call (41ms)
    1) rejects a stale timestamp
    ✔ rejects an unknown signature

  Retry
    2) "before each" hook for "waits longer every time"


  11 passing (312ms)
  2 failing

  1) Webhooks
       rejects a stale timestamp:

      AssertionError: expected 200 to equal 401
      + expected - actual

      -200
      +401

      at Context.<anonymous> (test/webhooks.spec.js:38:31)

  2) Retry
       "before each" hook for "waits longer every time":
     TypeError: clock.restore is not a function
      at Context.<anonymous> (test/retry.spec.js:9:11)


"""

PLAYWRIGHT = """
Running 14 tests using 3 workers

  ✓  1 [chromium] › login.spec.ts:5:5 › signs in with a password (1.2s)
  ✘  2 [chromium] › checkout.spec.ts:18:5 › pays with a saved card (30.1s)


  1) [chromium] › checkout.spec.ts:18:5 › pays with a saved card ───────────────────────────

    Test timeout of 30000ms exceeded.

    Error: locator.click: Test timeout of 30000ms exceeded.
    Call log:
      - waiting for getByRole('button', { name: 'Pay now' })

      at checkout.spec.ts:24:52

  1 failed
    [chromium] › checkout.spec.ts:18:5 › pays with a saved card ────────────────────────────
  13 passed (38.4s)
"""

NODE_TEST = """▶ slugs
  ✔ keep digits (0.9ms)
  ✖ drop accents (1.4ms)
▶ slugs (3.1ms)
ℹ tests 6
ℹ suites 1
ℹ pass 5
ℹ fail 1
ℹ cancelled 0
ℹ skipped 0
ℹ todo 0
ℹ duration_ms 58.2

✖ failing tests:

test at test/slug.test.mjs:11:3
✖ drop accents (1.4ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  'caf-' !== 'cafe'

      at TestContext.<anonymous> (file:///home/dev/shop/test/slug.test.mjs:12:12)
"""

BUN = """bun test v1.1.29 (6d43b366)

src/rates.test.ts:
✓ rates > knows the euro [0.41ms]
13 |     expect(convert(100, "EUR", "JPY")).toBe(16250);
                                            ^
error: expect(received).toBe(expected)

Expected: 16250
Received: 16249.999999999998

      at <anonymous> (/home/dev/shop/src/rates.test.ts:13:40)
✗ rates > rounds to whole yen [1.02ms]

 8 pass
 1 fail
 9 expect() calls
Ran 9 tests across 2 files. [38.00ms]
"""

CASES = (
    Case(
        "jest fails, is fixed and passes",
        "German prices with thousands are read wrong, can you fix parsePrice?",
        [
            bash_failed("npm test", JEST),
            edit("src/price.js", PRICE, 'text.replace(",", ".")', 'text.replaceAll(".", "").replace(",", ".")'),
            bash("npm test", JEST_PASSED),
        ],
        "Thousands separators are dropped before the number is read.",
        facts=(
            "parsePrice › reads thousands",
            "Expected: 123450",
            "Received: NaN",
            "src/price.js",
            "19 passed",
            "npm test",
        ),
        kinds=("bugfix",),
    ),
    Case(
        "a jest suite does not start",
        "run the frontend tests",
        [bash_failed("npx jest", JEST_SUITE)],
        "One suite cannot start.",
        facts=(
            "Cannot find module '@/lib/stripe' from 'src/checkout.tsx'",
            "src/checkout.test.tsx",
            "74 passed",
        ),
    ),
    Case(
        "a jest snapshot differs",
        "what breaks in the invoice tests?",
        [bash_failed("yarn test src/invoice.test.tsx", JEST_SNAPSHOT)],
        "The date format of the runner's locale changed.",
        facts=("Invoice › shows the due date", "toMatchSnapshot", "1 failed, 6 passed"),
    ),
    Case(
        "vitest fails, is fixed and passes",
        "Fix the stock reservations",
        [
            bash_failed("pnpm vitest run", VITEST),
            edit(
                "src/stock.ts",
                STOCK,
                "    this.amount -= count;",
                '    if (count > this.amount) throw new Error("not enough stock");\n    this.amount -= count;',
            ),
            edit("src/stock.ts", STOCK, "this.amount = count", "this.amount += count"),
            bash("pnpm vitest run", VITEST_PASSED),
        ],
        "Both methods are right now.",
        facts=(
            "reserve > refuses more than is there",
            "expected [Function] to throw an error",
            "release > gives back what was reserved",
            "expected 4 to be 7",
            "Stock.reserve",
            "Stock.release",
            "15 passed",
        ),
        kinds=("bugfix",),
    ),
    Case(
        "mocha fails",
        "run mocha",
        [bash_failed("npx mocha", MOCHA, 2)],
        facts=(
            "Webhooks rejects a stale timestamp",
            "AssertionError: expected 200 to equal 401",
            "TypeError: clock.restore is not a function",
            "2 failed, 11 passed",
        ),
    ),
    Case(
        "playwright times out",
        "Run the end to end tests",
        [bash_failed("npx playwright test", PLAYWRIGHT)],
        "The pay button never shows up.",
        facts=(
            "checkout.spec.ts:18:5 › pays with a saved card",
            "Test timeout of 30000ms exceeded",
            "1 failed, 13 passed",
        ),
    ),
    Case(
        "node's own runner fails",
        "node --test please",
        [bash_failed("node --test", NODE_TEST)],
        facts=("drop accents", "'caf-' !== 'cafe'", "1 failed, 5 passed"),
    ),
    Case(
        "bun fails",
        "check the rates",
        [bash_failed("bun test", BUN)],
        facts=("rates > rounds to whole yen", "Expected: 16250", "Received: 16249.999999999998", "1 failed, 8 passed"),
    ),
)
