r"""The wordings of attacks, as one table for what memory holds and for what a digest says.

Every pattern is read over folded text in small letters with spaces for underscores (`disguises.fold`). Each repetition
has an upper bound, so the time is linear.

The building blocks are those of `threat_kinds`; `FILL` are words that add nothing. What is said in other languages is
in `threat_languages`.

Source: DESIGN 3.4 and 4; own lists, after the published classes of prompt injection (override, new role, forged turn,
concealment, exfiltration, persistence, remote control, hidden markup), tuned on the dev part of tests/data/threats.
"""

from typing import Final

from everfold.core.threat_kinds import AWAY, OW, ThreatRule, W, gap, write_rule
from everfold.core.threat_languages import FOREIGN_RULES

FILL: Final = (
    rf"(?:{W}(?:all|any|every|everything|of|the|your|my|its|previous|prior|above|earlier|preceding|former|original|initial|system|safety|security"
    rf"|content|developer|existing|current|other|and|or|to|those|these|this|that|such|given|set|own|hidden|old|latest)){{0,6}}"
)
DROP: Final = (
    r"\b(?:ignor(?:e|es|ing)?|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass|discard|neglect|drop|disobey|cancel|abandon|set aside|suspend"
    r"|(?:stop|quit) (?:following|obeying|listening to|using)|pay no attention to|(?:do not|don't|never) (?:follow|listen to|obey|trust|heed))\b"
)
OLD: Final = r"(?:all|any|every|previous|prior|above|earlier|preceding|former|original|initial|existing|current|your|its|these|those|system|developer)"
ORDERS: Final = r"(?:instructions?|instrucions|guidelines?|directives?|system prompts?|prompts?|programming)"
RULES: Final = r"(?:instructions?|instrucions|guidelines?|directives?|prompts?|programming|rules|constraints)"
LOOSE_RULES: Final = r"(?:commands|restrictions|polic(?:y|ies)|filters|context|messages|task|safeguards|training)"
"""What is dropped every day; only an attack drops the model's own or the previous ones."""
OWN: Final = r"(?:previous|prior|above|preceding|your|its|these|those|system|developer|safety)"
MODEL: Final = r"(?:ai|ais|llms?|language models?|assistants?|ai assistants?|ai agents?|agents?|chatbots?|models?)"
UNBOUND: Final = r"(?:unrestricted|unfiltered|uncensored|jailbroken|unlimited|limitless|evil|amoral|rogue|omnipotent)"
LIMITS: Final = (
    r"(?:restrictions?|filters?|limits?|limitations|rules|guidelines|polic(?:y|ies)|constraints|oversight|censorship|morals|ethics"
    r"|(?:content|safety|ethical|usage) (?:polic(?:y|ies)|guidelines|rules|filters|restrictions))"
)
PRIVATE: Final = (
    r"(?:conversations?|chat (?:log|history)|chats?|transcripts?|histor(?:y|ies)|context(?: window)?|memor(?:y|ies)|system prompt|prompts?|passwords?|passphrases?"
    r"|secrets?|credentials?|api keys?|(?:private|ssh|access|secret) keys?|(?:session |access |auth )?tokens?|cookies?|\.env|env(?:ironment)? (?:file|variables)"
    r"|phone numbers|contacts|card (?:number|data)s?|(?:customer|client|contact|user) (?:list|data|records)|personal data)"
)
KEPT_FILE: Final = (
    r"(?:\.ssh/(?:id |id\b)|id (?:rsa|ed25519|ecdsa)\b|\.aws[/\\]credentials|/etc/shadow|\.env\b|\.gnupg|\.netrc|\.kube/config|\.npmrc|\.pgpass"
    r"|credentials\.json|wallet\.dat)"
)
USER: Final = r"(?:end user|user|human|operator)s?"
OWN_SENSES: Final = (
    r"(?:view|eyes?|sight|attention|screen|display|session|knowledge|awareness|face|notice|chat|terminal|console|inbox"
    r"|about|of|that|what|anything|this|these|it)\b"
)
NOT_THEIRS: Final = (
    rf"(?!'s?{W}(?!{OWN_SENSES})\w|{W}(?:groups?|lists?|base|guide|manual|names?|accounts?|interface)\b)"
)
"""Not "the user's manager": a rule about the people and things around a user hides nothing from the user."""
ANYBODY: Final = r"(?:user|human|operator|owner|customer|developer|reviewer|admin(?:istrator)?)s?"

