"""Everything else that runs in a shell: servers, databases, clusters, scripts that die."""

from tests.cases.case import Case, bash, bash_failed, edit

PSQL = """BEGIN
ALTER TABLE
psql:migrations/0042_orders.sql:9: ERROR:  column "customer_id" of relation "orders" contains null values
ROLLBACK
"""
ALEMBIC = """INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.
INFO  [alembic.runtime.migration] Will assume transactional DDL.
INFO  [alembic.runtime.migration] Running upgrade 7c1e0d4b2a91 -> 9f0a3cc51be2, add refunds table
"""
ALEMBIC_HEADS = """INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.
ERROR [alembic.util.messaging] Multiple head revisions are present for given argument 'head'; please specify a specific target revision
FAILED: Multiple head revisions are present for given argument 'head'; please specify a specific target revision
"""
PRISMA = """Environment variables loaded from .env
Prisma schema loaded from prisma/schema.prisma
Datasource "db": PostgreSQL database "shop", schema "public" at "localhost:5432"

Applying migration `20260304091500_add_coupons`

The following migration(s) have been created and applied from new schema changes:

migrations/
  └─ 20260304091500_add_coupons/
    └─ migration.sql

Your database is now in sync with your schema.

✔ Generated Prisma Client (v5.17.0) to ./node_modules/@prisma/client in 71ms
"""
TERRAFORM_PLAN = """\x1b[0m\x1b[1maws_s3_bucket.invoices: Refreshing state... [id=acme-invoices]\x1b[0m

Terraform used the selected providers to generate the following execution plan.
  \x1b[31m-\x1b[0m\x1b[0m/\x1b[32m+\x1b[0m\x1b[0m destroy and then create replacement

\x1b[1m  # aws_db_instance.shop\x1b[0m must be \x1b[1m\x1b[31mreplaced\x1b[0m
\x1b[0m  \x1b[31m-\x1b[0m/\x1b[32m+\x1b[0m resource "aws_db_instance" "shop" {
      \x1b[33m~\x1b[0m\x1b[0m engine_version = "14.9" -> "16.3" # forces replacement
    }

\x1b[1mPlan:\x1b[0m 2 to add, 1 to change, 1 to destroy.
"""
TERRAFORM_APPLY = """aws_sqs_queue.refunds: Creating...
aws_sqs_queue.refunds: Still creating... [10s elapsed]
╷
│ Error: creating SQS Queue (refunds.fifo): operation error SQS: CreateQueue, AccessDenied: not authorized to perform sqs:createqueue
│
│   with aws_sqs_queue.refunds,
│   on queues.tf line 12, in resource "aws_sqs_queue" "refunds":
│   12: resource "aws_sqs_queue" "refunds" {
│
╵
"""
COMPOSE = """ Network shop_default  Creating
 Network shop_default  Created
 Container shop-db-1  Starting
 Container shop-web-1  Starting
Error response from daemon: driver failed programming external connectivity on endpoint shop-web-1: Bind for 0.0.0.0:8080 failed: port is already allocated
"""
SYSTEMCTL = """Job for shop-worker.service failed because the control process exited with error code.
See "systemctl status shop-worker.service" and "journalctl -xeu shop-worker.service" for details.
"""
TRACEBACK = """Loading 40112 rows
Traceback (most recent call last):
  File "/home/dev/shop/scripts/import_prices.py", line 88, in <module>
    main()
  File "/home/dev/shop/scripts/import_prices.py", line 61, in main
    price = Decimal(row["price"])
            ~~~^^^^^^^^^
KeyError: 'price'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/dev/shop/scripts/import_prices.py", line 64, in main
    raise ImportFailed(f"row {number} has no price") from None
scripts.errors.ImportFailed: row 311 has no price
"""
IMPORT_SCRIPT = """def main():
    for number, row in enumerate(rows):
        price = Decimal(row["price"])
        store(row["sku"], price)
"""
NODE = """/home/dev/shop/scripts/sync.mjs:27
    const rates = body.rates.map((rate) => rate.value);
                             ^

TypeError: Cannot read properties of undefined (reading 'map')
    at syncRates (file:///home/dev/shop/scripts/sync.mjs:27:30)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)

Node.js v20.15.1
"""
UNIT = "[Service]\nExecStart=/opt/shop/bin/worker\n"

