"""A formula says by place what its letters do not: it is written so that three fifths are not 35."""

from __future__ import annotations

import pytest

from harvest.pages.reading.markdown import markdown
from harvest.pages.reading.turn import read_turn
from tests.support.snapshots import COMPOSER, element, snapshot

HALF = "<mfrac><mn>3</mn><mn>5</mn></mfrac>"
MATRIX = (
    "<mtable><mtr><mtd><mn>7</mn></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>9</mn></mtd></mtr>"
    "</mtable>"
)


@pytest.mark.parametrize(
    ("math", "text"),
    [
        (HALF, "3/5"),
        (f"<mn>2</mn>{HALF}", "2 3/5"),
        (f"{HALF}<mi>x</mi>", "3/5 x"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mrow><mn>2</mn><mi>b</mi></mrow></mfrac>", "(a+1)/(2b)"),
        (f"<mfrac>{HALF}<mi>k</mi></mfrac>", "(3/5)/k"),
        ('<mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac>', "n atop k"),
        ("<msup><mn>7</mn><mn>24</mn></msup>", "7²⁴"),
        ("<msup><mi>e</mi><mrow><mo>−</mo><mi>k</mi><mi>t</mi></mrow></msup>", "e^(−kt)"),
        ("<msup><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></msup>", "(a+b)²"),
        ("<msup><mi>f</mi><mo>′</mo></msup><msup><mn>90</mn><mo>∘</mo></msup>", "f′90°"),
        ("<msub><mi>y</mi><mn>3</mn></msub><msub><mi>v</mi><mi>max</mi></msub>", "y₃ v_max"),
        ("<msubsup><mi>y</mi><mn>2</mn><mn>3</mn></msubsup>", "y₂³"),
        ("<msqrt><mn>25</mn></msqrt><mo>=</mo><mn>5</mn>", "√25=5"),
        ("<msqrt><mi>a</mi><mo>+</mo><mi>b</mi></msqrt>", "√(a+b)"),
        ("<mn>2</mn><mroot><mn>8</mn><mn>3</mn></mroot><mroot><mi>x</mi><mn>5</mn></mroot>", "2∛8√[5]x"),
        (
            "<mover><mi>v</mi><mo>→</mo></mover><mover><mrow><mi>A</mi><mi>B</mi></mrow><mo>¯</mo></mover>",
            "v⃗overline(AB)",
        ),
        ("<munder><mi>lim</mi><mrow><mi>x</mi><mo>→</mo><mn>0</mn></mrow></munder><mi>f</mi>", "lim_(x→0) f"),
        (
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>",
            "∑_(i=1)ⁿi",
        ),
        (f"<mo>(</mo>{MATRIX}<mo>)</mo>", "(7, b; 0, 9)"),
        ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a, b)"),
        ('<mfenced open="[" close="]" separators=";"><mi>a</mi><mi>b</mi></mfenced>', "[a; b]"),
        ("<mi>x</mi><mtext> if </mtext><mi>y</mi>", "x if y"),
        ("<mi>sin</mi><mo>\u2061</mo><mi>x</mi>", "sin x"),
        ("<mn>4</mn><mo>\u2062</mo><mi>y</mi>\n <mo>=</mo>\n <mn>1</mn>", "4y=1"),
        (
            "<mmultiscripts><mi>U</mi><none/><none/><mprescripts/><mn>92</mn><mn>238</mn></mmultiscripts>",
            "₉₂²³⁸U",
        ),
        ("<semantics><mrow><mi>y</mi></mrow><annotation-xml>no</annotation-xml></semantics>", "y"),
        ("34", "34"),  # as it was written down before what is above what was kept
    ],
)
def test_a_formula_is_written_as_it_is_read_aloud(math: str, text: str) -> None:
    assert markdown(element(f"<p>So <math>{math}</math>.</p>")) == f"So {text}."


def test_a_formula_of_its_own_is_a_paragraph_and_a_whole_answer() -> None:
    body = f'<div>So<math display="block">{HALF}</math>it is.</div>'
    assert markdown(element(body)) == "So\n\n3/5\n\nit is."
    said = "How much?"
    reply = f'<div class="row" h-born="300"><math h-born="300">{HALF}</math></div>'
    log = f'<main><div class="log"><div class="row" h-born="5">{said}</div>{reply}</div>{COMPOSER}</main>'
    assert read_turn(snapshot(log), said).text == "3/5"


def test_the_hidden_mathml_of_a_drawn_formula_says_what_it_is() -> None:
    hidden = f'<mjx-assistive-mml h-hide="1"><math>{HALF}</math></mjx-assistive-mml>'
    drawn = f'<mjx-container><mjx-math aria-hidden="true"/>{hidden}</mjx-container>'
    assert markdown(element(f"<p>Take {drawn} of it.</p>")) == "Take 3/5 of it."
