"""A prompt -> the user's own sentences, without pasted pages, mails, logs, plans, code and texts of the client.

Nothing marks pasted prose, and an agent would follow a rule of a web page for ever. So the first paragraph is the
user's; further paragraphs are the user's only in a short prompt without signs of a paste. All text behind an
introduction of somebody else's text is foreign. Prompts may be long: only a limited part is read."""

import re
from collections.abc import Iterable, Iterator, Sequence

from claude_mem_lite.agents.claude_code import (
    INJECTED_TAGS,
    INTERRUPTED,
    NOT_TYPED,
    NOTIFICATION,
    OWN_COMMAND,
    TEAMMATE,
    without_tags,
)
from claude_mem_lite.compress.prose.clean import clean, clip
from claude_mem_lite.compress.prose.markdown import markdown_blocks, sentences
from claude_mem_lite.hook.private import MARK
from claude_mem_lite.lazy_regex import lazy

MAX_FIRST_LENGTH = 600
"""Maximum length of a first paragraph that is certainly the user's."""
_MAX_PROMPT_LENGTH = 600
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
# "Bob: …" and then "Alice: …": a conversation of other people.
_SPEAKER = lazy(
    r"(?!(?:Note|Remember|Reminder|Rules?|Important|Also|Please|PS|Correction|Again|Convention|Style|Never"
    r"|Always)\b)[A-Z@][\w.-]{1,20}(?: [A-Z][\w.-]{1,20})?: \S"
)
# A prompt that assigns a role to the agent is written for a run without a user, or by a program.
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
# "The reviewer wrote: …", "I got this feedback: …": the rest is foreign text.
_QUOTES_OTHERS = lazy(
    r"(?i)\b(?:(?:feedback|review(?:er)?s?|comments?|says?|wrote|writes|reads?|messages?|errors?|outputs?|logs?"
    r"|warnings?|docs?|documentation|spec|ticket|issue|linter|ci|bot|copilot|colleague|address|look at|check|explain"
    r"|summari[sz]e|translate|proof-?read|page|article|readme|e-?mail|text|post|below|following|pasted?|schreibt|sagt"
    r"|meldet)\b(?:[^:?!.]|\.(?=\w)){0,60}|you (?:also )?(?:wrote|said|say)[^:?!.]{0,30}):(?:\s|$)"
    r"|(?:写道|报错|提示|评论|总结|翻译)[：:]"
)
# "I found this on a page. …", "Here is the error from the linter. …": the rest is foreign text, too.
_INTRODUCES = lazy(
    rf"(?i)\b(?:found|got|read|saw|received|copied|pasted) (?:this|these|the following)\b[^.?!]{{0,40}}\b(?:on|in|from"
    rf"|by|at)\b|\bhere(?:'s|’s| is| are) (?!my\b|our\b)(?:[\w-]+ ){{0,3}}{_THING}\b|^\W*according to\b"
)
# A mail: the addressee is not the agent, and the author need not be the user.
_GREETING = lazy(r"(?i)(?:hi|hello|hey|dear|hallo|liebe[rs]?|moin|guten tag) (?!claude\b)[\w .-]{1,40}[,!]?\s*\n")
_SIGNATURE = lazy(
    r"(?m)^[ \t]*(?i:best(?: regards| wishes)?|(?:kind |warm )?regards|cheers|(?:many )?thanks|thank you|sincerely"
    r"|(?:viele |liebe |beste )?grü(?:ße|sse)|mit freundlichen grüßen"
    r"|gruß)[,.!–-]{0,3}\s{1,4}[A-Z]\w+(?: [A-Z]\w+)?[ \t]*$"
)
_OWN_LEAD = lazy(r"(?i)\b(?:i|my)\b[^:]{0,40}$|\b(?:no|please|remember|note|merk dir)\b[^:]{0,20}$")
# A line that introduces the lines below, with or without a colon.
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
# A question or order about the text above.
_ASKS_ABOVE = lazy(
    r"(?i)\s*(?:(?:please|pls|so|and|ok|now|can you|could you|bitte)[,:]?\s+)*(?:(?:summari[sz]e|translate|proof-?read"
    r"|explain|review|analy[sz]e|rephrase|shorten|comment on|respond to|reply to)(?: (?:this|that|it|these|the above"
    r"|above)\b|\s*[.!?]*$)|tl;?dr|thoughts\b|(?:any )?opinions?\b|your (?:thoughts|opinion|take)\b"
    r"|(?:so )?what do you (?:think|make)|what (?:does|do) (?:this|that|it|they|these)\b|what(?:'s| is) (?:this"
    r"|that)\b|is (?:this|that|it) (?:true|right|correct|good|ok|legit|safe)|do you agree|(?:does|do) (?:this|that"
    r"|these) (?:make|look|sound|apply)|was (?:hältst|meinst|bedeutet)|(?:总结|翻译|解释|怎么看|什么意思))"
)
# A doubt about the text above, or its source.
_DOUBTS = lazy(
    r"(?i)[\s–—^-]*(?:(?:so|and|but),?\s+)*(?:is (?:this|that|it) (?:true|right|correct|legit)\b|what (?:does"
    r"|do) (?:this|that|it|they|these|she|he) mean\b|(?:this|that) is what (?!(?:i|we)\b)[^.?!]{1,60}\b(?:says?|said"
    r"|wrote)\b)"
)
_URL = lazy(r"(?i)\b(?:https?|ftp)://|\bwww\.")
_LONG_QUOTATION = lazy(r"[\"“«][^\"”»]{40,}[\"”»]")
_ENDS_ASKING = lazy(r"(?i)[?？]\s*$|(?:^|\n|[.!] )(?:what|why|how|who|which|is|are|does|did)\b[^\n.!]*$")
_MAX_CLEANED_LENGTH = 1_000_000
_MAX_READ_LENGTH = 20_000
MAX_SENTENCE_LENGTH = 400
"""A longer sentence was pasted, or tells a story: nobody states a rule in a hundred words."""
# Texts without lessons, beside the texts that clients write in the user's place.
_NOT_TYPED = (
    *NOT_TYPED, OWN_COMMAND, NOTIFICATION, TEAMMATE, INTERRUPTED,
    "Operation stopped by hook", "Stop hook feedback", "Implement the following plan",
)  # fmt: skip
_REMOVED_TAGS = (
    *INJECTED_TAGS, "command-message", "command-name", "pasted_text", "files", "file", "documents", "document",
)  # fmt: skip
_COMMAND = lazy(r"/[\w:.-]{1,60}(?:\s|$)")
# No lesson contains an address; a pasted page may ask to send something to an address.
_BARE_URL = lazy(r"(?i)\b(?:https?|ftp|wss?)://|\bwww\.")
# Placeholder of a private span, where no sentence needs it.
_PRIVATE_LINE = lazy(rf"(?m)^[ \t]*{re.escape(MARK)}[ \t.]*$")
_PRIVATE_LAST = lazy(rf"(?<=[.!?。！？])\s*{re.escape(MARK)}[\s.]*$")
_MAX_BRIEF_LENGTH = 300
_LAST_WORD = lazy(r"(?i)(?:always|ever|never|period|full stop|no exceptions?|every (?:single )?time|please)[.!]*")


