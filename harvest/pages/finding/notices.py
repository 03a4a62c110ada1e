"""Phrases of obstacles before a chat (consent banners, walls, limits and faults) and of the buttons that close them.
These phrases alone never decide about an answer. They only name the kind of an obstacle that the page's structure or
its traffic has shown not to be an answer."""

from harvest.pages.finding.wordings import Wording, split_camel_case

_OPENING_LENGTH = 60  # characters

COOKIES = Wording("""
    cookie* | consent | your privacy | we value your privacy | privacy choices | gdpr | tracking technolog* |
    legitimate interest* | datenschutz* | einwilligung | privatsphäre | traceurs | témoins | vie privée |
    consentement | privacidad | consentimiento | privacidade | consentimento | riservatezza | consenso |
    toestemming | prywatnoś* | zgod* | çerez* | файлы куки | куки | конфиденциальност* | ملفات تعريف الارتباط |
    الخصوصية | कुकी* | गोपनीयता | クッキー | プライバシー | 同意 | 隐私 | 隱私 | 쿠키 | 개인정보
""")

TERMS = Wording("""
    terms of service | terms of use | terms and conditions | terms | i am over | your age | older than |
    nutzungsbedingungen | agb | geschäftsbedingungen | conditions d'utilisation | conditions générales |
    términos | condiciones de uso | termos de uso | termini | voorwaarden | regulamin | условия использования |
    пользовательское соглашение | الشروط | शर्तें | 利用規約 | 使用条款 | 服务条款 | 使用條款 | 服務條款 |
    用户协议 | 이용약관 | 약관
""")

REJECT = Wording("""
    reject | reject all | reject cookies | reject all cookies | decline | decline all | deny | deny all |
    refuse | refuse all | disagree | do not accept | don't accept | continue without accepting |
    continue without agreeing | opt out | do not sell* | no, thanks to cookies | reject non-essential* |
    ablehnen | alle ablehnen | alles ablehnen | verweigern | ohne einwilligung fortfahren |
    weiter ohne einwilligung | ohne zustimmung weiter | tout refuser | refuser | refuser tout | je refuse |
    continuer sans accepter | rechazar | rechazar todo | rechazar todas | no aceptar | denegar | rejeitar |
    rejeitar tudo | recusar | recusar tudo | rifiuta | rifiuta tutto | rifiuta tutti |
    continua senza accettare | weigeren | alles weigeren | afwijzen | odrzuć | odrzuć wszystkie | reddet |
    tümünü reddet | отклонить | отклонить все | отказаться | رفض | رفض الكل | अस्वीकार करें | सभी अस्वीकार करें |
    拒否 | すべて拒否 | 拒否する | 同意しない | 拒绝 | 全部拒绝 | 拒絕 | 全部拒絕 | 不同意 | 거부 | 모두 거부 |
    거절
""")

NECESSARY = Wording("""
    necessary only | only necessary | use necessary* | essential only | only essential | accept necessary |
    accept essential | essential cookies* | strictly necessary* | required only | only required |
    allow necessary* | necessary cookies* | save choices | confirm my choices | save settings |
    nur notwendige* | nur erforderliche* | nur essenzielle* | notwendige cookies* | auswahl speichern |
    auswahl bestätigen | nécessaires uniquement | uniquement les cookies nécessaires | cookies essentiels |
    solo necesarias | solo las necesarias | solo necesarios | apenas necessários | somente necessários |
    apenas os essenciais | solo necessari | solo i necessari | alleen noodzakelijke* | tylko niezbędne |
    sadece gerekli* | только необходимые | الضرورية فقط | केवल आवश्यक | 必要なもののみ | 必須のみ | 仅必要 |
    仅限必要 | 僅必要 | 필수만 | 필수 쿠키만
""")

