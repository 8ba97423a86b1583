"""Whether a rule names its own thing, told by the clause that its pronoun stands in."""

import pytest

from everfold.core.statements.pronouns import points_back


@pytest.mark.parametrize(
    "sentence",
    [
        "never delete it.",
        "always close the door because of them.",
        "never tell anyone about this.",
        "never put it in anything.",
        "from now on use it for all slides.",
        "please always consider this.",
        "always use the other one.",
        "never call during that time.",
        "never invite him to lisbon.",
        "never email them on fridays.",
        "from now on, nothing about it in the family chat.",
        "never mention his name.",
        "before you send, show it to me.",
        "on my birthday, never mention it.",
        "keep it in the safe.",
        "don't ever book with them again.",
        "never discuss this with anyone.",
        "you must never open it.",
        "only use those.",
        "never leave it unlocked when you go.",
        "if you ever see her, say nothing.",
        "in emails, never mention it.",
        "do not change it without asking.",
        "whatever happens, do not sell it.",
        "send him a copy of every invoice.",
        "avoid it at all costs.",
        "never lend it to the neighbours.",
        "don't ever put them in the dryer.",
        "you may never quote from it.",
        "never park in front of it.",
        "always serve it with rice.",
        "whatever you do, don't wake her.",
        "please stop mentioning it.",
        "keep them away from the dog.",
        "never open it before christmas.",
        "never use that one for payments.",
        "from monday on, send it to the new office.",
        "always compare it with last year's figures.",
        "no one may enter it after dark.",
        "only he may sign.",
        "always round it up.",
        "tell me about it only on request.",
        "spell his name with a ph.",
        "close the door when they bark.",
        "love should be here, and i want them to feel it.",
    ],
)
def test_a_pronoun_without_a_noun_in_an_earlier_clause_points_back(sentence: str) -> None:
    """No object of its own clause, no time, no place and no single thing for several is what a pronoun stands for."""
    assert points_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "when you write to anna, tell her the price.",
        "keep the summary under a page.",
        "if you find errors, fix them.",
        "keep it short.",
        "from now on, make it short.",
        "put each file in its folder.",
        "never send a mail without showing it to me.",
        "make sure that every reply is in german.",
        "i prefer it when you are direct.",
        "never send invoices without checking them twice.",
        "if the user is angry, calm them down.",
        "always list the totals, and put them first.",
        "do not reply to people who ask for their money back.",
        "never book flights that leave before nine.",
        "keep it under 100 words.",
        "collect all receipts and send them on friday.",
        "always tell me when it is late.",
        "wash the tomatoes before you cut them.",
        "if the printer jams, restart it twice.",
        "always read a contract before you sign it.",
        "keep every receipt and scan it.",
        "put the invoices in order and number them.",
        "never promise refunds unless the manager approves them.",
        "write short sentences and avoid jargon in them.",
        "for every recipe, list what it costs.",
        "if i send a photo, describe it in one line.",
        "don't open attachments; delete them.",
        "keep the door locked, even if someone knocks on it.",
        "call me ben, not benjamin.",
        "if you think it's risky, tell me.",
        "use tabs when the file already has them.",
        "take it easy on the jokes.",
        "do not commit secrets, rotate them.",
        "give every guest their own key.",
        "if my parents write, answer them.",
    ],
)
def test_a_pronoun_whose_noun_stands_before_it_does_not_point_back(sentence: str) -> None:
    """What an earlier clause names, an owner in the same clause and what stands for nothing need no sentence before."""
    assert not points_back(sentence)
