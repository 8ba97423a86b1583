"""Rules of `statements` for what takes back or replaces something said before.

Rows as `statement_kinds` says; `statement_rules` puts them in their order.
"""

from typing import Final

from everfold.core.statement_kinds import DenialRow, RuleRow

CORRECTION_RULES: Final[tuple[RuleRow, ...]] = (
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
        "wrong",
        "i got |we got ",
        r"@(?:i|we) got (?:the|my|our) \w+(?: \w+)? wrong\b(?=[,.:;!]|$)",
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
    (
        "correction",
        "wait sorry oops hang hold",
        "",
        r"^(?:oh|ah|hmm|um|uh|no|,| )*(?:wait|sorry|oops|hang on|hold on),? (?:no|wait|sorry|oops|hang on|hold on|i mean)\b,? (?:it's|it is|that's|that is|that was|it was|the|make|not|my|our|i meant|i mean|i said|on|at|in|\d)|@no,? wait,? (?:no,? )?(?:it's|that's|make|the|my|\d|one\b|two\b|three\b|four\b|five\b|six\b)",
    ),
    (
        "correction",
        "too",
        "too ",
        r"@\d[\w.,]* (?:\w+ ){0,2}(?:is|are|was|were|seems?|would be) (?:way |far |much |a (?:bit|little) |still )?too (?:much|many|high|low|long|short|few|late|early|big|small|large|little)\b(?! (?:to|for an?)\b)(?!.*\b(?:lol|haha)\b)",
    ),
    (
        "correction",
        "instead",
        "instead of ",
        r"@(?:on|at|in|by|to|until|from|for|with) (?:the )?\$?\d[\w.:]* instead of (?:on |at |in |by |the )*\$?\d",
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
    (
        "correction",
        "ошибся ошиблась ошибка исправьте точнее передумал передумала вернее",
        "",
        r"@(?:ошибся|ошиблась|передумала?)\b|@исправьте\b|^(?:нет, |ой, )*(?:точнее|вернее),? \w",
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
        r"{open}actually,? (?!that's|that is|good|great|i (?:like|love|enjoy|think|was|went|had|just|did)|just|my )(?=.*(?:\d|\b(?:not|instead|rather|make|change|use|let's|it's|on)\b))",
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
        r"@no,? (?:no,? )?(?:it's|it is|the|that's|i said|make it|not|its|use|we)\b(?! (?:ok|okay|fine|problem|all|it[.!]?$|everything|enough|good|great|perfect|right|correct|true|alright|very (?:kind|nice)))",
    ),
    (
        "correction",
        "not",
        "",
        r"^not (?:the |a |in |on |at )?[\w.:-]+(?: \w+)?[,;:]? (?:but )?(?:the |a |in |on |at )?[\w.:-]+[!.]?$",
    ),
    (
        "correction",
        "not",
        ", not | and not ",
        r"@(?:is|it's|are|was|on|at) [^,]*?[\w$€£.:]+(?:,| and) not (?:the |a |on |at |in )?[\w$€£.:-]+[.!]?$",
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
)
CORRECTION_DENIAL: Final[DenialRow] = (
    "not|something|nothing|what's wrong",
    r"@(?:something|nothing)(?:'s| is| was) wrong\b|@what's wrong\b|^(?:it's|that's|it was|i'm|i am|this is) not \w+[.!]?$|^not (?:bad|sure|really|yet|at all|too|so|that|now)\b|@why not\b|@if not\b|@or not\b",
)
"""What makes such a sentence none of the kind after all."""
