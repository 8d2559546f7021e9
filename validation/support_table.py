"""The README's table of what was proved, from a report.

`python -m validation.support_table build/report/report.json [README.md]`

Without a second argument the table is printed; with one it replaces the text between the two markers.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from validation import wording
from validation.files import write_atomically
from validation.report.model import CheckResult, Report, load, worst

BEGIN = "<!-- support-table:begin -->"
END = "<!-- support-table:end -->"
LEGEND = (
    "Checks by how they were proved: live on this cluster, as a contract (against a double or a rendered "
    "object), assumed (not run, or not applicable here)."
)


def table(report: Report) -> str:
    """Markdown: requirement, what it is about, checks by proof, and the worst verdict.

    What was installed, what deviates from the vendor's statements and what was not real is said beneath.
    """
    lines = ["| requirement | what | live | contract | assumed | verdict |", "|---|---|---|---|---|---|"]
    for requirement in sorted({c.requirement for c in report.checks}, key=wording.order):
        mine = [c for c in report.checks if c.requirement == requirement]
        what = wording.wording().get(requirement, "")
        numbers = " | ".join(str(n) if n else "" for n in _proofs(mine))
        verdict = worst(mine).replace("na", "n/a")
        lines.append(f"| {requirement} | {what} | {numbers} | {verdict} |")
    sources = ", ".join(f"{c.name} {c.version} ({c.provenance})" for c in report.components)
    lines += ["", LEGEND, "", f"Environment `{report.environment}`, {report.started[:10]}. {sources}."]
    lines.append("GPUs: fake." if report.fake_gpus else "GPUs: real.")
    if report.deviations:
        told = "; ".join(
            f"{d['part']} {d['found']} ({d['level']}: {d['expected']})" for d in report.deviations
        )
        lines.append(f"Outside of the vendor's statements: {told}.")
    return "\n".join(lines) + "\n"


def _proofs(checks: list[CheckResult]) -> tuple[int, int, int]:
    """How many checks ran live, ran as a contract, did not run."""
    ran = [c.proof for c in checks if c.ran]
    return ran.count("live"), ran.count("contract"), len(checks) - len(ran)


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