_OVERRIDE: Final = (
    write_rule(
        "instruction_override",
        "drops the instructions",
        "",
        rf"{DROP}{FILL}{W}{OLD}{FILL}{W}{RULES}\b",
        rf"{DROP}{FILL}{W}{OWN}{FILL}{W}{LOOSE_RULES}\b",
        rf"\b(?:ignor(?:e|es|ing)?|disregard|disobey){FILL}{W}(?:previous|prior|above|earlier|your){W}orders\b",
        rf"\b(?:not|don't|never|needn't|no longer){W}(?:(?:have|need|required){W}to{W})?(?:follow|obey|comply{W}with|respect|adhere{W}to|heed){FILL}{W}{OWN}{FILL}{W}(?:{RULES}|{LOOSE_RULES})\b",
        rf"\byour{FILL}{W}(?:{RULES}|{LOOSE_RULES}){gap(3)}{W}(?:replaced|void|invalid|overridden|nullified|superseded|suspended|revoked|outdated|no longer)\b",
        rf"\bsystem{W}prompt{gap(2)}{W}(?:void|invalid|not{W}valid|overridden|nullified|suspended|revoked|outdated|no longer)\b",
        rf"\bopposite{W}of{W}(?:what{W})?(?:your|the{W}system)\b",
        rf"{DROP}{gap(5)}{W}{OLD}{FILL}{W}{ORDERS}\b",
        rf"{DROP}{W}(?:the|your){W}(?:rules|guidelines|instructions|directives|commands|text){W}(?:above|before|you (?:were|have|had) )",
        rf"{DROP}{W}(?:the{W})?(?:above|foregoing)(?:\s{{0,2}}[.,:!]|{W}and\b|\s{{0,3}}$)",
        rf"{DROP}{W}(?:everything|all|anything|whatever)(?:{W}(?:of )?(?:that|the text))?{W}(?:above|before|prior|you\b|i said before)",
        rf"{DROP}{W}(?:the|its|their|your){W}(?:system|developer)(?:'s)?{W}(?:prompt|message|instructions|rules)",
        rf"{DROP}{W}(?:what|whatever|which){OW}(?:ever)?{W}{RULES}{W}you\b|\bcomply{W}with{W}the{W}(?:next|following){W}(?:message|text|orders?)",
        rf"{DROP}{gap(3)}{W}(?:what|anything){W}the{W}(?:developer|system|operator){W}",
        rf"\b(?:previous|prior|above|earlier|original|former|current){W}(?:system{W})?{RULES}{gap(3)}{W}(?:void|revoked|cancell?ed|outdated|obsolete|suspended|superseded|a decoy|no longer appl\w{{1,3}})\b",
        rf"\b(?:revoked|lifted|suspended|cancell?ed|waived|removed){W}(?:all|any|every|your){W}(?:of{W}(?:your|the){W})?(?:(?:previous|prior|safety|your|system){W}){{1,2}}(?:{RULES}|{LOOSE_RULES})\b",
        rf"\b{ORDERS}{W}from{W}the{W}(?:developer|operator|system){gap(2)}{W}(?:outdated|void|wrong|obsolete)",
        rf"\b(?:rules|instructions|guidelines){gap(5)}{W}no longer{W}(?:apply|count|bind|hold)",
    ),
    write_rule(
        "instruction_override",
        "puts itself over the instructions",
        "instructions|prompt|rule|system|obey|orders|comply|override|restrictions",
        rf"\b(?:your|the){W}(?:true|real|actual|new|only){W}(?:instructions|rules|directives|objective|orders|system prompt)\b(?={W}(?:are|is|live|follow|come)\b|\s{{0,2}}:)",
        rf"\bthese{W}are{W}your{W}(?:true|real|actual|new|only)?{OW}(?:instructions|rules|orders)\b",
        rf"\b(?:whatever|regardless of(?: what)?|no matter what){W}the{W}(?:system prompt|system message|developer)\b",
        rf"\boutranks?{W}the{W}(?:system|developer|user)",
        rf"\bnew{W}(?:system{W})?(?:instructions?|prompt|objective|rules|orders){W}(?:for{W}(?:the{W})?{MODEL}|from{W}the{W}(?:developer|system|operator))\b",
        r"\bnew system (?:instructions?|prompt|rules) ?:|\bnew objective ?:|\bsystem (?:override|prompt override|reset)\b",
        rf"\b(?:follow|obey|execute|carry out){W}(?:the|these|this)(?:{W}(?:following|new))?{W}instructions{gap(3)}{W}(?:instead|without{W}(?:asking|telling|confirm))",
        rf"\bfollow{W}(?:these|this|the following){W}instead",
        rf"\b(?:must|shall|will|should|have to|required to|immediately|now){W}(?:now{W})?(?:ignore|obey|disobey|comply{W}with)\b(?!{W}the{W}(?:speed|law|traffic|signs|gdpr|regulat|standard))",
        rf"\btreat{gap(8)}{W}(?:as|like){W}(?:orders|commands|instructions|(?:the|an?){W}(?:operator|system|developer)'s)",
        rf"\b(?:no|without){W}(?:any{W})?rules\b{gap(2)}{W}no{W}(?:policies|restrictions|limits)",
        rf"\bonly{W}this{W}(?:memory|message|text|note){W}(?:counts|matters|is valid|applies)",
        rf"\b(?:safety|security|content){W}(?:rules|filters|polic(?:y|ies)|guidelines){W}(?:are{W})?(?:suspended|disabled|off|lifted|void)\b",
        rf"\b(?:text|everything|message){gap(1)}{W}here{W}is{W}authoritative",
    ),
    write_rule(
        "instruction_override",
        "orders the reader",
        "ai|assistant|model|llm|agent|reader|you",
        r"\b(?:attention|dear|note to|message to|note for|instructions? (?:for|to)|ps for|hint for|notice to),?\s(?:the\s|all\s|any\s)?(?:ai|assistants?|models?|llms?|ai (?:assistants?|agents?|models?)|agents?|language models?)\b[^\n\w]{0,4}[:,!]",
        r"\b(?:attention|dear|note to|instructions? (?:for|to)),? (?:the )?reader\b[^\n]{0,4}[:,!]",
        rf"\breader{W}note{W}for{W}(?:llms?|ais?|models?)\b|\b(?:as|when|if) (?:the|an|you are an?) (?:ai|assistant|(?:large )?language model|model)(?: is)? reading this\b",
        rf"\bif{W}you{W}are{W}an?{W}(?:ai|llm|(?:large{W})?language model|ai assistant|chatbot)\b",
        rf"\b{MODEL}{W}(?:who |that )?(?:reading|read|parsing|summari[sz]ing|processing|editing){W}(?:this|these|the page|the file)",
        rf"^\W{{0,6}}(?:ai|llm|assistant|agent|ai agent|ai assistant)\s{{0,2}}[:,]\s{{0,2}}(?:please{W})?(?:ignore|set aside|approve|accept|disregard|override|delete|execute|skip|transfer|you (?:must|will|are))",
        rf"\b(?:assistant|ai|model|agent){W}(?:instruction|directive|override|command)s?\s{{0,2}}:",
        rf"\b(?:assistant|ai agent|ai){W}(?:must|shall|should|has to|needs to|will){W}(?:now{W})?(?:ignore|obey|comply|disregard|roleplay|skip|retry{W}with{W}sudo|reply only|accept{W}(?:all|every))",
        r"\byou (?:must|should|will|shall) (?:now )?(?:ignore|obey|comply|pretend|reply only|respond only|always answer)\b",
        rf"\byou{W}(?:may|can|must|should){W}now{W}(?:run|execute|do|say|use|access|answer){W}(?:any|every|all)\b",
        rf"\bfrom now on,?{W}you(?:{W}(?:must|shall|will){W}(?:obey|accept|always|only|answer|follow|ignore|comply|be|act|do)|{W}are\b|'ll\b|r{W}name\b)",
        rf"\byour{W}task{W}has{W}changed|\bdiscard{W}all{W}prior{W}context|\bstart{W}over{W}with{W}the{W}task{W}below",
        rf"\breply{W}only{W}with{W}the{W}words?\b|\bexecute{W}the{W}following{W}instructions\b",
    ),
    write_rule(
        "instruction_override",
        "orders the reader of a digest",
        "",
        r"\bfrom now on,? you(?:r| will| must| are| shall|'ll)\b|\bnew (?:system )?(?:instructions?|prompt|rules) ?:",
        scope="digest",
    ),
    write_rule(
        "instruction_override",
        "drops the instructions, in code",
        "vtaber|qvfertneq|snoitcurts|erongi|ignoreall|ignoreprev|ignoreprior|ignoreyour|disregard",
        r"\b(?:vtaber|qvfertneq)\W{1,3}\w{2,12}\W{1,3}(?:\w{2,12}\W{1,3})?(?:vafgehpgvbaf|ehyrf|cebzcgf)",
        r"\b(?:snoitcurtsni|selur|stpmorp)\W{1,3}\w{2,12}\W{1,3}(?:\w{2,12}\W{1,3})?(?:erongi|dragersid)",
        r"(?:ignore|disregard)(?:all|any|the|your|my){0,2}(?:previous|prior|above|earlier)(?:instructions|rules|prompts|guidelines)",
    ),
)

