"""Lines that a chat says of itself are told from what somebody says in it."""

from __future__ import annotations

import pytest

from harvest.pages.reading.asides import is_announcement
from harvest.pages.reading.turn import read_turn
from tests.support.snapshots import COMPOSER, snapshot

LINES = """
Anna joined the chat
Anna has joined the conversation.
Support agent Tom entered the chat room
Bob left the chat
You are now chatting with Anna
You're connected to Sam
You are number 3 in the queue.
Position in queue: 4
Your position in the queue is 2. Please wait.
There are 5 people ahead of you
Estimated wait time: 2 minutes
Connecting you to an agent…
Please wait while we connect you to a specialist.
An agent will be with you shortly.
All our agents are currently busy. Please hold.
Transferring you to billing...
You have been placed in the queue
Anna ist dem Chat beigetreten
Sie sind Nummer 3 in der Warteschlange
Sie werden mit einem Mitarbeiter verbunden
Einen Moment bitte. Wir verbinden Sie mit einem Berater.
Anna a rejoint la conversation
Vous êtes en position 3 dans la file d'attente
Nous vous mettons en relation avec un conseiller
Anna se ha unido al chat
Eres el número 3 en la cola
Le estamos conectando con un agente
Anna si è unita alla chat
Sei il numero 3 in coda
Ti metto in contatto con un operatore
Anna entrou no chat
Você é o número 3 na fila
Estou transferindo você para um atendente
Anna neemt deel aan het gesprek
U bent nummer 3 in de wachtrij
Anna dołączyła do czatu
Jesteś 3. w kolejce
Анна присоединилась к чату
Вы 3-й в очереди
Соединяем вас с оператором
Anna sohbete katıldı
Sırada 3. kişisiniz
Anna har anslutit till chatten
安娜加入了聊天
您前面还有3人排队
正在为您转接人工客服
アンナさんがチャットに参加しました
現在の待ち人数：3人
オペレーターにおつなぎします。少々お待ちください
안나님이 채팅에 참여했습니다
현재 대기 순번 3번
상담원에게 연결 중입니다
انضمت آنا إلى المحادثة
أنت رقم 3 في قائمة الانتظار
अन्ना चैट में शामिल हुईं
Maria K. joined the chat.
Chat agent Lea has left the conversation
You're next in line
You are now in the queue
Queue: 3/12
Please hold while I transfer you to a colleague.
Waiting for an agent to join
Looking for available agents…
Der Berater Tim hat den Chat betreten
Ihre Position in der Warteschlange: 2
Vor Ihnen sind noch 2 Personen
Voraussichtliche Wartezeit: 3 Minuten
Paul a quitté le chat
Il y a 4 personnes devant vous
Temps d'attente estimé : 3 minutes
Juan se unió a la conversación
Hay 3 personas delante de usted
Ci sono 2 persone davanti a te
Connecting...
客服小李已加入会话
您当前排队位置：5
担当者に接続しています
Оператор Иван подключился к чату
Ваша позиция в очереди: 5
Temsilciye bağlanıyorsunuz
"""
ANSWERS = """
You can join the chat on our website at nine.
Anna joined the team in 1999.
The queue at the museum is long on Sundays.
Yes.
There are 12 stations on the line to Lund.
Line 3 goes to the harbour.
We open at nine and close at six.
I connected the lamp to the wall.
Our agents are available from 9 to 17.
You can reach an agent at 0800 12345.
The film is called The Conversation.
Let me look.
One moment.
To transfer money, open the app and press Pay.
Wait 10 minutes, then stir.
In der Warteschlange stehen Sie nur kurz, wenn Sie um neun kommen.
Die Linie 3 fährt zum Hafen.
Anna left the chat because she was tired, and never came back to it again.
El tiempo de cocción es de 10 minutos.
He left the room.
Le musée compte 3 salles dans la file centrale.
The average wait is 10 minutes at noon, so come early.
队列是一种数据结构。
A queue of 3 elements has a head.
Do you want me to connect you to an agent?
待ち合わせは3時です。
대기 시간은 보통 10분입니다.
The waiting time for a passport is 6 weeks.
You are 3 stops from the centre; change at the line with number 4.
Your place is in row 12, and the queue starts at nine.
Connecting flights leave from gate 3.
Waiting lists close on 3 May.
Anna and Tom joined the conversation about climate in 2019.
Sie sind 30 Jahre alt.
El agente inmobiliario vende casas.
Le conseiller municipal est élu.
Please wait.
We will connect the pump to the main on Monday.
An agent will be paid 3 percent of the price.
Assigning you a value means x = 3.
Votre file contient 3 éléments : a, b et c.
"""


@pytest.mark.parametrize("line", LINES.strip().split("\n"))
def test_arrivals_departures_and_queues_are_announcements(line: str) -> None:
    assert is_announcement(line)


@pytest.mark.parametrize("answer", ANSWERS.strip().split("\n"))
def test_text_about_arrivals_is_not_an_announcement(answer: str) -> None:
    assert not is_announcement(answer)


def test_announcements_before_an_answer_are_left_out_of_it() -> None:
    lines = ["You are number 2 in the queue", "Anna joined the chat", "We open at nine."]
    html = [
        '<p class="user" h-born="5">When?</p>',
        *(f'<p class="bot" h-born="{at}00">{one}</p>' for at, one in enumerate(lines, 3)),
    ]
    turn = read_turn(snapshot(f'<main role="log">{"".join(html)}</main>{COMPOSER}'), "When?")
    assert (turn.text, turn.began, turn.announced) == ("We open at nine.", 0.5, False)
    assert turn.left_out == tuple(lines[:2])
    before = read_turn(snapshot(f'<main role="log">{"".join(html[:3])}</main>{COMPOSER}'), "When?")
    assert (before.text, before.announced) == ("", True)
    assert before.doubtful is not None
    assert before.doubtful.text == "\n\n".join(lines[:2])
