"""Names of time zones, as people write them."""

import os
import subprocess
import sys
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.zones import similar_zone, zone_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Asia/Shanghai", "Asia/Shanghai"),
        (" asia/shanghai ", "Asia/Shanghai"),
        ("AMERICA/NEW YORK", "America/New_York"),
        ("utc", "UTC"),
        ("Shanghai", None),
        ("", None),
        ("localtime", None),
        ("Europe", None),
        ("../../etc/passwd", None),
        ("/etc/localtime", None),
        ("\0", None),
    ],
)
def test_a_zone_gets_its_proper_name_or_none(text: str, name: str | None) -> None:
    assert zone_name(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Shanghai", "Asia/Shanghai"),
        ("new york", "America/New_York"),
        ("Asia/Shangai", "Asia/Shanghai"),
        ("Europe/Berln", "Europe/Berlin"),
        ("qqqqqqq", None),
        ("", None),
    ],
)
def test_a_misspelt_zone_is_guessed_by_its_city_or_name(text: str, name: str | None) -> None:
    assert similar_zone(text) == name


@given(st.text())
def test_what_is_given_back_can_always_be_opened(text: str) -> None:
    for found in (zone_name(text), similar_zone(text)):
        if found is not None:
            assert ZoneInfo(found).key == found


@pytest.mark.parametrize(
    ("setting", "allowed"),
    [
        ("Asia/Tokyo", {"Asia/Tokyo"}),
        ("No/Such_Zone", None),
        (":broken", None),
    ],
)
def test_the_zone_of_the_host_is_one_that_exists(setting: str, allowed: set[str] | None) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from core.zones import host_zone; print(host_zone())"],
        env={**os.environ, "TZ": setting, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    said = done.stdout.strip()
    assert said in (allowed or {zone_name(said)})
