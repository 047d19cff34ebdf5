"""Compilers, bundlers and images."""

from tests.cases.case import Case, bash, bash_failed, edit

ORDER_TS = """export interface Order {
  id: string;
  total: number;
}

export function receipt(order: Order): string {
  return order.total;
}
"""
TSC = """
> shop@2.4.0 build
> tsc -p tsconfig.build.json

\x1b[96msrc/order.ts\x1b[0m:\x1b[93m7\x1b[0m:\x1b[93m3\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2322: \x1b[0mType 'number' is not assignable to type 'string'.

\x1b[7m7\x1b[0m   return order.total;
\x1b[7m \x1b[0m \x1b[91m  ~~~~~~\x1b[0m

\x1b[96msrc/mail.ts\x1b[0m:\x1b[93m31\x1b[0m:\x1b[93m18\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2551: \x1b[0mProperty 'recipient' does not exist on type 'Mail'. Did you mean 'recipients'?

\x1b[7m31\x1b[0m   send(mail.recipient);

Found 2 errors in 2 files.

Errors  Files
     1  src/order.ts:7
     1  src/mail.ts:31
"""

WEBPACK = """asset main.js 512 KiB [emitted] (name: main)
runtime modules 1.04 KiB 6 modules
cacheable modules 402 KiB
  modules by path ./node_modules/ 380 KiB 44 modules
  modules by path ./src/ 22 KiB 12 modules

ERROR in ./src/charts.js 3:0-34
Module not found: Error: Can't resolve 'd3-scale-chromatic' in '/home/dev/shop/src'
resolve 'd3-scale-chromatic' in '/home/dev/shop/src'
  Parsed request is a module
  using description file: /home/dev/shop/package.json (relative path: ./src)

webpack 5.93.0 compiled with 1 error in 2841 ms
"""

VITE = """vite v5.4.2 building for production...
\x1b[2K\x1b[1Gtransforming (1) index.html\x1b[2K\x1b[1Gtransforming (311) node_modules/react-dom/index.js\x1b[2K\x1b[1G✓ 847 modules transformed.
\x1b[2K\x1b[1Grendering chunks (1)...\x1b[2K\x1b[1Gcomputing gzip size (0)...dist/index.html                   0.46 kB │ gzip:  0.30 kB
dist/assets/index-Bm3kq9Zx.css    9.12 kB │ gzip:  2.41 kB
dist/assets/index-C7t0pLq2.js   181.37 kB │ gzip: 58.90 kB
✓ built in 2.14s
"""
VITE_BEFORE = """vite v5.4.2 building for production...
✓ 1903 modules transformed.
dist/index.html                   0.46 kB │ gzip:   0.30 kB
dist/assets/index-Dd81kQwe.js   702.55 kB │ gzip: 231.08 kB

(!) Some chunks are larger than 500 kB after minification. Consider:
- Using dynamic import() to code-split the application
✓ built in 4.96s
"""

CARGO = """    Updating crates.io index
   Compiling serde v1.0.204
   Compiling shop v0.3.0 (/home/dev/shop)
error[E0277]: the trait bound `Price: Serialize` is not satisfied
   --> src/api.rs:27:24
    |
27  |     let body = json!({ "price": price });
    |                        ^^^^^^^ the trait `Serialize` is not implemented for `Price`

warning: unused import: `std::fmt`
 --> src/price.rs:1:5

error: could not compile `shop` (bin "shop") due to 1 previous error; 1 warning emitted
"""
CARGO_DONE = """   Compiling shop v0.3.0 (/home/dev/shop)
    Finished `dev` profile [unoptimized + debuginfo] target(s) in 3.87s
"""
PRICE_RS = """#[derive(Clone, Copy)]
pub struct Price {
    cents: u64,
}

impl Price {
    pub fn new(cents: u64) -> Self {
        Price { cents }
    }
}
"""

GO_BUILD = """# github.com/acme/shop/internal/billing
internal/billing/charge.go:41:17: cannot use amount (variable of type int64) as decimal.Decimal value in argument to c.Charge
internal/billing/charge.go:58:2: declared and not used: receipt
"""
GO_VET = """# github.com/acme/shop/internal/mail
internal/mail/send.go:23:2: fmt.Errorf format %w has arg to of wrong type string
internal/mail/send.go:61:14: assignment copies lock value to q: mail.Queue contains sync.Mutex
"""

