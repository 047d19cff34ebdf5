"""Pairs of calls whose outputs look alike and that failed in two ways: the fix of one would not mend the other."""

# ruff: noqa: E501 -- lines as programs print them

from .failed_calls import THERE, Failed, Pair, with_message

_MODULE = Failed(
    "python manage.py migrate",
    """Traceback (most recent call last):
  File "/home/dev/shop/manage.py", line 11, in main
    from django.core.management import execute_from_command_line
ModuleNotFoundError: No module named 'django'
""",
)
_PYTEST = Failed(
    "pytest -q",
    """..F....                                                                  [100%]
=================================== FAILURES ===================================
__________________________________ test_total __________________________________

    def test_total():
>       assert total([1, 2]) == 4
E       assert 3 == 4
E        +  where 3 = total([1, 2])

tests/test_cart.py:8: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total - assert 3 == 4
1 failed, 6 passed in 0.12s
""",
)
_TSC = Failed(
    "npx tsc --noEmit",
    "src/cart/total.ts(14,7): error TS2322: Type 'string' is not assignable to type 'number'.\n",
    code=2,
)
_PSQL = Failed(
    "psql -f migrations/004.sql shop",
    """psql:migrations/004.sql:12: ERROR:  relation "orders" does not exist
LINE 1: ALTER TABLE orders ADD COLUMN paid_at timestamptz;
                    ^
""",
    code=3,
)
_COLUMN = Failed(
    'psql shop -c "select paid_at from orders"',
    """ERROR:  column "paid_at" does not exist
LINE 1: select paid_at from orders
               ^
""",
)
_NODE = Failed(
    "node server.js",
    """node:internal/modules/cjs/loader:1147
  throw err;
  ^

Error: Cannot find module 'express'
Require stack:
- /home/dev/shop/server.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1144:15)
    at Object.<anonymous> (/home/dev/shop/server.js:3:17) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/home/dev/shop/server.js' ]
}

Node.js v20.11.1
""",
)
_CURL = Failed(
    "curl -fsS https://api.example.com/v1/orders",
    "curl: (22) The requested URL returned error: 404\n",
    code=22,
)
_CARGO = Failed(
    "cargo build",
    """   Compiling shop v0.1.0 (/home/dev/shop)
error[E0425]: cannot find function `total` in this scope
 --> src/main.rs:4:20
  |
4 |     println!("{}", total());
  |                    ^^^^^ not found in this scope

For more information about this error, try `rustc --explain E0425`.
error: could not compile `shop` (bin "shop") due to 1 previous error
""",
    code=101,
)
_LINK = Failed(
    "gcc main.c -o shop",
    """/usr/bin/ld: /tmp/ccQ1x7aB.o: in function `main':
main.c:(.text+0x1a): undefined reference to `cart_total'
collect2: error: ld returned 1 exit status
""",
)
_KUBE = Failed(
    "kubectl apply -f deploy/shop.yaml",
    'Error from server (NotFound): error when creating "deploy/shop.yaml": namespaces "shop-staging" not found\n',
)
_GO = Failed(
    "go build ./...",
    """# example.com/shop/cart
cart/cart.go:14:9: undefined: Total
""",
)
_MYPY = Failed(
    "mypy src",
    """src/shop/cart.py:41: error: Argument 1 to "add" has incompatible type "str"; expected "int"  [arg-type]
Found 1 error in 1 file (checked 18 source files)
""",
)
_KEY = Failed(
    "python -m shop.report",
    """Traceback (most recent call last):
  File "/home/dev/shop/shop/report.py", line 88, in <module>
    main()
  File "/home/dev/shop/shop/report.py", line 71, in main
    total = rows["total"]
KeyError: 'total'
""",
)
_REFUSED = Failed(
    "python -m shop.worker",
    """Traceback (most recent call last):
  File "/home/dev/shop/shop/worker.py", line 20, in <module>
    connect()
  File "/home/dev/shop/shop/worker.py", line 12, in connect
    raise ConnectionError(f"could not reach {service}")
ConnectionError: could not reach redis on localhost:6379
""",
)
_PUSH = Failed(
    "git push origin main",
    """To github.com:me/shop.git
 ! [rejected]        main -> main (fetch first)
error: failed to push some refs to 'github.com:me/shop.git'
hint: Updates were rejected because the remote contains work that you do not
hint: have locally.
""",
)
_PIP = Failed(
    "pip install -r requirements.txt",
    """ERROR: Could not find a version that satisfies the requirement fastpi (from versions: none)
ERROR: No matching distribution found for fastpi
""",
)
_ATTRIBUTE = Failed(
    "python cli.py list",
    """Traceback (most recent call last):
  File "/home/dev/shop/cli.py", line 9, in <module>
    print(cart.total)
          ^^^^^^^^^^
AttributeError: 'Cart' object has no attribute 'total'
""",
)
_MAKE = Failed("make lint", "make: *** No rule to make target 'lint'.  Stop.\n", code=2)
_COMMAND = Failed("pnpm install", "/bin/bash: line 1: pnpm: command not found\n", code=127)

