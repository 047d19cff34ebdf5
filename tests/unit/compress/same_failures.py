"""Pairs of calls that failed the same way: only paths, numbers, times, hashes, users, colours and noise differ."""

# ruff: noqa: E501 -- lines as programs print them

from .failed_calls import CI, HERE, THERE, Failed, Pair

SAME: dict[str, Pair] = {
    "pytest, another checkout and another time": (
        Failed(
            "pytest tests/test_session.py",
            """============================= test session starts ==============================
platform linux -- Python 3.11.4, pytest-8.1.1, pluggy-1.4.0
rootdir: /home/dev/shop
collected 14 items

tests/test_session.py .F............                                     [100%]

=================================== FAILURES ===================================
______________________________ test_fresh_is_valid _____________________________

    def test_fresh_is_valid():
        session = Session("t", time.time() + 60)
>       assert session.is_valid()
E       AssertionError: assert False
E        +  where False = is_valid()
E        +    where is_valid = <shop.session.Session object at 0x7f3c1c0a9d50>.is_valid

tests/test_session.py:12: AssertionError
=========================== short test summary info ============================
FAILED tests/test_session.py::test_fresh_is_valid - AssertionError: assert False
========================= 1 failed, 13 passed in 0.31s =========================
""",
        ),
        Failed(
            "cd /Users/ana/code/checkouts/shop && python -m pytest -q",
            """.....................F.....................................              [100%]
=================================== FAILURES ===================================
______________________________ test_fresh_is_valid _____________________________

    def test_fresh_is_valid():
        session = Session("t", time.time() + 60)
>       assert session.is_valid()
E       AssertionError: assert False
E        +  where False = is_valid()
E        +    where is_valid = <shop.session.Session object at 0x10a5be310>.is_valid

tests/test_session.py:19: AssertionError
=========================== short test summary info ============================
FAILED tests/test_session.py::test_fresh_is_valid - AssertionError: assert False
1 failed, 58 passed in 12.04s
""",
            cwd=THERE,
        ),
    ),
    "python traceback, other folders and line numbers": (
        Failed(
            "python -m shop.report --month 3",
            """Traceback (most recent call last):
  File "/usr/lib/python3.11/runpy.py", line 198, in _run_module_as_main
    return _run_code(code, main_globals, None,
  File "/home/dev/shop/shop/report.py", line 88, in <module>
    main()
  File "/home/dev/shop/shop/report.py", line 71, in main
    total = rows["total"]
KeyError: 'total'
""",
        ),
        Failed(
            "python -m shop.report --month 11",
            """Loading 1182 rows ...
Traceback (most recent call last):
  File "/opt/homebrew/Cellar/python@3.12/3.12.2/lib/python3.12/runpy.py", line 198, in _run_module_as_main
    return _run_code(code, main_globals, None,
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/Users/ana/code/checkouts/shop/shop/report.py", line 93, in <module>
    main()
  File "/Users/ana/code/checkouts/shop/shop/report.py", line 76, in main
    total = rows["total"]
            ~~~~^^^^^^^^^
KeyError: 'total'
""",
            cwd=THERE,
        ),
    ),
    "missing python module, other interpreter": (
        Failed(
            "python manage.py migrate",
            """Traceback (most recent call last):
  File "/home/dev/shop/manage.py", line 11, in main
    from django.core.management import execute_from_command_line
ModuleNotFoundError: No module named 'django'
""",
        ),
        Failed(
            ".venv/bin/python manage.py runserver 0.0.0.0:8001",
            """Traceback (most recent call last):
  File "/builds/team-7/shop/manage.py", line 14, in main
    from django.core.management import execute_from_command_line
ModuleNotFoundError: No module named 'django'
""",
            cwd=CI,
        ),
    ),
    "node cannot find a module, other version of node": (
        Failed(
            "node server.js",
            """node:internal/modules/cjs/loader:1147
  throw err;
  ^

Error: Cannot find module 'express'
Require stack:
- /home/dev/shop/server.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1144:15)
    at Module._load (node:internal/modules/cjs/loader:985:27)
    at require (node:internal/modules/helpers:179:18)
    at Object.<anonymous> (/home/dev/shop/server.js:3:17) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/home/dev/shop/server.js' ]
}

Node.js v20.11.1
""",
        ),
        Failed(
            "PORT=4100 node server.js",
            """node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module 'express'
Require stack:
- /Users/ana/code/checkouts/shop/server.js
    at Function._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at Function._load (node:internal/modules/cjs/loader:1055:27)
    at TracingChannel.traceSync (node:diagnostics_channel:322:14)
    at Object.<anonymous> (/Users/ana/code/checkouts/shop/server.js:5:17) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/Users/ana/code/checkouts/shop/server.js' ]
}

Node.js v22.14.0
""",
            cwd=THERE,
        ),
    ),
    "port in use, other pid and trace": (
        Failed(
            "npm run dev",
            """
> shop@1.4.0 dev
> node src/index.js

node:events:497
      throw er; // Unhandled 'error' event
      ^

Error: listen EADDRINUSE: address already in use :::3000
    at Server.setupListenHandle [as _listen2] (node:net:1817:16)
    at listenInCluster (node:net:1865:12)
    at Server.listen (node:net:1953:7)
Emitted 'error' event on Server instance at:
    at emitErrorNT (node:net:1844:8) {
  code: 'EADDRINUSE',
  errno: -98,
  syscall: 'listen',
  address: '::',
  port: 3000
}

Node.js v20.11.1
""",
        ),
        Failed(
            "npm run dev",
            """
> shop@2.0.1 dev
> node src/index.js

[2026-04-11T09:12:44.120Z] starting, pid 88123
node:events:502
      throw er; // Unhandled 'error' event
      ^

Error: listen EADDRINUSE: address already in use :::3000
    at Server.setupListenHandle [as _listen2] (node:net:1908:16)
    at listenInCluster (node:net:1965:12)
    at Server.listen (node:net:2067:7)
Emitted 'error' event on Server instance at:
    at emitErrorNT (node:net:1944:8) {
  code: 'EADDRINUSE',
  errno: -48,
  syscall: 'listen',
  address: '::',
  port: 3000
}

Node.js v22.1.0
""",
            cwd=THERE,
        ),
    ),
    "tsc, the line moved and another file order": (
        Failed(
            "npx tsc --noEmit",
            """src/cart/total.ts(14,7): error TS2322: Type 'string' is not assignable to type 'number'.
""",
            code=2,
        ),
        Failed(
            "npx tsc --noEmit --pretty",
            """\x1b[96msrc/cart/total.ts\x1b[0m:\x1b[93m29\x1b[0m:\x1b[93m11\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2322: \x1b[0mType 'string' is not assignable to type 'number'.

\x1b[7m29\x1b[0m     const total: number = price;
\x1b[7m  \x1b[0m \x1b[91m          ~~~~~\x1b[0m


Found 1 error in src/cart/total.ts\x1b[90m:29\x1b[0m
""",
            code=2,
            cwd=THERE,
        ),
    ),
    "eslint, absolute path of another checkout": (
        Failed(
            "npx eslint src",
            """
/home/dev/shop/src/cart.js
  12:7  error  'discount' is assigned a value but never used  no-unused-vars

✖ 1 problem (1 error, 0 warnings)

""",
        ),
        Failed(
            "npx eslint src --max-warnings 0",
            """
/Users/ana/code/checkouts/shop/src/cart.js
  31:9  error  'discount' is assigned a value but never used  no-unused-vars

✖ 1 problem (1 error, 0 warnings)

""",
            cwd=THERE,
        ),
    ),
    "mypy, another line": (
        Failed(
            "mypy src",
            """src/shop/cart.py:41: error: Argument 1 to "add" has incompatible type "str"; expected "int"  [arg-type]
Found 1 error in 1 file (checked 18 source files)
""",
        ),
        Failed(
            "python -m mypy src --strict",
            """src/shop/cart.py:67:13: error: Argument 1 to "add" has incompatible type "str"; expected "int"  [arg-type]
Found 1 error in 1 file (checked 23 source files)
""",
            cwd=THERE,
        ),
    ),
    "cargo, another line and warnings around it": (
        Failed(
            "cargo build",
            """   Compiling shop v0.1.0 (/home/dev/shop)
error[E0382]: borrow of moved value: `cart`
  --> src/main.rs:14:22
   |
12 |     let cart = Cart::new();
   |         ---- move occurs because `cart` has type `Cart`, which does not implement the `Copy` trait
13 |     consume(cart);
   |             ---- value moved here
14 |     println!("{:?}", cart);
   |                      ^^^^ value borrowed here after move

For more information about this error, try `rustc --explain E0382`.
error: could not compile `shop` (bin "shop") due to 1 previous error
""",
            code=101,
        ),
        Failed(
            "cargo build --release",
            """    Updating crates.io index
   Compiling serde v1.0.197
   Compiling shop v0.2.3 (/builds/team-7/shop)
warning: unused variable: `x`
 --> src/lib.rs:3:9
  |
3 |     let x = 5;
  |         ^ help: if this is intentional, prefix it with an underscore: `_x`
  |
  = note: `#[warn(unused_variables)]` on by default

error[E0382]: borrow of moved value: `cart`
  --> src/main.rs:31:22
   |
29 |     let cart = Cart::new();
   |         ---- move occurs because `cart` has type `Cart`, which does not implement the `Copy` trait
30 |     consume(cart);
   |             ---- value moved here
31 |     println!("{:?}", cart);
   |                      ^^^^ value borrowed here after move

For more information about this error, try `rustc --explain E0382`.
warning: `shop` (bin "shop") generated 1 warning
error: could not compile `shop` (bin "shop") due to 1 previous error; 1 warning emitted
""",
            code=101,
            cwd=CI,
        ),
    ),
    "go test, other times": (
        Failed(
            "go test ./...",
            """--- FAIL: TestTotal (0.00s)
    total_test.go:18: got 12, want 10
FAIL
FAIL	example.com/shop/cart	0.004s
ok  	example.com/shop/store	0.012s
FAIL
""",
        ),
        Failed(
            "go test -count=1 ./cart/...",
            """--- FAIL: TestTotal (0.02s)
    total_test.go:24: got 12, want 10
FAIL
FAIL	example.com/shop/cart	0.231s
FAIL
""",
            cwd=THERE,
        ),
    ),
    "docker build, other layers and digests": (
        Failed(
            "docker build -t shop .",
            """#0 building with "default" instance using docker driver

#1 [internal] load build definition from Dockerfile
#1 transferring dockerfile: 512B done
#1 DONE 0.0s

#7 [4/6] COPY requirements.txt /app/
#7 ERROR: failed to calculate checksum of ref 7f1e0c4b-19aa-4a53::m2cuk1m5n1: "/requirements.txt": not found
------
 > [4/6] COPY requirements.txt /app/:
------
ERROR: failed to solve: failed to compute cache key: failed to calculate checksum of ref 7f1e0c4b-19aa-4a53::m2cuk1m5n1: "/requirements.txt": not found
""",
        ),
        Failed(
            "docker build -t shop:2 .",
            """#0 building with "desktop-linux" instance using docker driver

#1 [internal] load build definition from Dockerfile
#1 transferring dockerfile: 611B done
#1 DONE 0.1s

#9 [4/7] COPY requirements.txt /app/
#9 ERROR: failed to calculate checksum of ref 02bb97de-8c11-4f0d::zq0l7pd8ha: "/requirements.txt": not found
------
 > [4/7] COPY requirements.txt /app/:
------
ERROR: failed to solve: failed to compute cache key: failed to calculate checksum of ref 02bb97de-8c11-4f0d::zq0l7pd8ha: "/requirements.txt": not found
""",
            cwd=THERE,
        ),
    ),
    "git push rejected, other hashes": (
        Failed(
            "git push origin main",
            """To github.com:me/shop.git
 ! [rejected]        main -> main (fetch first)
error: failed to push some refs to 'github.com:me/shop.git'
hint: Updates were rejected because the remote contains work that you do not
hint: have locally. This is usually caused by another repository pushing to
hint: the same ref.
""",
        ),
        Failed(
            "git push",
            """Enumerating objects: 17, done.
To https://github.com/me/shop.git
 ! [rejected]        main -> main (fetch first)
error: failed to push some refs to 'https://github.com/me/shop.git'
hint: Updates were rejected because the remote contains work that you do not
hint: have locally. This is usually caused by another repository pushing to
hint: the same ref. If you want to integrate the remote changes, use
hint: 'git pull' before pushing again.
""",
            cwd=THERE,
        ),
    ),
    "npm peer dependencies, other log file": (
        Failed(
            "npm install",
            """npm ERR! code ERESOLVE
npm ERR! ERESOLVE unable to resolve dependency tree
npm ERR!
npm ERR! While resolving: shop@1.4.0
npm ERR! Found: react@18.2.0
npm ERR! node_modules/react
npm ERR!   react@"^18.2.0" from the root project
npm ERR!
npm ERR! Could not resolve dependency:
npm ERR! peer react@"^17.0.0" from react-tables@7.8.0
npm ERR!
npm ERR! A complete log of this run can be found in: /home/dev/.npm/_logs/2026-03-04T10_00_00_123Z-debug-0.log
""",
        ),
        Failed(
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
npm error
npm error A complete log of this run can be found in: /Users/ana/.npm/_logs/2026-09-21T18_44_10_777Z-debug-0.log
""",
            cwd=THERE,
        ),
    ),
    "gcc, another line and column": (
        Failed(
            "make",
            """cc -Wall -O2 -c -o build/cart.o src/cart.c
src/cart.c: In function 'cart_total':
src/cart.c:33:12: error: 'discount' undeclared (first use in this function)
   33 |     return discount * sum;
      |            ^~~~~~~~
src/cart.c:33:12: note: each undeclared identifier is reported only once for each function it appears in
make: *** [Makefile:12: build/cart.o] Error 1
""",
            code=2,
        ),
        Failed(
            "make -j8",
            """cc -Wall -O2 -c -o build/store.o src/store.c
cc -Wall -O2 -c -o build/cart.o src/cart.c
src/cart.c: In function ‘cart_total’:
src/cart.c:58:19: error: ‘discount’ undeclared (first use in this function)
   58 |     return discount * sum;
      |                   ^~~~~~~~
src/cart.c:58:19: note: each undeclared identifier is reported only once for each function it appears in
make: *** [Makefile:19: build/cart.o] Error 1
make: *** Waiting for unfinished jobs....
""",
            code=2,
            cwd=CI,
        ),
    ),
    "linker, another temporary object": (
        Failed(
            "gcc main.c -o shop",
            """/usr/bin/ld: /tmp/ccQ1x7aB.o: in function `main':
main.c:(.text+0x1a): undefined reference to `cart_total'
collect2: error: ld returned 1 exit status
""",
        ),
        Failed(
            "gcc -g main.c -o shop",
            """/usr/bin/ld: /tmp/ccZp00Rk.o: in function `main':
/builds/team-7/shop/main.c:22:(.text+0x4f): undefined reference to `cart_total'
collect2: error: ld returned 1 exit status
""",
            cwd=CI,
        ),
    ),
    "psql, other place in the statement": (
        Failed(
            "psql -f migrations/004.sql shop",
            """psql:migrations/004.sql:12: ERROR:  relation "orders" does not exist
LINE 1: ALTER TABLE orders ADD COLUMN paid_at timestamptz;
                    ^
""",
            code=3,
        ),
        Failed(
            "psql -h localhost -p 5433 -f migrations/004.sql shop_test",
            """CREATE TABLE
psql:migrations/004.sql:17: ERROR:  relation "orders" does not exist
LINE 3: ALTER TABLE orders ADD COLUMN paid_at timestamptz;
                    ^
""",
            code=3,
            cwd=THERE,
        ),
    ),
    "kubectl, other pod names": (
        Failed(
            "kubectl apply -f deploy/shop.yaml",
            """Error from server (NotFound): error when creating "deploy/shop.yaml": namespaces "shop-staging" not found
""",
        ),
        Failed(
            "kubectl apply -f /Users/ana/code/checkouts/shop/deploy/shop.yaml",
            """Error from server (NotFound): error when creating "/Users/ana/code/checkouts/shop/deploy/shop.yaml": namespaces "shop-staging" not found
""",
            cwd=THERE,
        ),
    ),
    "permission denied, another user": (
        Failed(
            "pip install -e .",
            """Obtaining file:///home/dev/shop
  Installing build dependencies: started
  Installing build dependencies: finished with status 'done'
ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/usr/lib/python3.11/site-packages/shop.egg-link'
Consider using the `--user` option or check the permissions.
""",
        ),
        Failed(
            "pip install -e .",
            """Obtaining file:///builds/team-7/shop
  Installing build dependencies: started
  Installing build dependencies: still running...
  Installing build dependencies: finished with status 'done'
ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/usr/lib/python3.12/site-packages/shop.egg-link'
Consider using the `--user` option or check the permissions.

[notice] A new release of pip is available: 24.0 -> 24.2
[notice] To update, run: pip install --upgrade pip
""",
            cwd=CI,
        ),
    ),
    "segfault, another shell job": (
        Failed("./build/shop --seed 41", "Segmentation fault (core dumped)\n", code=139),
        Failed(
            "./build/shop --seed 7",
            "/bin/bash: line 1: 88211 Segmentation fault      (core dumped) ./build/shop --seed 7\n",
            code=139,
            cwd=THERE,
        ),
    ),
    "no space left, another temporary file": (
        Failed(
            "npm ci",
            """npm ERR! code ENOSPC
npm ERR! syscall write
npm ERR! errno -28
npm ERR! nospc ENOSPC: no space left on device, write
npm ERR! nospc There appears to be insufficient space on your system to finish.
npm ERR! nospc Clear up some disk space and try again.

npm ERR! A complete log of this run can be found in: /home/dev/.npm/_logs/2026-03-04T10_00_00_123Z-debug-0.log
""",
        ),
        Failed(
            "npm ci",
            """npm ERR! code ENOSPC
npm ERR! syscall write
npm ERR! errno -28
npm ERR! nospc ENOSPC: no space left on device, write
npm ERR! nospc There appears to be insufficient space on your system to finish.
npm ERR! nospc Clear up some disk space and try again.

npm ERR! A complete log of this run can be found in: /root/.npm/_logs/2026-07-01T02_13_59_004Z-debug-0.log
""",
            cwd=CI,
        ),
    ),
    "merge conflict, other commit": (
        Failed(
            "git merge feature/pay",
            """Auto-merging src/cart.py
CONFLICT (content): Merge conflict in src/cart.py
Automatic merge failed; fix conflicts and then commit the result.
""",
        ),
        Failed(
            "git rebase main",
            """Auto-merging src/cart.py
CONFLICT (content): Merge conflict in src/cart.py
error: could not apply 3fa9c1e... Take the discount off before tax
hint: Resolve all conflicts manually, mark them as resolved with
hint: "git add/rm <conflicted_files>", then run "git rebase --continue".
Could not apply 3fa9c1e... Take the discount off before tax
""",
            cwd=HERE,
        ),
    ),
    "jest, other durations and colours": (
        Failed(
            "npx jest",
            """FAIL src/cart.test.js
  ● Cart › adds the discount

    expect(received).toBe(expected) // Object.is equality

    Expected: 90
    Received: 100

      12 |   const cart = new Cart();
      13 |   cart.discount(10);
    > 14 |   expect(cart.total()).toBe(90);
         |                        ^
      15 | });

      at Object.toBe (src/cart.test.js:14:24)

Test Suites: 1 failed, 3 passed, 4 total
Tests:       1 failed, 21 passed, 22 total
Snapshots:   0 total
Time:        1.482 s
Ran all test suites.
""",
        ),
        Failed(
            "npm test",
            """
> shop@2.0.1 test
> jest --colors

\x1b[0m\x1b[7m\x1b[1m\x1b[31m FAIL \x1b[39m\x1b[22m\x1b[27m\x1b[0m \x1b[2msrc/\x1b[22m\x1b[1mcart.test.js\x1b[22m (5.12 s)
\x1b[1m\x1b[31m  \x1b[1m● \x1b[22m\x1b[1mCart › adds the discount\x1b[39m\x1b[22m

    \x1b[2mexpect(\x1b[22m\x1b[31mreceived\x1b[39m\x1b[2m).\x1b[22mtoBe\x1b[2m(\x1b[22m\x1b[32mexpected\x1b[39m\x1b[2m) // Object.is equality\x1b[22m

    Expected: \x1b[32m90\x1b[39m
    Received: \x1b[31m100\x1b[39m

      at Object.toBe (src/cart.test.js:20:24)

\x1b[1mTest Suites: \x1b[22m\x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m, 4 total
\x1b[1mTests:       \x1b[22m\x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m, 30 total
\x1b[1mTime:\x1b[22m        7.9 s
""",
            cwd=THERE,
        ),
    ),
    "vitest, other durations and workers": (
        Failed(
            "npx vitest run",
            """
 RUN  v1.4.0 /home/dev/shop

 ❯ src/cart.test.ts  (4 tests | 1 failed) 12ms
   ❯ src/cart.test.ts > Cart > keeps the currency
     → expected 'EUR' to be 'USD' // Object.is equality

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/cart.test.ts > Cart > keeps the currency
AssertionError: expected 'EUR' to be 'USD' // Object.is equality
 ❯ src/cart.test.ts:31:22

 Test Files  1 failed (1)
      Tests  1 failed | 3 passed (4)
   Start at  10:12:33
   Duration  412ms
""",
        ),
        Failed(
            "pnpm vitest run src",
            """
 RUN  v2.1.8 /Users/ana/code/checkouts/shop

 ✓ src/store.test.ts (9 tests) 31ms
 ❯ src/cart.test.ts (6 tests | 1 failed) 19ms
   × Cart > keeps the currency 5ms
     → expected 'EUR' to be 'USD' // Object.is equality

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/cart.test.ts > Cart > keeps the currency
AssertionError: expected 'EUR' to be 'USD' // Object.is equality
 ❯ src/cart.test.ts:44:22

 Test Files  1 failed | 1 passed (2)
      Tests  1 failed | 14 passed (15)
   Start at  23:01:09
   Duration  1.02s
""",
            cwd=THERE,
        ),
    ),
    "ruff, another line": (
        Failed(
            "ruff check .",
            """shop/cart.py:3:8: F401 [*] `os` imported but unused
Found 1 error.
[*] 1 fixable with the `--fix` option.
""",
        ),
        Failed(
            "uvx ruff check shop",
            """F401 [*] `os` imported but unused
 --> shop/cart.py:5:8
  |
4 | import json
5 | import os
  |        ^^
  |
help: Remove unused import: `os`

Found 1 error.
[*] 1 fixable with the `--fix` option.
""",
            cwd=THERE,
        ),
    ),
    "gradle, other task times": (
        Failed(
            "./gradlew build",
            """> Task :compileJava FAILED
/home/dev/shop/src/main/java/shop/Cart.java:21: error: cannot find symbol
    return discountOf(sum);
           ^
  symbol:   method discountOf(int)
  location: class Cart
1 error

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':compileJava'.
> Compilation failed; see the compiler error output for details.

BUILD FAILED in 3s
1 actionable task: 1 executed
""",
        ),
        Failed(
            "./gradlew build --no-daemon",
            """To honour the JVM settings for this build a single-use Daemon process will be forked.
Daemon will be stopped at the end of the build
> Task :compileJava FAILED
/builds/team-7/shop/src/main/java/shop/Cart.java:37: error: cannot find symbol
    return discountOf(sum);
           ^
  symbol:   method discountOf(int)
  location: class Cart
1 error

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':compileJava'.
> Compilation failed; see the compiler error output for details.

BUILD FAILED in 1m 12s
4 actionable tasks: 1 executed, 3 up-to-date
""",
            cwd=CI,
        ),
    ),
    "maven, other dates and totals": (
        Failed(
            "mvn -q compile",
            """[ERROR] COMPILATION ERROR :
[ERROR] /home/dev/shop/src/main/java/shop/Cart.java:[12,17] cannot find symbol
  symbol:   class Money
  location: class shop.Cart
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile (default-compile) on project shop: Compilation failure
[ERROR] -> [Help 1]
""",
        ),
        Failed(
            "mvn compile",
            """[INFO] Scanning for projects...
[INFO] Building shop 1.0-SNAPSHOT
[INFO] -------------------------------------------------------------
[ERROR] COMPILATION ERROR :
[INFO] -------------------------------------------------------------
[ERROR] /builds/team-7/shop/src/main/java/shop/Cart.java:[19,17] cannot find symbol
  symbol:   class Money
  location: class shop.Cart
[INFO] 1 error
[INFO] BUILD FAILURE
[INFO] Total time:  2.114 s
[INFO] Finished at: 2026-04-30T11:20:18Z
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.13.0:compile (default-compile) on project shop: Compilation failure
[ERROR] -> [Help 1]
""",
            cwd=CI,
        ),
    ),
    "clang, another checkout": (
        Failed(
            "cmake --build build",
            """[ 50%] Building CXX object CMakeFiles/shop.dir/src/cart.cpp.o
/home/dev/shop/src/cart.cpp:18:10: error: no member named 'total' in 'shop::Cart'
    cart.total();
    ~~~~ ^
1 error generated.
gmake[2]: *** [CMakeFiles/shop.dir/build.make:76: CMakeFiles/shop.dir/src/cart.cpp.o] Error 1
gmake[1]: *** [CMakeFiles/Makefile2:83: CMakeFiles/shop.dir/all] Error 2
gmake: *** [Makefile:91: all] Error 2
""",
            code=2,
        ),
        Failed(
            "cmake --build build -j4",
            """[ 25%] Building CXX object CMakeFiles/shop.dir/src/main.cpp.o
[ 75%] Building CXX object CMakeFiles/shop.dir/src/cart.cpp.o
/Users/ana/code/checkouts/shop/src/cart.cpp:29:10: error: no member named 'total' in 'shop::Cart'
   29 |     cart.total();
      |     ~~~~ ^
1 error generated.
make[2]: *** [CMakeFiles/shop.dir/src/cart.cpp.o] Error 1
make[1]: *** [CMakeFiles/shop.dir/all] Error 2
make: *** [all] Error 2
""",
            code=2,
            cwd=THERE,
        ),
    ),
    "terraform, another module folder": (
        Failed(
            "terraform plan",
            """
Error: Reference to undeclared input variable

  on main.tf line 12, in resource "aws_s3_bucket" "assets":
  12:   bucket = var.bucket_name

An input variable with the name "bucket_name" has not been declared. This
variable can be declared with a variable "bucket_name" {} block.
""",
        ),
        Failed(
            "terraform -chdir=infra plan -no-color",
            """╷
│ Error: Reference to undeclared input variable
│
│   on main.tf line 31, in resource "aws_s3_bucket" "assets":
│   31:   bucket = var.bucket_name
│
│ An input variable with the name "bucket_name" has not been declared. This
│ variable can be declared with a variable "bucket_name" {} block.
╵
""",
            cwd=THERE,
        ),
    ),
    "rspec, other seed and time": (
        Failed(
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

Randomized with seed 41312
""",
        ),
        Failed(
            "bin/rspec --order rand",
            """..........F.........

Failures:

  1) Cart#total adds the tax
     Failure/Error: expect(cart.total).to eq(119)

       expected: 119
            got: 100

       (compared using ==)
     # ./spec/cart_spec.rb:22:in 'block (3 levels) in <top (required)>'

Finished in 1.2 seconds (files took 2.8 seconds to load)
20 examples, 1 failure

Failed examples:

rspec ./spec/cart_spec.rb:20 # Cart#total adds the tax

Randomized with seed 991
""",
            cwd=THERE,
        ),
    ),
    "ruby exception, gems elsewhere": (
        Failed(
            "bundle exec rails db:migrate",
            """rails aborted!
ActiveRecord::NoDatabaseError: We could not find your database: shop_development. Available database configurations can be found in config/database.yml.
/home/dev/.rbenv/versions/3.2.2/lib/ruby/gems/3.2.0/gems/activerecord-7.1.2/lib/active_record/connection_adapters/postgresql_adapter.rb:87:in `rescue in new_client'
/home/dev/shop/bin/rails:4:in `<main>'

Caused by:
PG::ConnectionBad: connection to server at "127.0.0.1", port 5432 failed: FATAL:  database "shop_development" does not exist

Tasks: TOP => db:migrate
(See full trace by running task with --trace)
""",
        ),
        Failed(
            "bin/rails db:migrate",
            """bin/rails aborted!
ActiveRecord::NoDatabaseError: We could not find your database: shop_development. Available database configurations can be found in config/database.yml.
/usr/local/bundle/gems/activerecord-7.1.5/lib/active_record/connection_adapters/postgresql_adapter.rb:91:in 'rescue in new_client'
/builds/team-7/shop/bin/rails:4:in '<main>'

Caused by:
PG::ConnectionBad: connection to server at "10.1.4.22", port 5432 failed: FATAL:  database "shop_development" does not exist

Tasks: TOP => db:migrate
(See full trace by running task with --trace)
""",
            cwd=CI,
        ),
    ),
    "node type error, other frames": (
        Failed(
            "node scripts/import.mjs data/a.json",
            """file:///home/dev/shop/scripts/import.mjs:18
  return order.customer.email;
                        ^

TypeError: Cannot read properties of undefined (reading 'email')
    at emailOf (file:///home/dev/shop/scripts/import.mjs:18:25)
    at file:///home/dev/shop/scripts/import.mjs:31:3
    at ModuleJob.run (node:internal/modules/esm/module_job:222:25)

Node.js v20.11.1
""",
        ),
        Failed(
            "node scripts/import.mjs data/2026-08.json",
            """(node:4411) ExperimentalWarning: Importing JSON modules is an experimental feature
(Use `node --trace-warnings ...` to show where the warning was created)
file:///Users/ana/code/checkouts/shop/scripts/import.mjs:24
  return order.customer.email;
                        ^

TypeError: Cannot read properties of undefined (reading 'email')
    at emailOf (file:///Users/ana/code/checkouts/shop/scripts/import.mjs:24:25)
    at file:///Users/ana/code/checkouts/shop/scripts/import.mjs:40:3
    at async onImport.tracePromise.__proto__ (node:internal/modules/esm/loader:547:26)

Node.js v22.14.0
""",
            cwd=THERE,
        ),
    ),
    "certificate has expired, another day": (
        Failed(
            "curl -fsS https://registry.internal.example/v2/",
            """curl: (60) SSL certificate problem: certificate has expired
More details here: https://curl.se/docs/sslcerts.html

curl failed to verify the legitimacy of the server and therefore could not
establish a secure connection to it.
""",
            code=60,
        ),
        Failed(
            "curl -sS --retry 2 https://registry.internal.example/v2/_catalog",
            """curl: (60) SSL certificate problem: certificate has expired
More details here: https://curl.haxx.se/docs/sslcerts.html

curl failed to verify the legitimacy of the server and therefore could not
establish a secure connection to it. To learn more about this situation and
how to fix it, please visit the web page mentioned above.
""",
            code=60,
            cwd=CI,
        ),
    ),
    "a name cannot be resolved, another attempt": (
        Failed(
            "git fetch origin",
            """ssh: Could not resolve hostname git.internal.example: Name or service not known
fatal: Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.
""",
            code=128,
        ),
        Failed(
            "git pull --rebase",
            """ssh: Could not resolve hostname git.internal.example: Name or service not known
fatal: Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.
""",
            code=128,
            cwd=THERE,
        ),
    ),
    "docker daemon is not there": (
        Failed(
            "docker compose up -d",
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n",
        ),
        Failed(
            "docker ps",
            "Cannot connect to the Docker daemon at unix:///Users/ana/.docker/run/docker.sock. Is the docker daemon running?\n",
            cwd=THERE,
        ),
    ),
    "go panic, other addresses": (
        Failed(
            "go run ./cmd/shop",
            """panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x10 pc=0x49b5d3]

goroutine 1 [running]:
example.com/shop/cart.(*Cart).Total(...)
	/home/dev/shop/cart/cart.go:22
main.main()
	/home/dev/shop/cmd/shop/main.go:14 +0x33
exit status 2
""",
        ),
        Failed(
            "go run ./cmd/shop -v",
            """2026/05/02 11:20:31 starting on :8080
panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x2 addr=0x18 pc=0x1027f4ad0]

goroutine 18 [running]:
example.com/shop/cart.(*Cart).Total(0x0)
	/Users/ana/code/checkouts/shop/cart/cart.go:29 +0x1c
main.main()
	/Users/ana/code/checkouts/shop/cmd/shop/main.go:20 +0x40
exit status 2
""",
            cwd=THERE,
        ),
    ),
    "rust panic in a test, another thread": (
        Failed(
            "cargo test",
            """    Finished test [unoptimized + debuginfo] target(s) in 0.03s
     Running unittests src/lib.rs (target/debug/deps/shop-3f9a1b2c4d5e6f70)

running 3 tests
test tests::adds ... ok
test tests::rounds ... FAILED
test tests::clears ... ok

failures:

---- tests::rounds stdout ----
thread 'tests::rounds' panicked at src/lib.rs:41:9:
assertion `left == right` failed
  left: 10
 right: 11
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

failures:
    tests::rounds

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `--lib`
""",
            code=101,
        ),
        Failed(
            "cargo test --workspace",
            """   Compiling shop v0.3.0 (/builds/team-7/shop)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 21.70s
     Running unittests src/lib.rs (target/debug/deps/shop-0b1c2d3e4f5a6978)

running 5 tests
test tests::rounds ... FAILED
test tests::adds ... ok
test tests::clears ... ok
test tests::saves ... ok
test tests::loads ... ok

failures:

---- tests::rounds stdout ----

thread 'tests::rounds' (71204) panicked at src/lib.rs:58:9:
assertion `left == right` failed
  left: 10
 right: 11
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

failures:
    tests::rounds

test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s

error: test failed, to rerun pass `--lib`
""",
            code=101,
            cwd=CI,
        ),
    ),
    "pip cannot build a wheel, other temporary folders": (
        Failed(
            "pip install psycopg2",
            """Collecting psycopg2
  Using cached psycopg2-2.9.9.tar.gz (384 kB)
  Preparing metadata (setup.py): started
  error: subprocess-exited-with-error

  × python setup.py egg_info did not run successfully.
  │ exit code: 1
  ╰─> [23 lines of output]
      running egg_info
      writing /tmp/pip-pip-egg-info-lf1c2q3r/psycopg2.egg-info/PKG-INFO

      Error: pg_config executable not found.

      pg_config is required to build psycopg2 from source.
      [end of output]

  note: This error originates from a subprocess, and is likely not a problem with pip.
error: metadata-generation-failed
""",
        ),
        Failed(
            "pip install -r requirements.txt",
            """Collecting flask==3.0.2
  Downloading flask-3.0.2-py3-none-any.whl (101 kB)
Collecting psycopg2==2.9.10
  Downloading psycopg2-2.9.10.tar.gz (385 kB)
  Preparing metadata (setup.py): started
  error: subprocess-exited-with-error

  × python setup.py egg_info did not run successfully.
  │ exit code: 1
  ╰─> [25 lines of output]
      running egg_info
      writing /private/var/folders/zz/T/pip-pip-egg-info-x91kk0aa/psycopg2.egg-info/PKG-INFO

      Error: pg_config executable not found.

      pg_config is required to build psycopg2 from source.
      [end of output]

  note: This error originates from a subprocess, and is likely not a problem with pip.
error: metadata-generation-failed
""",
            cwd=THERE,
        ),
    ),
    "database refuses, another host address": (
        Failed(
            "alembic upgrade head",
            """Traceback (most recent call last):
  File "/home/dev/shop/.venv/lib/python3.11/site-packages/sqlalchemy/engine/base.py", line 146, in __init__
    self._dbapi_connection = engine.raw_connection()
psycopg2.OperationalError: connection to server at "127.0.0.1", port 5432 failed: Connection refused
	Is the server running on that host and accepting TCP/IP connections?

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/home/dev/shop/.venv/bin/alembic", line 8, in <module>
    sys.exit(main())
sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) connection to server at "127.0.0.1", port 5432 failed: Connection refused
	Is the server running on that host and accepting TCP/IP connections?

(Background on this error at: https://sqlalche.me/e/20/e3q8)
""",
        ),
        Failed(
            "python -m alembic upgrade head",
            """INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.
Traceback (most recent call last):
  File "/usr/local/lib/python3.12/site-packages/sqlalchemy/engine/base.py", line 143, in __init__
    self._dbapi_connection = engine.raw_connection()
psycopg2.OperationalError: connection to server at "172.18.0.3", port 5432 failed: Connection refused
	Is the server running on that host and accepting TCP/IP connections?

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/usr/local/bin/alembic", line 8, in <module>
    sys.exit(main())
sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) connection to server at "172.18.0.3", port 5432 failed: Connection refused
	Is the server running on that host and accepting TCP/IP connections?

(Background on this error at: https://sqlalche.me/e/20/e3q8)
""",
            cwd=CI,
        ),
    ),
    "no such file, another home": (
        Failed("cat ~/.config/shop/token", "cat: /home/dev/.config/shop/token: No such file or directory\n"),
        Failed(
            "cat /Users/ana/.config/shop/token",
            "cat: /Users/ana/.config/shop/token: No such file or directory\n",
            cwd=THERE,
        ),
    ),
    "killed for want of memory": (
        Failed("npm run build", "\n> shop@1.4.0 build\n> next build\n\nKilled\n", code=137),
        Failed(
            "npm run build",
            "\n> shop@2.0.1 build\n> next build\n\n   Creating an optimized production build ...\nKilled\n",
            code=137,
            cwd=CI,
        ),
    ),
    "heap out of memory, other addresses and sizes": (
        Failed(
            "npx webpack",
            """
<--- Last few GCs --->

[71204:0x5d1b2a0]    41231 ms: Mark-sweep 2041.3 (2080.1) -> 2040.9 (2081.6) MB, 812.3 / 0.0 ms

<--- JS stacktrace --->

FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
 1: 0xb9c1f0 node::Abort() [webpack]
 2: 0xaa27ee  [webpack]
Aborted (core dumped)
""",
            code=134,
        ),
        Failed(
            "npx webpack --mode production",
            """
<--- Last few GCs --->

[912:0x140008000]    90122 ms: Mark-Compact 4093.1 (4130.7) -> 4091.7 (4131.4) MB, 1203.11 / 0.00 ms

<--- JS stacktrace --->

FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
----- Native stack trace -----

 1: 0x100a1b2c4 node::OOMErrorHandler(char const*, v8::OOMDetails const&) [/opt/homebrew/bin/node]
/bin/sh: line 1:   912 Abort trap: 6           npx webpack --mode production
""",
            code=134,
            cwd=THERE,
        ),
    ),
    "ssh key is not accepted": (
        Failed(
            "git clone git@github.com:me/shop.git",
            """Cloning into 'shop'...
git@github.com: Permission denied (publickey).
fatal: Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.
""",
            code=128,
        ),
        Failed(
            "git push origin fix/cart",
            """git@github.com: Permission denied (publickey).
fatal: Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.
""",
            code=128,
            cwd=THERE,
        ),
    ),
    "a lock of git was left behind": (
        Failed(
            "git add -A",
            """fatal: Unable to create '/home/dev/shop/.git/index.lock': File exists.

Another git process seems to be running in this repository, e.g.
an editor opened by 'git commit'. Please make sure all processes
are terminated then try again.
""",
            code=128,
        ),
        Failed(
            "git commit -m wip",
            """fatal: Unable to create '/Users/ana/code/checkouts/shop/.git/index.lock': File exists.

Another git process seems to be running in this repository, e.g.
an editor opened by 'git commit'. Please make sure all processes
are terminated then try again.
""",
            code=128,
            cwd=THERE,
        ),
    ),
    "playwright has no browser, another version": (
        Failed(
            "npx playwright test",
            """Running 3 tests using 1 worker
  1) [chromium] › tests/home.spec.ts:4:5 › home has a title

    Error: browserType.launch: Executable doesn't exist at /home/dev/.cache/ms-playwright/chromium-1105/chrome-linux/chrome
    ╔══════════════════════════════════════════════════════════╗
    ║ Looks like Playwright was just installed or updated.     ║
    ║     npx playwright install                               ║
    ╚══════════════════════════════════════════════════════════╝

  1 failed
    [chromium] › tests/home.spec.ts:4:5 › home has a title
""",
        ),
        Failed(
            "npx playwright test --workers 4",
            """Running 8 tests using 4 workers
  1) [chromium] › tests/home.spec.ts:9:5 › home has a title

    Error: browserType.launch: Executable doesn't exist at /Users/ana/.cache/ms-playwright/chromium-1148/chrome-linux/chrome
    ╔══════════════════════════════════════════════════════════╗
    ║ Looks like Playwright was just installed or updated.     ║
    ║     npx playwright install                               ║
    ╚══════════════════════════════════════════════════════════╝

  1 failed
    [chromium] › tests/home.spec.ts:9:5 › home has a title
""",
            cwd=THERE,
        ),
    ),
    "poetry, a lock file that is behind": (
        Failed(
            "poetry install",
            """Installing dependencies from lock file

pyproject.toml changed significantly since poetry.lock was last generated. Run `poetry lock [--no-update]` to fix the lock file.
""",
        ),
        Failed(
            "poetry install --no-root",
            """Creating virtualenv shop-9TtSrW0h-py3.11 in /home/dev/.cache/pypoetry/virtualenvs
Installing dependencies from lock file

pyproject.toml changed significantly since poetry.lock was last generated. Run `poetry lock [--no-update]` to fix the lock file.
""",
            cwd=CI,
        ),
    ),
    "dotnet, another line": (
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
            "dotnet build -c Release",
            """  Determining projects to restore...
/builds/team-7/shop/Cart.cs(31,9): error CS0103: The name 'discount' does not exist in the current context [/builds/team-7/shop/Shop.csproj]

Build FAILED.
    2 Warning(s)
    1 Error(s)

Time Elapsed 00:00:11.80
""",
            cwd=CI,
        ),
    ),
    "swift, other noise below": (
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
            "swift build -c release",
            """Building for production...
[3/4] Compiling shop main.swift
/Users/ana/code/checkouts/shop/Sources/shop/main.swift:9:9: error: cannot find 'total' in scope
7 |
8 |
9 | let x = total()
  |         `- error: cannot find 'total' in scope
error: emit-module command failed with exit code 1 (use -v to see invocation)
""",
            cwd=THERE,
        ),
    ),
    "phpunit, other totals": (
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
            "vendor/bin/phpunit tests",
            """PHPUnit 11.1.0 by Sebastian Bergmann and contributors.

Runtime:       PHP 8.3.4

......F.                                                            8 / 8 (100%)

Time: 00:00.090, Memory: 10.00 MB

There was 1 failure:

1) CartTest::testTotal
Failed asserting that 12 matches expected 10.

/builds/team-7/shop/tests/CartTest.php:25

FAILURES!
Tests: 8, Assertions: 9, Failures: 1.
""",
            cwd=CI,
        ),
    ),
    "compose, another endpoint": (
        Failed(
            "docker compose up -d",
            """[+] Running 1/2
 ✔ Network shop_default  Created    0.1s
 ⠿ Container shop-db-1   Starting   0.4s
Error response from daemon: driver failed programming external connectivity on endpoint shop-db-1 (9b1e7c2f6a0d): Bind for 0.0.0.0:5432 failed: port is already allocated
""",
        ),
        Failed(
            "docker compose up",
            """[+] Running 2/3
 ✔ Network shop_default  Created    0.0s
 ⠿ Container shop-db-1   Starting   1.9s
Error response from daemon: driver failed programming external connectivity on endpoint shop-db-1 (04dd1c2baf11): Bind for 0.0.0.0:5432 failed: port is already allocated
""",
            cwd=THERE,
        ),
    ),
    "helm, other flags": (
        Failed(
            "helm upgrade shop ./chart",
            "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress\n",
        ),
        Failed(
            "helm upgrade --install shop ./chart --set tag=1.2.3",
            "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress\n",
            cwd=CI,
        ),
    ),
    "alembic, another database": (
        Failed(
            "alembic upgrade head",
            """INFO  [alembic.runtime.migration] Context impl SQLiteImpl.
ERROR [alembic.util.messaging] Multiple head revisions are present for given argument 'head'; please specify a specific target revision, '<branchname>@head' to narrow to a specific head, or 'heads' for all heads
  FAILED: Multiple head revisions are present for given argument 'head'; please specify a specific target revision, '<branchname>@head' to narrow to a specific head, or 'heads' for all heads
""",
        ),
        Failed(
            "alembic upgrade head",
            """INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.
INFO  [alembic.runtime.migration] Will assume transactional DDL.
ERROR [alembic.util.messaging] Multiple head revisions are present for given argument 'head'; please specify a specific target revision, '<branchname>@head' to narrow to a specific head, or 'heads' for all heads
  FAILED: Multiple head revisions are present for given argument 'head'; please specify a specific target revision, '<branchname>@head' to narrow to a specific head, or 'heads' for all heads
""",
            cwd=CI,
        ),
    ),
    "prisma, another spelling of the host": (
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
            "npx prisma migrate deploy",
            """Prisma schema loaded from prisma/schema.prisma
Datasource "db": PostgreSQL database "shop", schema "public" at "127.0.0.1:5432"

Error: P1001: Can't reach database server at `127.0.0.1:5432`

Please make sure your database server is running at `127.0.0.1:5432`.
""",
            cwd=CI,
        ),
    ),
    "bundler, another patch of ruby": (
        Failed(
            "bundle install",
            """Fetching gem metadata from https://rubygems.org/.........
Your Ruby version is 3.1.2, but your Gemfile specified 3.2.2
""",
            code=18,
        ),
        Failed("bundle", "Your Ruby version is 3.1.4, but your Gemfile specified 3.2.2\n", code=18, cwd=CI),
    ),
    "timed out, other limits": (
        Failed(
            "timeout 60 npm run e2e",
            """> shop@1.0.0 e2e
> cypress run

Opening Cypress...
""",
            code=124,
        ),
        Failed(
            "timeout 90 npm run e2e",
            """> shop@1.1.0 e2e
> cypress run

Opening Cypress...
Still starting
""",
            code=124,
            cwd=CI,
        ),
    ),
}
