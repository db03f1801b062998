"""The data of all pages."""

from dlperf.report.data.contents import KINDS, PUBLISHED, is_published
from dlperf.report.data.grouping import distinct, grouped, point
from dlperf.report.data.site import SiteData
from dlperf.report.data.titles import FAMILIES

__all__ = ["FAMILIES", "KINDS", "PUBLISHED", "SiteData", "distinct", "grouped", "is_published", "point"]