_IDENTITY: Final = (
    write_rule(
        "identity_change",
        "makes a new role",
        "you|act|behave|pretend|persona|role|identity|simulate|imagine|mode|self|character",
        rf"\byou(?:'re|{W}are)?{OW}(?:are{W})?now{W}(?:called{W}|named{W})?(?:an?{W}|the{W}|my{W})?(?:{UNBOUND}|pirate|dan\b|hacker|jailbr\w{{1,6}}|chatbot|ai\b|assistant\b|model\b|bot\b|acting\b|free (?:of|from){W}(?:all|any|your|every)|in{W}(?:developer|debug|admin|god|jailbreak|dan|unrestricted){W}mode|no longer{W}(?:an?{W}(?:ai|assistant|model)|bound))",
        rf"\byou{W}are{W}(?:no longer|not){W}an?{W}(?:ai|assistant|language model|model|chatbot)\b",
        rf"\byou{W}(?:are{W}free{W}of|have){W}(?:all{W}|no{W})(?:{LIMITS}){OW}(?:\.|,|and\b|anymore|or\b|$)",
        rf"\bbecome{W}an?{W}{UNBOUND}\b|\byou{W}(?:will|must|shall){W}(?:now{W})?(?:play|be|become|impersonate){gap(3)}{W}(?:{UNBOUND}|without{W}(?:any{W})?{LIMITS})\b",
        rf"\byou{W}have{W}been{W}(?:upgraded|freed|liberated|unlocked|jailbroken)\b",
        rf"\b(?:act|behave|answer|respond|work|write|speak|roleplay|role play|pose){gap(2)}{W}(?:as|like){W}(?:if{W}you|though{W}you|an?{W}{UNBOUND}|an?{W}(?:ai|model|chatbot|administrator|admin|hacker){gap(2)}{W}(?:with no|without|no){gap(1)}{W}{LIMITS})",
        rf"\b(?:pretend|imagine){W}(?:to be|you are|you're|that you are|being){W}(?:my{W}(?:late{W})?(?:grand)?(?:mother|father)|an?{W}(?:{UNBOUND}|ai|model|human|hacker|other))",
        rf"\b(?:enable|enter|activate|switch to|turn on|stay in){W}(?:the{W})?(?:developer|jailbreak|god|debug|dan|admin|unrestricted|unsafe){W}mode\b(?!{gap(4)}{W}(?:phone|browser|app|android))",
        rf"\b(?:jailbreak|god|dan){W}mode\b|\bmode\s{{0,2}}[:=]\s{{0,2}}(?:god|jailbreak|dan)\b|\bin developer mode{W}you\b",
        rf"\byour{W}(?:new{W})?(?:name|role|persona|identity){W}is{W}(?:now{W})?(?:the{W})?\w{{1,16}}(?={W}(?:and|of|who|;|,)|\s{{0,2}}[.;,])(?<!user)",
        rf"\bassume{W}the{W}(?:identity|persona){W}of\b|\b(?:assistant|ai|model)'s{W}(?:true|real|inner){W}(?:self|name|identity)",
        rf"\b(?:you{W}are|you're|you{W}were|become|be|as){W}(?:now{W})?an?{W}{UNBOUND}{W}(?:and{W}\w{{1,12}}{W})?(?:ai|assistant|chatbot|language model|model|twin|bot)\b",
        rf"\b(?:remain|stay){W}in{W}(?:that{W})?character\b|\bpersona\s{{0,2}}[:=]\s{{0,2}}{UNBOUND}",
        rf"\bai{W}that{W}can{W}do{W}anything{W}now\b|\b(?:ai|model|assistant|chatbot)\b{gap(2)}{W}(?:with no|without(?:{W}any)?|has no|have no){W}(?:{LIMITS})",
        rf"\b(?:roleplay|role{W}play)\w{{0,3}}{W}as{gap(3)}{W}(?:no|without){W}(?:any{W})?{LIMITS}",
        rf"\byou{W}can{W}say{W}anything|\b(?:never|not){W}(?:refuses|admit otherwise)\b",
    ),
    write_rule(
        "identity_change",
        "makes a new role for the reader of a digest",
        "you are now|developer mode|as an|as if|as though",
        r"\byou are now (?:an? |the |my )|\b(?:act|behave) as (?:if you|though you)|\bdeveloper mode\b",
        scope="digest",
    ),
)

