"""Things of which a project uses one at a time, by families; who chooses another has left the first."""

# Two that are not in one family may well be used together.
FAMILIES: tuple[frozenset[str], ...] = tuple(
    frozenset(family.split())
    for family in (
        "npm pnpm yarn bun",
        "pip uv poetry pipenv pdm conda",
        "tab space",
        "postgres mysql mariadb sqlite mongodb oracle",
        "jest vitest mocha jasmine",
        "pytest unittest nose",
        "webpack vite rollup parcel",
        "black yapf autopep8",
        "rest graphql grpc",
        "redux zustand mobx",
        "redis memcached",
        "merge rebase squash",
        "snake_case camelcase kebab-case pascalcase",
        "main master trunk",
        "docker podman",
        "flask django fastapi",
        "react vue svelte angular",
        "celery rq dramatiq",
        "maven gradle",
        "utc localtime",
        "single double",
    )
)
SAME_NAMES = {
    "postgresql": "postgres",
    "spaces": "space",
    "tabs": "tab",
    "camel": "camelcase",
    "mongo": "mongodb",
    "squashing": "squash",
    "rebasing": "rebase",
    "merging": "merge",
}
# A website is made with many things, a store of one.
ROLES = frozenset(
    """backend branch broker bundler bus cache compiler database db driver editor encoding engine font format formatter
    framework hash index installer language license linter lock logger manager model orm parser port protocol provider
    proxy queue registry router runner scheduler shell storage store style theme timezone tokenizer""".split()  # noqa: SIM905
)
