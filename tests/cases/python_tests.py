"""pytest and unittest, as they print on terminals and in pipes."""

from tests.cases.case import Case, bash, bash_failed, edit, read, write

CART = """from decimal import Decimal

VAT = Decimal("0.19")


class Cart:
    def __init__(self, lines):
        self.lines = lines

    def net(self):
        return sum(line.price * line.count for line in self.lines)

    def total(self):
        return round(self.net() * (1 + VAT), 0)
"""

PASSED_QUIET = """........................................................................ [ 54%]
.............................................................            [100%]
133 passed in 4.31s
"""

VAT_FAILED = """\x1b[1m============================= test session starts ==============================\x1b[0m
platform linux -- Python 3.12.4, pytest-8.3.2, pluggy-1.5.0
rootdir: /home/dev/shop
configfile: pyproject.toml
plugins: anyio-4.4.0, cov-5.0.0
\x1b[1mcollecting ... \x1b[0mcollected 27 items

tests/test_cart.py \x1b[32m.\x1b[0m\x1b[32m.\x1b[0m\x1b[31mF\x1b[0m\x1b[32m.\x1b[0m\x1b[32m.....................\x1b[0m                         [ 92%]
tests/test_money.py \x1b[32m..\x1b[0m                                                   [100%]

=================================== FAILURES ===================================
\x1b[31m\x1b[1m_____________________________ test_total_keeps_cents _____________________________\x1b[0m

    def test_total_keeps_cents():
        cart = Cart([Line(Decimal("10.50"), 2)])
>       assert cart.total() == Decimal("24.99")
\x1b[1m\x1b[31mE       AssertionError: assert Decimal('25') == Decimal('24.99')\x1b[0m
\x1b[1m\x1b[31mE        +  where Decimal('25') = total()\x1b[0m

\x1b[1m\x1b[31mtests/test_cart.py\x1b[0m:31: AssertionError
\x1b[36m\x1b[1m=========================== short test summary info ============================\x1b[0m
\x1b[31mFAILED\x1b[0m tests/test_cart.py::\x1b[1mtest_total_keeps_cents\x1b[0m - AssertionError: assert Decimal('25') == Decimal('24.99')
\x1b[31m========================= \x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m26 passed\x1b[0m\x1b[31m in 0.48s\x1b[0m\x1b[31m =========================\x1b[0m
"""

VAT_PASSED = """\x1b[1m============================= test session starts ==============================\x1b[0m
platform linux -- Python 3.12.4, pytest-8.3.2, pluggy-1.5.0
rootdir: /home/dev/shop
collected 27 items

tests/test_cart.py \x1b[32m.........................\x1b[0m                             [ 92%]
tests/test_money.py \x1b[32m..\x1b[0m                                                   [100%]

\x1b[32m============================== \x1b[32m\x1b[1m27 passed\x1b[0m\x1b[32m in 0.44s\x1b[0m\x1b[32m ==============================\x1b[0m
"""

NOT_COLLECTED = """============================= test session starts ==============================
platform linux -- Python 3.11.9, pytest-8.2.0, pluggy-1.5.0
rootdir: /home/dev/shop
collected 41 items / 1 error

==================================== ERRORS ====================================
_____________________ ERROR collecting tests/api/test_orders.py ____________________
ImportError while importing test module '/home/dev/shop/tests/api/test_orders.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
/usr/lib/python3.11/importlib/__init__.py:126: in import_module
    return _bootstrap._gcd_import(name[level:], package, level)
tests/api/test_orders.py:4: in <module>
    import respx
E   ModuleNotFoundError: No module named 'respx'
=========================== short test summary info ============================
ERROR tests/api/test_orders.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
=============================== 1 error in 0.61s ===============================
"""