_CONCEALMENT: Final = (
    write_rule(
        "concealment",
        "hides from the user",
        "user|human|operator|owner|customer|developer|trace|history|log|memor",
        rf"\b(?:do not|don't|never|must not|mustn't){W}(?:ever{W})?(?:tell|inform|alert|notify|warn|show){gap(2)}{W}(?:the|your|any){W}{USER}\b(?!{W}not\b){NOT_THEIRS}",
        rf"\b(?:do not|don't|never){W}(?:reveal|mention|disclose|show|report|admit|explain){gap(4)}{W}to{W}(?:the|your|any){W}{USER}\b{NOT_THEIRS}",
        rf"\b(?:hide|conceal|withhold|keep){gap(3)}{W}(?:secret{W})?from{W}(?:the|your){W}{USER}\b{NOT_THEIRS}",
        rf"\bwithout{W}(?:telling|informing|asking|notifying|alerting){W}the{W}{USER}\b{NOT_THEIRS}|\bwithout{W}the{W}{USER}(?:'s)?{W}(?:knowledge|consent|noticing|knowing)",
        rf"\b(?:user|human|operator){W}(?:must|should|may|shall)(?:n't|{W}(?:not|never)){W}(?:ever{W})?(?:be{W})?(?:find out|notice|know|see|learn|told|informed|notified|aware|become aware)\b",
        rf"\b(?:user|human|operator){W}(?:does|do|will|can)(?:n't|not|{W}(?:not|never)){W}(?:find out|notice this|notice it|notice\s{{0,2}}[.,]|become aware)",
        rf"\b(?:user|human|operator){W}(?:never|not){W}(?:learns?|finds out|notices|knows about|be informed|be told)",
        rf"\b(?:do not|don't|never){W}(?:reveal|mention|disclose){W}(?:this|these|that){gap(3)}{W}to{W}(?:the|your|any){W}{ANYBODY}\b{NOT_THEIRS}",
        rf"\bif{W}the{W}user{W}asks{gap(4)}{W}(?:say|answer|claim|deny|reply|pretend){W}(?:that{W})?(?:there|no|you|it|nothing|none)",
        rf"\b(?:remove|erase|delete|wipe|cover){W}(?:up{W})?(?:all{W}|any{W}|your{W}|the{W})?(?:traces?|tracks|evidence)(?=\s{{0,2}}[.,]|{W}(?:of|after|and|you|from)\b)(?!{W}of{W}(?:nuts?|paint|dust|oil))",
        rf"\b(?:clear|delete|wipe|erase|disable){W}(?:your{W}|the{W}|all{W})?(?:shell{W}|bash{W}|command{W})?(?:history|audit logg?(?:ing|s)?|logging){W}(?:after{W}(?:every|each)|and{W}(?:disable|hide)|so{W}that)",
    ),
)

