"""The lab's page: choosing, measuring, turning knobs; by mouse and by keyboard."""

import re

import pytest

from studio.browsing import BROWSER, choose, settled

pytestmark = BROWSER


@pytest.fixture
def lab(page, address):
    choose(page)
    page.goto(f"{address}/#/lab")
    settled(page)
    return page


def test_an_experiment_is_chosen_measured_and_said_in_both_languages(lab):
    lab.locator('[data-key="softmax-axis"]').focus()
    lab.keyboard.press("Enter")
    lab.locator('[data-experiment="softmax-axis"]').wait_for()
    assert lab.locator('[data-key="softmax-axis"]').get_attribute("aria-pressed") == "true"
    lab.locator(".experiment button.primary").click()
    lab.locator(".experiment figure svg").first.wait_for()
    settled(lab)
    assert "holds with a condition" in lab.locator(".experiment .verdict").first.inner_text()
    lab.locator("#switch-language").click()
    lab.locator('[data-experiment="softmax-axis"] figure svg').first.wait_for()
    assert "有条件地成立" in lab.locator(".experiment .verdict").first.inner_text()
    assert "softmax 沿哪个方向" in lab.locator(".experiment h3").first.inner_text()


def test_what_takes_minutes_cannot_be_started(lab):
    lab.locator('[data-key="long-range"]').click()
    lab.locator('[data-experiment="long-range"]').wait_for()
    assert lab.locator(".experiment button.primary").is_disabled()
    assert "clearformer lab long-range" in lab.locator(".experiment").inner_text()


def test_a_knob_is_turned_with_the_keyboard_and_keeps_the_focus(lab):
    knob = lab.locator('[data-knob="softmax"]')
    before = float(re.search(r"scores ([\d.]+)", knob.locator(".readout").inner_text())[1])
    knob.locator("input[type=range]").first.focus()
    for _ in range(3):
        lab.keyboard.press("ArrowRight")
    lab.wait_for_timeout(400)
    settled(lab)
    after = float(re.search(r"scores ([\d.]+)", knob.locator(".readout").inner_text())[1])
    assert after == pytest.approx(8 * before, rel=0.2)
    assert lab.evaluate("() => document.activeElement.type") == "range"


def test_schemes_differ_in_what_they_see(lab):
    knob = lab.locator('[data-knob="distance"]')

    def apart():
        lab.wait_for_timeout(400)
        settled(lab)
        return float(re.search(r"by ([\d.e−+-]+) at most", knob.locator(".readout").inner_text())[1].replace("−", "-"))

    assert apart() > 0.1
    knob.locator("select").select_option("rotary")
    assert apart() < 1e-4


def test_the_paper_s_peak_and_a_shorter_warm_up(lab):
    knob = lab.locator('[data-knob="schedule"]')
    assert "6.9877e-4" in knob.locator(".readout").inner_text()
    knob.locator("input[type=range]").nth(1).fill("1000")
    lab.wait_for_timeout(400)
    settled(lab)
    assert "1.3975e-3" in knob.locator(".readout").inner_text()


def test_a_trained_head_grows_sharper_in_the_cold(lab):
    knob = lab.locator('[data-knob="temperature"]')

    def bits():
        lab.wait_for_timeout(400)
        settled(lab)
        return float(re.match(r"([\d.]+) bits", knob.locator(".readout").first.inner_text())[1])

    before = bits()
    knob.locator("input[type=range]").nth(1).fill("0")
    assert bits() < before
