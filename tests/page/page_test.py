#!/usr/bin/env python3
"""The page of `poolproof simulate` in a real browser, filled with made-up data.

page_test.py [UNITTEST ARGS]   test the template
page_test.py --page FILE       only look at a finished page: it loads, has data, and draws

Needs Debian's chromium, chromium-driver and python3-selenium; ends with 77 where they are missing.
"""

import json
import os
import shutil
import sys
import tempfile
import time
import unittest

import fixtures
import render

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:
    webdriver = None

SKIPPED = 77
DEBIAN_PYTHON = "/usr/bin/python3"
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
KEYS = {"ArrowLeft": 37, "ArrowRight": 39, "+": 187, "-": 189, "0": 48}
SHIFT = 8

# The colours on the canvas of a chart, with how many pixels have each; what is see-through counts as one.
COLOURS = """
  const canvas = document.querySelectorAll('canvas')[arguments[0]], found = new Map();
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 0) {
    const key = data[i + 3] < 255 ? -1 : data[i] << 16 | data[i + 1] << 8 | data[i + 2];
    found.set(key, (found.get(key) ?? 0) + 1);
  }
  const name = (key) => key < 0 ? 'see-through' : '#' + key.toString(16).padStart(6, '0');
  return Object.fromEntries([...found].map(([key, count]) => [name(key), count]));
"""
# Every visible text with its colour and the first solid colour behind it.
TEXTS = """
  const solid = (node) => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
    return 'none';
  };
  return [...document.querySelectorAll('body *')].filter((node) => node.checkVisibility() &&
    node.tagName !== 'NOSCRIPT' && [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
    .map((node) => [node.textContent.trim().slice(0, 30), getComputedStyle(node).color, solid(node)]);
"""


def missing():
    """What is missing, in words, or None."""
    if webdriver is None:
        return f"{sys.executable} has no selenium (Debian: python3-selenium)"
    names = [name for name, path in (("chromium", CHROMIUM), ("chromium-driver", DRIVER)) if path is None]
    return f"no {' and no '.join(names)}" if names else None


