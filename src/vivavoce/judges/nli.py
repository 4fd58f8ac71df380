"""Entailment by a local NLI model through transformers (optional extra `nli`): the published verifier, or any NLI classifier.

Published: `osunlp/attrscore-flan-t5-xl`, greedy, ten new tokens, no truncation (AkariAsai/ScholarQABench@95e6fc52
`citation_correctness_eval.py` L312). The prompt here is in our own words with AttrScore's three labels, so scores
are near the published ones, not equal to them. Needs the packages of `vivavoce[nli]` and the weights.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, ValidationError

from vivavoce.config.base import Frozen
from vivavoce.errors import ConfigError
from vivavoce.models.chat import ChatModel
from vivavoce.records import JudgeReply, JudgeRequest

Infer = Callable[[Sequence[tuple[str, str]]], list[str]]  # (passage, claim) pairs -> what the model says of each
PROMPT = (
    "You check a reference for a claim. Choose one: Attributable, if the reference fully supports the claim; Contradictory, if "
    "it says the opposite; Extrapolatory, if it does not say enough to decide.\n\nClaim: {claim}\nReference: {passage}\nAnswer:"
)
VERDICTS = {
    "attributable": "supported",
    "entailment": "supported",
    "entailed": "supported",
    "supported": "supported",
    "supports": "supported",
    "contradictory": "contradicted",
    "contradiction": "contradicted",
    "contradicted": "contradicted",
    "refutes": "contradicted",
    "extrapolatory": "unrelated",
    "neutral": "unrelated",
    "not_entailment": "unrelated",
    "not entailment": "unrelated",
    "nei": "unrelated",
}


class NLIOptions(Frozen):
    """`kind`: `seq2seq` writes its label (AttrScore), `classification` chooses one of its labels.

    `labels` maps a classifier's label to supported, contradicted or unrelated where its name does not tell. `download`: whether
    weights may be fetched. `length`: tokens of a pair for classifiers (passages are cut, claims never); 0 cuts nothing.
    """

    weights: str = Field(min_length=1, description="a folder, or the name of a model of a hub")
    revision: str = "main"
    kind: Literal["seq2seq", "classification"]
    labels: dict[str, Literal["supported", "contradicted", "unrelated"]] = {}
    batch: int = Field(default=8, ge=1)
    length: int = Field(default=0, ge=0)
    device: str = "cpu"
    download: bool = False


class NLIJudge:
    """Answers `entailment` requests in batches; the model is loaded at the first one. `infer` stands in for it in tests."""

    def __init__(
        self,
        model: ChatModel | None = None,
        options: Mapping[str, Any] | None = None,
        *,
        name: str = "nli",
        versions: Mapping[str, int] | None = None,
        infer: Infer | None = None,
    ) -> None:
        try:
            self.options = NLIOptions.model_validate(dict(options or {}))
        except ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
            known = ", ".join(sorted(NLIOptions.model_fields))
            raise ConfigError(f"conf/judge/{name}.yaml: options: {faults}. Known options are {known}.") from None
        self._name = name
        self._infer = infer
        self._waiting: list[tuple[tuple[str, str], asyncio.Future[str]]] = []
        self._worker: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return self._name

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """The model's label. Other tasks than `entailment` get an error: an NLI model cannot judge them."""
        if request.task != "entailment":
            return JudgeReply(text="", error=f"the judge {self._name} decides entailment only, not {request.task}")
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting.append(((request.fields["passage"], request.fields["claim"]), future))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        text = await future
        verdict = verdict_of(text, self.options.labels)
        error = "" if verdict else f"the model said {text[:60]!r}, which is none of its labels"
        return JudgeReply(text=text, verdict=verdict, error=error)

    async def _work(self) -> None:
        """Run what is waiting, a batch at a time, in a thread; a failure reaches all that wait for it."""
        await asyncio.sleep(0)  # let the requests of one grader's batch come together
        while self._waiting:
            batch, self._waiting = self._waiting[: self.options.batch], self._waiting[self.options.batch :]
            try:
                if self._infer is None:
                    self._infer = await asyncio.to_thread(load_model, self.options, self._name)
                said = await asyncio.to_thread(self._infer, [pair for pair, _ in batch])
            except Exception as error:  # handed on to each waiting request
                for _, future in batch:
                    future.set_exception(error)
                continue
            for (_, future), text in zip(batch, said, strict=True):
                future.set_result(text)


def verdict_of(text: str, labels: Mapping[str, str]) -> str | None:
    """The verdict that a label stands for: blanks, case and a closing stop do not matter; None for any other text."""
    bare = text.strip().strip(".").lower()
    return {key.lower(): value for key, value in labels.items()}.get(bare) or VERDICTS.get(bare)


def load_model(options: NLIOptions, name: str) -> Infer:
    """Load tokenizer and weights. ConfigError says which package, file or label is missing."""
    where = f"conf/judge/{name}.yaml"
    try:
        import torch
        import transformers
    except ImportError as error:
        raise ConfigError(f"{where}: {error}. This judge needs more packages: pip install 'vivavoce[nli]'.") from None
    kind = "AutoModelForSeq2SeqLM" if options.kind == "seq2seq" else "AutoModelForSequenceClassification"
    settings = {"revision": options.revision, "local_files_only": not options.download}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(options.weights, **settings)
        model = getattr(transformers, kind).from_pretrained(options.weights, **settings).to(options.device).eval()
    except (OSError, ValueError) as error:
        hint = "set download: true to fetch them, or give a folder as weights"
        raise ConfigError(
            f"{where}: the weights {options.weights!r} cannot be loaded: {error}. To have them, {hint}."
        ) from None
    if options.kind == "seq2seq":
        return lambda pairs: _written(torch, tokenizer, model, options, pairs)
    names = {int(number): str(label) for number, label in model.config.id2label.items()}
    unknown = sorted(label for label in names.values() if verdict_of(label, options.labels) is None)
    if unknown or not any(verdict_of(label, options.labels) == "supported" for label in names.values()):
        raise ConfigError(
            f"{where}: what the labels {', '.join(names.values())} mean is not known. Say it in options.labels, such as "
            f"{{{next(iter(unknown), 'LABEL_0')}: supported}}."
        )
    return lambda pairs: _chosen(torch, tokenizer, model, names, options, pairs)


def _written(torch: Any, tokenizer: Any, model: Any, options: NLIOptions, pairs: Sequence[tuple[str, str]]) -> list[str]:
    prompts = [PROMPT.format(passage=passage, claim=claim) for passage, claim in pairs]
    with torch.inference_mode():
        tokens = tokenizer(prompts, return_tensors="pt", padding=True).to(options.device)
        written = model.generate(**tokens, max_new_tokens=10, do_sample=False)
    return [str(text) for text in tokenizer.batch_decode(written, skip_special_tokens=True)]


def _chosen(
    torch: Any, tokenizer: Any, model: Any, names: Mapping[int, str], options: NLIOptions, pairs: Sequence[tuple[str, str]]
) -> list[str]:
    passages, claims = [passage for passage, _ in pairs], [claim for _, claim in pairs]
    cut = {"truncation": "only_first", "max_length": options.length} if options.length else {}
    with torch.inference_mode():
        tokens = tokenizer(passages, claims, return_tensors="pt", padding=True, **cut).to(options.device)
        best = model(**tokens).logits.argmax(dim=-1).tolist()
    return [names[int(number)] for number in best]
