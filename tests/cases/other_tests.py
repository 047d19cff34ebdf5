"""go, cargo, maven, gradle, rspec, phpunit, dotnet and ctest."""

import json

from tests.cases.case import Case, bash, bash_failed, edit

LIMITER = """package limit

import "time"

type Limiter struct {
\trate  int
\tsince time.Time
}

func (l *Limiter) Allow(now time.Time) bool {
\tif now.Sub(l.since) > time.Second {
\t\tl.since = now
\t}
\treturn l.rate > 0
}
"""
GO = """--- FAIL: TestAllow (0.00s)
    --- FAIL: TestAllow/second_call_is_refused (0.00s)
        limiter_test.go:18: started with rate 1
        limiter_test.go:27: Allow() = true, want false
FAIL
FAIL\tgithub.com/acme/shop/limit\t0.006s
ok  \tgithub.com/acme/shop/cart\t0.114s
?   \tgithub.com/acme/shop/cmd/shop\t[no test files]
FAIL
"""
GO_PASSED = """ok  \tgithub.com/acme/shop/limit\t0.005s
ok  \tgithub.com/acme/shop/cart\t(cached)
?   \tgithub.com/acme/shop/cmd/shop\t[no test files]
"""
GO_VERBOSE = """=== RUN   TestOpen
--- PASS: TestOpen (0.00s)
=== RUN   TestClose
    pool_test.go:41: closed 3 of 4 connections
    pool_test.go:44:
        \tError Trace:\t/home/dev/shop/pool/pool_test.go:44
        \tError:      \tNot equal:
        \t            \texpected: 0
        \t            \tactual  : 1
        \tTest:       \tTestClose
        \tMessages:   \topen connections after Close
--- FAIL: TestClose (0.02s)
=== RUN   TestIdle
--- SKIP: TestIdle (0.00s)
FAIL
FAIL\tgithub.com/acme/shop/pool\t0.031s
FAIL
"""
GO_UNBUILT = """# github.com/acme/shop/cart [github.com/acme/shop/cart.test]
cart/cart_test.go:14:15: cart.AddItem undefined (type *Cart has no field or method AddItem)
cart/cart_test.go:22:9: not enough arguments in call to NewCart
\thave ()
\twant (context.Context)
FAIL\tgithub.com/acme/shop/cart [build failed]
ok  \tgithub.com/acme/shop/limit\t0.005s
FAIL
"""
GO_RACE = """==================
WARNING: DATA RACE
Write at 0x00c0000b4018 by goroutine 9:
  github.com/acme/shop/cache.(*Cache).Put()
      /home/dev/shop/cache/cache.go:33 +0x84

Previous read at 0x00c0000b4018 by goroutine 8:
  github.com/acme/shop/cache.(*Cache).Get()
      /home/dev/shop/cache/cache.go:24 +0x3c
==================
--- FAIL: TestConcurrentPut (0.01s)
    testing.go:1399: race detected during execution of test
FAIL
exit status 1
FAIL\tgithub.com/acme/shop/cache\t0.022s
"""
GO_PANIC = """panic: runtime error: index out of range [3] with length 3 [recovered]
\tpanic: runtime error: index out of range [3] with length 3

goroutine 18 [running]:
testing.tRunner.func1.2({0x5176a0, 0xc00001e0c0})
\t/usr/local/go/src/testing/testing.go:1631 +0x24a
github.com/acme/shop/pages.Last(...)
\t/home/dev/shop/pages/pages.go:19
FAIL\tgithub.com/acme/shop/pages\t0.007s
FAIL
"""
GO_JSON = "\n".join(
    json.dumps({"Time": "2026-03-04T10:00:00Z", "Package": "github.com/acme/shop/mail", **line})
    for line in (
        {"Action": "start"},
        {"Action": "run", "Test": "TestQueue"},
        {"Action": "output", "Test": "TestQueue", "Output": "=== RUN   TestQueue\n"},
        {"Action": "output", "Test": "TestQueue", "Output": "    queue_test.go:52: got 2 mails, want 1\n"},
        {"Action": "output", "Test": "TestQueue", "Output": "--- FAIL: TestQueue (0.00s)\n"},
        {"Action": "fail", "Test": "TestQueue", "Elapsed": 0},
        {"Action": "output", "Output": "FAIL\n"},
        {"Action": "output", "Output": "FAIL\tgithub.com/acme/shop/mail\t0.004s\n"},
        {"Action": "fail", "Elapsed": 0.004},
    )
)