def own_sentences(prompt: str, max_first_length: int = MAX_FIRST_LENGTH) -> list[str]:
    """Return the user's own sentences of a prompt, in order; none for a first paragraph that is too long."""
    text = _typed(prompt)
    return [
        sentence
        for at, sentence in enumerate(_sentences(own_paragraphs(text, max_first_length)))
        if len(sentence) <= MAX_SENTENCE_LENGTH
        and (not _BARE_URL.search(sentence) or (at == 0 and asks_to_remember(text)))
    ]


def is_brief(prompt: str) -> bool:
    """Return whether a prompt is so short that all text is the user's: only then can a lesson hold everywhere."""
    return len(_typed(prompt)) <= _MAX_BRIEF_LENGTH


def _typed(prompt: str) -> str:
    """Return the text of a prompt that the user may have typed; '' for a text of the client."""
    text = prompt.lstrip()
    if text.startswith(_NOT_TYPED):
        return ""
    text = without_tags(clip(clean(clip(text, _MAX_CLEANED_LENGTH)), _MAX_READ_LENGTH), _REMOVED_TAGS).lstrip()
    text = _PRIVATE_LINE.sub("", text)
    if command := _COMMAND.match(text):
        text = text[command.end() :]
    return text.strip()


def _sentences(paragraphs: Iterable[str]) -> Iterator[str]:
    """Yield the sentences of paragraphs, up to a sentence that introduces foreign text."""
    blocks = (block for paragraph in paragraphs for block in markdown_blocks(paragraph))
    for block in blocks:
        if block.kind not in ("text", "item"):
            continue
        # "use `pnpm`" means the same as "use pnpm", and gets the same title.
        text = _PRIVATE_LAST.sub("", block.text.replace("`", ""))
        for sentence in _with_last_words(sentences(text)):
            if introduces_foreign_text(sentence[:MAX_SENTENCE_LENGTH]):
                return
            yield sentence


