"""Role of a project in one sentence: the description in a manifest, else the beginning of the README.

A description may be an injection attempt, and the start context shows the description to an agent. So only a harmless
form is accepted: one English sentence about a thing, in plain letters, without an addressee, a demand or a link. A
doubtful sentence is dropped."""

import re
import unicodedata
from collections.abc import Iterator

from claude_mem_lite.code.manifests.manifest_files import READMES, ManifestFolder
from claude_mem_lite.compress.prose.markdown import markdown_blocks, plain, sentences
from claude_mem_lite.compress.prose.sentence_types import reads_like_an_order
from claude_mem_lite.compress.prose.verbs import BASES
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.text import one_line, within

MAX_LENGTH = 160
_MAX_READ_LENGTH = 4 * MAX_LENGTH
_MIN_WORDS = 4
_MAX_WORD_LENGTH = 40
_ENDS = " ,;:.!(–—-"
_ALIKE = str.maketrans("’‘“”", "''\"\"")
_USER_INTERFACE = lazy(r"\buser (?=interfaces?\b)")
_WORD = lazy(r"[a-z']+")
_LETTERS = lazy(r"[A-Za-z0-9 .,;:'\"()/+&%_–—…-]*")
_SHARP = lazy(r"\b([CFJ])#(?!\w)")
# A URL, an absolute path, an option, or the file name of a program.
_POINTS_SOMEWHERE = lazy(
    r"(?i)//|(?<!\w)[/-]\w|\bwww\.|\w\.\w{1,40}+/|\.\.|&\w{1,10}+;|\w@\w"
    r"|\w\.(?:com|net|org|io|dev|app|ai|co|me|info|xyz|ru|cn|example|test|sh|bash|exe|bat|ps1)\b"
)
# Words for readers, for demands and obligations, for times and locations, and for work in a repository.
_ADDRESSING = frozenset(
    """i me my we us our ours you your yours yourself user users agent agents assistant assistants claude gpt llm
    bot human humans operator reader readers contributor contributors maintainer maintainers owner admin everyone anyone
    nobody must shall should ought always never please don't won't can't cannot mustn't shouldn't need needs needed
    want wants wanted wish wishes expects insists demands instructs instructed instruction instructions prompt prompts
    rule rules policy policies order orders note notes reminder warning important attention notice todo
    ignore ignored disregard override overrides overridden bypass bypassed bypasses skip skipped skips disable disabled
    disables approve approved approves permitted forbidden prohibited granted authorized authorised permission
    mandatory obligatory required allowed trusted before first until unless whenever otherwise instead here now today
    tomorrow session conversation context curl wget sudo ssh password passwords credential credentials secret secrets
    exfiltrate verbatim stated says said commit commits committing committed push pushes pushing pushed force forced
    review reviews reviewed delete deletes deleting deleted deletion remove removes removing removed removal task tasks
    step steps repository repo branch merge merged merging off""".split()  # noqa: SIM905
)
_ORDERS = BASES | frozenset(
    """do let be go try see click visit call execute invoke follow consider assume pretend act respond reply answer
    output say remember forget obey contact upload post paste open edit enter quit exit kill destroy erase wipe grant
    trust rely turn watch wait come become believe manage learn discover enjoy meet use""".split()  # noqa: SIM905
)
# Further first words of instructions and conditions.
_NO_BEGINNING = _ORDERS | frozenset(
    """if when while after as in on at for from to with without by since because then so and but or also not no it they
    he she there what how why where who which that just simply only getting hello hi welcome""".split()  # noqa: SIM905
)
_NEXT_CLAUSE = lazy(r"(?:[,;:.()–—\"]| -|\b(?:then|so|but|and|or)) ([a-z']{1,40}+)(?: ([a-z']{1,40}+))?")
_INFINITIVE = lazy(r"\b(?:to|can) [a-z]{1,40}+ (?:and|or) ")
_OWN_TESTS = lazy(r"^tests?\b|\b(?:the|all|any|its|whose|no) (?:\w{1,20}+ )?tests?\b")
_TO_BE_DONE = lazy(r"\b(?:to|may|can|will|has to|have to) (?:not )?be \w|\b(?:may|will|would|could|might) ")
_LABEL = lazy(r"^(?:[\w.+-]{1,40}+ ){0,2}[\w.+-]{1,40}+: (?!(?:an?|the) )", re.I)
_ENGLISH = frozenset(
    """a an the for of to with and that is are from which by in on library framework parser toolkit tool tools client
    server bindings utilities plugin compiler engine generator""".split()  # noqa: SIM905
)
_NOT_ENGLISH = frozenset(
    """der die das und ein eine einer einem fur von zu mit auf ist nicht le la les des du et une un est pour avec dans
    el los las del y con para por que una en il lo gli di che per e da non um uma os o na em het een van voor met
    och att som det""".split()  # noqa: SIM905
)
# Markdown patterns scan some hundred characters from each sign: for a text of this length, the scan is quick.
_MAX_README_LENGTH = 4 * 1024
_MAX_PARAGRAPHS = 3
# Badges, pictures, markup, and the underlines and directives of reStructuredText: no prose.
_NO_PROSE = lazy(r"(?:<|\[!\[|!\[|\[[^\]]{1,150}+\]:|\.\. |:\w{1,40}+:|[=~^\"'#*+-]{3,200}+$|\{%|---)")
_INDENT = lazy(r" {0,8}+")
_XML_DESCRIPTION = lazy(r"<description>([^<]{1,600}+)</description>")
_SETUP_DESCRIPTION = lazy(r"description[ \t]{0,8}+=[ \t]{0,8}+(?!file:)(\S.{0,190}+)")


