"""Sentences of the form verb, object, `in|as|with|to|on`, value: two of them contradict each other when they say of one
object how the same is done, with values of the same sort, of which there is one at a time. Read by stances.

A sort is a list of names. Of a value that is in none nobody knows what else may stand beside it: it contradicts
nothing, unless the other sentence says "instead of" it."""

import re
from dataclasses import dataclass
from functools import lru_cache

from claude_mem_lite.lazy_regex import lazy

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
_MOST_OF_A_VALUE = 4


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
    value, instead, dropped = _split(_INSTEAD, found["value"])
    told = _AFTER_VALUE.search(dropped if instead else value)
    after = (dropped if instead else value)[told.end() :] if told and told["by"] else ""
    taken, drops = _words(_before_end(value)), _words(_before_end(dropped))
    if not 0 < len(taken) <= _MOST_OF_A_VALUE or len(drops) > _MOST_OF_A_VALUE:
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


def _split(at: re.Pattern[str], text: str) -> tuple[str, str, str]:
    found = at.search(text)
    return (text[: found.start()], found[0], text[found.end() :]) if found else (text, "", "")


def _before_end(text: str) -> str:
    return _split(_AFTER_VALUE, text)[0]


def _words(text: str) -> frozenset[str]:
    words = (word.strip(".,;:()").lower() for word in text.split())
    return frozenset(word for word in words if word and word not in _ARTICLES)


def _in_sort(words: frozenset[str], sort: frozenset[str]) -> frozenset[str]:
    """Without endings for several, as in `floats`, where the word is not a name as it stands, as `redis` is."""
    return frozenset(word if word in sort else word.removesuffix("s") for word in words)
