"""The NLI judge: batches, labels, and messages for what is missing; transformers is played by a stand-in."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from types import ModuleType, SimpleNamespace

import pytest

from vivavoce.errors import ConfigError
from vivavoce.grading.entailment import supports
from vivavoce.judges.nli import NLIJudge, NLIOptions, load_model, verdict_of
from vivavoce.records import JudgeRequest

SEQ2SEQ = {"weights": "somewhere", "kind": "seq2seq"}


def request(claim: str, passage: str = "P") -> JudgeRequest:
    return JudgeRequest(task="entailment", fields={"passage": passage, "claim": claim})


async def test_requests_meet_in_batches():
    sizes = []

    def infer(pairs):
        sizes.append(len(pairs))
        return ["Attributable" if claim.startswith("yes") else "Contradictory" for _, claim in pairs]

    judge = NLIJudge(None, {**SEQ2SEQ, "batch": 4}, infer=infer)
    replies = await asyncio.gather(*(judge.ask(request(f"{'yes' if n % 2 else 'no'} {n}")) for n in range(10)))
    assert sizes == [4, 4, 2]
    assert [reply.verdict for reply in replies] == ["contradicted", "supported"] * 5
    assert (await judge.ask(request("yes"))).text == "Attributable"


@pytest.mark.parametrize(
    ("text", "verdict", "as_published"),
    [("Attributable", "supported", True), (" attributable.", "supported", False), ("Extrapolatory", "unrelated", False)],
)
async def test_the_published_rule_wants_the_exact_word(text, verdict, as_published):
    reply = await NLIJudge(None, SEQ2SEQ, infer=lambda pairs: [text]).ask(request("c"))
    assert reply.verdict == verdict
    assert supports(reply, "as_published") is as_published
    assert supports(reply, "corrected") is (verdict == "supported")


async def test_an_unknown_label_is_no_verdict():
    reply = await NLIJudge(None, SEQ2SEQ, infer=lambda pairs: ["Attri"]).ask(request("c"))
    assert reply.verdict is None
    assert "none of its labels" in reply.error
    assert (supports(reply, "as_published"), supports(reply, "corrected")) == (False, None)


async def test_other_tasks_are_not_judged():
    reply = await NLIJudge(None, SEQ2SEQ, infer=lambda pairs: []).ask(JudgeRequest(task="prometheus", fields={}))
    assert "entailment only" in reply.error


async def test_a_failing_model_reaches_everyone_who_waits():
    def infer(pairs):
        raise ConfigError("no weights")

    judge = NLIJudge(None, SEQ2SEQ, infer=infer)
    results = await asyncio.gather(*(judge.ask(request(str(n))) for n in range(3)), return_exceptions=True)
    assert [str(result) for result in results] == ["no weights"] * 3


@pytest.mark.parametrize("options", [{}, {"weights": "x"}, {**SEQ2SEQ, "kind": "decoder"}, {**SEQ2SEQ, "size": 1}])
def test_wrong_options_are_named(options):
    with pytest.raises(ConfigError, match=r"conf/judge/mine\.yaml: options"):
        NLIJudge(None, options, name="mine")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigError, match=r"vivavoce\[nli\]"):
        load_model(NLIOptions(**SEQ2SEQ), "mine")


class Tokens(dict):
    def to(self, device):
        return self


def stand_in(monkeypatch, labels: dict[int, str], error: Exception | None = None) -> list[dict]:
    """A `transformers` whose models echo; returns the list of tokenizer calls."""
    calls: list[dict] = []

    class Tokenizer:
        def __call__(self, *texts, **settings):
            calls.append({"texts": texts, **settings})
            return Tokens(texts=texts)

        def batch_decode(self, written, **settings):
            return written

    class Model:
        config = SimpleNamespace(id2label=labels)

        def to(self, device):
            return self

        def eval(self):
            return self

        def generate(self, texts, **settings):
            return ["Attributable" if "Claim: good" in text else "Extrapolatory" for text in texts[0]]

        def __call__(self, texts):
            best = [0 if claim == "good" else 1 for claim in texts[1]]
            return SimpleNamespace(logits=SimpleNamespace(argmax=lambda dim: SimpleNamespace(tolist=lambda: best)))

    def loader(thing):
        def from_pretrained(weights, **settings):
            assert settings["local_files_only"] is True
            if error:
                raise error
            return thing

        return SimpleNamespace(from_pretrained=from_pretrained)

    torch, transformers = ModuleType("torch"), ModuleType("transformers")
    torch.inference_mode = contextlib.nullcontext
    transformers.AutoTokenizer = loader(Tokenizer())
    transformers.AutoModelForSeq2SeqLM = transformers.AutoModelForSequenceClassification = loader(Model())
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    return calls


def test_seq2seq_models_see_the_whole_passage(monkeypatch):
    calls = stand_in(monkeypatch, {})
    infer = load_model(NLIOptions(**SEQ2SEQ), "mine")
    assert infer([("P" * 9000, "good"), ("P", "bad")]) == ["Attributable", "Extrapolatory"]
    assert "P" * 9000 in calls[0]["texts"][0][0]
    assert "truncation" not in calls[0]


def test_classifiers_cut_the_passage_only(monkeypatch):
    calls = stand_in(monkeypatch, {0: "entailment", 1: "neutral", 2: "contradiction"})
    infer = load_model(NLIOptions(weights="x", kind="classification", length=512), "mine")
    assert infer([("P", "good"), ("P", "bad")]) == ["entailment", "neutral"]
    assert calls[0]["truncation"] == "only_first"


def test_labels_that_say_nothing_must_be_explained(monkeypatch):
    stand_in(monkeypatch, {0: "LABEL_0", 1: "LABEL_1"})
    with pytest.raises(ConfigError, match="LABEL_0, LABEL_1 mean is not known"):
        load_model(NLIOptions(weights="x", kind="classification"), "mine")
    labels = {"LABEL_0": "supported", "LABEL_1": "unrelated"}
    load_model(NLIOptions(weights="x", kind="classification", labels=labels), "mine")
    assert verdict_of("label_0", labels) == "supported"


def test_missing_weights_are_named(monkeypatch):
    stand_in(monkeypatch, {}, error=OSError("not found"))
    with pytest.raises(ConfigError, match="weights 'somewhere' cannot be loaded: not found"):
        load_model(NLIOptions(**SEQ2SEQ), "mine")
