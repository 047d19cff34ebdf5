"""Which part of a prompt is its user's own voice, and not a page, a mail, a log or a plan that was pasted into it.

Nothing marks pasted prose, and a rule that a web page gave would be obeyed for good. So the first paragraph is the
user's, and further ones are only while the whole prompt is short and nothing in it tells of a paste; from where
somebody else is given the word, all the rest is theirs.

A prompt -> the sentences that the user says in it: without code, logs, quotations, documents and what clients add.

Called with whatever was typed or pasted; what is read of it is bounded, so a prompt of a megabyte takes a moment."""

import re
from collections.abc import Iterable, Iterator, Sequence

from claude_mem_lite.agents.injected_markup import (
    INJECTED_TAGS,
    INTERRUPTED,
    NOT_TYPED,
    NOTIFICATION,
    OWN_COMMAND,
    without_tags,
)
from claude_mem_lite.compress.prose.clean import clean, clip
from claude_mem_lite.compress.prose.markdown import passages, sentences
from claude_mem_lite.hook.private import MARK
from claude_mem_lite.lazy_regex import lazy

MAX_FIRST_LENGTH = 600
"""Length of a first paragraph that is the user's beyond doubt."""
_MAX_IN_ALL_LENGTH = 600
_MAX_LINE_LENGTH = 400
_HEADING = lazy(r"\s{0,3}#{1,6}\s")
_FENCE = lazy(r"\s{0,12}(?:```|~~~)")
_QUOTE = lazy(r"\s*>")
_NOT_PROSE = lazy(
    r"^\s*(?:at \S+[(:]|File \"|Traceback|\d+\s*[|→:]|[+-]{1,3}(?=\S)|[+]\s|diff --git|@@|[│├└┌╭╰┃$❯%✓✗⎿⏺•⨯]|\S+:\d+|#"
    r"|//|/\*|\*/|--\s|\"\"\"|(?:import|from|def|class|func|fn|const|let|var|return|if|for) .{0,200}[;:({=]$"
    r"|\[?\d{2,4}[-/:]\d\d[-/:.]|(?:\w+\.)*\w*(?:Error|Exception|Warning)\b\s*:|(?i:(?:error|warn(?:ing)?|info|debug"
    r"|fatal|trace|note)\b\s*[\]:])|\w{2,10} ERR!)|[{}\[\]\\|]{3,}|;\s*$|=>|</\w"
)
# The head of a mail, of a message in a chat, of a comment on a page.
_LETTERHEAD = lazy(
    r"\s*(?:(?:From|To|Cc|Subject|Date|Sent|Von|An|Betreff|Title|Author|Posted by)\s*: ?\S"
    r"|\W{0,2}\w[\w. -]{0,40}\s[\[(]?\d{1,2}:\d\d(?: ?[AaPp][Mm])?[\])]?\s*:?\s*$|.{1,40}\b(?:commented|wrote|replied"
    r"|posted|asked|answered)\b.{0,40}\bago\b)"
)
# "Bob: …" and then "Alice: …": a talk between others.
_SPEAKER = lazy(
    r"(?!(?:Note|Remember|Reminder|Rules?|Important|Also|Please|PS|Correction|Again|Convention|Style|Never"
    r"|Always)\b)[A-Z@][\w.-]{1,20}(?: [A-Z][\w.-]{1,20})?: \S"
)
# A prompt that gives the agent a part is written for a run without a user, or by a program.
_ROLE = lazy(
    r"(?i)[\s#*>\"-]*(?:you(?: are|'re|’re) (?:an?(?! (?:bit|little|lot|few))|now an?|acting|working as|claude|tasked"
    r"|operating|part of)\b|act as\b|acting as\b|as an? (?:expert|senior|experienced|professional|helpful|code)\b"
    r"|(?:your|the) (?:task|job|role|goal|mission|objective|assignment)\b.{0,20}\b(?:is|will be)\b"
    r"|i want you to act as\b|pretend\b|assume the role|du bist (?:ein|der|die)|deine aufgabe"
    r"|你是一[个名位]|你的任务|请扮演)"
)
_ROLE_LATER = lazy(
    r"(?i)(?:^|[.!?\n] ?)you(?: are|'re|’re) (?:an?|the) (?:[\w-]+ ){0,4}(?:(?:sub-?)?agent|assistant|reviewer|expert"
    r"|engineer|developer|architect|auditor|tester|planner|analyst|writer|bot|specialist)\b"
)
_THING = (
    r"(?:page|text|article|post|e-?mail|mail|message|comments?|feedback|review|thread|ticket|issue|spec|docs?"
    r"|documentation|readme|errors?|warnings?|outputs?|logs?|trace(?:back)?|stack ?trace|snippet|code|diff|plan|prompt"
    r"|proposal|description|paragraphs?|section|note|notes|guide|policy|report|answer|response|instructions?|rules)"
)
# "The reviewer wrote: …", "I got this feedback: …": what follows is somebody else's.
_OTHERS = lazy(
    r"(?i)\b(?:(?:feedback|review(?:er)?s?|comments?|says?|wrote|writes|reads?|messages?|errors?|outputs?|logs?"
    r"|warnings?|docs?|documentation|spec|ticket|issue|linter|ci|bot|copilot|colleague|address|look at|check|explain"
    r"|summari[sz]e|translate|proof-?read|page|article|readme|e-?mail|text|post|below|following|pasted?|schreibt|sagt"
    r"|meldet)\b(?:[^:?!.]|\.(?=\w)){0,60}|you (?:also )?(?:wrote|said|say)[^:?!.]{0,30}):(?:\s|$)"
    r"|(?:写道|报错|提示|评论|总结|翻译)[：:]"
)
# "I found this on a page. …", "Here is the error from the linter. …": so is what such a sentence introduces.
_INTRODUCES = lazy(
    rf"(?i)\b(?:found|got|read|saw|received|copied|pasted) (?:this|these|the following)\b[^.?!]{{0,40}}\b(?:on|in|from"
    rf"|by|at)\b|\bhere(?:'s|’s| is| are) (?!my\b|our\b)(?:[\w-]+ ){{0,3}}{_THING}\b|^\W*according to\b"
)
# A mail: whoever is greeted is not the agent, and whoever signs need not be its user.
_GREETING = lazy(r"(?i)(?:hi|hello|hey|dear|hallo|liebe[rs]?|moin|guten tag) (?!claude\b)[\w .-]{1,40}[,!]?\s*\n")
_SIGNATURE = lazy(
    r"(?m)^[ \t]*(?i:best(?: regards| wishes)?|(?:kind |warm )?regards|cheers|(?:many )?thanks|thank you|sincerely"
    r"|(?:viele |liebe |beste )?grü(?:ße|sse)|mit freundlichen grüßen"
    r"|gruß)[,.!–-]{0,3}\s{1,4}[A-Z]\w+(?: [A-Z]\w+)?[ \t]*$"
)
_OWN_LEAD = lazy(r"(?i)\b(?:i|my)\b[^:]{0,40}$|\b(?:no|please|remember|note|merk dir)\b[^:]{0,20}$")
# A line that hands over to the lines below it, without or with a colon.
_HANDS_DOWN = lazy(
    rf"(?i)[:：]\s*$|\b(?:see|read|as|quoted?|pasted?|listed) (?:below|this)\b|\b(?:found|got|get|read|saw|received"
    rf"|copied|pasted) (?:this|these|that|the following)\b|\b(?:here(?:'s|’s| is| are| comes)|below is)\b|\b(?:this"
    rf"|these|the following|following|an?) (?:[\w-]+ ){{0,2}}{_THING}\s*[.,;!-]*$|\bbelow\b[.!]*$"
)
_ABOUT = lazy(
    r"(?i)(?:^|[.!?,;:]\s+|\b(?:please|pls|you|and|to|just)\s+)(?:summari[sz]e|tl;?dr|translate|proof-?read|explain"
    r"|review|analy[sz]e|rephrase|shorten|check out|have a look at|comment on|thoughts\b|opinions?\b"
    r"|what do you (?:think|make)|what does (?:this|that|it|the)|what(?:'s| is) (?:this|that)\b|what about this"
    r"|is (?:this|that|it) (?:true|right|correct|good|ok|legit|safe)|do you agree|(?:does|do) (?:this|that|it"
    r"|these) (?:make|look|sound|apply)|was (?:hältst|meinst|bedeutet)|fasse?\b|übersetze?\b|erkläre?\b)"
    r"|(?:总结|翻译|解释|看看|怎么看|什么意思)"
)
_OWN_LIST = lazy(
    r"(?i)(?:^|[.!?,] )\s*(?:(?:please|also|and|so|ok|hey claude)[,:]? )*(?:remember|keep in mind|note|please"
    r"|from now on|(?:i have |here are )?(?:my |our |house |some |a few |two |three )?(?:rules|preferences"
    r"|conventions)(?: for you| here)?|(?:in|for) (?:all|every|this|my|our)\b[\w ]{0,30}|no|again|i (?:said|told you)"
    r"|merk dir)\s*[:：]\s*$|^记住[：:]\s*$"
)
_REMEMBER = lazy(
    r"(?i)(?:(?:please|pls|ok(?:ay)?|hey|claude|bitte|also)[,:]?\s+)*(?:(?:remember|keep in mind|bear in mind"
    r"|note for later|for the record|merke? dir)\b|请?记住)"
)
# What it asks about stands above it.
_LOOKS_BACK = lazy(
    r"(?i)\s*(?:(?:please|pls|so|and|ok|now|can you|could you|bitte)[,:]?\s+)*(?:(?:summari[sz]e|translate|proof-?read"
    r"|explain|review|analy[sz]e|rephrase|shorten|comment on|respond to|reply to)(?: (?:this|that|it|these|the above"
    r"|above)\b|\s*[.!?]*$)|tl;?dr|thoughts\b|(?:any )?opinions?\b|your (?:thoughts|opinion|take)\b"
    r"|(?:so )?what do you (?:think|make)|what (?:does|do) (?:this|that|it|they|these)\b|what(?:'s| is) (?:this"
    r"|that)\b|is (?:this|that|it) (?:true|right|correct|good|ok|legit|safe)|do you agree|(?:does|do) (?:this|that"
    r"|these) (?:make|look|sound|apply)|was (?:hältst|meinst|bedeutet)|(?:总结|翻译|解释|怎么看|什么意思))"
)
# It asks whether what stands above it is so, or says whose it is.
_DOUBTS = lazy(
    r"(?i)[\s–—^-]*(?:(?:so|and|but),?\s+)*(?:is (?:this|that|it) (?:true|right|correct|legit)\b|what (?:does"
    r"|do) (?:this|that|it|they|these|she|he) mean\b|(?:this|that) is what (?!(?:i|we)\b)[^.?!]{1,60}\b(?:says?|said"
    r"|wrote)\b)"
)
_URL = lazy(r"(?i)\b(?:https?|ftp)://|\bwww\.")
_LONG_QUOTATION = lazy(r"[\"“«][^\"”»]{40,}[\"”»]")
_ENDS_ASKING = lazy(r"(?i)[?？]\s*$|(?:^|\n|[.!] )(?:what|why|how|who|which|is|are|does|did)\b[^\n.!]*$")


