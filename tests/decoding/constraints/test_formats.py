"""Every format's pattern is one that can be honoured, and fits what is meant by its name."""

import re

import pytest

from clearformer.decoding.constraints.formats import FORMATS
from clearformer.decoding.constraints.regex import whole_match

MEANT = {
    "date": (["2024-02-28", "1999-12-31"], ["2024-02-30", "2024-13-01", "0000-01-01", "24-1-1"]),
    "time": (["23:59:59Z", "00:00:00.5+01:30"], ["24:00:00Z", "12:00Z", "12:00:00"]),
    "date-time": (["2024-01-31T12:30:00Z"], ["2024-01-31 12:30:00Z", "2024-01-31"]),
    "email": (["ada.l@example.org"], ["ada@", "@example.org", "ada@@example.org", ".a@b.cc"]),
    "hostname": (["example.org", "a-b.example.org"], ["-a.org", "a..org"]),
    "ipv4": (["0.0.0.0", "255.249.10.1"], ["256.1.1.1", "01.1.1.1", "1.1.1"]),
    "uuid": (["123e4567-e89b-12d3-a456-426614174000"], ["123e4567e89b12d3a456426614174000"]),
    "uri": (["https://example.org/a/b.html"], ["ftp://example.org", "https://"]),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_what_its_name_says(name):
    whole_match(FORMATS[name])
    right, wrong = MEANT[name]
    assert all(re.fullmatch(FORMATS[name], one) for one in right)
    assert not any(re.fullmatch(FORMATS[name], one) for one in wrong)
