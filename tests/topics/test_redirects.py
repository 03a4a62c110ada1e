"""Redirects: the page within another address, by the shipped rules and by rules of one's own."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topics.errors import InputError
from topics.redirects import COLUMNS, Redirects, parse_redirects, shipped_redirects

SHIPPED = Redirects(shipped_redirects())
CODE = base64.urlsafe_b64encode("https://www.bbc.com/news/é?y=1".encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("url", "page", "domain"),
    [
        (
            "https://www.google.com/url?sa=t&q=https%3A%2F%2Fwww.example.org%2Fa%3Fb%3D1",
            "www.example.org/a?b=1",
            "example.org",
        ),
        ("https://www.google.co.uk/url?url=https://a.example.de/", "a.example.de/", "example.de"),
        (f"https://www.bing.com/ck/a?!&&p=abc&u=a1{CODE}&ntb=1", "www.bbc.com/news/%C3%A9?y=1", "bbc.com"),
        ("https://l.facebook.com/l.php?u=https%3A%2F%2Fexample.com%2F%3Ffbclid%3Dx&h=1", "example.com/", "example.com"),
        ("https://duckduckgo.com/l/?uddg=http%3A%2F%2Fexample.com%2Fx", "example.com/x", "example.com"),
        ("https://web.archive.org/web/2020id_/http://www.example.org/x?y=2", "www.example.org/x?y=2", "example.org"),
        ("https://web.archive.org/web/2020/https:/www.example.org/x", "www.example.org/x", "example.org"),
        (
            "https://www-example-com.cdn.ampproject.org/c/s/www.example.com/a.amp.html",
            "www.example.com/a.amp.html",
            "example.com",
        ),
        ("https://cdn.ampproject.org/v/s/www.example.org/a", "www.example.org/a", "example.org"),
        ("https://www.google.com/amp/s/www.example.org/amp", "www.example.org/amp", "example.org"),
        ("https://my--site-example-co-uk.translate.goog/x?_x_tr_sl=de", "my-site.example.co.uk/x", "example.co.uk"),
        (
            "https://r.search.yahoo.com/_ylt=Aw/RV=2/RU=https%3a%2f%2fwww.spiegel.de%2fa/RK=2",
            "www.spiegel.de/a",
            "spiegel.de",
        ),
        (
            "https://translate.google.com/translate?tl=en&u=https%3A%2F%2Fwww.google.de%2Furl%3Fq%3Dhttps%3A%2F%2Fx.org%2F",
            "x.org/",
            "x.org",
        ),
    ],
)
def test_the_page_is_found(url: str, page: str, domain: str) -> None:
    found = SHIPPED.page(url)
    assert found is not None
    assert (found.url, found.domain, found.hidden) == (f"https://{page}", domain, False)
    assert found.through


@pytest.mark.parametrize(
    "url",
    [
        "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AUZIYQ=",
        "https://t.co/abc",
        "https://www.google.com/url?q=https%3A%2F%2Fbit.ly%2Fx",
        "https://archive.ph/AbCd1",
        "https://www.google.com/url?q=word",
        "https://www.bing.com/ck/a?u=a1!!!!",
        "https://www.bing.com/ck/a?u=a1bm90IGEgdXJs",
        "https://www.google.com/url?q=//",
    ],
)
def test_a_page_that_cannot_be_found_is_hidden(url: str) -> None:
    found = SHIPPED.page(url)
    assert found is not None
    assert (found.hidden, found.host, found.domain) == (True, "", "")


@pytest.mark.parametrize(
    "url",
    [
        "https://www.google.com/search?q=https%3A%2F%2Fx.org",
        "https://web.archive.org/web/2020*/example",
        "https://www.baidu.com/linked?url=x",
        "https://www.google.com/url",
        "https://www.google.com/url?q=/search%3Fq%3Dx",
        "https://google.example.org/url?q=https%3A%2F%2Fx.org",
        "https://translate.goog/x",
        "http://127.0.0.1:8000/url?q=https%3A%2F%2Fx.org",
    ],
)
def test_other_addresses_are_pages_themselves(url: str) -> None:
    found = SHIPPED.page(url)
    assert found is not None
    assert (found.through, found.hidden) == ((), False)


def test_two_spellings_of_one_page_are_equal() -> None:
    ways = ("http://www.example.org/a/", "https://www.example.org/a?utm_source=chatgpt.com#top")
    assert {page.url for way in ways if (page := SHIPPED.page(way))} == {"https://www.example.org/a"}
    assert SHIPPED.page("mailto:a@example.org") is None


def test_custom_rules_come_first() -> None:
    own = parse_redirects(
        "name,host,path,way,of\nmobile,m.example.org,,as,www.example.org\nlist,t.co,/l,hidden,\n", "r"
    )
    rules = Redirects((*own, *shipped_redirects()))
    mobile, plain = rules.page("https://m.example.org/a"), SHIPPED.page("https://m.example.org/a")
    assert mobile is not None
    assert plain is not None
    assert (mobile.url, mobile.through) == ("https://www.example.org/a", ("mobile",))
    assert plain.url == "https://m.example.org/a"


def test_a_rule_that_leads_to_itself_ends() -> None:
    rules = Redirects(tuple(parse_redirects("name,host,path,way,of\nx,example.org,,as,a.example.org\n", "r")))
    found = rules.page("https://example.org/")
    assert found is not None
    assert found.host == "a.example.org"


def test_redirects_within_redirects_are_followed_or_hide_the_page() -> None:
    def wrapped(times: int) -> str:
        return "https://web.archive.org/web/2020/" * times + "https://example.org/x"

    followed, endless = SHIPPED.page(wrapped(12)), SHIPPED.page(wrapped(50))
    assert followed is not None
    assert endless is not None
    assert followed.domain == "example.org"
    assert endless.hidden  # and not a page of the archive's


def test_rules_that_form_a_loop_hide_the_page() -> None:
    text = "name,host,path,way,of\nx,a.example,,as,b.example\nx,b.example,,as,a.example\n"
    found = Redirects(tuple(parse_redirects(text, "r.csv"))).page("https://a.example/1")
    assert found is not None
    assert found.hidden


def test_a_rule_that_changes_nothing_passes_the_address_to_the_next() -> None:
    text = "name,host,path,way,of\nx,example.org,,as,www.example.org\ny,example.org,/out,query,to\n"
    found = Redirects(tuple(parse_redirects(text, "r.csv"))).page(
        "https://example.org/out?to=https%3A%2F%2Fother.example"
    )
    assert found is not None
    assert (found.domain, found.through) == ("other.example", ("x", "y"))


def test_an_unreadable_parameter_is_passed_to_rules_that_read_another() -> None:
    text = "name,host,path,way,of\nx,a.example,,query,id\ny,a.example,,query,to\n"
    rules = Redirects(tuple(parse_redirects(text, "r")))
    found, hidden = (
        rules.page("https://a.example/?id=7&to=https%3A%2F%2Fb.example"),
        rules.page("https://a.example/?id=7"),
    )
    assert found is not None
    assert hidden is not None
    assert (found.host, hidden.hidden, hidden.through) == ("b.example", True, ("x",))


def test_a_label_that_is_not_a_host_hides_the_page() -> None:
    found = SHIPPED.page("https://x.translate.goog/news")
    assert found is not None
    assert found.hidden


@given(st.text(max_size=60), st.sampled_from([one.host.replace("*", "a") for one in shipped_redirects()]))
def test_any_address_is_handled_without_an_exception(text: str, host: str) -> None:
    for url in (
        text,
        f"https://{host}/{text}",
        f"https://{host}/url?q={text}&u={text}",
        f"https://{host}/web/1/{text}",
    ):
        SHIPPED.page(url)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,host,path,way\n", "r.csv:1:1: the header has no column 'of'"),
        ("name,host,path,way,of,why\n", "r.csv:1:23: unknown column 'why'"),
        ("name,host,path,way,of\nx,a b,,hidden,\n", "r.csv:2:3: 'a b' is not a host"),
        ("name,host,path,way,of\n,a.org,,hidden,\n", "r.csv:2:1: the rule has no name"),
        ("name,host,path,way,of\nx,a.org,url,hidden,\n", "r.csv:2:9: the path 'url' does not begin with /"),
        ("name,host,path,way,of\nx,a.org,,hiden,\n", "r.csv:2:10: 'hiden' is not a way: did you mean 'hidden'?"),
        ("name,host,path,way,of\nx,a.org,,query,\n", "r.csv:2:16: `of` does not fit the way 'query'"),
        ("name,host,path,way,of\nx,a.org,,hidden,q\n", "r.csv:2:17: `of` does not fit the way 'hidden'"),
        ("name,host,path,way,of\nx,a.org,,as,a b\n", "r.csv:2:13: `of` does not fit the way 'as'"),
        ("name,host,path,way,of\nx,a.org\n", "r.csv:2:3: the row has 2 cells, but the header has 5"),
    ],
)
def test_an_unusable_rule_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        tuple(parse_redirects(text, "r.csv"))
    assert str(caught.value).startswith(message)


def test_shipped_rules_match_their_examples() -> None:
    assert len(COLUMNS) == 5
    assert all(rule.name and (rule.way != "query" or rule.of) for rule in shipped_redirects())


def test_a_page_is_recognised_even_if_the_password_in_its_address_was_redacted() -> None:
    found = SHIPPED.page("https://user:[redacted:password]@www.example.org/2")
    assert found is not None
    assert found.url == "https://www.example.org/2"