GCC = """mkdir -p build
gcc -std=c11 -Wall -Wextra -O2 -c src/main.c -o build/main.o
gcc -std=c11 -Wall -Wextra -O2 -c src/ring.c -o build/ring.o
src/ring.c: In function 'ring_push':
src/ring.c:38:24: error: 'struct ring' has no member named 'capacity'; did you mean 'cap'?
   38 |     if (r->len == r->capacity) {
      |                        ^~~~~~~~
src/ring.c:44:5: warning: implicit declaration of function 'memmove' [-Wimplicit-function-declaration]
   44 |     memmove(r->data, r->data + 1, r->len);
      |     ^~~~~~~
make: *** [Makefile:14: build/ring.o] Error 1
"""
LINKER = """[ 50%] Building CXX object CMakeFiles/shopd.dir/src/server.cpp.o
[100%] Linking CXX executable shopd
/usr/bin/ld: CMakeFiles/shopd.dir/src/server.cpp.o: in function `Server::listen(int)':
server.cpp:(.text+0x1a4): undefined reference to `tls_context_new'
clang: error: linker command failed with exit code 1 (use -v to see invocation)
gmake[2]: *** [CMakeFiles/shopd.dir/build.make:97: shopd] Error 1
gmake[1]: *** [CMakeFiles/Makefile2:83: CMakeFiles/shopd.dir/all] Error 2
gmake: *** [Makefile:91: all] Error 2
"""

DOCKER = """#0 building with "default" instance using docker driver

#1 [internal] load build definition from Dockerfile
#1 transferring dockerfile: 812B done
#1 DONE 0.0s

#6 [3/6] COPY requirements.txt .
#6 CACHED

#7 [4/6] RUN pip install -r requirements.txt
#7 3.914 Collecting psycopg2==2.9.9
#7 4.220   Downloading psycopg2-2.9.9.tar.gz (384 kB)
#7 5.871   error: subprocess-exited-with-error
#7 5.871   Error: pg_config executable not found.
#7 ERROR: process "/bin/sh -c pip install -r requirements.txt" did not complete successfully: exit code: 1
------
 > [4/6] RUN pip install -r requirements.txt:
5.871   Error: pg_config executable not found.
------
Dockerfile:9
--------------------
   7 |     COPY requirements.txt .
   8 |
   9 | >>> RUN pip install -r requirements.txt
--------------------
ERROR: failed to solve: process "/bin/sh -c pip install -r requirements.txt" did not complete successfully: exit code: 1
"""
DOCKER_DONE = """#11 exporting to image
#11 exporting layers 1.1s done
#11 writing image sha256:3f1a9be07c0d4f0a9c7d59c0d7d2b5aab1b0f8b8f5e3b2c0f1d3a4b5c6d7e8f9 done
#11 naming to docker.io/acme/shop:1.8.0 done
#11 DONE 1.2s
"""
DOCKERFILE = """FROM python:3.12-slim
WORKDIR /app
RUN apt-get update && apt-get install -y curl
COPY requirements.txt .
RUN pip install -r requirements.txt
"""

GRADLE = """> Task :compileKotlin FAILED
e: file:///home/dev/shop/src/main/kotlin/Tax.kt:17:22 Unresolved reference 'countryCode'.
w: file:///home/dev/shop/src/main/kotlin/Tax.kt:4:8 Unused import

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':compileKotlin'.
> A failure occurred while executing org.jetbrains.kotlin.compilerRunner.GradleCompilerRunnerWithWorkers$GradleKotlinCompilerWorkAction
   > Compilation error. See log for more details

* Try:
> Run with --stacktrace option to get the stack trace.

BUILD FAILED in 6s
"""

CMAKE = """-- The CXX compiler identification is GNU 13.2.0
-- Detecting CXX compiler ABI info - done
CMake Error at CMakeLists.txt:18 (find_package):
  By not providing "Findfmt.cmake" in CMAKE_MODULE_PATH this project has
  asked CMake to find a package configuration file provided by "fmt", but
  CMake did not find one.

-- Configuring incomplete, errors occurred!
"""

NEXT = """   ▲ Next.js 14.2.5

   Creating an optimized production build ...
 ✓ Compiled successfully
   Linting and checking validity of types ...
Failed to compile.

./app/orders/[id]/page.tsx:14:9
Type error: Type 'Promise<Order>' is missing the following properties from type 'Order': id, lines

  12 |   const order = getOrder(params.id);
> 14 |   return <OrderView order={order} />;
     |         ^
"""

