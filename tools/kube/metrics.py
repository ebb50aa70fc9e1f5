# SPDX-License-Identifier: Apache-2.0
"""What does the scheduler say of itself, at the place where it listens?"""
import math
import re
import urllib.error
import urllib.request

SERIES = re.compile(r"^(\w+(?:\{[^}]*\})?) (\S+)$", re.M)
BUCKET = re.compile(r'^(\w+)_bucket\{le="([^"]+)"\}$')


def page(place, path):
    """Its status and text, of such as 127.0.0.1:8080 and /readyz."""
    try:
        with urllib.request.urlopen(f"http://{place}{path}", timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def read(place):
    """{series: value} of its /metrics."""
    return {series: float(value) for series, value in SERIES.findall(page(place, "/metrics")[1])}


class Times:
    """Those of a histogram between two readings."""

    def __init__(self, name, before, after):
        counts = {}
        for series, count in after.items():
            bucket = BUCKET.match(series)
            if bucket and bucket[1] == name:
                counts[float(bucket[2])] = count - before.get(series, 0)
        self.buckets = sorted(counts.items())  # (seconds, how many took that long or less)
        self.count = self.buckets[-1][1]

    def quantile(self, part):
        """Seconds, as between its bucket's bounds they lay evenly; infinite past the last one."""
        wanted = part * self.count
        low = below = 0
        for most, until in self.buckets:
            if until >= wanted and until > below:
                return low + (most - low) * (wanted - below) / (until - below)
            low, below = most, until
        return math.nan
