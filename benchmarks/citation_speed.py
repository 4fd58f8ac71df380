"""Citation scoring with a constant entailer: sentences a second, against a plain unmemoised loop in the same run.

python benchmarks/citation_speed.py [--answers 200] [--repeat 3] [--data human_answers.json]

The baseline does what the published script does, one sentence and one entailment call after another, each profile on its own;
ours asks in batches, both profiles in one stream, equal pairs once. Without `--data` the answers are made up, from a seed.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from vivavoce.benchmarks.scholarqabench import read
from vivavoce.grading.long_form import grade
from vivavoce.judges.base import run_grading
from vivavoce.metrics.citations import corrected, published
from vivavoce.metrics.citations.scoring import passage_text
from vivavoce.records import JudgeReply, JudgeRequest, Passage, Question, Rollout

Entail = Callable[[str, str], bool]


class Constant:
    """Supports every claim, and counts what it is asked."""

    name = "constant"

    def __init__(self) -> None:
        self.calls = 0

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        self.calls += 1
        return JudgeReply(text="supported", verdict="supported")

    def entail(self, passage: str, claim: str) -> bool:
        self.calls += 1
        return bool(passage and claim)


def baseline(answer: str, passages: Sequence[Passage], entail: Entail) -> int:
    """Both profiles, plainly; returns the sentences scored."""
    cited = [(published.claim(text), published.ids(text)[:3]) for text in published.sentences(answer)]
    cited += [(item.claim, list(item.ids)) for item in corrected.parse(answer)]
    for claim, ids in cited:
        texts = [passage_text(passages[number]) for number in ids if number < len(passages)]
        if not texts or not entail("\n".join(texts), claim) or len(texts) == 1:
            continue
        for number, text in enumerate(texts):
            if not entail(text, claim):
                entail("\n".join(texts[:number] + texts[number + 1 :]), claim)
    return len(cited)


async def ours(pairs: Sequence[tuple[Question, Rollout]], judge: Constant) -> None:
    for question, rollout in pairs:
        await run_grading(grade(question, rollout), judge)


def made_up(count: int) -> list[tuple[str, tuple[Passage, ...]]]:
    """Answers of 30 sentences with one or two citations each, over ten passages of 150 words."""
    chance = random.Random(0)  # noqa: S311 - made-up text
    words = [
        "model",
        "data",
        "shows",
        "small",
        "effect",
        "of",
        "training",
        "the",
        "larger",
        "corpus",
        "on",
        "recall",
        "and",
        "cost",
    ]

    def text(length: int) -> str:
        return " ".join(chance.choice(words) for _ in range(length))

    answers = []
    for _ in range(count):
        passages = tuple(Passage(id=f"p{number}", title=text(6), text=text(150)) for number in range(10))
        marks = ["".join(f"[{chance.randrange(10)}]" for _ in range(chance.choice((1, 1, 2)))) for _ in range(30)]
        answers.append((" ".join(f"{text(18).capitalize()} {mark}." for mark in marks), passages))
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--data", type=Path, help="human_answers.json of ScholarQA-Multi")
    options = parser.parse_args()
    if options.data:
        known = read({"questions": options.data}, {"task": "multi"})
        answers = [(item.gold["answer"], item.contexts) for item in known][: options.answers]
    else:
        answers = made_up(options.answers)
    pairs = [
        (
            Question(id=str(number), benchmark="b", task="long_form", text="q"),
            Rollout(
                question_id=str(number), agent="a", model="m", seed=0, outcome="answered", answer=answer, contexts=passages
            ),
        )
        for number, (answer, passages) in enumerate(answers)
    ]
    published.sentences("Warm up . . . “now”.")  # loads both tokenizers
    corrected.parse("Warm up.")
    seconds: dict[str, float] = {}
    for _ in range(options.repeat):
        plain, batched = Constant(), Constant()
        begun = time.perf_counter()
        sentences = sum(baseline(answer, passages, plain.entail) for answer, passages in answers)
        seconds["baseline"] = min(seconds.get("baseline", 1e9), time.perf_counter() - begun)
        begun = time.perf_counter()
        asyncio.run(ours(pairs, batched))
        seconds["ours"] = min(seconds.get("ours", 1e9), time.perf_counter() - begun)
    print(f"{len(answers)} answers, {sentences} sentences over both profiles, best of {options.repeat}")
    for name, judge in (("baseline", plain), ("ours", batched)):
        print(f"{name:9} {sentences / seconds[name]:9.0f} sentences/s   {judge.calls:6} entailment calls")
    saved = plain.calls - batched.calls
    print(f"calls saved by the memo: {saved} ({saved / plain.calls:.0%} of those of two separate passes)")


if __name__ == "__main__":
    main()
