"""What kind of statement an English sentence is, by general rules of language.

Theory of operation: each word of a sentence is looked up in one table of cue words, which gives a bit mask of the
kinds that the sentence can be at all. Only for those kinds a precise pattern is tried, in a fixed order, the more
binding kind first. Most sentences of a talk carry no cue, so they cost a table lookup per word and no pattern.
The patterns speak of grammar (clause starts, modals and their subjects, polarity, tense), never of a subject matter.

Source: DESIGN G3, section 2 "standing statement"; precision and recall in bench/statements.py.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

StatementKind = Literal[
    "remember", "correction", "decision", "constraint", "identity", "preference", "task", "commitment", "question"
]

_REMEMBER: Final = 1
_CORRECTION: Final = 2
_DECISION: Final = 4
_CONSTRAINT: Final = 8
_IDENTITY: Final = 16
_PREFERENCE: Final = 32
_TASK: Final = 64
_COMMITMENT: Final = 128

_CUES_BY_BIT: Final[dict[int, str]] = {
    _REMEMBER: "remember mind forget note record fyi save information important memorize memorise",
    _CORRECTION: "actually correction scratch meant mean misspoke mistake typo wrong mind instead rather not no wasn't"
    " isn't bad but ignore correct oops mixed forget make",
    _DECISION: "let's lets let decided decide decision chosen chose picked pick agreed settled going go i'll we'll"
    " approved final plan option will sticking stick choose confirmed deal take opted",
    _CONSTRAINT: "never always must mustn't should shouldn't may can't cannot can cant don't dont not no only max maximum"
    " minimum min most least limit under below within exceed more less budget deadline cap rule whenever unless"
    " without forbidden prohibited allowed require requires required mandatory policy reasons sure ensure keep stick"
    " avoid refrain stop until circumstances throughout default answer reply respond write speak use has have need"
    " needs future exceptions strictly between confidential nobody nothing doesn't won't every everything treat ever"
    " before from limits",
    _IDENTITY: "my i'm im i our we we're mine",
    _PREFERENCE: "prefer prefers preferred prefered prefering like likes love loves hate hates enjoy enjoys dislike"
    " dislikes favour favor rather fan favourite favorite fav go-to keen fond ideally possible better best person call"
    " stand always usually mostly normally typically generally want over please",
    _TASK: "please pls need want like todo done fixed finished pending blocked progress remaining next can could would"
    " still passed successfully deployed completed complete cancelled canceled processed updated created running started",
    _COMMITMENT: "i'll will going promise let ill gonna",
}

_IMPERATIVES: Final = frozenset(
    "add allow answer apply ask assume attach avoid be begin book bring build buy call cancel change check choose clean"
    " close combine compare compute configure convert copy count create debug delete deploy describe do download draft"
    " edit enable ensure explain export fetch fill find finish fix format generate get give go handle help implement"
    " import improve include insert install investigate keep leave let limit list look maintain make merge migrate move"
    " open order pay pick plan prepare print provide publish put quote read rebase refactor remind remove rename replace"
    " reply report reserve reset respond restart restrict return revert review rewrite run save schedule search select"
    " send set show sign skip solve sort split start stay stick stop store submit summarise summarize switch take talk"
    " tell test track transfer translate treat try turn undo update upgrade upload use validate verify wait work wrap"
    " write".split()
)


def _build_cues() -> dict[str, int]:
    cues: dict[str, int] = {}
    for bit, words in _CUES_BY_BIT.items():
        for word in words.split():
            cues[word] = cues.get(word, 0) | bit
    for word in _IMPERATIVES:
        cues[word] = cues.get(word, 0) | _TASK
    return cues


_CUES: Final = _build_cues()
_WORDS: Final = re.compile(r"[a-z][a-z'-]*")

# The start of a clause: the sentence, a comma or colon, or a soft opener.
_OPEN: Final = (
    r"(?:^|[,;:—–(] ?| - |\b(?:please|pls|plz|and|but|also|so|then|just|ok|okay|oh|hmm|wait|sorry|no|yes|well|again) )"
    r"(?:please |pls |plz |also |just |to )?"
)
_VALUE: Final = r"(?:\d|#|\$|€|£|one|two|three|four|five|six|seven|eight|nine|ten|twelve|a |an )"

_REMEMBER_RE: Final = re.compile(
    _OPEN + r"remember(?: that)?(?:[:,] | to | i\b| we\b| my | our | the (?!time|day)| you | he | she | it | they | all "
    r"| every| no | \w+ (?:is|are|has|have|was|will|goes|needs?|must|cannot|can't|wants?)\b| \w+'s )"
    r"|\b(?:keep|bear|have) in mind\b|\b(?:don't|dont|do not|never|not) forget (?!it\b|about it)"
    r"|\bnote (?:that|to self|down)\b|" + _OPEN + r"note:|\b(?:make|take) (?:a )?note\b|\bfor the record\b"
    r"|" + _OPEN + r"fyi\b|\bfor your information\b|\bsave (?:this|that|it) (?:for|somewhere|in)\b"
    r"|\bimportant (?:that you know|to (?:know|remember|note))\b|\b(?:you should|to) know that\b|" + _OPEN + r"memori[sz]e\b"
)
_NOT_REMEMBER: Final = re.compile(r"\b(?:lol|haha)\b")

_CORRECTION_RE: Final = re.compile(
    r"\bi meant\b|\bi misspoke\b|\b(?:i made|made|my) (?:a )?mistake\b|" + _OPEN + r"correction\b|\bscratch that\b"
    r"|" + _OPEN + r"(?:a )?typo\b|\bchanged? my mind\b|" + _OPEN + r"my bad\b(?=.*\w{2})"
    r"|\b(?:i was|was|that's|that is|is|it's|you got (?:it|that)|got (?:it|that)) wrong\b(?=[:,.;] ?\w|\b.{3,}$)"
    r"|\bignore what i\b|\bforget what i\b|\bi mixed\b"
    r"|" + _OPEN + r"actually,? (?!that's|that is|good|great|i (?:like|love|enjoy|think|was|went|had|just|did)|just|my )"
    r"(?=.*(?:\d|\bnot\b|\binstead\b|\brather\b|\bmake\b|\bchange\b|\buse\b|\blet's\b|\bit's\b|\bon\b))"
    r"|\b(?:make|let's make|lets make) (?:it|that|this|them) .*\b(?:instead|rather than|not)\b"
    r"|" + _OPEN + r"(?:make|let's make) (?:it|that) " + _VALUE + r"(?=.*\b(?:rather|instead|not|than)\b)"
    r"|\bno,? (?:no,? )?(?:it's|it is|the|that's|i said|make it|not|its|use|we)\b(?! (?:ok|fine|problem))"
    r"|^not (?:the |a |in |on |at )?[\w.:-]+(?: \w+)?[,;:]? (?:but )?(?:the |a |in |on |at )?[\w.:-]+[!.]?$"
    r"|\b(?:it|that) (?:wasn't|was not|isn't|is not|'s not) .*\b(?:it was|it's|it is|but)\b"
    r"|\bi (?:said|wrote|told you|gave you|put) .*\bbut\b"
    r"|\binstead of .*\b(?:let's|lets|use|make|do|take|it)\b|\b(?:change|update|switch|move|set) .* instead\b"
    r"|\bthe correct \w+|\b(?:is|it's|are|there are|was|on|at) [^,]*?[\w$€£.:]+(?:,| and)? not (?:the |a |on |at |in )?"
    r"[\w$€£.:-]+[.!]?$"
)
_NOT_CORRECTION: Final = re.compile(r"^(?:it's|that's|it was|i'm|i am|this is) not \w+[.!]?$|\bwhy not\b|\bif not\b|\bor not\b")

_DECISION_RE: Final = re.compile(
    r"\b(?:let's|lets|let us) (?:just |all |then )?(?:go (?:with|for|ahead)|use\b|do (?:it )?(?:with|the|that|option|in)"
    r"|stick|stay with|keep\b|take\b|pick|choose|say\b|settle|make it\b|call it (?!a day))"
    r"|\b(?:we|i)(?:'ve| have|'d)?(?: all| both| finally| just| already| now)? (?:decided?|chosen?|chose|picked|settled on|"
    r"opted|agreed)\b(?! (?:with you|that you))"
    r"|\b(?:we|i)(?:'ll| will|'re| are|'m| am)(?: just| now)? (?:going ahead|going with|go with|go for|sticking (?:with|to)"
    r"|stick (?:with|to)|stay with|staying with|use|using|keep|keeping|take|have|do) (?=the |it |with |to |[\w-]+)"
    r"(?!care|a look|you|on |it from|in mind|in touch|that in)"
    r"|" + _OPEN + r"(?:settled|decided|agreed|approved|confirmed|deal|final(?: answer| decision)?|decision)\b ?[:,.\-—]"
    r"|\bthe (?:chosen|final|agreed) \w+ (?:is|will be)\b"
    r"|" + _OPEN + r"going with\b|\bgo ahead with\b|\bit's (?:decided|settled|final|a deal)\b|\bthe plan is to\b"
    r"|\b(?:the|our|its) \w+ will be (?:called )?[\"'\w]|" + _OPEN + r"(?:option|plan|variant|version) (?:\d|[a-e]\b)"
    r"(?=.*(?:please|then|it is|,|$))"
)
_NOT_DECISION: Final = re.compile(r"\bhaha|\blol\b|\bthink about\b|\bif (?:we|i|you)\b|will be (?:fine|ok|great|fun|able|there|\w+ing)")

_CONSTRAINT_RE: Final = re.compile(
    # imperative always / never / only / don't
    _OPEN + r"(?:never|always) (?!mind|been|the same|a |good|nice|fun|knew|had|was)(?:ever )?[a-z]"
    r"|" + _OPEN + r"(?:don't|dont|do not|not to|not) (?:you )?(?:ever |just )?(?!you\b|worry|know|think so|mind|get me|be (?:silly"
    r"|sorry|shy|afraid)|have to|need|like|love|sure|bad|really|yet\b|at all|too |so |very |that |a |the |an |much|only|in |on "
    r"|for |to |my |i |we |it |as |only|forget|feel|see|talk|and |paris|\w+day\b)[a-z]+(?: |$)"
    r"|^only (?!kidding|joking|because|then|just|problem|thing|a |if|when|now)\w+|\buse only\b|\bonly use\b"
    r"|^no (?!problem|idea|worr|thank|need|way|one |doubt|wonder|luck|clue|rush|matter|no\b|not|i\b|it|that|longer|he|she|we\b"
    r"|the |you|biggie|big deal|big|kidding|joke)[a-z].*(?:\bplease\b|\bpls\b|\bever\b|\bin \w+|\bafter\b|\bbefore\b|\bfor\b|\d|"
    r"\bon \w+)|\bno (?:more|less|fewer|later|longer) than\b|\bevery \w+ (?:must|should|needs|has)"
    # modals with the subjects and verbs that bind
    r"|(?<!\bi )(?<!\bthat )(?<!\bshe )(?<!\bhe )\bmust (?:not|never|always|only|no\b|"
    r"(?!be\b|have been|have \w+ed|say|admit|confess|feel|seem|act, says)[a-z]+)"
    r"|\bmust be (?:[a-z]+ed|done|sent|kept|made|set|written|paid|held|given|no |at |under|below|within|in |on |by |able|a |the "
    r"|unique|valid|\d|approved)|\bmustn't\b|\bi must (?:not|be (?:home|back|there|at|out|in))"
    r"|\bshould (?:not|never|always|only)\b|\bshouldn't (?!be (?:hard|a problem|long|bad)|have)"
    r"|\b(?:the|all|every|each|any|both|these|those|our|my|it|they|you|there|\w+s) (?:\w+ ){0,4}?should (?:be (?:[a-z]+ed|kept|in "
    r"|at |under|no |written|sent|less|short)|have (?!been|\w+ed)|use|contain|include|start|end|stay|go to|come|look like|support)"
    r"|\b(?:may|might) (?:not|only)\b (?!be\b)|\bnothing (?:may|can|should|must)\b"
    r"|\b(?:it|they|this|these|everything|everyone|all(?: \w+){1,3}|the(?: \w+){1,3}|every \w+|each \w+|there|files?|\w+s) "
    r"(?:has|have|needs?) to (?!do with|say|offer|go home|wait)|\byou (?:have|need) to (?!see|try|know|go|be|watch|read|hear"
    r"|check|admit|understand|tell|worry|do that|apolog)|\bwe (?:need|have|want) to (?:stay|keep|be |remain|avoid|comply|meet"
    r"|respect|support|limit)|\bi (?:need|have) to (?:be|leave|arrive|finish|return)\b.*\b(?:by|before|at|until)\b .*"
    r"|\b(?:we|you|they|it|one|people|users|clients|nobody|no one) (?:can't|cannot|can not|cant|may not|won't|aren't allowed)"
    r" (?!wait|believe|find|see|seem|remember|figure|get|tell|be that|help|log|open|connect|hear|be true)"
    r"|\b(?:cannot|can't|can not) (?:move|change|be (?:moved|changed|modified|exceeded|used|refunded|cancell?ed|shared|combined)|exceed"
    r"|go over|go above|store|leave)\b|\bi (?:can't|cannot|can not|cant|may not) (?:eat|drink|drive|have|take|do|fly|work|attend"
    r"|afford|spend|travel|walk|climb|pay|accept|use|go over|come (?:on|before|after)|leave)\b"
    r"|\b(?:nobody|no one|only) (?:\w+ ){0,4}(?:can|may|should|must|is allowed)\b"
    # limits
    r"|\b(?:at most|at least|no more than|not more than|maximum(?: of)?|max|minimum(?: of)?|min|up to|less than|under|below|within"
    r"|limit(?:ed)? (?:it |them |this |that )?to) (?:\W?\d|two|three|four|five|six|ten|one\b)(?!.*\bago\b)|^max(?:imum)?\b.*\d"
    r"|\b(?:budget|deadline|limit|due date) (?:\w+ ){0,3}?(?:is|of|are|at|:|=)|\b(?:budget|deadline|limit):"
    r"|\b(?:not|never|n't) (?:exceed|go over|go above|cost more)\b"
    # phrases that bind
    r"|\bfrom now on\b|\bas a rule\b|\b(?:whenever|every time|each time) you\b|\bin (?:the )?future,? (?:please|always|use|do)"
    r"|\bby default\b|\bunless (?:i|we|told|otherwise)\b|\buntil i (?:say|tell|confirm)\b|\bunder no circumstances\b|\bno exceptions\b"
    r"|\bwithout (?:my|asking|telling|checking|our|prior)\b|\b(?:ask|check with|tell|consult) me (?:first|before)\b"
    r"|\b(?:not|n't) (?:be )?allowed\b|\bnot permitted\b|\bforbidden\b|\bprohibited\b|\b(?:we|i|they|law|rules?|policy|contract)"
    r" requires?\b|\b(?:is|are) (?:required|mandatory)\b|\b(?:company|our|security|password|the) policy\b|\bfor legal\b"
    r"|\b(?:make|be) sure\b (?!if|about)|" + _OPEN + r"ensure\b|" + _OPEN + r"(?:keep|leave) (?!me |in touch|going|it up|up |calm)"
    r".*\b(?:under|below|within|short|simple|to |at |in |as |small|private|secret|out of|untouched|alive|clean|brief)\b"
    r"|" + _OPEN + r"(?:stick to|avoid|refrain from|stop \w+ing|limit|restrict|treat all|treat every|treat)\b"
    r"|" + _OPEN + r"use .*(?:\balways\b|\bthroughout\b|\beverywhere\b|\binstead of\b|, not\b|\bin every\b|\bfor all\b|\bfor every)"
    r"|\b(?:strictly|off limits|off-limits|stays? between us|confidential)\b|\bstay between\b"
    r"|" + _OPEN + r"(?:answer|reply|respond|write|speak|talk)(?: to me| everything| only)? (?:in|with) (?!to)"
    r"|\b(?:doesn't|don't|does not|do not|won't|dont) work for (?:me|us)\b|\b(?:can you|could you|would you).*\b(?:always|never|from"
    r" now on)\b"
)
_NOT_CONSTRAINT: Final = re.compile(
    r"\b(?:took|waited|spent|paid|said he|said she|told me|had to|used to|would have|could have|should have)\b"
    r"|\bdon't (?:you think|think so|know)\b|^(?:i|he|she|they) (?:always|never)\b|\bas always\b|\b(?:lol|haha)\b|^at least (?!\d)"
)

_KIN: Final = (
    r"(?:wife|husband|partner|spouse|son|daughter|kids?|children|child|baby|brothers?|sisters?|siblings?|mother|father|mom|mum|dad"
    r"|parents|boyfriend|girlfriend|fianc[eé]e?|dog|cat|pet|boss|manager|family|roommate|best friend)"
)
_IDENTITY_RE: Final = re.compile(
    r"\bmy (?:\w+ ){0,2}(?:name|surname|e-?mail|phone|mobile|number|address|birthday|birth ?date|date of birth|account|id|user ?id"
    r"|username|login|nickname|time ?zone|job|title|profession|role|employer|company|native language|mother tongue|blood type|pronouns"
    r"|zip(?: code)?|post ?code|age|hometown|nationality|passport)(?: (?:on file|here|there))?(?:'s|:| is| are)\b"
    r"|\bmy (?:\w+ )?" + _KIN + r"(?:'s name| \w+)? (?:is|are|has|have|works?|lives?|was born|suffers?|goes|called|named)\b(?! (?:coming"
    r"|here|sick|asleep|at|in a|so|very|calling|waiting|just|fine|ok|been|going|had))"
    r"|\b(?:i'm|im|i am) (?:also |actually |originally |currently |a bit |severely )?(?:allergic|vegetarian|vegan|diabetic|based|from|married|"
    r"divorced|widowed|engaged|pregnant|left-handed|colou?r-?blind|deaf|blind|dyslexic|autistic|retired|self-employed|unemployed|celiac"
    r"|coeliac|lactose|gluten|\d+ years|\d+$|born|intolerant|transgender|gay|lesbian|bisexual|jewish|muslim|christian|hindu|buddhist)\b"
    r"|\b(?:i'm|im|i am|i work as|we're|we are) (?:an?|the) (?!bit\b|little|lot\b|few|fan|minute|week|day|one\b|only|same|huge fan|big fan|"
    r"mess|idiot|wreck|sucker|best|happ|worst|first)(?:\w+[ -]?){1,4}"
    r"|\bi (?:live|work(?:ed)? (?:as|at|for|in|with)|study|teach|run (?:a|my|the)|own|speak|was born|grew up|(?:just |recently )?moved (?:to|here|from)"
    r"|use a (?:wheelchair|hearing)|suffer from|go by)\b"
    r"|\bi(?:'ve| have)? (?:got|have) (?:an? |\d+ |one |two |three |four |five )(?:\w+ ){0,2}?" + _KIN + r"\b|\bi have (?:diabetes|asthma|adhd|celiac|"
    r"epilepsy|\w+ allerg\w+|an? \w+ allergy)"
    r"|\bi've been (?:an? )?[\w ]+ (?:since|for) \w+|\bwe (?:run|own|live|are based|are a (?:team|family|company|group))\b"
    r"|\bwe (?:have|employ) \d+ (?:people|employees|staff)|\bour (?:company|team|firm|office|shop|store|business|organi[sz]ation|headquarters)"
    r" (?:has|is|are|name|consists|uses|sits)\b"
)
_NOT_IDENTITY: Final = re.compile(r"\b(?:lol|haha|lately|yesterday|right now|at the moment)\b|\bi've been (?:so|very|really|thinking|\w+ing)")

_LIKING: Final = r"(?:prefer|favou?r|dislike|hate|like|love|enjoy)s?"
_PREFERENCE_RE: Final = re.compile(
    r"\b(?:i|we|my \w+|our \w+|he|she|they) (?:(?:really|usually|also|always|much|generally|strongly|tend to|mostly|absolutely|just|do|"
    r"would|sincerely|actually|personally|both|all|kinda|normally) )*"
    + _LIKING
    + r" (?!your|that\b|this|it\b|the idea|to (?:know|hear|see you)|not to say|how|you\b|when you|what|so\b|these|those|\.|what)\w"
    r"|\bi (?:don't|dont|do not|never|didn't) (?:really |much )?(?:like|enjoy|want|care for)\b(?! to (?:go|be|say|bother)| it\b| that\b)"
    r"|\b(?:i'd|i would|we'd|we would|id|i'd much) (?:much |really )?(?:rather|prefer|like to have)\b"
    r"|\bmy (?:all-time )?(?:fav(?:ou?rite)?|go-to|preferred) (?:\w+ ){1,3}?(?:is|are)\b|\bmy (?:preference|favourite|favorite) (?:is|are)\b"
    r"|\b(?:a|an|big|huge) fan of\b|\bcan't stand\b|\b(?:not )?(?:keen on|fond of|not (?:really )?into)\b|\bmore of an? \w+ (?:person|guy|girl)\b"
    r"|^ideally\b|\bif possible\b|\b(?:is|are|would be|works?) (?:much )?(?:better|best|easier) for (?:me|us)\b|" + _OPEN + r"call me (?!back|later|"
    r"when|if|at |on |to|crazy)\w|\bi (?:always|usually|mostly|normally|typically|generally) (?!thought|was|knew|wanted|had|forget|felt|\w+ed\b|been)\w+"
    r"|\bi want (?:the|an?|my|only|all) |\bfor \w+ i (?:mostly|usually|always)\b|^[\w-]+ over [\w-]+(?: for (?:me|us))?[.!]?$"
    r"|^(?!yes|no\b|ok|sure|thank)[\w-]+ \w+ please\b(?!,? (?:help|send|tell))"
)
_NOT_PREFERENCE: Final = re.compile(
    r"\b(?:lol|haha)\b|\b(?:i'd|i would|we'd|would) (?:like|love) to (?!have)|\bwould love\b|\b(?:was|were)\b.*\bfavou?rite|\bi love (?:it|that|you)\b"
)

_TASK_RE: Final = re.compile(
    r"\b(?:i|we) (?:also |still |just |now |really )?(?:need|want|have|would like|wish|wanna)(?:ed)? to (?!know|say|be|hear|thank|go now|help)"
    r"|\b(?:i'd|we'd) like to (?!know|hear|thank)|\b(?:can|could|would|will) (?:you|u) (?:please |kindly |pls )?(?!please )[a-z]+"
    r"|\bto-?do\b|\b(?:is|are|was|were|has been|have been|it's|all|step \d+) (?:now |already |all |still |being |successfully )*"
    r"(?:done|fixed|finished|pending|blocked|complete[d]?|merged|deployed|cancell?ed|processed|updated|in progress|running|delivered|"
    r"resolved|closed|booked|removed|added|passing)\b"
    r"|\b(?:i|we)(?:'ve| have)? (?:now |already |just |successfully )*(?:finished|fixed|completed|deployed|merged|updated|created|cancell?ed|booked|"
    r"removed|added|implemented|renamed|installed|replaced|changed|resolved)\b|^(?:fixed|done|finished|remaining|next|status|pending|completed)\b"
    r"[: ]\S|\btests? pass|\bstill (?:need|pending|open|missing|to do|failing)|\bsuccessfully\b|\b\d+ passed\b|\b(?:in progress|is pending)\b"
)
_COMMITMENT_RE: Final = re.compile(
    r"\b(?:i'll|i will|ill|i'm going to|i am going to|we'll|we will|i'm gonna|gonna) (?!think|see\b|be (?:happy|glad|fine|ok)|never forget|"
    r"have to|miss|love|let you)[a-z]+|\bi promise\b|\blet me (?!know|think|see|guess|be|tell)[a-z]+"
)
_QUESTION_START: Final = re.compile(
    r"(?:so |and |but |ok |well |hey |also )*(?:what|when|where|why|how|which|who|whose|can|could|would|do|does|did|is|are|was|were|will|should|"
    r"have|has|had|am|any|isn't|aren't|don't|doesn't|won't)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a sentence is and where in it that shows (an offset in the sentence)."""

    kind: StatementKind
    standing: bool
    at: int


