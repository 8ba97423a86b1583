"""Rules of strength: how strongly a statement binds. What a row holds is said in `statements/kinds.py`.

The first row that holds decides, so what denies stands before what it denies. A row with cues also makes a sentence a
constraint, wherever the rules of its language did not.

Source: own grammar of orders, tuned on the dev splits of tests/data/statements.jsonl and of labelled turns only.
"""
# ruff: noqa: RUF001  (letters of another script are what some rows are about)

from typing import Final

from everfold.core.statements.kinds import StrengthRule
from everfold.core.statements.rule_tables.directives import DIRECTIVES
from everfold.core.statements.rule_tables.lifting import join_standing
from everfold.core.statements.rule_tables.spanish import NEGATED

_SUBJECT: Final = r"(?:you|i|we|he|she|they|my|our|a|an|the|any|some\w+|any\w+|no ?one|nobody)"
_WHEN: Final = (
    rf"(?:(?:when(?:ever)?|every ?time|each time|any ?time|unless)(?: that)? {_SUBJECT}"
    rf"|if (?:you ever|i (?:ask|say|tell|write|send|mention|ever|am|do)|my|our|a|an|any\w*|some\w+))"
)
_ORDERED: Final = (
    r"(?:please|always|never|only|just|don't|do not|dont|no(?! (?:one|idea|problem|wonder|longer)\b)|{order})\b"
)
_MAKE: Final = (
    r"(?:write|make|send|give|draft|prepare|suggest|propose|recommend|book|slice|report|bring|show|build|create|plan"
    r"|translate|produce|generate|design|cite|quote|post|publish|buy|order|do for|cook|add|print|export|handle)"
)
_TELLING: Final = (
    r"(?:i|we|you|he|she|it|they|the|an?|my|our|his|her|their|its|there|this|that|these|those|what|who|how|why|is|are|was|were|and|or|but|so|then"
    r"|because|since|as|even|maybe|which|where|though|people|everyone|nobody|most|some|all|not|still|just|right|back|late|early|i'm|i'll|it's|that's"
    r"|we're|you're|\w+ing|\w+ed|\w+ly)\b"
)
_VERB: Final = rf"(?!{_TELLING})[a-z]{{2,}} (?:the|an?|my|me|it|them|him|her|us|our|that|this|these|those|no|all|only|your|any|every|each|both|first|\d+)\b"
"""A word that is followed as a verb is, and is none of those that begin a clause that tells something."""

_NOW: Final = (
    r"(?:from (?:now|today|tomorrow|here) on(?:wards?)?|from (?:today|tomorrow)|in (?:the )?future|going forward)"
)
_BOUND: Final = (
    r"(?!.*\b(?:your?|must|should|shall|(?:has|have|needs?|is|are) to|always|never|don't|please|pls|no|not|called|forbidden|prohibited|mandatory"
    r"|required|goes? (?:in|on|at|to|into|by)|belongs? (?:in|on|at|to)|for (?:me|us)|only[.!]*$|(?:it's|it is) (?:\w+ )?only)\b)"
)
"""What follows "from now on" tells of another person, unless it holds one of these."""
_TEAM: Final = (
    r"(?:(?:i|we)(?:'re|'m| are| am)? (?:the only one\w*|vegetarian|vegan|gluten-free|halal|kosher)\b"
    r"|we(?:'re|'ll| are| will)(?: only| all)? (?:us|deploy|ship|merg|commit|accept|allow|requir|support|quot|bill|invoic|format|releas|publish|test)(?:e|ing)?\b"
    r"|i(?:'ll| will)(?: only)? (?:accept|call you)\b|there (?:will be|are|is) no\b)"
)
"""What a person or a team will do that binds those who work for them."""
_PAST: Final = (
    r"(?:seen|saw|felt|found|met|heard|got|gotten|knew|known|gone|went|done|did|taken|took|given|gave|eaten|ate|drunk|drank|slept|written|wrote"
    r"|spoken|spoke|driven|drove|flown|flew|bought|brought|thought|taught|caught|told|said|kept|left(?!-)|lost|made|sent|spent|stood|understood|won"
    r"|wore|worn|broke|broken|chose|chosen|forgot|forgotten|grew|grown|shown|sang|sung|swam|swum|stole|stolen|threw|thrown|woke|woken|rode|ridden|rose"
    r"|risen|fell|fallen|held|paid|sold|built|lent|dealt|dreamt|learnt|meant|came|became|been|was|were|had|led|rang|sat|slid|stuck|tore|torn|fought"
    r"|hid|hidden|fed|began|begun|bitten|blew|blown|drew|drawn)"
)
"""What happened: no order begins with it."""
_FELT: Final = (
    r"(?:feel|cry|love|wake (?!me|us)|sleep|laugh|miss|enjoy|regret|end up|wonder|dream|fall (?:asleep|ill|in love)|forget (?!to\b)|lose (?!any)"
    r"|get (?:lost|sick|tired|bored|hungry|nervous|excited|cold|stuck|distracted|confused|it wrong)|run (?:late|out)|eat|drink|smoke"
    r"|\w+ too (?:much|many))\b"
)
"""What one does without being told to."""
_LEAD: Final = r"^(?:(?:and|but|so|well|oh|yes|no|also|ok|okay|yeah|honestly),? )*"
_IDLE: Final = r"(?:really |even |ever |actually |just )*"

_PASSING: Final = (
    r"(?:(?:free|spare|quiet|new|good|nice|better|little|few|decent) )*(?:second|sec|moment|minute|min|hour|day|evening|weekend|chance|opportunity|break|time|while|breather"
    r"|reply|answer|response|result|confirmation|job|girl|boy|man|woman|guy|girlfriend|boyfriend|partner|husband|wife|friend|house|flat|apartment|place|home|baby"
    r"|kid|child|dog|cat|puppy|puppie|kitten|car|shooting star|rainbow|headache|fever|cold|doctor|dentist)s?\b"
)
"""What one gets or finds once, or not for the work: who says so orders nothing that lasts."""
_WORK: Final = (
    r"(?:[\w-]+ ){0,3}?(?:orders?|errors?|warnings?|exceptions?|crash(?:es)?|failures?|bugs?|issues?|conflicts?|alerts?|tasks?|results?|steps?|tickets?|requests?|complaints?"
    r"|quer(?:y|ies)|questions?|e?-?mails?|messages?|notifications?|invoices?|receipts?|refunds?|payments?|bookings?|reservations?|files?|folders?|documents?|reports?|drafts?|chapters?"
    r"|sections?|paragraphs?|pages?|sentences?|scenes?|summar(?:y|ies)|translations?|articles?|sources?|citations?|links?|typos?|tests?|builds?|functions?|classes"
    r"|methods?|modules?|scripts?|commits?|branch(?:es)?|merges?|reviews?|comments?|migrations?|releases?|deployments?|logs?|rows?|records?|entr(?:y|ies)|duplicates?|charts?"
    r"|customers?|clients?|candidates?|applications?|contracts?|recipes?|leads?|ideas?|features?|names?|words?|tables?|images?|numbers?(?! of)|dates?)\b"
)
"""What an assistant works on."""
_FORMS: Final = r"(?:euros|dollars|pounds|francs|tabs|spaces|semicolons|commas|quotes|bullets|tables|lists|numbers|hours|minutes|miles|kilometres|kilometers|meters|metres|\w*grams|litres|liters)\b"
"""Plural words that say how something is written or counted."""

