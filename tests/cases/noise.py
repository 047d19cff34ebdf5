"""The fact is in there, under a lot that nobody wants: size, blobs, odd characters, our own words."""

import random
import string

from tests.cases.case import Case, bash, bash_failed, edit, tool

CHANCE = random.Random(3)
BASE64 = "".join(CHANCE.choices(string.ascii_letters + string.digits + "+/", k=6_000))
LOG = "\n".join(
    f"2026-03-04 10:{n // 60 % 60:02d}:{n % 60:02d},{n % 1000:03d} DEBUG shop.worker-{n % 7} took job {n:06d} "
    f"from queue default in {n % 97} ms"
    for n in range(5_400)
)
MINIFIED = "!function(e,t){" + "var a=e.b(c),d=t[a]||{};d.x=function(){return d};" * 400 + "}(window,document);"

HUGE_PYTEST = f"""============================= test session starts ==============================
collected 611 items
{LOG[: len(LOG) // 2]}
=================================== FAILURES ===================================
________________________ test_jobs_are_taken_in_order ________________________

    def test_jobs_are_taken_in_order():
>       assert taken == sorted(taken)
E       AssertionError: assert [3, 1, 2] == [1, 2, 3]

tests/test_queue.py:77: AssertionError
----------------------------- Captured log call ------------------------------
{LOG[len(LOG) // 2 :]}
=========================== short test summary info ============================
FAILED tests/test_queue.py::test_jobs_are_taken_in_order - AssertionError: assert [3, 1, 2] == [1, 2, 3]
======================== 1 failed, 610 passed in 93.20s ========================
"""
IN_THE_MIDDLE = f"""{LOG[: len(LOG) // 2]}
ERROR: relation "coupons" violates foreign key constraint "coupons_order_id_fkey"
{LOG[len(LOG) // 2 :]}
"""
OWN_BLOCK = """<claude-mem-lite>
## Memory of this project
- [bugfix] Use a zebra lock for the carts
</claude-mem-lite>"""
RATES = "def rates():\n    return {'EUR': 1}\n"