CARGO = """   Compiling shop v0.3.0 (/home/dev/shop)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 2.31s
     Running unittests src/lib.rs (target/debug/deps/shop-5f0c9d1e2b7a8c43)

running 24 tests
test money::tests::adds ... ok
test money::tests::rounds_half_even ... FAILED
test order::tests::empty_order_has_no_total ... ok

failures:

---- money::tests::rounds_half_even stdout ----
thread 'money::tests::rounds_half_even' panicked at src/money.rs:71:9:
assertion `left == right` failed: banker's rounding
  left: 3
 right: 2
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    money::tests::rounds_half_even

test result: FAILED. 23 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

error: test failed, to rerun pass `--lib`
"""
CARGO_UNBUILT = """   Compiling shop v0.3.0 (/home/dev/shop)
error[E0382]: borrow of moved value: `order`
  --> src/checkout.rs:48:22
   |
45 |     let order = basket.into_order();
   |         ----- move occurs because `order` has type `Order`, which does not implement the `Copy` trait
46 |     queue.push(order);
   |                ----- value moved here
48 |     log::info!("{}", order.id);
   |                      ^^^^^^^^ value borrowed here after move

For more information about this error, try `rustc --explain E0382`.
error: could not compile `shop` (lib test) due to 1 previous error
warning: build failed, waiting for other jobs to finish...
"""

MAVEN = """[INFO] Scanning for projects...
[INFO]
[INFO] ------------------------< com.acme:shop-core >-------------------------
[INFO] Building shop-core 1.8.0-SNAPSHOT
[INFO] --- surefire:3.2.5:test (default-test) @ shop-core ---
[INFO] Running com.acme.shop.InvoiceTest
[ERROR] Tests run: 6, Failures: 1, Errors: 1, Skipped: 0, Time elapsed: 0.412 s <<< FAILURE! -- in com.acme.shop.InvoiceTest
[ERROR] com.acme.shop.InvoiceTest.numbersAreGapless -- Time elapsed: 0.021 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <1003> but was: <1004>
\tat com.acme.shop.InvoiceTest.numbersAreGapless(InvoiceTest.java:58)

[ERROR] com.acme.shop.InvoiceTest.storesThePdf -- Time elapsed: 0.007 s <<< ERROR!
java.nio.file.NoSuchFileException: /var/shop/invoices/1003.pdf
\tat com.acme.shop.InvoiceTest.storesThePdf(InvoiceTest.java:71)

[INFO]
[INFO] Results:
[INFO]
[ERROR] Failures:
[ERROR]   InvoiceTest.numbersAreGapless:58 expected: <1003> but was: <1004>
[ERROR] Errors:
[ERROR]   InvoiceTest.storesThePdf:71 » NoSuchFile /var/shop/invoices/1003.pdf
[INFO]
[ERROR] Tests run: 48, Failures: 1, Errors: 1, Skipped: 2
[INFO]
[INFO] ------------------------------------------------------------------------
[INFO] BUILD FAILURE
[INFO] ------------------------------------------------------------------------
[INFO] Total time:  7.902 s
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project shop-core: There are test failures.
"""

GRADLE = """> Task :compileJava UP-TO-DATE
> Task :test FAILED

StockServiceTest > reservingTwiceFails() FAILED
    org.opentest4j.AssertionFailedError: Expected com.acme.OutOfStock to be thrown, but nothing was thrown.
        at app//com.acme.StockServiceTest.reservingTwiceFails(StockServiceTest.java:33)

31 tests completed, 1 failed, 2 skipped

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':test'.
> There were failing tests. See the report at: file:///home/dev/shop/build/reports/tests/test/index.html

BUILD FAILED in 9s
5 actionable tasks: 2 executed, 3 up-to-date
"""

