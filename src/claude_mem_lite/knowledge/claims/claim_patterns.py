"""Patterns of sentences that make a claim, the words that matter in them, and the table of exclusive values.

A value outside the table excludes no other value, unless a sentence says "instead of" the value."""

import re

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.values import frozen

FILLERS = frozenset(
    """the a an our your my this that these only always just please version instead now again ever any all plain simply
    anymore more everywhere here they it is are""".split()  # noqa: SIM905
)
GENERAL = frozenset(
    "project projects repo repository codebase code everything everywhere here now always".split()  # noqa: SIM905
)


def _words(names: str) -> frozenset[str]:
    return frozenset(names.split())


@frozen
class ExclusiveValues:
    """Names of which only one holds at a time."""

    names: frozenset[str]
    verbs: frozenset[str] = frozenset()
    """Verbs that place a thing in or on a value. With other verbs the names may hold together."""
    is_for_purpose: bool = False
    """True if the names exclude each other for one purpose only, after any verb: `use floats for prices`."""

    @property
    def is_choice(self) -> bool:
        """Return True if a project chooses one of the names, whatever the verb and the purpose."""
        return not self.verbs and not self.is_for_purpose


_DATABASES = "postgres mysql mariadb sqlite mongodb oracle"
_CHOICES = (
    "npm pnpm yarn bun",
    "pip uv poetry pipenv pdm conda",
    "tab space",
    _DATABASES,
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
EXCLUSIVE_VALUES = (
    *(ExclusiveValues(_words(names)) for names in _CHOICES),
    ExclusiveValues(_words("float double integer int decimal cent string bigint number"), is_for_purpose=True),
    ExclusiveValues(
        _words("json jsonl ndjson yaml toml xml ini csv tsv text msgpack protobuf parquet avro"),
        _words("keep hold put store save write log emit print return send serialize format encode"),
        is_for_purpose=True,
    ),
    ExclusiveValues(
        _words(
            """go golang rust python typescript javascript java kotlin scala ruby php perl swift c c++ c# zig elixir
            haskell bash"""
        ),
        _words("keep write rewrite implement build port reimplement"),
    ),
    ExclusiveValues(
        _words(f"{_DATABASES} redis memcached dynamodb cassandra duckdb memory disk s3 localstorage cookie"),
        _words("keep hold put move store save persist"),
    ),
    ExclusiveValues(
        _words(
            "heroku fly.io fly aws gcp azure vercel netlify render railway digitalocean hetzner cloudflare kubernetes"
        ),
        _words("deploy ship host release publish"),
    ),
    ExclusiveValues(_words("stdout stderr syslog journald"), _words("log print write emit send")),
    ExclusiveValues(
        _words("english german french spanish italian portuguese dutch polish russian chinese japanese korean"),
        _words("answer reply respond speak write"),
    ),
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
# A website is made with many things; a store is one thing.
ROLES = frozenset(
    """backend branch broker bundler bus cache compiler database db driver editor encoding engine font format formatter
    framework hash index installer language license linter lock logger manager model orm parser port protocol provider
    proxy queue registry router runner scheduler shell storage store style theme timezone tokenizer""".split()  # noqa: SIM905
)
_TAKE = r"(?:use|uses|using|used|prefer|prefers|choose|chose|chosen|pick|picked|adopt|adopted|adopting|go with"
_TAKE += r"|went with|stick (?:with|to)|stay (?:with|on)|keep using|want|take|nutze|nutzen|benutze|benutzen"
_TAKE += r"|verwende|verwenden|nimm)"
# No verb at the end of a name: `serve.go` says nothing of going.
_GO = r"(?<![./-])"
_GO += (
    r"(?:switch|switched|switching|move|moved|moving|migrate|migrated|migrating|change|changed|changing|go|going|went"
)
_GO += r"|convert|converted|wechsle|wechseln)"
# A location, or a form: only one thing can be there.
_STORE = r"(?P<store>stor|sav|persist|represent|encod|serializ)(?:e|es|ed|ing|s)?"
_KEEP = rf"(?:{_STORE}\s+(?P<role>.+?)\s+(?:as|in|into|on|under)"
_KEEP += r"|(?P<keep>keep|kept|hold|held)s?\s+(?P<kept>.+?)\s+as"
# A cached thing is stored elsewhere.
_KEEP += r"|(?P<cached>cach(?:e|es|ed|ing)\s+.+?)\s+(?:as|in|into|on|under))"
_VERBS = "|".join(sorted({verb for values in EXCLUSIVE_VALUES for verb in values.verbs}))
_PLACE = (
    r"^(?:(?:we|i|you|please|always|now|let's|from now on|decided to|decide to|should|must|will|to)\s+)*"
    rf"(?P<verb>{_VERBS})s?\b(?P<object>(?:\s+(?!in\b|as\b|with\b|to\b|on\b|into\b)[^\s,;:.]+){{0,4}})"
    r"\s+(?:in|as|with|to|on|into)\s+"
)
_INSTEAD = r"\s*,?\s+(?:instead of|rather than|and not|not|never|no longer)\s+(?:(?:in|as|with|to|on)\s+)?"
VERB_OF = {"stor": "store", "sav": "save", "encod": "encode", "serializ": "serialize", "kept": "keep", "held": "hold"}
_NOT = r"(?:do not|don['’]?t|dont|never|must not|mustn['’]t|should not|shouldn['’]t|no longer|stop|quit|not)"
FORMS: tuple[re.Pattern[str], ...] = tuple(
    lazy(form, re.I)
    for form in (
        rf"\b{_GO}\b(?P<about>[^,;]*?)\bfrom\s+(?P<drop>.+?)\s+(?:over\s+|back\s+)?to\s+(?P<take>.+)",
        r"\b(?:replac\w+|swap\w*|substitut\w+)\s+(?P<drop>.+?)\s+(?:with|by|for)\s+(?P<take>.+)",
        rf"\binstead of\s+(?P<drop>[^,;]+?)\s*[,;]\s*{_TAKE}\s+(?P<take>.+)",
        rf"\b{_NOT}\s+(?:ever\s+)?{_TAKE}\s+(?P<drop>[^,;]+?)(?:\s*[,;]|\.\s|\s+but)\s*(?:{_TAKE}\s+)?"
        r"(?P<take>[^,;]+)",
        r"\bnot\s+(?P<drop>[^,;]+?)\s*,?\s+but\s+(?P<take>.+)",
        rf"\b{_TAKE}\s+(?P<take>[^;]+?)\s*,?\s+"
        r"(?:instead of|rather than|and not|not|never|no longer|statt|anstatt|nicht)"
        rf"\s+(?:{_TAKE}\s+)?(?P<drop>.+)",
        r"\b(?:prefer|prefers|choose|chose|pick|picked)\s+(?P<take>.+?)\s+over\s+(?P<drop>.+)",
        r"(?:改用|换成|使用|用)\s*(?P<take>[\w.+#-]+?)\s*[,，]?\s*(?:而不是|不要用|别用|不用|代替)\s*(?P<drop>[\w.+#-]+)",
        r"(?:不要|别|不再|禁止)(?:再)?(?:使用|用)\s*(?P<drop>[\w.+#-]+)",
        r"(?:改用|换成|改回|用回|使用|用)\s*(?P<take>[\w.+#-]+)",
        rf"\b{_NOT}\s+(?:ever\s+)?{_TAKE}\s+(?P<drop>.+)",
        r"^(?:avoid|drop|dropped|stop with)\s+(?:using\s+)?(?P<drop>.+)",
        r"\bkeine?n?\s+(?P<drop>\S+)\s+(?:mehr\s+)?(?:nutzen|verwenden|benutzen)",
        rf"\b(?:{_GO}\s+(?:back\s+|over\s+)?to|back to|zurück zu)\s+(?P<take>.+)",
        rf"\b(?P<verb>{_GO}|set|sets|setting)\s+(?P<role>[^,;]+?)\s+(?:over\s+|back\s+)?to\s+(?P<take>.+)",
        rf"\b{_KEEP}\s+(?P<take>[^,;]+?)\s+"
        r"(?:instead of|rather than|and not|not|statt)\s+(?P<drop>.+)",
        rf"\b{_KEEP}\s+(?P<take>.+)",
        r"^(?P<role>.+?)\s+(?:listens? on|lives? in|defaults? to|is set to|are set to"
        r"|(?:is|are)\s+(?:stored|saved|kept|held|represented|encoded)\s+(?:in|as|on|under))\s+"
        r"(?P<take>.+)",
        rf"{_PLACE}(?P<take>.+?){_INSTEAD}(?P<drop>.+)",
        rf"{_PLACE}(?P<take>.+)",
        rf"\b{_TAKE}\s+(?P<take>.+)",
        r"^(?P<about>.+?)\s+(?:is|are|must be|should be)\s+(?P<take>.+)",
    )
)
TAIL = lazy(
    r"\s+(?P<by>for|in|on|as|inside|within|when|für|because|since|so|with|from|by|to|until|via|and|or|but|which|that)\s+"
    r"|\s*[,;:.(!?–—](?:\s|$)|\s-\s",
    re.I,
)
PLACES = ("in", "on", "inside", "within", "when")
ABOUT = ("for", "in", "on", "as", "inside", "within", "when", "für")
NUMBER = lazy(r"v?\d[\d.]*[a-z%]{0,3}")
SEVERAL_AT_ONCE = frozenset(("matrix", "suite"))
"""Subjects for which several versions hold together."""


def singular(word: str) -> str:
    """Return a word without the plural ending. The result is a search word, so no other ending is removed."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
