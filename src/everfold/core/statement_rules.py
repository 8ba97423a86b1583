"""The rules of `statements` as data: cue words, patterns of grammar, and what denies them.

One row a rule: the kind, the words without one of which it cannot hold, and its pattern over the lower-cased sentence.
After bars follow parts of the sentence without one of which it cannot hold either; they only save its search. Rows stand in the order in which they are tried, the more binding kind first. The module is long because it is a table.

Source: own grammar of English requests, and of the plainest ones of German, Spanish, French, Italian and Dutch, tuned on the
dev splits of tests/data/statements.jsonl and tests/data/memory_statements.jsonl only.
"""

from typing import Final, Literal

StatementKind = Literal[
    "remember",
    "correction",
    "decision",
    "constraint",
    "identity",
    "preference",
    "commitment",
    "task",
    "question",
    "need",
    "open",
]

HAS_DATE: Final = 1
MAY_DATE: Final = 2
MAY_FAIL: Final = 4
MAY_STATE: Final = 8
IMPERATIVE: Final = 16
FIRST_RULE: Final = 5


def list_word_set(text: str) -> frozenset[str]:
    """The words of a table that is written as one text."""
    return frozenset(text.split())


def list_marked_words(text: str) -> frozenset[str]:
    """The words of such a table, also with the mark that may follow one: splitting at blanks finds all of them."""
    return frozenset(word + mark for word in text.split() for mark in ("", *",.!?:;"))


IMPERATIVES: Final = list_word_set(
    "add allow answer apply ask assume attach avoid be begin book bring build buy call cancel change check choose clean"
    " close combine compare compute configure convert copy count create debug delete deploy describe do download draft"
    " edit enable ensure explain export fetch fill find finish fix format generate get give go handle help implement"
    " import improve include insert install investigate keep leave let limit list look maintain make merge migrate move"
    " open order pay pick plan prepare print provide publish put quote read rebase refactor remind remove rename replace"
    " reply report reserve reset respond restart restrict return revert review rewrite run save schedule search select"
    " send set show sign skip solve sort split start stay stick stop store submit summarise summarize switch take talk"
    " tell test track transfer translate treat try turn undo update upgrade upload use validate verify wait work wrap"
    " write"
)
DATE_WORDS: Final = (
    "monday tuesday wednesday thursday friday saturday sunday january february april june july august september october"
    " november december jan feb apr jul aug sep sept oct nov dec yesterday today tomorrow tonight weekend ago anniversary birthday"
)
MAY_DATE_WORDS: Final = "march may mar jun last next past coming years year months month weeks week days day since"
FAILURE_WORDS: Final = (
    "error errors errno exception fatal panic traceback failed failure failures fails failing denied refused unauthorized"
    " unauthorised forbidden unreachable unavailable timed timeout crash crashed crashes segfault segmentation aborted"
    " unhandled undefined cannot unable invalid conflict broken warning rejected killed overflow found exit exited err npm bad"
    " gateway"
)
STATE_WORDS: Final = (
    "passed failed skipped test tests errors total subtotal balance sum exit exited status state phase result outcome verdict success"
    " successful successfully complete completed finished delivered canceled cancelled confirmed up-to-date deployed merged approved"
    " submitted refunded shipped pending processed"
)

# The start of a clause: of the sentence, after a comma or colon, or after a soft opener.
_OPEN: Final = (
    r"(?:^|[,;:—\u2013(] ?| - |\b(?:please|pls|plz|kindly|and|but|also|so|then|just|ok|okay|oh|hmm|wait|sorry|no|yes|well|again) )"
    r"(?:please |pls |plz |also |just |to )?"
)
_START: Final = r"(?:^|[,;:—\u2013(] ?| - |\b(?:please|pls|plz|ok|okay|but seriously|and please),? )"
"""The start of a clause, not after a mere "and" or "to"."""
KIN_WORDS: Final = (
    "wife husband partner spouse son daughter kid kids children child baby brother brothers sister sisters sibling siblings mother"
    " father mom mum dad parents boyfriend girlfriend fiance fiancee dog cat pet boss manager family roommate"
)
_KIN: Final = "(?:" + "|".join(KIN_WORDS.split()) + ")"
_MINE_WORDS: Final = (
    "name surname email e-mail phone mobile number address birthday birthdate birth account id userid username login nickname timezone"
    " zone job title profession role employer company language tongue pronouns zip postcode age hometown nationality passport type"
)
_MINE: Final = "(?:" + "|".join(_MINE_WORDS.split()) + ")"
STATES_OF_BEING: Final = (
    "allergic vegetarian vegan diabetic based from married divorced widowed engaged pregnant left-handed colorblind colourblind"
    " color-blind colour-blind deaf blind dyslexic autistic retired self-employed unemployed celiac coeliac lactose gluten years born"
    " intolerant transgender gay lesbian bisexual jewish muslim christian hindu buddhist single"
)
_BEING: Final = "(?:" + "|".join(STATES_OF_BEING.split()) + ")"
_DONE: Final = (
    r"(?:done|fixed|finished|pending|blocked|completed?|merged|deployed|cancell?ed|processed|updated|in progress|running|delivered"
    r"|resolved|closed|booked|removed|added|passing|implemented|created|installed|renamed|replaced|changed)"
)
_DONE_WORDS: Final = (
    "done fixed finished pending blocked complete completed merged deployed canceled cancelled processed updated progress running"
    " delivered resolved closed booked removed added passing implemented created installed renamed replaced changed"
)