CASES = (
    Case(
        "tsc fails and is fixed",
        "npm run build is broken",
        [
            bash_failed("npm run build", TSC, 2),
            edit("src/order.ts", ORDER_TS, "return order.total;", "return order.total.toFixed(2);"),
            edit("src/mail.ts", "send(mail.recipient);\n", "mail.recipient", "mail.recipients"),
            bash("npm run build", "\n> shop@2.4.0 build\n> tsc -p tsconfig.build.json\n\n"),
        ],
        "The build works again: npm run build had failed because Type 'number' is not assignable to type 'string'.",
        facts=(
            "TS2322",
            "Type 'number' is not assignable to type 'string'",
            "TS2551",
            "Property 'recipient' does not exist on type 'Mail'. Did you mean 'recipients'?",
            "src/order.ts",
            "src/mail.ts",
            "receipt",
            "npm run build",
        ),
        kinds=("bugfix",),
    ),
    Case(
        "webpack cannot resolve a module",
        "build the frontend",
        [bash_failed("npx webpack --mode production", WEBPACK)],
        facts=("Can't resolve 'd3-scale-chromatic'", "./src/charts.js"),
    ),
    Case(
        "a bundle gets smaller",
        "The bundle is too big, load the charts only when they are needed",
        [
            bash("npm run build", VITE_BEFORE),
            edit(
                "src/routes.tsx",
                'import Charts from "./charts";\n\nexport function Routes() {\n  return <Charts />;\n}\n',
                'import Charts from "./charts";',
                'const Charts = lazy(() => import("./charts"));',
            ),
            bash("npm run build", VITE),
        ],
        "Charts are split off.",
        facts=("702.55 kB", "181.37 kB", "src/routes.tsx", "npm run build"),
        lost=(
            "702.55 kB",
            "181.37 kB",
        ),
    ),
    Case(
        "cargo build fails and is fixed",
        "Return the price in the API",
        [
            bash_failed("cargo build", CARGO, 101),
            edit("src/price.rs", PRICE_RS, "#[derive(Clone, Copy)]", "#[derive(Clone, Copy, Serialize)]"),
            bash("cargo build", CARGO_DONE),
        ],
        "It builds.",
        facts=(
            "error[E0277]: the trait bound `Price: Serialize` is not satisfied",
            "src/api.rs:27:24",
            "src/price.rs",
            "#[derive(Clone, Copy, Serialize)]",
            "cargo build",
        ),
    ),
    Case(
        "go build fails",
        "does it build?",
        [bash_failed("go build ./...", GO_BUILD)],
        facts=(
            "internal/billing/charge.go:41:17",
            "cannot use amount (variable of type int64) as decimal.Decimal value in argument to c.Charge",
            "declared and not used: receipt",
        ),
    ),
    Case(
        "go vet complains",
        "go vet",
        [bash_failed("go vet ./...", GO_VET)],
        facts=("fmt.Errorf format %w has arg to of wrong type string", "mail.Queue contains sync.Mutex"),
    ),
    Case(
        "make with gcc fails",
        "make",
        [bash_failed("make -j4", GCC, 2)],
        facts=("src/ring.c:38:24: error: 'struct ring' has no member named 'capacity'; did you mean 'cap'?", "make"),
    ),
    Case(
        "the linker misses a symbol",
        "link the daemon",
        [bash_failed("cmake --build build", LINKER, 2)],
        facts=("undefined reference to `tls_context_new'", "server.cpp"),
    ),
    Case(
        "a docker build fails and is fixed",
        "Build the image acme/shop:1.8.0",
        [
            bash_failed("docker build --progress=plain -t acme/shop:1.8.0 .", DOCKER),
            edit("Dockerfile", DOCKERFILE, "install -y curl", "install -y curl gcc libpq-dev"),
            bash("docker build --progress=plain -t acme/shop:1.8.0 .", DOCKER_DONE),
        ],
        "psycopg2 is compiled in the image and needs libpq's headers.",
        facts=(
            "pg_config executable not found",
            "install -y curl gcc libpq-dev",
            "Dockerfile",
            "docker build",
            "acme/shop:1.8.0",
        ),
    ),
    Case(
        "gradle does not compile",
        "gradle build",
        [bash_failed("./gradlew build", GRADLE)],
        facts=("Tax.kt:17:22", "Unresolved reference 'countryCode'"),
    ),
    Case(
        "cmake does not find a package",
        "configure the project",
        [bash_failed("cmake -S . -B build", CMAKE)],
        facts=("CMakeLists.txt:18 (find_package)", 'provided by "fmt"'),
    ),
    Case(
        "a type error stops the production build",
        "next build",
        [bash_failed("pnpm run build", NEXT)],
        facts=(
            "./app/orders/[id]/page.tsx:14:9",
            "Type 'Promise<Order>' is missing the following properties from type 'Order': id, lines",
        ),
    ),
)
