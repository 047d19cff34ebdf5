"""Package managers: what was added in which version, and what stood in the way."""

from tests.cases.case import Case, bash, bash_failed, edit

PIP = """Collecting httpx
  Downloading httpx-0.27.0-py3-none-any.whl.metadata (7.2 kB)
Collecting httpcore==1.* (from httpx)
  Downloading httpcore-1.0.5-py3-none-any.whl.metadata (20 kB)
Requirement already satisfied: idna in ./.venv/lib/python3.12/site-packages (from httpx) (3.7)
Downloading httpx-0.27.0-py3-none-any.whl (75 kB)
   ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 0.0/75.6 kB ? eta -:--:--\r   ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 75.6/75.6 kB 2.1 MB/s eta 0:00:00
Installing collected packages: httpcore, httpx
Successfully installed httpcore-1.0.5 httpx-0.27.0

[notice] A new release of pip is available: 24.0 -> 24.1
[notice] To update, run: pip install --upgrade pip
"""
PIP_CONFLICT = """Collecting pydantic<2 (from -r requirements.txt (line 3))
ERROR: Cannot install -r requirements.txt (line 5) and pydantic<2 because these package versions have conflicting dependencies.

The conflict is caused by:
    The user requested pydantic<2
    fastapi 0.128.0 depends on pydantic>=2.7.0

To fix this you could try to:
1. loosen the range of package versions you've specified
2. remove package versions to allow pip to attempt to solve the dependency conflict

ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/en/latest/topics/dependency-resolution/
"""
UV = """Using CPython 3.12.4
Resolved 61 packages in 312ms
Prepared 3 packages in 204ms
Installed 3 packages in 9ms
 + orjson==3.10.6
 + sqlmodel==0.0.21
 ~ shop==1.8.0 (from file:///home/dev/shop)
"""
POETRY = """Using version ^5.4.0 for celery

Updating dependencies
Resolving dependencies... (2.1s)

Package operations: 4 installs, 1 update, 0 removals

  - Installing billiard (4.2.0)
  - Updating kombu (5.3.4 -> 5.4.0)
  - Installing celery (5.4.0)

Writing lock file
"""
NPM = """npm warn deprecated inflight@1.0.6: This module is not supported, and leaks memory.

added 14 packages, changed 1 package, and audited 812 packages in 6s

142 packages are looking for funding
  run `npm fund` for details

2 moderate severity vulnerabilities

To address all issues, run:
  npm audit fix
"""
ERESOLVE = """npm error code ERESOLVE
npm error ERESOLVE unable to resolve dependency tree
npm error
npm error While resolving: shop@2.4.0
npm error Found: react@19.0.0
npm error node_modules/react
npm error   react@"^19.0.0" from the root project
npm error
npm error Could not resolve dependency:
npm error peer react@"^18.0.0" from @acme/ui@3.2.1
npm error node_modules/@acme/ui
npm error   @acme/ui@"^3.2.1" from the root project
npm error
npm error Fix the upstream dependency conflict, or retry
npm error A complete log of this run can be found in: /home/dev/.npm/_logs/2026-03-04T10_00_00_000Z-debug-0.log
"""
PNPM = """Progress: resolved 1, reused 0, downloaded 0, added 0
Progress: resolved 311, reused 290, downloaded 4, added 0
Packages: +6
++++++
Progress: resolved 412, reused 404, downloaded 6, added 6, done

dependencies:
+ zod 3.23.8

devDependencies:
+ vitest 2.1.3

Done in 3.4s
"""
YARN = """yarn add v1.22.22
[1/4] Resolving packages...
[2/4] Fetching packages...
[3/4] Linking dependencies...
[4/4] Building fresh packages...
success Saved lockfile.
success Saved 2 new dependencies.
info Direct dependencies
└─ date-fns@3.6.0
info All dependencies
├─ date-fns@3.6.0
└─ tslib@2.6.3
Done in 2.91s.
"""
CARGO_ADD = """    Updating crates.io index
      Adding tokio v1.38.0 to dependencies
             Features:
             + macros
             + rt-multi-thread
             - bytes
             - fs
             25 deactivated features
"""
GO_GET = """go: downloading github.com/redis/go-redis/v9 v9.6.1
go: downloading github.com/cespare/xxhash/v2 v2.2.0
go: added github.com/cespare/xxhash/v2 v2.2.0
go: upgraded github.com/redis/go-redis/v9 v9.5.0 => v9.6.1
"""
BUNDLE = """Fetching gem metadata from https://rubygems.org/.........
Resolving dependencies...
Could not find compatible versions

Because rails >= 7.1.0 depends on rack >= 2.2.4
  and rack-attack = 5.4.2 depends on rack < 2.1,
  rails >= 7.1.0 is incompatible with rack-attack = 5.4.2.
So, because Gemfile depends on rails ~> 7.1
  and Gemfile depends on rack-attack = 5.4.2,
  version solving has failed.
"""
BREW = """==> Downloading https://ghcr.io/v2/homebrew/core/jq/manifests/1.7.1
######################################################################## 100.0%
==> Pouring jq--1.7.1.arm64_sonoma.bottle.tar.gz
🍺  /opt/homebrew/Cellar/jq/1.7.1: 20 files, 1.4MB
==> Running `brew cleanup jq`...
"""
APT = """Reading package lists... Done
Building dependency tree... Done
E: Unable to locate package libwebp7-dev
"""
APT_DONE = """Reading package lists... Done
Building dependency tree... Done
The following NEW packages will be installed:
  libwebp-dev libwebp7
Get:1 http://deb.debian.org/debian bookworm/main amd64 libwebp-dev amd64 1.2.4-0.2 [360 kB]
Selecting previously unselected package libwebp-dev:amd64.
Setting up libwebp-dev:amd64 (1.2.4-0.2+deb12u1) ...
"""

