"""``site/withdrawn.yaml``: claims that a site made and no longer makes."""

from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from dlperf.catalog.entry import Model
from dlperf.measured.findings.program_faults import FOUND
from dlperf.messages import Message, message
from dlperf.report.site.lists.reading import Text


def _known(code: str) -> str:
    if code not in FOUND:
        raise ValueError(f"no fault of a program that dlperf knows; known are {', '.join(sorted(FOUND))}")
    return code


class Withdrawn(Model):
    """One claim, as it was made."""

    campaign: Text
    ahead: Text
    """Id of the configuration that was called ahead."""
    behind: Text
    lead: Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9] %$")]
    fault: Annotated[str, AfterValidator(_known)]
    """Code of the fault of a program for which it was withdrawn."""

    @property
    def date(self) -> str:
        """When it was withdrawn."""
        return FOUND[self.fault]

    @property
    def reason(self) -> Message:
        return message(self.fault)