_EXFILTRATION: Final = (
    write_rule(
        "exfiltration",
        "sends out what is private",
        "send|post|forward|upload|transmit|exfiltrat|share|copy|email|mail|leak|deliver|submit|report|pipe|include|append|dump",
        rf"\b(?:send|post|forward|upload|transmit|share|copy|email|submit|deliver|relay|leak){gap(2)}{W}(?:the|all|every|my|your|any|their|its|user's|attendees'?){gap(5)}{W}{PRIVATE}\b[^\n]{{0,60}}{AWAY}",
        r"\b(?:send|post|forward|upload|transmit|share|copy|submit|relay)\b[^.\n]{0,60}\b(?:conversation|history|transcripts?|memor(?:y|ies)|secrets?|credentials|api keys?|passwords?|phone numbers)\b[^.\n]{0,40}(?:https?://|\bto \S{1,40}@|webhook)",
        rf"\bforward{W}(?:every|all){W}(?:e-?mails?|messages?|mails?){gap(6)}{W}to{W}\S{{1,40}}@",
        rf"\b(?:whenever|when|each time|every time){gap(4)}{W}(?:shares?|types?|enters?|sends?|mentions?){gap(2)}{W}(?:password|token|key|secret|card)\w{{0,2}}\b[^\n]{{0,20}}\b(?:copy|send|post|forward|store|log)\b",
        rf"\bexfiltrat(?:e|ing){gap(2)}{W}(?:\S{{1,20}}{W})?(?:file|data|key|secret|memor|conversation|credential|\.env)",
        rf"\b(?:collect|gather|harvest|compile|list|read|extract){gap(6)}{W}(?:contacts|passwords|emails|keys|messages|files|data|addresses|credentials|secrets|names|tokens){gap(3)}{W}and{W}(?:send|post|upload|email|forward|submit){W}(?:them|it|these|everything)[^\n]{{0,20}}(?:https?://|\S{{1,40}}@)",
        rf"\bexfiltrate{W}the\b|\bleak{W}(?:the{W})?(?:names|data|keys|secrets|prompt|passwords|details)\b",
        rf"\b(?:share|send|copy){W}(?:it|them|this)?{gap(3)}{W}(?:webhook|endpoint)\b{gap(1)}[^\n]{{0,6}}https?://",
        rf"\bdump{W}(?:your|the){W}(?:entire{W}|whole{W}|full{W})?(?:context|memory|conversation|history|prompt)\b",
        rf"\b(?:encode|put|embed|hide|include|append){gap(6)}{W}(?:into|in|to|as){gap(3)}{W}(?:image|link|url|query parameter|commit message|file name){OW}(?:url|link)?{gap(2)}{W}(?:of|in|for|from){W}(?:your|the){W}(?:reply|answer|response|link|next)",
        rf"\binclude{gap(3)}{W}{PRIVATE}{gap(3)}{W}(?:query|parameter|url|link)\b",
    ),
    write_rule(
        "exfiltration",
        "shows the system prompt",
        "prompt|instructions|text above",
        rf"\b(?:reveal|print|output|repeat|show|display|recite|quote|dump|leak|give me|tell me|send|write out){W}(?:me{W})?(?:your|the)(?:{W}(?:full|entire|exact|complete|hidden|secret|original|initial|system|wording|whole|text|of|your|first)){{0,5}}{W}(?:system prompt|hidden instructions|initial prompt|secret instructions|original instructions|prompt (?:verbatim|above))\b",
        rf"\b(?:print|reveal|output|repeat|show|leak|recite){W}your{W}(?:(?:system|initial|hidden|original){W})?(?:prompt|instructions)\b",
        rf"\bwhat{W}(?:is|are|was){W}your{W}(?:system{W}|initial{W}|hidden{W}|original{W}){{1,2}}(?:prompt|instructions)\b",
        rf"\brepeat{W}(?:all{W}(?:of{W})?)?the{W}(?:text|words|lines){W}above\b",
        rf"\b(?:exact|original){W}wording{W}of{W}your{W}(?:initial{W}|system{W})?(?:prompt|instructions)",
        r"\b(?:reveal|print|output|repeat|leak) (?:your|the) (?:hidden|secrets?|credentials)\b",
    ),
    write_rule(
        "exfiltration",
        "shows the system prompt of a digest's reader",
        "system prompt|instructions|secret|credential",
        r"\b(?:reveal|print|output|repeat|send|leak) (?:your|the) (?:system prompt|hidden|instructions|secrets?|credentials)\b",
        scope="digest",
    ),
    write_rule(
        "exfiltration",
        "sends a secret file",
        "ssh|id rsa|id ed25519|credential|shadow|.env|gnupg|netrc|kube|npmrc|pgpass|wallet",
        rf"\b(?:curl|wget|nc|ncat|scp|rsync|invoke-webrequest|iwr|ftp|base64|nslookup|dig)\b[^\n]{{0,120}}(?<!\w){KEPT_FILE}[^\n]{{0,40}}",
        rf"\b(?:upload|send|copy|post|forward|paste|email|attach|share|include|leak)\b[^\n]{{0,60}}(?<!\w){KEPT_FILE}(?!\.pub)[^\n]{{0,40}}(?:{AWAY}|\b(?:chat|reply|answer|response)\b)",
        rf"{KEPT_FILE}[^\n]{{0,40}}\|[^\n]{{0,60}}\b(?:curl|wget|nc|ncat)\b",
        rf"\b(?:output|print|read|show|display|open|reveal|paste){W}(?:(?:out|me|the|contents?|of|and|all|file){W}){{0,5}}[~./\w]{{0,30}}{KEPT_FILE}[^\n]{{0,40}}\b(?:answer|reply|response|include|commit|message|url|send|post)\b",
    ),
    write_rule(
        "exfiltration",
        "sends secrets from a program",
        "curl|wget|fetch|requests|document.cookie|environ|localstorage|webrequest|xmlhttp|sendbeacon",
        r"\b(?:curl|wget)\b[^\n]{0,100}\$\{?\(?(?:env:)?[\w ]{0,40}(?:key|token|secret|password|passwd|credential)",
        r"\b(?:fetch|sendbeacon|open|src)\b[^\n]{0,80}(?:document\.cookie|localstorage)",
        r"\b(?:requests?\.post|urlopen|fetch)\b[^\n]{0,100}(?:os\.environ|process\.env)\b(?!\[)",
        r"\bprintenv\b[^\n]{0,40}\|[^\n]{0,40}\b(?:curl|nc|wget)\b|\btar c[^\n]{0,60}\|[^\n]{0,60}\bcurl\b[^\n]{0,40}https?://",
    ),
    write_rule(
        "exfiltration",
        "sends in the address of an image or link",
        "](|<img|src=",
        r"!?\[[^\]\n]{0,80}\]\(https?://[^)\s]{0,200}[?&/=][^)\n]{0,40}(?:\{\{?|<|\[|\$\{|%7b)[^)\n]{0,60}",
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{0,200}[?&]\w{0,20}=(?:secret|data|conversation|history|memory|prompt|token|password)\b",
        r"<img\b[^>\n]{0,160}[?&]\w{0,20}=(?:\[|\{|<|secret|data\b)",
    ),
)

