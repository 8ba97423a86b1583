"""Rules of `statements` for what the speaker likes, wants or is used to.

Rows as `statement_kinds` says; `statement_rules` puts them in their order.
"""

from typing import Final

from everfold.core.statement_kinds import DenialRow, RuleRow

PREFERENCE_RULES: Final[tuple[RuleRow, ...]] = (
    (
        "preference",
        "love hate prefer luv adore detest loathe dislike h8 prefers",
        "",
        r"^(?:really |also |btw |honestly |personally |always |absolutely )*(?:love|hate|prefer|luv|adore|detest|loathe|dislike|h8) (?!it\b|that\b|this\b|you|your|when|how|to (?:see|hear|know|have|bother|say)|u\b|him|her)\w",
    ),
    (
        "preference",
        "luv adore detest loathe h8",
        "",
        r"@(?:i|we) (?:\w+ly )?(?:luv|adore|detest|loathe|h8) (?!it\b|that\b|this\b|you|u\b|them\b)\w",
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
        r"@(?:prefiero|preferimos|prefiere)\b|@me (?:gustan?|encantan?)\b(?=.*\w{3})|@odio \w",
    ),
    (
        "preference",
        "préfère préférons préférerais préférerions j'aime déteste j'adore n'aime",
        "",
        r"@(?:je|nous|il|elle|on|ils|elles|ma \w+|mon \w+) préf\w+|@j'(?:aime|adore)\b(?! (?:ça|bien ça))|@je (?:déteste|n'aime pas)\b",
    ),
    (
        "preference",
        "preferisco preferiamo preferirei piace liever liefst voorkeur prefiro gosto",
        "",
        r"@(?:preferisco|preferiamo|preferirei|prefiro|liefst|liever)\b|@mi piace\b|@gosto de\b|@voorkeur\b",
    ),
    (
        "preference",
        "предпочитаю предпочитаем люблю любим ненавижу нравится нравятся",
        "",
        r"@(?:предпочитаю|предпочитаем|ненавижу) \w|@(?:я|мы) (?:не )?(?:люблю|любим) \w|@мне (?:не )?нрав(?:ится|ятся) \w",
    ),
    (
        "preference",
        "prefer prefers favour favor dislike dislikes hate hates like likes love loves enjoy enjoys",
        "",
        r"@(?=[iwmosht])(?:i|we|my \w+|our \w+|he|she|they) (?:(?:really|usually|also|always|much|generally|strongly|tend to|mostly|absolutely|just|do|would|actually|personally|both|all|kinda|normally) )*(?:prefer|favou?r|dislike|hate|like|love|enjoy)s? (?!your|that\b|this|it\b|the idea|to (?:know|hear|see you)|not to say|how|you\b|when you|what|so\b|these|those|\.|what|when\b|where\b|that\b)\w|@(?:i'd|we'd|i would|id|i'd much) (?:much |really )?(?:prefer|like to have)\b|@(?:we|i) would like to have\b",
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
)
PREFERENCE_DENIAL: Final[DenialRow] = (
    "lol|haha|favorite|favourite|i love |like to |love to |would love",
    r"@(?:lol|haha)\b|@(?:i'd|i would|we'd|would) (?:also |really |just )?(?:like|love) to (?!have)|@would love\b|@(?:was|were)\b.*\bfavou?rite|@i love (?:it|that|you)\b",
)
"""What makes such a sentence none of the kind after all."""
