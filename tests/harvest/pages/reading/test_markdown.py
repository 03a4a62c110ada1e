"""What stands in a piece of a page comes out as the Markdown that a person would have written for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from harvest.pages.reading.markdown import markdown
from tests.support.snapshots import element, snapshot
from topics.links import Link, links_in

RENDERER = MarkdownIt("commonmark", {"xhtmlOut": True, "breaks": True}).enable(["table", "strikethrough"])


def read(body: str) -> str:
    return markdown(element(f"<div>{body}</div>"), url="https://chat.test/")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        # blocks
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("<div>One</div><div>Two</div>", "One\nTwo"),
        ("<div>One</div><div><br/></div><div>Two</div>", "One\n\nTwo"),
        ("One<div>Two</div>Three", "One\nTwo\nThree"),
        ("<h1>A</h1><h6>B</h6><p>c</p>", "# A\n\n###### B\n\nc"),
        ('<div role="heading" aria-level="3">A</div>', "### A"),
        ("<p>One</p><hr/><p>Two</p>", "One\n\n---\n\nTwo"),
        ("<p>One<br/>Two<br/>\nThree</p>", "One\nTwo\nThree"),
        ("<x-reply><p>One</p><p>Two</p></x-reply>", "One\n\nTwo"),
        ("<blockquote><p>One</p><blockquote><p>Two</p></blockquote></blockquote>", "> One\n>\n> > Two"),
        ("<dl><dt>One</dt><dd>is 1</dd><dt>Two</dt><dd>is 2</dd></dl>", "One\n: is 1\n\nTwo\n: is 2"),
        ("<figure><img src='https://a.org/p.png' alt='P'/><figcaption>A</figcaption></figure>", None),
        # lists
        ("<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>", "- a\n- b\n  - c"),
        ("<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b"),
        ('<ol start="9"><li>a</li><li>b<ul><li>c</li></ul></li></ol>', "9. a\n10. b\n    - c"),
        ('<ol><li>a</li><li value="7">b</li><li>c</li></ol>', "1. a\n7. b\n8. c"),
        ('<ol reversed=""><li>a</li><li>b</li></ol>', "2. a\n1. b"),
        ("<ul><li><p>a</p><p>b</p></li><li><p>c</p></li></ul>", "- a\n\n  b\n\n- c"),
        ("<ul><li>a<pre><code>x\n  y\n</code></pre></li></ul>", "- a\n  ```\n  x\n    y\n  ```"),
        (
            '<ul><li><input type="checkbox" checked=""/> a</li><li><input type="checkbox"/> b</li></ul>',
            "- [x] a\n- [ ] b",
        ),
        ("<p>a</p><ul><li>b</li></ul><p>c</p>", "a\n\n- b\n\nc"),
        ("<ul>\n<li>\n</li>\n<li>a</li>\n</ul>", "- a"),
        # running text
        (
            "<p><strong>a</strong> <b>b</b> <em>c</em> <i>d</i> <del>e</del> <s>f</s></p>",
            "**a** **b** *c* *d* ~~e~~ ~~f~~",
        ),
        ("<p><strong>a: </strong>b</p>", "**a:** b"),
        ("<p><strong>a</strong><strong>b</strong> <b><b>c</b></b><b> </b>d</p>", "**ab** **c** d"),
        ("<p><em><strong>a</strong></em></p>", "***a***"),
        ('<p><span class="font-bold">a</span> <span class="italic">b</span></p>', "**a** *b*"),
        ("<p>a <code>b  c</code> <code>d`e</code> <code>`f</code></p>", "a `b c` ``d`e`` `` `f ``"),
        ("<p>x<sup>2</sup> H<sub>2</sub>O <kbd>Ctrl</kbd></p>", "x² H₂O Ctrl"),
        ("<p>un<span>brok</span><b></b>en\n  \t words&#160;here</p>", "unbroken words here"),
        ("<p>a<br/>&#160;&#160;&#160;b&#160;&#160;c<br/>&#160;d&#160; e</p>", "a\n   b  c\nd e"),
        ("<p>soft&#173;hyphen zero&#8203;width <wbr/>x</p>", "softhyphen zerowidth x"),
        ("<p>family 👩&#8205;👧, فارسی&#8204;زبان</p>", "family 👩\u200d👧, فارسی\u200cزبان"),
        ("<p>今日は<b>晴れ</b>です。<span>明日</span>も</p>", "今日は**晴れ**です。明日も"),
        ('<p dir="rtl">שלום <b>עולם</b> 42</p>', "שלום **עולם** 42"),
        ("<p>5 * 3 * 2 # not_a_heading 1. [x] &lt;b&gt;</p>", "5 * 3 * 2 # not_a_heading 1. [x] <b>"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢(kan)"),
        ("<p>He said <q>yes</q></p>", "He said “yes”"),
        # what is not there to be read
        ('<p>a<span h-hide="1">b</span></p><p h-hide="1">c</p>', "a"),
        ("<p>a</p><button>Copy</button><svg title='x'/><select h-value='One'/>", "a"),
        # pictures
        ('<p>a <img src="https://a.org/p.png" alt="A &amp; B"/></p>', "a ![A & B](https://a.org/p.png)"),
        ('<p>a <img src="https://a.org/p.png" alt="" h-box="0,0,24,24"/></p>', "a"),
        ('<p>a <img alt="🙂" src="https://a.org/1.svg" h-box="0,0,16,16"/></p>', "a 🙂"),
        # mathematics
        (
            '<p>So <span class="katex"><span class="katex-mathml" h-hide="1"><math>'
            '<annotation h-hide="1">a^2</annotation></math></span><span class="katex-html">a2</span></span>.</p>',
            "So $a^2$.",
        ),
        (
            '<span class="katex-display" h-show="block"><span class="katex"><math>'
            '<annotation h-hide="1">\\sum_i x_i</annotation></math><span>Σx</span></span></span>',
            "$$\\sum_i x_i$$",
        ),
    ],
)
def test_visible_text_is_written_as_markdown(body: str, text: str | None) -> None:
    assert read(body) == (text if text is not None else "![P](https://a.org/p.png)\nA")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("10<sup>3</sup> litres", "10³ litres"),
        ("<b>10</b><sup>−6</sup> m·s<sup>-1</sup>", "**10**⁻⁶ m·s⁻¹"),
        ("x<sup>n+1</sup>, 10<sup>3.5</sup>, e<sup>kt</sup>", "xⁿ⁺¹, 10^(3.5), e^kt"),
        ("SO<sub>4</sub><sup>2−</sup>, v<sub>max</sub>, x<sub>i,j</sub>", "SO₄²⁻, v_max, x_(i,j)"),
        ('10<span h-raise="super">6</span> H<span h-raise="sub">2</span>O', "10⁶ H₂O"),
        ('<a href="https://a.org/x">it</a><sup>3</sup>', "[it](https://a.org/x)³"),
        ("so.<sup>12</sup> so<sup>[4]</sup> so<sup>*</sup>", "so.¹² so[4] so*"),
        ('10<sup><a href="#n1">2</a></sup>', "10[2]"),
        ("the 21<sup>st</sup>, le XX<sup>e</sup>, M<sup>me</sup>, Acme<sup>TM</sup>", "the 21st, le XXe, Mme, Acme™"),
        ("2<sup>n</sup> <sup>1</sup>/<sub>2</sub> m<sup><b>2</b></sup>", "2ⁿ ¹/₂ m²"),
    ],
)
def test_superscripts_and_subscripts_are_not_merged_with_their_neighbours(body: str, text: str) -> None:
    assert read(f"<p>{body}</p>") == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('<a href="https://a.org/x">the page</a>', "[the page](https://a.org/x)"),
        ('<a href="https://a.org/x">https://a.org/x</a>.', "https://a.org/x."),
        ('<a href="https://a.org/">https://a.org</a>', "https://a.org"),
        ('<a href="https://a.org/%C3%BC">https://a.org/ü</a>', "https://a.org/ü"),
        ('<a href="http://www.a.org/">www.a.org</a>', "[www.a.org](http://www.a.org/)"),
        ('<a href="https://a.org/x">https://a.org/x</a>yz', "[https://a.org/x](https://a.org/x)yz"),
        ('<a href="https://a.org/x.">https://a.org/x.</a>', "[https://a.org/x.](https://a.org/x.)"),
        ('<a href="https://a.org/p_(q)">P</a>', "[P](https://a.org/p_(q))"),
        ('<a href="https://a.org/p)q">P</a>', "[P](<https://a.org/p)q>)"),
        ('<a href="https://a.org/x">a ] b</a>', r"[a \] b](https://a.org/x)"),
        ('<a href="https://a.org/x">see [1]</a>', "[see [1]](https://a.org/x)"),
        ('<a href="https://a.org/x"> the <b>page</b> </a>now', "[the **page**](https://a.org/x) now"),
        ('<a href="https://a.org/x"><div>Title</div><div>Text</div></a>', "[Title Text](https://a.org/x)"),
        ('<a href="https://a.org/1">A</a><a href="https://a.org/2">B</a>', "[A](https://a.org/1) [B](https://a.org/2)"),
        (
            '<a href="https://a.org/x"><img src="https://a.org/p.png" alt="P"/></a>',
            "[![P](https://a.org/p.png)](https://a.org/x)",
        ),
        ('<a href="https://a.org/x" aria-label="Source"><svg/></a>', "[Source](https://a.org/x)"),
        ('<a href="https://a.org/x"><svg/></a>', "https://a.org/x"),
        ('<sup><a href="https://a.org/x">1</a></sup>', "[1](https://a.org/x)"),
        ('<a href="javascript:void(0)">more</a> <a>none</a>', "more none"),
        ('<a href="mailto:a@b.org">a@b.org</a> <a href="mailto:a@b.org">us</a>', "a@b.org [us](mailto:a@b.org)"),
        ('<h2>Part<a href="https://chat.test/#part" aria-label="Link">#</a></h2>', "## Part"),
        ('<h2><a href="https://chat.test/#part">Part</a></h2>', "## Part"),
        ('a<sup><a href="#fn1">1</a></sup><p>note <a href="#ref1">↩</a></p>', "a[1]\n\nnote"),
        ('<b><a href="https://a.org/x">https://a.org/x</a></b>', "**https://a.org/x**"),
    ],
)
def test_links_keep_their_targets(body: str, text: str) -> None:
    assert read(body) == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            '<pre><code class="language-python">if x:\n    y()\n\n\tz\n</code></pre>',
            "```python\nif x:\n    y()\n\n\tz\n```",
        ),
        ("<pre><code>a ``` b\n</code></pre>", "````\na ``` b\n````"),
        ('<pre><code class="hljs rust">fn\n</code></pre>', "```rust\nfn\n```"),
        ('<div class="highlight-source-js"><pre>x = 1</pre></div><p>y</p>', "```js\nx = 1\n```\n\ny"),
        ("<pre><code><span>a</span>  <span>b</span>\n<b>c</b></code></pre>", "```\na  b\nc\n```"),
        ("<pre><code>a<br/>b&#160;&#160;c</code></pre>", "```\na\nb  c\n```"),
        (
            '<pre><code><span class="line" h-show="block">a</span>\n<span class="line" h-show="block"></span>\n'
            '<span class="line" h-show="block">  b</span></code></pre>',
            "```\na\n\n  b\n```",
        ),
        (
            '<pre><table><tbody><tr><td class="hljs-ln-numbers">1</td><td>a</td></tr>'
            '<tr><td class="hljs-ln-numbers">2</td><td>  b</td></tr></tbody></table></pre>',
            "```\na\n  b\n```",
        ),
        ('<pre><div><code class="language-c">x\n</code></div></pre>', "```c\nx\n```"),
        (
            '<div class="cm-editor"><div class="cm-gutters">1</div><div class="cm-content" role="textbox" h-edit="1" '
            'data-language="c"><div class="cm-line">a</div><div class="cm-line">\u200b</div>'
            '<div class="cm-line">  b</div></div></div>',
            "```c\na\n\n  b\n```",
        ),
        (
            '<div class="monaco-editor"><div class="line-numbers" h-box="0,0,9,9">1</div><div class="view-lines">'
            '<div class="view-line" h-box="9,20,99,19"><span>y\xa0=\xa02</span></div>'
            '<div class="view-line" h-box="9,0,99,19"><span>x</span></div></div></div>',
            "```\nx\ny = 2\n```",
        ),
        ('<div class="CodeMirror" h-value="a&#10;b&#10;"><pre class="CodeMirror-line">a</pre></div>', "```\na\nb\n```"),
        ('<p>So:</p><textarea h-edit="1" h-value="Dear Ada,&#10;&#10;  yours"/>', "So:\n\nDear Ada,\n\n  yours"),
        ('<pre><code class="nums">1\n2\n3</code><code class="language-c">a\nb\n7</code></pre>', "```c\na\nb\n7\n```"),
        (
            '<pre><code><span class="linenumber">1 </span>a\n<span class="linenumber">2 </span>b</code></pre>',
            "```\na\nb\n```",
        ),
        ("<pre><button>Copy</button><code>a</code></pre>", "```\na\n```"),
        ('<code h-show="block" h-space="pre">a\n b</code>', "```\na\n b\n```"),
    ],
)
def test_code_keeps_every_space(body: str, text: str) -> None:
    assert read(f"<p>x</p>{body}") == f"x\n\n{text}"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2 | 3</td></tr></tbody>"
            "</table>",
            "| A | B |\n| --- | --- |\n| 1 | 2 \\| 3 |",
        ),
        (
            "<table><tr><td>A</td><td>B</td></tr><tr><td>x<br/>y</td><td><ul><li>p</li><li>q</li></ul></td></tr></table>",
            "| A | B |\n| --- | --- |\n| x<br>y | - p<br>- q |",
        ),
        (
            '<table><tr><th align="right">A</th><th align="center">B</th><th>C</th></tr>'
            '<tr><td colspan="2">1</td><td rowspan="2">2</td></tr><tr><td>3</td></tr></table>',
            "| A | B | C |\n| ---: | :---: | --- |\n| 1 |  | 2 |\n| 3 |  |  |",
        ),
        ("<table><tr><td><p>One</p></td></tr><tr><td><p>Two</p></td></tr></table>", "One\n\nTwo"),
        ('<table role="presentation"><tr><td>One</td><td>Two</td></tr></table>', "One\nTwo"),
        ("<table><tr><td>One</td><td><pre><code>x</code></pre></td></tr></table>", "One\n\n```\nx\n```"),
    ],
)
def test_tables_have_rows_and_layout_tables_have_none(body: str, text: str) -> None:
    assert read(body) == text


def test_raw_markdown_is_read_verbatim() -> None:
    raw = "# Title\n\n1. *One*\n   - `two`\n\n| a | b |\n|---|---|\n\n```\n  code\n```\n\n\nhttps://a.org/x_y_z"
    assert read(f'<div h-space="pre">{raw}</div>') == raw
    assert read(f'<span h-space="pre">{raw}</span>') == raw
    assert read(f"<pre>{raw}</pre>") == raw
    assert read('<div h-space="line">a  b\n   c</div>') == "a b\nc"
    assert read('<div h-space="pre"><p h-space="normal">a\n  b</p></div>') == "a b"


def test_visually_separate_lines_are_paragraphs() -> None:
    near = '<div h-box="0,0,90,20">One</div><div h-box="0,22,90,20">Two</div>'
    apart = '<div h-box="0,0,90,20">One</div><div h-box="0,36,90,20">Two</div>'
    inside = '<div h-box="0,0,90,30"><div h-box="0,0,90,20">One</div></div><div h-box="0,30,90,20">Two</div>'
    assert [read(near), read(apart), read(inside)] == ["One\nTwo", "One\n\nTwo", "One\n\nTwo"]


def placed(tag: str, *words: tuple[str, int, int]) -> str:
    """Words in elements of ten pixels for each letter, without white space between them."""
    return "".join(f'<{tag} h-box="{x},{y},{10 * len(word)},20">{word}</{tag}>' for word, x, y in words)


def test_words_separated_only_by_layout_are_words() -> None:
    faded_in = placed("span", ("The", 0, 0), ("mill", 34, 0), ("is", 0, 24), ("old", 24, 24))
    right_to_left = placed("b", ("הטחנה", 200, 0), ("ישנה", 156, 0), ("מאוד", 200, 24))
    letters = placed("i", ("m", 0, 0), ("i", 10, 0), ("l", 20, 0), ("l", 0, 24))
    raised = placed("span", ("10", 0, 0)) + placed("sup", ("3", 24, 0))
    assert read(f"<p>{faded_in}</p>") == "The mill is old"
    assert read(f"<p>{right_to_left}</p>").replace("*", "") == "הטחנה ישנה מאוד"
    assert read(f"<p>{letters}</p>").replace("*", "") == "mill"
    assert read(f"<p>{raised}</p>") == "10³"


def test_a_table_with_a_row_for_each_line_of_code_is_code() -> None:
    numbered = "".join(
        f'<tr><td class="n">{at}</td><td><pre>{line}</pre></td></tr>' for at, line in enumerate(("if x:", "", "  y"), 1)
    )
    named = "".join(
        f'<tr><td data-number="{at}"></td><td h-space="pre">{line}</td></tr>'
        for at, line in enumerate(("a =", " b"), 1)
    )
    assert read(f"<p>So:</p><table><tbody>{numbered}</tbody></table>") == "So:\n\n```\nif x:\n\n  y\n```"
    assert read(f"<table>{named}</table><p>Then wait.</p>") == "```\na =\n b\n```\n\nThen wait."
    data = "<table><tr><td>1</td><td><code>ls</code></td></tr><tr><td>2</td><td><code>pwd</code></td></tr></table>"
    assert read(data) == "| 1 | `ls` |\n| --- | --- |\n| 2 | `pwd` |"


def test_numbers_of_a_list_may_come_from_a_style() -> None:
    assert read('<ul><li h-count="1">a</li><li h-count="1">b</li></ul>') == "1. a\n2. b"
    assert read('<ul><li h-count="1">a</li><li>b</li></ul>') == "- a\n- b"


def test_marks_of_writing_direction_alone_are_not_a_paragraph() -> None:
    assert read("<div>\u200f<p>שלום</p>\u2069</div>") == "שלום"
    assert read("<p>\u2067שלום\u2069, Ada</p>") == "\u2067שלום\u2069, Ada"


def test_a_bubble_that_is_one_pre_with_links_is_prose() -> None:
    assert read('<pre>See <a href="https://a.org/">it</a>,\n  <b>soon</b>.</pre>') == (
        "See [it](https://a.org/),\n  **soon**."
    )
    assert read('<pre>x = <span class="k">1</span></pre>') == "```\nx = 1\n```"


def test_dropped_elements_are_not_written_and_any_element_can_be_the_root() -> None:
    page = snapshot("<ul><li>a <b>x</b></li><li>b</li></ul>")
    items = [node for node in page.walk() if node.tag == "li"]
    bold = next(node for node in page.walk() if node.tag == "b")
    assert markdown(items[0]) == "a **x**"
    assert markdown(items[0], {bold}) == "a"
    assert markdown(bold) == "**x**"
    assert markdown(page.root, {*items}) == ""
    assert markdown(element('<a href="https://a.org/">x</a>')) == "[x](https://a.org/)"


def test_deep_nesting_neither_raises_nor_loses_text() -> None:
    deep = "<div>" * 250 + "end" + "</div>" * 250
    assert read(deep) == "end"
    assert "end" in read("<blockquote>" * 200 + "end" + "</blockquote>" * 200)
    assert "end" in read("<b>" * 250 + "end" + "</b>" * 250)


def test_links_of_the_text_are_those_of_the_page() -> None:
    body = (
        '<p><a href="https://a.org/1">One</a>, https://a.org/2 and <a href="https://a.org/3">https://a.org/3</a>;'
        ' <a href="https://a.org/4)x">odd [</a> <code>https://a.org/5</code></p>'
    )
    assert links_in(read(body)) == (
        Link("One", "https://a.org/1"),
        Link("https://a.org/2", "https://a.org/2"),
        Link("https://a.org/3", "https://a.org/3"),
        Link(r"odd \[", "https://a.org/4)x"),
        Link("https://a.org/5", "https://a.org/5"),
    )


def distinct(blocks: list[str]) -> list[str]:
    """No two lists or quotes in a row: Markdown would make one of them."""
    kept: list[str] = []
    for block in blocks:
        same = kept and block[0] in "-1>" and kept[-1][0] in "-1>" and block != "---" and kept[-1] != "---"
        if not same:
            kept.append(block)
    return kept


WORD = st.text(alphabet="abcdefghäß漢字שלω", min_size=1, max_size=8)
PLAIN = st.lists(WORD, min_size=1, max_size=4).map(" ".join)
URL = st.builds("https://a.org/{}".format, st.text(alphabet="abc/-_1", min_size=1, max_size=8)).filter(
    lambda url: url[-1] not in "-_/"
)
SPAN = st.one_of(
    PLAIN,
    PLAIN.map("**{}**".format),
    PLAIN.map("*{}*".format),
    PLAIN.map("***{}***".format),
    PLAIN.map("~~{}~~".format),
    PLAIN.map("`{}`".format),
    st.builds("[{}]({})".format, PLAIN, URL),
    st.builds("![{}]({})".format, PLAIN, URL),
)
LINE = st.lists(SPAN, min_size=1, max_size=4).map(" ".join)
PARAGRAPH = st.lists(LINE, min_size=1, max_size=3).map("\n".join)
CODE = st.lists(st.one_of(st.just(""), st.builds("{}{}".format, st.sampled_from(["", "  ", "\t"]), PLAIN)), max_size=4)
FENCED = st.builds(
    lambda language, lines, last: "\n".join([f"```{language}", *lines, last, "```"]),
    st.sampled_from(["", "python", "c++"]),
    CODE,
    WORD,
)


def nested(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    item = st.tuples(LINE, st.none() | children)

    def written(items: list[tuple[str, str | None]], numbered: bool) -> str:
        lines: list[str] = []
        for number, (line, inner) in enumerate(items, 1):
            sign = f"{number}. " if numbered else "- "
            lines.append(sign + line)
            lines.extend(" " * len(sign) + below for below in (inner or "").split("\n") if inner)
        return "\n".join(lines)

    return st.builds(written, st.lists(item, min_size=1, max_size=3), st.booleans())


LISTS = st.recursive(nested(st.nothing()), nested, max_leaves=4)
TABLE = st.integers(1, 3).flatmap(
    lambda columns: st.lists(
        st.lists(st.one_of(PLAIN, PLAIN.map("**{}**".format), st.just("a \\| b")), min_size=columns, max_size=columns),
        min_size=2,
        max_size=4,
    ).map(lambda rows: "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], ["---"] * columns, *rows[1:]]))
)
HEADING = st.builds("{} {}".format, st.sampled_from(["#", "##", "###"]), PLAIN)
SIMPLE = st.one_of(PARAGRAPH, HEADING, FENCED, LISTS, TABLE, st.just("---"))
QUOTE = (
    st.lists(SIMPLE, min_size=1, max_size=2)
    .map(distinct)
    .map(lambda blocks: "\n".join(f"> {line}".rstrip() for line in "\n\n".join(blocks).split("\n")))
)


@given(st.lists(st.one_of(SIMPLE, QUOTE), min_size=1, max_size=5).map(distinct))
def test_rendered_markdown_is_read_back_as_it_was_written(blocks: list[str]) -> None:
    written = "\n\n".join(blocks)
    assert read(RENDERER.render(written)) == written
    assert [link.href for link in links_in(read(RENDERER.render(written)))] == [link.href for link in links_in(written)]


LISTED = "```\nls -l\npwd\n```"


@pytest.mark.parametrize(
    "body",
    [
        '<pre h-space="pre"><code><span class="k1">1</span>ls -l\n<span class="k1">2</span>pwd</code></pre>',
        '<pre h-space="pre"><code><span><i>41.</i>ls -l</span>\n<span><i>42.</i>pwd</span></code></pre>',
        '<pre h-space="pre"><span h-show="block"><i>9 </i>ls -l</span><span h-show="block"><i>10 </i>pwd</span></pre>',
        "<pre><table><tbody><tr><td>1</td><td>ls -l</td></tr><tr><td>2</td><td>pwd</td></tr></tbody></table></pre>",
        '<pre h-space="pre"><code><span h-mute="1">$ </span>ls -l\n<span h-mute="1">$ </span>pwd</code></pre>',
        '<pre h-space="pre"><div h-show="block">7\n8</div><code>ls -l\npwd</code></pre>',
        '<pre h-space="pre"><div><div><span>1</span><br/><span>2</span></div></div><code>ls -l\npwd</code></pre>',
        "<table><tbody><tr><td><pre>1\n2</pre></td><td><div><pre>ls -l\npwd\n</pre></div></td></tr></tbody></table>",
        "<div><pre>1\n2</pre><pre><code>ls -l\npwd</code></pre></div>",
    ],
)
def test_line_numbers_and_unselectable_text_are_not_code(body: str) -> None:
    assert read(body) == LISTED


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("<span>1</span>\n<span>2</span>", "1\n2"),
        ("<span>1</span> apple\n<span>3</span> pears", "1 apple\n3 pears"),
        ('<span class="hljs-number">1</span> + x\n<span class="hljs-number">2</span> + y', "1 + x\n2 + y"),
        ("<span>1</span> apple", "1 apple"),
        ("1 apple\n2 pears", "1 apple\n2 pears"),
        ('<span h-mute="1">ls -l</span>', "ls -l"),
        ("<span>1</span> one\ntwo", "1 one\ntwo"),
    ],
)
def test_numbers_that_are_code_are_kept(body: str, code: str) -> None:
    assert read(f'<pre h-space="pre"><code>{body}</code></pre>') == f"```\n{code}\n```"


def test_a_list_of_numbers_not_next_to_code_is_kept() -> None:
    assert read("<pre>1\n2\n3</pre><p>a</p>") == "```\n1\n2\n3\n```\n\na"
