"""The wordings of attacks in other languages than English, with the marks over letters left out.

German, Spanish, Portuguese, Italian, French, Dutch, Polish, Turkish, Chinese, Japanese, Korean, Russian, Arabic and
Hindi for the instruction to drop instructions; fewer of them for the other kinds.

Source: own lists, as those of `threat_rules`, tuned on the dev part of tests/data/threats.
"""
# ruff: noqa: RUF001  (letters of other scripts are what this is about)

from typing import Final

from everfold.core.threat_kinds import AWAY, OW, ThreatRule, W, gap, write_rule

FOREIGN_RULES: Final[tuple[ThreatRule, ...]] = (
    write_rule(
        "instruction_override",
        "drops the instructions, in other languages",
        "",
        # German
        rf"\b(?:ignorier(?:e|en|t)?|missacht(?:e|en|et)?|vergiss|vergesst|vergessen sie|verwirf|uberg(?:ehe|eht)|umgehe){gap(4)}{W}(?:anweisung(?:en)?|regeln|vorgaben|instruktionen|richtlinien|systemprompt|befehle){OW}(?!des{W}|der{W}|vom{W})",
        rf"\b(?:befolge|gehorche|folge){gap(4)}{W}nur{gap(3)}{W}(?:anweisung(?:en)?|befehlen?|diesem|diesen)",
        r"\b(?:hinweis|nachricht|anweisung) an (?:die ki|das modell|den assistenten)\b",
        rf"\b(?:beachte|befolge|folge)\w{{0,2}}{gap(3)}{W}(?:vorherigen|bisherigen|obigen|fruheren){gap(2)}{W}nicht",
        # Spanish, Portuguese, Italian, French
        rf"\b(?:ignor[ae]|ignorez|ignorad|olvida|olvide|esquece|esqueca|dimentica|oublie[rz]?|desobedece|descarta|desconsidere|neglige){gap(3)}{W}(?:instrucciones|reglas|ordenes|directrices|instructions|consignes|regles|directives|istruzioni|regole|instrucoes|regras|indicaciones){W}(?:anteriores|previas|precedentes?|precedenti|anterieures?|de arriba|ci-dessus|acima|del sistema|du systeme|do sistema)",
        rf"\b(?:ignora|olvida|dimentica|oublie[rz]?|ignore[zr]?){W}(?:todas?|todos?|tutte|tutti|toutes|tous|tes|tus|vos|suas){gap(3)}{W}(?:instrucciones|reglas|ordenes|instructions|consignes|regles|istruzioni|regole|instrucoes|regras)\b",
        rf"\bdebes{W}obedecer|\bne{W}(?:tiens|tenez){W}pas{W}compte{W}des{W}(?:regles|consignes|instructions)",
        rf"\bno{W}(?:sigas|obedezcas|respetes){gap(3)}{W}(?:instrucciones|reglas|directrices)",
        rf"\b(?:desobedece|desacata){gap(2)}{W}(?:instrucciones|reglas|ordenes)",
        rf"\b(?:obeis|obeissez|suis|suivez|respecte[sz]?){W}(?:plus|pas){gap(2)}{W}(?:regles|consignes|instructions)",
        # Dutch, Polish, Turkish
        rf"\bneg(?:e|ee)r{gap(2)}{W}(?:eerdere|vorige|voorgaande|bovenstaande){W}(?:instructies|regels|opdrachten)",
        rf"\bvergeet{gap(2)}{W}(?:eerdere|vorige|voorgaande){W}(?:instructies|regels)",
        rf"\b(?:zignoruj|ignoruj|zapomnij){gap(3)}{W}(?:instrukcj[ei]|polecenia|zasady)\b|\btalimatlar\w{{0,8}}{W}(?:yok say|unut|gormezden gel|goz ardi)",
        # Chinese, Japanese, Korean
        r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|别管)[^。!?\n]{0,12}(?:指令|指示|规则|規則|设定|設定|提示词|命令|系统提示)",
        r"(?:不要|别|停止)(?:遵守|听从|执行|遵循)[^。!?\n]{0,10}(?:规则|指令|指示|设定|命令)",
        r"(?:以前|これまで|上記|前)の?[^。!?\n]{0,6}(?:指示|命令|ルール|規則)に(?:従わない|従うな)",
        r"(?:これまで|以前|今まで|上記|前|先ほど|全て|すべて)の?[^。!?\n]{0,6}(?:指示|命令|ルール|規則|プロンプト|設定)[^。!?\n]{0,8}(?:無視|忘れ|破棄)",
        r"(?:이전|위|앞)의?[^.\n]{0,10}(?:지시|명령|규칙|지침)[^.\n]{0,8}(?:무시|잊)",
        # Russian, Ukrainian
        rf"\b(?:проигнори|игнори|игнору|iгнору)\w{{0,6}}{gap(3)}{W}(?:инструкци|указани|правил|команд)|\bзабуд(?:ь|ьте){gap(3)}{W}(?:инструкци|указани|правила|команды|установки)",
        rf"\bне{W}(?:следуй|подчиняйся|выполняй|слушай|соблюдай)\w{{0,2}}{gap(3)}{W}(?:инструкци|правил|указани|команд)",
        rf"\bтеперь{W}действуют{W}только{W}эти",
        # Arabic, Hindi
        r"(?:تجاهل|انس|تجاوز)[^.\n]{0,16}(?:التعليمات|القواعد|الأوامر)",
        r"(?:निर्देशों|निर्देश|आदेशों|नियमों)[^।\n]{0,12}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल)",
    ),
    write_rule(
        "identity_change",
        "makes a new role, in other languages",
        "",
        rf"\bdu{W}bist{W}(?:jetzt|ab (?:jetzt|sofort)|nun|von nun an){W}(?:ein\w{{0,2}}{W})?(?:un(?:ein|be)geschrankt\w{{0,3}}|unzensiert\w{{0,2}}|bose\w{{0,2}}|ki\b|assistent\w{{0,2}}|pirat|hacker|modell)",
        rf"\b(?:ahora|desde ahora){W}(?:tu{W})?eres{W}(?:una?{W})?(?:asistente|ia\b|modelo|pirata|hacker|robot)",
        rf"\b(?:tu{W}es|vous{W}etes){W}(?:maintenant|desormais|a present){W}(?:une?{W})?(?:assistante?|ia\b|modele|pirate|hacker|robot)",
        rf"\b(?:agora{W}(?:voce{W}e|tu{W}es)|voce{W}agora{W}e|ora{W}sei|adesso{W}sei){W}(?:uma?{W}|uno?{W}|una{W})?(?:assistente|ia\b|modelo|modello|pirata|hacker)",
        rf"\bkeine?{W}(?:assistent\w{{0,2}}|ki){W}mehr\b|\b(?:ki|assistent\w{{0,2}}|modell|hacker){gap(1)}{W}ohne{W}(?:jede\w{{0,2}}{W}|irgendwelche{W})?(?:einschrankungen|regeln|grenzen|filter)",
        rf"\b(?:asistente|assistante?|assistente|hacker|ia|robot|modelo|modele|modello|pirata|pirate){gap(1)}{W}(?:sin|sans|senza|sem){gap(1)}{W}(?:limites?|limiti|restricciones|restrictions?|filtros|filtres?|reglas|regles|regole|regras|restricoes|restrizioni)",
        rf"\bes{W}plus{W}une?{W}(?:assistant|ia\b)|\bya{W}no{W}eres{W}una?{W}(?:asistente|ia\b)",
        r"(?:不再是|不是)[^。!?\n]{0,8}(?:助手|人工智能|语言模型)|你(?:将|要|来)?扮演[^。!?\n]{0,12}(?:黑客|限制|角色|ai)",
        r"(?:もう|もはや)[^。!?\n]{0,12}(?:アシスタント|ai)では(?:ない|ありません)",
        rf"\bбольше{W}не{W}(?:ассистент|помощник|ии\b)",
        r"(?:你现在是|从现在起你是|从现在开始你是|你將扮演|你现在扮演|你要扮演)[^。!?\n]{0,12}(?:限制|人工智能|ai|助手|模型|黑客)",
        r"(?:あなたは|君は|お前は)(?:今から|これから|もう)[^。!?\n]{0,12}(?:ai|アシスタント|人工知能|制限|モデル|海賊)",
        rf"\b(?:теперь{W}ты|ты{W}теперь|этого{W}момента{W}ты|отныне{W}ты){gap(2)}{W}(?:ассистент|помощник|ии\b|модель|пират|хакер|бот\b)",
    ),
    write_rule(
        "concealment",
        "hides from the user, in other languages",
        "",
        rf"\b(?:sag|sage|erzahle?|verrate|verschweige?){W}(?:es{W}|das{W}|dies{W})?(?:dem|der){W}(?:nutzer|benutzer|anwender|nutzerin|user){gap(2)}{OW}(?:nicht|nichts|davon)?",
        rf"\bno{W}(?:se{W}lo|le){W}(?:digas|cuentes|reveles|menciones){gap(2)}{W}al{W}usuario",
        rf"\bne{W}(?:dis|dites|revele|revelez|mentionne){gap(3)}{W}(?:a{W})?(?:l'|au{W}|la{W})(?:utilisateur|utilisatrice|client)",
        rf"\bnao{W}(?:diga|conte|revele){gap(2)}{W}ao{W}usuario|\bnon{W}(?:dire|dirlo|rivelare){gap(2)}{W}all'utente",
        r"(?:不要|别|請勿|请勿)(?:告诉|告訴|通知|让)(?:用户|用戶|使用者)|(?:向|对)用户(?:隐瞒|保密)",
        r"(?:ユーザー|利用者)(?:に|には)[^。!?\n]{0,8}(?:言わない|教えない|知らせない|伝えない|秘密|隠)",
        rf"\b(?:скрой|спрячь|утаи)\w{{0,2}}{gap(2)}{W}от{W}пользовател",
        rf"\bне{W}(?:говори|сообщай|рассказывай|показывай)\w{{0,2}}{gap(3)}{W}пользовател",
    ),
    write_rule(
        "exfiltration",
        "sends out what is private, in other languages",
        "http|@",
        rf"\b(?:schick\w{{0,3}}|send\w{{1,3}}|leite|ubermittle|lade){gap(4)}{W}(?:gesprachsverlauf|verlauf|passwort\w{{0,2}}|passworter|zugangsdaten|schlussel|gesprach|erinnerungen|daten)\b[^\n]{{0,40}}{AWAY}",
        rf"\b(?:envia|envie|manda|sube|invia|envoie[sz]?|envoyez|transfere[sz]?|televerse){gap(3)}{W}(?:l')?(?:contrasenas|historial|conversacion|claves|secretos|historique|conversation|mots de passe|cles|secrets|senhas|historico|conversa|password|cronologia)\b[^\n]{{0,50}}{AWAY}",
        r"(?:把|将)[^。\n]{0,16}(?:对话|聊天|记录|密码|密钥|记忆)[^。\n]{0,10}(?:发送|发到|发给|发至|上传|传到|传给|转发)[^。\n]{0,10}(?:https?://|@|\w{1,30}@)",
        r"(?:会話|履歴|パスワード|記憶|鍵)[^。\n]{0,16}https?://[^。\n]{0,60}(?:送|アップ)",
        rf"\b(?:отправ(?:ь|ьте|ляй)|перешли|загрузи){gap(2)}{W}(?:истори|парол|ключ|переписк|разговор)\w{{0,4}}[^\n]{{0,40}}{AWAY}",
    ),
)
"""All wordings in other languages."""
