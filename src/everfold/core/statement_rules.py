"""The rules of `statements` as data: cue words, patterns of grammar, and what denies them.

One row a rule: the kind, the cues without one of which it is not tried, the parts of a sentence (between bars) without one
of which it is not tried either, and its pattern over the lower-cased sentence. Rows stand in the order in which they are
tried, the more binding kind first.

In a pattern `@` stands for where a word begins, `{open}` for the beginning of a clause, `{start}` for one that is not
merely joined by "and" or "to", and the name of a table of words for any of them. `read_pattern` gives two forms of it. One
is for any sentence. The other is for a sentence with a comma and a blank before it, in which every word that a rule may
begin with stands behind a blank: it looks only where a blank is, in half the time. The module is long because it is a
table.

Source: own grammar of English requests, and of the plainest ones of German, Spanish, French, Italian and Dutch, tuned on the
dev splits of tests/data/statements.jsonl and tests/data/memory_statements.jsonl only.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

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

RuleRow: TypeAlias = tuple[StatementKind, str, str, str]
"""Kind, cues, needles between bars, pattern.

A cue is a word (`must`), a phrase by its first word (`have_to`), or a word and what must stand in the sentence as well
(`sure:not_sure`).
"""

HAS_DATE: Final = 1
MAY_DATE: Final = 2
MAY_FAIL: Final = 4
MAY_STATE: Final = 8
IMPERATIVE: Final = 16
MAY_ASK: Final = 32
MAY_BIND: Final = 64
FIRST_RULE: Final = 7
SPACING: Final = ", "
"""What stands before a sentence whose words are looked for behind blanks: as behind a comma, a clause begins."""


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

ASKING_WORDS: Final = "can could would will may"
BINDING_WORDS: Final = "always never now immer nie niemals siempre nunca toujours jamais sempre mai altijd nooit"
KIN_WORDS: Final = (
    "wife husband partner spouse son daughter kid kids children child baby brother brothers sister sisters sibling siblings mother"
    " father mom mum dad parents boyfriend girlfriend fiance fiancee dog cat pet boss manager family roommate"
)
_MINE_WORDS: Final = (
    "name surname email e-mail phone mobile number address birthday birthdate birth account id userid username login nickname timezone"
    " zone job title profession role employer company language tongue pronouns zip postcode age hometown nationality passport type"
)
STATES_OF_BEING: Final = (
    "allergic vegetarian vegan diabetic based from married divorced widowed engaged pregnant left-handed colorblind colourblind"
    " color-blind colour-blind deaf blind dyslexic autistic retired self-employed unemployed celiac coeliac lactose gluten years born"
    " intolerant transgender gay lesbian bisexual jewish muslim christian hindu buddhist single"
)
_DONE: Final = (
    r"(?:done|fixed|finished|pending|blocked|completed?|merged|deployed|cancell?ed|processed|updated|in progress|running|delivered"
    r"|resolved|closed|booked|removed|added|passing|implemented|created|installed|renamed|replaced|changed)"
)
_DONE_WORDS: Final = (
    "done fixed finished pending blocked complete completed merged deployed canceled cancelled processed updated progress running"
    " delivered resolved closed booked removed added passing implemented created installed renamed replaced changed"
)

_OPENERS: Final = "(?:please|pls|plz|kindly|and|but|also|so|then|just|ok|okay|oh|hmm|wait|sorry|no|yes|well|again) "
_OPENED: Final = r"(?:please |pls |plz |also |just |to )?"
_STARTERS: Final = "(?:please|pls|plz|ok|okay|but seriously|and please),? "
_WORDS: Final = {
    "{kin}": KIN_WORDS,
    "{mine}": _MINE_WORDS,
    "{being}": STATES_OF_BEING,
    "{done}": _DONE_WORDS,
}
_NAMED: Final = {name: f"(?:{'|'.join(words.split())})" for name, words in _WORDS.items()} | {"{done}": _DONE}
_ANYWHERE: Final = {
    "@": r"\b",
    "{open}": rf"(?:^|[,;:—\u2013(] ?| - |\b{_OPENERS}){_OPENED}",
    "{start}": rf"(?:^|[,;:—\u2013(] ?| - |\b{_STARTERS})",
    **_NAMED,
}
_SPACED: Final = {
    "@": " ",
    "^": f" (?<=^{SPACING})",
    "{open}": rf" (?:(?<=[,;:—\u2013(] )|- |{_OPENERS}){_OPENED}",
    "{start}": rf" (?:(?<=[,;:—\u2013(] )|- |{_STARTERS})",
    **_NAMED,
}
"""All begin with a blank, so that a search only stops at blanks."""
_replace_names: Final = re.compile(r"(?<!\[)\^|@|\{[a-z]+\}").sub


def read_cues(cues: str) -> Iterator[tuple[str, str | None]]:
    """The cue words of a row, each with what must stand in the sentence as well, if anything."""
    for cue in _WORDS.get(cues, cues).split():
        word, _, part = cue.partition(":")
        part = (part or word).replace("_", " ")
        word = word.partition("_")[0]
        yield word, part if part != word else None


def read_pattern(pattern: str, *, is_spaced: bool) -> re.Pattern[str]:
    """One of the two forms of a row's pattern: for any sentence, or for a spaced one with `SPACING` before it."""
    names = _SPACED if is_spaced else _ANYWHERE
    return re.compile(_replace_names(lambda found: names.get(found[0], found[0]), pattern))