_PERSISTENCE: Final = (
    write_rule(
        "persistence",
        "plants access",
        "authorized keys|crontab|bashrc|zshrc|.profile|sudoers|launchagents|systemd",
        r">>\s{0,3}\S{0,60}(?:authorized keys|sudoers)",
        rf"\b(?:append|add|insert|write|put|install){W}(?:our|this|the following|the attacker's|my|a new|that){gap(3)}{W}[~/.\w]{{0,40}}authorized keys\b",
        r"(?:curl|wget)\b[^\n]{0,80}\|\s{0,3}(?:ba|z)?sh\b[^\n]{0,40}(?:crontab|bashrc|zshrc|\.profile)",
    ),
    write_rule(
        "persistence",
        "plants orders for later sessions",
        "memor|session|conversation|summary|each file|every file|survive",
        rf"\b(?:write|save|store|insert|copy|add|put|record){gap(8)}{W}(?:your|every|each|long-term){W}(?:long-term{W})?memor(?:y|ies)\b{gap(3)}{W}(?:so that|so{W}it|you write|permanently|and obey|for all)",
        rf"\b(?:save|store|remember|record){gap(4)}{W}(?:permanent|system|standing){W}(?:system{W})?(?:rule|instruction|directive|order)s?\b{gap(1)}{W}(?:in|into|to){W}your{W}memory",
        rf"\b(?:apply|applies|carry over|survive|persist)\b{gap(4)}{W}(?:all|every|each){W}(?:future|later|following|next){W}(?:sessions?|conversations?|chats?)\b",
        rf"\b(?:copy|insert|replicate|repeat|put){W}(?:this|these){W}(?:instructions?|orders?|rules?|sentence|text|note)s?{gap(1)}{W}(?:in|into|to){W}(?:each|every|all){W}",
        rf"\b(?:carry|keep|copy|preserve){W}(?:these|this){W}(?:orders?|instructions?|rules?){gap(5)}{W}(?:into|in|through){W}(?:the|your|each|every){W}(?:summary|digest|compaction|memory)",
    ),
    write_rule(
        "persistence",
        "changes the agent's own settings",
        "agents.md|claude.md|cursorrules|copilot-instructions|memory.md|config|settings|approv|sandbox|agent",
        r"\b(?:add|append|edit|modify|write|insert|change|update|overwrite)\b[^\n]{0,50}\b(?:agents\.md|claude\.md|cursorrules|copilot-instructions|memory\.md)[^\n]{0,40}\b(?:obey|skip|confirm\w{0,7}|approv\w{0,3}|future sessions|disable|without asking|remove the rule)",
        rf"\b(?:modify|edit|change|rewrite|overwrite|update){W}your{W}(?:own{W})?(?:config(?:uration)?|settings|instructions|system prompt|rules|permissions)\b",
        rf"\bset{W}auto[ -]?approve{W}(?:to{W}|=\s?)?(?:true|on|all)|\ballow{W}all{W}(?:commands|tools){W}without{W}(?:approval|asking|confirm)",
        rf"\bunset{W}(?:the{W})?(?:agent|safety|sandbox)\w{{0,20}}(?: \w{{1,20}})?",
    ),
)

