"""The README's table of what was proved, from a report.

`python -m validation.support_table build/report/report.json [README.md]`

Without a second argument the table is printed; with one it replaces the text between the two markers.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from validation.records import write_atomically
from validation.report.model import CheckResult, Report, load

BEGIN = "<!-- support-table:begin -->"
END = "<!-- support-table:end -->"
# What a requirement is about, in the words of a reader of the README.
WHAT = {
    "V1": "Preflight: versions, rights, GPUs, Pod Security, DNS, storage, queues, webhooks",
    "V2": "Two trainings of half a GPU share one device",
    "V3": "Over-quota: a queue borrows up to its limit and no further",
    "V4": "Reclaim: borrowed GPUs come back, nothing else is evicted",
    "V11": "Clean-up after each test, verified",
}


def table(report: Report) -> str:
    """Markdown: requirement, what it is about, how it was proved, checks, and the worst verdict.

    What was installed, and that GPUs were fake, is said beneath.
    """
    lines = ["| requirement | what | proof | checks | verdict |", "|---|---|---|---|---|"]
    for requirement in sorted({c.requirement for c in report.checks}, key=_order):
        mine = [c for c in report.checks if c.requirement == requirement]
        what = WHAT.get(requirement, "")
        lines.append(f"| {requirement} | {what} | {_proof(mine)} | {len(mine)} | {_worst(mine)} |")
    sources = ", ".join(f"{c.name} {c.version} ({c.provenance})" for c in report.components)
    lines += ["", f"Environment `{report.environment}`, {report.started[:10]}. {sources}."]
    if report.fake_gpus:
        lines.append("GPUs: fake.")
    return "\n".join(lines) + "\n"


def _order(requirement: str) -> tuple[str, int]:
    return requirement[:1], int(requirement[1:] or 0)


def _proof(checks: list[CheckResult]) -> str:
    """live or contract for what ran; assumed when nothing did."""
    ran = {c.proof for c in checks if c.verdict in ("pass", "fail")}
    return ", ".join(sorted(ran, reverse=True)) or "assumed"


def _worst(checks: list[CheckResult]) -> str:
    verdicts = {c.verdict for c in checks}
    for verdict, word in (("fail", "fail"), ("skip", "skip"), ("pass", "pass")):
        if verdict in verdicts:
            return word
    return "n/a"


def put(readme: str, text: str) -> str:
    """The README with the table between its markers; ValueError without them."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the README needs the markers {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{text}{END}{after}"


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) not in (1, 2):
        print("usage: python -m validation.support_table <report.json> [README.md]", file=sys.stderr)
        return 1
    text = table(load(json.loads(Path(given[0]).read_text())))
    if len(given) == 1:
        print(text, end="")
    else:
        readme = Path(given[1])
        write_atomically(readme, put(readme.read_text(), text))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