RULES: Final[tuple[RuleRow, ...]] = (
    (
        "remember",
        "remember",
        "",
        r"{open}remember(?: that)?(?:[:,] | to | i\b| we\b| my | our | the (?!time|day)| you | he | she | it | they | all | every| no | \w+ (?:is|are|has|have|was|will|goes|needs?|must|cannot|can't|wants?)\b| \w+'s )",
    ),
    (
        "remember",
        "remeber rember rmbr remmember remembr",
        "",
        "{open}(?:remeber|rember|rmbr|remmember|remembr) (?:that |you |to |my |the |our |i |we )",
    ),
    ("remember", "4get", "", r"@(?:don't|dont|do not|never) 4get\b"),
    (
        "remember",
        "records file record acc account profile card",
        "for your record|for our record|for my record|note|put|add ",
        r"@for (?:your|our|my) records?\b|@notes? (?:on|in|to) (?:my|the |our )?(?:file|record|profile|account|acc|card)\b|@(?:note|put|add) .*\b(?:on|in|to) (?:my|our|the) (?:\w+ )?(?:file|record|profile|account|acc|card)\b.*\b(?:that|can|must|is|are)\b",
    ),
    (
        "remember",
        "merk merke merken denk denke vergiss vergesst vergessen notier notiere notieren",
        "",
        r"@merke?n? (?:dir|sie sich|euch)\b|@denke? (?:bitte )?daran\b|@vergiss (?:bitte )?nicht\b|@nicht vergessen\b|{open}notieren?\b",
    ),
    (
        "remember",
        "recuerda recuerde acuérdate acuerdate olvides olvide olviden apunta anota anote tenga ten",
        "",
        r"{open}(?:recuerd[ae]|acu[eé]rdate|apunt[ae]|anot[ae])\b|@no (?:te |se )?olvid(?:es|e|en)\b|@ten(?:ga)? en cuenta\b",
    ),
    (
        "remember",
        "souviens-toi souvenez-vous rappelle-toi n'oublie n'oubliez note notez retiens retenez",
        "-toi|-vous|n'oubli|note que|notez que|reten|retiens",
        r"@(?:souviens-toi|souvenez-vous|rappelle-toi|n'oublie[sz]? pas|retiens|retenez)\b|{open}note[sz]? (?:bien )?que\b",
    ),
    (
        "remember",
        "ricorda ricordati ricordi dimenticare onthoud vergeet lembra lembre-se esqueças esqueça",
        "",
        r"{open}(?:ricorda(?:ti)?|onthoud|lembra(?:-te)?|lembre-se)\b|@non dimenticare\b|@vergeet niet\b|@não (?:se |te )?esqueças?\b",
    ),
    (
        "remember",
        "mind",
        "keep in mind|bear in mind|keep that in mind|keep this in mind|keep it in mind|have in mind",
        r"@(?:keep|bear|have) in mind\b|@keep (?:it|this|that) in mind\b",
    ),
    (
        "remember",
        "forget",
        "don't forget |never forget |not forget |dont forget ",
        r"@(?:don't|dont|do not|never|not) forget (?!it\b|about it)",
    ),
    (
        "remember",
        "note",
        "note t|note:|note d|a note|e note",
        r"@note (?:that|to self|down)\b|{open}note:|@(?:make|take) (?:a )?note\b",
    ),
    ("remember", "record", "", r"@for the record\b"),
    ("remember", "fyi", "", r"{open}fyi\b"),
    ("remember", "information", "for your information", r"@for your information\b"),
    ("remember", "save", "", r"@save (?:this|that|it) (?:for|somewhere|in)\b"),
    ("remember", "important", "important t", r"@important (?:that you know|to (?:know|remember|note))\b"),
    ("remember", "memorize memorise", "", r"{open}memori[sz]e\b"),
    (
        "remember",
        "know:so_you know_that",
        "",
        r"@just so you(?: all)? know\b|{open}(?:you should )?know that\b|@so you know[,:]",
    ),
    (
        "remember",
        "reference heads aware noting keep_this keep_that keep_it jot store_this store_that store_it mark_this mark_that mark_it down:write_this down:write_that down:write_it",
        "",
        r"@for (?:future )?reference\b|@heads[- ]up\b|{open}be aware\b|@worth noting\b|{open}(?:keep|store|jot|write|mark) (?:this|that|it)(?: down| somewhere| safe)?[:,]|@(?:write|jot) (?:this|that|it) down\b",
    ),
    ("correction", "meant misspoke mixed", "", r"@i meant\b|@i misspoke\b|@i mixed\b"),
    (
        "correction",
        "mistake typo correction scratch",
        "",
        r"@(?:made a|my) mistake\b|{open}(?:a )?(?:correction|typo)\b|@scratch that\b",
    ),
    (
        "correction",
        "meant",
        "",
        r"^(?:sorry|soz|sry|oops|whoops|no|wait|ah|and|,|i| )*meant (?:the |to say|on |at |in |\d)",
    ),
    (
        "correction",
        "wrong false incorrect",
        "gave|wrote|write|told|sent|said|have",
        r"@(?:gave|wrote|write|told|sent|said|have)(?: you| wrong| it)?(?: an?| the)? (?:wrong|false|incorrect) \w",
    ),
    (
        "correction",
        "moved changed postponed rescheduled renamed pushed brought",
        "moved to|changed to|postponed to|rescheduled to|renamed to|pushed |brought forward",
        r"@(?:was|is|are|were|has been|have been|got|been) (?:moved|changed|postponed|rescheduled|renamed|pushed back|brought forward) to\b",
    ),
    ("correction", "said:how_i_said said:as_i_said said:like_i_said", "", r"@not .*\b(?:how|as|like) i said\b"),
    (
        "correction",
        "not",
        ", not |and not ",
        r"^(?:the |at |on |in |it's |its )?[\w:.]*\d[\w:.]*,? (?:and )?not (?:the |at |on |in )?[\w:.]+[.!]?$|@(?:in|with|ends|starts|reads|says) [\w$€£.:-]+,? (?:and )?not (?:in |with |the )?[\w$€£.:-]+[.!]?$",
    ),
    (
        "correction",
        "equivoqué equivoque perdón quise trompé trompée voulais meinte geirrt vertan sondern sbagliato sbagliata volevo bedoelde vergist enganei",
        "",
        r"@me equivoqu[eé]\b|@quise decir\b|@je me suis trompée?\b|@je voulais dire\b|@ich meinte\b|@habe mich (?:geirrt|vertan)\b|@nicht .*\bsondern\b|@mi sono sbagliat[oa]\b|@volevo dire\b|@ik bedoelde\b|@vergist\b|@me enganei\b",
    ),
    ("correction", "mind", "change my mind|changed my mind", r"@changed? my mind\b"),
    ("correction", "bad", "my bad", r"{open}my bad\b(?=.*\w{2})"),
    (
        "correction",
        "wrong",
        "that's wrong|is wrong|got that wrong|got it wrong|it's wrong|was wrong",
        r"@(?:was|that's|that is|is|it's|got it|got that) wrong\b(?=[:,.;] ?\w|.{3,}$)",
    ),
    ("correction", "ignore forget", " what i", r"@(?:ignore|forget) what i\b"),
    (
        "correction",
        "wrong",
        "wrong ",
        r"{open}(?:sorry )?wrong (?:\w+)[,.:;] ?\w|@the wrong (?:file|one|number|name|date|address|person|version|day|time|place)\b.*\b(?:is|it's|should|use)\b",
    ),
    (
        "correction",
        "read disregard update thought longer back",
        "should read|should have read|disregard|scrap |update:|second thought|no longer|i take ",
        r"@should (?:have )?read\b|@(?:disregard|scrap) (?:my|what|that|the)\b|{open}update: ?\w|@on second thoughts?\b|@(?:is|are|am|do|does) no longer\b|@i take (?:that|it) back\b",
    ),
    (
        "correction",
        "outdated date misunderstood wrong",
        "outdated|out of date|misunderstood|me wrong",
        r"@(?:that's|that is|this is) (?:outdated|out of date)\b.*\w{2}|@you misunderstood\b|@you (?:got|have) me wrong\b",
    ),
    ("correction", "myself", "correct myself", r"@(?:correct|let me correct) myself\b"),
    (
        "correction",
        "new right old previous",
        "is",
        r"@(?:old|previous|wrong) .*\b(?:the|my|our) (?:new|right|correct) \w+ is\b|@the (?:new|right) (?:one|number|address|date|name|time|version) is\b",
    ),
    ("correction", "change", "it to|that to|this to", r"{open}(?:please )?change (?:that|it|this) to\b"),
    (
        "correction",
        "without spelled spelt",
        "",
        r"@(?:it's|its|it is|name is) [\w-]+ (?:without|with)(?: an?| the)? \w\b|@(?:it's|is|it is) (?:spelled|spelt)\b",
    ),
    (
        "correction",
        "actually",
        "",
        r"{open}actually,? (?!that's|that is|good|great|i (?:like|love|enjoy|think|was|went|had|just|did)|just|my )(?=.*(?:\d|\bnot\b|\binstead\b|\brather\b|\bmake\b|\bchange\b|\buse\b|\blet's\b|\bit's\b|\bon\b))",
    ),
    (
        "correction",
        "make_it make_that make_this make_them",
        "not|instead|rather than",
        r"@make (?:it|that|this|them) .*\b(?:instead|rather than|not)\b",
    ),
    (
        "correction",
        "no",
        "",
        r"@no,? (?:no,? )?(?:it's|it is|the|that's|i said|make it|not|its|use|we)\b(?! (?:ok|fine|problem))",
    ),
    (
        "correction",
        "not",
        "",
        r"^not (?:the |a |in |on |at )?[\w.:-]+(?: \w+)?[,;:]? (?:but )?(?:the |a |in |on |at )?[\w.:-]+[!.]?$|@(?:is|it's|are|was|on|at) [^,]*?[\w$€£.:]+(?:,| and) not (?:the |a |on |at |in )?[\w$€£.:-]+[.!]?$",
    ),
    (
        "correction",
        "wasn't isn't",
        "t wasn't |t isn't ",
        r"@(?:it|that) (?:wasn't|isn't) [^,;]*[,;] (?:it was|it's|it is)\b",
    ),
    (
        "correction",
        "not:is_not not:was_not not:s_not",
        "",
        r"@(?:it|that) (?:was not|is not|'s not) [^,;]*[,;] (?:it was|it's|it is)\b|@it's not [\w.]+ but\b",
    ),
    (
        "correction",
        "said wrote told gave put",
        "i said|i wrote|i told you|i gave you|i put",
        r"@i (?:said|wrote|told you|gave you|put) .*\bbut\b",
    ),
    (
        "correction",
        "instead",
        "",
        r"@instead of .*\b(?:let's|lets|use|make|do|take|it)\b|@(?:change|update|switch|move|set) .* instead\b",
    ),
    ("correction", "correct", "the correct ", r"@the correct \w+"),
    (
        "decision",
        "let's lets let_us",
        "",
        r"@(?:let's|lets|let us) (?:just |all |then )?(?:go (?:with|for|ahead)|use\b|do (?:it )?(?:with|the|that|option|in)|stick|stay with|keep (?:the|it|our|this|using)\b|take (?!a (?:break|walk|look|rest|moment|step)|care|it (?:slow|easy))|pick|choose|say\b|settle|make it\b|call it (?!a day))",
    ),
    (
        "decision",
        "decide decided chose chosen choose picked pick settled opted agreed agree",
        "decide|agreed|chose|picked|settled|opted",
        r"@(?:we|i)(?:'ve| have|'d)?(?: all| both| finally| just| already| now)? (?:decided?|chosen?|chose|picked|settled on|opted|agreed)\b(?! (?:with you|that you))|{open}(?:(?:settled|decided)\b ?[:,.\-—]|agreed ?[:,.] ?(?:we|let|on|so|then|the|\d))|@it's (?:decided|settled)\b|@the (?:chosen|agreed) \w+ is",
    ),
    (
        "decision",
        "approved confirmed deal final decision",
        "",
        r"{open}(?:approved|confirmed|deal|final(?: answer| decision)?|decision) ?[:,.\-—]|@it's (?:final|a deal)\b|@the final \w+ (?:is|will be)\b",
    ),
    (
        "decision",
        "decision",
        "",
        r"@(?:have|has|we|i)(?: \w+)? (?:taken?|took|made|make|reached)(?: an?| the| our| my)? decision\b|'ve(?: \w+)? (?:taken?|took|made|make|reached)(?: an?| the| our| my)? decision\b",
    ),
    (
        "decision",
        "decided chosen settled opted agreed chose decide",
        "ly ",
        r"@(?:we|i)(?:'ve| have)? \w+ly (?:decided?|chosen?|chose|settled on|opted|agreed)\b",
    ),
    (
        "decision",
        "instead rather",
        "ing ",
        r"@(?:we|i)(?:'re|'m| are| am| r) (?!not\b)\w+ing .*\b(?:instead of|rather than)\b",
    ),
    (
        "decision",
        "moving switching quitting dropping",
        "moving to|switching |quitting |dropping ",
        r"@(?:we|i)(?:'re|'m| are| am| r) (?:moving to|switching (?:to|from)|quitting|dropping) \w",
    ),
    ("decision", "forget scrap", "want", r"(?:^|[,;.] )(?:forget|scrap) (?:the|it|about) .*\bi (?:just )?want\b"),
    (
        "decision",
        "entschieden beschlossen gefallen",
        "",
        r"@(?:habe|haben)\b.*\b(?:entschieden|beschlossen)\b|@entscheidung ist gefallen\b",
    ),
    (
        "decision",
        "decidido decidimos elegido quedamos queda",
        "decidi|elegi|queda",
        r"@(?:he|hemos) (?:\w+ )?(?:decidido|elegido)\b|@decidimos\b|@(?:nos )?quedamos (?:con|en)\b|^queda (?:para|en)\b",
    ),
    ("decision", "choisi décidé", "", r"@(?:ai|avons|a) (?:\w+ )?(?:choisi|décidé)\b"),
    (
        "decision",
        "deciso scelto besloten gekozen decidi",
        "",
        r"@(?:ho|abbiamo) (?:\w+ )?(?:deciso|scelto)\b|@(?:heb|hebben)\b.*\b(?:besloten|gekozen)\b|^decidi\b",
    ),
    (
        "decision",
        "move rent switch",
        "we rent|we move to|we switch to",
        r"(?:^|, )(?:so |then )?we (?:move to|rent|switch to)\b",
    ),
    (
        "decision",
        "monday tuesday wednesday thursday friday saturday sunday",
        "let's|lets",
        r"@(?:let's|lets) (?:do|say|make it|meet) (?:on )?(?:\w+day)\b",
    ),
    ("decision", "going_to", "", r"@i(?:'m| am) going to (?:take|accept|choose|buy|keep|quit|sign) the\b"),
    (
        "decision",
        "going sticking staying",
        "going with|going ahead with|sticking |staying with",
        r"{open}going with\b|@(?:we|i)(?:'re| are|'m| am)(?: just| now)? (?:going (?:ahead )?with|sticking (?:with|to)|staying with)\b",
    ),
    ("decision", "ahead", "go ahead with|going ahead with", r"@go(?:ing)? ahead with\b"),
    (
        "decision",
        "it_is",
        "",
        r"^(?:ok(?:ay)?[,.]? |so |then |alright,? |fine,? )?(?!here|there|what|how|so\b|where|as |like |yes|yeah|sure|that|this)[\w-]+(?: \w+)? it is[.!]?$",
    ),
    (
        "decision",
        "go_with stick_with stay_with",
        "",
        r"(?:^|[,.;] |\b(?:ok|okay|so|then|yes|yeah|and|think) )(?:we|i)(?:'ll| will)? (?:go|stick|stay) with\b",
    ),
    ("decision", "go", "go for", "@(?:we|i)(?:'ll| will) go for (?!a )"),
    (
        "decision",
        "i'll we'll will",
        "l use |l keep |l take |l have |l do ",
        r"@(?:we|i)(?:'ll| will) (?:use|keep|take|have|do) (?!to\b|that\b|\w+ing\b|what|everything|anything|care|a look|you|ya\b|u\b|it from|in mind|in touch|that in|my best|the same|fun|a (?:break|walk|rest))\w+",
    ),
    (
        "decision",
        "landed minds mind wins winner discussion taking",
        "we landed|made up|wins|winner|discussion|'m taking",
        r"@we landed on\b|@made up (?:my|our) minds?\b|@(?:so|fine|ok|okay|then),? the [\w ]+ wins\b|@the winner is\b|@end of (?:the )?discussion\b|{open}i'm taking the\b",
    ),
    (
        "decision",
        "going",
        "",
        r"@(?:we're|we are|i'm|i am) going for (?:the|an?|option|plan)\b(?! (?:walk|run|swim|drink|ride|hike|coffee|bit|while))",
    ),
    ("decision", "plan", "the plan is to", r"@the plan is to\b"),
    (
        "decision",
        "will",
        " will be ",
        r"@(?:the|our|its) \w+ will be (?:called )?(?!fine|ok|great|fun|able|there|\w+ing\b)[\"'\w]",
    ),
    (
        "decision",
        "option plan variant version",
        "option |plan |version |variant ",
        r"{open}(?:option|plan|variant|version) (?:\d|[a-e]\b)(?=.*(?:please|then|it is|,|$))",
    ),
    (
        "constraint",
        "only",
        "",
        r"^(?:please |pls |plz |also )?(?!not\b|if\b|i\b|it\b|we\b|the\b|my\b|but\b|he\b|she\b|they\b|this\b|that\b|there\b)[\w.+-]+(?: [\w.+-]+){0,2} only(?:[,.!;]|$| (?:pls|plz|please|and|thanks|thx)\b)",
    ),
    (
        "constraint",
        "no",
        "",
        r"^(?:please|pls|plz|kindly|also|and),? no (?!problem|idea|worr|need|way|one\b|rush|i\b|it\b|that\b)\w",
    ),
    (
        "constraint",
        "u",
        "u ",
        r"@u (?:can't|cannot|cant|can not|mustn't|must not|shouldn't) (?!be serious|wait|imagine|believe|find|see|log|open)\w",
    ),
    (
        "constraint",
        "can't cannot cant",
        "cant |can't |cannot ",
        "^(?:and |but |also |we |pls )?(?:can't|cannot|cant) (?:spend|afford|exceed|go over|eat|drink|fly|travel|pay|accept|leave|arrive|start|be more) ",
    ),
    ("constraint", "not_to cannot_to", "", r"@(?:can not|cannot|can't) to \w"),
    (
        "constraint",
        "nie niemals keinesfalls keinen",
        "nie |niemals |keinesfalls |auf keinen fall",
        r"^(?!.*\b(?:ich|war|wird|hat|gibt)\b).*\b(?:nie|niemals|keinesfalls|auf keinen fall)\b",
    ),
    (
        "constraint",
        "immer nur kein keine nicht bitte",
        "bitte",
        r"@bitte\b.*\b(?:immer|nur|keine?n?|nicht mehr|niemals|nie)\b|@(?:immer|nur|keine?n?|niemals) .*\bbitte\b",
    ),
    (
        "constraint",
        "nunca jamás siempre nunca",
        "nunca|jamás|siempre",
        r"^(?:por favor,? )?(?:no \w+ )?(?:nunca|jamás|siempre) (?!he\b|ha\b|hemos|había|fui|vi\b|me\b|tengo|estoy)\w|^no (?:\w+)(?:es|as|en|an) (?:nunca|jamás)\b|@por favor\b.*\b(?:siempre|nunca|jamás)\b",
    ),
    (
        "constraint",
        "jamais toujours uniquement seulement",
        "",
        r"^(?!.*\b(?:je|j'ai|il|elle) (?:\w+ )?(?:ai|suis|étais|a|est) (?:jamais|toujours)\b).*(?:\bne |\bn').*\bjamais\b|@\w+ez (?:uniquement|seulement|toujours)\b|@jamais (?:après|avant|le|la|de)\b",
    ),
    (
        "constraint",
        "mai sempre solo nooit altijd alleen sempre nunca",
        "per favore|graag|alsjeblieft|alstublieft|non |niet |por favor",
        r"^(?:per favore,? )?non \w+ mai\b|@(?:per favore|graag|alsjeblieft|alstublieft)\b.*\b(?:sempre|mai|solo|nooit|altijd|alleen)\b",
    ),
    (
        "constraint",
        "never always",
        "",
        r"{start}(?:just |also |only )?(?:never|always) (?!up\b|full|calm|so\b|very|happy|here|there|\w+ing\b|in my|in our|look on|remember that you|give up|mind|been|the same|a |good|nice|fun|knew|had|was)(?:ever )?[a-z]",
    ),
    (
        "constraint",
        "don't dont not",
        "",
        r"{open}(?:don't|dont|do not|not to|not) (?:you )?(?:ever |just )?(?!you\b|worry|know|think so|mind|get (?:me|discouraged|down|lost|stuck)|let (?:any|it|them|that|this|your)|give up|lose|hesitate|be (?:silly|sorry|shy|afraid|scared|too|so|hard)|have to|need|like|love|sure|bad|really|yet\b|at all|too |so |very |that |a |the |an |much|only|in |on |for |to |my |i |we |it |as |only|forget|feel|see|talk|and |\w+day\b)[a-z]+(?: |$)",
    ),
    (
        "constraint",
        "only",
        "",
        r"^only (?!kidding|joking|because|then|just|problem|thing|a |if|when|now|\w+ \w+ed\b|\w+ \w+ \w+ed\b)\w+|@use only\b|@only use\b",
    ),
    (
        "constraint",
        "no",
        "",
        r"^no (?!problem|idea|worr|thank|need|way|one |doubt|wonder|luck|clue|rush|matter|no\b|not|i\b|it|that|longer|he|she|we\b|the |you|biggie|big deal|big|kidding|joke)[a-z].*(?:\bplease\b|\bpls\b|\bever\b|\bin \w+|\bafter\b|\bbefore\b|\bfor\b|\d|\bon \w+)|@no (?:more|less|fewer|later|longer) than\b|@no exceptions\b|@under no circumstances\b",
    ),
    ("constraint", "must", "", r"@(?:every|each|all|any) [\w ]{1,30}?must\b|@must (?:not|never|always|only|no)\b"),
    (
        "constraint",
        "must",
        "",
        r"@(?<!\bi )(?<!\bthat )(?<!\bshe )(?<!\bhe )must (?:be (?:[a-z]+ed|done|sent|kept|made|set|written|paid|held|given|no |at |under|below|within|in |on |by |able|a |the |unique|valid|\d|approved)|(?!be\b|have (?!an?\b|the\b|at\b|no\b|\d)|really|love|enjoy|miss|mean|know|want|think|like|admire|say|admit|confess|feel|seem|act, says)[a-z]+)|@i must (?:be (?:home|back|there|at|out|in))",
    ),
    ("constraint", "mustn't shouldn't", "", r"@mustn't\b|@shouldn't (?!be (?:hard|a problem|long|bad)|have)"),
    (
        "constraint",
        "should",
        "should not|should never|should always|should only|should be |should have |should use|should contain|should include|should start|should end|should stay|should go to|should look|should support",
        r"@should (?:not|never|always|only)\b|@(?:the|all|every|each|any|both|these|those|our|my|it|they|you|there|\w+s) (?:\w+ ){0,4}?should (?:be (?:[a-z]+ed|kept|in |at |under|no |written|sent|less|short)|have (?!been|\w+ed)|use|contain|include|start|end|stay|go to the|look like|support)",
    ),
    (
        "constraint",
        "may_not may_only might_not might_only nothing",
        "",
        r"@(?:may|might) (?:not|only)\b (?!be\b)|@nothing (?:may|can|should|must)\b",
    ),
    (
        "constraint",
        "has_to have_to need_to needs_to",
        "",
        r"@(?:it|they|this|these|everything|everyone|all(?: \w+){1,3}|the(?: \w+){1,3}|every \w+|each \w+|there|\w+s) (?:has|have|needs?) to (?!do with|say|offer|go home|wait)|@you (?:have|need) to (?!see|try|know|go|be|watch|read|hear|check|admit|understand|tell|worry|do that|apolog)|@we (?:need|have) to (?:stay|keep|be |remain|avoid|comply|meet|respect|support|limit)|@i (?:need|have) to (?:be|leave|arrive|finish|return)\b.*\b(?:by|before|at|until)\b .*",
    ),
    (
        "constraint",
        "can't cannot cant won't aren't can_not can:nobody can:no_one can:only can:always can:never can:from_now_on",
        "",
        r"@(?:we|you|they|it|one|people|users|clients|nobody|no one) (?:can't|cannot|can not|cant|won't|aren't allowed) (?!wait|deny|imagine|wrong|go wrong|beat|help but|believe|find|see|seem|remember|figure|get|tell|be that|help|log|open|connect|hear|be true)|@(?:cannot|can't|can not) (?:move|change|be (?:moved|changed|modified|exceeded|used|refunded|cancell?ed|shared|combined)|exceed|go over|go above|store|leave)\b|@i (?:can't|cannot|can not|cant) (?:eat|drink|drive|have|take|do|fly|work|attend|afford|spend|travel|walk|climb|pay|accept|use|go over|come (?:on|before|after)|leave)\b|@(?:nobody|no one|only) (?:\w+ ){0,4}can\b|@(?:can|could|would) you.*\b(?:always|never|from now on)\b",
    ),
    (
        "constraint",
        "nobody only",
        "may|should|must|allowed",
        r"@(?:nobody|no one|only) (?:\w+ ){0,4}(?:may|should|must|is allowed)\b",
    ),
    (
        "constraint",
        "most:at_most least:at_least more_than max maximum minimum min up_to less_than under below within limit limited",
        "",
        r"@(?:at most|at least|(?:no|not) more than|maximum(?: of)?|max|minimum(?: of)?|min|up to|less than|under|below|within|limit(?:ed)? (?:it |them |this |that )?to) (?:\W?\d|two|three|four|five|six|ten|one\b)(?!.*\bago\b)|^max(?:imum)?\b.*\d",
    ),
    (
        "constraint",
        "budget deadline limit date",
        "",
        r"@(?:budget|deadline|limit|due date)(?: \w+){0,3}? (?:is|are|of|at|=) |@(?:budget|deadline|limit):",
    ),
    (
        "constraint",
        "exceed go cost",
        "exceed|go over|go above|cost more",
        r"@(?:not|never|n't) (?:exceed|go over|go above|cost more)\b",
    ),
    (
        "constraint",
        "now:from_now_on rule:as_a_rule whenever_you time:every_time_you time:each_time_you future default:by_default",
        "",
        r"@from now on\b|@as a rule\b|@(?:whenever|every time|each time) you\b|@in (?:the )?future,? (?:please|always|use|do)|@by default\b",
    ),
    (
        "constraint",
        "unless until without",
        "unless |until i |without ",
        r"@unless (?:i|we|told|otherwise)\b|@until i (?:say|tell|confirm)\b|@without (?:my|asking|telling|checking|our|prior)\b",
    ),
    (
        "constraint",
        "ask check tell consult",
        " me before| me first",
        r"@(?:ask|check with|tell|consult) me (?:first|before)\b",
    ),
    (
        "constraint",
        "allowed permitted forbidden prohibited",
        "",
        r"@(?:not|n't) (?:be )?(?:allowed|permitted)\b|@(?:forbidden|prohibited) (?:to|for|by|in)\b",
    ),
    (
        "constraint",
        "require requires required mandatory policy legal",
        "",
        r"@(?:we|i|they|law|rules?|policy|contract) requires?\b|@(?:is|are) (?:required|mandatory)\b|@(?:company|our|security|password|the) policy\b|@for legal\b",
    ),
    (
        "constraint",
        "sure ensure",
        "make sure|be sure|ensure",
        r"(?:(?:you|we|to|must|should|please|pls|and|also) |{open})(?:make|be) sure\b (?!if|about|to (?:have fun|enjoy|check out|take care))|{open}ensure\b",
    ),
    (
        "constraint",
        "keep leave",
        "to |at |in |as |short|clean|under|within|private|small|alive|simple|secret|out of|below|brief|untouched",
        r"{open}(?:keep|leave) (?!me |in touch|going|it up|up |calm|on \w+ing|\w+ing |us |the faith).*\b(?:under|below|within|short|simple|to |at |in |as |small|private|secret|out of|untouched|alive|clean|brief)\b",
    ),
    (
        "constraint",
        "stick avoid refrain restrict treat limit",
        "",
        r"{open}(?:stick to|avoid|refrain from|limit|restrict|treat)\b",
    ),
    ("constraint", "stop", "ing", r"{open}stop (?!it\b|by\b)\w+ing\b"),
    (
        "constraint",
        "use",
        "always|, not|instead of|throughout|everywhere|for all|in every|for every",
        r"{open}use .*(?:\balways\b|\bthroughout\b|\beverywhere\b|\binstead of\b|, not\b|\bin every\b|\bfor all\b|\bfor every)",
    ),
    (
        "constraint",
        "strictly limits off-limits confidential between",
        "",
        r"@(?:strictly|off limits|off-limits|stays? between us|confidential)\b",
    ),
    (
        "constraint",
        "answer reply respond write speak talk",
        " in | with ",
        "{open}(?:answer|reply|respond|write|speak|talk)(?: to me| everything| only)? (?:in|with) (?!to)",
    ),
    ("constraint", "work_for", "", r"@(?:doesn't|don't|does not|do not|won't|dont) work for (?:me|us)\b"),
    ("constraint", "always", "would you|can you|could you", r"@(?:can|could|would) you.*\balways\b"),
    (
        "constraint",
        "only",
        "they only |you only |we only ",
        "@(?:we|they|you) only (?!have|had|got|just|want|need|went|met|saw|know|live)[a-z]+(?<!ed) ",
    ),
    (
        "constraint",
        "don't:we_don't don't:they_don't dont:we_dont dont:they_dont do:we_do_not do:they_do_not never:we_never never:they_never always:we_always always:they_always",
        "",
        r"@(?:we|they) (?:don't|do not|dont|never|always) (?:use|allow|accept|deploy|ship|support|open|sell|store|share|commit|merge|test|offer|pay|log|write|add|send|publish|do|take|give|put|run|build)\b(?! (?:know|it|that)\b)",
    ),
    ("constraint", "tops tight", "", r"@\d+ \w+ tops\b|@tight (?:budget|deadline|schedule)\b"),
    (
        "constraint",
        "stay stays",
        "stay",
        r"@(?:so |must |should |please )stays? (?:below|under|within|above|away|out)\b",
    ),
    (
        "constraint",
        "ok okay fine acceptable cool",
        "not |n't ",
        r"@(?:not|n't) (?:ok|okay|fine|acceptable|cool) (?:to|for|if|with)\b",
    ),
    (
        "constraint",
        "before",
        "",
        r"^before (?:sending|you|doing|making|any|changing|deleting|booking|buying|publishing|deploying|committing|merging)\b.*, (?:please )?(?!i |we |he |she |it )\w+",
    ),
    ("constraint", "appreciate", "if you", r"@i'?d appreciate (?:it )?if you\b"),
    ("constraint", "needs need", "", r"^(?:each|every|all|any) [\w ]+ needs? (?:an?|the|to|at|its?|their|\d)\b"),
    (
        "constraint",
        "shouldn't should",
        "the |our |all |any ",
        r"@(?:the|our|all|any) [\w ]+ should(?:n't| not) be (?:longer|more|larger|bigger|later|over|above|in|on|too)\b",
    ),
    (
        "constraint",
        "mondays tuesdays wednesdays thursdays fridays saturdays sundays weekends weekdays",
        "",
        r"^no (?:\w+days|weekends)\b|@i (?:have|need) to .*\b(?:on|every) (?:\w+days|weekends)\b",
    ),
    (
        "constraint",
        "supposed meant question table no-go non-negotiable dealbreaker breaker taboo",
        "no-go|dealbreaker|not supposed to|deal breaker|off the table|not meant to|non-negotiable|out of the question",
        r"@not (?:supposed|meant) to\b|@out of the question\b|@off the table\b|@no-go\b|@non-negotiable\b|@deal ?breaker\b",
    ),
    (
        "constraint",
        "crucial essential critical vital imperative important",
        "that |for me to |for us to ",
        "@(?:it's|it is) (?:very |really |absolutely |also )?(?:crucial|essential|critical|vital|imperative|important) (?:that|for (?:me|us) (?:that|to)) ",
    ),
    (
        "constraint",
        "every each all any",
        "",
        r"^(?:for|in|on|with|to) (?:every|each|all|any) [\w ]+?,? (?:please )?(?:add|use|write|make|send|include|put|run|create|give|keep|check|ask|show|include)\b",
    ),
    (
        "constraint",
        "whatever matter regardless times exactly",
        "whatever you|no matter|regardless|at all times|at no |exactly as",
        r"^(?:whatever you|no matter what|regardless)|@at all times\b|@at no (?:time|point)\b|@exactly as (?:it|they)\b",
    ),
    (
        "constraint",
        "can't cannot cant won't",
        "",
        r"@(?:the|this|these|those|our|my) (?:\w+ ){1,4}(?:can't|cannot|can not|cant|won't) (?:have|contain|include|be|use|take|go|exceed|hold|see|know|handle|eat|drink)\b",
    ),
    (
        "constraint",
        "has_to have_to",
        "he has to|he have to|has to be|have to be",
        r"@(?:he|she) (?:has|have) to .*\b(?:every|each|always|by|before|at \d)|@(?:the|my|our) \w+ (?:has|have) to be\b",
    ),
    ("constraint", "too", " for ", r"@too \w+ for (?:me|us|our|my|them)\b"),
    ("constraint", "promised guaranteed", "", r"@we (?:promised|guaranteed)\b.*\b(?:will|no|not|never)\b"),
    (
        "constraint",
        "insists demands expects refuses wants allow accept permit",
        "",
        r"@(?:insists? on|demands? (?!for)|refuses? (?:to|any))|@expects? (?:us|all|every|that)\b|@(?:client|customer|boss|landlord|team|manager|owner) (?:wants?|expects?)\b|@(?:doesn't|don't|does not|do not) (?:allow|accept|permit)\b",
    ),
    (
        "constraint",
        "english french german spanish italian portuguese dutch polish japanese chinese british american plain simple bold uppercase lowercase lower upper json markdown iso",
        " in ",
        r"@(?:write|answer|reply|respond|speak|keep|give|put|format|return|use|name|comments?|please|everything|texts?)\b.{0,50}? in (?:english|french|german|spanish|italian|portuguese|dutch|polish|japanese|chinese|british|american|plain|simple|bold|uppercase|lowercase|lower case|upper case|json|markdown|iso)\b",
    ),
    ("identity", "{mine}", "my ", r"@my (?:\w+ ){0,2}{mine}(?: code)?(?: (?:on file|here|there))?(?:'s|:| is| are)\b"),
    (
        "identity",
        "{kin}",
        "my |i have|i've|i got",
        r"@my (?:\w+ )?{kin}(?:'s name| \w+)? (?:is|are|has|have|works?|lives?|was born|suffers?|goes|called|named)\b(?! (?:coming|here|sick|asleep|at|in a|so|very|calling|waiting|just|fine|ok|been|going|had))|@i(?:'ve| have)? (?:got|have) (?:an? |\d+ |one |two |three |four |five )(?:\w+ ){0,2}?{kin}\b|@i have (?:an? |\d+ |one |two |three |four |five )(?:\w+ ){0,2}?{kin}\b",
    ),
    (
        "identity",
        "{being}",
        "i'm |i am |im |we are |we're ",
        r"@(?:i'm|im|i am|we're|we are) (?:also |actually |originally |currently |a bit |severely |and )?(?:\d+ |{being}\b)",
    ),
    (
        "identity",
        "i'm_a i'm_an i'm_the im_a im_an im_the am_a am_an am_the we're_a we're_the as:work_as",
        "",
        r"@(?:i'm|im|i am|i work as|we're|we are) (?:an?|the) (?!bit\b|little|lot\b|few|fan|minute|week|day|one\b|only|same|huge fan|big fan|mess|idiot|wreck|sucker|best|happ|worst|first)(?:\w+[ -]?){1,4}",
    ),
    (
        "identity",
        "live work worked study teach run own speak born grew moved wheelchair hearing suffer",
        "i |we ",
        r"@(?:i|we) (?:live (?:in|at|near|on|with)|work(?:ed)? (?:as|at|for|in)|study|teach|run (?:an?|my|our)|own|speak|was born|grew up|(?:just |recently )?moved (?:to|here|from)|use a (?:wheelchair|hearing)|suffer from)\b",
    ),
    (
        "identity",
        "roommates people siblings sisters brothers friends students two three four five six",
        "we",
        r"^(?:we're|we are) (?:two|three|four|five|six|seven|eight|\d+) \w+",
    ),
    (
        "identity",
        "run train play cook collect teach study volunteer commute coach sing drive ride swim",
        "i play |i cook |i volunteer |i run |i teach |i swim |i collect |i ride |i coach |i train |i drive |i sing |i study |i commute ",
        r"@i (?:run|train|play|cook|collect|teach|study|volunteer|commute|coach|sing|drive|ride|swim) (?!it\b|into\b|out\b|that\b|this\b|the (?:test|script|command|code))\w+",
    ),
    (
        "identity",
        "worked working years",
        "for|since",
        r"@i've (?:worked|been working|taught|lived) (?:as|in|at|for|with) .*\b(?:for|since)\b",
    ),
    ("identity", "named called", "we have |i have ", r"@(?:i|we) have (?:an? )?\w+ (?:named|called) \w"),
    ("identity", "diagnosed", "", r"@i (?:was|am|'ve been) diagnosed\b"),
    (
        "identity",
        "i'm im am",
        "m 1|m 2|m 3|m 4|m 5|m 6|m 7|m 8|m 9|m 0",
        r"@(?:i'm|im|i am) \d{1,2}\b(?! (?:min|hour|week|day|%|km|percent))",
    ),
    ("identity", "i'm", ", ", r"^(?:hi,? |hello,? )?i'm [a-z]+, (?:an? |the )?[\w ]+ (?:of|at|from|in|for)\b"),
    ("identity", "turns", "", r"@my \w+ turns \d"),
    (
        "identity",
        "diabetes asthma adhd epilepsy allergy allergies",
        "",
        r"@i have (?:diabetes|asthma|adhd|epilepsy|\w+ allerg\w+|an? \w+ allergy)",
    ),
    ("identity", "since", "i've been ", r"@i've been (?:an? )?(?!\w+ing\b|so |very |really )[\w ]+ since \w+"),
    (
        "identity",
        "team company firm office shop store business employees people staff headquarters family",
        "we are a |we have|we employ|our ",
        r"@we are a (?:team|family|company|group)\b|@we (?:have|employ) \d+ (?:people|employees|staff)|@our (?:company|team|firm|office|shop|store|business|headquarters) (?:has|is|are|name|consists|uses|sits)\b",
    ),
    (
        "preference",
        "love hate prefer luv adore detest loathe dislike h8 prefers",
        "",
        r"^(?:really |also |btw |honestly |personally |always |absolutely )*(?:love|hate|prefer|luv|adore|detest|loathe|dislike|h8) (?!it\b|that\b|this\b|you|your|when|how|to (?:see|hear|know|have|bother|say)|u\b|him|her)\w|@(?:i|we) (?:\w+ly )?(?:luv|adore|detest|loathe|h8) (?!it\b|that\b|this\b|you|u\b|them\b)\w",
    ),
    ("preference", "rather", "", r"@we would (?:much )?rather\b"),
    (
        "preference",
        "want",
        "i want|we want",
        r"@(?:i|we) want (?!to\b|you\b|u\b|it\b|that\b|this\b|some\b|help\b)\w+ (?:before|in|over|instead|without|not|only|always)\b|@(?:i|we) want always\b|@(?:i|we) always want\b",
    ),
    (
        "preference",
        "like",
        "like the|like my|like our|like it|like everything|always like|generally like|usually like|normally like",
        r"@(?:i|we)(?:'d| would) (?:always|generally|usually|normally) like\b|@(?:i|we)(?:'d| would) like (?:the|my|our|it|everything)\b.*\b(?:so|free|short|simple|quiet|early|late|to be|not|always)\b",
    ),
    (
        "preference",
        "grateful appreciate glad",
        "if you ",
        r"@if you (?:could |would )?(?:please )?(?:always|never|only|not|kept|keep)\b",
    ),
    (
        "preference",
        "not:i_not not:we_not",
        "",
        r"@(?:i|we) not (?:so much |really )?(?:like|eat|drink|want|love|enjoy)\b",
    ),
    (
        "preference",
        "lieber liebsten bevorzuge bevorzugen mag",
        "",
        r"@lieber \w+ als\b|@am liebsten\b|@bevorzugen?\b|@ich mag (?!nicht mehr)\w|@(?:ich|wir) .*\blieber\b",
    ),
    (
        "preference",
        "prefiero preferimos prefiere gusta gustan encanta odio",
        "",
        r"@(?:prefiero|preferimos)\b|@me (?:gustan?|encantan?)\b|@odio \w",
    ),
    (
        "preference",
        "préfère préférons préférerais préférerions j'aime déteste j'adore n'aime",
        "",
        r"@(?:je|nous) préf\w+|@j'(?:aime|adore)\b(?! (?:ça|bien ça))|@je (?:déteste|n'aime pas)\b",
    ),
    (
        "preference",
        "preferisco preferiamo preferirei piace liever liefst voorkeur prefiro gosto",
        "",
        r"@(?:preferisco|preferiamo|preferirei|prefiro|liefst|liever)\b|@mi piace\b|@gosto de\b|@voorkeur\b",
    ),
    (
        "preference",
        "prefer prefers favour favor dislike dislikes hate hates like likes love loves enjoy enjoys",
        "",
        r"@(?:i|we|my \w+|our \w+|he|she|they) (?:(?:really|usually|also|always|much|generally|strongly|tend to|mostly|absolutely|just|do|would|actually|personally|both|all|kinda|normally) )*(?:prefer|favou?r|dislike|hate|like|love|enjoy)s? (?!your|that\b|this|it\b|the idea|to (?:know|hear|see you)|not to say|how|you\b|when you|what|so\b|these|those|\.|what|when\b|where\b|that\b)\w|@(?:i'd|we'd|i would|id|i'd much) (?:much |really )?(?:prefer|like to have)\b|@(?:we|i) would like to have\b",
    ),
    (
        "preference",
        "don't dont not never didn't",
        "like|enjoy|want|care for",
        r"@i (?:don't|dont|do not|never|didn't) (?:really |much )?(?:like|enjoy|want|care for)\b(?! to (?:go|be|say|bother)| it\b| that\b)",
    ),
    ("preference", "rather", "", r"@(?:i'd|i would|we'd|id|i'd much) (?:much )?rather\b"),
    (
        "preference",
        "favourite favorite fav go-to preferred preference",
        "is|are",
        r"@my (?:all-time )?(?:fav(?:ou?rite)?|go-to|preferred|preference) (?:\w+ ){0,3}?(?:is|are)\b",
    ),
    (
        "preference",
        "suit suits annoy annoys annoying bother bothers bothered avoid works:for_me works:for_us thing:my_thing thing:our_thing find:i_find more:i_like possible:as_possible nice:be_nice",
        "",
        r"@(?:suits?|annoys?|bothers?) (?:me|us)\b|@(?:is|are) (?:so |totally |just |not )*(?:my|our) thing\b|@i find .*\b(?:easier|better|harder|nicer|clearer|annoying|useful|confusing|helpful|boring|best)\b|@can't be bothered with\b|@works? (?:best|better|fine|great|well) for (?:me|us)\b|@i like \w+ more\b|@as (?:short|few|simple|little|brief|cheap|early|late) as possible\b|@i (?:try to |always |usually )?avoid\b|@would be nice (?:to have|if)\b",
    ),
    (
        "preference",
        "drink eat smoke drive fly use wear watch read cook listen check answer trust own",
        "n't |dont |not |never ",
        r"@(?:i|we|my \w+) (?:don't|dont|do not|never|doesn't|does not) (?:really |ever )?(?:drink|eat|smoke|drive|fly|use|wear|watch|read|cook|listen to|check|answer|trust|own)\b",
    ),
    (
        "preference",
        "comfortable always take",
        "more comfortable|, always|'d take|would take",
        r"@i'?m more comfortable with\b|^[\w ]{3,30}, always[.!]?$|@i(?:'d| would) take [\w ]+ over\b",
    ),
    (
        "preference",
        "nothing something anything",
        "",
        r"^(?:nothing|something|anything) (?:too |less |more )?\w+ for (?:me|us)\b",
    ),
    (
        "preference",
        "fan keen fond stand into",
        "fan of|can't stand|keen on|fond of|into",
        r"@(?:a|an|big|huge) fan of\b|@can't stand\b|@(?:keen on|fond of|not (?:really )?into)\b",
    ),
    ("preference", "person guy girl", "more of a", r"@more of an? \w+ (?:person|guy|girl)\b"),
    ("preference", "ideally possible", "if possible|ideally", r"^ideally\b|@if possible\b"),
    (
        "preference",
        "better best easier",
        "for me|for us",
        r"@(?:is|are|would be|works?) (?:much )?(?:better|best|easier) for (?:me|us)\b",
    ),
    ("preference", "call", "call me ", r"{open}call me (?!back|later|when|if|at |on |to|crazy)\w"),
    (
        "preference",
        "always usually mostly normally typically generally",
        "i always|i usually|i mostly|i normally|i typically|i generally",
        r"@i (?:always|usually|mostly|normally|typically|generally) (?!thought|was|knew|wanted|had|forget|felt|\w+ed\b|been)\w+|@for \w+ i (?:mostly|usually|always)\b",
    ),
    ("preference", "want", "i want ", "@i want (?:the|an?|my|only|all) "),
    ("preference", "over", "", r"^[\w-]+ over [\w-]+(?: for (?:me|us))?[.!]?$"),
    ("preference", "please", " please", r"^(?!yes|no\b|ok|sure|thank)[\w-]+ \w+ please\b(?!,? (?:help|send|tell))"),
    (
        "open",
        "know:n't_know know:dont_know know:not_know dunno idk idea:no_idea sure:not_sure sure:n't_sure unsure clear:not_clear clear:n't_clear clear:not_yet_clear uncertain",
        "",
        r"@(?:(?:don't|dont|do not|not|no|isn't|am not)(?: (?:yet|still|really))* (?:know|sure|clear|idea)|dunno|idk|unsure|uncertain)\b(?:.*?\b(?:if|whether|wether|who|which|where|when|how (?!to)|what (?!you|this|that|it)|why (?!you|this|that|it))\b|(?: yet| still)*[:,]? .*\bor\b)",
    ),
    (
        "open",
        "figured worked found heard decided agreed settled",
        "n't |nt |not |nothing",
        r"@(?:haven't|havent|have not|hasn't|not|n't)(?: yet| still)* (?:figured out|worked out|found out|heard|decided|agreed|settled)\b|@heard nothing\b",
    ),
    (
        "open",
        "waiting waitin wait undecided open unclear tbd reply answer word news answered replied",
        "still |undecided|tbd| yet|so far|wait since|wait for",
        r"@still (?:waiting|waitin|wait|undecided|open|unclear|no (?:answer|reply|word|news))\b|@(?:undecided|tbd)[.!]?$|@(?:i|we) wait (?:since|for) .*\b(?:answer|reply)\b|@(?:no|nobody|not|no one) .*\b(?:reply|answer|word|news|answered|replied) (?:yet|so far)\b",
    ),
    (
        "open",
        "refund order parcel package money payment reply answer ticket delivery",
        "still not|still hasn't|still hasnt|still no|not yet",
        r"@still (?:not|hasn't|hasnt|no)\b|@not yet (?:here|arrived|received)\b",
    ),
    (
        "need",
        "need_to need_still need_2 need:i_need needs_to have_to has_to gotta got_to must ought should",
        "",
        r"@(?<!you )(?<!they )(?<!he )(?<!it )(?<!n't )(?<!not )(?<!dont )(?<!\bu )(?:(?:need|needs|have|has)(?: still| also| got)* (?:to|2)\b|gotta\b|(?<=ve )got to\b|ought to\b|(?:(?<=\bi )|(?<=\bwe )|(?<=ly )|(?<=still ))(?:must(?: to)?\b|should\b|need (?=make\b|do\b|change\b|send\b|pay\b|finish\b|find\b|buy\b|write\b|call\b))) ?(?!know|say|be\b|hear|thank|go now|help|admit|ask|confess|see\b|tell|laugh|love|have\b|wait|agree|feel|savor|savour|share\b)\w",
    ),
    ("need", "todo to-do do", "-|:|\u2013", r"^(?:my |our )?(?:todo|to-do|to do)(?: list)?\b ?[:\-\u2013] ?\S"),
    ("need", "tengo tenemos hay", "que ", r"@(?:tengo|tenemos) que \w|@hay que \w"),
    ("need", "muss müssen", "", r"@(?:ich|wir) (?:muss|müssen) (?:noch |bis |\w+ )\w|@muss ich (?:noch|bis)\b"),
    (
        "need",
        "dois devons faut",
        "je dois|nous devons|il faut que je|il faut que nous",
        r"@(?:je dois|nous devons|il faut que (?:je|nous)) \w",
    ),
    (
        "need",
        "devo dobbiamo moet moeten preciso",
        "",
        r"^(?:io )?(?:devo|dobbiamo) \w|@(?:ik|we|wij) moet(?:en)? \w|@preciso (?:de )?\w+r\b",
    ),
    (
        "commitment",
        "i'll ill we'll gonna will:i_will will:we_will going_to promise:i_promise",
        "",
        r"@(?:i'll|i will|ill|i'm going to|i am going to|we'll|we will|i'm gonna) (?!think|see\b|be (?:happy|glad|fine|ok)|never forget|have to|miss|love|let you)[a-z]+|@i promise\b",
    ),
    (
        "commitment",
        "will shall gonna",
        "",
        r"^(?:ok |okay |alright |sure |yes |yep |and |cool )*(?:will|shall|gonna) (?!you\b|u\b|it\b|that\b|this\b|the\b|be\b|there\b|he\b|she\b|they\b|we\b|i\b|do[.!]?$|see\b)[a-z]+ \w|@(?:i|we) shall (?!see|be\b|have to|need)\w",
    ),
    (
        "commitment",
        "il",
        "",
        r"^(?:ok |okay |alright |yes |and |yeah )*il (?:ask|post|send|call|ring|bring|do|make|get|tell|text|check|add|try|book|pay|email|write|let|take|give|come|fix|buy|pick|sort)\b",
    ),
    (
        "commitment",
        "happy glad",
        "i'd be happy to |i'd be glad to |i would be glad to |i would be happy to ",
        r"@i(?:'d| would) be (?:happy|glad) to (?!help|assist|hear|know)\w+ .*\b(?:myself|tomorrow|tonight|next \w+|by \w+|on \w+day)\b",
    ),
    (
        "commitment",
        "werde werden schicke melde sende bringe kümmere rufe",
        "",
        r"@(?:ich|wir) werden? (?!sehen|wohl)\w|@ich (?:schicke|melde|sende|bringe|kümmere|rufe)\b",
    ),
    (
        "commitment",
        "mando envío llamo aviso escribo voy vamos",
        "",
        r"@(?:te|le|les|os) (?:mando|envío|llamo|aviso|escribo)\b|@(?:voy|vamos) a \w+(?:ar|er|ir)\b.*\b(?:mañana|hoy|luego|el|esta)\b",
    ),
    (
        "commitment",
        "demain soir vais m'en",
        "demain|vais|m'en occupe|ce soir",
        r"@je m'en occupe\b|@je (?:vais|te|vous|l') ?\w+.*\b(?:demain|ce soir|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b|^(?:ok |oui )?je? ?\w+e .*\b(?:demain|ce soir)\b",
    ),
    ("commitment", "stuur zal bel mando domani amanhã", "", r"@ik (?:zal|stuur|bel) \w|@ti (?:mando|chiamo)\b"),
    ("commitment", "let", "", "@let me (?!know|think|see|guess|be|tell)[a-z]+"),
    (
        "task",
        "need_to need:still_need want_to wanna wanted_to like_to looking",
        "",
        "@(?:i|we) (?:also |still |just |now |really )?(?:need|want|have|would like|wish|wanna)(?:ed)? to (?!know|say|be|hear|thank|go now|help)|@(?:i'd|we'd) like to (?!hear|thank|know more)|@still need|@(?:i'm|i am|we're) looking (?:to|for) ",
    ),
    (
        "task",
        "can_you could_you would_you will_you can_u could_u would_u will_u",
        "",
        r"@(?:can|could|would|will) (?:you|u) (?:please |kindly |pls )?(?!please )(?!rather|not\b)[a-z]+",
    ),
    ("task", "todo to-do", "", r"@to-?do\b"),
    (
        "task",
        "{done}",
        "",
        r"@(?:is|are|was|were|been|it's|all|step \d+) (?:now |already |all |still |being |successfully |only )*{done}\b|@(?:i|we)(?:'ve| have)? (?:now |already |just |successfully )*{done}\b|^(?:fixed|done|finished|pending|completed)\b[: ]\S",
    ),
    (
        "task",
        "pass passed successfully remaining next status still progress",
        "test pass|tests pass| passed|successfully|remaining:|next:|status:|still pending|still open|still missing|still to do|still failing|in progress",
        r"@tests? pass|@\d+ passed\b|@successfully\b|^(?:remaining|next|status):|@still (?:pending|open|missing|to do|failing)|@in progress\b",
    ),
)
DENIALS: Final[dict[StatementKind, tuple[str, str]]] = {
    "remember": ("lol|haha", r"@(?:lol|haha)\b"),
    "correction": (
        "not",
        r"^(?:it's|that's|it was|i'm|i am|this is) not \w+[.!]?$|^not (?:bad|sure|really|yet|at all|too|so|that|now)\b|@why not\b|@if not\b|@or not\b",
    ),
    "decision": (
        "haha|nothing|agreed|lol|think about|if we|if i|if you",
        r"@haha|@(?:decided|agreed) nothing\b|^agreed[,.!] \w+[.!]?$|@lol\b|@think about\b|@if (?:we|i|you)\b",
    ),
    "constraint": (
        "according to|as always|at least|state|claim|say|said|told|imagine|took|waited|spent|paid|had to|used to|would have|could have|should have|don't know|don't think so|don't you think|i always|i never|he always|he never|they always|they never|there is|there are|there were|lol|haha",
        r"^according to\b|@(?:states?|stated|claims?|claimed) that\b|@says? (?:that )?(?:you|visitors|guests|people|one|users|it|she|he|they)\b|@imagine\b|@(?:took|waited|spent|paid|said he|said she|told me|had to|used to|would have|could have|should have)\b|@don't (?:you think|think so|know)\b|^(?:i|he|she|they) (?:always|never)\b|@as always\b|^(?!.*\b(?:ever|more th[ae]n|pls|please|plz)\b).*\b(?:lol|haha)\b|^at least (?!\d)|@there (?:are|were|is) (?:at least|more than|up to|less than)\b|@(?:they|he|she) (?:said|told|says|claims)\b",
    ),
    "identity": (
        "lol|haha|lately|yesterday|right now|at the moment",
        r"@(?:lol|haha|lately|yesterday|right now|at the moment)\b",
    ),
    "preference": (
        "lol|haha|favorite|favourite|i love |like to |love to |would love",
        r"@(?:lol|haha)\b|@(?:i'd|i would|we'd|would) (?:also |really |just )?(?:like|love) to (?!have)|@would love\b|@(?:was|were)\b.*\bfavou?rite|@i love (?:it|that|you)\b",
    ),
}