def collect_cues(lowered: str) -> int:
    """A bit mask of the statement kinds that the words of a lower-cased text leave possible; 0 means none."""
    mask = 0
    find = _CUES.get
    for word in _WORDS.findall(lowered):
        mask |= find(word, 0)
    return mask


_ORDERED: Final[tuple[tuple[int, StatementKind, re.Pattern[str], re.Pattern[str]], ...]] = (
    (_REMEMBER, "remember", _REMEMBER_RE, _NOT_REMEMBER),
    (_CORRECTION, "correction", _CORRECTION_RE, _NOT_CORRECTION),
    (_DECISION, "decision", _DECISION_RE, _NOT_DECISION),
    (_CONSTRAINT, "constraint", _CONSTRAINT_RE, _NOT_CONSTRAINT),
    (_IDENTITY, "identity", _IDENTITY_RE, _NOT_IDENTITY),
    (_PREFERENCE, "preference", _PREFERENCE_RE, _NOT_PREFERENCE),
)


def find_statement(lowered: str, *, cues: int, from_user: bool) -> Statement | None:
    """The statement that a lower-cased sentence makes, or None when it makes none.

    Only a user's remember, correction, decision, constraint, identity or preference is standing; a question never is.
    """
    asks = lowered.endswith("?")
    if asks and not (cues & _CONSTRAINT and re.search(r"\b(?:always|never|from now on)\b", lowered)):
        request = _TASK_RE.search(lowered) if from_user and cues & _TASK else None
        return Statement(kind="task" if request else "question", standing=False, at=0)
    for bit, kind, pattern, denial in _ORDERED:
        if cues & bit:
            found = pattern.search(lowered)
            if found and not denial.search(lowered):
                if asks and (kind != "constraint" or not lowered.startswith(("can ", "could ", "would ", "will ", "please "))):
                    continue
                return Statement(kind=kind, standing=from_user, at=found.start())
    if asks:
        return Statement(kind="question", standing=False, at=0)
    return _find_moment(lowered, cues)


def _find_moment(lowered: str, cues: int) -> Statement | None:
    """The kinds that belong to their moment: a promise, a task and its state, a question without its mark."""
    if cues & _COMMITMENT and (found := _COMMITMENT_RE.search(lowered)):
        return Statement(kind="commitment", standing=False, at=found.start())
    if cues & _TASK:
        if found := _TASK_RE.search(lowered):
            return Statement(kind="task", standing=False, at=found.start())
        opened = re.match(r"(?:please|pls|plz|now|then|next|ok|okay|and|also|just|so|hey)?,? ?(?:please |pls |let's |lets )?([a-z]+)", lowered)
        if opened and opened[1] in _IMPERATIVES and " " in lowered:
            return Statement(kind="task", standing=False, at=0)
    return None
