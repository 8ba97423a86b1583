"""Rules of statements: Chinese. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

RULES: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="question",
        pattern=r"[?\uff1f]$|[吗嗎呢][。?\uff1f]?$",
        example="你喜欢咖啡吗",
    ),
    StatementRule(
        kind="remember",
        pattern="记住|記住|^请?记得|^請?記得|[别別]忘|不要忘",
        example="记住我住在三楼。",
    ),
    StatementRule(
        kind="correction",
        pattern=r"^不[对對](?!吗)|不是.{1,12}[,\uff0c]?(?:而)?是|改[成为為到]|更正|[说說弄搞写寫][错錯]",
        example="不是三点,而是四点。",
        counter="不对吗。",
    ),
    StatementRule(
        kind="decision",
        pattern="决定|決定|就[选選定]",
        example="我们决定坐火车去。",
    ),
    StatementRule(
        kind="constraint",
        pattern=r"(?<!要)不要(?![紧緊])|(?<!能)不能(?![理相等])|不可以|不[准許许]|不得(?![不了已])|^[别別](?![人的的处處客])|[\uff0c,][别別](?![人的处處客])|必[须須]|一定要|[务務]必|只能|禁止|最多|至少|不超[过過]",
        example="不要在早上八点前打电话。",
        counter="不要紧。",
    ),
    StatementRule(
        kind="constraint",
        pattern=r"从现在(?:开始|起)[\uff0c,]?(?!我|他|她|它|天)|從現在(?:開始|起)[\uff0c,]?(?!我|他|她|它|天)|(?:今后|今後|以[后後])(?:[\uff0c,]?(?:请|請)|都|不[要准許许]|一律|每次|只[用能要])|每次都?[要先]|(?:请|請)(?:你)?(?:每次|[总總]是|始终|永远|永遠|一律|务必)|(?:永远|永遠|千万|再也)(?:不要|别|別)",
        example="从现在开始用中文回答。",
        counter="从现在开始我早睡早起。",
    ),
    StatementRule(
        kind="identity",
        pattern="我叫|我姓|我的名字|[过過]敏|高血[压壓]|糖尿病",
        example="我对花生过敏。",
    ),
    StatementRule(
        kind="preference",
        pattern="喜[欢歡]|[讨討][厌厭]|[宁寧][愿願]|偏好|更想",
        example="我更喜欢靠窗的座位。",
    ),
)