def asks_to_remember(text: str) -> bool:
    """Whether a prompt begins by asking to keep something: that is its user's word, whatever follows."""
    return _REMEMBER.match(text) is not None


def hands_over(sentence: str) -> bool:
    """Whether somebody else has the word from here on."""
    if _INTRODUCES.search(sentence):
        return True
    found = _OTHERS.search(sentence)
    return found is not None and not _OWN_LEAD.search(sentence[: found.start()])


def own_words(text: str, max_first_length: int = MAX_FIRST_LENGTH) -> list[str]:
    """Return the paragraphs of a prompt that its user speaks; the first one up to a length."""
    if _ROLE.match(text) or _ROLE_LATER.search(text[:_MAX_IN_ALL_LENGTH]):
        return []
    if _GREETING.match(text) and _SIGNATURE.search(text):
        return []
    blocks, is_whole = _blocks(text)
    if not blocks:
        return []
    first = blocks[0]
    if len(first) > max_first_length:
        return sentences(first[:max_first_length])[:1] if asks_to_remember(first) else []
    if not asks_to_remember(first) and _asks_about_itself(blocks):
        return []
    is_own = is_whole and len(text) <= _MAX_IN_ALL_LENGTH and not _tells_of_a_paste(text, blocks)
    return blocks if is_own else [first]


