"""What SciDQA's questions and golds are like, beside what the paper says (Table 1).

Words are counted as by `nltk.word_tokenize` (sentences by Punkt, then NLTK's tokenizer); the rule for a short answer, at most
five words without the leading "A:", is a guess that fits the paper's share on the older golds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vivavoce.config.table import Column, Published
from vivavoce.files import read_records
from vivavoce.grading.scidqa_texts import published_gold, without_lead
from vivavoce.metrics.citations.sentences import nltk_sentences
from vivavoce.records import Question
from vivavoce.tables.listing import Heading, Listing, Material, Value
from vivavoce.tables.published import published_rows

SHORT = 5  # words
LABELS = ("size (QA pairs)", "avg question length (words)", "avg answer length (words)", "% short answers")


def table(material: Material) -> Listing:
    """One line a statistic: the paper's, by the released file, by the older golds that the response files embed."""
    from nltk.tokenize.destructive import NLTKWordTokenizer

    tokenizer = NLTKWordTokenizer()

    def words(text: str) -> int:
        return sum(len(tokenizer.tokenize(sentence)) for sentence in nltk_sentences(text))

    headings = [Heading("statistic"), Heading("paper", 2), Heading("released golds", 2), Heading("older golds", 2)]
    if not material.runs:
        return Listing(material.title, headings, [], material.notes)
    questions = list(read_records(material.runs[0].questions, Question))
    size = len(questions)
    asked = sum(words(question.text) for question in questions) / size
    released = [size, asked, *_lengths([str(question.gold["released"]) for question in questions], words)]
    # The older questions are not kept: 13 differ.
    embedded = [size, None, *_lengths([published_gold(question) for question in questions], words)]
    columns = [Column(label=label, published={"metric": label}) for label in LABELS]
    block = Published(file="scidqa", where={"table": "Table 1"}, row=["model"], source="")
    ((_, paper),) = published_rows(block, columns)
    rows: list[Sequence[Value]] = [
        [label, *(int(v) if v and label == LABELS[0] else v for v in values)]
        for label, *values in zip(LABELS, paper, released, embedded, strict=True)
    ]
    return Listing(material.title, headings, rows, material.notes)


def _lengths(golds: Sequence[str], words: Callable[[str], int]) -> tuple[float, float]:
    """Words of a gold on average, its "A:" counted, and the share of short ones in percent."""
    short = sum(words(without_lead(gold.strip())) <= SHORT for gold in golds)
    return sum(map(words, golds)) / len(golds), 100 * short / len(golds)
