"""ROUGE-1/2/L with stemming: pairs a second against a plain `RougeScorer` loop, on the same pairs in the same run, on one core.

    python benchmarks/rouge_speed.py ../shared/mirror/raw.githubusercontent.com/yale-nlp/SciDQA/*/src/data_resp [--pairs 5000]

The pairs are drawn evenly from all response files (seeded), with full texts. The fast scorer starts without any stem known.
All nine floats of every pair are compared, and any difference ends the run.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

from rouge_score.rouge_scorer import RougeScorer

from vivavoce.metrics.rouge import Rouge
from vivavoce.spreadsheet import read_sheet

TYPES = ("rouge1", "rouge2", "rougeL")


def pairs_of(folder: Path, count: int) -> list[tuple[str, str]]:
    """(gold, answer) as upstream scores them, evenly from every file."""
    paths = sorted(folder.glob("*/*.xlsx"))
    if not paths:
        raise SystemExit(f"{folder}: no response files. Give the folder data_resp of SciDQA.")
    draw = random.Random(1)  # noqa: S311 - a sample, no secret
    pairs = []
    for index, path in enumerate(paths):
        sheet = read_sheet(path)
        answer = next(name for name in sheet.names if name.endswith("_ans"))
        rows = list(zip(sheet.column("ans"), sheet.column(answer), strict=True))
        share = count * (index + 1) // len(paths) - count * index // len(paths)
        pairs += [(str(gold).strip(), str(text).strip()) for gold, text in draw.sample(rows, share)]
    return pairs


def main() -> None:
    """Print both rates, their ratio, and how the fast one's time divides."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=5000)
    options = parser.parse_args()
    pairs = pairs_of(options.folder, options.pairs)

    start = time.process_time()
    fast = Rouge()
    quick = [fast.score(fast.reference(gold), fast.tokens(answer)) for gold, answer in pairs]
    cold = time.process_time() - start

    start = time.process_time()
    references = [fast.reference(gold) for gold, _ in pairs]
    kept = time.process_time() - start
    start = time.process_time()
    for reference, (_, answer) in zip(references, pairs, strict=True):
        fast.score(reference, fast.tokens(answer))
    warm = time.process_time() - start

    slow = RougeScorer(list(TYPES), use_stemmer=True)
    start = time.process_time()
    plain = [slow.score(gold, answer) for gold, answer in pairs]
    loop = time.process_time() - start

    different = sum(tuple(tuple(old[name]) for name in TYPES) != new for old, new in zip(plain, quick, strict=True))
    if different:
        raise SystemExit(f"{different} of {len(pairs)} pairs differ from rouge-score")
    count = len(pairs)
    print(f"pairs {count}, all nine floats equal")
    print(f"rouge-score loop        {count / loop:9.0f} pairs/s of CPU")
    print(f"ours, no stem known     {count / cold:9.0f} pairs/s   {loop / cold:6.1f} times")
    print(f"ours, golds kept        {count / warm:9.0f} pairs/s   {loop / warm:6.1f} times; a gold {1e6 * kept / count:.0f} us")


if __name__ == "__main__":
    main()
