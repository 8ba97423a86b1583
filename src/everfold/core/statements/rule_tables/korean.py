"""Rules of statements: Korean. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

RULES: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="question",
        pattern=r"까요?[.?\uff1f]?$",
        example="같이 갈까요?",
    ),
    StatementRule(
        kind="remember",
        pattern="기억해|잊지 ?마",
        example="제 생일은 오월이라고 기억해 주세요.",
    ),
    StatementRule(
        kind="correction",
        pattern="(?:이|가) 아니라|정정|바꿔",
        example="월요일이 아니라 화요일이에요.",
    ),
    StatementRule(
        kind="decision",
        pattern="결정했|하기로 (?:했|하)",
        example="기차로 가기로 결정했어요.",
    ),
    StatementRule(
        kind="constraint",
        pattern="(?<!걱정)(?<!포기)하지 ?마|하면 안|해야 ?(?:합|해|돼|한)|반드시|절대",
        example="밤 열 시 이후에는 전화하지 마세요.",
        counter="걱정하지 마세요.",
    ),
    StatementRule(
        kind="constraint",
        pattern=r"(?:앞으로|지금부터|이제부터|항상|언제나|매번|꼭)(?!.*(?:건강|행복|감사|고마|부탁)).*(?:주세요|줘|하세요|세요|십시오|해라|대답해|적어|써)[.!]*$|(?<!걱정하)(?<!잊)(?<!포기하)지 ?마(?:세요|십시오|라|요)?[.!]*$",
        example="앞으로는 한국어로 대답해 주세요.",
        counter="항상 건강하세요.",
    ),
    StatementRule(
        kind="identity",
        pattern="제 이름|알레르기",
        example="제 이름은 김민수입니다.",
    ),
    StatementRule(
        kind="preference",
        pattern="좋아(?:해|합)|싫어|선호",
        example="저는 창가 자리를 좋아해요.",
    ),
)
