"""kit_inference: look at the inference service, and talk to it through the ingress as its users do."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation import ingress, pictures, redact
from validation.actions import Json, KitAction
from validation.files import write_atomically
from validation.inference_server import Plan, plan
from validation.observe import vllm_inference
from validation.observe.snapshot import Snapshot


class ActionModule(KitAction):
    """Result: found (by check id); seconds by check id; files (paths relative to the report's folder)."""

    ARGUMENTS: ClassVar[Json] = {
        "what": {
            "type": "str",
            "required": True,
            "choices": ["ready", "scheduled", "api", "load", "scale_to_zero", "cold_start"],
        },
        "project": {"type": "str", "required": True},
        "url": {"type": "str", "default": ""},
        "before": {"type": "dict", "default": {}},
        "answer": {"type": "str", "default": ""},
        "timeout": {"type": "float", "default": 60.0},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        at = Snapshot(self.cluster, self.outputs)
        made = plan(self.outputs, arguments["project"])
        look = getattr(self, f"_{arguments['what']}")
        result: Json = {"changed": False, "seconds": {}, "files": [], **look(at, made, arguments)}
        return result

    def _ready(self, at: Snapshot, made: Plan, given: Json) -> Json:
        seen = vllm_inference.ready(at, made, self.say)
        check = "vllm_inference.ready"
        return {"found": {check: seen}, "seconds": {check: seen["seconds"]}, "url": seen["url"]}

    def _scheduled(self, at: Snapshot, made: Plan, given: Json) -> Json:
        return {"found": {"vllm_inference.scheduled": vllm_inference.scheduled(at, made, given["before"])}}

    def _api(self, at: Snapshot, made: Plan, given: Json) -> Json:
        where = ingress.find(at.cluster, at.outputs)
        found, transcript = vllm_inference.api(at, where, given["url"], made)
        answers = transcript["answers"]
        return {
            "found": found,
            "answer": answers[0]["text"] if answers else "",
            "files": [self._keep("answers.json", redact.document(json.dumps(transcript, indent=1)))],
        }

    def _load(self, at: Snapshot, made: Plan, given: Json) -> Json:
        where = ingress.find(at.cluster, at.outputs)
        seen, done = vllm_inference.load(at, where, given["url"])
        if done is None or not done.times:
            return {"found": {"vllm_inference.load": seen}}
        picture = pictures.latencies(done.times, seen["p50Seconds"], seen["p95Seconds"])
        return {
            "found": {"vllm_inference.load": seen},
            "files": [
                self._keep("latencies.svg", picture),
                self._keep("latencies.json", json.dumps(done.times)),
            ],
        }

    def _scale_to_zero(self, at: Snapshot, made: Plan, given: Json) -> Json:
        check = "vllm_inference.scale_to_zero"
        seen = vllm_inference.scale_to_zero(at, made, given["before"], given["timeout"], self.say)
        return {"found": {check: seen}, "seconds": {check: seen["seconds"]}}

    def _cold_start(self, at: Snapshot, made: Plan, given: Json) -> Json:
        where = ingress.find(at.cluster, at.outputs)
        check = "vllm_inference.cold_start"
        seen = vllm_inference.cold_start(at, where, given["url"], given["answer"])
        return {"found": {check: seen}, "seconds": {check: seen.get("seconds", 0.0)}}

    def _keep(self, name: str, text: str) -> str:
        file = self.records.evidence(vllm_inference.TEST) / name
        write_atomically(file, text)
        return str(file.relative_to(self.records.root))