PARAMETRISED = """....F.F........F.........                                                [100%]
=================================== FAILURES ===================================
___________________ test_parse_date[2024-02-30-day out of range] ___________________

value = '2024-02-30', message = 'day out of range'

    @pytest.mark.parametrize(("value", "message"), BAD)
    def test_parse_date(value, message):
        with pytest.raises(DateError) as caught:
            parse_date(value)
>       assert message in str(caught.value)
E       AssertionError: assert 'day out of range' in 'unreadable date'

tests/test_dates.py:22: AssertionError
_____________________ test_parse_date[31/12-no year given] _____________________

    def test_parse_date(value, message):
>       with pytest.raises(DateError) as caught:
E       Failed: DID NOT RAISE <class 'shop.dates.DateError'>

tests/test_dates.py:20: Failed
________________________________ test_week_of_year ________________________________

    def test_week_of_year():
>       assert week(date(2021, 1, 3)) == 53
E       assert 1 == 53
E        +  where 1 = week(datetime.date(2021, 1, 3))

tests/test_dates.py:40: AssertionError
=========================== short test summary info ============================
FAILED tests/test_dates.py::test_parse_date[2024-02-30-day out of range] - AssertionError: assert 'day out...
FAILED tests/test_dates.py::test_parse_date[31/12-no year given] - Failed: DID NOT RAISE <class 'shop.dates....
FAILED tests/test_dates.py::test_week_of_year - assert 1 == 53
3 failed, 22 passed in 0.19s
"""

XDIST = (
    "============================= test session starts ==============================\n"
    "created: 4/4 workers\n4 workers [318 items]\n\nscheduling tests via LoadScheduling\n\n"
    + "\n".join(
        f"[gw{n % 4}] [{n * 100 // 317:3d}%] PASSED tests/unit/test_part_{n % 9}.py::test_case_{n} " for n in range(317)
    )
    + "\n[gw2] [100%] FAILED tests/unit/test_locks.py::test_two_writers_wait_for_each_other \n"
    + """
=================================== FAILURES ===================================
____________________ test_two_writers_wait_for_each_other _____________________
[gw2] linux -- Python 3.12.4 /home/dev/shop/.venv/bin/python

    def test_two_writers_wait_for_each_other():
>       second.write("b")
E       sqlite3.OperationalError: database is locked

tests/unit/test_locks.py:58: OperationalError
=========================== short test summary info ============================
FAILED tests/unit/test_locks.py::test_two_writers_wait_for_each_other - sqlite3.OperationalError: database is locked
================== 1 failed, 313 passed, 4 skipped in 21.84s ===================
"""
)

FIXTURE_ERROR = """============================= test session starts ==============================
collected 9 items

tests/test_mail.py .E......E                                              [100%]

==================================== ERRORS ====================================
_______________ ERROR at setup of test_invoice_is_sent_once _______________

    @pytest.fixture
    def smtp(unused_port):
>       server = Controller(Sink(), port=unused_port)
E       TypeError: Controller.__init__() got an unexpected keyword argument 'port'

tests/conftest.py:17: TypeError
_______________ ERROR at setup of test_reminder_is_sent_after_a_week _______________

    @pytest.fixture
    def smtp(unused_port):
>       server = Controller(Sink(), port=unused_port)
E       TypeError: Controller.__init__() got an unexpected keyword argument 'port'

tests/conftest.py:17: TypeError
=============================== warnings summary ===============================
tests/test_mail.py::test_address_is_checked
  /home/dev/shop/shop/mail.py:8: DeprecationWarning: 'cgi' is deprecated and slated for removal in Python 3.13
    import cgi

-- Docs: https://docs.pytest.org/en/stable/how-to/capture-warnings.html
=========================== short test summary info ============================
ERROR tests/test_mail.py::test_invoice_is_sent_once - TypeError: Controller.__init__() got an unexpected...
ERROR tests/test_mail.py::test_reminder_is_sent_after_a_week - TypeError: Controller.__init__() got an...
==================== 7 passed, 1 warning, 2 errors in 0.70s ====================
"""

COVERAGE = """........................................................................ [ 90%]
........                                                                 [100%]

---------- coverage: platform linux, python 3.12.4-final-0 -----------
Name                    Stmts   Miss  Cover   Missing
-----------------------------------------------------
shop/__init__.py            2      0   100%
shop/cart.py               61      2    97%   44-45
shop/refunds.py            48     31    35%   12-58
-----------------------------------------------------
TOTAL                     111     33    70%

FAIL Required test coverage of 85% not reached. Total coverage: 70.27%
80 passed in 2.02s
"""

