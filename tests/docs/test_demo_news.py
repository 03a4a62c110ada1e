"""The truth about the assistants of the worked audit. `python -m tests.docs.test_demo_news` writes its table anew."""

from tests.support.checkout import DOCS
from tests.support.newsroom_truth import truth_table

PAGE = DOCS / "demo-news.md"
BEGIN, END = "<!-- truth -->\n", "\n<!-- end of truth -->"


def page() -> str:
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN, 1)
    return f"{before}{BEGIN}{truth_table()}{END}{rest.partition(END.strip())[2]}"


def test_the_table_of_the_page_is_the_truth() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "renew it with: python -m tests.docs.test_demo_news"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