class Browser:
    """Chromium without a window, its mouse and keys, and what it complained about."""

    def __init__(self):
        options = Options()
        options.binary_location = CHROMIUM
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.js = self.driver.execute_script

    def cdp(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def load(self, path, theme="light", width=1400, height=1100):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.set_theme(theme)
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.driver.get("file://" + os.path.abspath(path))

    def set_theme(self, theme):
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]

    def each(self, selector, expression):
        """What a JavaScript expression over `e` gives for each element that the selector finds."""
        return self.js(f"return [...document.querySelectorAll(arguments[0])].map((e) => {expression})", selector)

    def variable(self, name):
        """A colour of the page."""
        return self.js(f"return getComputedStyle(document.documentElement).getPropertyValue('--{name}')").strip()

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0]).innerText", selector)

    def hook(self, name):
        return self.js("return document.documentElement.dataset[arguments[0]]", name)

    def mouse(self, kind, x, y, **more):
        self.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, key, modifiers=0):
        code = KEYS[key]
        self.cdp("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, modifiers=modifiers)
        self.cdp("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code, modifiers=modifiers)

    def drawn(self):
        """Waits until what was asked for is drawn."""
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")


def setUpModule():
    """One browser for all tests: starting it takes longer than most of them."""
    why = missing()
    if why:
        raise unittest.SkipTest(why)
    PageTest.browser = Browser()
    unittest.addModuleCleanup(PageTest.browser.driver.quit)
    PageTest.folder = tempfile.mkdtemp(prefix="page_test")
    unittest.addModuleCleanup(shutil.rmtree, PageTest.folder)


class PageTest(unittest.TestCase):
    def load_text(self, text, **how):
        path = os.path.join(self.folder, "page.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.browser.load(path, **how)

    def load(self, data, **how):
        self.load_text(render.fill(render.template(), render.as_json(data)), **how)
        self.assertEqual(self.browser.hook("state"), "ready", self.browser.text("body"))
        return data

    def range(self):
        return tuple(map(float, self.browser.hook("range").split()))

    def until_range(self, holds, what):
        """The range once it holds, as input reaches the page when it likes."""
        deadline = time.monotonic() + 3
        while not holds(*self.range()):
            self.assertLess(time.monotonic(), deadline, f"{what}: the range stays {self.range()}")
        return self.range()

    def x_of(self, moment):
        """Where a time is on the screen."""
        left, right = map(float, self.browser.hook("plot").split())
        lo, hi = self.range()
        return self.box("#charts")[0] + left + (moment - lo) / (hi - lo) * (right - left)

    def box(self, selector):
        script = "const b = document.querySelector(arguments[0]).getBoundingClientRect();"
        return self.browser.js(script + "return [b.x, b.y, b.width, b.height]", selector)

    def hover(self, moment, y=None):
        self.browser.mouse("mouseMoved", self.x_of(moment), y or self.box("#charts")[1] + 90)
        self.browser.drawn()

    def assert_quiet(self):
        """Not a word on the console, and nothing was fetched but the page itself."""
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual([url for url in self.browser.requests() if not url.startswith("file:///")], [])

    def assert_drawn(self):
        count = self.browser.js("return document.querySelectorAll('canvas').length")
        self.assertGreaterEqual(count, 2)
        for index in range(1, count):
            self.assertGreater(sum(self.browser.js(COLOURS, index).values()), 1000, f"chart {index} is blank")


class Template(unittest.TestCase):
    def test_has_one_place_for_the_data_and_reaches_for_nothing(self):
        text = render.template()
        self.assertEqual(text.count(f'<script type="application/json" id="data">{render.PLACEHOLDER}</script>'), 1)
        self.assertEqual(text.count(render.PLACEHOLDER), 1)
        self.assertIn("default-src 'none'", text)
        for word in (" src=", "<link", "@import", "url(", "innerHTML", "fetch("):
            self.assertNotIn(word, text)


class Loads(PageTest):
    def test_all_kinds_of_data_draw_without_a_complaint(self):
        for name, made in fixtures.ALL.items():
            with self.subTest(name):
                data = self.load(made())
                self.assertEqual(len(self.browser.requests()), 1)
                self.assert_quiet()
                self.assert_drawn()
                self.hover(data["time_us"][-1])
                self.assertIn("running", self.browser.text("#tooltip"))
                self.assert_quiet()

    def test_fits_narrow_and_wide_windows(self):
        for width in (1000, 2000):
            self.load(fixtures.hour(50), width=width)
            self.assertLessEqual(self.browser.js("return document.documentElement.scrollWidth"), width)
            self.assertGreater(self.box("canvas")[2], width - 70)

    def test_prints_light_and_goes_back(self):
        self.load(fixtures.hour(200), theme="dark")
        self.browser.js("onbeforeprint = () => { window.printed = document.documentElement.dataset.theme; }")
        pdf = self.browser.cdp("Page.printToPDF", printBackground=True)["data"]
        self.assertGreater(len(pdf), 10_000)
        self.assertEqual(self.browser.js("return window.printed"), "light")
        self.assertEqual(self.browser.hook("theme"), "dark")


class Words(PageTest):
    def test_header_totals_and_legend(self):
        data = self.load(fixtures.hour(200))
        self.assertEqual(self.browser.text("h1"), "AzureLLMInferenceTrace_conv.csv on host")
        for part in ("seed 1", "0:06:00 of simulated time", "poolproof 0.1.0"):
            self.assertIn(part, self.browser.text("#facts"))
        self.assertEqual(self.browser.text("#pool"), data["pool"])
        self.assertIn("no violation", self.browser.text("#verdict"))
        rows = self.browser.each("#totals div", "[...e.children].map((cell) => cell.innerText)")
        self.assertEqual(rows, data["totals"])
        legend = self.browser.each(".term", "[e.childNodes[1].data, e.lastChild.textContent]")
        self.assertEqual([kind for kind, _tip in legend], ["free", "staged", "deferred", "tombstone", "lent"])
        self.assertEqual(dict(legend)["staged"], "Staged: returned, waiting to be merged.")
        titles = self.browser.each("h2", "e.innerText")
        self.assertEqual(titles, ["full pool", "SWA pool", "request slots", "requests"])

    def test_the_tip_of_a_kind_shows_on_focus(self):
        self.load(fixtures.hour(20))
        shown = "return getComputedStyle(document.querySelector('#tip-lent')).visibility"
        self.assertEqual(self.browser.js(shown), "hidden")
        self.browser.js("document.querySelector('#tip-lent').parentElement.focus()")
        self.assertEqual(self.browser.js(shown), "visible")

    def test_kinds_that_are_not_known_are_left_out(self):
        self.load(fixtures.null_kinds())
        self.assertEqual(self.browser.text("#kinds").split(), ["free", "lent"])
        self.hover(0)
        self.assertNotIn("staged", self.browser.text("#tooltip"))

    def test_a_violation(self):
        data = self.load(fixtures.violation())
        panel = self.browser.text("#verdict")
        for part in ("CONSERVATION violated", "the allocator", data["verdict"]["what"], "843,112", "0:41:58.612"):
            self.assertIn(part, panel)
        self.assertNotIn("no violation", panel)
        self.browser.js("document.querySelector('#verdict button').click()")
        lo, hi = self.until_range(lambda lo, hi: lo > 0, "Show it")
        self.assertTrue(lo < data["verdict"]["time_us"] <= hi)
        self.hover(data["verdict"]["time_us"])
        self.assertIn("CONSERVATION at op 843,112", self.browser.text("#tooltip"))
        self.assertRegex(self.browser.text("#tooltip"), r"over the size\s+4,096")

    def test_hostile_words_are_only_words(self):
        self.load(fixtures.hostile())
        self.assertIn(fixtures.HOSTILE, self.browser.text("h1"))
        self.assertIn("<!--<script>" + fixtures.HOSTILE, self.browser.text("#verdict"))
        for selector in ("#facts", "#pool", "#totals dt", "#totals dd", "h2", ".keys"):
            self.assertIn(fixtures.HOSTILE, self.browser.text(selector))
        self.hover(0)
        self.assertIn(fixtures.HOSTILE, self.browser.text("#tooltip"))
        self.assertEqual(self.browser.js("return document.querySelectorAll('img, b b, script').length"), 2)
        self.assertIsNone(self.browser.hook("owned"))
        self.assert_quiet()


class Broken(PageTest):
    def expect(self, text, word):
        self.load_text(text)
        self.assertEqual(self.browser.hook("state"), "failed")
        self.assertIn(word, self.browser.text("#message"))
        self.assertFalse(self.browser.js("return document.querySelector('#content').checkVisibility()"))
        self.assert_quiet()

    def test_pages_without_good_data_say_so(self):
        template, good = render.template(), fixtures.hour(20)
        self.expect(template, "never filled in")
        self.expect(render.fill(template, ""), "not whole JSON")
        whole = render.fill(template, render.as_json(good))
        self.expect(whole[: whole.rindex('"running"')], "not whole JSON")
        for change, word in (
            ({"schema": 2}, "schema 2"),
            ({"time_us": [], "running": [], "waiting": []}, "not one sample"),
            ({"waiting": [1]}, "waiting has 1 values for 20 samples"),
            ({"running": ["x"] * 20}, "not a number"),
            ({"time_us": list(range(20, 0, -1))}, "backwards"),
            ({"marks": [{"kind": "other", "time_us": 1, "text": ""}]}, "unknown kind other"),
            ({"pools": None}, "no list of pools"),
        ):
            with self.subTest(word):
                self.expect(render.fill(template, render.as_json({**good, **change})), word)


class Hover(PageTest):
    def test_shows_the_numbers_of_the_nearest_sample(self):
        data = self.load(fixtures.hour())
        for index in (0, 777, 1999):
            self.hover(data["time_us"][index])
            index = int(self.browser.hook("sample"))  # a pixel is wider than a sample here
            rows = [row.split() for row in self.browser.text("#tooltip").splitlines()]
            words = {row[0]: row[1:] for row in rows if row}
            for kind in fixtures.KINDS:
                expected = []
                for pool in data["pools"]:
                    if pool[kind] is not None:
                        expected += [f"{pool[kind][index]:,}", self.share(pool[kind][index], pool["size"])]
                self.assertEqual(words[kind], expected)
            self.assertEqual(words["running"], [str(data["running"][index]), "waiting", str(data["waiting"][index])])
            self.assertIn(f"sample {index + 1:,} of 2,000", self.browser.text("#tooltip"))

    def share(self, value, size):
        text = f"{100 * value / size + 1e-9:.1f}%"
        return "<0.1%" if text == "0.0%" and value else text

    def test_takes_the_nearest_and_names_the_marks_nearby(self):
        data = fixtures.no_marks()
        data["marks"] = [{"kind": "retraction", "time_us": 36_500_000, "text": "r12 retracted at 1,204 tokens"}]
        self.load(data)
        self.hover(36_500_000)
        self.assertEqual(self.browser.hook("sample"), "20")  # at 36.0 s; the next is at 37.8 s
        self.assertIn("0:00:36.500 r12 retracted at 1,204 tokens", self.browser.text("#tooltip"))
        self.hover(37_100_000)
        self.assertEqual(self.browser.hook("sample"), "21")
        for x in self.browser.each(".cross", "e.getBoundingClientRect().x"):
            self.assertAlmostEqual(x, self.x_of(37_800_000), delta=1)
        self.browser.mouse("mouseMoved", 5, 5)
        self.browser.drawn()
        self.assertFalse(self.browser.js("return document.querySelector('#tooltip').checkVisibility()"))

    def test_the_keyboard_steps_through_the_samples(self):
        self.load(fixtures.hour(200))
        self.browser.key("ArrowRight", SHIFT)
        first = int(self.browser.hook("sample"))
        self.browser.key("ArrowRight", SHIFT)
        self.assertEqual(int(self.browser.hook("sample")), first + 1)


class Zoom(PageTest):
    def setUp(self):
        self.load(fixtures.hour(1000))
        self.whole = self.range()
        self.assertEqual(self.whole, (0, 1_800_000_000))
        self.y = self.box("#charts")[1] + 90

    def is_whole(self, lo, hi):
        return (lo, hi) == self.whole

    def is_part(self, lo, hi):
        return (lo, hi) != self.whole

    def test_wheel_keeps_the_time_under_the_pointer(self):
        moment = 600_000_000
        x = self.x_of(moment)
        self.browser.mouse("mouseWheel", x, self.y, deltaX=0, deltaY=-400)
        lo, hi = self.until_range(self.is_part, "wheel")
        self.assertLess(hi - lo, 1_000_000_000)
        self.assertAlmostEqual(self.x_of(moment), x, delta=1)
        self.browser.mouse("mouseWheel", x, self.y, deltaX=120, deltaY=0)
        self.until_range(lambda now, _hi: now > lo, "sideways wheel")
        for _ in range(3):
            self.browser.mouse("mouseWheel", x, self.y, deltaX=0, deltaY=400)
        self.until_range(self.is_whole, "wheel back")

    def test_drag_takes_the_range_and_double_click_resets(self):
        lo, hi = 450_000_000, 900_000_000
        start, end = self.x_of(lo), self.x_of(hi)
        self.browser.mouse("mousePressed", end, self.y, button="left", clickCount=1)
        self.browser.mouse("mouseMoved", start, self.y, button="left", buttons=1)
        self.assertAlmostEqual(self.box("#charts .band")[2], end - start, delta=1)
        self.browser.mouse("mouseReleased", start, self.y, button="left", clickCount=1)
        seen = self.until_range(self.is_part, "drag")
        for value, expected in zip(seen, (lo, hi)):
            self.assertAlmostEqual(value, expected, delta=2_000_000)
        self.browser.drawn()
        self.assertEqual(self.browser.text("#range"), "0:07:30 – 0:15:00")
        for count in (1, 2):
            self.browser.mouse("mousePressed", start, self.y, button="left", clickCount=count)
            self.browser.mouse("mouseReleased", start, self.y, button="left", clickCount=count)
        self.until_range(self.is_whole, "double click")

    def test_keys_and_buttons(self):
        self.browser.key("+")
        lo, hi = self.until_range(self.is_part, "+")
        self.browser.key("ArrowRight")
        self.until_range(lambda now, _hi: now > lo, "right")
        self.browser.key("ArrowLeft")
        self.until_range(lambda now, _hi: abs(now - lo) < 1, "left")
        self.browser.key("-")
        self.until_range(lambda now_lo, now_hi: now_hi - now_lo > hi - lo, "-")
        part, whole = self.is_part, self.is_whole
        for button, holds in (("in", part), ("reset", whole), ("in", part), ("out", whole)):
            self.browser.js("document.getElementById(arguments[0]).click()", button)
            self.until_range(holds, button)
        self.browser.key("+")
        self.until_range(self.is_part, "+")
        self.browser.key("0")
        self.until_range(self.is_whole, "0")

    def test_time_labels_get_finer_and_the_view_never_leaves_the_run(self):
        x = self.x_of(900_000_000)
        for _ in range(30):
            self.browser.mouse("mouseWheel", x, self.y, deltaX=0, deltaY=-400)
        lo, hi = self.until_range(lambda lo, hi: hi - lo < 300, "deep zoom")
        self.browser.drawn()
        self.assertRegex(self.browser.text("#range"), r"^0:1\d:\d\d\.\d{6} – ")
        self.assertGreaterEqual(hi - lo, 199)
        self.hover((lo + hi) / 2)
        self.assert_quiet()
        self.browser.key("ArrowLeft")
        self.assertGreaterEqual(self.range()[0], 0)


class Marks(PageTest):
    def colours(self):
        self.browser.drawn()
        return self.browser.js(COLOURS, 0)

    def test_each_kind_has_a_count_and_can_be_switched_off(self):
        data = self.load(fixtures.many_marks())
        counts = self.browser.each("#marks label", "e.innerText")
        for label, kind in zip(counts, ("refusal", "retraction", "abort", "violation")):
            self.assertIn(f"{sum(mark['kind'] == kind for mark in data['marks']):,}", label)
        self.assertEqual(self.browser.js("return document.querySelector('[name=violation]').disabled"), True)
        for kind in ("refusal", "retraction", "abort"):
            colour, before = self.browser.variable(kind), self.colours()
            self.assertIn(colour, before)
            self.browser.js("document.getElementsByName(arguments[0])[0].click()", kind)
            after = self.colours()
            self.assertLess(sum(after.values()), sum(before.values()))
            self.assertLess(after.get(colour, 0), before[colour] / 4)  # the words beside have the grey of refusals
        self.hover(900_000_000)
        self.assertEqual(self.browser.js("return document.querySelectorAll('#tooltip li').length"), 0)
        self.browser.js("document.getElementsByName('abort')[0].click()")
        self.assertIn(colour, self.colours())

    def test_many_marks_stay_quick(self):
        self.load(fixtures.many_marks())
        often = "const from = performance.now(); for (let i = 0; i < 20; i++) drawAll();"
        self.assertLess(self.browser.js(often + "return performance.now() - from") / 20, 100)  # ms


class Themes(PageTest):
    def luminance(self, colour):
        if colour.startswith("#"):
            digits = colour[1:] if len(colour) > 4 else "".join(2 * digit for digit in colour[1:])
            parts = list(bytes.fromhex(digits))
        else:
            parts = [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")][:3]
        linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(self, one, other):
        low, high = sorted((self.luminance(one), self.luminance(other)))
        return (high + 0.05) / (low + 0.05)

    def assert_readable(self, theme):
        self.browser.drawn()
        self.assertEqual(self.browser.hook("theme"), theme)
        texts = self.browser.js(TEXTS)
        self.assertGreater(len(texts), 40)
        for text, colour, behind in texts:
            self.assertGreaterEqual(self.contrast(colour, behind), 4.5, (theme, text, colour, behind))
        page = self.browser.variable("page")
        self.assertEqual(self.luminance(page) > 0.5, theme == "light")
        marks = ("refusal", "retraction", "abort", "violation")
        for name in ("lent", "tombstone", "deferred", "staged", "running", "waiting", *marks):
            self.assertGreaterEqual(self.contrast(self.browser.variable(name), page), 3, (theme, name))
        self.assertIn(self.browser.variable("lent"), self.browser.js(COLOURS, 1))

    def test_both_are_readable_and_follow_the_system_until_told_otherwise(self):
        for made in (fixtures.hour, fixtures.violation):
            data = self.load(made(), theme="light")
            self.hover(data["time_us"][-1])
            self.assert_readable("light")
            self.browser.set_theme("dark")
            self.assert_readable("dark")
        self.browser.js("document.getElementById('theme').click()")
        self.assert_readable("light")
        self.browser.set_theme("light")
        self.browser.js("document.getElementById('theme').click()")
        self.assert_readable("dark")

    def test_a_message_is_readable(self):
        for theme in ("light", "dark"):
            self.load_text(render.template(), theme=theme)
            for text, colour, behind in self.browser.js(TEXTS):
                self.assertGreaterEqual(self.contrast(colour, behind), 4.5, (theme, text))


class FinishedPage(PageTest):
    """A page that the program made."""

    path = None

    def test_loads_has_data_and_draws(self):
        if self.path is None:
            self.skipTest("no --page")
        for theme in ("light", "dark"):
            self.browser.load(self.path, theme=theme)
            self.assertEqual(self.browser.hook("state"), "ready", self.browser.text("body"))
            self.assertTrue(self.browser.text("h1").strip())
            self.assertTrue(self.browser.text("#totals").strip())
            self.assert_drawn()
            self.hover(sum(self.range()) / 2)
            self.assertIn("running", self.browser.text("#tooltip"))
            self.assertEqual(len(self.browser.requests()), 1)
            self.assertEqual(self.browser.complaints(), [])


def main():
    arguments = sys.argv[:]
    if "--page" in arguments:
        at = arguments.index("--page")
        if at + 1 >= len(arguments):
            sys.exit("page_test: --page needs a FILE")
        FinishedPage.path = arguments[at + 1]
        arguments[at : at + 2] = ["FinishedPage"]
    if webdriver is None and os.path.exists(DEBIAN_PYTHON) and sys.executable != DEBIAN_PYTHON:
        os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv])  # Debian's selenium is for Debian's Python
    why = missing()
    if why:
        print(f"page_test: SKIPPED, {why}")
        sys.exit(SKIPPED)
    unittest.main(argv=arguments)


if __name__ == "__main__":
    main()
