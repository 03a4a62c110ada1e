"""How measures are written and read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.notation import Term, parse, parse_all
from topics.errors import InputError

_NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_%-]{0,5}|%[a-z]{1,5}", fullmatch=True)
_NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
_TERMS = st.recursive(
    st.builds(Term, _NAMES),
    lambda inner: (
        st.lists(inner.filter(lambda term: term.name != "*"), min_size=2, max_size=3).map(
            lambda factors: Term("*", tuple(factors))
        )
        | st.builds(
            Term,
            _NAMES,
            st.lists(inner | _NUMBERS, max_size=3).map(tuple),
            st.dictionaries(_NAMES, inner | _NUMBERS, max_size=3).map(lambda found: tuple(found.items())),
        )
    ),
    max_leaves=8,
)


@given(_TERMS)
def test_a_written_term_is_read_as_the_same_term(term: Term) -> None:
    assert parse(str(term)) == term
    assert str(parse(str(term))) == str(term)


def test_a_turn_is_written_behind_its_measure_as_tables_print_it() -> None:
    of_a_turn = Term("%useful", (), (("turn", 2.0),))
    assert str(of_a_turn) == "%useful S2"
    assert parse("%useful S2") == parse("%useful(turn=2)") == of_a_turn
    assert parse_all("R, %useful S2, ave%useful") == (Term("R"), of_a_turn, Term("ave%useful"))
    assert parse("GF(RATINGS, by=NMD) S1").turn == 1
    assert str(parse("%useful(turn=1.5)")) == "%useful(turn=1.5)"
    with pytest.raises(InputError, match=r"measure:1:9: S0 is not a system turn in '%useful S0'\n  allowed: S1, S2"):
        parse("%useful S0")
    for wrong in ("%useful S0", "%useful S12345678901", "%useful S1 S2", "%useful T1"):
        with pytest.raises(InputError):
            parse(wrong)


@given(st.lists(_TERMS, max_size=4))
def test_a_list_is_read_as_its_terms(terms: list[Term]) -> None:
    assert parse_all(", ".join(map(str, terms))) == tuple(terms)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_with_one_clear_error(text: str) -> None:
    try:
        term = parse(text)
    except InputError:
        return
    assert parse(str(term)) == term


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("R", "R"),
        ("ave%useful", "ave%useful"),
        ("%useful", "%useful"),
        (" GF( RATINGS ,by = RNOD ) ", "GF(RATINGS, by=RNOD)"),
        ("SWAN(weights=linear(L=1250.0))", "SWAN(weights=linear(L=1250))"),
        ("CVaR(GF_cum(ORIGIN, by=JSD), beta=.25)", "CVaR(GF_cum(ORIGIN, by=JSD), beta=0.25)"),
        ("SWAN(weights=linear(L=9) * last_turn, schema=own)", "SWAN(schema=own, weights=linear(L=9)*last_turn)"),
        ("R()", "R"),
        ("f(-1e-3)", "f(-0.001)"),
        ("f(a* , b*,c *d)", "f(a*, b*, c*d)"),
        ("GF( हिन्दी ,by=NMD)", "GF(हिन्दी, by=NMD)"),
        ("WAN( 流暢さ,ไทย_1 )", "WAN(流暢さ, ไทย_1)"),
    ],
)
def test_there_is_one_way_to_write_a_measure(text: str, written: str) -> None:
    assert str(parse(text)) == written


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ("GF(RATINGS", 11, "',' or ')' is missing"),
        ("GF(by=, X)", 7, "a name or a number is missing"),
        ("GF(by=X, RATINGS)", 10, "arguments must come before parameters"),
        ("GF(by=X, by=Y)", 10, "by is given twice"),
        ("R R", 3, "',' is missing"),
        ("R + 1", 3, "'+' is not allowed"),
        ("f(1e999)", 3, "too large"),
        ("f(12abc)", 3, "'1' is not allowed"),
        ("f(a**)", 5, "a name or a number is missing"),
        ("f(a*2)", 6, "a factor must be a name, not a number"),
        ("f(" * 30 + ")" * 30, 43, "more than 20 deep"),
    ],
)
def test_an_invalid_measure_is_refused_at_its_column(text: str, column: int, what: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert what in str(caught.value)
    assert caught.value.place is not None
    assert caught.value.place.column == column


@pytest.mark.parametrize("text", ["", "  ", "R, GF"])
def test_one_measure_is_one(text: str) -> None:
    with pytest.raises(InputError, match="expected one measure, not"):
        parse(text)


def test_terms_are_equal_for_any_order_of_their_parameters() -> None:
    assert parse("f(a=1, b=2)") == parse("f(b=2, a=1)")
    assert hash(parse("f(a=1, b=2)")) == hash(parse("f(b=2, a=1)"))