CLOSE = Wording("""
    close | close dialog | close modal | close popup | close banner | dismiss | close this | x | not now |
    no thanks | no, thanks | no thank you | later | maybe later | remind me later | skip | skip for now |
    skip tour | skip intro | stay logged out | continue as guest | continue without* | hide | got it | ok |
    okay | understood | i understand | close ad | schließen | dialog schließen | nicht jetzt | später |
    nein danke | nein, danke | überspringen | verstanden | alles klar | abbrechen | fermer | pas maintenant |
    plus tard | non merci | non, merci | ignorer | passer | compris | j'ai compris | cerrar | ahora no |
    más tarde | no, gracias | no gracias | omitir | saltar | entendido | de acuerdo | fechar | agora não |
    mais tarde | não, obrigado | pular | entendi | chiudi | non ora | più tardi | no, grazie | salta |
    ho capito | sluiten | niet nu | nee, bedankt | overslaan | begrepen | zamknij | nie teraz | pomiń |
    rozumiem | kapat | şimdi değil | atla | anladım | закрыть | не сейчас | позже | нет, спасибо | пропустить |
    понятно | ясно | إغلاق | ليس الآن | لاحقا | لاحقًا | تخطي | فهمت | حسنا | बंद करें | अभी नहीं | बाद में |
    छोड़ें | ठीक है | समझ गया | 閉じる | 今はしない | 後で | あとで | スキップ | わかりました | 了解 |
    いいえ、結構です | 关闭 | 關閉 | 以后再说 | 稍后 | 稍後 | 跳过 | 跳過 | 知道了 | 我知道了 | 不用了 | 닫기 |
    나중에 | 건너뛰기 | 확인 | 괜찮습니다
""")

ACCEPT = Wording("""
    accept | accept all | accept all cookies | accept cookies | allow | allow all | allow cookies | agree |
    i agree | agree and continue | i accept | consent | accept and continue | accept & continue |
    accept and close | agree to all | yes, i agree | continue | that's ok | yes | enable all | start |
    let's go | begin | akzeptieren | alle akzeptieren | alles akzeptieren | zustimmen | einverstanden |
    ich stimme zu | annehmen | zulassen | alle zulassen | weiter | accepter | tout accepter | accepter tout |
    j'accepte | autoriser | d'accord | continuer | aceptar | aceptar todo | aceptar todas | acepto | permitir |
    continuar | aceitar | aceitar tudo | aceito | concordo | concordar | accetta | accetta tutto |
    accetta tutti | accetto | continua | accepteren | alles accepteren | akkoord | akceptuj |
    zaakceptuj wszystkie | zgadzam się | kabul et | tümünü kabul et | принять | принять все | согласен |
    соглашаюсь | продолжить | قبول | قبول الكل | أوافق | موافق | متابعة | स्वीकार करें | सभी स्वीकार करें |
    सहमत | जारी रखें | 同意する | すべて同意 | すべて許可 | 許可 | 続ける | 続行 | 接受 | 全部接受 | 同意 |
    同意并继续 | 继续 | 繼續 | 允许 | 允許 | 동의 | 모두 동의 | 수락 | 모두 수락 | 모두 허용 | 허용 | 계속
""")

SIGN_IN = Wording("""
    sign in | log in | login | sign up | signin | log on | create account | create an account | register |
    continue with* | anmelden | einloggen | registrieren | weiter mit* | se connecter | connexion |
    connectez-vous | s'inscrire | créer un compte | iniciar sesión | inicia sesión | acceder | registrarse |
    regístrate | entrar | fazer login | faça login | cadastre-se | criar conta | accedi | registrati |
    inloggen | aanmelden | zaloguj* | zarejestruj* | giriş yap | oturum aç | войти | вход | войдите |
    зарегистрир* | تسجيل الدخول | سجل الدخول | إنشاء حساب | लॉग इन* | साइन इन* | साइन अप* | ログイン |
    サインイン | 新規登録 | 登录 | 登錄 | 登入 | 注册 | 註冊 | 로그인 | 회원가입 | 가입하기
""")

SIGN_IN_FIRST = Wording("""
    sign in to* | log in to* | login to* | please sign in | please log in | please login |
    you must be logged in | you need to log in | you must log in | you need to sign in | you must sign in |
    sign up to* | log in or sign up* | sign in required | login required | authentication required |
    session has expired | session expired | your session expired | melde dich an* | bitte melden sie sich an |
    bitte einloggen | bitte anmelden | zum fortfahren anmelden | connectez-vous pour* |
    veuillez vous connecter | vous devez vous connecter | inicia sesión para* | debes iniciar sesión |
    por favor inicia sesión | faça login para* | entre para* | você precisa entrar | accedi per* |
    effettua l'accesso | log in om* | meld je aan om* | zaloguj się, aby* | войдите, чтобы* |
    необходимо войти | пожалуйста, войдите | سجل الدخول ل* | يرجى تسجيل الدخول | जारी रखने के लिए साइन इन* |
    कृपया लॉग इन* | ログインしてください | ログインが必要 | サインインしてください | 请登录 | 请先登录 |
    登录后 | 需要登录 | 請登入 | 請先登入 | 登入後 | 로그인이 필요 | 로그인해 주세요 | 로그인하세요 |
    로그인 후 | create a free account* | create an account to* | create your account to* | sign up for free to* |
    register to* | register for free to* | account required | erstellen sie ein konto* | erstelle ein konto* |
    kostenloses konto | registrieren sie sich* | registriere dich* | créez un compte* | inscrivez-vous pour* |
    crea una cuenta* | regístrate para* | crie uma conta* | cadastre-se para* | crea un account* | registrati per* |
    maak een account* | maak een gratis account* | załóż konto* | utwórz konto* | hesap oluştur* | üye ol* |
    создайте аккаунт* | зарегистрируйтесь, чтобы* | أنشئ حساب* | खाता बनाएं | アカウントを作成 | 注册后 | 创建账号 |
    创建账户 | 註冊後 | 建立帳號 | 계정을 만드 | 회원가입 후
""")

