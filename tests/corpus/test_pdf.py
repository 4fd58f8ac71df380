"""A PDF's text comes in reading order, and its parts are told apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vivavoce.corpus.parse import Parsing, Unreadable, cut, parse_pdf

Make = Callable[..., Path]


def test_two_columns_are_read_one_after_the_other(tmp_path: Path, make_pdf: Make, draw_paper: Any) -> None:
    parsed = parse_pdf(make_pdf(tmp_path / "x.pdf", draw_paper("On Columns", "reading")), Parsing())
    text = parsed.pages[0]["page_content"]
    order = [
        text.index(word) for word in ("On Columns", "left0", "left59", "intro0", "intro119", "right0", "right109", "Ann Other")
    ]
    assert order == sorted(order)


def test_columns_that_the_file_interleaves_are_still_read_in_order(tmp_path: Path, make_pdf: Make) -> None:
    """Line by line across the page, as word processors write it."""

    def draw(page: Any) -> None:
        for row in range(30):
            page.text(60, 100 + 13 * row, f"left column line {row} with some more words")
            page.text(320, 100 + 13 * row, f"right column line {row} with some more words")

    text = parse_pdf(make_pdf(tmp_path / "x.pdf", draw), Parsing()).pages[0]["page_content"]
    assert text.index("left column line 29") < text.index("right column line 0")


def test_one_column_is_not_split(tmp_path: Path, make_pdf: Make) -> None:
    def draw(page: Any) -> None:
        page.block(60, 100, 480, " ".join(f"word{number}" for number in range(400)))

    text = parse_pdf(make_pdf(tmp_path / "x.pdf", draw), Parsing()).pages[0]["page_content"]
    assert text.split() == [f"word{number}" for number in range(400)]


def test_sections_table_and_references(tmp_path: Path, make_pdf: Make, draw_paper: Any) -> None:
    parsed = parse_pdf(make_pdf(tmp_path / "x.pdf", draw_paper("On Parts", "parts")), Parsing())
    assert parsed.title == "On Parts"
    assert parsed.abstract.startswith("We study parts. left0")
    assert [row["section_title"] for row in parsed.rows["sections"]] == [
        "Abstract",
        "1 Introduction",
        "2 Results",
        "References",
    ]
    (table,) = parsed.rows["tables"]
    assert table["table_caption"] == "Table 1: Scores of two systems."
    assert table["table_content"] == (
        "<table><tr><th>System</th><th>Score</th></tr><tr><td>Alpha</td><td>0.91</td></tr><tr><td>Beta</td><td>0.87</td></tr></table>"
    )
    x, y, width, height = table["bounding_box"]
    assert (x, width) == (pytest.approx(320, abs=2), pytest.approx(220, abs=4))
    assert (y, height) == (pytest.approx(340, abs=2), pytest.approx(48, abs=4))
    assert [row["reference_content"][:13] for row in parsed.rows["reference"]] == ["[1] Ann Other", "[2] Ben Nobod"]


def test_a_table_with_a_grid_keeps_cells_of_two_lines(tmp_path: Path, make_pdf: Make) -> None:
    def draw(page: Any) -> None:
        page.text(60, 90, "Some words before the table that are long enough to count as text of a page.")
        page.text(60, 120, "Table 2: A grid.")
        for y in (130, 150, 190):
            page.rule(60, y, 300)
        for x in (60, 160, 300):
            page.wall(x, 130, 190)
        for x, y, text in (
            (65, 145, "Name"),
            (165, 145, "Meaning"),
            (65, 165, "Alpha"),
            (165, 165, "the first"),
            (165, 180, "letter"),
        ):
            page.text(x, y, text)

    (table,) = parse_pdf(make_pdf(tmp_path / "x.pdf", draw), Parsing()).rows["tables"]
    assert "<tr><th>Name</th><th>Meaning</th></tr><tr><td>Alpha</td><td>the first letter</td></tr>" in table["table_content"]


def test_numbered_equations_and_fractions(tmp_path: Path, make_pdf: Make) -> None:
    def draw(page: Any) -> None:
        page.block(60, 80, 480, "The rate follows from the law, which says " + "and so on " * 20)
        page.text(200, 150, "v = d t + c")
        page.text(500, 150, "(1)")
        page.text(180, 200, "k =")
        page.text(212, 193, "a + b")
        page.rule(208, 197, 240)
        page.text(220, 207, "c")
        page.text(500, 200, "(2)")
        page.block(60, 230, 480, "as shown before (3) and elsewhere; see also the text around (4).")

    found = parse_pdf(make_pdf(tmp_path / "x.pdf", draw), Parsing()).rows["equations"]
    assert [row["equation_content"] for row in found] == ["v = d t + c (1)", "k = (a + b)/(c) (2)"]


def test_a_figure_has_the_box_of_its_picture(tmp_path: Path, make_pdf: Make) -> None:
    from PIL import Image

    Image.new("RGB", (40, 30), "navy").save(tmp_path / "x.png")

    def draw(page: Any) -> None:
        page.block(60, 60, 480, "Words above the figure. " * 10)
        page.canvas.drawImage(str(tmp_path / "x.png"), 100, 842 - 350, width=200, height=150)
        page.text(100, 370, "Figure 1: A navy picture.")

    (figure,) = parse_pdf(make_pdf(tmp_path / "x.pdf", draw), Parsing()).rows["images"]
    assert figure["image_caption"] == "Figure 1: A navy picture."
    assert figure["bounding_box"] == pytest.approx([100, 200, 200, 150], abs=2)


def test_running_feet_and_page_numbers_are_left_out(tmp_path: Path, make_pdf: Make) -> None:
    def page_of(number: int) -> Callable[[Any], None]:
        def draw(page: Any) -> None:
            page.block(60, 100, 480, f"Page body {number}. " + "Words go on. " * 20)
            page.text(200, 815, f"Journal of Things, page {number}")
            page.text(300, 830, str(number))

        return draw

    parsed = parse_pdf(make_pdf(tmp_path / "x.pdf", page_of(1), page_of(2), page_of(3)), Parsing())
    assert all("Journal" not in page["page_content"] and "Page body" in page["page_content"] for page in parsed.pages)


def test_a_table_of_contents_is_no_heading(tmp_path: Path, make_pdf: Make) -> None:
    def draw(page: Any) -> None:
        page.text(60, 80, "1 Introduction . . . . . . . . . . . . 1", "Times-Bold", 12)
        page.text(60, 120, "1 Introduction", "Times-Bold", 12)
        page.block(60, 130, 480, "Words of the introduction. " * 20)

    sections = parse_pdf(make_pdf(tmp_path / "x.pdf", draw), Parsing()).rows["sections"]
    assert [row["section_title"] for row in sections] == ["1 Introduction"]


def test_unreadable_pdfs_say_why(tmp_path: Path, make_pdf: Make) -> None:
    from PIL import Image
    from reportlab.lib.pdfencrypt import StandardEncryption

    Image.new("RGB", (40, 30), "gray").save(tmp_path / "x.png")
    (tmp_path / "none.pdf").write_bytes(b"")
    (tmp_path / "corrupt.pdf").write_bytes(b"%PDF-1.7\nthis is not a PDF")
    make_pdf(tmp_path / "blank.pdf", lambda page: None)
    make_pdf(tmp_path / "scan.pdf", lambda page: page.canvas.drawImage(str(tmp_path / "x.png"), 0, 0, 595, 842))
    lock = StandardEncryption("secret", ownerPassword="owner", canPrint=0)
    make_pdf(tmp_path / "locked.pdf", lambda page: page.text(50, 50, "secret text " * 10), encrypt=lock)
    expected = {"none": "empty", "corrupt": "corrupt", "blank": "empty", "scan": "scanned", "locked": "encrypted"}
    for name, reason in expected.items():
        with pytest.raises(Unreadable, match=reason):
            parse_pdf(tmp_path / f"{name}.pdf", Parsing())


def test_strings_are_cut_at_the_published_length() -> None:
    assert cut("x" * 16000, 16000) == "x" * 16000
    assert cut("x" * 16001, 16000) == "x" * 16000 + " ..."