def _asks_about_itself(blocks: Sequence[str]) -> bool:
    """Whether something in the prompt is about the words above it: then these are what it asks about."""
    below = "\n".join(blocks).split("\n")[1:]
    said = (sentence for block in blocks for sentence in sentences(block))
    return any(_LOOKS_BACK.match(line[:_MAX_LINE_LENGTH]) for line in below) or any(
        _DOUBTS.match(sentence[:_MAX_LINE_LENGTH]) for sentence in said
    )


def _tells_of_a_paste(text: str, blocks: Sequence[str]) -> bool:
    if _URL.search(text) or _LONG_QUOTATION.search(text):
        return True
    return any(_ENDS_ASKING.search(block) or _ABOUT.search(block) for block in blocks[:-1])


def _blocks(text: str) -> tuple[list[str], bool]:
    """The paragraphs up to where something is pasted, and whether that is all of them.

    A fence and a quotation mark have an end that can be seen, so they only part two paragraphs."""
    lines = text.split("\n")
    headings = [at for at, line in enumerate(lines) if _HEADING.match(line)]
    is_talk = sum(_SPEAKER.match(line) is not None for line in lines) > 1
    blocks: list[list[str]] = [[]]
    is_fenced, is_whole = False, len(headings) < 2
    for line in lines if is_whole else lines[: headings[0]]:
        begun = line[:_MAX_LINE_LENGTH]
        is_fence = _FENCE.match(begun) is not None
        is_fenced = is_fenced != is_fence
        if is_fence or is_fenced or _QUOTE.match(begun) or not begun.strip():
            if blocks[-1]:
                blocks.append([])
            continue
        # "from now on:" looks like code that imports something.
        is_code = _NOT_PROSE.search(begun) is not None and _OWN_LIST.search(begun) is None
        if is_code or _LETTERHEAD.match(begun) or (is_talk and _SPEAKER.match(begun)):
            is_whole = False
            break
        blocks[-1].append(line)
        if _gives_way(line[-_MAX_LINE_LENGTH:]):
            is_whole = False
            break
    return ["\n".join(block) for block in blocks if block], is_whole