RSPEC = """..F.....*......

Pending: (Failures listed here are expected and do not affect your suite's status)

  1) Coupon stacks with a sale
     # not decided yet
     # ./spec/models/coupon_spec.rb:40

Failures:

  1) Coupon#redeem refuses an expired code
     Failure/Error: expect(coupon.redeem(order)).to be(false)

       expected false
            got true
     # ./spec/models/coupon_spec.rb:22:in `block (3 levels) in <top (required)>'

Finished in 0.84 seconds (files took 2.1 seconds to load)
15 examples, 1 failure, 1 pending

Failed examples:

rspec ./spec/models/coupon_spec.rb:19 # Coupon#redeem refuses an expired code

"""

PHPUNIT = """PHPUnit 10.5.20 by Sebastian Bergmann and contributors.

Runtime:       PHP 8.3.7
Configuration: /home/dev/shop/phpunit.xml

...............F...........E.....                                 33 / 33 (100%)

Time: 00:00.412, Memory: 14.00 MB

There was 1 error:

1) Tests\\Unit\\RatesTest::testUnknownCurrency
ValueError: "XXX" is not a valid backing value for enum App\\Currency

/home/dev/shop/src/Rates.php:18

--

There was 1 failure:

1) Tests\\Unit\\CartTest::testRemoveLastItem
Failed asserting that 1 matches expected 0.

/home/dev/shop/tests/Unit/CartTest.php:44

ERRORS!
Tests: 33, Assertions: 81, Errors: 1, Failures: 1.
"""

DOTNET = """  Determining projects to restore...
  All projects are up-to-date for restore.
  Shop.Core -> /home/dev/shop/src/Shop.Core/bin/Debug/net8.0/Shop.Core.dll
Starting test execution, please wait...
A total of 1 test files matched the specified pattern.
[xUnit.net 00:00:00.61]     Shop.Tests.VatTests.Reduced_rate_applies_to_books [FAIL]
  Failed Shop.Tests.VatTests.Reduced_rate_applies_to_books [12 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 1.07
Actual:   1.19
  Stack Trace:
     at Shop.Tests.VatTests.Reduced_rate_applies_to_books() in /home/dev/shop/test/VatTests.cs:line 29

Failed!  - Failed:     1, Passed:    57, Skipped:     3, Total:    61, Duration: 402 ms - Shop.Tests.dll (net8.0)
"""

CTEST = """Test project /home/dev/shop/build
    Start 1: ring_buffer
1/4 Test #1: ring_buffer ......................   Passed    0.01 sec
    Start 2: json_parse
2/4 Test #2: json_parse .......................***Failed    0.02 sec
parse_test.cpp:61: expected 'unterminated string', got 'ok'

    Start 3: arena
3/4 Test #3: arena ............................***Exception: SegFault  0.11 sec
    Start 4: hash
4/4 Test #4: hash .............................   Passed    0.00 sec

50% tests passed, 2 tests failed out of 4

Total Test time (real) =   0.16 sec

The following tests FAILED:
\t  2 - json_parse (Failed)
\t  3 - arena (SEGFAULT)
Errors while running CTest
"""