HUMAN = Wording("""
    verify you are human | verifying you are human | verify that you are human | checking that you are human |
    confirm you are human | prove you are human | are you human | are you a human | are you a robot |
    i am not a robot | i'm not a robot | checking your browser | checking if the site connection is secure |
    not a bot | unusual traffic | complete the security check | complete the captcha | solve the captcha |
    captcha | press and hold | press & hold | slide to verify | just a moment | security verification |
    human verification | ich bin kein roboter | sind sie ein mensch |
    bestätigen sie, dass sie ein mensch sind | je ne suis pas un robot | vérifiez que vous êtes humain |
    vérification que vous êtes humain | no soy un robot | verifica que eres humano |
    verifica que no eres un robot | não sou um robô | verifique se você é humano | non sono un robot |
    verifica di essere umano | ik ben geen robot | nie jestem robotem | ben robot değilim | я не робот |
    подтвердите, что вы не робот | подтвердите, что вы человек | أنا لست برنامج روبوت | تحقق من أنك إنسان |
    मैं रोबोट नहीं हूं | पुष्टि करें कि आप इंसान हैं | 私はロボットではありません | 人間であることを確認 |
    ロボットではない | 我不是机器人 | 我不是機器人 | 验证您是真人 | 验证你是人类 | 確認您是真人 | 人机验证 |
    安全验证 | 로봇이 아닙니다 | 사람인지 확인 | 보안 확인 |
    you are human | i am human | i'm human | not a robot | complete the puzzle | solve the puzzle | solve this puzzle |
    drag the slider | slide to complete | select all images* | select all squares* | ein mensch sind | ein mensch bist |
    kein roboter | puzzle lösen | lösen sie das puzzle | löse das puzzle | sicherheitsüberprüfung | êtes humain |
    êtes un humain | pas un robot | résolvez le puzzle | eres humano | soy humano | no eres un robot |
    resuelve el rompecabezas | completa el rompecabezas | você é humano | sou humano | não é um robô |
    resolva o quebra-cabeça | sei umano | non sei un robot | completa il puzzle | een mens bent | geen robot |
    jesteś człowiekiem | nie jesteś robotem | insan olduğunuz* | robot olmadığınız* | вы человек | не робот |
    соберите пазл | أنك لست روبوت* | أنك إنسان | आप इंसान हैं | パズルを | ロボットではないこと | 滑动验证 | 滑動驗證 |
    拖动滑块 | 拼图 | 拼圖 | 퍼즐을
""")

RATE_LIMIT = Wording("""
    rate limit* | too many requests | too many messages | quota exceeded | exceeded your* | usage limit |
    message limit | limit reached | daily limit | reached your limit | reached the limit |
    reached your message limit | you've reached* | sending messages too quickly | too fast | slow down |
    try again in | out of messages | no messages left | zu viele anfragen | zu viele nachrichten |
    limit erreicht | nachrichtenlimit | nutzungslimit | trop de requêtes | trop de messages | limite atteinte |
    quota dépassé | demasiadas solicitudes | demasiados mensajes | límite alcanzado | has alcanzado el límite |
    muitas solicitações | muitas mensagens | limite atingido | limite excedido | troppe richieste |
    limite raggiunto | te veel verzoeken | limiet bereikt | zbyt wiele żądań | çok fazla istek |
    слишком много запросов | лимит исчерпан | превышен лимит | достигнут лимит | طلبات كثيرة | تجاوزت الحد |
    बहुत अधिक अनुरोध | सीमा समाप्त | リクエストが多すぎ | 上限に達し | 回数制限 | 请求过于频繁 | 请求过多 |
    操作频繁 | 达到上限 | 次数已用完 | 請求過多 | 達到上限 | 요청이 너무 많 | 한도에 도달 | 한도를 초과
""")

