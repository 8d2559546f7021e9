"""What a client of an OpenAI API sees, from servers that behave and servers that do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.unit.validation.openai import MODEL, Model
from tests.unit.validation.tls import HOST, Respond, say, served
from validation import pictures
from validation.https import HttpsError
from validation.inference_server import PROMPTS
from validation.ingress import Ingress
from validation.observe import chat, vllm_inference

Serve = Callable[[Respond], chat.Endpoint]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """An endpoint of a server that ends with the test."""
    with ExitStack() as open_servers:

        def start(respond: Respond) -> chat.Endpoint:
            where = open_servers.enter_context(served(respond, tmp_path))
            return chat.Endpoint(where, f"https://{HOST}", MODEL, 16, 5)

        yield start


@pytest.mark.req("V5")
def test_models_and_answers(serve: Serve) -> None:
    at = serve(Model())
    assert chat.models(at) == {"status": 200, "models": [MODEL]}
    first, second = (chat.ask(at, prompt) for prompt in PROMPTS)
    assert first.text == "Foundation? Cloud VMware is What"
    assert (first.status, first.prompt_tokens, first.completion_tokens) == (200, 5, 5)
    seen = vllm_inference.answers([first, second])
    assert (seen["statuses"], seen["empty"], seen["distinct"]) == ([200, 200], 0, 2)
    assert vllm_inference.tokens([first, second], [5, 3])["mismatches"] == []


@pytest.mark.req("V5")
def test_a_server_that_says_the_same_to_everything_or_nothing_is_seen(serve: Serve) -> None:
    at = serve(Model(answer=lambda _: "yes"))
    seen = vllm_inference.answers([chat.ask(at, prompt) for prompt in PROMPTS])
    assert seen["distinct"] == 1
    at = serve(Model(answer=lambda _: " "))
    assert vllm_inference.answers([chat.ask(at, prompt) for prompt in PROMPTS])["empty"] == 2


@pytest.mark.req("V5")
def test_wrong_counts_and_counts_of_nothing_are_seen(serve: Serve) -> None:
    at = serve(Model(count=lambda _: 7))
    seen = vllm_inference.tokens([chat.ask(at, prompt) for prompt in PROMPTS], [5, 0])
    assert [(pair["usage"], pair["tokenizer"]) for pair in seen["mismatches"]] == [(7, 5), (7, 0)]
    assert seen["compared"] == 1
    assert vllm_inference.tokens([], [5, 3])["mismatches"] == []
    assert vllm_inference.tokens([], [])["compared"] == 0


@pytest.mark.req("V5")
def test_garbage_is_told_with_what_was_said(serve: Serve) -> None:
    at = serve(lambda handler, _: say(handler, 200, b"<html>Welcome</html>", "text/html"))
    for call in (lambda: chat.models(at), lambda: chat.ask(at, "Hi")):
        with pytest.raises(HttpsError, match="Welcome"):
            call()
    at = serve(lambda handler, _: say(handler, 200, b'{"choices": []}'))
    with pytest.raises(HttpsError, match=r"no chat completion: .*choices"):
        chat.ask(at, "Hi")
    at = serve(Model(faults=[503]))
    refused = chat.ask(at, "Hi")
    assert (refused.status, refused.error, refused.text) == (503, "no healthy upstream", "")


@pytest.mark.req("V5")
def test_streams_in_pieces_with_and_without_the_marker(serve: Serve) -> None:
    whole = chat.ask(serve(Model()), PROMPTS[0]).text
    for done in (False, True):
        seen = chat.stream(serve(Model(done=done)), PROMPTS[0])
        assert (seen["text"], seen["pieces"], seen["done"], seen["finished"]) == (whole, 5, done, True)
        assert seen["arrivals"] >= 2
        assert seen["lastSeconds"] > seen["firstSeconds"]
    assert chat.stream(serve(Model(split=False)), PROMPTS[0])["pieces"] == 1
    refused = chat.stream(serve(Model(faults=[503])), PROMPTS[0])
    assert (refused["status"], refused["finished"], refused["body"]) == (503, False, "no healthy upstream")


@pytest.mark.req("V5")
def test_an_unknown_model_is_refused_by_name_or_answered(serve: Serve) -> None:
    refused = chat.unknown_model(serve(Model()), "no/such")
    assert (refused["status"], refused["namesModel"]) == (400, True)
    assert chat.unknown_model(serve(Model(checks_model=False)), "no/such")["status"] == 200


@pytest.mark.req("V5")
def test_a_burst_counts_answers_and_faults(serve: Serve) -> None:
    done = chat.load(serve(Model(faults=[503, 503])), 12, 4)
    seen = done.summary()
    assert (seen["sent"], seen["ok"]) == (12, 10)
    assert seen["errors"] == {"status 503 no healthy upstream": 2}
    assert 0 < seen["p50Seconds"] <= seen["p95Seconds"] <= seen["maxSeconds"]
    assert seen["requestsPerSecond"] > 0
    picture = pictures.latencies(done.times, seen["p50Seconds"], seen["p95Seconds"])
    assert picture.startswith("<svg")
    assert "p95" in picture
    assert "src=" not in picture
    nobody = chat.Endpoint(Ingress("127.0.0.1", 1), f"https://{HOST}", MODEL, 16, 1)
    failed = chat.load(nobody, 3, 2).summary()
    assert (failed["ok"], sum(failed["errors"].values()), failed["p95Seconds"]) == (0, 3, None)
    assert pictures.latencies([], 0, 0) == ""


@pytest.mark.req("V5")
def test_percentiles_are_values_that_occurred() -> None:
    values = [float(n) for n in range(1, 21)]
    assert chat.percentile(values, 50) == 10
    assert chat.percentile(values, 95) == 19
    assert chat.percentile([3.0], 95) == 3
    assert chat.percentile([], 50) is None