RULES: Final[tuple[tuple[StatementKind, str, str], ...]] = (
    (
        "remember",
        "remember",
        _OPEN
        + r"remember(?: that)?(?:[:,] | to | i\b| we\b| my | our | the (?!time|day)| you | he | she | it | they | all | every| no "
        r"| \w+ (?:is|are|has|have|was|will|goes|needs?|must|cannot|can't|wants?)\b| \w+'s )",
    ),
    (
        "remember",
        "remeber rember rmbr remmember remembr",
        _OPEN + r"(?:remeber|rember|rmbr|remmember|remembr) (?:that |you |to |my |the |our |i |we )",
    ),
    ("remember", "4get", r"\b(?:don't|dont|do not|never) 4get\b"),
    (
        "remember",
        "records file record acc account profile card|for your record|for our record|for my record|note|put|add ",
        (
            r"\bfor (?:your|our|my) records?\b|\bnotes? (?:on|in|to) (?:my|the |our )?(?:file|record|profile|account|acc|card)\b"
            r"|\b(?:note|put|add) .*\b(?:on|in|to) (?:my|our|the) (?:\w+ )?(?:file|record|profile|account|acc|card)\b.*\b(?:that|can|must|is|are)\b"
        ),
    ),
    (
        "remember",
        "merk merke merken denk denke vergiss vergesst vergessen notier notiere notieren",
        r"\bmerke?n? (?:dir|sie sich|euch)\b|\bdenke? (?:bitte )?daran\b|\bvergiss (?:bitte )?nicht\b|\bnicht vergessen\b|"
        + _OPEN
        + r"notieren?\b",
    ),
    (
        "remember",
        "recuerda recuerde acuérdate acuerdate olvides olvide olviden apunta anota anote tenga ten",
        _OPEN
        + r"(?:recuerd[ae]|acu[eé]rdate|apunt[ae]|anot[ae])\b|\bno (?:te |se )?olvid(?:es|e|en)\b|\bten(?:ga)? en cuenta\b",
    ),
    (
        "remember",
        "souviens-toi souvenez-vous rappelle-toi n'oublie n'oubliez note notez retiens retenez|-toi|-vous|n'oubli|note que|notez que|reten|retiens",
        r"\b(?:souviens-toi|souvenez-vous|rappelle-toi|n'oublie[sz]? pas|retiens|retenez)\b|"
        + _OPEN
        + r"note[sz]? (?:bien )?que\b",
    ),
    (
        "remember",
        "ricorda ricordati ricordi dimenticare onthoud vergeet lembra lembre-se esqueças esqueça",
        _OPEN
        + r"(?:ricorda(?:ti)?|onthoud|lembra(?:-te)?|lembre-se)\b|\bnon dimenticare\b|\bvergeet niet\b|\bnão (?:se |te )?esqueças?\b",
    ),
    ("remember", "mind", r"\b(?:keep|bear|have) in mind\b|\bkeep (?:it|this|that) in mind\b"),
    ("remember", "forget", r"\b(?:don't|dont|do not|never|not) forget (?!it\b|about it)"),
    ("remember", "note", r"\bnote (?:that|to self|down)\b|" + _OPEN + r"note:|\b(?:make|take) (?:a )?note\b"),
    ("remember", "record", r"\bfor the record\b"),
    ("remember", "fyi", _OPEN + r"fyi\b"),
    ("remember", "information", r"\bfor your information\b"),
    ("remember", "save", r"\bsave (?:this|that|it) (?:for|somewhere|in)\b"),
    ("remember", "important", r"\bimportant (?:that you know|to (?:know|remember|note))\b"),
    ("remember", "memorize memorise", _OPEN + r"memori[sz]e\b"),
    (
        "remember",
        "know|so you|know that",
        r"\bjust so you(?: all)? know\b|" + _OPEN + r"(?:you should )?know that\b|\bso you know[,:]",
    ),
    (
        "remember",
        (
            "reference heads aware noting keep jot down mark store"
            "|reference|heads|aware|noting|keep this|keep that|keep it|store this|store that|store it|jot |write this|write that|write it|mark this|mark that|mark it"
        ),
        r"\bfor (?:future )?reference\b|\bheads[- ]up\b|"
        + _OPEN
        + r"be aware\b|\bworth noting\b|"
        + _OPEN
        + r"(?:keep|store|jot|write|mark) (?:this|that|it)(?: down| somewhere| safe)?[:,]|\b(?:write|jot) (?:this|that|it) down\b",
    ),
    ("correction", "meant misspoke mixed", r"\bi meant\b|\bi misspoke\b|\bi mixed\b"),
    (
        "correction",
        "mistake typo correction scratch",
        r"\b(?:made a|my) mistake\b|" + _OPEN + r"(?:a )?(?:correction|typo)\b|\bscratch that\b",
    ),
    (
        "correction",
        "meant",
        r"^(?:sorry|soz|sry|oops|whoops|no|wait|ah|and|,|i| )*meant (?:the |to say|on |at |in |\d)",
    ),
    (
        "correction",
        "gave wrote told sent said have|wrong|false|incorrect",
        r"\b(?:gave|wrote|write|told|sent|said|have)(?: you| wrong| it)?(?: an?| the)? (?:wrong|false|incorrect) \w",
    ),
    (
        "correction",
        "moved changed postponed rescheduled renamed pushed brought|moved to|changed to|postponed to|rescheduled to|renamed to|pushed |brought forward",
        r"\b(?:was|is|are|were|has been|have been|got|been) (?:moved|changed|postponed|rescheduled|renamed|pushed back|brought forward) to\b",
    ),
    ("correction", "how as like|i said", r"\bnot .*\b(?:how|as|like) i said\b"),
    (
        "correction",
        "not|, not |and not ",
        (
            r"^(?:the |at |on |in |it's |its )?[\w:.]*\d[\w:.]*,? (?:and )?not (?:the |at |on |in )?[\w:.]+[.!]?$"
            r"|\b(?:in|with|ends|starts|reads|says) [\w$€£.:-]+,? (?:and )?not (?:in |with |the )?[\w$€£.:-]+[.!]?$"
        ),
    ),
    (
        "correction",
        "equivoqué equivoque perdón quise trompé trompée voulais meinte geirrt vertan sondern sbagliato sbagliata volevo bedoelde vergist enganei",
        (
            r"\bme equivoqu[eé]\b|\bquise decir\b|\bje me suis trompée?\b|\bje voulais dire\b|\bich meinte\b|\bhabe mich (?:geirrt|vertan)\b|\bnicht .*\bsondern\b"
            r"|\bmi sono sbagliat[oa]\b|\bvolevo dire\b|\bik bedoelde\b|\bvergist\b|\bme enganei\b"
        ),
    ),
    ("correction", "mind", r"\bchanged? my mind\b"),
    ("correction", "bad", _OPEN + r"my bad\b(?=.*\w{2})"),
    ("correction", "wrong", r"\b(?:was|that's|that is|is|it's|got it|got that) wrong\b(?=[:,.;] ?\w|.{3,}$)"),
    ("correction", "ignore forget", r"\b(?:ignore|forget) what i\b"),
    (
        "correction",
        "wrong",
        _OPEN
        + r"(?:sorry )?wrong (?:\w+)[,.:;] ?\w|\bthe wrong (?:file|one|number|name|date|address|person|version|day|time|place)\b.*\b(?:is|it's|should|use)\b",
    ),
    (
        "correction",
        (
            "read disregard update thought longer back"
            "|should read|should have read|disregard|scrap |update:|second thought|no longer|i take "
        ),
        r"\bshould (?:have )?read\b|\b(?:disregard|scrap) (?:my|what|that|the)\b|"
        + _OPEN
        + r"update: ?\w|\bon second thoughts?\b"
        r"|\b(?:is|are|am|do|does) no longer\b|\bi take (?:that|it) back\b",
    ),
    (
        "correction",
        "outdated date misunderstood wrong",
        r"\b(?:that's|that is|this is) (?:outdated|out of date)\b.*\w{2}|\byou misunderstood\b|\byou (?:got|have) me wrong\b",
    ),
    ("correction", "myself", r"\b(?:correct|let me correct) myself\b"),
    (
        "correction",
        "new right old previous|is",
        r"\b(?:old|previous|wrong) .*\b(?:the|my|our) (?:new|right|correct) \w+ is\b|\bthe (?:new|right) (?:one|number|address|date|name|time|version) is\b",
    ),
    ("correction", "change", _OPEN + r"(?:please )?change (?:that|it|this) to\b"),
    (
        "correction",
        "without spelled spelt",
        r"\b(?:it's|its|it is|name is) [\w-]+ (?:without|with)(?: an?| the)? \w\b|\b(?:it's|is|it is) (?:spelled|spelt)\b",
    ),
    (
        "correction",
        "actually",
        _OPEN + r"actually,? (?!that's|that is|good|great|i (?:like|love|enjoy|think|was|went|had|just|did)|just|my )"
        r"(?=.*(?:\d|\bnot\b|\binstead\b|\brather\b|\bmake\b|\bchange\b|\buse\b|\blet's\b|\bit's\b|\bon\b))",
    ),
    (
        "correction",
        "make|make it|make that|make this|make them",
        r"\bmake (?:it|that|this|them) .*\b(?:instead|rather than|not)\b",
    ),
    (
        "correction",
        "no",
        r"\bno,? (?:no,? )?(?:it's|it is|the|that's|i said|make it|not|its|use|we)\b(?! (?:ok|fine|problem))",
    ),
    (
        "correction",
        "not",
        (
            r"^not (?:the |a |in |on |at )?[\w.:-]+(?: \w+)?[,;:]? (?:but )?(?:the |a |in |on |at )?[\w.:-]+[!.]?$"
            r"|\b(?:is|it's|are|was|on|at) [^,]*?[\w$€£.:]+(?:,| and) not (?:the |a |on |at |in )?[\w$€£.:-]+[.!]?$"
        ),
    ),
    ("correction", "wasn't isn't", r"\b(?:it|that) (?:wasn't|isn't) [^,;]*[,;] (?:it was|it's|it is)\b"),
    (
        "correction",
        "not",
        r"\b(?:it|that) (?:was not|is not|'s not) [^,;]*[,;] (?:it was|it's|it is)\b|\bit's not [\w.]+ but\b",
    ),
    (
        "correction",
        "but|i said|i wrote|i told you|i gave you|i put",
        r"\bi (?:said|wrote|told you|gave you|put) .*\bbut\b",
    ),
    (
        "correction",
        "instead",
        r"\binstead of .*\b(?:let's|lets|use|make|do|take|it)\b|\b(?:change|update|switch|move|set) .* instead\b",
    ),
    ("correction", "correct", r"\bthe correct \w+"),
    (
        "decision",
        "let's lets let",
        (
            r"\b(?:let's|lets|let us) (?:just |all |then )?(?:go (?:with|for|ahead)|use\b|do (?:it )?(?:with|the|that|option|in)|stick"
            r"|stay with|keep (?:the|it|our|this|using)\b|take (?!a (?:break|walk|look|rest|moment|step)|care|it (?:slow|easy))|pick|choose|say\b|settle|make it\b|call it (?!a day))"
        ),
    ),
    (
        "decision",
        "decide decided chose chosen choose picked pick settled opted agreed agree",
        r"\b(?:we|i)(?:'ve| have|'d)?(?: all| both| finally| just| already| now)? (?:decided?|chosen?|chose|picked|settled on|opted|agreed)\b"
        r"(?! (?:with you|that you))|"
        + _OPEN
        + r"(?:(?:settled|decided)\b ?[:,.\-—]|agreed ?[:,.] ?(?:we|let|on|so|then|the|\d))|\bit's (?:decided|settled)\b|\bthe (?:chosen|agreed) \w+ is",
    ),
    (
        "decision",
        "approved confirmed deal final decision",
        _OPEN
        + r"(?:approved|confirmed|deal|final(?: answer| decision)?|decision) ?[:,.\-—]|\bit's (?:final|a deal)\b|\bthe final \w+ (?:is|will be)\b",
    ),
    (
        "decision",
        "decision",
        r"\b(?:have|has|'ve|we|i)(?: \w+)? (?:taken?|took|made|make|reached)(?: an?| the| our| my)? decision\b",
    ),
    (
        "decision",
        "decided chosen settled opted agreed chose decide|ly ",
        r"\b(?:we|i)(?:'ve| have)? \w+ly (?:decided?|chosen?|chose|settled on|opted|agreed)\b",
    ),
    (
        "decision",
        "instead rather|ing ",
        r"\b(?:we|i)(?:'re|'m| are| am| r) (?!not\b)\w+ing .*\b(?:instead of|rather than)\b",
    ),
    (
        "decision",
        "moving switching quitting dropping|moving to|switching |quitting |dropping ",
        r"\b(?:we|i)(?:'re|'m| are| am| r) (?:moving to|switching (?:to|from)|quitting|dropping) \w",
    ),
    ("decision", "forget scrap|want", r"(?:^|[,;.] )(?:forget|scrap) (?:the|it|about) .*\bi (?:just )?want\b"),
    (
        "decision",
        "entschieden beschlossen gefallen",
        r"\b(?:habe|haben)\b.*\b(?:entschieden|beschlossen)\b|\bentscheidung ist gefallen\b",
    ),
    (
        "decision",
        "decidido decidimos elegido quedamos queda|decidi|elegi|queda",
        r"\b(?:he|hemos) (?:\w+ )?(?:decidido|elegido)\b|\bdecidimos\b|\b(?:nos )?quedamos (?:con|en)\b|^queda (?:para|en)\b",
    ),
    ("decision", "choisi décidé", r"\b(?:ai|avons|a) (?:\w+ )?(?:choisi|décidé)\b"),
    (
        "decision",
        "deciso scelto besloten gekozen decidi",
        r"\b(?:ho|abbiamo) (?:\w+ )?(?:deciso|scelto)\b|\b(?:heb|hebben)\b.*\b(?:besloten|gekozen)\b|^decidi\b",
    ),
    ("decision", "move rent switch", r"(?:^|, )(?:so |then )?we (?:move to|rent|switch to)\b"),
    (
        "decision",
        "monday tuesday wednesday thursday friday saturday sunday|let's|lets",
        r"\b(?:let's|lets) (?:do|say|make it|meet) (?:on )?(?:\w+day)\b",
    ),
    (
        "decision",
        "take accept choose buy keep quit sign|going to ",
        r"\bi(?:'m| am) going to (?:take|accept|choose|buy|keep|quit|sign) the\b",
    ),
    (
        "decision",
        "going sticking staying|going with|going ahead with|sticking |staying with",
        _OPEN
        + r"going with\b|\b(?:we|i)(?:'re| are|'m| am)(?: just| now)? (?:going (?:ahead )?with|sticking (?:with|to)|staying with)\b",
    ),
    ("decision", "ahead", r"\bgo(?:ing)? ahead with\b"),
    (
        "decision",
        "it|it is",
        r"^(?:ok(?:ay)?[,.]? |so |then |alright,? |fine,? )?(?!here|there|what|how|so\b|where|as |like |yes|yeah|sure|that|this)[\w-]+(?: \w+)? it is[.!]?$",
    ),
    (
        "decision",
        "go stick stay|with",
        r"(?:^|[,.;] |\b(?:ok|okay|so|then|yes|yeah|and|think) )(?:we|i)(?:'ll| will)? (?:go|stick|stay) with\b",
    ),
    ("decision", "go|go for", r"\b(?:we|i)(?:'ll| will) go for (?!a )"),
    (
        "decision",
        "i'll we'll will|'ll use|'ll keep|'ll take|'ll have|'ll do|will use|will keep|will take|will have|will do",
        (
            r"\b(?:we|i)(?:'ll| will) (?:use|keep|take|have|do) (?!to\b|that\b|\w+ing\b|what|everything|anything|care|a look|you|ya\b|u\b|it from|in mind|in touch|that in|my best|the same|fun|a (?:break|walk|rest))\w+"
        ),
    ),
    (
        "decision",
        "landed minds mind wins winner discussion taking|we landed|made up|wins|winner|discussion|'m taking",
        r"\bwe landed on\b|\bmade up (?:my|our) minds?\b|\b(?:so|fine|ok|okay|then),? the [\w ]+ wins\b|\bthe winner is\b"
        r"|\bend of (?:the )?discussion\b|" + _OPEN + r"i'm taking the\b",
    ),
    (
        "decision",
        "going",
        r"\b(?:we're|we are|i'm|i am) going for (?:the|an?|option|plan)\b(?! (?:walk|run|swim|drink|ride|hike|coffee|bit|while))",
    ),
    ("decision", "plan", r"\bthe plan is to\b"),
    ("decision", "will", r"\b(?:the|our|its) \w+ will be (?:called )?(?!fine|ok|great|fun|able|there|\w+ing\b)[\"'\w]"),
    (
        "decision",
        "option plan variant version",
        _OPEN + r"(?:option|plan|variant|version) (?:\d|[a-e]\b)(?=.*(?:please|then|it is|,|$))",
    ),
    (
        "constraint",
        "only",
        r"^(?:please |pls |plz |also )?(?!not\b|if\b|i\b|it\b|we\b|the\b|my\b|but\b|he\b|she\b|they\b|this\b|that\b|there\b)[\w.+-]+(?: [\w.+-]+){0,2} only(?:[,.!;]|$| (?:pls|plz|please|and|thanks|thx)\b)",
    ),
    (
        "constraint",
        "no",
        r"^(?:please|pls|plz|kindly|also|and),? no (?!problem|idea|worr|need|way|one\b|rush|i\b|it\b|that\b)\w",
    ),
    (
        "constraint",
        "u",
        r"\bu (?:can't|cannot|cant|can not|mustn't|must not|shouldn't) (?!be serious|wait|imagine|believe|find|see|log|open)\w",
    ),
    (
        "constraint",
        "can't cannot cant|cant |can't |cannot ",
        r"^(?:and |but |also |we |pls )?(?:can't|cannot|cant) (?:spend|afford|exceed|go over|eat|drink|fly|travel|pay|accept|leave|arrive|start|be more) ",
    ),
    ("constraint", "can cannot can't|not to|cannot to", r"\b(?:can not|cannot|can't) to \w"),
    (
        "constraint",
        "nie niemals keinesfalls keinen|nie |niemals |keinesfalls |auf keinen fall",
        r"^(?!.*\b(?:ich|war|wird|hat|gibt)\b).*\b(?:nie|niemals|keinesfalls|auf keinen fall)\b",
    ),
    (
        "constraint",
        "immer nur kein keine nicht bitte|bitte",
        r"\bbitte\b.*\b(?:immer|nur|keine?n?|nicht mehr|niemals|nie)\b|\b(?:immer|nur|keine?n?|niemals) .*\bbitte\b",
    ),
    (
        "constraint",
        "nunca jamás siempre nunca|nunca|jamás|siempre",
        r"^(?:por favor,? )?(?:no \w+ )?(?:nunca|jamás|siempre) (?!he\b|ha\b|hemos|había|fui|vi\b|me\b|tengo|estoy)\w|^no (?:\w+)(?:es|as|en|an) (?:nunca|jamás)\b|\bpor favor\b.*\b(?:siempre|nunca|jamás)\b",
    ),
    (
        "constraint",
        "jamais toujours uniquement seulement",
        r"^(?!.*\b(?:je|j'ai|il|elle) (?:\w+ )?(?:ai|suis|étais|a|est) (?:jamais|toujours)\b).*(?:\bne |\bn').*\bjamais\b|\w+ez (?:uniquement|seulement|toujours)\b|\bjamais (?:après|avant|le|la|de)\b",
    ),
    (
        "constraint",
        "mai sempre solo nooit altijd alleen sempre nunca|per favore|graag|alsjeblieft|alstublieft|non |niet |por favor",
        r"^(?:per favore,? )?non \w+ mai\b|\b(?:per favore|graag|alsjeblieft|alstublieft)\b.*\b(?:sempre|mai|solo|nooit|altijd|alleen)\b",
    ),
    (
        "constraint",
        "never always",
        _START
        + r"(?:just |also |only )?(?:never|always) (?!up\b|full|calm|so\b|very|happy|here|there|\w+ing\b|in my|in our|look on|remember that you|give up|mind|been|the same|a |good|nice|fun|knew|had|was)(?:ever )?[a-z]",
    ),
    (
        "constraint",
        "don't dont not",
        _OPEN
        + r"(?:don't|dont|do not|not to|not) (?:you )?(?:ever |just )?(?!you\b|worry|know|think so|mind|get (?:me|discouraged|down|lost|stuck)|let (?:any|it|them|that|this|your)|give up|lose|hesitate|be (?:silly|sorry|shy|afraid|scared|too|so|hard)"
        r"|have to|need|like|love|sure|bad|really|yet\b|at all|too |so |very |that |a |the |an |much|only|in |on |for |to |my |i |we |it |as |only"
        r"|forget|feel|see|talk|and |\w+day\b)[a-z]+(?: |$)",
    ),
    (
        "constraint",
        "only",
        r"^only (?!kidding|joking|because|then|just|problem|thing|a |if|when|now|\w+ \w+ed\b|\w+ \w+ \w+ed\b)\w+|\buse only\b|\bonly use\b",
    ),
    (
        "constraint",
        "no",
        (
            r"^no (?!problem|idea|worr|thank|need|way|one |doubt|wonder|luck|clue|rush|matter|no\b|not|i\b|it|that|longer|he|she|we\b|the |you|biggie"
            r"|big deal|big|kidding|joke)[a-z].*(?:\bplease\b|\bpls\b|\bever\b|\bin \w+|\bafter\b|\bbefore\b|\bfor\b|\d|\bon \w+)"
            r"|\bno (?:more|less|fewer|later|longer) than\b|\bno exceptions\b|\bunder no circumstances\b"
        ),
    ),
    ("constraint", "must", r"\b(?:every|each|all|any) [\w ]{1,30}?must\b|\bmust (?:not|never|always|only|no)\b"),
    (
        "constraint",
        "must",
        (
            r"(?<!\bi )(?<!\bthat )(?<!\bshe )(?<!\bhe )\bmust (?:be (?:[a-z]+ed|done|sent|kept|made|set|written|paid|held|given|no |at |under|below|within"
            r"|in |on |by |able|a |the |unique|valid|\d|approved)|(?!be\b|have (?!an?\b|the\b|at\b|no\b|\d)|really|love|enjoy|miss|mean|know|want|think|like|admire|say|admit|confess|feel|seem|act, says)[a-z]+)"
            r"|\bi must (?:be (?:home|back|there|at|out|in))"
        ),
    ),
    ("constraint", "mustn't shouldn't", r"\bmustn't\b|\bshouldn't (?!be (?:hard|a problem|long|bad)|have)"),
    (
        "constraint",
        (
            "should"
            "|should not|should never|should always|should only|should be |should have |should use|should contain|should include|should start|should end|should stay|should go to|should look|should support"
        ),
        (
            r"\bshould (?:not|never|always|only)\b|\b(?:the|all|every|each|any|both|these|those|our|my|it|they|you|there|\w+s) (?:\w+ ){0,4}?should "
            r"(?:be (?:[a-z]+ed|kept|in |at |under|no |written|sent|less|short)|have (?!been|\w+ed)|use|contain|include|start|end|stay|go to the|look like"
            r"|support)"
        ),
    ),
    (
        "constraint",
        "may might nothing|may not|may only|might not|might only|nothing ",
        r"\b(?:may|might) (?:not|only)\b (?!be\b)|\bnothing (?:may|can|should|must)\b",
    ),
    (
        "constraint",
        "has have need needs|has to |have to |need to |needs to ",
        (
            r"\b(?:it|they|this|these|everything|everyone|all(?: \w+){1,3}|the(?: \w+){1,3}|every \w+|each \w+|there|\w+s) (?:has|have|needs?) to "
            r"(?!do with|say|offer|go home|wait)|\byou (?:have|need) to (?!see|try|know|go|be|watch|read|hear|check|admit|understand|tell|worry|do that"
            r"|apolog)|\bwe (?:need|have) to (?:stay|keep|be |remain|avoid|comply|meet|respect|support|limit)"
            r"|\bi (?:need|have) to (?:be|leave|arrive|finish|return)\b.*\b(?:by|before|at|until)\b .*"
        ),
    ),
    (
        "constraint",
        (
            "can't cannot cant can won't aren't"
            "|can't|cannot|can not|cant |won't|aren't|nobody|no one|only|always|never|from now on"
        ),
        (
            r"\b(?:we|you|they|it|one|people|users|clients|nobody|no one) (?:can't|cannot|can not|cant|won't|aren't allowed)"
            r" (?!wait|deny|imagine|wrong|go wrong|beat|help but|believe|find|see|seem|remember|figure|get|tell|be that|help|log|open|connect|hear|be true)"
            r"|\b(?:cannot|can't|can not) (?:move|change|be (?:moved|changed|modified|exceeded|used|refunded|cancell?ed|shared|combined)|exceed"
            r"|go over|go above|store|leave)\b|\bi (?:can't|cannot|can not|cant) (?:eat|drink|drive|have|take|do|fly|work|attend|afford|spend|travel"
            r"|walk|climb|pay|accept|use|go over|come (?:on|before|after)|leave)\b|\b(?:nobody|no one|only) (?:\w+ ){0,4}can\b"
            r"|\b(?:can|could|would) you.*\b(?:always|never|from now on)\b"
        ),
    ),
    (
        "constraint",
        "nobody only|may|should|must|allowed",
        r"\b(?:nobody|no one|only) (?:\w+ ){0,4}(?:may|should|must|is allowed)\b",
    ),
    (
        "constraint",
        (
            "most least more max maximum minimum min up less under below within limit limited"
            "|at most|at least|more than|max|minimum|min |up to|less than|under |below |within |limit"
        ),
        (
            r"\b(?:at most|at least|(?:no|not) more than|maximum(?: of)?|max|minimum(?: of)?|min|up to|less than|under|below|within"
            r"|limit(?:ed)? (?:it |them |this |that )?to) (?:\W?\d|two|three|four|five|six|ten|one\b)(?!.*\bago\b)|^max(?:imum)?\b.*\d"
        ),
    ),
    (
        "constraint",
        "budget deadline limit date",
        r"\b(?:budget|deadline|limit|due date)(?: \w+){0,3}? (?:is|are|of|at|=) |\b(?:budget|deadline|limit):",
    ),
    ("constraint", "exceed go cost", r"\b(?:not|never|n't) (?:exceed|go over|go above|cost more)\b"),
    (
        "constraint",
        (
            "now future default rule whenever time"
            "|from now on|as a rule|whenever you|every time you|each time you|future|by default"
        ),
        r"\bfrom now on\b|\bas a rule\b|\b(?:whenever|every time|each time) you\b|\bin (?:the )?future,? (?:please|always|use|do)|\bby default\b",
    ),
    (
        "constraint",
        "unless until without|unless |until i |without ",
        r"\bunless (?:i|we|told|otherwise)\b|\buntil i (?:say|tell|confirm)\b|\bwithout (?:my|asking|telling|checking|our|prior)\b",
    ),
    ("constraint", "ask check tell consult", r"\b(?:ask|check with|tell|consult) me (?:first|before)\b"),
    (
        "constraint",
        "allowed permitted forbidden prohibited",
        r"\b(?:not|n't) (?:be )?(?:allowed|permitted)\b|\b(?:forbidden|prohibited) (?:to|for|by|in)\b",
    ),
    (
        "constraint",
        "require requires required mandatory policy legal",
        r"\b(?:we|i|they|law|rules?|policy|contract) requires?\b|\b(?:is|are) (?:required|mandatory)\b|\b(?:company|our|security|password|the) policy\b|\bfor legal\b",
    ),
    (
        "constraint",
        "sure ensure|make sure|be sure|ensure",
        r"(?:(?:you|we|to|must|should|please|pls|and|also) |"
        + _OPEN
        + r")(?:make|be) sure\b (?!if|about|to (?:have fun|enjoy|check out|take care))|"
        + _OPEN
        + r"ensure\b",
    ),
    (
        "constraint",
        "keep leave",
        _OPEN
        + r"(?:keep|leave) (?!me |in touch|going|it up|up |calm|on \w+ing|\w+ing |us |the faith).*\b(?:under|below|within|short|simple|to |at |in |as |small|private|secret|out of"
        r"|untouched|alive|clean|brief)\b",
    ),
    (
        "constraint",
        "stick avoid refrain restrict treat limit",
        _OPEN + r"(?:stick to|avoid|refrain from|limit|restrict|treat)\b",
    ),
    ("constraint", "stop", _OPEN + r"stop (?!it\b|by\b)\w+ing\b"),
    (
        "constraint",
        "use",
        _OPEN
        + r"use .*(?:\balways\b|\bthroughout\b|\beverywhere\b|\binstead of\b|, not\b|\bin every\b|\bfor all\b|\bfor every)",
    ),
    (
        "constraint",
        "strictly limits off-limits confidential between",
        r"\b(?:strictly|off limits|off-limits|stays? between us|confidential)\b",
    ),
    (
        "constraint",
        "answer reply respond write speak talk| in | with ",
        _OPEN + r"(?:answer|reply|respond|write|speak|talk)(?: to me| everything| only)? (?:in|with) (?!to)",
    ),
    (
        "constraint",
        "doesn't don't dont work|work for ",
        r"\b(?:doesn't|don't|does not|do not|won't|dont) work for (?:me|us)\b",
    ),
    ("constraint", "always", r"\b(?:can|could|would) you.*\balways\b"),
    (
        "constraint",
        "only",
        r"\b(?:we|they|you) only (?!have|had|got|just|want|need|went|met|saw|know|live)[a-z]+(?<!ed) ",
    ),
    (
        "constraint",
        (
            "don't dont do never always"
            "|we don't|we do not|we dont|we never|we always|they don't|they do not|they dont|they never|they always"
        ),
        (
            r"\b(?:we|they) (?:don't|do not|dont|never|always) (?:use|allow|accept|deploy|ship|support|open|sell|store|share|commit|merge|test|offer|pay|log|write|add|send"
            r"|publish|do|take|give|put|run|build)\b(?! (?:know|it|that)\b)"
        ),
    ),
    ("constraint", "tops tight", r"\b\d+ \w+ tops\b|\btight (?:budget|deadline|schedule)\b"),
    ("constraint", "stay stays", r"\b(?:so |must |should |please )stays? (?:below|under|within|above|away|out)\b"),
    (
        "constraint",
        "ok okay fine acceptable cool",
        r"\b(?:not|n't) (?:ok|okay|fine|acceptable|cool) (?:to|for|if|with)\b",
    ),
    (
        "constraint",
        "before",
        r"^before (?:sending|you|doing|making|any|changing|deleting|booking|buying|publishing|deploying|committing|merging)\b.*, (?:please )?(?!i |we |he |she |it )\w+",
    ),
    ("constraint", "appreciate", r"\bi'?d appreciate (?:it )?if you\b"),
    ("constraint", "needs need", r"^(?:each|every|all|any) [\w ]+ needs? (?:an?|the|to|at|its?|their|\d)\b"),
    (
        "constraint",
        "shouldn't should",
        r"\b(?:the|our|all|any) [\w ]+ should(?:n't| not) be (?:longer|more|larger|bigger|later|over|above|in|on|too)\b",
    ),
    (
        "constraint",
        "mondays tuesdays wednesdays thursdays fridays saturdays sundays weekends weekdays",
        r"^no (?:\w+days|weekends)\b|\bi (?:have|need) to .*\b(?:on|every) (?:\w+days|weekends)\b",
    ),
    (
        "constraint",
        "supposed meant question table no-go non-negotiable dealbreaker breaker taboo",
        (
            r"\bnot (?:supposed|meant) to\b|\bout of the question\b|\boff the table\b|\bno-go\b|\bnon-negotiable\b"
            r"|\bdeal ?breaker\b"
        ),
    ),
    (
        "constraint",
        "crucial essential critical vital imperative important",
        r"\b(?:it's|it is) (?:very |really |absolutely |also )?(?:crucial|essential|critical|vital|imperative|important) (?:that|for (?:me|us) (?:that|to)) ",
    ),
    (
        "constraint",
        "every each all any",
        r"^(?:for|in|on|with|to) (?:every|each|all|any) [\w ]+?,? (?:please )?(?:add|use|write|make|send|include|put|run|create|give|keep|check|ask|show|include)\b",
    ),
    (
        "constraint",
        "whatever matter regardless times exactly|whatever you|no matter|regardless|at all times|at no |exactly as",
        r"^(?:whatever you|no matter what|regardless)|\bat all times\b|\bat no (?:time|point)\b|\bexactly as (?:it|they)\b",
    ),
    (
        "constraint",
        "can't cannot cant won't",
        r"\b(?:the|this|these|those|our|my) (?:\w+ ){1,4}(?:can't|cannot|can not|cant|won't) (?:have|contain|include|be|use|take|go|exceed|hold|see|know|handle|eat|drink)\b",
    ),
    (
        "constraint",
        "has have|he has to|he have to|has to be|have to be",
        r"\b(?:he|she) (?:has|have) to .*\b(?:every|each|always|by|before|at \d)|\b(?:the|my|our) \w+ (?:has|have) to be\b",
    ),
    ("constraint", "too| for ", r"\btoo \w+ for (?:me|us|our|my|them)\b"),
    ("constraint", "promised guaranteed", r"\bwe (?:promised|guaranteed)\b.*\b(?:will|no|not|never)\b"),
    (
        "constraint",
        "insists demands expects refuses wants allow accept permit",
        (
            r"\b(?:insists? on|demands? (?!for)|refuses? (?:to|any))|\bexpects? (?:us|all|every|that)\b|\b(?:client|customer|boss|landlord|team|manager|owner) (?:wants?|expects?)\b"
            r"|\b(?:doesn't|don't|does not|do not) (?:allow|accept|permit)\b"
        ),
    ),
    (
        "constraint",
        "english french german spanish italian portuguese dutch polish japanese chinese british american plain simple bold uppercase lowercase lower upper json markdown iso",
        (
            r"\b(?:write|answer|reply|respond|speak|keep|give|put|format|return|use|name|comments?|please|everything|texts?)\b.{0,50}? in (?:english|french|german|spanish|italian|portuguese|dutch|polish|japanese|chinese"
            r"|british|american|plain|simple|bold|uppercase|lowercase|lower case|upper case|json|markdown|iso)\b"
        ),
    ),
    (
        "identity",
        _MINE_WORDS + "|my ",
        r"\bmy (?:\w+ ){0,2}" + _MINE + r"(?: code)?(?: (?:on file|here|there))?(?:'s|:| is| are)\b",
    ),
    (
        "identity",
        KIN_WORDS + "|my |i have|i've|i got",
        r"\bmy (?:\w+ )?"
        + _KIN
        + r"(?:'s name| \w+)? (?:is|are|has|have|works?|lives?|was born|suffers?|goes|called|named)\b(?! (?:coming|here|sick"
        r"|asleep|at|in a|so|very|calling|waiting|just|fine|ok|been|going|had))|\bi(?:'ve| have)? (?:got|have) (?:an? |\d+ |one |two |three |four |five )"
        r"(?:\w+ ){0,2}?"
        + _KIN
        + r"\b|\bi have (?:an? |\d+ |one |two |three |four |five )(?:\w+ ){0,2}?"
        + _KIN
        + r"\b",
    ),
    (
        "identity",
        STATES_OF_BEING,
        r"\b(?:i'm|im|i am|we're|we are) (?:also |actually |originally |currently |a bit |severely |and )?(?:\d+ |"
        + _BEING
        + r"\b)",
    ),
    (
        "identity",
        "i'm im am we're as|m a |m an |m the |work as |'re a|'re the|are a|are the",
        (
            r"\b(?:i'm|im|i am|i work as|we're|we are) (?:an?|the) (?!bit\b|little|lot\b|few|fan|minute|week|day|one\b|only|same|huge fan|big fan|mess|idiot"
            r"|wreck|sucker|best|happ|worst|first)(?:\w+[ -]?){1,4}"
        ),
    ),
    (
        "identity",
        "live work worked study teach run own speak born grew moved wheelchair hearing suffer",
        (
            r"\b(?:i|we) (?:live (?:in|at|near|on|with)|work(?:ed)? (?:as|at|for|in)|study|teach|run (?:an?|my|our)|own|speak|was born|grew up|(?:just |recently )?moved (?:to|here|from)"
            r"|use a (?:wheelchair|hearing)|suffer from)\b"
        ),
    ),
    (
        "identity",
        "roommates people siblings sisters brothers friends students two three four five six|we",
        r"^(?:we're|we are) (?:two|three|four|five|six|seven|eight|\d+) \w+",
    ),
    (
        "identity",
        "run train play cook collect teach study volunteer commute coach sing drive ride swim",
        r"\bi (?:run|train|play|cook|collect|teach|study|volunteer|commute|coach|sing|drive|ride|swim) (?!it\b|into\b|out\b|that\b|this\b|the (?:test|script|command|code))\w+",
    ),
    (
        "identity",
        "worked working years",
        r"\bi've (?:worked|been working|taught|lived) (?:as|in|at|for|with) .*\b(?:for|since)\b",
    ),
    ("identity", "named called", r"\b(?:i|we) have (?:an? )?\w+ (?:named|called) \w"),
    ("identity", "diagnosed", r"\bi (?:was|am|'ve been) diagnosed\b"),
    (
        "identity",
        "i'm im am|0|1|2|3|4|5|6|7|8|9|, ",
        r"\b(?:i'm|im|i am) \d{1,2}\b(?! (?:min|hour|week|day|%|km|percent))|^(?:hi,? |hello,? )?i'm [a-z]+, (?:an? |the )?[\w ]+ (?:of|at|from|in|for)\b",
    ),
    ("identity", "turns", r"\bmy \w+ turns \d"),
    (
        "identity",
        "diabetes asthma adhd epilepsy allergy allergies",
        r"\bi have (?:diabetes|asthma|adhd|epilepsy|\w+ allerg\w+|an? \w+ allergy)",
    ),
    ("identity", "since", r"\bi've been (?:an? )?(?!\w+ing\b|so |very |really )[\w ]+ since \w+"),
    (
        "identity",
        (
            "team company firm office shop store business employees people staff headquarters family"
            "|we are a |we have|we employ|our "
        ),
        r"\bwe are a (?:team|family|company|group)\b|\bwe (?:have|employ) \d+ (?:people|employees|staff)|\bour (?:company|team|firm|office|shop|store|business|headquarters) (?:has|is|are|name|consists|uses|sits)\b",
    ),
    (
        "preference",
        "love hate prefer luv adore detest loathe dislike h8 prefers",
        (
            r"^(?:really |also |btw |honestly |personally |always |absolutely )*(?:love|hate|prefer|luv|adore|detest|loathe|dislike|h8) (?!it\b|that\b|this\b|you|your|when|how|to (?:see|hear|know|have|bother|say)|u\b|him|her)\w"
            r"|\b(?:i|we) (?:\w+ly )?(?:luv|adore|detest|loathe|h8) (?!it\b|that\b|this\b|you|u\b|them\b)\w"
        ),
    ),
    ("preference", "rather", r"\bwe would (?:much )?rather\b"),
    (
        "preference",
        "want|i want|we want",
        r"\b(?:i|we) want (?!to\b|you\b|u\b|it\b|that\b|this\b|some\b|help\b)\w+ (?:before|in|over|instead|without|not|only|always)\b|\b(?:i|we) want always\b|\b(?:i|we) always want\b",
    ),
    (
        "preference",
        "like|'d like|d always|would always|would like",
        r"\b(?:i|we)(?:'d| would) (?:always|generally|usually|normally) like\b|\b(?:i|we)(?:'d| would) like (?:the|my|our|it|everything)\b.*\b(?:so|free|short|simple|quiet|early|late|to be|not|always)\b",
    ),
    (
        "preference",
        "grateful appreciate glad|grateful|appreciate|glad",
        r"\bif you (?:could |would )?(?:please )?(?:always|never|only|not|kept|keep)\b",
    ),
    ("preference", "not", r"\b(?:i|we) not (?:so much |really )?(?:like|eat|drink|want|love|enjoy)\b"),
    (
        "preference",
        "lieber liebsten bevorzuge bevorzugen mag",
        r"\blieber \w+ als\b|\bam liebsten\b|\bbevorzugen?\b|\bich mag (?!nicht mehr)\w|\b(?:ich|wir) .*\blieber\b",
    ),
    (
        "preference",
        "prefiero preferimos prefiere gusta gustan encanta odio",
        r"\b(?:prefiero|preferimos)\b|\bme (?:gustan?|encantan?)\b|\bodio \w",
    ),
    (
        "preference",
        "préfère préférons préférerais préférerions j'aime déteste j'adore n'aime",
        r"\b(?:je|nous) préf\w+|\bj'(?:aime|adore)\b(?! (?:ça|bien ça))|\bje (?:déteste|n'aime pas)\b",
    ),
    (
        "preference",
        "preferisco preferiamo preferirei piace liever liefst voorkeur prefiro gosto",
        r"\b(?:preferisco|preferiamo|preferirei|prefiro|liefst|liever)\b|\bmi piace\b|\bgosto de\b|\bvoorkeur\b",
    ),
    (
        "preference",
        "prefer prefers favour favor dislike dislikes hate hates like likes love loves enjoy enjoys",
        (
            r"\b(?:i|we|my \w+|our \w+|he|she|they) (?:(?:really|usually|also|always|much|generally|strongly|tend to|mostly|absolutely|just|do|would|actually"
            r"|personally|both|all|kinda|normally) )*(?:prefer|favou?r|dislike|hate|like|love|enjoy)s? (?!your|that\b|this|it\b|the idea|to (?:know|hear|see you)"
            r"|not to say|how|you\b|when you|what|so\b|these|those|\.|what|when\b|where\b|that\b)\w|\b(?:i'd|we'd|i would|id|i'd much) (?:much |really )?(?:prefer|like to have)\b"
            r"|\b(?:we|i) would like to have\b"
        ),
    ),
    (
        "preference",
        "like enjoy want care|i don't|i dont|i do not|i never|i didn't",
        r"\bi (?:don't|dont|do not|never|didn't) (?:really |much )?(?:like|enjoy|want|care for)\b(?! to (?:go|be|say|bother)| it\b| that\b)",
    ),
    ("preference", "rather", r"\b(?:i'd|i would|we'd|id|i'd much) (?:much )?rather\b"),
    (
        "preference",
        "favourite favorite fav go-to preferred preference",
        r"\bmy (?:all-time )?(?:fav(?:ou?rite)?|go-to|preferred|preference) (?:\w+ ){0,3}?(?:is|are)\b",
    ),
    (
        "preference",
        (
            "suit suits works thing annoy annoys annoying bother bothers bothered find more possible avoid nice"
            "|suit|annoy|bother|my thing|our thing|i find|for me|for us|i like|as possible|avoid|be nice"
        ),
        (
            r"\b(?:suits?|annoys?|bothers?) (?:me|us)\b|\b(?:is|are) (?:so |totally |just |not )*(?:my|our) thing\b|\bi find .*\b(?:easier|better|harder|nicer|clearer|annoying|useful|confusing"
            r"|helpful|boring|best)\b|\bcan't be bothered with\b|\bworks? (?:best|better|fine|great|well) for (?:me|us)\b|\bi like \w+ more\b|\bas (?:short|few|simple|little|brief|cheap|early|late) as"
            r" possible\b|\bi (?:try to |always |usually )?avoid\b|\bwould be nice (?:to have|if)\b"
        ),
    ),
    (
        "preference",
        "drink eat smoke drive fly use wear watch read cook listen check answer trust own|n't |dont |not |never ",
        r"\b(?:i|we|my \w+) (?:don't|dont|do not|never|doesn't|does not) (?:really |ever )?(?:drink|eat|smoke|drive|fly|use|wear|watch|read|cook|listen to|check|answer|trust|own)\b",
    ),
    (
        "preference",
        "comfortable always take|more comfortable|, always|'d take|would take",
        r"\bi'?m more comfortable with\b|^[\w ]{3,30}, always[.!]?$|\bi(?:'d| would) take [\w ]+ over\b",
    ),
    (
        "preference",
        "nothing something anything",
        r"^(?:nothing|something|anything) (?:too |less |more )?\w+ for (?:me|us)\b",
    ),
    (
        "preference",
        "fan keen fond stand into|fan of|can't stand|keen on|fond of|into",
        r"\b(?:a|an|big|huge) fan of\b|\bcan't stand\b|\b(?:keen on|fond of|not (?:really )?into)\b",
    ),
    ("preference", "person guy girl", r"\bmore of an? \w+ (?:person|guy|girl)\b"),
    ("preference", "ideally possible", r"^ideally\b|\bif possible\b"),
    (
        "preference",
        "better best easier",
        r"\b(?:is|are|would be|works?) (?:much )?(?:better|best|easier) for (?:me|us)\b",
    ),
    ("preference", "call", _OPEN + r"call me (?!back|later|when|if|at |on |to|crazy)\w"),
    (
        "preference",
        "always usually mostly normally typically generally",
        r"\bi (?:always|usually|mostly|normally|typically|generally) (?!thought|was|knew|wanted|had|forget|felt|\w+ed\b|been)\w+|\bfor \w+ i (?:mostly|usually|always)\b",
    ),
    ("preference", "want", r"\bi want (?:the|an?|my|only|all) "),
    ("preference", "over", r"^[\w-]+ over [\w-]+(?: for (?:me|us))?[.!]?$"),
    ("preference", "please", r"^(?!yes|no\b|ok|sure|thank)[\w-]+ \w+ please\b(?!,? (?:help|send|tell))"),
    (
        "open",
        (
            "know dunno idk idea sure unsure clear uncertain"
            "|n't know|dont know|not know|dunno|idk|no idea|not sure|n't sure|unsure|not clear|n't clear|uncertain|not yet clear"
        ),
        (
            r"\b(?:(?:don't|dont|do not|not|no|isn't|am not)(?: (?:yet|still|really))* (?:know|sure|clear|idea)|dunno|idk|unsure|uncertain)\b"
            r"(?:.*?\b(?:if|whether|wether|who|which|where|when|how (?!to)|what (?!you|this|that|it)|why (?!you|this|that|it))\b|(?: yet| still)*[:,]? .*\bor\b)"
        ),
    ),
    (
        "open",
        "figured worked found heard decided agreed settled|n't |nt |not |nothing",
        r"\b(?:haven't|havent|have not|hasn't|not|n't)(?: yet| still)* (?:figured out|worked out|found out|heard|decided|agreed|settled)\b|\bheard nothing\b",
    ),
    (
        "open",
        "waiting waitin wait undecided open unclear tbd reply answer word news answered replied|still |undecided|tbd| yet|so far|wait since|wait for",
        (
            r"\bstill (?:waiting|waitin|wait|undecided|open|unclear|no (?:answer|reply|word|news))\b|\b(?:undecided|tbd)[.!]?$|\b(?:i|we) wait (?:since|for) .*\b(?:answer|reply)\b"
            r"|\b(?:no|nobody|not|no one) .*\b(?:reply|answer|word|news|answered|replied) (?:yet|so far)\b"
        ),
    ),
    (
        "open",
        "refund order parcel package money payment reply answer ticket delivery|still not|still hasn't|still hasnt|still no|not yet",
        r"\bstill (?:not|hasn't|hasnt|no)\b|\bnot yet (?:here|arrived|received)\b",
    ),
    (
        "need",
        (
            "need needs have has gotta got must ought shall should"
            "|need to|need still|needs to|need 2|have to|has to|gotta|got to|must|ought|should|i need"
        ),
        (
            r"\b(?<!you )(?<!they )(?<!he )(?<!it )(?<!n't )(?<!not )(?<!dont )(?<!\bu )(?:(?:need|needs|have|has)(?: still| also| got)* (?:to|2)\b|gotta\b|(?<=ve )got to\b"
            r"|ought to\b|(?:(?<=\bi )|(?<=\bwe )|(?<=ly )|(?<=still ))(?:must(?: to)?\b|should\b|need (?=make\b|do\b|change\b|send\b|pay\b|finish\b|find\b|buy\b|write\b|call\b))) ?"
            r"(?!know|say|be\b|hear|thank|go now|help|admit|ask|confess|see\b|tell|laugh|love|have\b|wait|agree|feel|savor|savour|share\b)\w"
        ),
    ),
    ("need", "todo to-do do|todo|to-do|to do:", r"^(?:my |our )?(?:todo|to-do|to do)(?: list)?\b ?[:\-\u2013] ?\S"),
    ("need", "tengo tenemos hay|que ", r"\b(?:tengo|tenemos) que \w|\bhay que \w"),
    ("need", "muss müssen", r"\b(?:ich|wir) (?:muss|müssen) (?:noch |bis |\w+ )\w|\bmuss ich (?:noch|bis)\b"),
    (
        "need",
        "dois devons faut|je dois|nous devons|il faut que je|il faut que nous",
        r"\b(?:je dois|nous devons|il faut que (?:je|nous)) \w",
    ),
    (
        "need",
        "devo dobbiamo moet moeten preciso",
        r"^(?:io )?(?:devo|dobbiamo) \w|\b(?:ik|we|wij) moet(?:en)? \w|\bpreciso (?:de )?\w+r\b",
    ),
    (
        "commitment",
        "i'll will ill i'm going gonna we'll promise|i'll|i will|ill |going to|we'll|we will|gonna|i promise",
        (
            r"\b(?:i'll|i will|ill|i'm going to|i am going to|we'll|we will|i'm gonna) (?!think|see\b|be (?:happy|glad|fine|ok)|never forget|have to|miss|love|let you)"
            r"[a-z]+|\bi promise\b"
        ),
    ),
    (
        "commitment",
        "will shall gonna",
        r"^(?:ok |okay |alright |sure |yes |yep |and |cool )*(?:will|shall|gonna) (?!you\b|u\b|it\b|that\b|this\b|the\b|be\b|there\b|he\b|she\b|they\b|we\b|i\b|do[.!]?$|see\b)[a-z]+ \w|\b(?:i|we) shall (?!see|be\b|have to|need)\w",
    ),
    (
        "commitment",
        "il",
        r"^(?:ok |okay |alright |yes |and |yeah )*il (?:ask|post|send|call|ring|bring|do|make|get|tell|text|check|add|try|book|pay|email|write|let|take|give|come|fix|buy|pick|sort)\b",
    ),
    (
        "commitment",
        "happy glad|be happy to|be glad to",
        r"\bi(?:'d| would) be (?:happy|glad) to (?!help|assist|hear|know)\w+ .*\b(?:myself|tomorrow|tonight|next \w+|by \w+|on \w+day)\b",
    ),
    (
        "commitment",
        "werde werden schicke melde sende bringe kümmere rufe",
        r"\b(?:ich|wir) werden? (?!sehen|wohl)\w|\bich (?:schicke|melde|sende|bringe|kümmere|rufe)\b",
    ),
    (
        "commitment",
        "mando envío llamo aviso escribo voy vamos",
        r"\b(?:te|le|les|os) (?:mando|envío|llamo|aviso|escribo)\b|\b(?:voy|vamos) a \w+(?:ar|er|ir)\b.*\b(?:mañana|hoy|luego|el|esta)\b",
    ),
    (
        "commitment",
        "demain soir vais m'en|demain|vais|m'en occupe|ce soir",
        r"\bje m'en occupe\b|\bje (?:vais|te|vous|l') ?\w+.*\b(?:demain|ce soir|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b|^(?:ok |oui )?je? ?\w+e .*\b(?:demain|ce soir)\b",
    ),
    ("commitment", "stuur zal bel mando domani amanhã", r"\bik (?:zal|stuur|bel) \w|\bti (?:mando|chiamo)\b"),
    ("commitment", "let", r"\blet me (?!know|think|see|guess|be|tell)[a-z]+"),
    (
        "task",
        (
            "need want wanna wanted like looking"
            "|need to|needed to|want to|wanted to|have to|like to|wish to|wished to|wanna|still need|looking "
        ),
        (
            r"\b(?:i|we) (?:also |still |just |now |really )?(?:need|want|have|would like|wish|wanna)(?:ed)? to (?!know|say|be|hear|thank|go now|help)|\b(?:i'd|we'd) like to "
            r"(?!hear|thank|know more)|\bstill need|\b(?:i'm|i am|we're) looking (?:to|for) "
        ),
    ),
    (
        "task",
        "can could would will|can you|could you|would you|will you|can u|could u|would u|will u",
        r"\b(?:can|could|would|will) (?:you|u) (?:please |kindly |pls )?(?!please )(?!rather|not\b)[a-z]+",
    ),
    ("task", "todo to-do", r"\bto-?do\b"),
    (
        "task",
        _DONE_WORDS,
        r"\b(?:is|are|was|were|been|it's|all|step \d+) (?:now |already |all |still |being |successfully |only )*"
        + _DONE
        + r"\b"
        r"|\b(?:i|we)(?:'ve| have)? (?:now |already |just |successfully )*"
        + _DONE
        + r"\b|^(?:fixed|done|finished|pending|completed)\b[: ]\S",
    ),
    (
        "task",
        (
            "pass passed successfully remaining next status still progress"
            "|test pass|tests pass| passed|successfully|remaining:|next:|status:|still pending|still open|still missing|still to do|still failing|in progress"
        ),
        r"\btests? pass|\b\d+ passed\b|\bsuccessfully\b|^(?:remaining|next|status):|\bstill (?:pending|open|missing|to do|failing)|\bin progress\b",
    ),
)
DENIALS: Final[dict[StatementKind, str]] = {
    "remember": r"\b(?:lol|haha)\b",
    "correction": r"^(?:it's|that's|it was|i'm|i am|this is) not \w+[.!]?$|^not (?:bad|sure|really|yet|at all|too|so|that|now)\b|\bwhy not\b|\bif not\b|\bor not\b",
    "decision": r"\bhaha|\b(?:decided|agreed) nothing\b|^agreed[,.!] \w+[.!]?$|\blol\b|\bthink about\b|\bif (?:we|i|you)\b",
    "constraint": r"^according to\b|\b(?:states?|stated|claims?|claimed) that\b|\bsays? (?:that )?(?:you|visitors|guests|people|one|users|it|she|he|they)\b|\bimagine\b|\b(?:took|waited|spent|paid|said he|said she|told me|had to|used to|would have|could have|should have)\b"
    r"|\bdon't (?:you think|think so|know)\b|^(?:i|he|she|they) (?:always|never)\b|\bas always\b|^(?!.*\b(?:ever|more th[ae]n|pls|please|plz)\b).*\b(?:lol|haha)\b|^at least (?!\d)|\bthere (?:are|were|is) (?:at least|more than|up to|less than)\b"
    r"|\b(?:they|he|she) (?:said|told|says|claims)\b",
    "identity": r"\b(?:lol|haha|lately|yesterday|right now|at the moment)\b",
    "preference": r"\b(?:lol|haha)\b|\b(?:i'd|i would|we'd|would) (?:also |really |just )?(?:like|love) to (?!have)|\bwould love\b|\b(?:was|were)\b.*\bfavou?rite|\bi love (?:it|that|you)\b",
}
