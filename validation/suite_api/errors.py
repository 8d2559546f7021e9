"""What can go wrong between validation and VCF Operations."""

from __future__ import annotations


class SuiteError(RuntimeError):
    """One sentence: what was asked, what was found, what was expected, what to do."""

    def __init__(self, subject: str, found: str, expected: str, advice: str) -> None:
        super().__init__(f"{subject}: found {found}; expected {expected}; {advice}")