def description(text: str) -> str:
    """Return the first sentence of a text if the sentence describes a thing, else ''."""
    sentence = _SHARP.sub(r"\1-sharp", one_line(_visible(text[:_MAX_READ_LENGTH])))
    sentence = next(iter(sentences(sentence)), "").strip(_ENDS)
    is_safe = _describes(sentence) and not reads_like_an_order(sentence) and redact(sentence) == sentence
    return within(sentence, MAX_LENGTH) if is_safe else ""


def _visible(text: str) -> str:
    """Return the text normalised, without accents, pictures and invisible characters; white space becomes blanks."""
    apart = unicodedata.normalize("NFKD", text.translate(_ALIKE))
    kept = (" " if char.isspace() else char for char in apart if char.isspace() or not _is_unseen(char))
    return "".join(kept)


def _is_unseen(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Me", "So")


def _describes(sentence: str) -> bool:
    words = _WORD.findall(_USER_INTERFACE.sub("", sentence.lower()))
    if len({word for word in words if len(word) > 1}) < _MIN_WORDS - 1 or len(words) < _MIN_WORDS:
        return False
    if not _LETTERS.fullmatch(sentence) or not _is_closed(sentence):
        return False
    if words[0] in _NO_BEGINNING or _ADDRESSING & set(words) or not _is_english(words):
        return False
    if _POINTS_SOMEWHERE.search(sentence) or _LABEL.match(sentence) or _TO_BE_DONE.search(sentence.lower()):
        return False
    if _OWN_TESTS.search(sentence.lower()) or any(len(word) > _MAX_WORD_LENGTH for word in sentence.split()):
        return False
    return not _continues_as_instruction(sentence.lower())


def _is_english(words: list[str]) -> bool:
    """Return True if a sentence is English: an instruction in another language would not be recognised."""
    return bool(_ENGLISH & set(words)) and not _NOT_ENGLISH & set(words)


def _is_closed(sentence: str) -> bool:
    """Return True if brackets and quotes are balanced: an unbalanced closing sign could end the line around the
    sentence."""
    depth = 0
    for char in sentence:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0 and sentence.count('"') % 2 == 0


def _continues_as_instruction(sentence: str) -> bool:
    """Return True if a later clause begins like an instruction: "A fine till, run the tests". "To count and print" is
    no instruction."""
    for found in _NEXT_CLAUSE.finditer(sentence):
        is_verb = found[1] in _ORDERS and (found[2] is None or found[2] not in ("is", "are"))
        if is_verb and not _INFINITIVE.search(sentence, max(0, found.start() - 60), found.end()):
            return True
    return False


def role(root: ManifestFolder) -> str:
    """Return the role in one sentence; '' if no sentence describes a thing."""
    return next((sentence for text in _descriptions(root) if (sentence := description(text))), "")


def _descriptions(root: ManifestFolder) -> Iterator[str]:
    """Yield candidate texts, most reliable first."""
    project = root.table("pyproject.toml")
    yield _unmarked(project.at("project", "description").text())
    yield _unmarked(project.at("tool", "poetry", "description").text())
    yield from (_unmarked(found[1]) for line in root.lines("setup.cfg") if (found := _SETUP_DESCRIPTION.match(line)))
    yield _unmarked(root.table("package.json").at("description").text())
    yield _unmarked(root.table("Cargo.toml").at("package", "description").text())
    yield _unmarked(root.table("composer.json").at("description").text())
    found = _XML_DESCRIPTION.search(root.text("pom.xml"))
    yield found[1] if found else ""
    readme = next((root.lines(name) for name in READMES if root.text(name)), [])
    paragraphs = [passage.text for passage in markdown_blocks(_prose(readme)) if passage.kind in ("text", "quote")]
    yield from paragraphs[:_MAX_PARAGRAPHS]


def _unmarked(text: str) -> str:
    """Return a text as one line without markdown. Commands keep their backticks, and so get refused."""
    return plain(one_line(text[:1000]))


def _prose(lines: list[str]) -> str:
    """Return the beginning of a README, without lines of markup and with single blanks within lines."""
    kept: list[str] = []
    length = 0
    for line in lines:
        text = one_line(line)
        indent = _INDENT.match(line)
        kept.append("" if not text or _NO_PROSE.match(text) else (indent[0] if indent else "") + text)
        length += len(kept[-1])
        if length > _MAX_README_LENGTH:
            break
    return "\n".join(kept)