STRENGTHS: Final[tuple[StrengthRule, ...]] = (
    StrengthRule(
        strength=0,
        needles="from now|from today|from tomorrow|from here|future|going forward",
        pattern=rf"^{_BOUND}.*\b{_NOW},? (?:(?:he|she|it|they|people|everyone|everybody|humans|(?:my|our|his|her|their) {{kin}})\b"
        r"|[\w-]+s (?:leave|stop|run|go|come|cost|live|open|close|will (?!be\b))|(?:people|everyone|we) will live\b)",
        example="From now on my sister works in Leeds.",
        counter="From now on my sister must sign every invoice.",
    ),
    StrengthRule(
        strength=1,
        pattern=rf"^{_BOUND}.*\b{_NOW},? (?:the|this|that|our|my|his|her|their) (?!budget|limit|deadline|maximum|minimum|ceiling|cap\b)(?:[\w'-]+ ){{1,3}}?"
        r"(?:is (?:closed|open|free|gone|empty|available|\d)|will|lives|works|closes|opens|stops|starts|leaves|costs|runs|gets|comes|takes|serves"
        r"|sells|moves|sleeps|stays|pays|plays|teaches|arrives|departs)\b",
        example="From now on the shop closes at six.",
        counter="From now on the script you wrote stops at six.",
    ),
    StrengthRule(
        strength=0,
        needles="never |always |only ",
        pattern=rf"{_LEAD}(?:always|never) (?:{_PAST}\b|(?!(?:need|feed|speed|embed|exceed|proceed|heed|succeed)\b)\w+ed\b)"
        rf"|{_LEAD}always {_FELT}|^(?:and |but )?only (?:{_PAST}|eat|drink|smoke|tell you|told)\b"
        r"|^(?:always|never) [^?;]*(?:\b(?:so far|until now|till now|to this day|in my life|sadly|luckily|unfortunately|as a (?:kid|child)|back then|in those days"
        r"|since (?:i|we|then))\b|, (?:me|my {kin}|that \w+|it's an? [\w ]+)[.!]*$)"
        r"|^never (?:set foot|let (?:me|us) down|cost (?:me|us)|hurt an|quit \w+ing|cut my own)|^always (?:hit the|\w+ you[.!]*$)",
        example="Never seen so much snow.",
        counter="Never exceed the limit on this road.",
    ),
    StrengthRule(
        strength=0,
        needles=", always |, never ",
        pattern=rf"^(?:oh,? |well,? )?(?!{_FORMS})(?P<thing>[\w'-]+(?<![su])s), (?:always|never) (?P=thing)\b[.!]*$",
        example="Mugs, always mugs.",
        counter="Euros, always euros.",
    ),
    StrengthRule(
        strength=0,
        needles="don't |dont |do not |doesn't ",
        pattern=rf"{_LEAD}(?:don't|dont|do not|doesn't) {_IDLE}(?:have (?!anything|it\b|them\b|him\b|her\b)|need|like|love|own|live|know|feel|care|believe|remember|hate|belong|matter|miss|see (?:him|her|them|it|much)|work (?:there|here|any ?more)"
        r"|(?:ever )?want to (?:see|go|be|hear|live|work|come|meet))\b(?! (?:me|us|free)\b)"
        r"|@(?:don't|dont|do not) (?:even )?(?:ask(?: me)?(?: how\b| why\b|[.!]*$)|mention it[.!]*$|tell me (?:you|it's|he|she|they|we)\b|get me started"
        r"|make me laugh|hold your breath|speak too soon|shoot the messenger)",
        example="Don't have a garden anymore.",
        counter="Don't have anything sent to my office.",
    ),
    StrengthRule(
        strength=1,
        kinds="constraint|preference",
        pattern=rf"{_LEAD}(?:don't|dont|do not) {_IDLE}(?:eat|drink|smoke|drive|fly|wear)\b[^?;]*\b(?:any ?more|these days|lately)\b",
        example="Don't eat meat anymore.",
    ),
    StrengthRule(
        strength=0,
        needles="finally|yay|hooray|hurray|woohoo|phew|thank god|apparently|sadly|unfortunately|luckily|no more ",
        pattern=rf"{_LEAD}no [^?;]*\b(?:finally|yay|hooray|hurray|woohoo|phew|thank god|apparently|sadly|unfortunately|luckily)\b"
        r"|^no more (?:rain|snow|school|homework|exams?|work|tears|winter|waiting|pain|sleepless nights?)[.!]*$",
        example="No more rain, finally!",
    ),
    StrengthRule(
        strength=0,
        needles="when you|if you ever",
        pattern=r"^(?!.*\b(?:me|my|us|our|always|never|every|each|any)\b)(?:.*\b)?(?:when|whenever) you(?:'re|'ve| are| ever)? (?:visit|come (?:to|over|by|back|home)|go to|travel to|get (?:to|there|here)|arrive|land|move to|fly to|drive to)\b(?! (?:an?|the (?:end|last|next|first|bottom|top))\b)"
        r"|@if you ever (?:visit|come|go to|need (?!to\b|an?\b|more\b)|want (?!to (?:change|delete|send|book|use))|feel|find yourself|get (?:the chance|there|to)|are (?:in|near))\b",
        example="When you come to Berlin, bring a coat.",
        counter="When you come to a closed ticket, skip it.",
    ),
    StrengthRule(
        strength=0,
        needles="myself|taught |i don't want you|rather you|prefer you|can never tell|can never know|can never be|call me |should always|should never|was the game",
        pattern=r"@(?:tell|told|remind|ask) myself\b|@taught (?:me|us)\b|@that was the game\b"
        r"|@i don't want you to (?:think (?!for\b|out\b|about\b|in\b)|worry|feel|believe|suffer|misunderstand|be (?:sad|upset|worried|mad|angry|alone|hurt|disappointed)|get (?:hurt|sick|upset|in trouble|the wrong))"
        r"|@i(?:'d| would) (?:rather|prefer(?: it)?(?: if| that)?) you (?:heard|knew|saw|found out|learn(?:ed|t)|got)\b|@you can never (?:tell|know|be (?:too|sure)|have (?:too|enough))\b"
        r"|@you should (?:never|always) (?:go|travel|visit|trust|listen|follow your|try|have)\b"
        r"|@call me (?:sentimental|old[- ]fashioned|lucky|paranoid|picky|silly|naive|na\u00efve|stupid|weird|biased|crazy|ishmael)\b",
        example="I'd rather you heard it from me.",
        counter="I don't want you to think for me.",
    ),
    StrengthRule(
        strength=0,
        pattern=rf"@{_NOW},? (?!{_TEAM})(?:i|we|there)(?:'ll| will|'m|'re| am| are| is| might| may| hope| want to (?!be (?:\w+ed|told|shown|sent)\b|see (?:an?|the|all|every|each|only|no)\b))\b|^(?:and |so |but |then |well,? |maybe |perhaps )*(?!{_TEAM})(?:i|we)(?:'ll| will|'m| am| plan| hope| might| may| want to(?! be (?:\w+ed|told|shown|sent)\b| see (?:an?|the|all|every|each|only|no)\b)| would (?:love|like) to|'d (?:love|like) to)\b.*\b(?:from now on|in (?:the )?future|going forward)\b",
        example="From now on I'll take the stairs.",
        counter="From now on we're using pnpm.",
    ),
    StrengthRule(
        strength=0,
        pattern=r"^(?:and |so |but |maybe |perhaps |ok |well,? )*(?:if .*, ?)?(?:we|i|you|one|it) (?:could|might)\b",
        example="If you have time, we could repaint the shed.",
    ),
    StrengthRule(
        strength=0,
        pattern=r"^(?:and |so |but |well,? )*(?:there (?:are|is) |it's |we have |we've got )?only (?:an? )?(?:few |couple (?:of )?)?(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|few|\w+) (?:more )?(?:days?|weeks?|months?|years?|hours?|minutes?|nights?|sleeps?|pages?|people|left)\b.*\b(?:until|till|left|to go|before|away|remaining|more)\b",
        example="Only two weeks until the regatta!",
    ),
    StrengthRule(
        strength=3,
        cues="when:when_you whenever time:time_you",
        pattern=rf"^(?:and |so |but |also |please |listen,? )*(?:when(?:ever)?|every ?time|each time|any ?time) you(?:'ve| have)? (?:get|receive|see|notice|spot|hit|find|have|come across|run into|finish|finished|done with|completed?|written|read)"
        rf" (?:an?|any|another|new|some) (?!{_PASSING}[^,;?]{{0,30}},){_WORK}[^,;?]{{0,60}}, (?:please |always |never |then |just )*{{order}}\b",
        example="When you get a new order, print the slip.",
        counter="When you get a minute for the draft, send me the list.",
    ),
    StrengthRule(
        strength=0,
        pattern=r"@(?:when|once|if|as soon as|whenever) you(?:'re|'ve| are| have)? (?:done|ready|finished|back|home|free|there|got|get|had|have (?:the|time|a (?:moment|minute|second|sec|chance)))\b(?!.*\b(?:each|every|always|ever|from now|any)\b)",
        example="When you're done, show me the result.",
        counter="When you're done with a file, always show me the result.",
    ),
    StrengthRule(
        strength=3,
        cues="again anymore more:any_more longer:no_longer longer:any_longer fine ok okay allowed rule rules instruction instructions restriction ban said:what_i_said told:what_i_told on:from_now",
        pattern=join_standing(is_english=True),
        example="You can use abbreviations again.",
        counter="You can do it again!",
    ),
    StrengthRule(
        strength=3,
        cues="wieder mehr:nicht_mehr vergiss vergessen volver oublie oubliez olvida olvide nouveau",
        pattern=join_standing(is_english=False),
        example="Du darfst wieder Abkürzungen benutzen.",
    ),
    StrengthRule(
        strength=3,
        cues="now:from_now here:from_here here:here_on today:from_today forward:going_forward forward:moving_forward henceforth further:further_notice morning:as_of today:as_of now:as_of on:from_this onwards permanent permanently follows:that_follows on:from_tomorrow starting beginning effective",
        pattern=rf"@from (?:now|here|this (?:point|day|moment)|today|tomorrow)(?: on| onwards?| forward| out)\b|@from today,? (?:you|please|{{order}}|no|only|never|always)\b|@as of (?:now|today|this (?:morning|week|month)|tomorrow)\b|@(?:going|moving) forward(?=[,:.!]|$| (?:please|always|never|only|you|no|i want|i need|i'd like|i expect|we use|{_TEAM}|{{order}})\b)|@(?:starting|beginning) (?:from )?(?:now|today|tomorrow|this week),? (?:please|you|no|only|never|always|all|every|{{order}})\b|@effective (?:immediately|today|tomorrow),? \w|@henceforth\b|@until further notice\b|{{open}}(?:consider|treat) (?:this|that|it) (?:as )?permanent\b|, permanently\b|@for everything that follows\b",
        example="From now on write the totals in euros.",
    ),
    StrengthRule(
        strength=0,
        needles="ab jetzt|ab heute|ab sofort|von jetzt an|von nun an|künftig|in zukunft",
        pattern=r"^(?!.*\b(?:immer|nie|niemals|nur|keine?[nmrs]?|nicht|all\w*|jede\w*|bitte|du|dir|dich|dein\w*|ihnen|möchte|will|heißt|soll\w*|muss|müssen|darf|dürfen|brauche)\b)"
        r".*\b(?:ab (?:jetzt|heute|sofort)|von (?:jetzt|nun) an|künftig|in zukunft),? (?:(?:ist|sind|hat|haben|wird|werden|\w{2,}t) (?:der|die|das|mein\w*|unser\w*|er|es|sie|man|\w{3,})\b|\w+e ich\b|bin ich\b|\w+en wir\b)",
        example="Ab heute wohnt meine Schwester in Graz.",
        counter="Ab jetzt wohnt meine Schwester nicht mehr hier.",
    ),
    StrengthRule(
        strength=0,
        needles="désormais|dorénavant|à partir de maintenant|à l'avenir|a partir de ahora|de ahora en adelante|d'ora in|da ora in|a partir de agora|de agora em|voortaan|vanaf nu|впредь|отныне|с этого момента",
        pattern=r"^(?!.*\b(?:toujours|jamais|que|ne|tu|te|toi|ton|vous|vos|votre|veux|voudrais|doit|doivent|uniquement|seulement|siempre|nunca|no|quiero|debe\w*|solo|sempre|mai|non|voglio|deve\w*|solo|não|quero|só|altijd|nooit|geen|niet|moet\w*|wil|je|jij|u|alleen|всегда|никогда|не|только|хочу|ты|вы|долж\w+)\b)"
        r".*\b(?:(?:désormais|dorénavant|à partir de maintenant|à l'avenir),? (?:je|il|elle|on|nous|ils|elles|ma|mon|mes|le|la|les|notre|nos)"
        r"|(?:a partir de ahora|de ahora en adelante),? (?:yo|voy|vamos|mi|mis|la|el|los|las|él|ella)|(?:d'ora|da ora) in (?:poi|avanti),? (?:io|mia|mio|il|la|lui|lei|vado|andiamo)"
        r"|(?:a partir de agora|de agora em diante),? (?:eu|vou|vamos|minha|meu|o|a|ele|ela)|(?:voortaan|vanaf nu),? (?:\w+ )?(?:ik|hij|zij|mijn|onze)|(?:впредь|отныне|с этого момента),? (?:я|он|она|они|мы|мо[йяи]|наш\w*))\b",
        example="Désormais ma sœur habite à Lyon.",
        counter="Désormais le ton doit rester formel.",
    ),
    StrengthRule(
        strength=3,
        cues="jetzt:ab_jetzt sofort:ab_sofort heute:ab_heute jetzt:von_jetzt nun:von_nun künftig zukunft:in_zukunft weiteren:alle_weiteren wenn:wenn_du wenn:wenn_ich",
        pattern=r"@(?:ab (?:jetzt|sofort|heute|nun)|von (?:jetzt|nun) an|künftig|in zukunft|für alle weiteren)\b|^wenn (?:du|ich|sie|jemand) [^?]*, (?!\w+ (?:ich|wir)\b|bin\b|habe?\b|werde?\b|war\b|kaufe?\b)\w+ [^?]*\b(?:immer|nie|niemals|nur|stets|bitte|nicht|keine?n?)\b",
        example="Ab sofort nur noch metrische Angaben.",
        counter="Wenn ich kann, bin ich immer da.",
    ),
    StrengthRule(
        strength=3,
        cues="désormais dorénavant maintenant:à_partir l'avenir:à_l'avenir ahora:a_partir ahora:de_ahora adelante:en_adelante d'ora:ora_in ora:ora_in avanti:in_avanti agora:a_partir agora:de_agora voortaan vanaf:vanaf_nu futuro toekomst впредь отныне момента:с_этого",
        pattern=r"@(?:désormais|dorénavant|à partir de maintenant|à l'avenir|a partir de ahora|de ahora en adelante|d'ora in (?:poi|avanti)|da ora in poi|a partir de agora|de agora em diante|voortaan|vanaf nu|впредь|отныне|с этого момента)\b|^(?:en el futuro|in futuro|no futuro|in de toekomst),? (?:por favor|per favore|graag|alsjeblieft|sé|sii|seja|wees|no (?:me )?\w+s|non \w+re|siempre|nunca|sempre|altijd|nooit)\b",
        example="Désormais tu écris tout en français.",
    ),
    StrengthRule(
        strength=0,
        kinds="constraint|preference|remember|decision|identity",
        pattern=r"^(?!.*\b(?:whatever|(?:i|as|i've|i have|i haven't) (?:said|told))\b).*\b(?<!if you )(?<!if you always )(?<!if you never )(?:says|said|told|tells|insisted|explained|claims|claimed|thinks|warned|used to|requires that)\b(?! in\b| by\b| as\b)",
        example="The sign at the gate said never feed the ducks.",
        counter="I said never feed the ducks.",
    ),
    StrengthRule(
        strength=0,
        kinds="constraint|preference|remember|decision|identity",
        pattern=r"@according to\b|@as the saying|@i (?:hope|wish|wonder|bet|keep thinking)\b|@if only\b|@(?:always|never) (?:a|an|the|happy|been|wanted|loved|thought|knew|imagined|fails?|gets? old|ceases?|ending|too late|in my life|mind|again will|to be)\b|@(?:i|we) (?:always|never) (?:\w+ed|knew|thought|forget|lose|saw|had|got|went|did|was|were)\b|@one should\b|@you can't always\b|@never have to\b",
        example="I always loved the harbour.",
    ),
    StrengthRule(
        strength=0,
        pattern=r"^(?!.*\bremind me\b).*\b(?:(?:of|to|on|in|with) yourself|yourself (?:an?|some|time|and)|your (?:dreams?|passions?|heart|goals|chin|spirits?|customers|best|head up|mental health|well-?being)|take (?:care|breaks|it easy|some time)|keep (?:going|it up|up the|pushing|at it|dreaming)|make it happen|stay (?:positive|strong|focused|motivated)|always (?:here|there) for you|staying positive|(?:just )?remember that sometimes|keep (?:fight|work|shin|smil|believ|mov|persever)ing|don't (?:stop|quit)|believe in|give up|be (?:proud|patient)|have fun|good luck|hang in there|you(?:'ve)? got this|just do it|worry|sweat it|bring you down|miss a beat|dream big)\b",
        example="Don't forget to take breaks when you study.",
        counter="Don't forget to remind me to take breaks.",
    ),
    StrengthRule(
        strength=0,
        kinds="preference|decision|constraint",
        pattern=r"@(?:let's|let us) (?:go for it|do this|(?:go )?make (?:it happen|an impact|a difference|(?:some )?memories))\b",
        example="Let's go for it and make an impact.",
    ),
    StrengthRule(
        strength=0,
        pattern=r"@remember (?:when|how|the (?:time|day)|that (?:time|day))\b|@(?:i|we)(?:'ll|'d| will| would| can| could)? (?:never forget|don't remember|can't remember|remember)\b|@(?:never|don't) forget (?:the|that) (?:day|time|moment|feeling)\b",
        example="Remember when the tent blew away.",
    ),
    StrengthRule(
        strength=3,
        cues="future rest:the_rest whole next:next_time next:the_next later:note_for later:all_later further:all_further further:any_further project:project_all following:all_following",
        pattern=r"{open}in (?:the )?future\b|@(?:{order})\b.* in (?:the )?future(?=[,.;:!]|$)|@for the future[:,]|@for (?:all|any|every|each|the) (?:the |of the |our |my )?(?:next|further|future|later|following|coming|other) \w+|@(?:all|any|every|each) (?:future|further|later)\b|@for (?:the (?:whole|entire|rest of (?:the|this|our|my))|this (?:whole|entire)|all of this) (?:project|repo|chat|book|conversation|session|talk|series|course|job|site|document|thread|trip)\b|{open}note for later\b",
        example="For the rest of this project use British spelling.",
    ),
    StrengthRule(
        strength=3,
        cues="standing rule rules policy",
        pattern=r"@standing (?:order|instruction|rule|request)s?\b|@(?:my|our|one|house|new|another|golden|hard|strict|simple|firm|general|basic) (?:rule|policy)(?: number \w+)?(?: (?:for|of|from|here|is|in|about|on) [^?]*)?:|@(?:make|keep) (?:it|this|that) (?:a|the|your) rule\b|@(?:as|is) a (?:general |strict )?rule\b(?! of)|@(?:my|our|the house) (?:rule|policy) is\b|@keep to (?:this|that) (?:for|in)\b",
        example="One rule for the letters: no jokes.",
        counter="As a rule of thumb it takes an hour.",
    ),
    StrengthRule(
        strength=3,
        cues="always never only every:you_to each:you_to",
        pattern=r"^(?:please |so |but |btw |also |just |again )*(?:always|never) (?!(?:trust|judge|meet|marry|argue|underestimate|bet|lend|wrestle|an?|the|in|on|my|been|had|mind|again|too|happy|there|here|good|nice|great|fun|knew|thought|saw|loved|wanted|up|down|open|glad|look|say|have|be|ever|before|underestimate|happier|better|stop|give|wo|is|was|are|and|or|but|a|enough|not|more|will|would|really|quite|met|heard|got|did|went|(?!(?:need|feed|speed|exceed|proceed|heed|embed)\b)\w+ed|\w+ing)\b)[a-z]+|(?:{start}|@(?:btw|by the way|oh|listen|look|just|please|yet|so|but|you (?:must|should|may|can|are to|have to|need to|will|shall)),? |^(?:(?:and|or|oh|ok|okay|yes|no|well|also|thanks),? )+)(?:always|never|never ever|only ever|only)(?: ever|, ever,)?(?: please)? (?!look on|say never|have\b|be\b){order}\b|@i(?:'d| would)? (?:want|need|expect|like|ask|prefer|trust) (?:that )?you to (?:[^;?]*\b)?(?:always|never|only|every|each)\b",
        example="Never touch the archive folder.",
        counter="Always look on the bright side.",
    ),
    StrengthRule(
        strength=3,
        cues="always never time:every_time time:each_time everytime whenever",
        pattern=r"(?:{open}|@(?:btw|by the way|oh|oh and|listen|just|please|would you|could you),? ){order} [^;?]*\b(?:always|never|every ?time|each time|whenever)\b(?! (?:wanted|been|loved|knew))|@(?:is|are) always .* for (?:you|me|us)\b|@(?:has|have|needs?|must) (?:to )?\w+ .*, always\b|@\w+s (?:always|never) (?:go to|belong|when you)\b|@always when you\b",
        example="Round the totals every time you print them.",
        counter="Keep the sofa I always wanted.",
    ),
    StrengthRule(
        strength=3,
        cues="when whenever everytime every:every_time each:each_time any:any_time anytime unless if",
        pattern=rf"{{start}}(?:so |also |and |but |listen,? |then )?{_WHEN}\b(?:(?<=ever)|(?! (?:have|can|want|need|find|get|like|could|see|manage)\b))[^?;]{{2,90}}?(?:[,:] ?(?:then |just )?(?!(?:please )?let (?:me|us) know\b){_ORDERED}|(?<! i)(?<!'ll)(?<! to)(?<! you)(?<! we)(?<! they) (?:don't|do not|dont|never|put|use|you (?:must|may|delete|stop|send|write|ask|tell))\b)",
        example="When you write to the landlord, sign with both names.",
        counter="When you have a moment, call the bank.",
    ),
    StrengthRule(
        strength=3,
        cues="sure:not_sure sure:n't_sure know:you_don't_know know:you_do_not_know find:can't_find find:cannot_find understand:you_don't",
        pattern=r"^(?:and |but |also |so )*(?:if|when) you(?:'re| are) (?:not|n't) sure\b[^,;?]*, (?:please |just )?(?:say|{order})\b|^(?:and |but |also |so )*(?:if|when) you (?:don't|do not|can't|cannot) (?:know|find|understand|answer)\b[^,;?]*, (?:please |just )?(?:say|admit|{order})\b",
        example="If you don't know, say so.",
    ),
    StrengthRule(
        strength=3,
        cues="before:before_you before:before_doing before:before_sending before:before_booking before:before_buying before:before_changing before:before_deleting before:before_installing without:without_asking without:without_telling without:without_my without:without_me without:without_checking without:without_consulting unless:unless_i until:until_i first:me_first doubt unsure",
        pattern=r"{open}before you \w+[^?;]*, ?(?:please |always |you )?(?:{order}|wait)\b|{open}(?:{order}|check with me|wait)\b[^?;]* before you (?!go\b|leave\b)\w+|@unless i (?:say|ask|tell|request|explicitly|approve|agree)\b|@until i (?:say|tell|approve|agree|confirm)\b|@(?:ask|check with|tell|warn) me (?:first|beforehand)\b|@(?:if|when) (?:in doubt|unsure|you're (?:unsure|not sure|in doubt)),? \w|@without (?:asking|telling|checking with|consulting|my|me) |@before (?:you )?(?:ever )?(?:doing|sending|booking|buying|changing|deleting|installing) (?:any|anything)\b",
        example="Show me the draft before you send it.",
        counter="Call me before you go.",
    ),
    StrengthRule(
        strength=3,
        cues="never:never_want ever:don't ever:do_not ever:dont ever:never again:don't again:do_not again:dont again:never circumstances matter:no_matter happens:whatever_happens exception exceptions negotiable non-negotiable anymore again more:any_more more:no_more",
        pattern=r"@under (?:no|any|all) circumstances\b|@i never want (?:to (?:see|hear|read)|you)\b|{open}(?:whatever happens|no matter what),? |@(?:no|without) exceptions?\b|@non-?negotiable\b|(?:{open}|@(?:but|and) )(?:don't|do not|dont|never)(?: you)? (?:ever )?[^?;]*\b(?:ever|any ?more|again)\b|@(?:do not|don't) ever {order}\b|@i (?:don't|do not|dont) want you to\b|@(?:you are|you're) not to\b",
        example="Do not ever quote the old price list.",
    ),
    StrengthRule(
        strength=3,
        cues="after:after_this here:from_here every:you each:you all:you any:you anything:you everything:you whatever:you none:in_none every:in_every every:for_every every:on_every every:with_every each:in_each each:for_each each:on_each each:with_each",
        pattern=rf"@(?:any|anything|every|everything|each|all|whatever|none)\b(?: of)?(?: (?!you\b)[\w&'-]+){{0,5}}?(?<! move)(?<! choice)(?<! decision)(?<! mistake)(?<! effort) (?:that |which )?you(?:'ll| will| may)?(?: ever)? {_MAKE}\b|@(?:every|each|any) \w+ (?:after this|from here)\b|{{open}}(?:{{order}}|would you(?: please)? {{order}}|don't|do not|never|no)\b.*\b(?:in|for|on|with) (?:each(?! other)|every|none)(?: one| of|(?: (?!you\b)\w+){{1,3}})\b",
        example="Every poem you write for the calendar has twelve lines.",
        counter="Any chair that you like you make.",
    ),
    StrengthRule(
        strength=3,
        cues="reply replies answer answers response responses emails mails summaries summary letters drafts reports dates prices amounts",
        pattern=r"@(?:every|each|all|any|your) (?:\w+ )?(?:repl(?:y|ies)|answers?|responses?|e?mails|summar(?:y|ies)|letters|drafts|reports|dates|prices|amounts)\b[^?;]*\b(?:must|should|has to|have to|needs? to|please|to be|ends?|starts?|under|without|in (?:english|german|french|euros|dollars))\b",
        example="All answers in plain English please.",
    ),
    StrengthRule(
        strength=3,
        cues="me:call_me me:calling_me me:address_me pronouns job:your_job role:your_role",
        pattern=r"(?:{open}|@(?:can|may|should|to) )(?:call|address) me (?!back\b|when\b|if\b|at\b|on\b|later\b|tomorrow\b|tonight\b|a\b|in\b|as soon\b|before\b|after\b|crazy\b)\w+|@stop calling me\b|@my pronouns are\b|@your (?:job|role) is (?:to|not)\b",
        example="Please address me as Captain.",
        counter="Call me when you land.",
    ),
    StrengthRule(
        strength=3,
        cues="remember mind",
        pattern=r"@remember (?:that|this|it)(?:,? (?:please|pls|ok|okay|too|for me|forever))?[.!:]*$|(?:{open}|@(?:btw|by the way|oh|listen|please|just),? )remember,? (?:that|to|my|our|i|for|the)\b|@keep (?:that|this|it) in mind\b",
        example="The office is shut in August, remember that please.",
    ),
    StrengthRule(
        strength=1,
        kinds="remember",
        pattern=r"{open}note:|@note that\b|{open}fyi\b|@heads[- ]up\b|@so you(?: all)? know\b|@for your information\b|{open}be aware\b|@worth noting\b|@(?:don't|never|not|dont) forget to\b|@make a note (?:for|in|on|to)\b|@important to\b",
        example="FYI the lift is out until Monday.",
    ),
    StrengthRule(
        strength=0,
        kinds="constraint",
        pattern=r"^(?!.*\b(?:always|every|each|before|ever|whenever)\b).*\blet (?:me|us) know\b",
        example="If any seats change, please let me know.",
        counter="If any seats change, always let me know.",
    ),
    StrengthRule(
        strength=3,
        cues="while during until till long:as_long throughout when:when_you whenever time:time_you",
        pattern=rf"^(?:and |so |but |also |listen,? )?(?:as long as|while|during|until|till|throughout) [^,;?]{{3,70}}, (?:please |always |never |only |don't |do not |no |{{order}} )|^(?:and |so |but |also |listen,? )?(?:when(?:ever)? you|every ?time you|each time you|any ?time you) (?!have\b|can\b|get\b|are\b|(?:see|meet|find) (?:her|him|them|each other|an? {_PASSING}))[^;?]{{3,90}}, {_VERB}",
        example="While I am on this diet, suggest no pasta.",
        counter="When you have a second, pour the tea.",
    ),
    StrengthRule(
        strength=3,
        cues="time:next_time rather:rather_you you:prefer_you you:if_you you:that_you you:when_you order:an_order insist:i_insist",
        pattern=r"{open}next time,? (?:please |you |don't |do not |always |never |{order})|@i(?:'d| would) (?:rather|prefer(?: it)?(?: if| that)?|appreciate it if|like it if) you\b|@i (?:don't like|do not like|hate|dislike|can't stand)(?: it)? when you\b|@it (?:bothers|annoys|irritates) me when you\b|@that's an order\b|@i insist that you\b",
        example="Next time, ask about the price.",
    ),
    StrengthRule(
        strength=3,
        cues="never always only",
        pattern=r"@(?:is|are) (?:never|always|only) (?:to be|to|allowed|for you)\b|@(?!i |we |you |they |he |she )\w+ (?:never|always|only) (?:goes?|belongs?|gets?|comes?|appears?|stands?|ends?|starts?) (?:in|into|to|with|on|first|last|at|before|after|under)\b",
        example="The price always goes after the name.",
        counter="He always goes to the pub.",
    ),
    StrengthRule(
        strength=3,
        cues="everywhere every:of_every every:at_every every:in_every every:on_every every:with_every every:for_every every:before_every every:after_every every:under_every every:above_every every:below_every every:to_every each:of_each each:at_each each:in_each each:on_each each:with_each each:for_each each:before_each each:after_each each:under_each each:above_each each:below_each each:to_each",
        pattern=r"{open}(?:please )?{order} [^;?]*\b(?:at the (?:start|end|top|bottom|beginning) of|at|in|on|with|for|before|after|under|above|below|to) (?:each(?! other)|every) \w+|{open}(?:please )?{order} [^;?]*\beverywhere\b",
        example="Put the date at the top of each page.",
        counter="Be there for each other.",
    ),
    StrengthRule(
        strength=2,
        cues="not:,_not not:and_not instead:instead_of rather:rather_than",
        pattern=r"{open}(?:please )?(?:use|write|say|call|put|spell|book|send|quote) [^;?]*(?:, (?:and )?not|\binstead of\b|\brather than\b|\band not\b) ",
        example="Write colour, not color.",
    ),
    StrengthRule(
        strength=2,
        cues="only no latest later:no_later stop:hard_stop cut-off cutoff",
        pattern=r"^(?!there\b|we\b|i\b|he\b|she\b|they\b|it\b|the\b|if\b)(?:[\w'-]+ ){1,4}only(?:,? (?:please|pls|thanks))?[.!]*$|^(?:and |so |but |also |please,? )*no (?!one|problems?|worries|ideas?|wonder|way|longer|need|rush|doubt|matter|clue|more|plans|kids|news|signs|thanks|regrets|words|complaints|wait|rules)\w+s(?: (?:or|and|and no) \w+s?)?(?:,? (?:please|pls|ever|at all))?[.!]*$|@at the latest\b|@no later than\b|@hard stop\b|@cut-?off (?:is|date|time)\b|@only have (?:\d|[$€£]|until)\b",
        example="Metric units only please.",
        counter="We want tea only.",
    ),
    StrengthRule(
        strength=2,
        kinds="identity|constraint|preference|remember|correction|decision",
        cues="allergy allergies allergic epipens coeliac celiac halal phobia",
        pattern=r"@(?:i'm|i am|is|are|he's|she's|they're|we're|i have|i've got|has|have|got|carry|with) (?:\w+ ){0,4}(?:allerg\w+|coeliac|celiac|intoleran\w+|vegan|vegetarian|halal|kosher|gluten|asthma\w*|epilep\w+|diabet\w+|colou?r-?blind|pregnant|epipens?|peanut|phobia|deaf|hard of hearing|wheelchair|dyslexic)|@(?:an?|my|severe|bad|nut|peanut|latex|shellfish|penicillin|egg|milk|soy|bee|wheat|gluten) allergy\b",
        example="Two of the guests carry EpiPens.",
    ),
    StrengthRule(
        strength=2,
        cues="nothing:nothing_over nothing:nothing_above cap:cap_it max maximum tops budget ceiling limit over:go_over most:at_most least:at_least more:no_more more:not_more more:n't_more longer:n't_be longer:not_be less:cost_less under exceed below within pay:up_to",
        pattern=r"@(?:(?:\d[\d,.]* ?\w*|(?:two|three|four|five|six|ten) \w+s|one (?:page|line|word|sentence|paragraph|hour|minute|day|night)) (?:max|maximum|tops|at most)|(?:nothing|not an? \w+|anything) (?:over|above|later than|longer than)|cap (?:it|this|that) at|(?:max\.?|maximum(?: of)?|at most|no more than|not more than|no longer than|no fewer than|no less than) (?:[$€£] ?)?(?:\d|an? |one |two |three |four |five |six |ten ))|@(?:budget|ceiling|limit|cap)(?: (?:for|of|on) [^.;]{1,40})? (?:is|must|can't|cannot)\b|@(?:must|should|may|can|cannot|can't|mustn't|shouldn't|has to|have to|needs? to)(?: not)? (?:be |cost |spend |take |go |have |exceed |stay |pay )+(?:more than |less than |under |below |over |longer than |shorter than |above |within )?[$€£]? ?(?:\d|a page|one|two|three|four|five|six|ten)|@(?:let me|to|not) go over\b|@(?:stays?|fits?|keep|remain|be|pay|spend|cost|within|budget)\b[^?;]*\b(?:below|under|within|up to) (?:an? |my |the )?[$€£] ?\d|{open}(?:keep|stay) [^;?]*\b(?:under|below|within|over) [$€£]? ?(?:\d|an? |one |two )",
        example="The speech can take 12 minutes max.",
    ),
    StrengthRule(
        strength=2,
        cues="by:has_to by:have_to by:need_to by:needs_to by:got_to by:must before:has_to before:have_to before:must deadline due runs expires extension",
        pattern=r"@(?:has|have|had|needs?|must|got) (?:to )?(?:be|come|arrive|leave|go|get|reach|land|finish|send|submit|file|pay)\b[^;?]*\b(?:by|before|no later than|until) (?:the |noon|midnight|\d|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|then|tomorrow|tonight|next|end)|@(?:deadline|due date)(?: for [^.;]{1,40})? (?:is|was moved)\b|@(?:deadline|due date)(?: for [^.;:]{1,40})?: ?(?:on |by |the |noon|midnight|\d|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|tomorrow|tonight|next|end)|@(?:runs out|expires|is due|are due) (?:on|by|in|at)? ?(?:\d|the \d|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
        example="The form has to be in by Friday.",
    ),
    StrengthRule(
        strength=0,
        pattern=r"^(?:and |so |but |well,? |maybe |perhaps |ok,? |yes,? |yeah,? |then |also |hey,? )*(?:i|we)(?:'ll| will|'m (?:going|gonna|trying|planning|hoping|thinking|looking|willing|excited)| am (?:going|trying|planning|hoping|thinking|looking)|'re (?:going|trying|planning|hoping|thinking|looking)| (?:plan|planned|hope|hoped|wanted|tried|guess|suppose|understand|know|found|felt|went|had|got|was|were|used) | want to (?:make sure|see|know|learn|go|try|visit|buy|ask)|'d (?:love|like) to (?!keep|stay|avoid|have it|limit)| would (?:love|like) to (?!keep|stay|avoid|have it|limit)| just want(?:ed)? to)",
        kinds="constraint|preference|remember",
        example="I'd love to learn the cello some day.",
        counter="I'd like to keep it under two pages.",
    ),
    StrengthRule(
        strength=2,
        kinds="constraint|correction|decision|preference|remember",
        cues="no",
        pattern=r"(?:{open}|@(?:btw|but|and|so|favou?r and|just|then),? )(?:don't|do not|dont|stop \w+ing|avoid|no more|refrain from|leave out|no(?= (?!one|idea|problem|wonder|longer|need|way|worries|rush|doubt|matter|clue|more\b|,)\w+ (?:for|on|in|at|past|before|after|please|from|unless|with|to)\b))\b(?! (?:you|we|they|just|forget|get me wrong|think|know|remember|see|mind|hesitate|be|let)\b)",
        example="No meetings for me on Wednesdays.",
        counter="Don't you love this view.",
    ),
    StrengthRule(
        strength=0,
        kinds="constraint|remember|correction|preference|decision",
        pattern=r"@(?:my|our|the) (?!(?:client|customer)\b)[\w'-]+(?: [\w'-]+)? (?:can't|cannot) (?:use|show|print|sell|send|publish|share|quote|touch|remove|delete|mention) (?:his|her|their)\b",
        example="My landlord can't use his car.",
        counter="My client can't use their logo.",
    ),
    StrengthRule(
        strength=2,
        kinds="constraint|remember|correction|preference|decision",
        pattern=r"@(?:you|the [\w'-]+(?: [\w'-]+){0,3}|my [\w'-]+(?: [\w'-]+)?|our [\w'-]+(?: [\w'-]+)?|every [\w'-]+|each [\w'-]+|all [\w'-]+(?: [\w'-]+)?|no [\w'-]+|nobody|dogs|guests) (?:must(?: not)?(?! have| be (?:so|nice|hard|great|tough|proud|fun|exciting))|mustn't|may not|may only|can only|cannot|can't (?:have|use|show|print|sell|send|publish|share|quote|touch|remove|delete|mention)|shall|has to|(?:have|need) to (?:be|stay)|needs to|should (?:not|only|stay)|shouldn't|(?:is|are) not (?:allowed|permitted|to)|(?:is|are) (?:forbidden|prohibited|off[- ]limits|taboo|a no-go|out of the question|not an option|required|mandatory|confidential))\b",
        example="The keys must stay at reception.",
        counter="The trip must have been long.",
    ),
    StrengthRule(
        strength=2,
        kinds="constraint|preference|identity|remember",
        pattern=r"@(?:i|we|he|she) (?:can't|cannot) have (?!it\b|that\b|fun\b)\w+|@(?:this|it|these)(?: \w+)? must (?:not|never|be (?!so|hard|nice|great|fun|tough))\b|@(?:i|we|he|she)(?:'m| am| are|'re)? (?:only|never|can't|cannot|can not|don't|do not|dont|won't|doesn't|can only|not allowed to|must not|mustn't) (?:ever )?(?:eat|drink|fly|smoke|drive|take|accept|use|work|travel|spend|pay|book|do (?:meetings|calls)|ship|meet|sleep|wear|want (?:any|to (?:spend|pay|exceed|go over)))\b|@(?:works?|available|free) only (?:on|in|after|before)\b|@(?:aisle|window|direct|nonstop|non-stop|economy|business)\b.*\bonly\b|(?:{open}){order} (?:\w+ ){0,4}only\b|@only,? (?:please|pls)\b|@only (?:direct|nonstop|non-stop|economy|business|aisle|window)\b",
        example="I only fly economy.",
        counter="She can't have it both ways.",
    ),
    StrengthRule(
        strength=2,
        kinds="constraint|remember|correction|decision|preference",
        pattern=r"{open}(?:please )?(?:answer|reply|respond|speak|talk|write|use|keep|stick to|treat|assume|limit|ask me|check with me|tell me before|confirm with me|make sure (?:that )?(?:every|each|no|nobody|you (?:never|always|don't|only)|nothing)|ensure (?:that )?(?:every|each|no|nobody|nothing))\b(?! (?:this|that|it|these|those|them|the (?:first|second|same|old|other)|yours|in touch|me posted|going|me updated)\b)(?![^;?]* (?:in|for|on) this \w+)",
        example="Answer in plain English.",
        counter="Keep in touch.",
    ),
    StrengthRule(
        strength=2,
        cues="free forbids refuses insists consent wants:user_wants wants:client_wants wants:customer_wants without:want throughout:throughout keep:to_keep stay:to_stay free:free_of way:the_way_through any:without_any",
        pattern=r"@my \w+ (?:forbids|refuses|insists|demands|expects|won't (?:allow|accept|let))\b|@(?:i|we) (?:want|need) (?:the|my|our|it|this|all|everything|every|each) [^;?]*\b(?:without|throughout|all the way through|to keep|to stay|free of|peanut free|no)\b|@should stay free of\b|@(?:the user|the client|the customer|my boss|our client) (?:wants(?! to (?!(?:keep|stay|remain|avoid|limit|use|always|never|only|be (?:called|addressed|asked|told|informed)|have (?:all|every|each|no))\b))|insists|demands|expects|refuses)\b|@(?:is|are) [^;?]* throughout\b",
        example="My landlord forbids candles.",
        counter="The client wants to meet us.",
    ),
    StrengthRule(
        strength=0,
        kinds="constraint|preference|decision|correction",
        pattern=r"@(?:go|going) ahead and\b|@(?:go ahead|proceed)(?: with (?:the|that|this|these|those|it|my|our|both|all)(?: [\w-]+){0,2}?(?: (?:changes?|updates?|upgrades?|bookings?|cancellations?|payments?|arrangements?|refunds?|orders?|purchases?|plans?|requests?|transfers?|steps?|merge|release|deployment))?)?(?=[.!]|$| (?:using|then|now|please|for me)\b)",
        example="Please go ahead with the booking.",
    ),
    StrengthRule(
        strength=0,
        kinds="constraint|preference|decision|correction",
        pattern=r"^(?:yes|yeah|ok|okay|sure|then|great|and|so|,| )*(?:let's|lets|let us|i'll|i will|we'll|i'd|i would)(?: just| rather)? (?:go with|go for|take|choose|pick|do|have) (?:the )?(?:option|choice|number|plan|variant|proposal)? ?#?(?:\d+|[a-d]|one|two|three|first|second|third|last|latter|former|other)(?: (?:one|option|choice|plan|variant))?[.!]*$",
        example="Let's go with option 2.",
    ),
    StrengthRule(
        strength=3,
        cues="always never every:i_want every:i_need every:i'd_like each:i_want",
        pattern=r"@(?:it'd|it would|would) be (?:really |very )?(?:great|good|nice|helpful|better|best|lovely|ideal|wonderful) if you (?:could |would )?(?:please )?(?:always|never)\b|@(?:it's|it is) (?:\w+ ){0,2}(?:important|essential|crucial|vital|critical)(?: (?:to|for) (?:me|us))? (?:that )?you (?:always|never)\b|@(?:i|we)(?:'d like| want| need| expect) (?:every|each) (?:single )?[\w-]+ (?:in|with|as|to|at|on|by|from|without|under)\b|{open}(?:answers|replies|responses|prices|dates|times|amounts|totals|numbers|units|names|comments|titles|headings|summaries|messages|mails|emails|letters|reports|calls|meetings|seats|flights|rooms|invoices|tables|lists|everything|variables|functions|commits|branches|tests) (?:always|never) (?:in|as|with|without|on|at|before|after|by|to)\b",
        example="Prices always in euros.",
    ),
    StrengthRule(
        strength=3,
        cues="every",
        pattern=r"^(?:please |and |also )*every (?:other )?(?:\w+day|day|morning|evening|night|week|month|year)(?: at [\w:]+| morning| evening)?,? (?:please )?{order} (?:me|us|the|my|our|all|an?|them|him|her)\b|{open}(?:please )?{order} every (?!one\b|body\b|thing\b|day\b|time\b|(?:other )?\w+day\b|week\b|month\b|morning\b|night\b)\w+ (?:with|in|as|by)\b",
        example="Sign every letter with my full name.",
        counter="Answer every day as if it were Monday.",
    ),
    StrengthRule(
        strength=2,
        cues="concise brief succinct terse formal informal polite blunt precise verbose wordy chatty explicit",
        pattern=r"^(?:and |but |also |please |just |so |always )*(?:(?:don't|do not) )?be (?:so |too |more |less |very |as |always |a bit )*(?:concise|brief|succinct|terse|formal|informal|polite|blunt|precise|verbose|wordy|chatty|explicit)\b(?! (?:or|then|was|is)\b)",
        example="Please be more concise with me.",
        counter="Be brief or be gone.",
    ),
    StrengthRule(
        strength=2,
        cues="please only:only_please",
        pattern=r"^(?:all )?(?:answers?|repl(?:y|ies)|responses?|prices|dates|amounts|totals|units|comments|summaries|messages|everything) (?:only )?in [\w ]{2,25},? please[.!]*$",
        example="Answers in German please.",
    ),
    StrengthRule(
        strength=0,
        kinds="preference|decision",
        pattern=r"^(?!.*\b(?:keep|always|never|please|most|more than)\b)(?:just |really |so |oh,? |wow,? |aw+,? |also |and )*(?:love (?:the|all|how|your|having|that|this|those|these|it|to see)\b|i (?:really |just |so |absolutely )?love\b.*\b(?:it|they|you|that|this) (?:looks?|feels?|sounds?|smells?|captured|caught|made|make)\b)",
        example="Love the colours and how you caught the light!",
        counter="Love the new layout, please keep it.",
    ),
    StrengthRule(
        strength=0,
        kinds="constraint|preference",
        pattern=r"@nunca digas nunca\b|@jamais deux sans\b|@(?:je|ich|yo|io|ik) (?:n'ai |habe |ho |heb )?(?:jamais|nie|nunca|mai|nooit)\b",
        example="Nunca digas nunca, amigo.",
    ),
    StrengthRule(
        strength=3,
        kinds="constraint",
        pattern=r"@(?:immer|nie|niemals|stets|toujours|jamais|siempre|nunca|jamás|sempre|mai|altijd|nooit|всегда|никогда)\b|[总總]是|永远|永遠|从现在|從現在|今后|以[后後]|每次|一律|始终|千万|绝对不|再也|今後|これから|いつも|必ず|毎回|常に|今から|次から|二度と|決して|絶対|항상|절대|앞으로|지금부터|이제부터|매번|언제나|반드시|꼭"
        r"|^(?:(?:immer )?wenn ich|sobald ich|jedes mal,? wenn|quand (?:je|j')|lorsque (?:je|j')|(?:à )?chaque fois que|cuando (?:yo )?(?:te|le|os)|cada vez que|quando (?:ti|le|vi|eu)|ogni volta che|toda vez que|(?:als|wanneer|zodra) ik|telkens als|elke keer (?:dat|als)|(?:каждый раз,? |всякий раз,? )?когда я) [^?]{3,}, \w"
        r"|^(?:plus jamais|en el futuro|in futuro|no futuro|in de toekomst)\b",
        example="N'appelle jamais avant midi, toujours après.",
    ),
    StrengthRule(
        strength=2,
        kinds="constraint",
        pattern=rf"@(?:bitte|nicht|keine?[nmrs]?|muss|müssen|darf|dürfen|höchstens|mindestens|maximal|il faut|doit|doivent|ne|n'\w+|pas d|pas plus|debe|deben|puede|pueden|tiene que|más de|no (?:(?:me|nos|le|les|lo|la|los|las|se|te) )*{NEGATED}|deve|devono|devem|può|più di|non \w+|não|mais de|niet|geen|moet|moeten|mag|не \w+|нельзя|должен|должна|должно|обязательно|uniquement|seulement|dass (?:du|sie|ihr)|que (?:tu|vous|tú|usted|você)|che (?:tu|lei)|dat (?:je|u|jij)|чтобы (?:ты|вы))\b|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]",
        example="Die Rechnung muss am Montag bezahlt sein.",
    ),
    StrengthRule(
        strength=2,
        kinds="identity",
        pattern=r"allergi|alérgi|alergi|аллерги|[过過]敏|アレルギー|알레르기|celíac|celiac|zöliakie|c(?:œ|oe)liaque|diab[eéè]ti|диабет|糖尿病|@(?:vegan|végan|vegetari|végétari)\w+",
        example="Je suis allergique aux noix.",
    ),
    *DIRECTIVES,
)