_EXIT = Failed("./scripts/deploy.sh", "deploy.sh: step upload failed with exit code 3\n")
_GO_TEST = Failed(
    "go test ./...",
    """--- FAIL: TestTotal (0.00s)
    total_test.go:18: got 12, want 10
FAIL
FAIL	example.com/shop/cart	0.004s
FAIL
""",
)
_JEST = Failed(
    "npx jest",
    """FAIL src/cart.test.js
  ● Cart › adds the discount

    expect(received).toBe(expected) // Object.is equality

    Expected: 90
    Received: 100

      at Object.toBe (src/cart.test.js:14:24)

Test Suites: 1 failed, 3 passed, 4 total
Tests:       1 failed, 21 passed, 22 total
Time:        1.482 s
""",
)
_ESLINT = Failed(
    "npx eslint src",
    """
/home/dev/shop/src/cart.js
  12:7  error  'discount' is assigned a value but never used  no-unused-vars

✖ 1 problem (1 error, 0 warnings)
""",
)
_DOCKER = Failed(
    "docker build -t shop .",
    """#7 [4/6] COPY requirements.txt /app/
#7 ERROR: failed to calculate checksum of ref 7f1e0c4b-19aa-4a53::m2cuk1m5n1: "/requirements.txt": not found
------
 > [4/6] COPY requirements.txt /app/:
------
ERROR: failed to solve: failed to compute cache key: failed to calculate checksum of ref 7f1e0c4b-19aa-4a53::m2cuk1m5n1: "/requirements.txt": not found
""",
)
_IMPORT_NAME = Failed(
    "python -c 'import shop'",
    """Traceback (most recent call last):
  File "<string>", line 1, in <module>
  File "/home/dev/shop/shop/__init__.py", line 3, in <module>
    from shop.cart import Cart
ImportError: cannot import name 'Cart' from 'shop.cart' (/home/dev/shop/shop/cart.py)
""",
)
_NO_FILE = Failed("cat config/local.toml", "cat: config/local.toml: No such file or directory\n")
_PORT = Failed(
    "uvicorn shop:app --port 8000",
    """INFO:     Started server process [4121]
INFO:     Waiting for application startup.
INFO:     Application startup complete.
ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', 8000): address already in use
INFO:     Application shutdown complete.
""",
)
_CONFLICT = Failed(
    "git merge feature/pay",
    """Auto-merging src/cart.py
CONFLICT (content): Merge conflict in src/cart.py
Automatic merge failed; fix conflicts and then commit the result.
""",
)
_TERRAFORM = Failed(
    "terraform plan",
    """
Error: Reference to undeclared input variable

  on main.tf line 12, in resource "aws_s3_bucket" "assets":
  12:   bucket = var.bucket_name

An input variable with the name "bucket_name" has not been declared. This
variable can be declared with a variable "bucket_name" {} block.
""",
)
_GRADLE = Failed(
    "./gradlew build",
    """> Task :compileJava FAILED
/home/dev/shop/src/main/java/shop/Cart.java:21: error: cannot find symbol
    return discountOf(sum);
           ^
  symbol:   method discountOf(int)
  location: class Cart
1 error

FAILURE: Build failed with an exception.

BUILD FAILED in 3s
""",
)
_MAVEN = Failed(
    "mvn -q compile",
    """[ERROR] COMPILATION ERROR :
[ERROR] /home/dev/shop/src/main/java/shop/Cart.java:[12,17] cannot find symbol
  symbol:   class Money
  location: class shop.Cart
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile (default-compile) on project shop: Compilation failure
""",
)
_NPM_SCRIPT = Failed(
    "npm run lnt",
    """npm error Missing script: "lnt"
npm error
npm error To see a list of scripts, run:
npm error   npm run
npm error A complete log of this run can be found in: /home/dev/.npm/_logs/2026-03-04T10_00_00_123Z-debug-0.log
""",
)
_CURL_HOST = Failed(
    "curl -fsS https://api.example.com/health", "curl: (6) Could not resolve host: api.example.com\n", code=6
)
_SSL = Failed(
    "curl -fsS https://registry.internal.example/v2/",
    "curl: (60) SSL certificate problem: certificate has expired\n",
    code=60,
)
_RSPEC = Failed(
    "bundle exec rspec",
    """....F..

Failures:

  1) Cart#total adds the tax
     Failure/Error: expect(cart.total).to eq(119)

       expected: 119
            got: 100

       (compared using ==)
     # ./spec/cart_spec.rb:14:in `block (3 levels) in <top (required)>'

Finished in 0.01243 seconds (files took 0.10172 seconds to load)
7 examples, 1 failure

Failed examples:

rspec ./spec/cart_spec.rb:12 # Cart#total adds the tax
""",
)
_SQLITE = Failed(
    "python -m shop.seed",
    """Traceback (most recent call last):
  File "/home/dev/shop/shop/seed.py", line 30, in main
    db.execute("insert into orders values (1, null)")
sqlite3.IntegrityError: NOT NULL constraint failed: orders.customer_id
""",
)
_HTTP = Failed(
    "python scripts/sync.py",
    """Traceback (most recent call last):
  File "/home/dev/shop/scripts/sync.py", line 12, in <module>
    response.raise_for_status()
requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://api.example.com/v1/orders
""",
)
_ENV = Failed(
    "node server.js",
    """/home/dev/shop/config.js:4
  throw new Error(`${name} is not set`);
  ^

Error: DATABASE_URL is not set
    at required (/home/dev/shop/config.js:4:9)
    at Object.<anonymous> (/home/dev/shop/config.js:9:12)

Node.js v20.11.1
""",
)
_RUFF = Failed("ruff check .", "shop/cart.py:3:8: F401 [*] `os` imported but unused\nFound 1 error.\n")
_HELM = Failed(
    "kubectl -n shop get pod shop-web",
    'Error from server (Forbidden): pods "shop-web" is forbidden: User "dev" cannot get resource "pods" in API group "" in the namespace "shop"\n',
)
_SSH = Failed(
    "git fetch origin",
    """ssh: Could not resolve hostname git.internal.example: Name or service not known
fatal: Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.
""",
    code=128,
)
_PEER = Failed(
    "npm install",
    """npm error code ERESOLVE
npm error ERESOLVE unable to resolve dependency tree
npm error
npm error While resolving: shop@1.5.2
npm error Found: react@18.3.1
npm error node_modules/react
npm error   react@"^18.2.0" from the root project
npm error
npm error Could not resolve dependency:
npm error peer react@"^17.0.0" from react-tables@7.8.0
""",
)
_CRASH = Failed("./build/shop --seed 41", "Segmentation fault (core dumped)\n", code=139)
_NODE_PORT = Failed(
    "npm run dev",
    """Error: listen EADDRINUSE: address already in use :::3000
    at Server.setupListenHandle [as _listen2] (node:net:1817:16)
    at listenInCluster (node:net:1865:12)
""",
)
_REFUSES = Failed(
    "alembic upgrade head",
    """Traceback (most recent call last):
  File "/home/dev/shop/.venv/bin/alembic", line 8, in <module>
    sys.exit(main())
sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) connection to server at "127.0.0.1", port 5432 failed: Connection refused
	Is the server running on that host and accepting TCP/IP connections?
""",
)


