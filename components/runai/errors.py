"""What can go wrong between the kit and a control plane, each as one sentence a person can act on."""

from __future__ import annotations


class ApiError(Exception):
    """`subject` is the request or object, then what was found, what was expected, and what to do."""

    def __init__(self, subject: str, found: str, expected: str, advice: str) -> None:
        self.subject, self.found, self.expected, self.advice = subject, found, expected, advice
        super().__init__(f"{subject}: found {found}; expected {expected}; {advice}")

    def __reduce__(self) -> tuple[type[ApiError], tuple[str, str, str, str]]:
        """Errors cross process borders with all their parts."""
        return type(self), (self.subject, self.found, self.expected, self.advice)


class UnreachableError(ApiError):
    """No answer: name, network, or a server that is too slow."""


class UntrustedError(ApiError):
    """A certificate that the given CA does not vouch for."""


class UnauthorizedError(ApiError):
    """401 for the credentials themselves, or for a token that was just made."""


class ForbiddenError(ApiError):
    """403: known, but without the role."""


class NotFoundError(ApiError):
    """404."""


class ConflictError(ApiError):
    """409: the name is taken, or the object is in use."""


class RefusedError(ApiError):
    """400 and other 4xx: the request itself is wrong."""


class UnavailableError(ApiError):
    """429 and 5xx for longer than the client waits."""


class MalformedError(ApiError):
    """An answer of another shape than documented."""


class NotReadyError(ApiError):
    """An object that did not reach its phase in time, or ended in a bad one."""