CASES = (
    Case(
        "pip installs a package",
        "Install httpx, the sync client is going away",
        [bash(".venv/bin/pip install httpx", PIP)],
        "Installed.",
        facts=("httpx-0.27.0", "pip install httpx"),
        never=("new release of pip", "━"),
    ),
    Case(
        "pip finds a conflict",
        "install the requirements",
        [bash_failed("pip install -r requirements.txt", PIP_CONFLICT)],
        "The pin on pydantic is in the way.",
        facts=("pydantic<2", "fastapi 0.128.0 depends on pydantic>=2.7.0", "conflicting dependencies"),
    ),
    Case(
        "uv adds packages on the way to a feature",
        "Store the orders with sqlmodel",
        [
            bash("uv add sqlmodel orjson", "", UV),
            edit(
                "shop/orders.py",
                "class Order:\n    id: int\n",
                "class Order:",
                "class Order(SQLModel, table=True):",
            ),
        ],
        "Orders are a table now.",
        facts=("sqlmodel==0.0.21", "orjson==3.10.6", "shop/orders.py", "Order", "uv add sqlmodel orjson"),
    ),
    Case(
        "poetry adds and updates",
        "add celery",
        [bash("poetry add celery", POETRY)],
        facts=("celery (5.4.0)", "kombu (5.3.4 -> 5.4.0)", "poetry add celery"),
        lost=("kombu (5.3.4 -> 5.4.0)",),
    ),
    Case(
        "npm installs",
        "add stripe to the dependencies",
        [bash("npm install stripe@16.2.0 --save-exact", NPM)],
        facts=("stripe@16.2.0", "added 14 packages", "2 moderate severity vulnerabilities"),
        lost=("2 moderate severity vulnerabilities",),
    ),
    Case(
        "npm cannot resolve and gets by",
        "npm install fails, make it work",
        [
            bash_failed("npm install", ERESOLVE),
            edit("package.json", '{\n  "react": "^19.0.0"\n}\n', "^19.0.0", "^18.3.1"),
            bash("npm install", "added 802 packages, and audited 803 packages in 11s\n\nfound 0 vulnerabilities\n"),
        ],
        "@acme/ui is not ready for React 19, so React goes back to 18.3.1.",
        facts=(
            "ERESOLVE unable to resolve dependency tree",
            'peer react@"^18.0.0" from @acme/ui@3.2.1',
            "^18.3.1",
            "package.json",
            "npm install",
        ),
        kinds=("bugfix",),
    ),
    Case(
        "pnpm adds",
        "pnpm add zod and vitest",
        [bash("pnpm add zod && pnpm add -D vitest", PNPM)],
        facts=("zod 3.23.8", "vitest 2.1.3"),
        never=("Progress: resolved",),
    ),
    Case(
        "yarn adds",
        "add date-fns",
        [bash("yarn add date-fns", YARN)],
        facts=("date-fns@3.6.0", "yarn add date-fns"),
    ),
    Case(
        "cargo adds a crate with features",
        "Use tokio",
        [bash("cargo add tokio --features macros,rt-multi-thread", "", CARGO_ADD)],
        facts=("tokio v1.38.0", "cargo add tokio --features macros,rt-multi-thread"),
    ),
    Case(
        "go get upgrades a module",
        "upgrade go-redis",
        [bash("go get github.com/redis/go-redis/v9@latest", "", GO_GET)],
        facts=("github.com/redis/go-redis/v9 v9.5.0 => v9.6.1",),
    ),
    Case(
        "bundler cannot solve",
        "bundle update rails",
        [bash_failed("bundle update rails", BUNDLE, 6)],
        facts=("rack-attack = 5.4.2 depends on rack < 2.1", "version solving has failed", "exit code 6"),
    ),
    Case(
        "brew installs",
        "I need jq",
        [bash("brew install jq", BREW)],
        facts=("brew install jq", "1.7.1"),
    ),
    Case(
        "apt finds the package under another name",
        "install the webp headers",
        [
            bash_failed("sudo apt-get install -y libwebp7-dev", APT, 100),
            bash("sudo apt-get install -y libwebp-dev", APT_DONE),
        ],
        facts=("Unable to locate package libwebp7-dev", "apt-get install -y libwebp-dev", "1.2.4"),
    ),
)