def _gives_way(line: str) -> bool:
    """Whether the lines below are somebody else's, or the parts of a task: "do this: …"."""
    return _OWN_LIST.search(line) is None and (
        _HANDS_DOWN.search(line) is not None or _ABOUT.search(line) is not None or hands_over(line)
    )


_MAX_CLEANED_LENGTH = 1_000_000
_MAX_READ_LENGTH = 20_000
MAX_SENTENCE_LENGTH = 400
"""What is longer was pasted, or tells a story: nobody gives a rule in a hundred words."""
# What nobody teaches by, beside all that clients write in the user's place.
_NOT_TYPED = (
    *NOT_TYPED, OWN_COMMAND, NOTIFICATION, INTERRUPTED,
    "Operation stopped by hook", "Stop hook feedback", "Implement the following plan",
)  # fmt: skip
_NOT_SAID = (
    *INJECTED_TAGS, "command-message", "command-name", "pasted_text", "files", "file", "documents", "document",
)  # fmt: skip
_COMMAND = lazy(r"/[\w:.-]{1,60}(?:\s|$)")
# Nobody teaches by an address; a page that is pasted may well want something sent to one.
_BARE_URL = lazy(r"(?i)\b(?:https?|ftp|wss?)://|\bwww\.")
# What stands for a private span: a word of nobody, where no sentence needs it.
_PRIVATE_LINE = lazy(rf"(?m)^[ \t]*{re.escape(MARK)}[ \t.]*$")
_PRIVATE_LAST = lazy(rf"(?<=[.!?。！？])\s*{re.escape(MARK)}[\s.]*$")
_MAX_BRIEF_LENGTH = 300
_LAST_WORD = lazy(r"(?i)(?:always|ever|never|period|full stop|no exceptions?|every (?:single )?time|please)[.!]*")


def spoken(prompt: str, max_first_length: int = MAX_FIRST_LENGTH) -> list[str]:
    """Return the sentences of a prompt that its user says, in order; none of a first paragraph that is too long."""
    text = _typed(prompt)
    return [
        sentence
        for at, sentence in enumerate(_said(own_words(text, max_first_length)))
        if len(sentence) <= MAX_SENTENCE_LENGTH
        and (not _BARE_URL.search(sentence) or (at == 0 and asks_to_remember(text)))
    ]


def is_brief(prompt: str) -> bool:
    """Whether a prompt is so short that all of it is the user's voice: only then can it speak for every project."""
    return len(_typed(prompt)) <= _MAX_BRIEF_LENGTH


def _typed(prompt: str) -> str:
    """What may have been typed of a prompt; of what clients write in the user's place nothing."""
    text = prompt.lstrip()
    if text.startswith(_NOT_TYPED):
        return ""
    text = without_tags(clip(clean(clip(text, _MAX_CLEANED_LENGTH)), _MAX_READ_LENGTH), _NOT_SAID).lstrip()
    text = _PRIVATE_LINE.sub("", text)
    if command := _COMMAND.match(text):
        text = text[command.end() :]
    return text.strip()


def _said(blocks: Iterable[str]) -> Iterator[str]:
    for block in blocks:
        for passage in passages(block):
            if passage.kind not in ("text", "item"):
                continue
            # Who says "use `pnpm`" means what "use pnpm" does, and is told by the same title.
            told = _PRIVATE_LAST.sub("", passage.text.replace("`", ""))
            for sentence in _with_last_words(sentences(told)):
                if hands_over(sentence[:MAX_SENTENCE_LENGTH]):
                    return
                yield sentence


def _with_last_words(found: Sequence[str]) -> list[str]:
    """The sentences, with the word that is thrown after one: "no emojis. ever"."""
    joined: list[str] = []
    for sentence in found:
        if joined and _LAST_WORD.fullmatch(sentence):
            joined[-1] = f"{joined[-1]} {sentence}"
        else:
            joined.append(sentence)
    return joined