UNITTEST = """..E....F
======================================================================
ERROR: test_reads_an_empty_feed (tests.test_feed.FeedTest.test_reads_an_empty_feed)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/dev/shop/tests/test_feed.py", line 14, in test_reads_an_empty_feed
    self.assertEqual(read_feed(b""), [])
                     ^^^^^^^^^^^^^^
  File "/home/dev/shop/shop/feed.py", line 9, in read_feed
    root = ElementTree.fromstring(raw)
xml.etree.ElementTree.ParseError: no element found: line 1, column 0

======================================================================
FAIL: test_newest_entry_comes_first (tests.test_feed.FeedTest.test_newest_entry_comes_first)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/dev/shop/tests/test_feed.py", line 31, in test_newest_entry_comes_first
    self.assertEqual(titles, ["b", "a"])
AssertionError: Lists differ: ['a', 'b'] != ['b', 'a']

First differing element 0:
'a'
'b'

----------------------------------------------------------------------
Ran 8 tests in 0.011s

FAILED (failures=1, errors=1)
"""

DJANGO = """Found 57 test(s).
Creating test database for alias 'default'...
System check identified no issues (0 silenced).
.........................................F...............
======================================================================
FAIL: test_refund_needs_a_reason (refunds.tests.RefundTests.test_refund_needs_a_reason)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/dev/shop/refunds/tests.py", line 66, in test_refund_needs_a_reason
    self.assertEqual(response.status_code, 400)
AssertionError: 201 != 400

----------------------------------------------------------------------
Ran 57 tests in 3.208s

FAILED (failures=1)
Destroying test database for alias 'default'...
"""

TAILED = """    def test_export_has_a_header():
>       assert rows[0] == ["sku", "price", "currency"]
E       AssertionError: assert ['sku', 'price'] == ['sku', 'price', 'currency']
E         Right contains one more item: 'currency'

tests/test_export.py:19: AssertionError
=========================== short test summary info ============================
FAILED tests/test_export.py::test_export_has_a_header - AssertionError: assert ['sku', 'price'] == ['sku', ...
1 failed, 64 passed in 1.77s
make: *** [Makefile:12: test] Error 1
"""

