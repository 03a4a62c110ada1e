"""Common names of page elements in the most common languages, and tests for such a name. The tables cover English,
German, French, Spanish, Portuguese, Italian, Dutch, Polish, Russian, Turkish, Arabic, Hindi, Japanese, Chinese
(both scripts) and Korean. A phrase matches whole words only; in scripts without spaces between words it may occur
anywhere. A star at the end of a phrase allows the word to continue."""

import re
from functools import cached_property, lru_cache

from topics.late_pattern import lazy_pattern

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_LETTERS = re.compile(r"[^a-z]+")
_NO_SPACES = lazy_pattern(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # Thai, kana, Han, Hangul
_LONGEST = 4000  # characters searched for phrases


class Wording:
    """Phrases with one meaning in any number of languages, given as text and separated by `|` or line breaks."""

    def __init__(self, phrases: str) -> None:
        self._phrases = [phrase.strip() for phrase in re.split(r"[|\n]", phrases) if phrase.strip()]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        patterns: list[str] = []
        for phrase in sorted(self._phrases, key=len, reverse=True):
            spelt = (re.escape(word) for word in phrase.rstrip("*").split())
            pattern = r"[\s\u00a0]+".join(spelt).replace("'", "['’]")
            if not _NO_SPACES.search(phrase):
                pattern = rf"(?<!\w){pattern}" + (r"\w*" if phrase.endswith("*") else r"(?!\w)")
            patterns.append(pattern)
        return re.compile("|".join(patterns), re.IGNORECASE)

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        return re.compile(rf"[\W_]*(?:{self._pattern.pattern})[\W_]*", re.IGNORECASE)

    def find(self, text: str) -> str:
        """Return the first match of one of the phrases, as written in `text`, or "" if no phrase occurs."""
        match = self._pattern.search(text[:_LONGEST])
        return match[0] if match else ""

    def __contains__(self, text: str) -> bool:
        return bool(self.find(text))

    def is_all(self, text: str) -> bool:
        """Return True if `text` is one of the phrases and nothing else, except for punctuation."""
        return self._whole.fullmatch(text) is not None


def word_set(text: str) -> frozenset[str]:
    """Return the set of words in `text`."""
    return frozenset(text.split())


def split_camel_case(text: str) -> str:
    """Insert a space before every capital letter after a small letter or a digit: `NetworkError` → `Network Error`."""
    return _CAMEL.sub(" ", text)


@lru_cache(maxsize=8192)
def code_words(name: str) -> frozenset[str]:
    """Return the words in an identifier: `chat-inputBox` gives chat, input and box. The result is empty for a name
    that applies only in some state (`disabled:hidden`, `data-[error]:red`)."""
    found: set[str] = set()
    for token in name.split():
        if ":" not in token and "[" not in token:
            found.update(_NO_LETTERS.split(_CAMEL.sub(" ", token).lower()))
    found.discard("")
    return frozenset(found)


# Names of a box to talk in.
TALK = Wording("""
    message | messages | your message | ask | type | write | chat | prompt | question | reply | talk |
    say something | how can | what can | help | nachricht* | frag* | schreib* | eingabe | antwort* | gib |
    womit kann | écri* | demande* | posez | pose | tapez | saisi* | répon* | comment puis | discute* |
    mensaje* | escrib* | pregunta* | consulta | cómo puedo | en qué puedo | habla | mensagem | mensagens |
    escrev* | pergunt* | digite | como posso | converse | messaggio | scrivi* | chiedi | domanda | come posso |
    bericht | vraag* | typ | stel | wiadomość | wpisz | napisz | zapytaj | mesaj* | yaz* | sor* | сообщени* |
    напиши* | введите | спроси* | вопрос* | запрос | رسالة | رسالتك | اكتب | اسأل | سؤال | سؤالك | संदेश |
    मैसेज | लिखें | पूछें | सवाल | प्रश्न | メッセージ | 質問 | 入力 | 話し | 聞いて | 尋ね | チャット | 输入 |
    輸入 | 消息 | 訊息 | 提问 | 提問 | 问我 | 問我 | 发消息 | 询问 | 聊天 | 说点 | 메시지 | 질문 | 물어 |
    입력 | 채팅 | 대화
""")

# Names of a box that may be for both searching and asking.
ASK = Wording("""
    ask | question* | frag* | demande* | posez | pregunt* | pergunt* | chiedi | domanda | vraag* | zapytaj | sor* |
    спроси* |
    вопрос* | اسأل | سؤال | पूछें | सवाल | प्रश्न | 質問 | 提问 | 提問 | 问 | 問 | 물어 | 질문
""")

SEARCH = Wording("""
    search | searching | find | filter | look up | lookup | jump to | go to | such* | durchsuchen | finden |
    rechercher | recherche | chercher | buscar | busca | búsqueda | filtrar | pesquisar | pesquisa | procurar |
    cerca | ricerca | zoeken | zoek | szukaj | wyszukaj | ara | поиск | найти | искать | بحث | ابحث | खोज |
    खोजें | 検索 | 搜索 | 搜尋 | 查找 | 검색 | 찾기
""")

# Names of a box that is filled in for a purpose other than talking.
NO_TALK = Wording("""
    email | e-mail | mail address | phone | telephone | first name | last name | full name | your name |
    user name | username | password | subject | address | city | zip | postal | postcode | company | coupon |
    promo code | newsletter | subscribe | comment | review | feedback | title | rename | url | website |
    card number | date | quantity | amount | tag | tags | temperature | max tokens | system prompt | api key |
    custom instructions | passwort | vorname | nachname | benutzername | betreff | adresse | telefon |
    kommentar | kennwort | rückmeldung | mot de passe | prénom | nom | courriel | sujet | objet | téléphone |
    commentaire | correo* | contraseña | nombre | apellido* | asunto | teléfono | comentario | senha | nome |
    sobrenome | assunto | telefone | comentário | cognome | oggetto | telefono | wachtwoord | naam |
    onderwerp | hasło | эл. почта | почта | пароль | имя | фамилия | тема | телефон | комментарий | адрес |
    البريد* | كلمة المرور | الاسم | الموضوع | الهاتف | تعليق | ईमेल | पासवर्ड | नाम | फ़ोन | टिप्पणी | メール |
    パスワード | 氏名 | お名前 | 件名 | 電話 | コメント | 邮箱 | 郵箱 | 电子邮件 | 密码 | 密碼 | 姓名 | 主题 |
    电话 | 評論 | 评论 | 이메일 | 비밀번호 | 이름 | 제목 | 전화 | 댓글
""")

# Questions of a page about who is talking.
PERSONAL = Wording("""
    email | e-mail | mail address | phone | phone number | telephone | mobile number | first name | last name |
    full name | your name | user name | username | nickname | who are you | call you | company | customer number |
    order number | date of birth | passwort | vorname | nachname | ihr name | dein name | wie heißen | wie heißt |
    e-mail-adresse | telefon | telefonnummer | kundennummer | firma | prénom | nom | votre nom | courriel |
    adresse e-mail | téléphone | appelez-vous | t'appelles | nombre | correo* | apellido* | teléfono | te llamas |
    se llama | nome | sobrenome | telefone | se chama | seu nome | cognome | telefono | ti chiami | si chiama | naam |
    achternaam | voornaam | telefoonnummer | heet je | imię | nazwisko | numer telefonu | adınız* | isminiz* | soyad* |
    e-posta | telefonunuz* | имя | фамилия | вас зовут | тебя зовут | почта | эл. почта | телефон | الاسم | اسمك |
    البريد* | الهاتف | नाम | ईमेल | फ़ोन | 氏名 | お名前 | 名前 | メール | 電話 | 姓名 | 名字 | 称呼 | 稱呼 | 邮箱 |
    郵箱 | 电子邮件 | 電子郵件 | 电话 | 手机号 | 手機 | 이름 | 성함 | 이메일 | 전화
""")

SEND = Wording("""
    send | submit | run | send message | submit message | ask | go | reply | senden | absenden | abschicken |
    schicken | fragen | envoyer | soumettre | enviar | manda | mandar | envia | invia | verstuur | verzenden |
    versturen | stuur | wyślij | gönder | отправить | послать | надіслати | إرسال | أرسل | ارسال | भेजें |
    भेजो | 送信 | 送る | 发送 | 發送 | 传送 | 傳送 | 提交 | 보내기 | 전송
""")

NOT_SEND = Wording("""
    attach* | upload* | add file* | add files | add photos | add image* | file | files | image | images |
    photo* | camera | screenshot | plus | tools | voice | microphone | mic | record* | dictat* | speak |
    speech | audio | listen | call | read aloud | emoji* | emoticon* | sticker* | gif | gifs | settings |
    options | preferences | menu | more | model | models | search | web search | reason | think |
    deep research | clear | reset | delete | remove | undo | redo | retry | regenerate | refresh | copy |
    edit | share | like | dislike | feedback | help | expand | collapse | minimi* | close | cancel | stop |
    new chat | new conversation | sign in | log in | login | sign up | subscribe | back | download | export |
    scroll* | history | translate | bold | italic | link | code | canvas | suggest* | example* | language |
    theme | info | about | privacy | terms | anhängen | anhang | hochladen | datei* | bild | sprach* |
    mikrofon | aufnahme | aufnehmen | einstellungen | löschen | abbrechen | schließen | mehr | joindre |
    pièce jointe | fichier* | télécharger | téléverser | micro | enregistrer | voix | dictée | paramètres |
    effacer | annuler | fermer | adjuntar | archivo* | subir | micrófono | voz | grabar | ajustes |
    configuración | borrar | limpiar | cancelar | cerrar | anexar | arquivo* | carregar | microfone | gravar |
    configurações | apagar | fechar | allega | carica | microfono | voce | impostazioni | annulla | chiudi |
    прикрепить | файл | загрузить | микрофон | голос* | запись | настройки | очистить | удалить | отмена |
    закрыть | إرفاق | ملف | تحميل | ميكروفون | صوت | إعدادات | مسح | حذف | إلغاء | إغلاق | अटैच | फ़ाइल |
    अपलोड | माइक* | आवाज़ | सेटिंग* | हटाएं | बंद करें | रद्द करें | 添付 | ファイル | 画像 | マイク | 音声 |
    録音 | 絵文字 | 設定 | クリア | 削除 | キャンセル | 閉じる | 附件 | 上传 | 上傳 | 文件 | 图片 | 麦克风 |
    麥克風 | 语音 | 語音 | 录音 | 表情 | 设置 | 清空 | 清除 | 删除 | 取消 | 关闭 | 첨부 | 파일 | 업로드 |
    이미지 | 마이크 | 음성 | 녹음 | 이모지 | 설정 | 지우기 | 삭제 | 취소 | 닫기
""")

NEW_CHAT = Wording("""
    new chat | new conversation | new thread | new topic | new session | start over | start new chat |
    start a new chat | restart | restart chat | reset chat | reset conversation | clear chat |
    clear conversation | begin again | start again | start new conversation | new message | neuer chat |
    neue unterhaltung | neues gespräch | neue konversation | chat neu starten | neu starten |
    von vorne beginnen | nouveau chat | nouvelle conversation | nouvelle discussion | recommencer |
    nuevo chat | nueva conversación | empezar de nuevo | reiniciar | novo chat | nova conversa |
    nova conversação | recomeçar | nuova chat | nuova conversazione | ricomincia | nieuwe chat |
    nieuw gesprek | nowy czat | nowa rozmowa | yeni sohbet | новый чат | новая беседа | новый диалог |
    начать заново | محادثة جديدة | دردشة جديدة | नई चैट | नया चैट | नई बातचीत | 新しいチャット | 新規チャット |
    新しい会話 | 最初から | 新对话 | 新建对话 | 新聊天 | 新建聊天 | 新對話 | 新的对话 | 新增對話 | 新会话 |
    重新开始 | 새 채팅 | 새 대화 | 새로운 채팅 | 다시 시작
""")

OPEN_CHAT = Wording("""
    open chat | chat with us | chat now | start chat | start chatting | start a chat | live chat | chat |
    chat bot | chatbot | let's chat | message us | open messenger | open messaging | open live chat |
    open chat widget | open chat window | open assistant | ask ai | ask a question | ask us | ask me anything |
    need help | get help | talk to us | talk to an expert | virtual assistant | ai assistant |
    start conversation | launch chat | messenger | start a conversation | get started | try it now | help |
    chat öffnen | chat starten | jetzt chatten | live-chat | fragen sie uns | hilfe | ouvrir le chat |
    discuter | démarrer le chat | chattez avec nous | clavarder | besoin d'aide | poser une question |
    commencer | abrir chat | abrir el chat | chatear | chatea con nosotros | iniciar chat | necesitas ayuda |
    empezar | abrir o chat | fale conosco | iniciar conversa | apri chat | apri la chat | inizia chat |
    chatta con noi | chat openen | start gesprek | otwórz czat | rozpocznij czat | sohbeti başlat | sohbet |
    открыть чат | начать чат | чат | задать вопрос | написать нам | нужна помощь | فتح الدردشة | دردشة |
    ابدأ المحادثة | تحدث معنا | चैट | चैट करें | चैट शुरू करें | मदद | チャットを開く | チャットを開始 |
    チャット | 質問する | お問い合わせ | 打开聊天 | 开始聊天 | 在线咨询 | 在线客服 | 聊天 | 開始聊天 |
    线上客服 | 联系客服 | 咨询 | 채팅 열기 | 채팅 시작 | 채팅 | 문의하기 | 상담
""")
