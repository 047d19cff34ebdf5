"""Lessons in German and Chinese sentences. Chinese has no spaces: its patterns match the words of an order anywhere."""

from claude_mem_lite.compress.lessons.lesson import GENERAL, ONCE, REPEATED, Lesson, order
from claude_mem_lite.lazy_regex import lazy

_CHINESE_QUESTION = lazy(r"[？?]\s*$|吗[。！]?$|呢[。！]?$|为什么|怎么|能不能|是不是|是否|可不可以|要不要")
_CHINESE_OF_THE_PROGRAM = lazy(r"按钮|标题|页面|价格|颜色|红色|蓝色|绿色|显示|左边|右边|弹窗")
_CHINESE_APPROVAL = lazy(r"(?:可以了|没事|没关系|好的|不用了|就行|就好|不要紧|别担心|不要担心|别着急|不客气)")
_CHINESE_THIS_ONCE = lazy(
    r"先(?:不要|别|不用)|暂时|这次|现在(?:先)?(?:不要|别)|目前|先(?:给|让|等|问|看|跟|和)|等(?:我|一下|会)|再说"
)
_FILLER = lazy(r"^(?:不对?|不是这样|错了|请|那|嗯|好|但是?|所以|还有|另外|对了)\s*[，,。！!：:]\s*")
_NO = lazy(r"^(?:不|不对|不是|不是这样|错了|这不对|这样不对)\s*[，,。！!：:]\s*(?=.{3})")
_AGAIN = lazy(
    r"^(?:我)(?:不是)?(?:已经|之前|早就|刚才|都)?(?:说过|说了|告诉过你|跟你说过|强调过|提醒过你)(?:了)?\s*[，,：:]?\s*"
)
_BOTH = lazy(
    r"(?:不要|别|不应该|不该)再?用.{1,40}?[，,；;。]\s*(?:而是|应该|要|请|改)*用|用.{1,40}?[，,]?\s*(?:而不是|不要用?|别用?|不是)|(放|写|叫|存"
    r"|加).{1,40}?[，,]\s*(?:而)?(?:不要|别|不是|不能)\1"
)
_SHOULD = lazy(r"^不是.{1,40}?[，,]\s*(?:而)?是|(?:应该|应当|要).{1,60}(?:而不是|，不是|,不是|不要)")
_DONT = lazy(r"^(?:请|以后|再也|都|你)*(?:不要再?|别再?|不准|不许|不能再|停止)(?=.{2})")
_CHINESE_NEVER = lazy(r"^(?:请|以后|你)*(?:千万|绝对|永远|绝|从)(?:都)?(?:不要|不能|不准|不可以?|别|不)|^禁止|^严禁")
_ALWAYS = lazy(
    r"^(?:请|以后|从现在起|今后)*(?:一律|总是|始终|一直|必须|务必|每次都?要?|以后都?要?|从现在起|今后)(?!报|出错|出现|失败|返回|显示|崩)"
)
_CHINESE_WE = lazy(
    r"^(?:在?(?:我们|咱们|本|这个|该)(?:的)?(?:项目|仓库|团队|代码库|公司)?(?:里面?|中|这里|这边)?).{0,20}?(?:一律|总是|始终|统一|都用|都是|从不|不用|只用|一直用|习惯|约定)"
)
_CHINESE_WISH = lazy(r"^我(?:更|比较|还是)?(?:喜欢|偏好|倾向于?|不喜欢|讨厌|希望你(?:以后|总是|每次|不要))")
_DEED_FIRST = lazy(
    r"^(?!用户|页面|按钮|客户|它|他)[^，。]{1,12}(?:必须|一律|统一|务必)(?:用|写|放|加|有|经过|通过|使用)|^(?:所有|每个|每次|任何).{1,30}(?:必须|都要|务必|不能|不得)"
    r"|(?:之前|以前|前).{0,6}(?:要|必须|务必|得)先|^(?:提交|部署|合并|发布|推送).{0,10}(?:要|必须|务必|得)"
)
_QUESTION = lazy(
    r"(?i)(?:kannst|könntest|kann|könnte|sollen|soll|hast|habt|ist|sind|gibt|warum|wieso|was|wie|wer|wo|wann|welche\w*"
    r"|weißt|wenn|falls|sobald|ja)\b|.*\?\s*$"
)
_APPROVAL = lazy(
    r"(?i)(?:das|so|es|alles)(?: \w+)? (?:passt|ist (?:ok|okay|gut|so ok|richtig)|geht|stimmt|gut|reicht)|danke"
    r"|noch nicht|keine (?:ahnung|sorge)|ich (?:hab|habe|weiß|bin|glaube|denke)"
)
_THIS_ONCE = lazy(r"(?i)\b(?:noch nichts?|erstmal|vorerst|jetzt noch|im moment|diesmal|nichts)\b")
_DO = (
    r"(?:nimm|nutze?|benutze?|verwende?|mache?|schreibe?|setze?|lege?|rufe?|lasse?|fasse?|ändere?|lösche?|committe?"
    r"|pushe?)"
)
_RATHER = lazy(rf"(?i){_DO} .{{1,150}}?(?: statt | anstatt | anstelle |,? und nicht |, nicht )")
_DO_NOT = lazy(rf"(?i)(?:{_DO} .{{0,150}}\b(?:nicht|kein\w*|nie)\b|(?:keine?n?|nicht) .{{2,150}}\w+en[.!]*$)")
_NEVER = lazy(r"(?i)(?:nie|niemals|auf keinen fall|immer|stets) .{2,200}\w+en\b")
_WE = lazy(
    r"(?i)wir (?!haben|müssen|brauchen|sollten|könnten|hätten|wollten)\w+en\b.{0,200}\b(?:immer|nie|niemals|hier"
    r"|grundsätzlich|stets|in diesem (?:projekt|repo)|bei uns|nicht|kein\w*)\b"
)
_WISH = lazy(
    r"(?i)ich (?:bevorzuge|mag (?:keine?|lieber|es nicht)|hätte (?:lieber|gerne? immer)|möchte (?:immer|nie|lieber"
    r"|keine?)|will (?:keine?|nie|immer))\b"
)
_ALWAYS_ASK = lazy(
    r"(?i)(?!das|es|der|die|er|sie|ich|wir|noch|immer|ist|geht)\w+ (?:(?:mich|mir|dann|dabei|vorher) )*(?:immer|nie"
    r"|niemals|stets|vorher)\b"
)
_RATHER_SO = lazy(r"(?i)lieber \w+")
_PLEASE = lazy(r"(?i)[\wäöüß-]+ bitte (?:auf|in|nur|immer|nicht|ohne|mit|nie)\b")
_NONE = lazy(r"(?i)keine?n? (?!sorge|ahnung|panik|eile|angst|umstände|fehler|zeit|idee)[\wäöüß-]{3,}")
_BUT = lazy(r"(?i)nicht .{1,120}?,? sondern ")
_FROM_NOW = lazy(r"(?i)(?:ab jetzt|ab sofort|von jetzt an|künftig|in zukunft)\b[,:]? ")
_STOP = lazy(r"(?i)lass .{2,80} in ruhe|h(?:ö|oe)r (?:bitte )?(?:endlich )?auf\b")
_WRONG = lazy(r"(?i)das (?:ist|war|stimmt) (?:falsch|nicht(?: richtig)?|verkehrt)\s*[,:;–—-]\s*(?=\w+ \w+ \w+)")
_ORDER = lazy(
    rf"(?i)(?:{_DO}|das (?:muss|soll|gehört)|es (?:muss|soll)|der|die|das|wir|du sollst|nicht (?:in|im|als|mit)) "
)
_PLEASE_LAST = lazy(r"(?i),? bitte[.! ]*$")
_OF_THE_PROGRAM = lazy(r"(?i)\b(?:button|schaltfläche|knopf|farbe|überschrift|spalte|links sein|rechts sein)\b")
_YOU_SHALL = lazy(r"(?i)^du sollst ")


