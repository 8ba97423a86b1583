"""Rules of `statements` for what a person asks to remember or says for the record.

Rows as `statement_kinds` says; `statement_rules` puts them in their order.
"""

from typing import Final

from everfold.core.statement_kinds import DenialRow, RuleRow

REMEMBER_RULES: Final[tuple[RuleRow, ...]] = (
    ("remember", "запомни запомните забудь забудьте", "", r"@запомни(?:те)?\b|@не забудь(?:те)?\b"),
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
)
REMEMBER_DENIAL: Final[DenialRow] = (
    "lol|haha",
    r"@(?:lol|haha)\b",
)
"""What makes such a sentence none of the kind after all."""
