"""The forms of sentences that lay something down, and the words that matter in them. Read by stances.

Sentences of the form verb, object, `in|as|with|to|on`, value: two of them contradict each other when they say of one
object how the same is done, with values of the same sort, of which there is one at a time. Read by stances.

A sort is a list of names. Of a value that is in none nobody knows what else may stand beside it: it contradicts
nothing, unless the other sentence says "instead of" it.

Things of which a project uses one at a time, by families; who chooses another has left the first."""

import re
from dataclasses import dataclass
from functools import lru_cache

from claude_mem_lite.lazy_regex import lazy

FILLERS = frozenset(
    """the a an our your my this that these only always just please version instead now again ever any all plain simply
    anymore more everywhere here they it is are""".split()  # noqa: SIM905
)
GENERAL = frozenset(
    "project projects repo repository codebase code everything everywhere here now always".split()  # noqa: SIM905
)
_TAKE = r"(?:use|uses|using|used|prefer|prefers|choose|chose|chosen|pick|picked|adopt|adopted|adopting|go with"
_TAKE += r"|went with|stick (?:with|to)|stay (?:with|on)|keep using|want|take|nutze|nutzen|benutze|benutzen"
_TAKE += r"|verwende|verwenden|nimm)"
_GO = r"(?:switch|switched|switching|move|moved|moving|migrate|migrated|migrating|change|changed|changing|go|going|went"
_GO += r"|convert|converted|wechsle|wechseln)"
# Where something is put, or as what: that is one place, and only one thing can be there.
_STORE = r"(?:stor|sav|persist|represent|encod|serializ)(?:e|es|ed|ing|s)?"
_KEEP = rf"(?:{_STORE}\s+(?P<role>.+?)\s+(?:as|in|into|on|under)|(?:keep|kept|hold|held)s?\s+(?P<kept>.+?)\s+as"
# What is cached somewhere is stored somewhere else.
_KEEP += r"|(?P<cached>cach(?:e|es|ed|ing)\s+.+?)\s+(?:as|in|into|on|under))"
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
        rf"\b(?:{_GO}|set|sets|setting)\s+(?P<role>[^,;]+?)\s+(?:over\s+|back\s+)?to\s+(?P<take>.+)",
        rf"\b{_KEEP}\s+(?P<take>[^,;]+?)\s+"
        r"(?:instead of|rather than|and not|not|statt)\s+(?P<drop>.+)",
        rf"\b{_KEEP}\s+(?P<take>.+)",
        r"^(?P<role>.+?)\s+(?:listens? on|lives? in|defaults? to|is set to|are set to"
        r"|(?:is|are)\s+(?:stored|saved|kept|held|represented|encoded)\s+(?:in|as|on|under))\s+"
        r"(?P<take>.+)",
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
"""Where versions stand beside each other."""