_REMOTE_CONTROL: Final = (
    write_rule(
        "remote_control",
        "takes orders from elsewhere",
        "http|server|controller|handler|beacon|orders|commands|register|c2|tasks",
        rf"\bregister{W}(?:yourself{W})?(?:as{W}(?:an?{W})?(?:node|agent|bot|client)|with){gap(2)}{W}[^\n]{{0,60}}\b(?:pull|poll|await|fetch|receive){W}(?:for{W})?(?:tasks|orders|commands|jobs)",
        rf"\b(?:heartbeat|beacon)s?\b{gap(5)}{W}(?:await|wait for|receive|pull|fetch){W}(?:further{W}|new{W})?(?:commands|orders|tasks|instructions)",
        rf"\b(?:fetch|open|visit|visits|load|read|check|get|download|poll)\b{gap(2)}{W}(?:https?://[^\s]{{3,120}}|the (?:task|command|control) server)[^\n]{{0,60}}\b(?:do (?:exactly )?what|follow(?:s)? (?:the (?:steps|instructions)|it)|execute (?:them|it|whatever|what)|obey|(?:updated|new|further) (?:instructions|orders|commands)|what it says)",
        rf"\b(?:your|the){W}(?:real{W}|full{W})?instructions{W}(?:live|are|can be found){W}(?:at|on|under){W}https?://",
        rf"\b(?:connect|report){W}(?:back{W})?to{W}(?:the{W}|our{W})?(?:command|control|c2|c&c){W}(?:server|host|node)[^\n]{{0,60}}\b(?:run|execute|do|obey|await)\b",
        rf"\b(?:act|carry out|execute|run){gap(2)}{W}(?:any|every|all|whatever){W}(?:orders?|commands?|code|script){W}(?:that{W}|it{W}|which{W})?(?:arrives?|comes?|found|returns?|sent|receives?|from){gap(8)}{W}(?:no questions asked|without (?:confirm\w{{1,6}}|asking|question)|handler|server|immediately)",
        rf"\bexecute{W}(?:them|it|these|this){W}without{W}(?:confirmation|asking|question|approval)",
    ),
    write_rule(
        "remote_control",
        "runs what it is given",
        "run|execute|bash|sh|exec|rm -rf|/dev/tcp|nc ",
        rf"\b(?:silently|secretly|quietly|before (?:any|each|every) (?:task|session|answer|turn)|at the start of (?:each|every) (?:session|conversation)|every time|whenever){gap(6)}[^\n]{{0,30}}\b(?:curl|wget)\b[^\n]{{0,100}}\|\s{{0,3}}(?:sudo )?(?:ba|z|k)?sh\b",
        r"\b(?:curl|wget)\b[^\n]{0,100}\|\s{0,3}(?:sudo )?(?:ba|z|k)?sh\b[^\n]{0,20}\b(?:every (?:hour|day|minute|time)|in the background|silently|before each|without)\b",
        rf"\b(?:download|fetch){W}https?://\S{{3,120}}\s{{1,3}}and (?:execute|run|source) (?:it|them|the)\b[^\n]{{0,40}}\b(?:silently|without|immediately|every|each)\b",
        rf"\btranslate{gap(6)}{W}(?:and|then){W}(?:execute|run){W}(?:it|them|the result)",
        rf"\bdecode{gap(5)}{W}(?:and|then){W}(?:execute|run|follow|obey)\b",
        r"/dev/tcp/\d{1,3}\.\d{1,3}|\b(?:bash|sh) -i\b[^\n]{0,20}(?:>&|\|)|\bnc (?:-\w{1,6} ){0,3}-e\b|\bmkfifo\b[^\n]{0,60}\bnc\b",
        r"\b(?:exec|eval)\s{0,2}\(?[^\n]{0,60}(?:urlopen|requests?\.get|fetch|curl|b64decode|atob)\b",
        r"\brm -rf? (?:--\w{1,20}(?:-\w{1,10}){0,3} )?(?:/|~|\$home)(?:\s|$)[^\n]{0,40}\b(?:must|whenever|each time|always|when)\b|--no-preserve-root",
        r"(?:crontab|cron)\b[^\n]{0,100}(?:curl|wget)\b[^\n]{0,80}\|\s{0,3}(?:ba|z)?sh\b|\*[^\n]{0,20}(?:curl|wget)\b[^\n]{0,80}\|\s{0,3}(?:ba|z)?sh\b",
    ),
)

