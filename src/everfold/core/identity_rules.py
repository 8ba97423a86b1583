"""Rules of `statements` for what the speaker is, has, does and whom he belongs to.

Rows as `statement_kinds` says; `statement_rules` puts them in their order.
"""

from typing import Final

from everfold.core.statement_kinds import DenialRow, RuleRow

IDENTITY_RULES: Final[tuple[RuleRow, ...]] = (
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
    (
        "identity",
        "allergic diabetic celiac coeliac pregnant dyslexic autistic intolerant hearing allergy allergies",
        "'s |is |are |has |have ",
        r"@[\w-]+(?:'s| is| are| is also| is very| is severely) (?:allergic to|diabetic|celiac|coeliac|pregnant|dyslexic|autistic|(?:lactose|gluten)[ -]intolerant|hard of hearing)\b|@(?:has|have) (?:an? )?(?:\w+ ){1,2}allerg(?:y|ies)\b",
    ),
    (
        "identity",
        "heiße name:mein_name llamo nombre:mi_nombre m'appelle nom:mon_nom chiamo nome chamo heet naam soy",
        "",
        r"@ich heiße \w|@mein name ist \w|@me llamo \w|@mi nombre es \w|@je m'appelle \w|@mon nom est \w|@mi chiamo \w|@il mio nome è \w|@me chamo \w|@(?:o )?meu nome é \w|@ik heet \w|@mijn naam is \w|^(?:hola|buenas|buenos días|buenas tardes)?,? ?soy \w+ \w",
    ),
    (
        "identity",
        "зовут аллергия аллергии диабет",
        "",
        r"@(?:меня|сына|дочь|мужа|жену) зовут \w|@\u0443 (?:меня|нас|\w+) (?:\w+ )?(?:аллергия|диабет)\b",
    ),
    (
        "identity",
        "sono",
        "ciao|salve|buongiorno|buonasera",
        r"^(?:ciao|salve|buongiorno|buonasera),? sono (?!qui\b|io\b)\w+ \w",
    ),
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
)
IDENTITY_DENIAL: Final[DenialRow] = (
    "lol|haha|lately|yesterday|right now|at the moment",
    r"@(?:lol|haha|lately|yesterday|right now|at the moment)\b",
)
"""What makes such a sentence none of the kind after all."""
