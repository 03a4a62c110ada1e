"""URLs in replies as systems write them: where they stand, what they are called, which entity they name."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from topics.addresses import canonical_url
from topics.kinds import KINDS, UrlKind
from topics.links import Link, find_urls, links_in, url_ends

IMDB, VIDEO, PAGE = KINDS["imdb-title"], KINDS["youtube-video"], KINDS["web-page"]
MOVIE = "https://www.imdb.com/title/tt0088763/"


def hrefs(text: str, *, www: bool = False) -> list[str]:
    return [mention.href for mention in find_urls(text, www=www)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # as New Bing and Google Bard wrote them (GFRC paper, Figure 5)
        (f"Back to the Future (1985): {MOVIE}", [MOVIE]),
        ("Tenet (2020)https://www.imdb.com/title/tt10375988/", ["https://www.imdb.com/title/tt10375988/"]),
        ("Looper (2012)\nhttps://www.imdb.com/title/tt1853739/\nLooper", ["https://www.imdb.com/title/tt1853739/"]),
        # punctuation of the sentence
        *((f"See {MOVIE}{mark} Then", [MOVIE]) for mark in (".", ",", ";", ":", "!", "?", "...", "?!", "'", '"', "*")),
        *((f"({MOVIE}){mark}", [MOVIE]) for mark in ("", ".", ",", "?", "s")),
        *(
            (f"{left}{MOVIE}{right} x", [MOVIE])
            for left, right in ("()", "[]", "{}", "<>", "“”", "‘’", "«»", "「」", "（）")
        ),
        *((f"{left}{MOVIE}{right}", [MOVIE]) for left, right in ("**", "__", "``", "''", '""', "~~")),
        *((f"**{MOVIE}**{mark}", [MOVIE]) for mark in (".", "", ":")),
        (f"詳しくは{MOVIE}。次に", [MOVIE]),
        (f"{MOVIE}、{MOVIE}，{MOVIE}", [MOVIE] * 3),
        ("https://example.org/a…", ["https://example.org/a"]),
        # tables, lists, autolinks, Markdown links, HTML
        (f"| Back to the Future | {MOVIE} |", [MOVIE]),
        (f"|x|{MOVIE}|y|", [MOVIE]),
        (f"<{MOVIE}>", [MOVIE]),
        (f"[IMDb]({MOVIE})", [MOVIE]),
        (f"[{MOVIE}]({MOVIE})", [MOVIE, MOVIE]),
        (f'[IMDb]({MOVIE} "a title")', [MOVIE]),
        (f"[IMDb](<{MOVIE}>)", [MOVIE]),
        (f"[1]: {MOVIE}", [MOVIE]),
        (f'<a href="{MOVIE}">IMDb</a>', [MOVIE]),
        (f"&lt;{MOVIE}&gt; &quot;{MOVIE}&quot;", [MOVIE, MOVIE]),
        (f'{{"url": "{MOVIE}", "n": 1}}', [MOVIE]),
        (f"`{MOVIE}`", [MOVIE]),
        # brackets that belong to the URL
        ("https://en.wikipedia.org/wiki/Primer_(film)", ["https://en.wikipedia.org/wiki/Primer_(film)"]),
        ("(https://en.wikipedia.org/wiki/Primer_(film))", ["https://en.wikipedia.org/wiki/Primer_(film)"]),
        ("[P](https://en.wikipedia.org/wiki/Primer_(film)).", ["https://en.wikipedia.org/wiki/Primer_(film)"]),
        ("https://example.org/?a[]=1&a[]=2", ["https://example.org/?a[]=1&a[]=2"]),
        ("https://example.org/a(", ["https://example.org/a"]),
        # several without a space; one inside another
        ("https://a.org,https://b.org;http://c.org", ["https://a.org", "https://b.org", "http://c.org"]),
        ("https://a.org/xhttps://b.org/y", ["https://a.org/x", "https://b.org/y"]),
        ("https://web.archive.org/web/2020/https://a.org/x", ["https://web.archive.org/web/2020/https://a.org/x"]),
        ("https://a.org/?to=https://b.org/", ["https://a.org/?to=https://b.org/"]),
        # what belongs to the URL
        ("https://youtu.be/abcdefghij_ and", ["https://youtu.be/abcdefghij_"]),
        ("https://youtu.be/abcdefghij-.", ["https://youtu.be/abcdefghij-"]),
        ("_see https://example.org/a_", ["https://example.org/a"]),
        ("_so_ https://youtu.be/abcdefghij_", ["https://youtu.be/abcdefghij_"]),
        (r"https://en.wikipedia.org/wiki/Time\_travel", ["https://en.wikipedia.org/wiki/Time_travel"]),
        ("https://example.org:8080/a?b=c#d", ["https://example.org:8080/a?b=c#d"]),
        (
            "https://de.wikipedia.org/wiki/Zurück_in_die_Zukunft",
            ["https://de.wikipedia.org/wiki/Zurück_in_die_Zukunft"],
        ),
        ("https://例え.テスト/道", ["https://例え.テスト/道"]),
        ("https://a.org/%E3%81%82", ["https://a.org/%E3%81%82"]),
        ("HTTPS://WWW.IMDB.COM/title/tt0088763", ["HTTPS://WWW.IMDB.COM/title/tt0088763"]),
        ("http://192.0.2.7/x http://[2001:db8::1]/y", ["http://192.0.2.7/x", "http://[2001:db8::1]/y"]),
        # no URLs
        *(
            (text, [])
            for text in ("", "https://", "http://.", "https://...", "http://[::1", "http://a:99999/", "http:/a")
        ),
        *((text, []) for text in ("https://[URL]", "https://<your-site>/x", "ftp://a.org", "www.imdb.com", "a@b.org")),
        ("http://-a-/ http://a..b/ http://%20/ http://" + "a" * 64 + ".org/", []),
    ],
)
def test_urls_are_found_without_the_surrounding_text(text: str, found: list[str]) -> None:
    assert hrefs(text) == found
    quick = url_ends(text)
    assert quick in (None, [(mention.end, mention.href) for mention in find_urls(text)])
    assert quick is not None or "_" in text


def test_a_mention_has_the_position_of_the_url() -> None:
    text = f"See ({MOVIE}), or [a](https://example.org/x\\_y)."
    first, second = find_urls(text)
    assert text[first.start : first.end] == first.href == MOVIE
    assert text[second.start : second.end] == r"https://example.org/x\_y"
    assert second.href == "https://example.org/x_y"


def test_www_without_a_scheme_is_found_on_request() -> None:
    text = "See www.imdb.com/title/tt0088763/, (www.example.org) and me@www.example.org."
    assert hrefs(text) == []
    assert hrefs(text, www=True) == [MOVIE, "https://www.example.org"]
    assert links_in("[x](www.example.org/a)") == ()
    assert links_in("[x](www.example.org/a)", www=True) == (Link("x", "https://www.example.org/a"),)
    assert hrefs("https://www.a.org/ www.b.org", www=True) == ["https://www.a.org/", "https://www.b.org"]


@pytest.mark.parametrize(
    ("text", "links"),
    [
        (f"a [Back to the Future (1985)]({MOVIE}) b", [("Back to the Future (1985)", MOVIE)]),
        (f"a {MOVIE} b", [(MOVIE, MOVIE)]),
        (f"[{MOVIE}]({MOVIE})", [(MOVIE, MOVIE)]),
        (f"1. [One](https://a.org/1)\n2. {MOVIE}\n", [("One", "https://a.org/1"), (MOVIE, MOVIE)]),
        (f"{MOVIE} then [One](https://a.org/1)", [(MOVIE, MOVIE), ("One", "https://a.org/1")]),
        ("[P](https://en.wikipedia.org/wiki/P_(film))", [("P", "https://en.wikipedia.org/wiki/P_(film)")]),
        ('[P](https://a.org "t (x)") [Q](<https://b.org/a b>)', [("P", "https://a.org"), ("Q", "https://b.org/a b")]),
        ("[[1]](https://a.org/1)", [("[1]", "https://a.org/1")]),
        ("[see [1]](https://a.org/1)", [("see [1]", "https://a.org/1")]),
        ("[a\nb](https://a.org/1)", [("a b", "https://a.org/1")]),
        ("[](https://a.org/1)", [("https://a.org/1", "https://a.org/1")]),
        ("![poster](https://a.org/p.jpg)", []),
        (f"[![poster](https://a.org/p.jpg)]({MOVIE})", [("poster", MOVIE)]),
        ("[top](#top) [mail](mailto:a@b.org) [here](/title/tt0088763/)", []),
        (f"[{MOVIE}](#top)", [(MOVIE, MOVIE)]),
        ("[a] (https://a.org/1)", [("https://a.org/1", "https://a.org/1")]),
        ("[a](https://a.org/b c)", [("https://a.org/b", "https://a.org/b")]),
        ("[open\n\nparagraph](https://a.org/1)", [("https://a.org/1", "https://a.org/1")]),
        (r"\[a\](https://a.org/1)", [("https://a.org/1", "https://a.org/1")]),
        ("[a][1]\n\n[1]: https://a.org/1", [("https://a.org/1", "https://a.org/1")]),
        ("", []),
    ],
)
def test_links_keep_their_anchors(text: str, links: list[tuple[str, str]]) -> None:
    assert [(link.text, link.href) for link in links_in(text)] == links


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTPS://WWW.IMDB.COM/Title/TT1", "https://www.imdb.com/Title/TT1"),
        ("https://a.org", "https://a.org/"),
        ("https://a.org:443/x", "https://a.org/x"),
        ("http://a.org:80/x", "http://a.org/x"),
        ("http://a.org:0443/x", "http://a.org:443/x"),
        ("https://a.org:8080", "https://a.org:8080/"),
        ("https://a.org./x", "https://a.org/x"),
        ("https://a.org/x#part", "https://a.org/x"),
        ("https://a.org/x?", "https://a.org/x"),
        ("https://a.org/x?utm_source=b&id=3&fbclid=9&gclid=1&ref_=nv", "https://a.org/x?id=3"),
        ("https://a.org/x?ref=3&source=4&si=5", "https://a.org/x?ref=3&si=5&source=4"),
        ("https://a.org/x?b=2&a=1&b=1", "https://a.org/x?a=1&b=2&b=1"),
        ("https://a.org/x?q=a+b%20c", "https://a.org/x?q=a+b%20c"),
        ("https://a.org/%7euser/%c3%bc", "https://a.org/~user/%C3%BC"),
        ("https://a.org/ü", "https://a.org/%C3%BC"),
        ("https://a.org/100%", "https://a.org/100%25"),
        ("https://a.org/a/./b/../c", "https://a.org/a/c"),
        ("https://a.org/../..", "https://a.org/"),
        ("https://a.org/a/..", "https://a.org/"),
        ("https://a.org/a//b/", "https://a.org/a//b/"),
        ("https://BÜCHER.example/x", "https://xn--bcher-kva.example/x"),
        ("https://xn--bcher-kva.example/x", "https://xn--bcher-kva.example/x"),
        ("https://user:secret@a.org/x", "https://a.org/x"),
        ("https://a.org\\@evil.example/x", "https://a.org/@evil.example/x"),
        ("http://[2001:DB8:0::1]/", "http://[2001:db8::1]/"),
        ("  https://a.org/x\n", "https://a.org/x"),
        ("https://a.org/a\nb", "https://a.org/ab"),
        ("https://a.org/\ud800", "https://a.org/%3F"),
    ],
)
def test_one_address_has_one_spelling(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical
    assert canonical_url(canonical) == canonical


@pytest.mark.parametrize(
    "text", ["", "not a url", "http://[::1", "https://", "http://a:99999/", "javascript:x", "//a.org"]
)
def test_a_string_that_is_not_a_url_is_returned_unchanged(text: str) -> None:
    assert canonical_url(text) == text
    assert all(kind.key(text) is None for kind in KINDS.values())


@pytest.mark.parametrize(
    "url",
    [
        MOVIE,
        "https://www.imdb.com/title/tt0088763",
        "http://imdb.com/title/tt0088763/",
        "https://m.imdb.com/title/tt0088763/",
        "https://www.imdb.com/title/tt0088763/?ref_=fn_al_tt_1",
        "https://www.imdb.com/title/tt0088763/fullcredits#cast",
        "https://www.imdb.com/de/title/tt0088763/",
        "https://www.imdb.com/es-es/title/tt0088763/",
        "HTTPS://WWW.IMDB.COM/title/tt0088763",
        "https://www.imdb.com:443/title/tt0088763/",
        "https://www.imdb.com/title/tt0088763/をご覧ください",
        "https://www.imdb.com/title/tt0088763/(1985)",
    ],
)
def test_an_imdb_title_is_identified_by_its_number(url: str) -> None:
    assert IMDB.key(url) == MOVIE


@pytest.mark.parametrize(
    "url",
    [
        "https://imdb.com.evil.example/title/tt0088763/",
        "https://www.imdb.com@evil.example/title/tt0088763/",
        "https://evil.example\\@www.imdb.com/title/tt0088763/",
        "https://notimdb.com/title/tt0088763/",
        "https://www.imdb.com:8443/title/tt0088763/",
        "https://evil.example/https://www.imdb.com/title/tt0088763/",
        "https://www.imdb.com/",
        "https://www.imdb.com/name/nm0000150/",
        "https://www.imdb.com/find/?q=tt0088763",
        "https://www.imdb.com/title/",
        "https://www.imdb.com/title/tt123/",
        "https://www.imdb.com/title/tt00887631234/",
        "https://www.imdb.com/title/tt0088763x/",
        "https://www.imdb.com/title/ｔｔ0088763/",
        "https://www.imdb.com/title/tt٠٠٨٨٧٦٣/",
        "https://www.youtube.com/watch?v=abcdefghijk",
        "imdb.com/title/tt0088763/",
    ],
)
def test_nothing_else_is_an_imdb_title(url: str) -> None:
    assert IMDB.key(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://www.youtube.com/watch?v=abc_EFG-ij_",
        "https://youtube.com/watch?v=abc_EFG-ij_&t=30s",
        "https://m.youtube.com/watch?app=desktop&v=abc_EFG-ij_",
        "https://music.youtube.com/watch?v=abc_EFG-ij_&list=RD",
        "https://www.youtube.com/watch/?v=abc_EFG-ij_",
        "https://youtu.be/abc_EFG-ij_",
        "http://youtu.be/abc_EFG-ij_?si=xyz",
        "https://www.youtube.com/shorts/abc_EFG-ij_",
        "https://www.youtube.com/embed/abc_EFG-ij_?rel=0",
        "https://www.youtube.com/live/abc_EFG-ij_",
        "https://www.youtube-nocookie.com/embed/abc_EFG-ij_",
        "https://www.youtube.com/watch?v=abc_EFG-ij_をご覧",
    ],
)
def test_a_video_is_identified_by_its_id(url: str) -> None:
    assert VIDEO.key(url) == "https://www.youtube.com/watch?v=abc_EFG-ij_"


@pytest.mark.parametrize(
    "url",
    [
        "https://www.youtube.com/watch?v=short",
        "https://www.youtube.com/watch?v=abcdefghijkl",
        "https://www.youtube.com/watch?w=abcdefghijk",
        "https://www.youtube.com/abcdefghijk",
        "https://www.youtube.com/@abcdefghijk",
        "https://www.youtube.com/playlist?list=abcdefghijk",
        "https://youtu.be/",
        "https://youtu.be/watch?v=abcdefghijk",
        "https://youtube.com.evil.example/watch?v=abcdefghijk",
        "https://youtu.be.evil.example/abcdefghijk",
    ],
)
def test_nothing_else_is_a_video(url: str) -> None:
    assert VIDEO.key(url) is None


def test_a_page_is_identified_by_its_address() -> None:
    key = "https://people.example.org/a-b"
    for url in (key, f"{key}/", "http://people.example.org/a-b/#top", "https://PEOPLE.example.org/a-b?utm_source=x"):
        assert PAGE.key(url) == key
    assert PAGE.key("https://people.example.org/a-b?lang=de") == f"{key}?lang=de"
    assert PAGE.key("https://www.people.example.org/a-b") != key
    assert PAGE.key("https://people.example.org") == "https://people.example.org/"


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "127.0.0.1",
        "10.0.0.1",
        "192.168.1.1",
        "[::1]",
        "intranet",
        "printer.local",
        "x.test",
        "a.b1",
        "1.2.3",
    ],
)
def test_a_page_is_on_a_public_host(host: str) -> None:
    assert PAGE.key(f"http://{host}/x") is None


def test_public_addresses_are_pages() -> None:
    for host in ("8.8.8.8", "[2606:4700::1111]", "xn--bcher-kva.de", "例え.みんな"):
        assert PAGE.key(f"https://{host}/x")


def test_a_nonsensical_kind_is_refused() -> None:
    for hosts, path, identity in (
        ((), "/x", ""),
        (("https://a.org",), "/x", ""),
        (("A.org",), "/x", ""),
        (("a.org",), "/(x", ""),
        (("a.org",), "/x", "https://a.org/{id}"),
    ):
        with pytest.raises(ValueError, match=r"hosts must be names|not a regular expression|must contain a group"):
            UrlKind("x", hosts, path, identity=identity)


def test_a_custom_kind_is_accepted() -> None:
    kind = UrlKind(
        "paper", ("arxiv.org",), r"/(?:abs|pdf)/(?P<id>\d{4}\.\d{5}).*", identity="https://arxiv.org/abs/{id}"
    )
    assert kind.key("http://export.arxiv.org/pdf/2305.08290v2") == "https://arxiv.org/abs/2305.08290"
    assert kind.key("https://arxiv.org/list/cs.IR") is None


ALPHABET = st.sampled_from(
    ["https://", "http://", "www.", "a.org", "/", "?", "#", "(", ")", "[", "]", "](", "<", ">", "_"]
)
PIECES = st.lists(st.one_of(ALPHABET, st.text(max_size=4)), max_size=25).map("".join)


@given(PIECES)
@example("[](")
@example("http://[::1]:/]")
def test_any_text_gives_urls_that_are_in_it(text: str) -> None:
    for www in (False, True):
        mentions = find_urls(text, www=www)
        ends = 0
        for mention in mentions:
            assert ends <= mention.start < mention.end <= len(text)
            ends = mention.end
            assert canonical_url(mention.href).startswith(("http://", "https://"))
    for link in links_in(text):
        assert canonical_url(link.href).startswith(("http://", "https://"))


@given(PIECES)
@example("_see https://a.org/_. https://a.org/x_y_")
@example("http://a.org/(_)https://a.org")
def test_ends_of_urls_are_those_of_mentions_however_they_are_obtained(text: str) -> None:
    assert url_ends(text) in (None, [(mention.end, mention.href) for mention in find_urls(text)])


@given(PIECES)
def test_the_canonical_spelling_of_anything_is_its_own(text: str) -> None:
    once = canonical_url(text)
    assert canonical_url(once) == once
    for kind in KINDS.values():
        key = kind.key(text)
        if key is not None:
            assert kind.key(key) == key


@given(PIECES)
def test_a_bare_url_is_a_link_with_itself_as_its_words(text: str) -> None:
    if "[" not in text:
        assert links_in(text) == tuple(Link(mention.href, mention.href) for mention in find_urls(text))


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "http://",
            "http://-/",
            "http://a/",
            "http://a/)",
            "http://a/_",
            "https://a.org/(",
            "(",
            "[",
            "]",
            "](",
            "[](",
            "[](<",
        ),
        *(
            "[](<>",
            "[a](b ",
            "![a](",
            '[a](b "',
            "_",
            " _a",
            "\\_",
            "&lt;",
            "http://a@",
            "@",
            "www.",
            ".",
            "http://a/..",
            "%",
        ),
        *("https://a.org/x ", f"[a]({MOVIE}) ", "a", "\n", " ", "http://a/&lt;", "http://a?", "https://a.org,"),
    ],
)
def test_a_long_reply_takes_proportional_time(piece: str) -> None:
    short, long = piece * (25_000 // len(piece)), piece * (100_000 // len(piece))

    def seconds(text: str) -> float:
        begun = time.process_time()
        find_urls(text, www=True)
        links_in(text)
        return time.process_time() - begun

    # A busy machine makes one of several slower, and a time that grows with the square of the length makes all so.
    most = min(10 * min(seconds(short) for _ in range(3)) + 0.5, 10)
    assert any(seconds(long) < most for _ in range(3))


def test_a_url_of_megabytes_is_read_once() -> None:
    begun = time.process_time()
    for url in (
        "https://a.org/" + "x/../" * 100_000,
        "https://" + "a." * 1_000_000,
        "https://a.org/?" + "a=b&" * 100_000,
    ):
        canonical_url(url)
        for kind in KINDS.values():
            kind.key(url)
    assert time.process_time() - begun < 20


def test_reading_links_imports_nothing_heavy() -> None:
    code = "import sys, topics.links; print({'pydantic', 'yarl', 'w3lib', 'yaml', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
