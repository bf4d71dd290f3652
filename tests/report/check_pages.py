#!/usr/bin/env python3
"""check_pages.py --make-reports PROGRAM [--screenshots FOLDER]: opens reports in headless Chromium, wide and narrow, light and
dark: no script error, no request, nothing wider than the window, everything drawn; then uses them as a reader does.

Status 77: skipped, with the reason."""
import argparse
import itertools
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

import chromium
import use_timeline

SKIPPED = 77
WIDTHS = (1280, 400)
SCHEMES = ("light", "dark")
SECONDS = 30  # for a page to be drawn; it takes one
HEADINGS = ["Key figures", "Expectations", "Flow completion", "FCT slowdown by flow size", "Distribution", "Over time",
            "Goodput", "Topology", "Ports", "Slowest flows"]
RICH = [*HEADINGS, "Queues", "Port rates", "ECN marks", "Switch buffers", "Flow rates: delivered", "Pause map", "Workloads",
        "Faults", "Settings", "Inside the hosts"]
COMPARED = ["Runs", "websearch", "incast", "All flows and ports", "Expectations", "Flow completion", "FCT slowdown by flow size",
            "Distribution", "Over time", "Goodput"]
# Of each page: headings it must have, and how many charts.
PAGES = {"rich": (RICH, 10), "empty": (HEADINGS, 0), "none": (["Ports"], 0), "sweep": (RICH, 10),
         "hostile": ([*RICH, "Why it got stuck"], 10), "large": ([*HEADINGS, "Workloads"], 3),
         "compare": (COMPARED, 10), "compare_bare": (COMPARED, 0),
         **{name: (use_timeline.HEADINGS, 1) for name in ("timeline", "timeline_empty", "timeline_large", "timeline_hostile")}}
GLOBALS = "Object.getOwnPropertyNames(globalThis)"
TROUBLE = {"Runtime.exceptionThrown", "Log.entryAdded"}


def distinct_colours(png):
    """How many colours an RGB or RGBA picture without interlacing has."""
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    size = 4 if colour == 6 else 3
    raw = zlib.decompress(data)
    row_bytes = width * size
    before, colours = bytes(row_bytes), set()
    for y in range(height):
        start = y * (row_bytes + 1)
        row = unfiltered(raw[start], bytearray(raw[start + 1:start + 1 + row_bytes]), before, size)
        colours.update(bytes(row[x:x + 3]) for x in range(0, row_bytes, size))
        before = row
    return len(colours)


