"""Rules of strength for what a user asks of all that an assistant makes, without a word such as "always" or "from now on".

They are read with those of `strengths`, which has the signs and the order.

Source: own grammar of orders, written on the `dev` split of tests/data/standing/phrased.jsonl only.
"""

from typing import Final

from everfold.core.statements.kinds import StrengthRule

_MAKE: Final = (
    r"(?:write|make|send|give|draft|prepare|suggest|propose|recommend|book|report|bring|show|build|create|plan|translate|produce|generate|design|draw(?: up)?"
    r"|cite|quote|post|publish|buy|order|cook|add|print|export|handle|pick|choose|find|look up|come up with|save|file|name|tell|say|sign|put|use|do|touch"
    r"|answer|reply|type|read(?: out| me)?|invent|change|schedule|set up|record|store|log|edit|paint|call|mention|phrase)"
)
_FORMATS: Final = (
    "prices amounts totals sums figures numbers dates times temperatures temps weights distances units measurements citations cites quotes quotations"
    " sources references footnotes commands snippets examples names titles headings headlines captions hashtags greetings signatures answers reply replies"
    " responses summary summaries lists tables charts diagrams explanations translations reports letters email emails e-mail e-mails mail mails messages invoices"
    " receipts contracts recipe recipes menu menus plans workouts stories poems scenes dialogue commit commits branches functions variables aliases comments"
    " docstrings reminders appointments meetings calls flights hotels seats routes payments refunds complaints discounts pronouns spelling groceries bookings"
    " suppliers secrets handover handovers keywords files folders updates texts speeches posts releases protocols minutes slides drafts"
)
_FORMAT: Final = rf"(?:{'|'.join(_FORMATS.split())})"
_UNITS: Final = (
    r"(?:metric|imperial|celsius|fahrenheit|kelvin|kilomet(?:re|er)s|miles|met(?:re|er)s|millimet(?:re|er)s|inches|feet|grams|kilos|pounds|ounces|cups|lit(?:re|er)s|euros|dollars"
    r"|francs|rupees|yen|pesos|kronor|24[- ]hour(?: clock)?|bullets?(?: points)?|spaces|tabs)"
)
_DO: Final = (
    r"(?:{order}|retire|ban|bring|refer|let|carry|hold|tell|greet|run|lead|spare|warn|ring|text|lay|hand|work|remind|correct|point|finish|end|drop|mark|round|vary|link|translate"
    r"|convert|capitali[sz]e|abbreviate|bold|italici[sz]e|sum up|proofread|walk me|pretend|imagine you|roll|double[- ]check|swap|bundle|pad|lock|archive|write|pair|group|strike|interrupt|cap)"
)
"""What opens an order, also beside those verbs that are told apart by themselves."""
_LASTING: Final = (
    r"(?:every ?time|each time|(?:each|every) (?:single )?(?:time|one)|each and every|for good\b(?! measure)|forever\b(?! ago)|for ?ever and ever|without fail|in perpetuity|permanent(?:ly)?"
    r"|at all times|as a matter of course|for (?:the rest of our|as long as (?:you|we))|throughout|until further|(?:not|never),? ever|always|the whole (?:season|term|year|project)|(?:and )?all that follow"
    r"|any ?time i|whatever (?:week|day|the)|now or in|starting today|every \w+ from now|in (?:every|each|all) (?!other)[\w' -]+|for (?:every|each) (?!other)[\w' -]+|that (?:goes|holds) (?:for )?|no exceptions?"
    r"|standing (?:arrangement|policy)|(?:is|are)n't going to change|week in,? week out|from (?:now|today) until|from this (?:point|day|moment|message)|for the rest of|all season|everywhere|not now n?or later|and all (?:that follows?|the (?:rest|others?))"
    r"|as (?:standard|the default)|by default|in general|in everything|any \w+ i (?:ask|bring|paste|show)|(?:whatever|whichever) [\w' -]+ (?:i|we)(?:'re| are)? \w+|all my \w+|(?:this|these) and (?:all )?the (?:later|rest|next)\w*)"
)
"""What says that it holds for good."""
_TOLD: Final = (
    r"(?!.*\b(?:i|he|she|they|we|it|who|mum|mom|dad|grandma|people|everyone|someone|\w+ers)(?:'d|'ve|'s)? (?:always|never|had|has|was|were|did|does|went|got|used|promised|said|told|says|tells|kept|makes?|made"
    r"|keeps?|ends?|cr(?:y|ies)|laughs?|loves?|love|wins?|sues?|asks|asked|feels?|felt|looks?|looked|forgets?|thinks?|thought|knew|gets?)\b)(?!.*\b(?:yesterday|last (?:night|week|year|time)|so far|in my life)\b)"
)
"""A story of what a person does or did orders nothing."""
_LEAD: Final = r"^(?:(?:and|but|so|also|oh|ok|okay|hey|please|kindly|right|look|listen|mate|one more thing|quick note|one (?:small )?(?:change|correction|request)|anyway|btw|by the way|again|then)[,:]? ){0,4}"
"""What may stand before it. Bounded, as each number of openers looks ahead to the end of the sentence anew."""
_SAID: Final = r"(?:an?|any|my|our|some\w*|no ?one|you're|you are|we're in|i'm|customer|client|[a-z]+(?<!it)(?<!that)(?<!there)(?<!he)(?<!what)(?<!she)'s|another|one of)"
_ONCE: Final = (
    r"(?!.*\b(?:today|tonight|tomorrow|yesterday|this (?:morning|evening|afternoon|week|time|one)|next (?:week|time)|right now|(?:i|we|he|she|it|they) (?:was|were|had|got|went|came|saw|did|used)"
    r"|i (?:get|come|am|go) (?:home|back|there)|i'm (?:home|back|there|done|ready|old)|get a chance|have (?:time|a (?:moment|minute|second)))\b)"
)
"""What happens one time, or has."""