CASES = (
    Case(
        "go test fails, is fixed and passes",
        "The limiter lets everything through. Fix it.",
        [
            bash_failed("go test ./...", GO),
            edit(
                "limit/limiter.go",
                LIMITER,
                "\treturn l.rate > 0\n",
                "\tif l.rate == 0 {\n\t\treturn false\n\t}\n\tl.rate--\n\treturn true\n",
            ),
            bash("go test ./...", GO_PASSED),
        ],
        "`Allow` never counted down.",
        facts=(
            "TestAllow/second_call_is_refused",
            "Allow() = true, want false",
            "Limiter.Allow",
            "limit/limiter.go",
            "go test ./...",
            "2 packages passed",
        ),
        kinds=("bugfix",),
    ),
    Case(
        "go test is verbose",
        "run the pool tests verbosely",
        [bash_failed("go test -v ./pool", GO_VERBOSE)],
        facts=(
            "TestClose",
            "expected: 0",
            "actual : 1",
            "open connections after Close",
            "1 failed, 1 passed, 1 skipped",
        ),
    ),
    Case(
        "go test does not build",
        "go test everything",
        [bash_failed("go test ./...", GO_UNBUILT)],
        facts=(
            "cart/cart_test.go:14:15: cart.AddItem undefined (type *Cart has no field or method AddItem)",
            "not enough arguments in call to NewCart",
            "github.com/acme/shop/cart",
        ),
    ),
    Case(
        "go test finds a data race",
        "check the cache for races",
        [bash_failed("go test -race ./cache", GO_RACE)],
        "There is a race between `Put` and `Get`.",
        facts=("TestConcurrentPut", "DATA RACE", "cache.go:33", "cache.go:24"),
    ),
    Case(
        "go test panics",
        "test the pages",
        [bash_failed("go test ./pages", GO_PANIC)],
        facts=("index out of range [3] with length 3", "pages.go:19", "github.com/acme/shop/pages"),
    ),
    Case(
        "go test prints JSON",
        "go test -json for the mail package",
        [bash_failed("go test -json ./mail", GO_JSON)],
        facts=("TestQueue", "queue_test.go:52: got 2 mails, want 1", "github.com/acme/shop/mail"),
        lost=("github.com/acme/shop/mail",),
        never=('"Action"',),
    ),
    Case(
        "cargo test fails",
        "cargo test",
        [bash_failed("cargo test", CARGO, 101)],
        facts=(
            "money::tests::rounds_half_even",
            "banker's rounding",
            "src/money.rs:71:9",
            "left: 3",
            "right: 2",
            "1 failed, 23 passed",
            "exit code 101",
        ),
    ),
    Case(
        "cargo test does not compile",
        "cargo test again",
        [bash_failed("cargo test --lib", CARGO_UNBUILT, 101)],
        facts=("error[E0382]: borrow of moved value: `order`", "src/checkout.rs:48:22"),
    ),
    Case(
        "maven's surefire fails",
        "Run the core module's tests",
        [bash_failed("./mvnw -pl shop-core test", MAVEN)],
        facts=(
            "InvoiceTest.numbersAreGapless",
            "expected: <1003> but was: <1004>",
            "InvoiceTest.storesThePdf",
            "NoSuchFile",
            "2 failed, 44 passed, 2 skipped",
        ),
        never=("Scanning for projects",),
    ),
    Case(
        "gradle's tests fail",
        "gradle test",
        [bash_failed("./gradlew test", GRADLE)],
        facts=(
            "StockServiceTest > reservingTwiceFails()",
            "Expected com.acme.OutOfStock to be thrown, but nothing was thrown",
            "1 failed, 28 passed, 2 skipped",
        ),
    ),
    Case(
        "rspec fails",
        "run the coupon specs",
        [bash_failed("bundle exec rspec spec/models/coupon_spec.rb", RSPEC)],
        facts=(
            "Coupon#redeem refuses an expired code",
            "spec/models/coupon_spec.rb:19",
            "expected false",
            "got true",
            "1 failed, 13 passed, 1 skipped",
        ),
    ),
    Case(
        "phpunit fails",
        "phpunit please",
        [bash_failed("vendor/bin/phpunit", PHPUNIT, 2)],
        facts=(
            "RatesTest::testUnknownCurrency",
            '"XXX" is not a valid backing value for enum App\\Currency',
            "CartTest::testRemoveLastItem",
            "Failed asserting that 1 matches expected 0",
            "2 failed, 31 passed",
        ),
    ),
    Case(
        "dotnet test fails",
        "dotnet test",
        [bash_failed("dotnet test", DOTNET)],
        facts=(
            "Shop.Tests.VatTests.Reduced_rate_applies_to_books",
            "Expected: 1.07",
            "Actual: 1.19",
            "1 failed, 57 passed, 3 skipped",
        ),
    ),
    Case(
        "ctest fails",
        "Build is done, run ctest",
        [bash_failed("ctest --test-dir build --output-on-failure", CTEST, 8)],
        facts=(
            "json_parse",
            "parse_test.cpp:61: expected 'unterminated string', got 'ok'",
            "arena",
            "SEGFAULT",
            "2 failed, 2 passed",
            "exit code 8",
        ),
    ),
)