_IS_GERMAN = lazy(
    r"(?i)\b(?:nicht|nein|bitte|niemals|immer|ich|wir|du|dass|statt|kein(?:e|en|er)?|und|auf|die|der|hör|lass"
    r"|ab (?:jetzt|sofort))\b"
)
_LEAD = lazy(
    r"(?i)(?:(?P<no>nein|nee|no)(?:\s*[,.!:;–—-]+\s*|\s+)|(?P<polite>bitte)[\s,]+|(?:ach|doch|also|aber|na ja|mensch"
    r"|mann|verdammt|schon wieder|nochmal|zum letzten mal|ok(?:ay)?)\b[\s,.!:;–—-]+|(?P<again>ich hab(?:e)? (?:(?:doch"
    r"|dir|es|schon|bereits|ja|\w+mal|mehrfach) )*gesagt,? (?:dass )?|wie gesagt[,:]? ))"
)


def german_lesson(text: str) -> Lesson | None:
    """Return the lesson of a German sentence, if any."""
    if not _IS_GERMAN.search(text):
        return None
    leads: set[str] = set()
    while (lead := _LEAD.match(text)) and lead.end() < len(text):
        leads.add(lead.lastgroup or "")
        text = text[lead.end() :]
    return _classify(text, leads)


def _classify(text: str, leads: set[str]) -> Lesson | None:
    statement = _PLEASE_LAST.sub("", _YOU_SHALL.sub("", text))
    is_polite = "polite" in leads or statement != text
    if _QUESTION.match(text) or _APPROVAL.match(text) or _OF_THE_PROGRAM.search(text):
        return None
    if "again" in leads:
        return Lesson("correction", order(statement), REPEATED)
    if _RATHER.match(text) or _STOP.match(text) or _BUT.match(text):
        return Lesson("correction", order(statement), ONCE)
    if match := _WRONG.match(text):
        return Lesson("correction", order(statement[match.end() :]), ONCE)
    if _WISH.match(text) or _FROM_NOW.match(text) or _PLEASE.match(text):
        return Lesson("preference", order(statement), GENERAL)
    if _WE.match(text):
        return Lesson("convention", order(statement), GENERAL)
    if _THIS_ONCE.search(text):
        return None
    if _RATHER_SO.match(text) or (is_polite and _NONE.match(text) and not _DO_NOT.match(text)):
        return Lesson("preference", order(statement), GENERAL)
    if _NEVER.match(text) or ("polite" in leads and _ALWAYS_ASK.match(text)):
        return Lesson("rule", order(statement), GENERAL)
    if _DO_NOT.match(text) or ("no" in leads and _ORDER.match(text) and len(text.split()) > 2):
        return Lesson("correction", order(statement), ONCE)
    return None


def chinese_lesson(text: str) -> Lesson | None:
    """Return the chinese_lesson of a Chinese sentence, if any."""
    if _CHINESE_QUESTION.search(text) or _CHINESE_APPROVAL.search(text) or _CHINESE_OF_THE_PROGRAM.search(text):
        return None
    if match := _AGAIN.match(text):
        return Lesson("correction", order(text[match.end() :]), REPEATED)
    says_no = _NO.match(text) is not None
    body = _FILLER.sub("", text)
    if _CHINESE_THIS_ONCE.search(body):
        return None
    if _BOTH.search(body) or _SHOULD.search(body):
        return Lesson("correction", order(body), ONCE)
    if _CHINESE_WISH.match(body):
        return Lesson("preference", order(body), GENERAL)
    if _CHINESE_WE.match(body):
        return Lesson("convention", order(body), GENERAL)
    if _CHINESE_NEVER.match(body) or _ALWAYS.match(body) or _DEED_FIRST.search(body):
        return Lesson("rule", order(body), GENERAL)
    if _DONT.match(body) or says_no:
        return Lesson("correction", order(body), ONCE)
    return None