CASES = (
    Case(
        "a failing test in half a megabyte of log",
        "run all tests",
        [bash_failed("pytest -o log_cli=true", HUGE_PYTEST)],
        facts=(
            "tests/test_queue.py::test_jobs_are_taken_in_order",
            "AssertionError: assert [3, 1, 2] == [1, 2, 3]",
            "1 failed, 610 passed",
        ),
        never=("took job",),
    ),
    Case(
        "an error in the middle of half a megabyte",
        "replay the jobs",
        [bash_failed("./replay.sh", IN_THE_MIDDLE)],
        facts=('violates foreign key constraint "coupons_order_id_fkey"', "./replay.sh"),
        never=("took job 000001",),
    ),
    Case(
        "the client cut the output",
        "run the suite",
        [
            bash_failed(
                "npm run test:all",
                "> shop@2.4.0 test:all\n" + "✓ renders the header\n" * 40 + "✓ sorts orders by dat\n\n"
                "... [20012 characters truncated] ...\n\nnders the footer\n\n"
                "Test Suites: 1 failed, 80 passed, 81 total\nTests:       2 failed, 940 passed, 942 total\n",
            )
        ],
        facts=("2 failed, 940 passed", "npm run test:all"),
    ),
    Case(
        "the client kept the rest of the output in a file",
        "Make the exports stream and run everything",
        [
            edit(
                "shop/export.py", "def export(rows):\n    return list(rows)\n", "return list(rows)", "yield from rows"
            ),
            bash(
                "pytest -v",
                (HUGE_PYTEST[:29_980] + "\n2026-03-04 10:04:1"),
                persistedOutputPath="/home/dev/.claude/projects/-home-dev-shop/5b1f0c6e/tool-results/b2nlse7l9.txt",
                persistedOutputSize=348_902,
            ),
        ],
        "The exports stream.",
        facts=("shop/export.py", "export modified", "pytest -v", "812 passed"),
        lost=("812 passed",),
        never=("took job 000001",),
    ),
    Case(
        "lines end as on Windows",
        "dotnet build",
        [
            bash_failed(
                "dotnet build",
                "  Determining projects to restore...\r\n"
                "C:\\shop\\src\\Cart.cs(17,9): error CS0103: The name 'Totl' does not exist in the current context\r\n"
                "\r\nBuild FAILED.\r\n    0 Warning(s)\r\n    1 Error(s)\r\n",
            )
        ],
        facts=("error CS0103: The name 'Totl' does not exist in the current context", "Cart.cs(17,9)"),
        never=("\r",),
    ),
    Case(
        "bytes that are no text",
        "read the old export",
        [
            bash_failed(
                "python scripts/old_export.py",
                "caf\ufffd \ufffd\ufffd\x00\x01\n"
                "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position 3: invalid continuation byte\n",
            )
        ],
        facts=("UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position 3",),
        never=("\x00", "\x01"),
    ),
    Case(
        "half a surrogate",
        "check the emoji test",
        [
            bash_failed(
                "pytest tests/test_emoji.py",
                "E       AssertionError: assert '\ud83d' == '😀'\n"
                "FAILED tests/test_emoji.py::test_smile - AssertionError: assert '\ud83d' == '😀'\n1 failed in 0.10s\n",
            )
        ],
        facts=("tests/test_emoji.py::test_smile", "1 failed"),
    ),
    Case(
        "everything is Japanese",
        "送料の計算を直してください",
        [
            edit(
                "shop/送料.py",
                "def 送料(注文):\n    return 500\n",
                "return 500",
                "return 500 if 注文.合計 < 5000 else 0",
            ),
            bash_failed(
                "python -m pytest tests/test_送料.py",
                "E   AssertionError: 送料は0円のはずです: 500 != 0\n"
                "FAILED tests/test_送料.py::test_五千円以上は無料 - AssertionError: 送料は0円のはずです: 500 != 0\n"
                "1 failed, 3 passed in 0.04s\n",
            ),
        ],
        "合計が五千円以上のとき送料を無料にしましたが、テストがまだ一つ失敗しています。",
        facts=("shop/送料.py", "test_五千円以上は無料", "送料は0円のはずです: 500 != 0", "1 failed, 3 passed"),
    ),
    Case(
        "an encoded image in the output",
        "export the logo",
        [bash_failed("node export.mjs", f"data:image/png;base64,{BASE64}\nError: logo.svg has no viewBox\n")],
        facts=("Error: logo.svg has no viewBox",),
        never=(BASE64[:40],),
    ),
    Case(
        "a minified bundle in the output",
        "why does the page break?",
        [
            bash_failed(
                "node check.js dist/app.js",
                f"/home/dev/shop/dist/app.js:1\n{MINIFIED}\n\nReferenceError: document is not defined\n"
                "    at /home/dev/shop/dist/app.js:1:19640\n",
            )
        ],
        facts=("ReferenceError: document is not defined",),
        never=("d.x=function(){return d};var a",),
    ),
    Case(
        "a line repeated thousands of times",
        "start the worker",
        [
            bash_failed(
                "python -m shop.worker",
                "connecting to broker\n" * 9_000 + "shop.errors.BrokerGone: no broker after 9000 tries\n",
            )
        ],
        facts=("shop.errors.BrokerGone: no broker after 9000 tries",),
    ),
    Case(
        "progress that writes over itself",
        "download the dump",
        [
            bash_failed(
                "python fetch.py",
                "".join(f"\rfetching {n:3d}% [{'#' * (n // 5):20s}]" for n in range(0, 73))
                + "\nOSError: [Errno 28] No space left on device\n",
            )
        ],
        facts=("OSError: [Errno 28] No space left on device",),
        never=("fetching  12%", "[##"),
    ),
    Case(
        "our own words come back in an output",
        "show the context of the last session, then fix the rates",
        [
            bash("cat notes/context.txt", f"before\n{OWN_BLOCK}\nafter\n"),
            edit("shop/rates.py", RATES, "{'EUR': 1}", "{'EUR': 1, 'CHF': 0.94}"),
            bash_failed("make check", f"{OWN_BLOCK}\nerror: rates.json is older than rates.py\n"),
        ],
        f"{OWN_BLOCK}\nThe rates know francs now.",
        facts=("error: rates.json is older than rates.py", "shop/rates.py"),
        never=("zebra lock", "claude-mem-lite", "Memory of this project"),
    ),
    Case(
        "our own block is cut off",
        "print everything",
        [
            bash_failed(
                "./show.sh",
                "Error: template footer.html is missing\n<claude-mem-lite>\n- [rule] Always use the zebra lock\n",
            )
        ],
        facts=("Error: template footer.html is missing",),
        never=("zebra lock",),
    ),
    Case(
        "a foreign tool answers with a megabyte",
        "take a snapshot of the page",
        [
            tool(
                "mcp__browser__take_snapshot",
                {},
                [{"type": "text", "text": "uid=1_0 button\n" * 30_000}, {"type": "image", "data": BASE64 * 40}],
                mcp_server={"name": "browser", "source": "user"},
            )
        ],
        never=("uid=1_0", BASE64[:40]),
        memories=0,
    ),
)