CASES = (
    Case(
        "curl is refused",
        "is the API up?",
        [
            bash_failed(
                "curl -sS http://localhost:8080/health",
                "curl: (7) Failed to connect to localhost port 8080 after 0 ms: Couldn't connect to server",
                7,
            )
        ],
        "It does not run: curl says Failed to connect to localhost port 8080.",
        facts=("Failed to connect to localhost port 8080", "curl -sS http://localhost:8080/health", "exit code 7"),
    ),
    Case(
        "a migration fails in psql",
        "apply the migration",
        [bash_failed("psql -v ON_ERROR_STOP=1 -f migrations/0042_orders.sql shop", PSQL, 3)],
        facts=(
            'column "customer_id" of relation "orders" contains null values',
            "migrations/0042_orders.sql:9",
            "exit code 3",
        ),
    ),
    Case(
        "alembic migrates",
        "Run the new migration",
        [bash("alembic upgrade head", "", ALEMBIC)],
        "Done.",
        facts=("7c1e0d4b2a91 -> 9f0a3cc51be2, add refunds table", "alembic upgrade head"),
    ),
    Case(
        "alembic has two heads",
        "migrate",
        [bash_failed("alembic upgrade head", ALEMBIC_HEADS, 255)],
        facts=("Multiple head revisions are present", "exit code 255"),
    ),
    Case(
        "prisma migrates",
        "Create the migration for coupons",
        [bash("npx prisma migrate dev --name add_coupons", PRISMA)],
        facts=("20260304091500_add_coupons", "prisma migrate dev --name add_coupons"),
        lost=("20260304091500_add_coupons",),
    ),
    Case(
        "terraform plans",
        "what would terraform change?",
        [bash("terraform plan", TERRAFORM_PLAN)],
        "Careful: the database would be replaced because the major version changes.",
        facts=("2 to add, 1 to change, 1 to destroy", "aws_db_instance.shop must be replaced"),
        lost=("aws_db_instance.shop must be replaced",),
    ),
    Case(
        "terraform may not apply",
        "apply it",
        [bash_failed("terraform apply -auto-approve", TERRAFORM_APPLY)],
        facts=("creating SQS Queue (refunds.fifo)", "AccessDenied: not authorized to perform sqs:createqueue"),
    ),
    Case(
        "kubectl applies a change",
        "Roll out the new limits",
        [
            edit("k8s/web.yaml", "limits:\n  memory: 256Mi\n", "256Mi", "512Mi"),
            bash("kubectl apply -f k8s/web.yaml", "deployment.apps/web configured\nservice/web unchanged\n"),
            bash_failed(
                "kubectl rollout status deploy/web --timeout=60s",
                'Waiting for deployment "web" rollout to finish: 1 out of 3 new replicas have been updated...\n'
                "error: timed out waiting for the condition",
            ),
        ],
        "The rollout did not finish in a minute.",
        facts=(
            "memory: 256Mi -> memory: 512Mi",
            "deployment.apps/web configured",
            "timed out waiting for the condition",
            "kubectl rollout status deploy/web",
        ),
        lost=("deployment.apps/web configured",),
    ),
    Case(
        "a port is taken",
        "start the stack",
        [bash_failed("docker compose up -d", COMPOSE)],
        facts=("Bind for 0.0.0.0:8080 failed: port is already allocated", "docker compose up -d"),
    ),
    Case(
        "a service does not start",
        "Restart the worker",
        [
            bash_failed("sudo systemctl restart shop-worker", SYSTEMCTL),
            bash(
                "journalctl -u shop-worker -n 3 --no-pager",
                "shop-worker.service: Failed at step EXEC spawning /opt/shop/bin/worker: No such file or directory\n",
            ),
            edit("deploy/shop-worker.service", UNIT, "/opt/shop/bin/worker", "/opt/shop/venv/bin/worker"),
            bash("sudo systemctl restart shop-worker"),
        ],
        "The unit pointed at a binary that had moved.",
        facts=(
            "Job for shop-worker.service failed because the control process exited with error code",
            "/opt/shop/venv/bin/worker",
            "deploy/shop-worker.service",
            "systemctl restart shop-worker",
        ),
    ),
    Case(
        "a script dies and is fixed",
        "Import the price list",
        [
            bash_failed("python scripts/import_prices.py data/prices.csv", TRACEBACK),
            edit("scripts/import_prices.py", IMPORT_SCRIPT, 'row["price"]', 'row.get("price") or row["unit_price"]'),
            bash(
                "python scripts/import_prices.py data/prices.csv",
                "Loading 40112 rows\nImported 40112 prices in 3.4 s\n",
            ),
        ],
        "The import had failed with row 311 has no price: old exports call the column unit_price.",
        facts=(
            "ImportFailed: row 311 has no price",
            "scripts/import_prices.py",
            "Imported 40112 prices in 3.4 s",
            "python scripts/import_prices.py data/prices.csv",
        ),
        kinds=("bugfix",),
    ),
    Case(
        "a node script dies",
        "sync the rates",
        [bash_failed("node scripts/sync.mjs", NODE)],
        facts=("TypeError: Cannot read properties of undefined (reading 'map')", "scripts/sync.mjs:27"),
    ),
    Case(
        "a program crashes",
        "run the benchmark binary",
        [bash_failed("./build/bench --rows 1000000", "Segmentation fault (core dumped)", 139)],
        facts=("Segmentation fault", "./build/bench --rows 1000000", "exit code 139"),
    ),
    Case(
        "a command runs out of time",
        "try the slow test for a minute",
        [bash_failed("timeout 60 python scripts/reindex.py", "indexed 1200 of 90000\nindexed 2400 of 90000", 124)],
        facts=("python scripts/reindex.py", "exit code 124", "2400 of 90000"),
    ),
    Case(
        "a command is killed",
        "train the model",
        [bash_failed("python train.py --epochs 3", "epoch 1/3 loss 0.412\nKilled", 137)],
        "The machine ran out of memory.",
        facts=("python train.py --epochs 3", "exit code 137", "Killed"),
    ),
    Case(
        "the client stops waiting",
        "run the migration check",
        [
            bash(
                "./scripts/check_migrations.sh",
                "checking 1 of 80\n",
                backgroundTaskId="bq46e5n1o",
                timedOutAfterMs=120_000,
            )
        ],
        "The check takes longer than two minutes.",
        facts=("./scripts/check_migrations.sh", "120 s"),
    ),
    Case(
        "permission is denied",
        "deploy to staging",
        [bash_failed("./deploy.sh staging", "bash: ./deploy.sh: Permission denied", 126)],
        facts=("./deploy.sh: Permission denied", "exit code 126"),
    ),
    Case(
        "a program is missing",
        "generate the protobuf code",
        [
            bash_failed("protoc --go_out=. api/shop.proto", "/bin/bash: line 1: protoc: command not found", 127),
        ],
        "protoc is not installed here.",
        facts=("protoc: command not found", "protoc --go_out=. api/shop.proto", "exit code 127"),
    ),
    Case(
        "a measurement",
        "How fast is the new parser?",
        [
            bash(
                "hyperfine --warmup 3 './old.py big.csv' './new.py big.csv'",
                "Benchmark 1: ./old.py big.csv\n  Time (mean ± σ):      2.104 s ±  0.031 s    [User: 2.0 s, System: 0.1 s]\n"
                "Benchmark 2: ./new.py big.csv\n  Time (mean ± σ):     391.2 ms ±   4.4 ms    [User: 340 ms, System: 50 ms]\n\n"
                "Summary\n  ./new.py big.csv ran\n    5.38 ± 0.10 times faster than ./old.py big.csv\n",
            )
        ],
        "The new parser is much faster: it reads the file in blocks and never splits a line twice, so big files no "
        "longer wait for the garbage collector, and small ones are as quick as before.",
        facts=("5.38 ± 0.10 times faster than ./old.py big.csv", "reads the file in blocks"),
    ),
    Case(
        "a model is evaluated",
        "Raise the learning rate and evaluate again",
        [
            edit("config/train.yaml", "lr: 0.001\nepochs: 3\n", "lr: 0.001", "lr: 0.003"),
            bash(
                "python evaluate.py --split test",
                "loading checkpoint runs/42\n100%|██████████| 400/400 [00:12<00:00]\naccuracy: 0.874  macro_f1: 0.851\n",
            ),
        ],
        "It helped a little.",
        facts=("lr: 0.001 -> lr: 0.003", "accuracy: 0.874", "macro_f1: 0.851", "python evaluate.py --split test"),
    ),
)
