"""Rules of `statements` for what was settled, alone or together.

Rows as `statement_kinds` says; `statement_rules` puts them in their order.
"""

from typing import Final

from everfold.core.statement_kinds import DenialRow, RuleRow

DECISION_RULES: Final[tuple[RuleRow, ...]] = (
    (
        "decision",
        "let's lets let_us",
        "",
        r"@(?:let's|lets|let us) (?:just |all |then )?(?:go (?:with|for|ahead)|use\b|do (?:it )?(?:with|the|that|option|in)|stick|stay with|keep (?:the|it|our|this|using)\b|take (?!a (?:break|walk|look|rest|moment|step)|care|it (?:slow|easy))|pick|choose|say\b|settle|drop (?!by\b|in\b|off\b)|leave out|postpone|cancel|aim for|cut the|put off|go without|skip the|make it\b|call it (?!a day))",
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
    ("decision", "решил решила решили", "", r"@(?:я|мы) (?:уже |всё-таки |наконец )?решил[аи]?\b"),
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
)
DECISION_DENIAL: Final[DenialRow] = (
    "haha|nothing|agreed|lol|think about|if we|if i|if you",
    r"@haha|@(?:decided|agreed) nothing\b|^agreed[,.!] \w+[.!]?$|@lol\b|@think about\b|@if (?:we|i|you)\b",
)
"""What makes such a sentence none of the kind after all."""
