"""Rules of `statements` for what is open, what there is to do, who will do it and how far it is.

Rows as `statement_kinds` says; `statement_rules` puts them in their order.
"""

from typing import Final

from everfold.core.statement_kinds import RuleRow

TASK_RULES: Final[tuple[RuleRow, ...]] = (
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
        r"@(?=[nhgoms])(?<!you )(?<!they )(?<!he )(?<!it )(?<!n't )(?<!not )(?<!dont )(?<!\bu )(?:(?:need|needs|have|has)(?: still| also| got)* (?:to|2)\b|gotta\b|(?<=ve )got to\b|ought to\b|(?:(?<=\bi )|(?<=\bwe )|(?<=ly )|(?<=still ))(?:must(?: to)?\b|should\b|need (?=make\b|do\b|change\b|send\b|pay\b|finish\b|find\b|buy\b|write\b|call\b))) ?(?!know|say|be\b|hear|thank|go now|help|admit|ask|confess|see\b|tell|laugh|love|have\b|wait|agree|feel|savor|savour|share\b)\w",
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
        r"@(?:i'll|i will|ill|i'm going to|i am going to|we'll|we will|i'm gonna) (?!think|see\b|be (?:happy|glad|fine|ok)|never forget|have to|miss|love|let you|this\b|today\b|since\b|in\b|at\b|with\b|for\b|and\b)[a-z]+|@i promise\b",
    ),
    (
        "commitment",
        "will shall gonna",
        "",
        r"^(?:ok |okay |alright |sure |yes |yep |and |cool )*(?:will|shall|gonna) (?!you\b|u\b|it\b|that\b|this\b|the\b|be\b|there\b|he\b|she\b|they\b|we\b|i\b|do[.!]?$|see\b)[a-z]+ \w",
    ),
    ("commitment", "shall", "", r"@(?:i|we) shall (?!see|be\b|have to|need)\w"),
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
