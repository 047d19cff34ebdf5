"""Names of files, functions and classes in a text, by the form of the names; the names need not exist."""

from claude_mem_lite.lazy_regex import lazy

NAME = lazy(r"[A-Za-z_$][\w$]*")
CALLED = lazy(r"(?:[A-Za-z_$][\w$]*\.)+[A-Za-z_$][\w$]*|[A-Za-z_$][\w$]*(?=\(\))")
"""`discount()` and `Session.renew`: names by their form."""
CODE_NAME = lazy(r"[a-z][A-Z]|[A-Z][a-z]+[A-Z]|\w_\w|\d")
"""A word that only code has; in prose, a plain word such as `load` is no name of a function."""
_QUOTED = lazy(r"`([A-Za-z_$][\w$]*)(?:\([^`()]{0,200}\))?`")
_CALLED_WITH = lazy(r"((?:[A-Za-z_$][\w$]*\.)*[A-Za-z_$][\w$]*)\(")
_PATH = lazy(r"(?<![\w:/.])(?:[\w@.-]{1,60}/){1,12}[\w.-]{0,60}|(?<![\w:/.])[\w-]{1,60}\.[a-z]{1,5}\b(?!\()")
_NO_FILE = lazy(r"^(?:e\.g|i\.e|etc|vs|and/or|on/off|true/false|yes/no|n/a|https?)\b|^\d|\.(?:com|org|io|net|de)$")
# Endings of files without a folder: `Ledger.post` and `user.name` are code.
_FILE_ENDS = frozenset(
    """py pyi pyx js jsx mjs cjs ts tsx mts cts vue go mod sum work rs java kt kts c h cc cpp cxx hh hpp rb rake erb ex
    exs erl hs ml scala swift dart lua php pl r jl cs fs m mm sh bash zsh fish bat ps1 sql html htm css scss sass less
    svg md mdx rst txt adoc json jsonl yaml yml toml ini cfg conf env lock xml csv tsv proto tf hcl nix mk cmake bzl
    gradle log db ipynb jinja j2 tmpl tpl hbs pug zig sol png jpg gif pdf zip gz tar whl jar""".split()  # noqa: SIM905
)
GENERAL_NAMES = frozenset(
    """__init__.py __main__.py conftest.py index.html index.js index.jsx index.ts index.tsx lib.rs main.go main.py
    main.rs mod.rs readme.md setup.py types.ts utils.py utils.ts config.py config.ts test.py models.py views.py
    page.tsx layout.tsx route.ts package.json makefile dockerfile
    src lib app apps test tests docs packages pkg cmd internal public""".split()  # noqa: SIM905
)
"""Names of files and folders that a project has several times: the name alone is ambiguous."""


def files_named(text: str) -> list[str]:
    """Return the files and folders that a text names."""
    paths = (path.rstrip(".") for path in _PATH.findall(text) if not _NO_FILE.search(path))
    return [path for path in paths if "/" in path or path.rpartition(".")[2] in _FILE_ENDS]


def names_in(text: str) -> list[str]:
    """Return possible names of functions and classes: called, qualified, quoted, or no word of a language."""
    plain = (name for name in NAME.findall(text) if CODE_NAME.search(name))
    return list(dict.fromkeys((*CALLED.findall(text), *_CALLED_WITH.findall(text), *_QUOTED.findall(text), *plain)))
