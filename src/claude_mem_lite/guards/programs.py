"""Programs, options and phrases that rules of users name, as tables for `named_things`.

A program is listed only if its name in a sentence means the program: `redis` is a product, `redis-cli` a program."""


def _words(names: str) -> frozenset[str]:
    return frozenset(names.split())


# Names that mean a program wherever they stand.
PROGRAMS = _words(
    """npm pnpm yarn bun npx bunx pnpx corepack deno nvm fnm volta pip pipx uv uvx poetry pipenv pdm rye hatch conda
    mamba virtualenv pyenv cargo rustc rustup rustfmt gofmt goimports golangci-lint gotestsum pytest tox nox jest
    vitest mocha eslint prettier biome tslint tsc ts-node tsx esbuild webpack vite rollup turbo nx lerna black yapf
    autopep8 isort flake8 pylint ruff mypy pyright bundle gem rake rspec rubocop rails composer phpunit mvn gradle
    gradlew sbt mix rebar3 dotnet cmake ninja bazel buck2 just mise asdf direnv git gh glab hub svn hg docker podman
    docker-compose kubectl helm kustomize terraform tofu terragrunt pulumi ansible ansible-playbook vagrant packer aws
    gcloud az heroku flyctl vercel netlify wrangler firebase supabase prisma alembic flyway liquibase knex psql mysql
    sqlite3 mongosh redis-cli curl wget httpie ssh scp rsync sudo doas su rm rmdir chmod chown dd mkfs shred kill
    pkill killall grep egrep fgrep rg ag ack sed awk gawk perl fd jq yq xargs apt apt-get brew dnf yum pacman apk snap
    systemctl crontab nohup tmux make gmake python python3 node ruby php java javac go find cat head tail less more ls
    tree echo tee cp mv touch ln open vim vi nano emacs swift xcodebuild pod flutter dart adb kotlinc ktlint stack
    cabal elm zig nix task pre-commit husky lint-staged changeset semantic-release twine goreleaser ko skaffold tilt
    sam cdk serverless sls gofumpt"""
)
# Names that also mean a language, a thing or a deed: they need backticks, a word behind them or a rival.
AMBIGUOUS = _words(
    """make gmake python python3 node ruby php java go find cat head tail less more ls tree echo tee touch open task
    just stack pod snap hub ack ag nix swift dart zig elm black mix rails git su ln cp mv kill sam cdk tilt ko husky
    turbo vite webpack rollup supabase firebase aws az vercel netlify dd bundle helm packer composer"""
)
# Second words that make a program's name one command: `terraform apply`.
SUBCOMMANDS = {
    "git": """add commit push pull fetch merge rebase reset checkout switch restore stash clean tag branch revert amend
    cherry-pick rm mv config worktree submodule filter-branch gc reflog remote clone init bisect apply am lfs""",
    "npm": "install i ci add run test start publish audit update uninstall link exec init version dedupe",
    "pnpm": "install i add run test start publish audit update remove link exec dlx",
    "yarn": "install add run test start publish upgrade remove link dlx",
    "bun": "install add run test start publish update remove x build",
    "npm audit": "fix",
    "pip": "install uninstall freeze",
    "ruff": "format check",
    "uv": "pip add sync run lock remove tool venv",
    "poetry": "install add run lock update remove publish",
    "cargo": "build test run check clippy fmt publish install add clean fix bench nextest doc update",
    "go": "build test run get install mod vet fmt generate clean work tool",
    "docker": "compose run build push pull rm rmi exec system volume up down stop kill prune login",
    "docker-compose": "up down build run exec rm",
    "kubectl": "apply delete exec edit scale patch rollout drain replace create",
    "helm": "install upgrade uninstall rollback delete",
    "terraform": "apply destroy plan init import state taint",
    "tofu": "apply destroy plan init import state taint",
    "pulumi": "up destroy preview",
    "gh": "pr issue release repo api workflow run secret",
    "make": "test build clean lint install deploy all run dev check format release migrate",
    "rails": "db:migrate db:drop db:reset db:rollback server console test",
    "rake": "db:migrate db:drop db:reset test",
    "prisma": "migrate db generate",
    "alembic": "upgrade downgrade revision",
    "brew": "install upgrade uninstall services",
    "apt": "install remove upgrade",
    "apt-get": "install remove upgrade",
    "systemctl": "restart stop start enable disable reload",
    "python": "manage.py setup.py",
    "aws": "s3 ec2 iam lambda",
    "gcloud": "deploy run functions compute",
    "firebase": "deploy emulators:start",
    "supabase": "db migration functions start stop",
    "vercel": "deploy --prod",
    "wrangler": "deploy publish dev",
    "bundle": "install exec update",
    "composer": "install update require",
    "mvn": "test install clean deploy package",
    "gradle": "test build clean",
    "dotnet": "test build run restore ef",
    "mix": "test format ecto.migrate deps.get",
    "gh pr": "merge create close comment edit review checkout",
    "gh release": "create delete",
    "gh issue": "create close",
    "docker compose": "up down build run exec rm stop restart",
    "docker system": "prune",
    "docker volume": "rm prune",
    "npm run": "build dev test start lint deploy watch",
    "pnpm run": "build dev test start lint deploy watch",
    "yarn run": "build dev test start lint deploy watch",
    "bun run": "build dev test start lint deploy watch",
    "uv pip": "install",
    "git stash": "pop drop clear",
    "go mod": "tidy vendor",
    "prisma migrate": "dev deploy reset",
    "prisma db": "push",
    "supabase db": "reset push",
}
# Programs that run a program behind them, and programs that run a task of the project.
RUNNERS = ("uv run", "poetry run", "pdm run", "bundle exec", "pnpm exec", "npx", "bunx", "uvx", "sudo")
TASK_RUNNERS = (
    "make",
    "just",
    "task",
    "mise",
    "mise run",
    "npm",
    "npm run",
    "pnpm",
    "pnpm run",
    "yarn",
    "yarn run",
    "bun run",
    "hatch run",
    "rake",
    "nx",
    "turbo",
    "gradle",
)
# Commands to which an option that stands alone in a sentence belongs.
FLAG_COMMANDS = {
    "--no-verify": ("git commit --no-verify", "git commit -n", "git push --no-verify", "git merge --no-verify"),
    "--force": ("git push --force", "git push -f"),
    "--amend": ("git commit --amend",),
    "--hard": ("git reset --hard",),
    "--force-with-lease": ("git push --force-with-lease",),
    "--legacy-peer-deps": ("npm --legacy-peer-deps",),
    "--break-system-packages": ("pip --break-system-packages",),
    "--no-gpg-sign": ("git commit --no-gpg-sign",),
    "--allow-dirty": ("cargo --allow-dirty",),
    "--auto-approve": ("terraform apply -auto-approve", "terraform destroy -auto-approve"),
    "-auto-approve": ("terraform apply -auto-approve", "terraform destroy -auto-approve"),
}
_FORCED = ("git push --force", "git push -f", "git push --force-with-lease")
_MIGRATIONS = (
    "alembic upgrade",
    "alembic downgrade",
    "manage.py migrate",
    "python manage.py migrate",
    "rails db:migrate",
    "rake db:migrate",
    "prisma migrate",
    "knex migrate:latest",
    "sequelize db:migrate",
    "typeorm migration:run",
    "drizzle-kit migrate",
    "drizzle-kit push",
    "flyway migrate",
    "liquibase update",
    "goose up",
    "migrate up",
    "dbmate up",
    "diesel migration run",
    "sqlx migrate run",
    "supabase db push",
    "supabase migration up",
    "mix ecto.migrate",
    "dotnet ef database update",
)
# Phrases that mean commands, in the singular and without articles.
PHRASES = {
    "force push": _FORCED,
    "force-push": _FORCED,
    "forced push": _FORCED,
    "push --force": ("git push --force", "git push -f"),
    "push -f": ("git push --force", "git push -f"),
    "push with --force": ("git push --force", "git push -f"),
    "force push branch": _FORCED,
    "amend commit": ("git commit --amend",),
    "amend existing commit": ("git commit --amend",),
    "amend previous commit": ("git commit --amend",),
    "amend": ("git commit --amend",),
    "commit --amend": ("git commit --amend",),
    "commit amend": ("git commit --amend",),
    "amended commit": ("git commit --amend",),
    "hard reset": ("git reset --hard",),
    "reset --hard": ("git reset --hard",),
    "interactive rebase": ("git rebase -i", "git rebase --interactive"),
    "rebase": ("git rebase", "git pull --rebase", "git pull -r"),
    "stash change": ("git stash",),
    "merge pull request": ("gh pr merge",),
    "merge pr": ("gh pr merge",),
    "pr merge": ("gh pr merge",),
    "open pr": ("gh pr create",),
    "open pull request": ("gh pr create",),
    "create pr": ("gh pr create",),
    "create pull request": ("gh pr create",),
    "migration": _MIGRATIONS,
    "database migration": _MIGRATIONS,
    "db migration": _MIGRATIONS,
    "skip hook": ("git commit --no-verify", "git commit -n", "git push --no-verify"),
    "skip git hook": ("git commit --no-verify", "git commit -n", "git push --no-verify"),
    "skip pre-commit hook": ("git commit --no-verify", "git commit -n"),
    "bypass pre-commit hook": ("git commit --no-verify", "git commit -n"),
    "bypass hook": ("git commit --no-verify", "git commit -n", "git push --no-verify"),
    "push tag": ("git push --tags",),
}
# Programs that run tests by themselves.
TEST_RUNNERS = (
    ("pytest", "unittest", "tox", "nox"),
    (
        *("jest", "vitest", "mocha", "npm test", "npm t", "npm run test", "pnpm test", "pnpm run test", "yarn test"),
        *("yarn run test", "bun test", "bun run test", "deno test"),
    ),
    ("go test", "gotestsum"),
    ("cargo test", "cargo nextest run"),
    ("rspec", "rails test"),
    ("phpunit",),
    ("mix test",),
    ("dotnet test",),
    ("mvn test", "gradle test", "gradlew test"),
    ("swift test",),
)
"""Groups of one language each."""
# Commands that only read, and those that end what a rule forbids to begin.
HARMLESS = {
    "git stash": ("git stash list", "git stash show"),
    "git rebase": ("git rebase --abort", "git rebase --quit"),
    "git merge": ("git merge --abort", "git merge --quit"),
    "git cherry-pick": ("git cherry-pick --abort",),
    "git worktree": ("git worktree list",),
    "git tag": ("git tag -l", "git tag --list"),
    "git config": ("git config --get", "git config --list", "git config -l"),
    "git remote": ("git remote -v", "git remote get-url"),
    "git submodule": ("git submodule status",),
}
# Uses of a reading program that no tool of the agent stands for: following a file that grows, and single bytes.
NOT_READING = {
    "tail": ("tail -f", "tail -F", "tail --follow", "tail -c"),
    "head": ("head -c",),
}
# Folders to which files are added as a matter of course: a rule against editing means the files that are there.
GROWING_FOLDERS = ("migrations", "migration", "migrate", "changelogs", "changesets", ".changeset", "snapshots")
# Tools of the agent, with the commands that they stand for; the commands pass within a pipeline.
AGENT_TOOLS = _words("read grep glob edit write multiedit")
# Words behind "import" that name no module.
NOT_MODULES = _words(
    """it them this that these those inline anything everything something stuff things lazily eagerly twice modules
    types files packages libraries dependencies symbols names functions classes circularly relatively globally
    dynamically statically data unused new another more other both all any each one code css images assets star
    wildcards defaults private internals"""
)
LOCK_FILES = (
    "*.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "bun.lockb",
    "go.sum",
)
