"""What can go wrong when Gym's source is read: one family, one clear message each.

Every message says what was looked for, where, and what to do about it, so a caller prints it as it is.
"""


class GymError(Exception):
    """Base of everything that can go wrong while Gym's source is found, read, evaluated or rewritten."""


class SourceUnavailable(GymError):  # noqa: N818 - the family's name carries "Error", the member's name the fault
    """No text to read: no such release, no network, no such path, a broken wheel, a wheel without the file."""


class SourceUnreadable(GymError):  # noqa: N818 - as above
    """There is a text, but it is not a UTF-8 Python file that this interpreter can parse."""


class SiteNotFound(GymError):  # noqa: N818 - as above
    """The file never assigns the classifier's variable."""


class UnsupportedExpression(GymError):  # noqa: N818 - as above
    """The classifier's variable is bound to something outside the whitelist."""


class HandlerNotUnderstood(GymError):  # noqa: N818 - as above
    """What Gym does with the classifier's decision could not be read."""


class EvaluationError(GymError):
    """The expression itself raises for this status and body, as it would inside Gym."""


class RewriteNotApplicable(GymError):  # noqa: N818 - as above
    """A rewrite found nothing to change in this source."""