def unfiltered(kind, row, before, size):
    """One row of a PNG (W3C PNG, 9.2)."""
    for i in range(len(row) if kind else 0):
        left = row[i - size] if i >= size else 0
        above = before[i]
        corner = before[i - size] if i >= size else 0
        if kind == 4:
            guess = left + above - corner
            near = min((abs(guess - left), 0, left), (abs(guess - above), 1, above), (abs(guess - corner), 2, corner))[2]
        else:
            near = (left, above, (left + above) // 2)[kind - 1]
        row[i] = (row[i] + near) & 0xFF
    return row


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def troubles(page):
    found = []
    for event in page.events:
        method, params = event["method"], event["params"]
        if method in TROUBLE or (method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert")):
            found.append(str(params)[:600])
        if method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file:", "data:")):
            found.append(f"asks for {params['request']['url']}")
    errors = page.evaluate("document.documentElement.dataset.errors ?? ''")
    return found + ([errors] if errors else [])


def check_page(page, name, width, own_names):
    headings, charts = PAGES[name]
    there = page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map((h) => h.textContent)")
    missing = [heading for heading in headings if heading not in there]
    expect(not missing, f"headings missing: {missing}")
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    expect(wide[0] <= wide[1] == width, f"the page is {wide[0]} wide in a window of {wide[1]}")
    drawn = page.evaluate("""[...document.querySelectorAll('canvas')].map((c) =>
        c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((value) => value !== 0))""")
    expect(drawn == [True] * charts, f"charts drawn: {drawn}, not {charts}")
    text = page.evaluate("document.body.innerText")
    for word in ("NaN", "Infinity", "undefined", "[object"):
        expect(word not in text, f"the page says {word}")
    unscoped = page.evaluate("document.querySelectorAll('th:not([scope])').length + document.querySelectorAll('table:not(:has(caption))').length")
    expect(unscoped == 0, f"{unscoped} tables or headings of theirs that say not what they are")
    left = set(page.evaluate(GLOBALS)) - own_names
    expect(not left, f"the scripts leave globals: {sorted(left)}")
    colours = distinct_colours(page.screenshot(scale=0.25))
    expect(colours > 20, f"the picture has only {colours} colours")


def middle(page, selector):
    return page.evaluate(f"""(() => {{ const e = document.querySelector({selector!r}); e.scrollIntoView({{block: 'center'}});
        const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; }})()""")


def use_charts(page):
    left, top, width, height = middle(page, "#goodput canvas")
    page.drag(left + width * 0.4, left + width * 0.6, top + height / 2)
    resets = "[...document.querySelectorAll('#time .tools button')].filter((b) => b.textContent === 'Whole range' && !b.hidden).length"
    zoomed = page.evaluate(resets)
    expect(zoomed == 7, f"dragging over one chart over time zooms all 7, not {zoomed}")
    page.evaluate("document.querySelector('#goodput canvas').focus()")
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key="0", text="0" if kind == "keyDown" else "")
    expect(page.evaluate(resets) == 0, "the key 0 shows the whole range again")
    page.evaluate("document.querySelector('#goodput + #runs + #sampled .keys button').click()")
    expect(page.evaluate("document.querySelector('#sampled .keys button').getAttribute('aria-pressed')") == "false",
           "a line's key hides the line")


def use_tables(page):
    first = "document.querySelector('#port-table tbody tr').innerText"
    before = page.evaluate(first)
    page.evaluate("document.querySelectorAll('#port-table thead button')[2].click()")
    expect(page.evaluate(first) != before, "another click on a heading turns the order")
    expect(page.evaluate("document.querySelectorAll('#port-table th')[2].getAttribute('aria-sort')") == "ascending",
           "the order is told")


def use_topology(page):
    page.evaluate("document.querySelector('#picture .node').scrollIntoView({block: 'center'})")
    left, top, width, height = middle(page, "#picture .node")
    page.mouse("mouseMoved", left + width / 2, top + height / 2)
    tip = page.evaluate("document.querySelector('#tip').hidden ? '' : document.querySelector('#tip').textContent")
    expect("ports" in tip, f"a node under the pointer says what it is, not {tip!r}")
    page.evaluate("document.querySelector('#picture .node').dispatchEvent(new MouseEvent('click'))")
    expect(page.evaluate("document.querySelector('#port-table input').value") != "", "a click on a node finds its ports")


def use_insides(page):
    rows = page.evaluate("[...document.querySelectorAll('#insides tbody tr')].map((r) => r.innerText.split('\\t').map((t) => t.trim()))")
    expect([row[0].split()[0] for row in rows] == ["node0", "root0", "pex0", "nic0", "gpu0"], f"the tree, root first: {rows}")
    expect(rows[3][1] == "gen4 x8, of gen4 x16" and rows[3][3] == "60%", f"a link and how busy it was: {rows[3]}")
    depths = page.evaluate("[...document.querySelectorAll('#insides th.device')].map((h) => h.getAttribute('aria-level'))")
    expect(depths == ["1", "2", "3", "4", "4"], f"how deep each is in the tree: {depths}")
    left, top, width, height = middle(page, "#insides tbody tr:nth-child(4) td.strip div")
    tips = []
    for at in (0.25, 0.75):
        page.mouse("mouseMoved", left + width * at, top + height / 2)
        tips.append(page.evaluate("document.querySelector('#tip').textContent"))
    expect("90%" in tips[0] and "30%" in tips[1], f"a strip says how busy the link was at that time: {tips}")


def use_runs(page):
    before = page.evaluate("document.querySelector('#flow-table tbody').innerText")
    page.evaluate("""(() => { const s = document.querySelector('#run-choice'); s.value = '1';
        s.dispatchEvent(new Event('change')); })()""")
    expect(page.evaluate("document.querySelector('#flow-table tbody').innerText") != before, "another run has other flows")
    page.evaluate("document.querySelectorAll('#slowdown .tools button')[0].click()")
    expect(page.evaluate("document.querySelector('#slowdown .tools button').getAttribute('aria-pressed')") == "true",
           "another percentile can be chosen")


def use_places(page):
    lines = "[...document.querySelectorAll('#sampled .keys button')].map((b) => b.title)"
    expect(page.evaluate(lines)[:3] == ["A: dcqcn", "B: hpcc", "C: timely"], f"a line for each run: {page.evaluate(lines)}")
    heading = "document.querySelector('#sampled h3').textContent"
    before = page.evaluate(heading)
    expect(before.startswith("Queues: "), before)
    page.evaluate("""(() => { const s = document.querySelector('#places select'); s.value = '1';
        s.dispatchEvent(new Event('change')); })()""")
    expect(page.evaluate(heading) != before and page.evaluate("document.querySelectorAll('canvas').length") == 10,
           "another port can be chosen")
    page.evaluate("document.querySelectorAll('#slowdown .tools button')[0].click()")
    expect(page.evaluate("document.querySelector('#slowdown canvas').getAttribute('aria-label')").endswith("p50 of each run"),
           "another percentile can be chosen")


def print_page(page):
    expect(len(page.call("Page.printToPDF", printBackground=True)["data"]) > 10_000, "the page prints")
    page.wait_for("!document.documentElement.classList.contains('printing')", SECONDS)


USES = {"rich": [use_charts, use_tables, use_topology, use_insides, print_page], "sweep": [use_charts, use_runs],
        "compare": [use_places, print_page], "timeline": [*use_timeline.USES, print_page], "timeline_large": [use_timeline.use_large]}


def names_of_browser(browser, folder):
    """The globals of a page without scripts."""
    (folder / "bare.html").write_text("<!DOCTYPE html><title>bare</title><p id='bare'>bare</p>", encoding="utf-8")
    page = browser.new_page()
    page.open((folder / "bare.html").as_uri(), WIDTHS[0], 900, SCHEMES[0])
    page.wait_for("document.querySelector('#bare') !== null", SECONDS)
    names = set(page.evaluate(GLOBALS))
    page.close()
    return names


def check_one(browser, folder, name, width, scheme, screenshots, own_names):
    page = browser.new_page()
    try:
        page.open((folder / f"{name}.html").as_uri(), width, 900, scheme)
        page.wait_for("document.documentElement?.dataset.report === 'drawn'", SECONDS)
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        if screenshots:
            (screenshots / f"{name}_{width}_{scheme}.png").write_bytes(page.screenshot(whole=True))
        check_page(page, name, width, own_names)
        if (width, scheme) == (WIDTHS[0], SCHEMES[0]):
            for use in USES.get(name, []):
                use(page)
        expect(not troubles(page), "\n".join(troubles(page)))
        return None
    except AssertionError as error:
        return f"{error}\n{chr(10).join(troubles(page))}".strip()
    finally:
        page.close()


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--make-reports", required=True)
    options.add_argument("--screenshots", type=pathlib.Path, help="keeps a picture of each page in this folder")
    given = options.parse_args()
    program = chromium.find_chromium()
    if program is None:
        print("skipped: no Chromium (Debian: chromium)")
        return SKIPPED
    if given.screenshots:
        given.screenshots.mkdir(parents=True, exist_ok=True)
    failed = 0
    with tempfile.TemporaryDirectory() as scratch, chromium.Browser(program) as browser:
        folder = pathlib.Path(scratch).resolve()
        subprocess.run([given.make_reports, folder], check=True)
        own_names = names_of_browser(browser, folder)
        for name, width, scheme in itertools.product(PAGES, WIDTHS, SCHEMES):
            problem = check_one(browser, folder, name, width, scheme, given.screenshots, own_names)
            print(f"{name}, {width} wide, {scheme}: {problem or 'ok'}", flush=True)
            failed += problem is not None
    print(f"{failed} pages failed" if failed else "all pages are as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