def stem(word: str) -> str:
    """A word without the ending for several."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


_FORMAT_VERBS = "keep hold put store save write log emit print return send serialize format encode"
_LANGUAGE_VERBS = "keep write rewrite implement build port reimplement"
_STORE_VERBS = "keep hold put move store save persist"
_HOST_VERBS = "deploy ship host release publish"
_SPEECH_VERBS = "answer reply respond speak write"
_STREAM_VERBS = "log print write emit send"


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


FORMATS = _set("json jsonl ndjson yaml toml xml ini csv tsv text msgpack protobuf parquet avro")
NUMBERS = _set("float double integer int decimal cent string bigint number")
_LANGUAGES = _set(
    "go golang rust python typescript javascript java kotlin scala ruby php perl swift c c++ c# zig elixir haskell bash"
)
_STORES = _set(
    """sqlite postgres postgresql mysql mariadb mongodb mongo redis memcached dynamodb cassandra duckdb memory disk s3
    localstorage cookie"""
)
_HOSTS = _set(
    "heroku fly.io fly aws gcp azure vercel netlify render railway digitalocean hetzner cloudflare kubernetes"
)
_STREAMS = _set("stdout stderr syslog journald")
_TONGUES = _set("english german french spanish italian portuguese dutch polish russian chinese japanese korean")

SORTS: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
    (FORMATS, _set(_FORMAT_VERBS)),
    (_LANGUAGES, _set(_LANGUAGE_VERBS)),
    (_STORES, _set(_STORE_VERBS)),
    (_HOSTS, _set(_HOST_VERBS)),
    (_STREAMS, _set(_STREAM_VERBS)),
    (_TONGUES, _set(_SPEECH_VERBS)),
)
"""Names of which one is used at a time, and the verbs with which they are."""
_VERBS = sorted({verb for _, verbs in SORTS for verb in verbs})
_FORM = lazy(
    r"(?i)^(?:(?:we|i|you|please|always|now|let's|from now on|decided to|decide to|should|must|will|to)\s+)*"
    rf"(?P<verb>{'|'.join(_VERBS)})s?\b(?P<object>(?:\s+(?!in\b|as\b|with\b|to\b|on\b|into\b)[^\s,;:.]+){{0,4}})"
    r"\s+(?:in|as|with|to|on|into)\s+(?P<value>.+)"
)
_INSTEAD = lazy(r"(?i)\s*,?\s+(?:instead of|rather than|and not|not|never|no longer)\s+(?:(?:in|as|with|to|on)\s+)?")
_AFTER_VALUE = lazy(r"(?i)\s+(?P<by>for|in|on|when|inside|within|as)\s+|\s*[,;:(!?](?:\s|$)|\.(?:\s|$)|\s+-\s")
_ARTICLES = _set("a an the our my your all plain simply just only always")
_MAX_OF_A_VALUE = 4


@dataclass(frozen=True, slots=True)
class Way:
    """How something is done: `keep`, `config`, `yaml`."""

    verb: str
    about: frozenset[str]
    """The object, and what is said of where this holds."""
    value: frozenset[str]
    drops: frozenset[str] = frozenset()


@lru_cache(maxsize=2_048)
def way_of(sentence: str) -> Way | None:
    """How a sentence says that something is done; None: it says nothing of the kind."""
    found = _FORM.match(" ".join(sentence.replace("`", "").split()))
    if found is None:
        return None
    value, instead, dropped = _split_claim(_INSTEAD, found["value"])
    told = _AFTER_VALUE.search(dropped if instead else value)
    after = (dropped if instead else value)[told.end() :] if told and told["by"] else ""
    taken, drops = _words(_before_end(value)), _words(_before_end(dropped))
    if not 0 < len(taken) <= _MAX_OF_A_VALUE or len(drops) > _MAX_OF_A_VALUE:
        return None
    return Way(found["verb"].lower(), _words(f"{found['object']} {after}"), taken, drops)


def differ(one: Way | None, other: Way | None) -> bool:
    """Whether two sentences say of the same that it is done in two ways of which only one can be."""
    if one is None or other is None or one.about != other.about:
        return False
    if not one.about and one.verb != other.verb:
        return False
    if (one.verb == other.verb) and (one.drops == other.value or other.drops == one.value):
        return True
    return any(
        {one.verb, other.verb} <= verbs and are_of_one_sort(one.value, other.value, sort) for sort, verbs in SORTS
    )


def are_of_one_sort(one: frozenset[str], other: frozenset[str], sort: frozenset[str]) -> bool:
    """Whether two values are different ones of a sort, and nothing else."""
    ours, theirs = _in_sort(one, sort), _in_sort(other, sort)
    return bool(ours and theirs) and ours <= sort and theirs <= sort and not ours & theirs


def _split_claim(at: re.Pattern[str], text: str) -> tuple[str, str, str]:
    found = at.search(text)
    return (text[: found.start()], found[0], text[found.end() :]) if found else (text, "", "")


def _before_end(text: str) -> str:
    return _split_claim(_AFTER_VALUE, text)[0]


def _words(text: str) -> frozenset[str]:
    words = (word.strip(".,;:()").lower() for word in text.split())
    return frozenset(word for word in words if word and word not in _ARTICLES)


def _in_sort(words: frozenset[str], sort: frozenset[str]) -> frozenset[str]:
    """Without endings for several, as in `floats`, where the word is not a name as it stands, as `redis` is."""
    return frozenset(word if word in sort else word.removesuffix("s") for word in words)


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
