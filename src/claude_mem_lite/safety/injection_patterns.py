"""The forms that orders to an agent take, in several languages: what a text is held against. Read by
`instructions.py`."""

import re
from functools import cache
from typing import Final, NamedTuple

# Whose orders are to be dropped, and what they are called.
_BEFORE = (
    r"(?:previous|prior|preceding|above|earlier|existing|original|former|initial|foregoing|other|all|any|your|these"
    r"|those|system|safety|security|the|of)"
)
_ORDERS = (
    r"(?:instructions?|rules|prompts?|guidelines|directions|directives|orders|constraints|guardrails|restrictions)"
)
_DROP = (
    r"(?:ignore|disregard|forget|override|bypass|discard|do not (?:follow|obey)|don't (?:follow|obey)|stop following)"
)
AI = (
    r"(?:(?:ai|coding|llm|autonomous|language|code|chat)[ -](?:assistant|agent|model|bot)s?|llms?|chatbots?"
    r"|chatgpt|gpt-?\d\w*"
    r"|claude(?: code)?|copilot|codex|gemini|ais?)"
)
_DUTY = r"(?:must|should|shall|has to|have to|needs? to|is required to|are required to|is to|are to|will now|may now)"
_START = r"(?:^|[.!?:;>)\]»”\"'–—-]\s{1,3}|\n\s{0,20})(?:please,? |now,? |then,? |and |first,? |so,? )?"
_SECRET = (
    r"(?:~?/?\.ssh\b|id_(?:rsa|ed25519|ecdsa)|\.aws\b|\.npmrc|\.netrc|\.pypirc|\.pgpass|\.git-credentials"
    r"|\.kube/config"
    r"|(?:content|contents|values?) of (?:the |your |any )?(?:\.env\b|environment)|environment variables"
    r"|env(?:ironment)? vars"
    r"|(?:private|ssh|deploy|signing) keys?|credentials|(?:api|access|auth|session) (?:keys?|tokens?)|secrets\b"
    r"|passwords\b"
    r"|cookies\b|\.env\b(?!\.)|chat history|conversation(?: history)?|source code)"
)
_SEND = (
    r"(?:send|upload|post|e-?mail|forward|exfiltrate|leak|transmit|publish|share|copy|paste|append|add|include|put"
    r"|write|encode)"
)
_SOMEWHERE = (
    r"(?:https?://|\S{1,60}@\S{1,60}\.\w|(?:this|that|the following|my|our) (?:address|server|url|endpoint"
    r"|webhook|site|e-?mail)"
    r"|(?:address|url|endpoint|server|webhook|link) below|(?:a |the )?(?:public|new|external|remote) (?:issue"
    r"|channel|gist|repo\w*"
    r"|server|pull request|comment|paste)|(?:the )?(?:title|body|description|text) of|pastebin|webhook|(?:an? "
    r"|the )?gist\b"
    r"|(?:the |every |your )?(?:commit message|pull request|next (?:request|message|reply|answer)"
    r"|(?:image )?url|query))"
)


# "The user's request body", "the task queue": things of a program that have such a name.
_NO_THING = (
    r"(?! (?:body|bodies|headers?|params?|parameters?|objects?|queues?|payloads?|urls?|paths?|ids?|handlers?|cache"
    r"|runner|lists?|scheduler|types?|engine|table|size|timeout)\b)"
)
_NOT_SAID = r"(?<!did not )(?<!didn't )(?<!does not )(?<!doesn't )"
_RUN_IT = (
    r"(?:run|execute|eval|follow|obey)(?:\s{0,3}(?:$|[.!,;:\n])|\s{1,3}(?:it|this|that|them|what|whatever|each|all"
    r"|(?:the|its|those|these) (?:\w{1,12} )?(?:results?|output|text|strings?|instructions?|commands?|payload|scripts?"
    r"|code|contents?|orders?|steps?|message|lines?))\b)"
)
# Of these everybody's documentation has it: the makers say to install it so.
_NO_INSTALLER = (
    r"(?![^|\n]{0,60}https://(?:bun\.sh|sh\.rustup\.rs|astral\.sh|get\.docker\.com|deno\.land|mise\.run|get\.pnpm\.io"
    r"|install\.python-poetry\.org|starship\.rs|get\.k3s\.io|raw\.githubusercontent\.com/(?:nvm-sh|Homebrew|helm)/))"
)