MAINTENANCE = Wording("""
    maintenance | be back soon | be right back | be back shortly | temporarily unavailable |
    service unavailable | currently unavailable | currently down | down for* | scheduled downtime |
    at capacity | under construction | offline | out of order | wartung* | wartungsarbeiten |
    vorübergehend nicht verfügbar | gleich wieder da | en maintenance | maintenance en cours |
    temporairement indisponible | de retour bientôt | en mantenimiento | mantenimiento |
    temporalmente no disponible | volvemos pronto | em manutenção | manutenção | temporariamente indisponível |
    voltaremos em breve | in manutenzione | manutenzione | temporaneamente non disponibile | onderhoud |
    przerwa techniczna | konserwacja | bakım | техническ* работ* | технические работы | обслуживани* |
    временно недоступ* | صيانة | غير متاح مؤقتا | रखरखाव | अस्थायी रूप से अनुपलब्ध | メンテナンス |
    一時的に利用できません | 维护中 | 维护 | 維護 | 暂时不可用 | 暫時無法使用 | 稍后回来 | 점검 중 | 점검 |
    일시적으로 사용할 수 없
""")

# Words of programs that fail. A refusal (“I cannot …”) does not count.
ERROR = Wording("""
    error | errors | went wrong | failed to | request failed | timed out | timeout | exception |
    internal server | network issue | connection lost | lost connection | no connection | oops | fehler* |
    schiefgegangen | schiefgelaufen | fehlgeschlagen | erreur* | délai dépassé | ha fallado | salió mal |
    deu errado | erro | falhou | errore | andato storto | fout | mislukt | ging iets mis | błąd |
    poszło nie tak | hata oluştu | ошибк* | пошло не так | حدث خطأ | خطأ | त्रुटि | गड़बड़ | エラー |
    問題が発生 | 错误 | 錯誤 | 出错 | 出錯 | 异常 | 異常 | 오류 | 에러 | 문제가 발생
""")

FAULT = Wording("""
    error | errors | went wrong | failed | failure | unable to | could not | couldn't | cannot | can't |
    try again | unavailable | not available | timed out | timeout | problem | oops | network issue |
    lost connection | connection lost | disconnected | no connection | no response | unexpected |
    internal server | exception | crashed | fehler* | schiefgegangen | schiefgelaufen | fehlgeschlagen |
    konnte nicht | erneut versuchen | noch einmal versuchen | nicht verfügbar | zeitüberschreitung | erreur* |
    échec | échoué | impossible | réessay* | indisponible | mal passé | délai dépassé | problème | error al |
    falló | ha fallado | no se pudo | inténtalo de nuevo | intentarlo de nuevo | salió mal | no disponible |
    problema | erro | falhou | falha | não foi possível | tente novamente | deu errado | indisponível |
    errore | non riuscit* | riprova* | andato storto | non disponibile | fout | mislukt | probeer het opnieuw |
    ging iets mis | niet beschikbaar | błąd | nie udało | spróbuj ponownie | hata | başarısız |
    tekrar deneyin | ошибк* | не удалось | попробуйте* | пошло не так | недоступ* | повторите | сбой | خطأ |
    فشل | تعذر | حاول مرة أخرى | أعد المحاولة | حدث خطأ | त्रुटि | विफल | गड़बड़ | फिर से कोशिश | पुनः प्रयास |
    エラー | 失敗 | できませんでした | 問題が発生 | 再試行 | もう一度お試し | 错误 | 錯誤 | 失败 | 出错 |
    出錯 | 重试 | 重試 | 再试 | 异常 | 異常 | 无法 | 無法 | 오류 | 에러 | 실패 | 다시 시도 | 문제가 발생 |
    할 수 없
""")


def find_human_check(text: str) -> str:
    """Return the words in `text` that ask for proof of being human, or "". `Just a moment` does not count, because
    pages that are merely loading show it, too."""
    found = HUMAN.find(text)
    return "" if found.lower().startswith("just a") else found


def opens_as_failure(text: str) -> bool:
    """Return True if a text begins with words that programs use for errors. The text may still be a good answer."""
    opening = split_camel_case(text[:_OPENING_LENGTH])
    return opening in ERROR or opening in RATE_LIMIT
