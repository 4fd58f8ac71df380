"""BERTScore and BLEURT with the settings of SciDQA's authors, as an optional extra (`pip install 'vivavoce[neural]'`).

Source: yale-nlp/SciDQA@5749c53d `src/evals/surface_metrics.py:25-41`: BERTScore with microsoft/deberta-xlarge-mnli, one pair at
a time, no rescaling, no idf; BLEURT-20. Both are printed x 100. Two of upstream's habits are left out and are the caller's to
imitate: an exception in BLEURT counts 0, and BERTScore scores the word "nan" for an empty answer.

Nothing in the workflow uses these by default: weights come from a hub and ask for a GPU. Where a package or the weights are
missing, the constructor raises one ConfigError that says which and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from vivavoce.errors import ConfigError

BERTSCORE_MODEL = "microsoft/deberta-xlarge-mnli"
BLEURT_MODEL = "lucadiliello/BLEURT-20"  # the BLEURT-20 checkpoint in PyTorch's form


class BERTScore(NamedTuple):
    """Precision, recall and F1 of one pair, 0 to 1."""

    precision: float
    recall: float
    f1: float


class BERTScorer:
    """BERTScore by the package bert-score."""

    def __init__(self, model: str = BERTSCORE_MODEL, *, batch_size: int = 1, device: str = "cpu") -> None:
        try:
            from bert_score import BERTScorer as Scorer
        except ImportError as error:
            raise _absent("BERTScore", "bert-score", error) from None
        try:
            self._scorer: Any = Scorer(
                model_type=model, idf=False, rescale_with_baseline=False, device=device, batch_size=batch_size
            )
        except (OSError, ValueError, KeyError) as error:
            raise _no_weights("BERTScore", model, error) from None

    def score(self, golds: Sequence[str], answers: Sequence[str]) -> list[BERTScore]:
        """One score a pair, in order."""
        parts = self._scorer.score(list(answers), list(golds))
        return [BERTScore(float(p), float(r), float(f)) for p, r, f in zip(*parts, strict=True)]


class BLEURT:
    """BLEURT-20 by the package bleurt-pytorch."""

    def __init__(self, model: str = BLEURT_MODEL, *, device: str = "cpu") -> None:
        try:
            import torch
            from bleurt_pytorch import BleurtForSequenceClassification as Model
            from bleurt_pytorch import BleurtTokenizer as Tokenizer
        except ImportError as error:
            raise _absent("BLEURT", "bleurt-pytorch", error) from None
        try:
            self._model: Any = Model.from_pretrained(model).to(device).eval()
            self._tokenizer: Any = Tokenizer.from_pretrained(model)
        except (OSError, ValueError) as error:
            raise _no_weights("BLEURT", model, error) from None
        self._torch: Any = torch
        self._device = device

    def score(self, golds: Sequence[str], answers: Sequence[str]) -> list[float]:
        """One score a pair, in order; about 0 to 1, not bounded."""
        scores = []
        with self._torch.no_grad():
            for gold, answer in zip(golds, answers, strict=True):
                batch = self._tokenizer(
                    [gold], [answer], padding="longest", truncation=True, max_length=512, return_tensors="pt"
                )
                logits = self._model(**{key: value.to(self._device) for key, value in batch.items()}).logits
                scores.append(float(logits.flatten()[0]))
        return scores


def _absent(measure: str, package: str, error: ImportError) -> ConfigError:
    return ConfigError(f"{measure} needs the package {package} ({error}): install the extra: pip install 'vivavoce[neural]'.")


def _no_weights(measure: str, model: str, error: Exception) -> ConfigError:
    first = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
    return ConfigError(f"{measure}: no weights of {model} ({first}): download them once with network, or give a local folder.")