OTHER: dict[str, Pair] = {
    "another python module is missing": (
        _MODULE,
        with_message(_MODULE, ("No module named 'django'", "No module named 'redis'")),
    ),
    "another test failed": (_PYTEST, with_message(_PYTEST, ("test_total", "test_taxes"))),
    "the same test failed of another error": (
        _PYTEST,
        with_message(
            _PYTEST,
            (
                "E       assert 3 == 4\nE        +  where 3 = total([1, 2])",
                "E       TypeError: total() takes 0 positional arguments but 1 was given",
            ),
            ("AssertionError", "TypeError"),
            ("- assert 3 == 4", "- TypeError: total() takes 0 positional arguments but 1 was given"),
        ),
    ),
    "tsc, another type": (_TSC, with_message(_TSC, ("'number'", "'Date'"))),
    "tsc, another error code in the same file": (
        _TSC,
        with_message(
            _TSC, ("TS2322: Type 'string' is not assignable to type 'number'.", "TS2304: Cannot find name 'number'.")
        ),
    ),
    "psql, another table": (_PSQL, with_message(_PSQL, ("orders", "invoices"))),
    "psql, another column": (_COLUMN, with_message(_COLUMN, ("paid_at", "sent_at"))),
    "node, another package": (_NODE, with_message(_NODE, ("'express'", "'fastify'"))),
    "another status of HTTP": (_CURL, with_message(_CURL, ("404", "503"))),
    "cargo, another function": (_CARGO, with_message(_CARGO, ("`total`", "`refund`"), ("total()", "refund()"))),
    "cargo, another error code": (
        _CARGO,
        with_message(
            _CARGO,
            ("E0425", "E0603"),
            ("cannot find function `total` in this scope", "function `total` is private"),
            ("not found in this scope", "private function"),
        ),
    ),
    "linker, another symbol": (_LINK, with_message(_LINK, ("cart_total", "cart_clear"))),
    "kubectl, another namespace": (_KUBE, with_message(_KUBE, ("shop-staging", "shop-billing"))),
    "go, another name": (_GO, with_message(_GO, ("undefined: Total", "undefined: Refund"))),
    "mypy, another type": (_MYPY, with_message(_MYPY, ('type "str"', 'type "None"'))),
    "another key": (
        _KEY,
        with_message(_KEY, ("total = rows", "tax = rows"), ("'total'", "'tax'"), ('["total"]', '["tax"]')),
    ),
    "another service does not answer": (_REFUSED, with_message(_REFUSED, ("redis", "postgres"), ("6379", "5432"))),
    "git push, another reason": (
        _PUSH,
        Failed(
            "git push origin main",
            """remote: error: GH006: Protected branch update failed for refs/heads/main.
remote: error: Changes must be made through a pull request.
To github.com:me/shop.git
 ! [remote rejected] main -> main (protected branch hook declined)
error: failed to push some refs to 'github.com:me/shop.git'
""",
        ),
    ),
    "pip, another package": (_PIP, with_message(_PIP, ("fastpi", "reqests"))),
    "another attribute": (
        _ATTRIBUTE,
        with_message(_ATTRIBUTE, ("cart.total", "cart.items"), ("attribute 'total'", "attribute 'items'")),
    ),
    "make, another target": (_MAKE, Failed("make fmt", "make: *** No rule to make target 'fmt'.  Stop.\n", code=2)),
    "another program is not there": (
        _COMMAND,
        Failed("bun install", "/bin/bash: line 1: bun: command not found\n", code=127, cwd=THERE),
    ),
    "another exit code": (_EXIT, with_message(_EXIT, ("exit code 3", "exit code 4"))),
    "go test, another test of the file": (_GO_TEST, with_message(_GO_TEST, ("TestTotal", "TestRefund"))),
    "jest, another test of the file": (_JEST, with_message(_JEST, ("adds the discount", "removes the discount"))),
    "eslint, another variable": (_ESLINT, with_message(_ESLINT, ("'discount'", "'rebate'"))),
    "eslint, another rule": (
        _ESLINT,
        with_message(_ESLINT, ("is assigned a value but never used  no-unused-vars", "is not defined  no-undef")),
    ),
    "docker, another file is missing": (
        _DOCKER,
        with_message(_DOCKER, ("requirements.txt", "pyproject.toml")),
    ),
    "another name cannot be imported": (
        _IMPORT_NAME,
        with_message(_IMPORT_NAME, ("import Cart", "import Order"), ("name 'Cart'", "name 'Order'")),
    ),
    "another file is not there": (
        _NO_FILE,
        Failed("cat config/prod.toml", "cat: config/prod.toml: No such file or directory\n"),
    ),
    "another port of another service is in use": (_PORT, with_message(_PORT, ("8000", "5432"))),
    "a conflict in another file": (_CONFLICT, with_message(_CONFLICT, ("src/cart.py", "src/store.py"))),
    "terraform, another variable": (_TERRAFORM, with_message(_TERRAFORM, ("bucket_name", "region_name"))),
    "gradle, another symbol": (
        _GRADLE,
        with_message(_GRADLE, ("method discountOf(int)", "method taxOf(int)"), ("discountOf(sum)", "taxOf(sum)")),
    ),
    "maven, another class": (_MAVEN, with_message(_MAVEN, ("class Money", "class Price"))),
    "npm, another script": (
        _NPM_SCRIPT,
        Failed("npm run buld", with_message(_NPM_SCRIPT, ("lnt", "buld")).output),
    ),
    "another host": (_CURL_HOST, with_message(_CURL_HOST, ("api.example.com", "cdn.example.com"))),
    "another trouble with a certificate": (
        _SSL,
        with_message(_SSL, ("certificate has expired", "self-signed certificate in certificate chain")),
    ),
    "rspec, another example": (_RSPEC, with_message(_RSPEC, ("adds the tax", "rounds the tax"))),
    "another column may not be null": (_SQLITE, with_message(_SQLITE, ("orders.customer_id", "orders.total"))),
    "another status in a traceback": (
        _HTTP,
        with_message(_HTTP, ("401 Client Error: Unauthorized", "403 Client Error: Forbidden")),
    ),
    "another variable is not set": (_ENV, with_message(_ENV, ("DATABASE_URL", "SESSION_SECRET"))),
    "ruff, another rule": (
        _RUFF,
        with_message(_RUFF, ("F401 [*] `os` imported but unused", "F821 Undefined name `os`")),
    ),
    "kubectl, another right": (_HELM, with_message(_HELM, ("cannot get resource", "cannot delete resource"))),
    "git, a key instead of a name": (
        _SSH,
        with_message(
            _SSH,
            (
                "ssh: Could not resolve hostname git.internal.example: Name or service not known",
                "git@git.internal.example: Permission denied (publickey).",
            ),
        ),
    ),
    "npm, another peer": (_PEER, with_message(_PEER, ("react-tables@7.8.0", "react-maps@2.1.0"))),
    "another program crashes": (
        _CRASH,
        Failed("./build/importer data.csv", "Segmentation fault (core dumped)\n", code=139),
    ),
    "a crash and a kill": (_CRASH, Failed("./build/shop --seed 41", "Killed\n", code=137)),
    "node, another port": (_NODE_PORT, with_message(_NODE_PORT, (":::3000", ":::5173"))),
    "a database on another port": (_REFUSES, with_message(_REFUSES, ("port 5432", "port 3306"))),
    "dotnet, another name": (
        Failed(
            "dotnet build",
            """/home/dev/shop/Cart.cs(14,9): error CS0103: The name 'discount' does not exist in the current context [/home/dev/shop/Shop.csproj]

Build FAILED.
    0 Warning(s)
    1 Error(s)

Time Elapsed 00:00:02.13
""",
        ),
        Failed(
            "dotnet build",
            """/home/dev/shop/Cart.cs(14,9): error CS0103: The name 'rebate' does not exist in the current context [/home/dev/shop/Shop.csproj]

Build FAILED.
    0 Warning(s)
    1 Error(s)

Time Elapsed 00:00:02.13
""",
        ),
    ),
    "swift, another name": (
        Failed(
            "swift build",
            """Building for debugging...
/home/dev/shop/Sources/shop/main.swift:4:7: error: cannot find 'total' in scope
let x = total()
        ^~~~~
error: fatalError
""",
        ),
        Failed(
            "swift build",
            """Building for debugging...
/home/dev/shop/Sources/shop/main.swift:4:7: error: cannot find 'refund' in scope
let x = refund()
        ^~~~~
error: fatalError
""",
        ),
    ),
    "phpunit, another test": (
        Failed(
            "vendor/bin/phpunit",
            """PHPUnit 10.5.9 by Sebastian Bergmann and contributors.

..F.                                                                4 / 4 (100%)

Time: 00:00.012, Memory: 8.00 MB

There was 1 failure:

1) CartTest::testTotal
Failed asserting that 12 matches expected 10.

/home/dev/shop/tests/CartTest.php:18

FAILURES!
Tests: 4, Assertions: 4, Failures: 1.
""",
        ),
        Failed(
            "vendor/bin/phpunit",
            """PHPUnit 10.5.9 by Sebastian Bergmann and contributors.

..F.                                                                4 / 4 (100%)

Time: 00:00.012, Memory: 8.00 MB

There was 1 failure:

1) CartTest::testRefund
Failed asserting that 12 matches expected 10.

/home/dev/shop/tests/CartTest.php:18

FAILURES!
Tests: 4, Assertions: 4, Failures: 1.
""",
        ),
    ),
    "compose, another port": (
        Failed(
            "docker compose up -d",
            """[+] Running 1/2
 ✔ Network shop_default  Created    0.1s
 ⠿ Container shop-db-1   Starting   0.4s
Error response from daemon: driver failed programming external connectivity on endpoint shop-db-1 (9b1e7c2f6a0d): Bind for 0.0.0.0:5432 failed: port is already allocated
""",
        ),
        Failed(
            "docker compose up -d",
            """[+] Running 1/2
 ✔ Network shop_default  Created    0.1s
 ⠿ Container shop-db-1   Starting   0.4s
Error response from daemon: driver failed programming external connectivity on endpoint shop-db-1 (9b1e7c2f6a0d): Bind for 0.0.0.0:6379 failed: port is already allocated
""",
        ),
    ),
    "prisma, another error": (
        Failed(
            "npx prisma migrate dev",
            """Environment variables loaded from .env
Prisma schema loaded from prisma/schema.prisma
Datasource "db": PostgreSQL database "shop", schema "public" at "localhost:5432"

Error: P1001: Can't reach database server at `localhost:5432`

Please make sure your database server is running at `localhost:5432`.
""",
        ),
        Failed(
            "npx prisma migrate dev",
            """Environment variables loaded from .env
Prisma schema loaded from prisma/schema.prisma
Datasource "db": PostgreSQL database "shop", schema "public" at "localhost:5432"

Error: P1003: Database `shop` does not exist at `localhost:5432`

Please make sure your database server is running at `localhost:5432`.
""",
        ),
    ),
    "helm, another reason": (
        Failed(
            "helm upgrade shop ./chart",
            "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress\n",
        ),
        Failed("helm upgrade shop ./chart", "Error: UPGRADE FAILED: timed out waiting for the condition\n"),
    ),
    "go, a cycle and a missing sum": (
        Failed(
            "go build ./...",
            """package example.com/shop
	imports example.com/shop/cart
	imports example.com/shop/store: import cycle not allowed
""",
        ),
        Failed(
            "go build ./...",
            "go: example.com/shop/store@v0.1.0: missing go.sum entry for module providing package example.com/shop/store\n",
        ),
    ),
    "go, another package": (
        Failed(
            "go build",
            """main.go:4:2: no required module provides package github.com/foo/bar; to add it:
	go get github.com/foo/bar
""",
        ),
        Failed(
            "go build",
            """main.go:4:2: no required module provides package github.com/foo/baz; to add it:
	go get github.com/foo/baz
""",
        ),
    ),
    "another environment file": (
        Failed(
            "docker compose up",
            "env file /home/dev/shop/.env not found: stat /home/dev/shop/.env: no such file or directory\n",
        ),
        Failed(
            "docker compose up",
            "env file /home/dev/shop/.env.test not found: stat /home/dev/shop/.env.test: no such file or directory\n",
        ),
    ),
    "another program timed out": (
        Failed(
            "timeout 60 npm run e2e",
            """> shop@1.0.0 e2e
> cypress run

Opening Cypress...
""",
            code=124,
        ),
        Failed("timeout 60 cargo bench", "", code=124),
    ),
}