def _with_last_words(texts: Sequence[str]) -> list[str]:
    """Return the sentences, each joined with a last word: "no emojis. ever"."""
    joined: list[str] = []
    for sentence in texts:
        if joined and _LAST_WORD.fullmatch(sentence):
            joined[-1] = f"{joined[-1]} {sentence}"
        else:
            joined.append(sentence)
    return joined


def asks_to_remember(text: str) -> bool:
    """Return whether a prompt begins with a request to remember, which is always the user's own."""
    return _REMEMBER.match(text) is not None


def introduces_foreign_text(sentence: str) -> bool:
    if _INTRODUCES.search(sentence):
        return True
    match = _QUOTES_OTHERS.search(sentence)
    return match is not None and not _OWN_LEAD.search(sentence[: match.start()])


def own_paragraphs(text: str, max_first_length: int = MAX_FIRST_LENGTH) -> list[str]:
    """Return the user's own paragraphs of a prompt, the first up to a length."""
    if _ROLE.match(text) or _ROLE_LATER.search(text[:_MAX_PROMPT_LENGTH]):
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
    is_own = is_whole and len(text) <= _MAX_PROMPT_LENGTH and not _has_paste(text, blocks)
    return blocks if is_own else [first]


def _asks_about_itself(blocks: Sequence[str]) -> bool:
    """Return whether a part of the prompt asks about the text above, which is then foreign."""
    below = "\n".join(blocks).split("\n")[1:]
    texts = (sentence for block in blocks for sentence in sentences(block))
    return any(_ASKS_ABOVE.match(line[:_MAX_LINE_LENGTH]) for line in below) or any(
        _DOUBTS.match(sentence[:_MAX_LINE_LENGTH]) for sentence in texts
    )


def _has_paste(text: str, blocks: Sequence[str]) -> bool:
    if _URL.search(text) or _LONG_QUOTATION.search(text):
        return True
    return any(_ENDS_ASKING.search(block) or _ABOUT.search(block) for block in blocks[:-1])


def _blocks(text: str) -> tuple[list[str], bool]:
    """Return the paragraphs before a paste, and whether the prompt has no paste.

    Fences and quotations have a visible end, so they only separate two paragraphs."""
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
        # "from now on:" looks like an import.
        is_code = _NOT_PROSE.search(begun) is not None and _OWN_LIST.search(begun) is None
        if is_code or _LETTERHEAD.match(begun) or (is_talk and _SPEAKER.match(begun)):
            is_whole = False
            break
        blocks[-1].append(line)
        if _introduces_paste(line[-_MAX_LINE_LENGTH:]):
            is_whole = False
            break
    return ["\n".join(block) for block in blocks if block], is_whole


def _introduces_paste(line: str) -> bool:
    """Return whether a line introduces foreign text or parts of a task: "do this: …"."""
    return _OWN_LIST.search(line) is None and (
        _HANDS_DOWN.search(line) is not None or _ABOUT.search(line) is not None or introduces_foreign_text(line)
    )