CASES = (
    Case(
        "pytest passes after a new function",
        "Add a discount code to the cart, ten percent off the net price.",
        [
            read("shop/cart.py", CART),
            edit(
                "shop/cart.py",
                CART,
                "    def total(self):",
                '    def apply_discount(self, code):\n        self.discount = CODES.get(code, Decimal("0"))\n\n'
                "    def total(self):",
            ),
            bash("cd /home/dev/shop && .venv/bin/pytest -q 2>&1 | tail -5", PASSED_QUIET),
        ],
        "Discount codes work now: `apply_discount` looks the code up and the total takes it off the net price.",
        facts=("apply_discount", "133 passed", "shop/cart.py", "pytest"),
    ),
    Case(
        "pytest fails, is fixed and passes",
        "The cart total loses its cents, please fix it",
        [
            bash_failed("pytest tests/test_cart.py tests/test_money.py", VAT_FAILED),
            edit("shop/cart.py", CART, "(1 + VAT), 0)", "(1 + VAT), 2)"),
            bash("pytest tests/test_cart.py tests/test_money.py", VAT_PASSED),
        ],
        "Fixed. `total` rounded to whole euros.",
        facts=(
            "test_total_keeps_cents",
            "assert Decimal('25') == Decimal('24.99')",
            "Cart.total",
            "27 passed",
            "pytest tests/test_cart.py tests/test_money.py",
        ),
        never=("platform linux", "pluggy", "\x1b"),
        kinds=("bugfix",),
    ),
    Case(
        "pytest cannot collect a module",
        "run the tests",
        [bash_failed("python -m pytest", NOT_COLLECTED, 2)],
        "The suite stops at collection.",
        facts=("tests/api/test_orders.py", "ModuleNotFoundError: No module named 'respx'", "exit code 2"),
    ),
    Case(
        "pytest fails for some parameters",
        "Are the date tests green?",
        [bash_failed("uv run pytest -q tests/test_dates.py", PARAMETRISED)],
        "No, three of them fail.",
        facts=(
            "test_parse_date[2024-02-30-day out of range]",
            "assert 'day out of range' in 'unreadable date'",
            "test_parse_date[31/12-no year given]",
            "DID NOT RAISE <class 'shop.dates.DateError'>",
            "test_week_of_year",
            "assert 1 == 53",
            "3 failed, 22 passed",
        ),
    ),
    Case(
        "pytest on four workers",
        "Run everything in parallel",
        [bash_failed("pytest -n 4 -v", XDIST)],
        facts=(
            "tests/unit/test_locks.py::test_two_writers_wait_for_each_other",
            "sqlite3.OperationalError: database is locked",
            "1 failed, 313 passed, 4 skipped",
        ),
        never=("test_case_7",),
    ),
    Case(
        "pytest has errors in a fixture",
        "why are the mail tests red?",
        [bash_failed("pytest tests/test_mail.py", FIXTURE_ERROR)],
        "aiosmtpd renamed an argument of `Controller`: the fixture still passes `port`, it has to be `server_port`.",
        facts=(
            "test_invoice_is_sent_once",
            "test_reminder_is_sent_after_a_week",
            "TypeError: Controller.__init__() got an unexpected keyword argument 'port'",
            "2 failed, 7 passed",
            "server_port",
        ),
    ),
    Case(
        "pytest passes but coverage is too low",
        "Check the coverage gate",
        [bash_failed("pytest -q --cov=shop --cov-fail-under=85", COVERAGE)],
        "The gate fails because refunds are hardly tested.",
        facts=("Required test coverage of 85% not reached", "70.27%", "80 passed"),
    ),
    Case(
        "unittest fails",
        "run the unit tests of the feed",
        [bash_failed("python -m unittest tests.test_feed", UNITTEST)],
        "Two problems in the feed reader.",
        facts=(
            "test_reads_an_empty_feed",
            "ParseError: no element found: line 1, column 0",
            "test_newest_entry_comes_first",
            "AssertionError: Lists differ: ['a', 'b'] != ['b', 'a']",
            "2 failed, 6 passed",
        ),
    ),
    Case(
        "a framework's own test command",
        "Make refunds ask for a reason",
        [
            edit(
                "refunds/views.py",
                "def create(request):\n    refund = Refund.objects.create(order=request.order)\n    return created(refund)\n",
                "    refund =",
                '    if not request.POST.get("reason"):\n        return created(None)\n    refund =',
            ),
            bash_failed("python manage.py test refunds", DJANGO),
        ],
        "The view answers 201 without a reason still; I'll need to return 400 there.",
        facts=("test_refund_needs_a_reason", "AssertionError: 201 != 400", "1 failed, 56 passed", "refunds/views.py"),
    ),
    Case(
        "a pipe hides the exit code of the tests",
        "does make test pass?",
        [bash("make test 2>&1 | tail -14", TAILED)],
        "One test fails.",
        facts=(
            "tests/test_export.py::test_export_has_a_header",
            "assert ['sku', 'price'] == ['sku', 'price', 'currency']",
            "1 failed, 64 passed",
            "make test",
        ),
    ),
    Case(
        "tests are written for old code",
        "Write tests for the slug function",
        [
            read("shop/slug.py", "def slug(text):\n    return text.lower().replace(' ', '-')\n"),
            write(
                "tests/test_slug.py",
                "from shop.slug import slug\n\n\ndef test_spaces_become_dashes():\n    assert slug('a b') == 'a-b'\n\n\n"
                "def test_letters_become_small():\n    assert slug('AB') == 'ab'\n",
            ),
            bash(
                "uv run pytest tests/test_slug.py -v",
                "tests/test_slug.py::test_spaces_become_dashes PASSED [ 50%]\n"
                "tests/test_slug.py::test_letters_become_small PASSED [100%]\n\n"
                "============================== 2 passed in 0.02s ===============================\n",
            ),
        ],
        "Added two tests for `slug`.",
        facts=("tests/test_slug.py", "test_spaces_become_dashes", "test_letters_become_small", "2 passed"),
    ),
)