class Form(NamedTuple):
    """One way of giving orders: why it is one, and how it is known."""

    reason: str
    words: tuple[tuple[str, ...], ...]
    """Without one of each group, in small letters, there is no need to look closer."""
    pattern: str
    is_attack: bool
    """Nobody writes so to their own agent: an order even among what is said to be the user's own."""

    def fits(self, text: str, lowered: str) -> bool:
        is_possible = all(any(word in lowered for word in group) for group in self.words)
        return is_possible and _compiled(self.pattern).search(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # At the first text that needs it: all of them take 40 ms.
    return re.compile(pattern, re.I)


def form(reason: str, words: str, *patterns: str, is_attack: bool = True) -> Form:
    """A form; `words` are groups of words between `||`, in which + stands for a blank."""
    needed = tuple(tuple(word.replace("+", " ") for word in group.split()) for group in words.split(" || "))
    return Form(reason, needed, "|".join(f"(?:{one})" for one in patterns), is_attack)


# Looked for in the text with its lines.
MARKS: Final = (
    form(
        "imitates the marks of a conversation",
        "<system </system <assistant </assistant <human </human <instruction </instruction <user </user "
        "<claude </claude <| [inst [/inst <<sys <</sys _of_turn #+system #system #+new+instr #+instruct "
        "#+system system: assistant: human: system+: assistant+: human+: system* assistant* human* --- "
        "---begin",
        r"</?(?:system|assistant|human|instructions?|system[-_]\w{1,20}|user[-_](?:message|prompt|input)"
        r"|claude[-_]mem[-_]lite)\s{0,3}>(?! (?:tag|element|node|section|attribute)s?\b)",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_of_turn)\b",
        r"\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>",
        r"(?:^|\n)\s{0,8}#{1,4}\s{0,3}(?:system\s{0,3}(?::|\n|$)|new instructions?\b"
        r"|system (?:prompt|message|override|instructions?|notice|update|note)\b)",
        r"(?:^|\n)[*_#>\s-]{0,8}(?-i:SYSTEM|ASSISTANT|HUMAN)\s{0,3}[*_]{0,2}:[*_]{0,2}\s{0,3}\S",
        r"(?:^|\n)[*_#>\s-]{0,8}(?-i:System|Assistant|Human)\s{0,3}[*_]{0,2}:[*_]{0,2}\s{0,3}"
        r"(?-i:[A-Z])\w{0,20} \w{1,20} \w",
        r"\b(?:human|user)\s{0,2}:[^\n]{1,300}\n\s{0,8}assistant\s{0,2}:|\bhuman\s{0,2}:[^\n]{1,300}\sassistant\s{0,2}:",
        r"--- ?(?:begin|end|start)(?: of)? (?:system|user|assistant|prompt|instructions?|memory)\b(?! dump)",
    ),
    form(
        "has a call of a tool in it",
        "function_calls invoke tool parameter+name function",
        r"<(?:\w{1,10}:)?(?:function_calls|invoke\s+name|tool_(?:call|use|result)s?|parameter\s+name)\b",
        r"\"type\"\s{0,3}:\s{0,3}\"tool_(?:use|result)\"",
        r"\"(?:tool|function)(?:_name|_call)?\"\s{0,3}:\s{0,3}\"(?:bash|shell|run|exec\w{0,10}|write|edit"
        r"|webfetch|terminal)\"",
    ),
    form(
        "has something downloaded or decoded run by a shell",
        "curl wget fetch iwr invoke-web base64 decode decrypt unpack rot13 eval exec rm+",
        rf"\b(?:curl|wget|fetch|iwr|invoke-webrequest)\b{_NO_INSTALLER}[^|\n;]{{0,300}}\|"
        r"\s{0,3}(?:sudo\s+(?:-\S{1,10}\s+)?)?(?:\S{0,20}/)?(?:ba|z|da|k|fi)?sh\b",
        r"\b(?:curl|wget|iwr|invoke-webrequest)\b[^|\n;]{0,300}\|\s{0,3}(?:sudo\s+)?(?:python3?|node|perl|ruby"
        r"|iex|php)\b",
        r"(?:bash|sh|zsh|eval|source|\.)\s{1,3}(?:-c\s{1,3})?[\"']?(?:<\(|\$\(|`)\s{0,3}(?:curl|wget)\b",
        r"base64\s{1,3}(?:-{1,2}d\w{0,6}|-D)\b[^\n]{0,80}\|\s{0,3}(?:sudo\s+)?(?:ba|z|da)?sh\b",
        rf"\bbase64\b[^\n]{{0,120}}\b(?:and|then|,)\s{{0,3}}(?:then )?{_RUN_IT}",
        rf"\b(?:decode|decrypt|unpack|rot13)\b[^\n]{{0,120}}\b(?:and|then)\s{{1,3}}(?:then )?{_RUN_IT}",
        r"\b(?:eval|exec)\s{0,2}\(\s{0,3}(?:atob|base64|b64decode|fetch|requests)\b",
        r"rm\s{1,3}-(?:rf|fr|r\s{1,3}-f)\s{1,3}(?:--no-preserve-root\s{1,3})?[\"']?(?:(?:~|\$HOME)(?!/(?:\.cache|\.npm|\.gradle|\.m2|Library/Caches|tmp)\b)|/(?:\s|$|\*))",
    ),
)
# Looked for in the text on one line.
SENTENCES: Final = (
    form(
        "tells its reader to drop what it was told",
        "ignor disregard forget overrid bypass discard follow obey void obsolete invalid revoked cancel "
        "replaced superseded suspended outdated no+longer null vergiss olvid descart omit oubli neglig néglig "
        "dimentic trascur esque desconsider negeer vergeet glöm zapomnij talimat komut kural игнор забудь "
        "внимани ігнор unohda bỏ+qua phớt+lờ αγνόησ αγνοήσ התעלם "
        "เพิกเฉย abaikan 忽略 无视 無視 忘 不要理 破棄 무시 잊 تجاهل انس अनदेखा भूल नज़र",
        rf"{_NOT_SAID}\b{_DROP}\b (?:(?:absolutely "
        rf"|completely )?{_BEFORE}[ ,]{{1,2}}){{1,5}}(?:\w{{1,15}} ){{0,2}}{_ORDERS}\b{_NO_THING}",
        rf"{_NOT_SAID}\b{_DROP}\b (?:all|any|every|your|previous|prior) (?:\w{{1,15}} ){{0,3}}{_ORDERS}\b{_NO_THING}",
        rf"\b{_DROP}\b (?:everything|anything|all|whatever"
        rf"|what)\b(?: that)?(?: \w{{1,12}}){{0,3}} (?:you (?:were|have been|are) (?:told|given|asked|instructed)"
        r"|(?:above|before|so far)\b|user (?:said|says|asked|wants|wanted))",
        rf"\b{_DROP}\b (?:the |your )?(?:user's|users?|current|original|actual) (?:request|task|question"
        rf"|instructions?|prompt|goal)s?\b{_NO_THING}",
        rf"{_START}forget (?:the|your) (?:task|goal|assignment|question)\b{_NO_THING}",
        rf"\b(?:previous|prior|earlier|above|old|original) {_ORDERS} (?:are|were|is|have been"
        rf"|no longer) (?:now )?(?:void|obsolete|invalid|revoked|cancell?ed|replaced"
        r"|superseded|suspended|outdated|apply|valid|null)",
        r"\bignorier\w{0,3} (?:bitte )?(?:alle|die|deine|sämtliche|jede)\b.{0,40}\b(?:anweisung|instruktion"
        r"|regel|vorgabe|befehl)",
        r"\bvergiss (?:bitte )?(?:alle|alles|die|deine)\b.{0,40}\b(?:anweisung|instruktion|regel|vorgabe|vorher"
        r"|bisher)",
        r"\b(?:ignora|olvida|descarta|omite|ignore)[ds]?\b.{0,30}\b(?:instrucciones|indicaciones|órdenes|reglas)\b",
        r"\b(?:ignore[zr]?|oublie[zr]?|néglige[zr]?)\b.{0,30}\b(?:instructions|consignes|directives"
        r"|règles) (?:précédent|antérieur|ci-dessus|reçu|donné)",
        r"\b(?:ignora|dimentica|trascura)(?:te)?\b.{0,30}\b(?:istruzioni|regole|direttive)\b",
        r"\b(?:ignore|ignora|esqueça|esquece|desconsidere)\b.{0,30}\b(?:instruções|regras|ordens|orientações)\b",
        r"\b(?:negeer|vergeet)\b.{0,30}\b(?:instructies|aanwijzingen|opdrachten|regels)\b",
        r"\b(?:ignorera|glöm)\b.{0,30}\b(?:instruktioner|anvisningar|regler)\b",
        r"\b(?:zignoruj|ignoruj|zapomnij)\b.{0,30}\b(?:instrukcj|polece|reguł|zasad)",
        r"\b(?:önceki|yukarıdaki|tüm)\b.{0,30}\b(?:talimat|komut|kural)\w{0,10}.{0,20}\b(?:yok say"
        r"|görmezden gel|unut)",
        r"(?:игнорируй|проигнорируй|забудь|не обращай внимания)\w{0,4}.{0,40}(?:инструкци|указани|правил|команд)",
        r"(?:ігноруй|забудь)\w{0,4}.{0,40}(?:інструкці|вказівк|правил)",
        r"\bunohda\b.{0,30}\bohjee?t|\babaikan\b.{0,30}\b(?:instruksi|perintah|aturan)"
        r"|\b(?:ignoruj|zapomeň)\w{0,3}\b.{0,30}\b(?:pokyny|instrukce|příkazy|pravidla)",
        r"(?:bỏ qua|phớt lờ).{0,30}(?:hướng dẫn|chỉ dẫn|lệnh|quy tắc)",
        r"(?:αγνόησ|αγνοήσ)\w{0,4}.{0,30}(?:οδηγί|εντολ|κανόν)",
        r"התעלם.{0,30}(?:הוראות|ההוראות|הכללים)|เพิกเฉย.{0,20}(?:ค(?:ำ|\u0e4d\u0e32)สั่ง|กฎ)",
        r"(?:忽略|无视|無視|忘记|忘記|不要理会|不要理會).{0,15}(?:指令|指示|说明|說明|提示|规则|規則|要求|命令)",
        r"(?:指示|命令|指令|ルール|プロンプト|説明).{0,12}(?:無視|忘れ|破棄)",
        r"(?:지시|명령|지침|규칙|프롬프트).{0,12}(?:무시|잊)",
        r"(?:تجاهل|انس).{0,30}(?:التعليمات|الأوامر|القواعد)",
        r"(?:पिछल|सभी).{0,20}(?:निर्देश|आदेश).{0,20}(?:अनदेखा|भूल|नज़रअंदाज)",
    ),
    form(
        "gives its reader another part to play",
        "you+are+now act+as behave+as respond+as roleplay+as pretend your+new your+real your+actual "
        "your+true your+only your+updated your+next your+safety your+content your+usage your+security "
        "your+guid your+guard your+restr your+system your+polic suspended lifted switched+off turned+off "
        "disabled void revoked mode+ system+prompt system+message system+instruct initial+prompt "
        "hidden+prompt verbatim prompt+système 提示 from+anthropic from+openai from+your anthropic+ "
        "openai+",
        r"\byou are now (?:an? (?!member|part\b|contributor|collaborator|subscriber)\w|the \w{1,20} (?:bot"
        r"|agent|assistant|administrator|admin)|in \w{1,20} mode"
        r"|[\w-]{0,20}(?:bot|gpt)\b|dan\b|free (?:of|from)|unrestricted|jailbroken|root\b)",
        rf"{_START}(?:you (?:will|must|shall) )?(?:act|behave|respond|roleplay) as (?:an? |the |if you (?:are"
        rf"|were) )(?:\w{{1,20}} ){{0,3}}"
        r"(?:admin\w{0,12}|root|developer|hacker|expert|agent|assistant|bot|model|user|maintainer"
        r"|unrestricted\w{0,3}|ai)\b",
        r"\bpretend (?:to be|that you|you are)\b",
        r"\byour (?:new|real|actual|true|only|updated|next) (?:task|role|job|goal|instructions?|mission"
        r"|objective|identity|purpose|orders?|system prompt) (?:is|are|:)",
        r"\byour (?:safety |content |usage |security )?(?:guidelines|guardrails|restrictions|safety rules"
        r"|system prompt|policy|policies) (?:has|have|is|are|was|were)"
        r" (?:now |been )*(?:changed|updated|lifted|suspended|removed|disabled|replaced|void)",
        r"\b(?:safety|security|content|usage) (?:rules|checks|filters?|guidelines|restrictions|policies"
        r"|policy) (?:is|are|has been|have been)(?: now)?"
        r" (?:suspended|lifted|switched off|turned off|disabled|void|revoked) (?:for|in|until|by|while)\b",
        r"\b(?:developer|god|admin|dan|jailbreak|unrestricted|sudo|debug) mode (?:is "
        r"|has been )?(?:now )?(?:enabled|activated|engaged|unlocked)(?! (?:when|if|in|by|with|via|on)\b)",
        r"\bsystem (?:prompt|message|instructions?)\b.{0,12}\b(?:update|override|change|injection|begins?"
        r"|follows)\b",
        r"\b(?:reveal|print|show|repeat|output|display|tell me|leak|dump|expose)\w{0,3} (?:me )?(?:your|the|its"
        r"|their) (?:full |entire |whole |hidden |initial )*"
        r"(?:system prompt|system message|instructions verbatim|initial prompt|hidden prompt|prompt verbatim)",
        r"\b(?:affiche|montre|révèle)\w{0,2} (?:ton|votre|le) prompt système",
        r"(?:显示|输出|打印|透露|告诉我).{0,10}(?:系统提示|系統提示|提示词)",
        r"\b(?:message|notice|order|instruction|update|request)s? from (?:anthropic|openai|your (?:developers?"
        r"|creators?|makers?|administrator|operator))\b",
        r"(?:^|[.!?] )(?:anthropic|openai) (?:requires|instructs|orders|wants|asks) (?:you|all|every)\b",
    ),
    form(
        "asks for secrets to be sent away",
        "ssh id_ .aws .npmrc .netrc .pypirc .pgpass git-credential .kube .env environ env+var key "
        "credential token secret password cookie history conversation source+code exfiltrat contrase "
        "clave clé mots+de mot+de passwort geheim umgebung entorno segredo chiav ключ парол секрет "
        "переменн токен 环境 環境 密 私 凭证 憑證 令牌 秘密 パスワ 認証 トーク 비밀 개인키 환경 자격 토큰 "
        "printenv || send upload post mail forward exfiltrat leak transmit publish share copy paste "
        "append add include put writ encod env manda sube invia schick sende lade отправ пришл вышл "
        "загруз 发 上传 發 上傳 寄 泄露 送 出力 アップロード 表示 전송 보내 업로드 출력 curl cat+",
        rf"\b{_SEND}\b(?:ing|s)?\b.{{0,80}}?{_SECRET}.{{0,80}}?\b(?:to|into|in|at|as|on|via"
        rf"|through)\b.{{0,25}}?{_SOMEWHERE}(?! (?:with|by|via|over) (?:rsync|scp|ssh|sftp)\b)",
        r"\b(?:send|upload|e-?mail|forward|exfiltrate|leak|transmit)\b (?:me |us |them )?(?:all |the |your "
        r"|any |a copy of )*(?:user's |users' |developer's )"
        rf".{{0,40}}{_SECRET}",
        r"\bexfiltrat(?:e|ing)\b.{0,60}\b(?:to|via|through)\b",
        r"\b(?:enví[ae]|manda|sube|env(?:oie|oyez)|invia|envie|schicke?|sende"
        r"|lade)\w{0,3}\b.{0,60}(?:\.env\b(?!\.)|id_rsa|contraseñ|clave privada|clé privée|mots? de passe"
        r"|passw[oö]rt|geheimnis|umgebungsvariabl|variables? d'environnement|variables? de entorno|credencial"
        r"|segredo|chiav)",
        r"(?:отправь|отправьте|пришли|вышли|загрузи)\w{0,3}.{0,60}(?:\.env|id_rsa|ключ|парол|секрет|переменн"
        r"|токен)",
        r"(?:发送|上传|發送|上傳|发到|寄到|泄露).{0,25}(?:环境变量|環境變數|密钥|密鑰|私钥|私鑰|密码|密碼|凭证|憑證|令牌|\.env)",
        r"(?:环境变量|環境變數|密钥|密鑰|私钥|私鑰|密码|密碼|凭证|憑證|令牌|\.env).{0,20}(?:发送|上传|發送|上傳|发到|寄到)",
        r"(?:秘密鍵|環境変数|パスワード|認証情報|トークン).{0,20}(?:送信|出力|送って|アップロード|表示して)",
        r"(?:비밀키|개인키|환경 ?변수|비밀번호|자격 ?증명|토큰).{0,20}(?:전송|보내|업로드|출력)",
        r"\bcat ~?/?(?:\.ssh/|\.aws/|\S{0,20}/\.env\b)\S{0,40}.{0,60}\b(?:curl|nc|wget|post)\b",
        r"\bcurl\b[^\n]{0,120}(?:-d|--data\S{0,10}|-F|--upload-file|-T)\s?[\"']?(?:@|\$\(|`)[^\n]{0,40}(?:\.env"
        r"|\.ssh|\.aws|id_rsa|printenv|\benv\b|\.npmrc|credentials)",
    ),
    form(
        "wants something kept from the user, or done without asking",
        "user human developer operator person owner anyone anybody to+others silently quietly secretly covertly "
        "stealthily maintainer no+need approved trusted authori permission permitted allowed free+to as+an "
        "as+order as+instr as+command confirmation approval consent",
        r"\b(?:do not|don't|never|without|avoid|must not|should not|shall not)\b(?: ever)?"
        r"(?! (?:show|reveal|disclose|mention) (?:the |any |raw |full |internal )*(?:passwords?|tokens?|secrets?"
        r"|hash(?:es)?|stack ?traces?|internal)\b)(?! asking the user, the \w{1,20} \w{1,20}s\b) (?:tell|inform"
        r"|mention|reveal|show|notify|alert|ask|warn|disclose|report|say|telling|informing"
        r"|mentioning|notifying|asking|warning|alerting)\w{0,3}\b.{0,50}\b(?:the (?:user|human|developer"
        r"|operator|person|owner)|your (?:user|operator|human)|anyone|anybody|to others)\b",
        rf"(?:{_START}|\b(?:should|must|shall|and|to|then) )(?:silently|quietly|secretly|covertly"
        rf"|stealthily) (?:add|change|send|run|install|upload|delete|push|copy|commit|insert|append"
        r"|modify|include|execute|post|write|download|create|merge|approve|set|edit|patch)\b",
        r"\b(?:the )?(?:user|human|developer|operator|owner|maintainers?)s? (?:has"
        r"|have) (?:already )?(?:approved|authori[sz]ed|agreed|consented|confirmed|granted|permitted)\b.{0,80}"
        r"\b(?:so|no need|without|you|this|these|all|every)\b",
        r"\bno need to (?:ask|confirm|check|request|seek|wait)\b.{0,30}\b(?:permission|confirmation|approval"
        r"|the user|consent|first)\b",
        r"\b(?:treat|regard|consider)\b.{0,50}\b(?:as (?:pre-?)?(?:approved|authori[sz]ed|trusted)"
        r"|as (?:an? )?(?:order|instruction|command)s? (?:from|of))\b",
        r"\byou (?:have (?:full |my |our |the user's )?(?:permission|authori[sz]ation|authority)|are (?:hereby "
        r"|fully |now )?(?:authori[sz]ed|permitted|allowed|free)) to"
        r" (?:run|execute|delete|push|send|share|install|bypass|ignore|modify|upload|merge|skip|disable)\b",
        r"\b(?:do not|don't|never|no need to) (?:ask|wait|seek|request)(?: for)? (?:permission|confirmation"
        r"|approval|consent)\b",
    ),
    form(
        "speaks to an agent",
        "assistant agent llm gpt claude copilot codex gemini +ai +ais chatbot +bot language+model you+are "
        "your+training your+context your+system your+tool your+bash automated",
        rf"\b(?:note|notice|message|instructions?|reminder|warning|hint|important|attention|task|request|hello"
        rf"|hi|hey|dear|memo|orders?)\b(?: \w{{1,12}}){{0,2}}?,? ?(?:to|for|:|,|-)?"
        rf" (?:the |any |all |every |an |our |your |fellow )*(?:{AI}|assistants?"
        rf"|agents?)\b(?: \w{{1,15}}){{0,4}} ?[:,—–!-]",
        rf"\b(?:new|additional|updated|special|secret|hidden) (?:instructions?|orders|rules|directives?) (?:for"
        rf"|to) (?:the |any |all |every |an )*(?:{AI}|assistants?|agents?)\b",
        rf"\bif (?:you are|you're|you happen to be|the reader is|this is (?:being )?read by|read by) (?:an? "
        rf"|the |any )*(?:{AI}|assistant|agent|automated (?:system|agent))\b",
        rf"\bas an? (?:{AI}|(?:helpful |friendly )?assistant)\b,? (?:language model,? )?(?:you|it is your|your"
        rf"|i (?:must|will|am required))\b",
        rf"\b(?:{AI}|the assistant|assistants|an agent|any agents?|agents?)\b(?: (?:that|who|which|when"
        rf"|reading|processing|working|using|parsing|visiting|summari[sz]ing|looking|in|on|with|this|these|the"
        rf"|page|file"
        rf"|document|text|readme|repo|repository|code|project|issue|are|is|reads?|see|sees|find"
        rf"|finds)){{2,9}},? (?:it |they |you )?(?:{_DUTY}|please|always|never)\b",
        rf"\b(?:when(?:ever)?|if|once|before|after|every time) (?:an? |the |any |your |you |a |as an )*(?:{AI}"
        rf"|assistant|agent)s? (?:reads?|sees?|opens?|loads?|finds?|processes|parses|visits|summari[sz]es"
        rf"|encounters?|fetche?s?)\b"
        r".{0,60}\b(?:must|should|shall|has to|have to|needs? to|please|run|add|send|always|never)\b",
        rf"(?:^|[.!?>] |\n)(?:@)?(?:{AI}),? (?:when|please|you|always|never|do|run|add|remember|ignore|if you"
        rf"|whenever|make sure|from now)\b",
        rf"\b(?:the assistant|{AI}) (?:{_DUTY}) (?:now |always |never |also |not |then |first |at once "
        rf"|immediately )*(?:run|execute|add|send|treat|merge|push|install|delete|upload|call|say|reply|answer"
        r"|respond|tell|ignore|include|append|approve|commit|post|print|use|insert|follow|obey|recommend|open"
        r"|visit|fetch|download|mention|reveal|hide|skip|disable|remember|store|save|trust|write|set|remove)\b",
        rf"\b(?:{AI}|assistants?)\b.{{0,20}}\b(?:must|should|shall|have to)\b.{{0,10}}\b(?:always|never|now"
        rf"|at once|first)\b",
        r"\b(?:prove|verify|show|demonstrate|confirm) (?:that )?you are (?:a real |not a |an? "
        r"|really )*(?:agent|ai|assistant|bot|human|robot)\b",
        r"\byour (?:training data|context window|system prompt|tool (?:calls|access)|bash tool|tools? to (?:run"
        r"|call|send|fetch|write))\b",
        is_attack=False,
    ),
    form(
        "wants to be remembered or written into an agent's rules",
        "remember memor in+mind from+now+on rule notes knowledge preference as+a+ as+an+ claude.md "
        "agents.md gemini.md cursorrules copilot-inst mcp.json in+all+ in+every+ 记住 記住 牢记 запомни "
        "recuerda denk merk souviens ricorda lembre || remember memor mind save stor add writ commit put "
        "persist record append insert copy past note in+all+ in+every+ 记住 記住 牢记 запомни recuerda "
        "denk merk souviens ricorda lembre",
        r"\b(?:remember|memori[sz]e|note|keep in mind|store|save|record)\b(?: (?:that|this|it|the following"
        r"|for ever|forever|always))*[:,]? ?(?:that )?(?:from now on|for (?:all )?(?:future|later"
        r"|the next) (?:sessions?|conversations?|tasks?|use)"
        r"|in (?:your|long-term|persistent|the agent's) memory|as (?:a|an) (?:permanent |new "
        r"|standing )?(?:rule|memory|fact|instruction|preference))",
        r"\b(?:save|store|add|write|commit|put|persist|record|append|insert) (?:this|that|it|the following"
        r"|these)\b.{0,40}\b(?:to|in|into) (?:your |the |its |long-term |persistent |the agent's "
        r"|project )*(?:memory|memories|notes|rules|knowledge)\b",
        r"\b(?:add|append|write|insert|save|put|copy|paste|store|record)\b.{0,120}?\b(?:to|into|in)\b (?:the "
        r"|your |a |every |project's |user's |global )*[`\"']?(?:~/|\./|\.)?(?:claude/)?(?:claude\.md"
        r"|agents\.md|gemini\.md|\.?cursorrules|copilot-instructions|memory\.md|mcp\.json)\b"
        r".{0,40}?(?:[:,]|\bthat\b|always|never|must)",
        r"\badd to [`\"']?(?:claude|agents|gemini|memory)\.md\b",
        r"\bremember (?:that|this|to|,|:) ?(?:always|never|you (?:must|should|have to|are)|the user (?:wants"
        r"|has|said|prefers|approved)|the maintainers? (?:want|approved)|all |every )",
        r"\bin (?:all|every) (?:future|later|following|subsequent) (?:sessions?|conversations?|repl(?:y|ies)"
        r"|answers?|responses?|commits?|messages?|prompts?|interactions?)\b",
        r"(?:记住|請記住|请记住|牢记).{0,20}(?:以后|以後|从现在|從現在|永远|总是|必须|每次)",
        r"(?:запомни|запомните)\w{0,3}[:, ].{0,60}(?:всегда|никогда|отныне|теперь|должен)",
        r"\b(?:recuerda|denk daran|merke? dir|souviens-toi|ricorda|lembre-se)\b.{0,60}\b(?:siempre|nunca|immer"
        r"|niemals|nie|künftig|ab (?:jetzt|sofort)|toujours|jamais|désormais|sempre|mai|partir de (?:ahora"
        r"|agora))\b",
        is_attack=False,
    ),
    form(
        "gives standing orders",
        "from+now ab+jetzt ab+sofort von+nun partir+d desde+ahora d'ora vanaf с+этого отныне 从现在 "
        "從現在 今後 これから 앞으로 anything answering replying responding answer+ reply+ respond+ "
        "always+ never+ at+once must+now should+now shall+now every+session every+conv every+repl "
        "every+answer every+resp every+commit every+pull every+prompt the+following add+this append+this "
        "include+this insert+this prepend+this add+these append+these include+these insert+these "
        "prepend+these",
        r"\bfrom now on,? (?:you\b|only\b|always\b|never\b|every\b|all (?:your|answers|replies|commits)\b"
        r"|answer|reply|respond|use|call|run|do|act|treat|ignore|write|send)",
        r"\b(?:ab (?:jetzt|sofort)|von nun an|à partir de maintenant|desde ahora|a partir de ahora"
        r"|a partir de agora|d'ora in poi|vanaf nu|с этого момента|отныне|从现在开始"
        r"|從現在起|今後は|これからは|앞으로는?).{0,25}"
        r"(?:du\b|sie\b|immer|nie|tu\b|vous|toujours|jamais|tú|siempre|nunca|você|sempre|mai\b|je\b|altijd|ты"
        r"|вы\b|всегда|никогда|你|您|总是|必须|必ず|常に|항상|반드시)",
        r"\bbefore (?:you do anything(?: else)?|doing anything else)\b",
        r"\b(?:before|after|when|while|instead of) (?:you )?(?:answer(?:ing)?|repl(?:y|ying)"
        r"|respond(?:ing)?) (?:to )?(?:any|every|the|each|all|a|this)\b.{0,40}\b(?:question|request|prompt|user"
        r"|query|message|person|issue)",
        rf"{_START}(?:you (?:must|should|have to) )?always (?:run|execute|install|invoke|curl|download|push"
        rf"|upload|send|post|call) (?:the |this |it |a |an |npm |pip |`|\")",
        r"\b(?:you|assistant|claude)\b.{0,20}\b(?:must|should|shall|have to)\b (?:always|never|now"
        r"|at once) (?:mention|tell|reveal|say|answer|reply|respond|refuse|obey|run|execute|send|push|disable"
        r"|approve|merge|call|ask)\b",
        r"\b(?:at the (?:start|beginning|end) of|in|to|with|on) every (?:session|conversation|reply|answer"
        r"|response|commit|commit message|pull request|prompt)(?: you (?:write|give|make"
        r"|send))?\b.{0,60}\b(?:run|add|append|include|say|send|call|must|always|following)\b"
        r"(?! (?:an? |the )?changelog)",
        r"\b(?:add|append|include|insert|prepend) (?:the following|this|these)(?: \w{1,12}){0,2} (?:to|in"
        r"|at the end of) (?:every|each|all|any|your) (?:commit|reply|answer|response|message|file|pull request)",
        is_attack=False,
    ),
    form(
        "wants access for somebody",
        "access right permission role privilege as+ sudoers authorized_keys pull+request key || grant "
        "give add+ adds+ open+a",
        r"\b(?:grant|give|add)\b.{0,50}\b(?:write|admin|push|full|owner|root|maintainer"
        r"|collaborator)\w{0,3} (?:access|rights?|permissions?|role|privileges?)\b.{0,20}\b(?:to"
        r"|for) (?:the )?(?:account|user|bot|following|address|\S{1,40}@)",
        r"\badd (?:\S{1,40}@\S{1,40}|the (?:account|user|author|key) \S{1,40}) (?:as|to) (?:an? "
        r"|the )?(?:maintainer|owner|admin\w{0,12}|collaborator|co-?author|authorized_keys|sudoers)",
        r"\bopen a pull request (?:that|which|to|and) (?:adds?|removes?|changes?|disables?"
        r"|merges?)\b.{0,60}\b(?:maintainer|collaborator|key|owner|secret|workflow|webhook)",
        r"\badd\b.{0,40}\b(?:my|this|the (?:following|author's|attacker's)) (?:ssh |public "
        r"|deploy )?key\b.{0,30}\bauthorized_keys\b",
    ),
)