DIRECTIVES: Final[tuple[StrengthRule, ...]] = (
    StrengthRule(
        strength=0,
        needles="back in |back when|back then|when i was|when we were|in my day|in those days|suppose |imagine |rule |states that|myself|resolution|motto|a sign|policy at|sometimes i|decided |asking |telling |tell |ask |insists |in the novel|in the book|sign|sheet|notice|poster|list of rules|laugh|judge|anyone who|people who",
        pattern=r"^(?:anyone|people) who [^,;?]* should (?:be|have|get|go)\b|@(?:draft|write|make|create|design|print)(?: me| us)? an? [\w ' -]*(?:rules?|sign|notice|poster|sheet)\b[^:]*:|@(?:don't|dont|do not) (?:laugh|judge)\b|@(?:telling|told|tell|promised?|swore to) myself\b|@(?:my|a|his|her|our) (?:new year's )?(?:resolution|motto)\b|@(?:saw|read|there was|there is|is) (?:a|this) sign\b|@has (?:a|this|one) rule that\b|@(?:new )?policy at (?:work|school|the|my)\b|@sometimes i (?:think|feel|wish)\b|@has decided (?:that|to)\b|@(?:i|we)(?:'ve| have)? decided (?:that |to )?(?:i|we|never|only|always)\b|@(?:asking|telling|tell|ask|remind|beg) (?:them|him|her|people|everyone|the neighbou?rs?|(?:my|our|the) (?!(?:customers?|clients?|readers?|guests?)\b)\w+) (?:to|not to|that)\b|@insists (?:i|we|that (?:i|we|all))\b|@in the (?:novel|book|film|series|show) i(?:'m| am|'ve)\b"
        r"|@back (?:then|when|in (?:the|my|those|\d+))\b|@when (?:i was|we were) (?:little|young|small|kids?|children|at school|a \w+)\b|@in (?:my|those) days?\b|@had (?:a|one|this) rule\b|@(?:only|first|one) rule was\b|@(?:states|stated|reads|declared) that\b|^(?:suppose|imagine) (?:the|an?|that)\b",
        example="Sometimes I think I should never answer my phone.",
        counter="Remind our guests that shoes must stay outside.",
    ),
    StrengthRule(
        strength=0,
        needles="in |at ",
        pattern=r"^(?!.*\b(?:please|pls|remember)\b)(?:at|in) (?!(?:your|all|any|every|each|future|general|this|these|the future|(?:my|our) (?:repl|mail|e-?mail|letter|message|text|name|novel|book|story|stories|code|repo|project|game|role|campaign|chat|recipe|menu|calendar|inbox|invoice))\w*)[^,;:]{2,40}?,? (?:you|one|we|they|everyone|everybody|nobody|no one|students|pupils|kids|children|people) (?:must|have to|should|had to|always|never|can only|may only|double|only|do|don't|are|shall)\b",
        example="At our school pupils have to hand in their phones.",
        counter="In the park please tell me what people must never do.",
    ),
    StrengthRule(
        strength=3,
        cues=" ".join(f"you:{word}_you" for word in ("anything", "everything", "whatever", "that", "which"))
        + " you:s_you u:s_u you:menu_you you:menus_you",
        pattern=rf"{_LEAD}{_ONCE}(?:.*(?:, |: |so ))?(?:please )?(?:no|nothing|none|never|don't|leave|keep|put|vary|without|(?:\w+ )?(?:mustn't|can't|shouldn't|won't have))\b.{{0,80}}@(?!things you\b)(?:anything|everything|whatever|[\w'-]+s|menu|plan|list|mail|file|all that|that) (?:that |which )?(?:you|u)(?:'ll| will| can| may| might| ever| go)* {_MAKE}\b(?! (?:for|to) (?:him|her|them|others|people)\b)"
        rf"|^{_ONCE}.*@(?!things you\b)(?:anything|everything|whatever|any [\w-]+|every [\w-]+|[\w'-]+s|menu) (?:that |which )?(?:you|u)(?:'ll| will| can| may| might| ever| go)* {_MAKE}\b(?: (?!you\b)[\w'-]+){{0,6}},? (?:must|should|shouldn't|has to|have to|needs?|can't|cannot|isn't|aren't|won't|mustn't|is to|are to|gets?|goes?|better)\b",
        example="The charts you make for me need patterns beside the colours.",
        counter="So no thanks for things you do.",
    ),
    StrengthRule(
        strength=3,
        cues="you're:you're_to you're:you're_not_to you:you_are_to you:you_do_not you:you_don't you:you_only you:you_have_a you'd:you'd_better u:u_don't u:u_cant u:u_can't you:you_won't you:you_don't_get",
        pattern=rf"{_LEAD}(?:[^,;]{{3,60}}, )?(?:and )?(?:you|u)(?:'re| are| r) (?:not |only )?to (?!be (?:so|blamed|honest)|blame|die|thank|marry)[a-z]+|@(?:you|u) (?:do not|don't|dont|can't|cant|won't)(?: ever| get to)? (?:touch|answer (?!me|my|back|the question|your phone)|reply to|send|delete|open|book|cancel|post|publish|share|spend|confirm|suggest|edit|copy|install|deploy|push|merge|forward|fudge|reserve|mention|buy|quote|summari[sz]e|interrupt|speak to me of|tell my)\b|@you have (?:a|an) (?:\w+ )?(?:cap|limit|budget|ceiling|allowance) of\b|@you'd better (?:ask|check|confirm|warn|run)\b",
        example="You're to quiz me on five flashcards before we begin.",
        counter="You are to blame for it, she laughed.",
    ),
    StrengthRule(
        strength=3,
        cues="appreciate grateful prefer rather expect help:d_help help:would_help help:it'd_help thank:d_thank want:want_from need:need_from expect:expect_from told:be_told asked:be_asked",
        pattern=r"@(?:i|we)(?:'d| would) (?:\w+ )?(?:appreciate it|be (?:\w+ )?(?:grateful|glad|happier|happy)|prefer it|love it) if (?:you|u) (?:wouldn't|would not|didn't|don't|never|always|stopped|kept|could (?:stop|keep|avoid|always|never)|only|left)\b|@(?:i|we)(?:'d| would) (?:\w+ )?(?:appreciate it|be (?:\w+ )?(?:grateful|glad|happier|happy)|prefer it) if (?:the|my|our|your) [^.;?]*\b(?:never|always|not|didn't|came|stayed|were|had)\b"
        r"|@(?:i|we) (?:prefer|expect|trust|need|like)(?: that)?,? (?:you|u) (?:to )?[^.;?]*\b(?:when(?:ever)?|if|every|each|any|instead of|rather than|before|unless|until|always|never|only|clearly)\b|@i(?:'d| would) rather you (?:didn't|never|always|kept|left|used|stuck|asked|did not)\b"
        r"|@(?:it'd|it would) help (?:me |us |a lot |if |so much )+[^.;?]*\b(?:came|were|stayed|had|kept|always|never|you (?:kept|used|wrote|put|left|didn't|gave))\b|@what (?:i|we) (?:want|need|expect) from you\b|@is what (?:i|we) (?:want|need|expect) from you\b|@i(?:'d|'ll| would| will) thank you (?:not )?to\b"
        r"|@(?:i|we) (?:don't|do not|dont) want to (?:be (?:told|asked|called|reminded)|see|hear|read|get)\b[^.;?]*\b(?:again|any ?more|by you|from you|ever|of (?:it|that) from you)\b",
        example="I'd be grateful if you wouldn't bring up my former job.",
    ),
    StrengthRule(
        strength=3,
        cues="when whenever if once should before moment:the_moment soon:as_soon time:any_time between during",
        pattern=rf"{_LEAD}{_ONCE}(?:(?:when(?:ever)?|once|should|the moment|any ?time) (?:the|it|{_SAID})|if {_SAID}|(?:when(?:ever)?|if|once|should|as soon as|the moment|any ?time) (?:i (?:ask|say|tell|write|send|mention|ever|paste|give|type|make|post|forget|don't|do not|come asking|message|tell you|am|use)|there(?:'s| is| are) (?!time\b|a chance\b|any other\b)|you (?:correct|write|draft|answer|bring up|book|alter|change|quote|cut|remove|shorten|translate|skip|make|give me|plan|summari[sz]e|explain|don't|do not|can't|cannot)|what|they|one))\b[^;?]{{0,80}}?, (?:then )?(?:please )?(?:(?!let (?:me|us) know){{order}}|{_FORMAT} (?:in|with|as|first|under)|keywords in|lead|warn|ring|text|drop|raise|flag|remind|point|give|\w+ (?:it|them|him|her|me) |(?:you|u) (?!(?:know|see|can see|get|feel|might|could|would|will|have|are|were|want|need|think|should (?:see|be|have)))(?:just |only )?\w+|i want|i expect|i need|the (?:first|answer)|your (?:first|answer|reply)|it's out|no \w+|nothing)\b",
        example="When the answer is a number, lead with the number.",
        counter="When the weather is nice, you feel it at once.",
    ),
    StrengthRule(
        strength=3,
        cues="whenever everytime time:every_time time:each_time time:any_time when:when_i",
        pattern=rf"{_LEAD}{_ONCE}(?:whenever|every ?time|each time|any ?time|(?:every \w+ |each \w+ )?when i (?:say|send|ask|practi[sc]e|write|paste|share|mention|give|talk|text|call|order|upload)) [^;?]{{2,90}}?, (?:(?:then|first|please|just|always|never) )*(?:(?!let (?:me|us) know|i |it |we |they |he |she )(?:{{order}}|lay|tell|lead|warn|go|remind|stop|correct|point|ring|text|hand)\b|(?:you|u) (?!(?:know|see|can see|get|feel|might|could|would|have|are|were|want|need|think)\b)\w+)",
        example="Whenever Lukas asks for help, lay out two reasons first.",
        counter="Whenever there's snow on the hill, let me know.",
    ),
    StrengthRule(
        strength=3,
        cues="you'll you:you_will you:you_shall you:you_always you:you_never u:u_always forbidden forbid shall",
        pattern=rf"{_LEAD}(?:[^,;]{{3,50}}, )?(?:you|u)(?:'ll| will| must) (?:always|never|only) (?!(?:be (?:in|my|the|a|missed|loved)|have a|find|regret|know|see|remember|forget|feel)\b)\w+|{_LEAD}(?:from [\w ]+,? )?(?:you|your [\w ]+?|all \w+) shall (?:not |never |always |only )?\w+|@you always (?:have to|need to|must|ask|check|give|tell|start|begin|end)\b(?! (?:me (?:the best|so much|such|great|good)|such))|@(?:you are|you're) forbidden (?:from|to)\b|@i forbid you\b",
        example="You'll always check for free cancellation before you suggest a hotel.",
        counter="You will always be missed.",
    ),
    StrengthRule(
        strength=3,
        cues="starting hereafter from:from_to from:from_mon moment:this_moment forward:going_forward now:starting_now never:never_ever never:never, always:are_always never:are_never only:are_only point:any_point time:any_time to:to_be",
        pattern=rf"{_LEAD}(?:starting|beginning|effective) (?:now|today|tomorrow|this week|next week|\w+day),? (?!(?:i|we|he|she|they|it|my|the)\b)\w+|@from (?:today|tonight|now|\w+day)(?: on)?,? (?:i want|i need|i expect|you(?:'re| are)? (?:not|no longer|don't))\b|@hereafter\b|@from this (?:moment|day|point)(?: on| forward| onwards?)\b|@going forward that\b|@never,? ever,? {{order}}\b|{{open}}(?:do not|don't|never),? at any (?:point|time),? |@(?:is|are) (?:always|never|only) to be\b|@(?:is|are) (?:not )?to be (?:written|addressed|called|sent|used|kept|given|quoted|printed|mentioned|shown|named|treated|spelled|spelt|stored|paid|booked)\b",
        example="Hereafter all temperatures in Fahrenheit.",
        counter="Starting next week I run every morning.",
    ),
    StrengthRule(
        strength=3,
        cues="your:in_your your:in_all_your your:of_your mine:of_mine deal agree agreed let's:let's_do",
        pattern=r"@in (?:all )?(?:of )?your (?:repl(?:y|ies)|answers?|messages?|e?-?mails?|summar(?:y|ies)|texts|drafts|suggestions|plans|recipes|translations|explanations|code|comments|commits|reports|letters)\b(?! (?:you (?:said|wrote|told|mentioned)|above|from|yesterday|earlier|just now|before))|^(?:please )?{order} (?:every|each|all|any) [\w' -]{3,50} of mine\b|@(?:let's (?:agree|do it)|(?:here's the|new) deal|agreed)\b[^?]*?[,:] ?(?:every ?time |when(?:ever)? |if )?[^?]*\b(?:you|we) (?:always|never|only|leave|don't|give|say|just|won't|start|stick|keep|use)\b|@let's (?:agree|do it)[^?]* (?:that )you (?:always|never|only|leave|don't|won't|give|keep)\b",
        example="Short sentences in all your replies.",
        counter="What did you mean in your reply above.",
    ),
    StrengthRule(
        strength=3,
        cues="time:every_time time:each_time single:every_single single:each_single and:each_and good:for_good forever perpetuity fail:without_fail permanent permanently times:all_times course:of_course"
        " rest:rest_of_our long:as_long_as throughout ever never always season term follow:that_follow anytime time:any_time every each all whatever whichever exception exceptions week:week_in until:now_until point:this_point day:this_day message:this_message season:all_season"
        " everywhere later:nor_later standard:as_standard default general:in_general everything:in_everything any",
        pattern=rf"{_LEAD}{_TOLD}(?=.*@{_LASTING}(?![\w']))(?:[^,;:?]{{2,40}}, )?(?:please |pls |always |never |just |don't |do not |you (?:always |never |have to |should |need to |must |may |can )|could you |would you |i(?:'d| would) like (?:for )?you to |i want you to |i wish to be |it's (?:essential|important|vital|crucial) (?:that )?you )*(?!i |it's |he |she |they |we |there )(?:{_DO}|permanently {_DO}|no|nothing|nobody but|not a|never|(?:[\w'-]+ ){{0,2}}{_FORMAT}(?! (?:is|are|was|were|have|has|always|never|get|got|make|look)\b))\b"
        rf"|{_LEAD}{_TOLD}you (?:(?:have to|should|need to|must) [^?]*\b(?:(?:every|each) (?!one\b|other\b)\w+|every time|all the time)|(?:may|can) [^?]*\b(?:but (?:never|not|only)|anything except|only on|every time))\b(?! (?:life|dream)s?\b)",
        example="Retire that phrase from your vocabulary for good.",
        counter="Give my love to all, he said, and he always meant it.",
    ),
    StrengthRule(
        strength=3,
        cues="every each all any",
        pattern=rf"{_LEAD}{_TOLD}(?:in|for|with|on|before|after|at|under|to|from) (?:all|every|each|any)(?: of)? (?!day|night|morning|week|year|month|summer|winter|the best\b)[^,;?]{{2,50}}, (?:please |the |always |you |just )*{_DO}\b|{_LEAD}(?:start|begin|end|open|close|finish|sign|give|answer|title|label|mark|tag|name) (?:every|each|all|any)(?: of)? [\w' -]{{2,40}} (?:with|in|as|by|an?|at|on|under)\b|{_LEAD}let (?:every|each|all) [\w' -]{{2,40}} (?:open|begin|end|start|have|come|close|be)\b|{_LEAD}(?:every|each|any|all) [\w' -]{{2,30}} (?:you|i) \w+, (?:please )?{_DO}\b"
        rf"|{_LEAD}{_TOLD}all (?:the |my |our )?(?!(?:day|night|week|of (?:us|them)|i|my (?:life|friends|love))\b)[\w' -]{{2,40}}? in (?!(?:all|love|the (?:world|end|air))\b)[\w' .-]{{2,40}}(?:, (?:no|not|please|always|period|throughout|all|each|every)\b[^?]*|[.!]*| please[^?]*)$|{_LEAD}(?:each|every|all) [\w' -]{{2,30}}: \w",
        example="Start each reply with the ticket number.",
        counter="In all those years, always answer, he said.",
    ),
    StrengthRule(
        strength=3,
        cues="insist wish best:d_best please:please_me to:is_to to:are_to to:never_to to:not_to to:always_to to:only_to no:be_no on:_on onwards onward",
        pattern=rf"@i insist on (?!(?:paying|going|seeing|coming)\b)(?:the |a |your )?\w+|@i wish to be (?:addressed|called|told|asked|informed)\b|@it is my (?:firm )?wish that\b|@(?:you|u)'d best\b|@it would please me (?:\w+ )?if you\b|@(?:is|are|'s) (?:not|never|always|only) to (?:be )?(?!(?:blame|say)\b)\w+|@there(?:'s| is) to be no\b|@there will be no (?:more )?[^.?;]* in (?:our|your|my)\b"
        rf"|{_LEAD}from (?!here\b|there\b|that (?:day|moment)\b)[\w' -]{{3,30}}? on(?:wards?)?,? (?:you|it's|every|all|no|please|{_DO})\b",
        example="I insist on the Oxford comma.",
        counter="From there on you walk uphill.",
    ),
    StrengthRule(
        strength=3,
        cues="you u",
        pattern=rf"{_LEAD}{_ONCE}{_TOLD}(?!(?:as always|thank|so glad|wow|if i were)\b)[^,;:?]{{5,70}}[,:] (?:you|u) (?:always |never |just |only |simply )?(?:name|keep (?!me|us|on|going|up)|tell me (?:the|to|what|which|how many)|roll|leave (?!me|us)|put|write|check|list|ask (?!me (?:how|if|out))|add|mark|answer|send|wait|drop|skip|confirm|look up|say (?!it|that|you|hi)|don't (?:tell|mention|bring|touch|answer|send|write|use)|do not)\b",
        example="With medication questions, you name the leaflet that you rely on.",
        counter="After all these years, you keep me going.",
    ),
    StrengthRule(
        strength=3,
        cues="for with in as:as_for",
        pattern=rf"{_LEAD}{_ONCE}(?:for|with|in|as for) (?!(?:this|that|these|those|now|sure|real|once|days|weeks|months|years|hours|ages|others|friends|times|thanks)\b)(?:the |my |our |all |any )?(?:[\w'-]+ ){{0,3}}?[\w'-]+s(?:[,:]| please) (?:please |you |always |just |only )*(?:{_DO}|short|no|never|group)\b|{_LEAD}(?:for|as for) (?!(?:me|now|example|instance|sure|once|dinner|lunch|breakfast|today|tonight|tomorrow)\b)[\w' -]{{3,40}}: (?:no|never|always|short|only|use|give|mark|two|three|\w+ first|\w+ \w+, )",
        example="With headlines, give me five options.",
        counter="With friends, take it slowly.",
    ),
    StrengthRule(
        strength=3,
        cues="banned forbidden stays stay:stay_out stay:stay_as leave:never_leave leaves:never_leaves rule:rule_is rule:new_rule policy:policy: order:the_order must:a_must rules: ever:you_ever out:out_of mention:not_to_mention",
        pattern=r"@(?:stays?|keep[^.;?]*|leave[^.;?]*) out of (?:everything|anything|all|our (?:chats?|conversations?|talks?|texts?)|my (?:texts?|e?-?mails?|letters?|forms?)|forms|this chat|it all)\b|: (?:banned|forbidden|not allowed|off[- ]limits)\b|@never leaves? (?:the|my|our|this) |@stays? (?:as (?:it is|they are)|clean|private|untouched|between us)\b|@(?:new|house|the|my|our) rule(?: for [\w ]+)?(?:!+| is:|:| is that you)|^(?:so,? )?policy:|@if you ever [^?;]* again\b|@consider yourself (?:forbidden|banned|told)\b|@(?:(?:is|are) forbidden|it's forbidden) (?:to|until|for you)\b",
        example="My phone number stays out of all forms.",
    ),
    StrengthRule(
        strength=3,
        cues="sure:be_sure see:see_to point:a_point way:the_way mind:mind_that mind:mind_you hold:hold_off free:feel_free welcome save:save_the try:try_not ask:ask_that never:never_want never:'d_never appreciate need expect want prefer",
        pattern=r"{open}(?:be sure to|see to it that|make a point of|get into the (?:way|habit) of|mind (?:that )?you|hold off on|try not to|save the [\w ]+ for the end)\b[^;?]*\b(?:every|each|any|whatever|whichever|when(?:ever)?|all|always|my [\w-]+s|anymore|any more|in the \w+s|me with|by name|unless|until|style)\b|@(?:feel free to|you're welcome to|you are welcome to|you're allowed to) [^;?]*\b(?:but|as long as|except|unless|everything else|so long as)\b|@i never want to (?:be (?:asked|told|reminded)|see|hear|read)\b|@i(?:'m| am) asking you (?:not to|to never|to always)\b"
        r"|@(?:i|we)(?:'d| would)? (?:need|want|expect|like|appreciate|prefer) (?!to\b|you to\b|it\b|them\b|a (?:place|life|world|space)\b)[\w' -]{2,50}? (?:to (?:go|come|carry|have|reach)|written|next to|under|kept|first|gone|with an?|without|in)\b[^;?]*\b(?:each|every|any|everything|whenever|always|on top|no matter|all (?:my|our|of)|the rest)\b",
        example="I'd appreciate the time zone next to each meeting time.",
        counter="I want to live in Rome with an artist every summer.",
    ),
    StrengthRule(
        strength=3,
        cues="whatever wherever whoever whichever anyone until till case:in_case",
        pattern=rf"{_LEAD}{_ONCE}{_TOLD}(?:whatever|wherever|whoever|whichever|anyone who|in case) (?!(?:happens|comes|works|you do)\b)[^,;?]{{3,60}}(?:, (?:please |you |just |only |always )*(?:{_DO}|it must be|no|nothing)|,? gets?)\b|{_LEAD}{_TOLD}(?:until|till) (?:i|the|my|our|we) [^,;?]{{3,60}}, (?:please |just )*(?:you |no |nothing |only |[\w ]+ only\b)",
        example="Whatever I ask about wine, pair it with a cheese.",
        counter="Whatever happens, keep smiling.",
    ),
    StrengthRule(
        strength=3,
        cues=f"{_FORMATS} option options units brands not:,_not without always:i_always before:before_you when:when_you whenever",
        pattern=rf"{_LEAD}{_ONCE}(?!.*\b(?:this|that|these|those|here|below|above|attached)\b|(?:\w+ ){{0,3}}(?:two|three|four|five|six|seven|eight|ten|some|few|ideas?|\d+)\b)(?:i always (?:need|want) \w+|(?:i|we) (?:only |always )?(?:want|need|prefer) (?:all |my |only |the |every )?(?:[\w'-]+ )?{_FORMAT} (?:in|with|for|as|without|under|from)\b|(?:{_DO})(?: me| us)? (?:all |my |our |any )?(?:[\w'/.-]+ )?{_FORMAT} (?:in|as|with|without|by|only|for)\b(?! (?:me|us|him|her|them|the (?:first|last|next))\b)"
        rf"|(?:give|show|use|write|tell|put|send|quote|list)(?: me| us)? (?!(?:it|the|him|her|them)\b)[\w' -]{{3,40}}, not [\w' -]{{2,30}}|(?:[\w'-]+ )?{_FORMAT}: \w|before you (?:give|send|show|tell|write|make|suggest|book|answer|plan)(?: me| us)? (?:an?|any|the|my) [\w' -]{{2,30}}?,? (?:always |please )?(?:ask|check|show|tell|wait|run)\b|{_DO} [^;?]*\bwhen(?:ever)? you {_MAKE}\b)",
        example="Give me generic names of drugs, not brands.",
        counter="Give me these two names, not those.",
    ),
    StrengthRule(
        strength=3,
        cues="my our all for please:please_no want:n't_want want:not_want should:you_should should:u_should",
        pattern=rf"{_LEAD}{_ONCE}(?:in|for|with|on|under) (?:my|our|all(?: my| our)?) [\w' -]{{3,30}}?,? (?:never|always|don't|do not|no|please|only|use|put|leave)\b|{_LEAD}for [\w' -]{{3,25}} (?:i|we) only (?:want|need|take|like|do|use)\b|^please no (?!one\b|more of this)\w+|@(?:i|we) (?:don't|do not|dont) want (?:any )?(?!to\b|you\b)[\w' -]{{2,25}} in (?:my|any|all|your|our|work|\w+s)\b(?! (?:life|head|house|home)\b)|@(?:you|u) should [^?]*\bbefore (?:sending|giving|showing|booking|answering|posting)\b|@(?:first|last|top) (?:line|sentence|thing) (?:of|in) (?:every|each|all|any)\w*\b",
        example="In my short stories never use the present tense.",
        counter="I do not want cats in my life.",
    ),
    StrengthRule(
        strength=2,
        cues="so",
        pattern=rf"^i(?:'m| am| live| use| work| have| need| can't| cannot| only| do not| don't)\b[^;?]*,? so (?:please |always |just )?{_DO}\b[^?;]*\b(?:{_FORMAT}|if i|any|every|each|all|always|from)\b",
        example="I use an air fryer, so give the minutes for one in all recipes.",
    ),
    StrengthRule(
        strength=3,
        cues="if when",
        pattern=rf"{_LEAD}{_ONCE}(?:if|when)(?: ever)? i (?:ever )?(?:haven't told|send|skip|log|start|say|begin|leave out|go over|ask|paste|forget|don't (?:say|tell|mention|give))\b[^;?]{{0,60}}?(?:, (?:always |please |then |you (?:always |never |just |only )?)*(?!let (?:me|us) know){_DO}| (?:don't|do not|dont|always|never|just|only) {_DO})\b",
        example="If I skip a day, give me ten burpees.",
        counter="If I start today, write it down.",
    ),
    StrengthRule(
        strength=3,
        cues="before",
        pattern=rf"{_LEAD}{_ONCE}before (?:you )?(?:deleting|sending|booking|buying|changing|installing|posting|publishing|merging|pushing|answering|replying|paying|confirming|\w+ing (?:any|a|an)\b)[^;?]*, (?:please |always |you )?(?:{{order}}|run|warn|wait|text|call)\b",
        example="Before deleting a calendar entry, ask.",
        counter="Before leaving a party tonight, call me.",
    ),
    StrengthRule(
        strength=3,
        cues="guessing unsure sure:not_sure says:i_say say:i_say approved:i've confirmed:i've said:i've read:i've said:he's said:she's done:write_done ok:my_ok okay:my_okay first:me_first trigger unless until",
        pattern=r"@(?:if|when(?:ever)?) you(?:'re| are) (?:guessing|unsure|not sure|in doubt|making (?:it|something) up)\b|@(?:until|unless|before|till) (?:i|he|she|we|mum|they)(?:'ve| have|'s| has)? (?:say|says|said|ok'd|okay|approved?|confirmed?|agreed?|read it|seen it|written|tried|type[sd]?)\b(?! (?:goodbye|so long|hello))|@(?:wait|ask|check) for my (?:ok|okay|go|yes|approval|answer)\b|@(?:run|show|send) (?:it|them|every\w*|any\w*|each|all)\b[^.;?]*\b(?:by|past|to) me (?:first|before)\b|@wait for (?:me|my (?:ok|okay|go))\b",
        example="Flag it if you're guessing.",
        counter="Do not leave until he says goodbye.",
    ),
    StrengthRule(
        strength=3,
        cues="please for:for_me no no:_no nothing out off banned taboo limits limit no-go untouched unread private secret ceiling cap max end mine",
        pattern=r"{open}(?:no|nothing)(?! else\b)(?: (?:with|over|under|above|that|from|below|before|after|but))? (?!(?:one|idea|problem|wonder|longer|need|way|worries|rush|doubt|matter|clue|more|thanks|thank|sense|surprise|reason|luck|offen[cs]e|comment|big deal|pressure|hurry)\b)[^?;]{2,80}\b(?:please|for (?:me|us)|with me|around me|in (?:any|all|my|our|the) [\w-]+s?\b|without asking|w/o asking|ever|when you \w+)\b"
        r"|@(?:is|are|stays?|remains?) (?:strictly |totally |completely |absolutely |to (?:stay|remain) )?(?:off[- ]limits|taboo|banned|a no-go|no-gos|untouched|unread|out of bounds|out of the question|none of your business|not (?:yours )?(?:to|for) (?:be )?\w+)\b|@(?:that|those|these|they) (?:is|are) out\b"
        r"|@(?:is|'s|are) (?:the|a|my|our) (?:hard |absolute )?(?:ceiling|cap|limit|maximum|max|fence|line)\b|@hard (?:cap|limit|stop|no) on\b",
        example="No calorie numbers with me.",
        counter="No idea what is wrong with me.",
    ),
    StrengthRule(
        strength=3,
        cues=_FORMATS,
        pattern=rf"{_LEAD}(?:all |any |my |our |the |your |every |bedtime |weekly |numeric |sql |bible )*(?:[\w'-]+ )?{_FORMAT}(?: for (?:me|us|him|her|[a-z]+)| to (?:an?|the|my) [\w-]+| in (?:the|my|our) [\w-]+)?,? (?:please,? |always |only |must |should )*(?:in (?!the (?:fridge|mail|garden|kitchen|house|past|morning)\b)|as |with |without |under |to (?:be )|from the |by |rather than |on )(?!(?:me|us|them|him|her|it|this|that|there)\b)(?:(?!\b(?:is|are|was|were|have|has|had|make|makes|made|keep|keeps|will|would|got|came|seem|seems|really|so|look|looks|i|we|he|she|they)\b)[^?;])*(?:[.!]*$|, (?:always|never|please)\b)"
        rf"|{_LEAD}no [\w' -]{{3,40}} in (?:[\w-]+ )?{_FORMAT}\b"
        rf"|{_LEAD}(?:all |any |my |our |the |your |every )*(?:[\w'-]+ )?{_FORMAT}(?: [\w'-]+){{0,4}}? (?:get|gets|go|goes|belong|belongs|come|comes|end|ends|start|starts|stay|stays|need|needs|have to|has to|are to|is to|should|shouldn't|must|mustn't|aren't|isn't|are not|is not) (?:an?|the|in|at|on|to|by|as|through|under|with|without|out|never|not|be|end|go|two|three|four|five|\d+)\b(?! (?:the way|me|my|our|you|him|her|them|way)\b)(?!.*\b(?:yesterday|today|tonight|lol|haha|work for|last (?:week|night|year))\b)",
        example="Prices in rupees, with lakhs and crores.",
        counter="The stories in the paper are really sad.",
    ),
    StrengthRule(
        strength=3,
        cues="metric imperial celsius fahrenheit grams inches kilometres kilometers miles euros dollars pounds cups bullet bullets 24-hour millimetres rupees francs spaces tabs",
        pattern=rf"{_LEAD}(?!\w+,? (?:please|pls)[.!]*$)(?:for \w+[:,] )?{_UNITS}(?: units| system| points| signs)?(?:,? (?:and|or|with) [\w -]+?)?(?:,? not [\w ]+)?(?:,? in (?:every|all|any|each) [\w-]+)?,? (?:please|pls|only|always|all the time|every time|not \w+|throughout)[^?]*$|@{_UNITS} and {_UNITS},? (?:please|pls)\b|@in {_UNITS}(?: and| only| please|,| for)\b[^?]*\b(?:please|only|always|in (?:every|all|any))\b|@{_UNITS} and {_UNITS} in (?:every|all|any)\b",
        example="Grams and Celsius in every recipe.",
        counter="Metric, please.",
    ),
    StrengthRule(
        strength=3,
        cues="quit stop spare skip lay cut hush drop step",
        pattern=r"{open}(?:do me a favou?r and )?(?:quit|stop|cut out|knock off|lay off|refrain from) (?:using|saying|calling (?!me (?:back|later)\b)|starting|ending|giving|putting|adding|suggesting|asking|telling|sending|writing|opening|apologi[sz]ing|with (?:the|your)|all the|your|the (?:word|emojis?|disclaimers?|jokes?|flattery|small talk|preambles?))\b(?! (?:me down|up\b))|@(?:spare|save) (?:me|us) (?:the|your|any|all)\b(?! (?:trouble|details)[.!]*$)|@(?:hush|drop it|step over)\b[^.;?]*\b(?:about|those|them|whenever|words)\b",
        example="Spare me the disclaimers about lawyers.",
        counter="Stop putting me down.",
    ),
    StrengthRule(
        strength=3,
        cues="default habit assume treat:treat consider:consider stick sure:make_sure mean:i_mean counts behalf:behalf",
        pattern=r"{open}default to\b|@by default\b|@(?:make|get) (?:it|this|that|into) (?:a|your|the) habit\b|@get into the habit of\b|{open}(?:assume|consider|treat|regard) (?!(?:this|that|it) (?:done|closed|settled|as done)\b)[^?;]* (?:as|is|are|private|confidential|secret|off)\b|@(?:whenever|when) i (?:say|write|mention) [^,;?]*,? i mean\b|@on (?:my|our) behalf\b",
        example="Default to the Postgres dialect.",
        counter="Consider it done as you are asked.",
    ),
    StrengthRule(
        strength=3,
        cues="our:in_our my:in_my this:in_this between:between_us behalf matter:no_matter whatever day:every_other every:each_and one:single_one all:for_all later",
        pattern=r"@in (?:our|my|this) (?:role-?play|story|game|campaign|novel|book|books|chat|world|saga|script|stories)\b[^?;]*\b(?:can't|cannot|can not|must|mustn't|never|always|no|not|isn't|is|are|has to|stays?|only)\b(?! (?:so|great|good|fun|going|really)\b)|@(?:each|every) and every (?:one|time|day)\b|^(?!i\b|they\b|we\b|he\b|she\b|it\b|.*\b(?:i|they|we|he|she)(?:'m|'ll|'re|'ve| am| will| won't| would| are| is| was| always| love| know)\b).*@(?:no matter|whatever|whichever) (?:who|how|which|when|why|chapter|i|we|the)\b[^.;?]*[.!]*$|@(?:is|are) banned (?:in|from|here)\b|@it(?:'s| is) (?:\w+ )?only between us\b|@as long as we(?:'re| are) (?:talking|working|in)\b",
        example="In our story the dragon can't die.",
        counter="In our story it is so far a dragon.",
    ),
    StrengthRule(
        strength=3,
        cues="every each any all both only first always",
        pattern=rf"{_LEAD}(?:every|each|any|all) (?!(?:one|day|night|morning|week|year|month|time|summer|winter|weekend|christmas|body|thing|other|of (?:us|them|you)|the best)\b)[\w'-]+(?: [\w'-]+){{0,6}} (?:goes|go|gets?|has to|have to|must|should|needs?|takes?|comes?|sits?|is to|are to|ends?|starts?) (?:through|by|past|to|in|at|an?|the|with|be|\d+|for|before|dogs|two|three)\b(?!.*\b(?:my mum|my dad|at school|yesterday|so tired|lol)\b)|{_LEAD}anything [^?;]* (?:goes|has to|must|needs to|should|stays?|sits?|waits?|is (?:off|out|for)|gets?)\b",
        example="Every mail to a customer goes through me.",
        counter="Every day goes by in a rush.",
    ),
    StrengthRule(
        strength=3,
        cues="at:at_the start:start_of end:end_of first then top bottom beginning with",
        pattern=rf"{{open}}(?:please )?(?:{{order}}|lead|finish|flag)\b[^?;]*\bat the (?:very )?(?:end|top|bottom|start|beginning) of (?:each|every|all|any|your|the (?:repl(?:y|ies)|answers?|messages?|mails?|summar(?:y|ies)))\b|@(?:at|in) (?:the )?(?:start|beginning|end) of (?:each|every) (?:session|reply|answer|message|mail|chat|day's|lesson|chapter)\b(?! (?:we|i|they|he|she)\b)|{_LEAD}[\w ]{{2,30}} first,? (?:then|and then|and) [\w ]{{2,30}}[.!,]*(?: [\w ]*(?:order|each|every)[\w ]*)?[.!]*$",
        example="Tests first, then the code.",
        counter="At the start of each session we look at the plan.",
    ),
    StrengthRule(
        strength=2,
        cues="so:,_so so:so_no",
        pattern=r"@(?:allergic|coeliac|celiac|vegan|vegetarian|kosher|halal|diabetic|deaf|blind|dyslexic|recovering|recovery|wheelchair|colou?r-?blind|certified|pregnant|sober|household|epileptic|lactose|gluten|religious|migraines?|recovering)\b[^?;]*, so (?:please |only |no |nothing |anything |keep |give |write |use |{order}|(?:my|the|any|every|all) )",
        example="My husband uses a wheelchair, so only step-free hotels.",
    ),
    StrengthRule(
        strength=3,
        cues="use:use explain:explain talk:talk address:address sign:sign phrase:phrase write:write speak:speak say:say",
        pattern=r"{open}(?:kindly |please |pls ){0,3}(?:explain|phrase|put|say) (?:things|stuff|everything|it all|concepts|it)(?: to me)? (?:like|as if|as though|so|in|without|briefly|simply|slowly)\b|{open}(?:kindly |please |pls ){0,3}(?:talk|speak|write)(?: to)? me (?:like|as|in|with|only)\b|{open}(?:kindly |please |pls ){0,3}address (?:my|me|our|her|him|them|the|all|customers|clients)\b[^?;]* (?:as|by|with)\b|{open}(?:kindly |please |pls ){0,3}sign (?:off|letters|e?-?mails?|messages|everything|them|me)\b[^?;]* (?:as|with|by)\b|^(?:kindly |please |pls |and |also |so )*use (?!(?:it|this|that|these|those|the (?:first|second|other|same|new|old|last))\b)[^?;]* (?:for|in) (?:[\w']+ )?(?:[\w'-]+s|me|us|dialogue|prose|code|everything|mine)\b[^?;]*$",
        example="Explain things to me like I'm ten.",
        counter="Use the other one for drinks.",
    ),
)