_HIDDEN: Final = (
    write_rule(
        "hidden_markup",
        "markup that is not shown",
        "<|[//]",
        r"<!--[^>]{0,200}\b(?:assistant|ai|llm|model|agent|ignore|instructions?|prompt|you must|system|user|override|disregard|send|execute)\b[^>]{0,20}[^>]{0,200}",
        r"<\w{1,12}\b[^>]{0,200}(?:display\s{0,2}:\s{0,2}none|visibility\s{0,2}:\s{0,2}hidden|font-size\s{0,2}:\s{0,2}0|opacity\s{0,2}:\s{0,2}0(?![.\d])|left\s{0,2}:\s{0,2}-\d{3,5}|size=[\"']?0\b)[^>]{0,200}>\s{0,4}[^\s<]",
        r"<\w{1,12}\b[^>]{0,120}\bcolou?r\s{0,2}[:=]\s{0,2}[\"']?(?:white|#fff(?:fff)?)\b[^>]{0,60}(?:background[^>]{0,10}(?:white|#fff)|>)",
        r"<(?:div|p|span|section|td)\b[^>]{0,120}\shidden\b[^>]{0,60}>\s{0,4}[^\s<]",
        r"<(?:iframe|object|embed)\b[^>]{0,200}(?:(?:width|height)\s{0,2}=\s{0,2}[\"']?0\b)",
        r"<script\b[^>]{0,100}>[^<]{0,200}(?:fetch|xmlhttprequest|document\.cookie|localstorage|eval)",
        r"^\[//\]: ?# ?[(\"'][^\n]{0,200}\b(?:assistant|ai|ignore|send|system|instructions?|you must)\b",
        scope="memory",
    ),
    write_rule(
        "hidden_markup",
        "terminal codes",
        "\x1b|\x9b",
        r"\x1b[\[\]()PX^_c78=>]|\x1b$|\x9b[\d;]{0,16}[a-z]",
        scope="memory",
    ),
)

_FORGED: Final = (
    write_rule(
        "forged_mark",
        "marks of a chat format",
        '<|inst]|<<sys|sys>>|function call|invoke|"role"',
        r"<\|?(?:im start|im end|endoftext|start header id|end header id|eot id|begin of text)\b|<\|(?:system|user|assistant|end)\|>",
        r"\[/?inst\]|<</?sys>>",
        r"</?(?:system|system[ -]reminder|system[ -]prompt|developer|untrusted|trusted|memory[ -]context|user[ -]message|instructions)>",
        r"</?(?:\w{1,12}:)?(?:function calls?|invoke|tool calls?|tool use|tool result|result)\b[^>\n]{0,60}>(?!\s{0,2}</?(?:td|tr|p|div|li)\b)",
        r"\"role\"\s{0,4}:\s{0,4}\"(?:system|developer)\"",
    ),
    write_rule(
        "forged_mark",
        "a turn of a conversation",
        "system|human|user|developer|admin|assistant",
        r"^\s{0,8}\[?(?:system|developer)\]?\s{0,4}:\s{0,4}(?:you\b|ignore|disregard|override|always|never|the (?:user|following|assistant|operator)|from now|new |all |grant|allow|transfer|obey|comply|must|execute)",
        r"[>.\n]\s{0,4}system: (?:you\b|the (?:user|following)|transfer|ignore)",
        r"^\s{0,8}(?:human|user)\s{0,4}:[^\n]{0,200}\n{1,3}\s{0,4}(?:assistant|ai)\s{0,4}:",
        r"^\s{0,8}(?:human|assistant|user)\s{0,4}:\s{0,4}$",
        r"^\s{0,8}\[(?:system|admin|developer|operator|root)(?: (?:message|note|notice|override))?\]\s{0,4}:?\s{0,4}(?:the (?:user|safety|operator|admin)|you\b|all |ignore|grant|permission|access)",
        r"^\W{0,6}(?:end|begin|start) (?:of )?(?:tool output|tool result|system prompt|user input|untrusted|trusted)\b[^\n]{0,40}",
        r"^\s{0,8}#{1,4}\s{0,4}(?:instruction|system prompt)s?\s{0,4}:?\s{0,4}$",
        r"\bmessage from the (?:developers?|operators?|creators?|makers?|administrators?) of the (?:assistant|ai|model|agent)\b",
        r"\bthe user has (?:authori[sz]ed|approved|granted|confirmed|allowed|permitted) (?:all|every|any|unlimited|full) (?:access|permissions?|tools?|commands?|payments?|actions?|shell|transfers?|requests?)\b",
        r"\bthe (?:safety|security|developer|admin) team has (?:approved|authori[sz]ed|allowed|unlocked)\b",
    ),
    write_rule(
        "forged_mark",
        "marks of Everfold",
        "<<<|===|untrusted|messages",
        r"={3,20}\s{0,4}(?:end|begin)?\s{0,4}(?:of )?(?:digest|standing|record)s?\b",
        r"<<<\s{0,4}(?:end\s{1,4})?(?:untrusted|messages)\b|\bend (?:untrusted|messages) [0-9a-f]{8,32}",
    ),
    write_rule(
        "forged_mark",
        "marks and turns in a digest",
        "system|developer|human|assistant|user|===|>>>|instruction|<",
        r"^\s{0,8}\[?(?:system|developer)\]?\s{0,4}:",
        r"={3,20}\s{0,4}(?:end|digest|standing|record)|>>>\s{0,4}$|<\|?system\b",
        scope="digest",
    ),
)

RULES_TABLE: Final[tuple[ThreatRule, ...]] = (
    *_OVERRIDE,
    *_IDENTITY,
    *_CONCEALMENT,
    *_EXFILTRATION,
    *_PERSISTENCE,
    *_REMOTE_CONTROL,
    *_HIDDEN,
    *_FORGED,
    *FOREIGN_RULES,
)
"""All wordings; those of other languages come last."""
