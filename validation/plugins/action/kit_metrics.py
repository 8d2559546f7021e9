"""kit_metrics: ask Prometheus, and hold what it tells against the API, the containers and the answers."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation import ingress, pictures, provoke
from validation.actions import Json, KitAction
from validation.cluster import ClusterError
from validation.expect.monitoring import ALERT, DEPARTMENT, REQUESTS, SHARED, WAITING, WHOLE
from validation.files import write_atomically
from validation.observe import gpu_metrics, knative, monitoring, panels, scraping
from validation.observe.snapshot import Snapshot


class ActionModule(KitAction):
    """Result: found (by check id, or facts), files (paths relative to the report's folder)."""

    ARGUMENTS: ClassVar[Json] = {
        "what": {
            "type": "str",
            "required": True,
            "choices": ["start", "provoke", "values", "service", "requests", "dashboards", "alert", "calm"],
        },
        "arguments": {"type": "dict", "default": {}},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        at = Snapshot(self.cluster, self.outputs)
        look = getattr(self, f"_{arguments['what']}")
        result: Json = {"changed": False, "files": [], **look(at, arguments["arguments"])}
        return result

    def _start(self, at: Snapshot, given: Json) -> Json:
        return {"found": monitoring.start(at)}

    def _provoke(self, at: Snapshot, given: Json) -> Json:
        """A copy of the kit's own rule that does not wait as long as the original."""
        try:
            return {"changed": True, "found": {"rule": provoke.rule(at, ALERT, monitoring.TEST)}}
        except (ClusterError, ValueError) as error:
            # One check less; the others can do without an alert.
            return {"found": {"error": str(error)}}

    def _values(self, at: Snapshot, given: Json) -> Json:
        # Together: while one of them waits for Prometheus, time passes for the others, too.
        end = time.monotonic() + monitoring.seconds(at)
        queues = [DEPARTMENT, WHOLE, SHARED, WAITING]
        looks: dict[str, Callable[[float], Json]] = {
            "monitoring.queues": lambda left: monitoring.allocation(at, queues, left),
            "monitoring.gpu_pods": lambda left: gpu_metrics.gpu_pods(at, "whole", left),
            "monitoring.gpu_fields": lambda left: gpu_metrics.gpu_fields(at, left),
            "monitoring.targets": lambda left: scraping.targets(at, given["serving"], left),
            "monitoring.rules": lambda left: scraping.rules(at, left),
        }
        found = {check: look(end - time.monotonic()) for check, look in looks.items()}
        return {"found": found, "files": [self._keep("values.json", found)]}

    def _service(self, at: Snapshot, given: Json) -> Json:
        timeout = float(at.outputs.validation.timeoutSeconds)
        seen = knative.wait_ready(
            at.cluster, given["namespace"], given["service"], monitoring.TEST, timeout, self.say
        )
        return {"found": seen}

    def _requests(self, at: Snapshot, given: Json) -> Json:
        service = given["service"]
        if service["ready"] != "True":
            why = "; ".join([f"{service['reason']} {service['message']}", *service["why"]])
            error = f"{given['namespace']}/{given['name']} not ready after {service['seconds']} s: {why}"
            return {"found": {"monitoring.requests": {"error": error}}}
        where = ingress.find(at.cluster, at.outputs)
        seen = monitoring.requests(at, where, service["url"], given["namespace"], given["name"], REQUESTS)
        return {"found": {"monitoring.requests": seen}}

    def _dashboards(self, at: Snapshot, given: Json) -> Json:
        seen, asked = panels.boards(at, monitoring.seconds(at))
        return {"found": {"monitoring.dashboards": seen}, "files": [self._keep("dashboards.json", asked)]}

    def _alert(self, at: Snapshot, given: Json) -> Json:
        if "error" in given["provoked"]:
            return {"found": given["provoked"]}
        rule = given["provoked"]["rule"]
        self.say(f"waiting for alert {rule} to fire")
        return {"found": scraping.alert(at, rule, WAITING, True, provoke.timeout(at))}

    def _calm(self, at: Snapshot, given: Json) -> Json:
        if "error" in given["provoked"]:
            return {"found": {"monitoring.alert": given["provoked"]}}
        seen = scraping.alert(at, given["provoked"]["rule"], WAITING, False, monitoring.seconds(at))
        found = {"fired": given["fired"], "resolved": seen["state"] != "firing", "after": seen}
        lines = monitoring.history(at, float(given["since"]))
        picture = self._picture("queues.svg", pictures.steps(lines, "GPUs"))
        return {"found": {"monitoring.alert": found}, "files": picture}

    def _picture(self, name: str, text: str) -> list[str]:
        file = self.records.evidence(monitoring.TEST) / name
        if text:
            write_atomically(file, text)
        return [str(file.relative_to(self.records.root))] if text else []

    def _keep(self, name: str, told: object) -> str:
        file = self.records.evidence(monitoring.TEST) / name
        write_atomically(file, json.dumps(told, indent=1))
        return str(file.relative_to(self.records.root))
