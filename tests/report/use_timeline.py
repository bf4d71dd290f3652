"""The page of a timeline, used as a reader does: filters, zooms, points at arrows, steps from event to event."""

HEADINGS = ["Packets, queue pairs and work requests", "Faults, and what the protocol made of them", "Work requests", "Packets",
            "States of queue pairs", "Programs"]
SETTLED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
LABEL = "document.querySelector('#ladder canvas').getAttribute('aria-label')"
TIP = "document.querySelector('#tip').hidden ? '' : document.querySelector('#tip').textContent"
DETAILS = "document.querySelector('#details').innerText"
TOLD = "document.querySelector('#ladder .step [role=status]').textContent"


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def shown(page):
    """(visible, shown, from, to) as the diagram says it of itself."""
    page.evaluate(SETTLED)
    words = page.evaluate(LABEL).replace(",", "").split()
    expect(words[:2] == ["Ladder", "diagram:"], words)
    return int(words[2]), int(words[4]), float(words[6]), float(words[8])


def press(page, text):
    page.evaluate(f"""(() => {{ const found = [...document.querySelectorAll('#ladder button')].find((b) => b.textContent === {text!r});
        if (!found) throw new Error('there is no button ' + {text!r}); found.click(); }})()""")


def choose_qp(page, text):
    page.evaluate(f"""(() => {{ const choice = document.querySelector('#qp-choice');
        const option = [...choice.options].find((o) => o.textContent.startsWith({text!r}));
        if (!option) throw new Error('there is no ' + {text!r}); choice.value = option.value;
        choice.dispatchEvent(new Event('change')); }})()""")


def canvas_box(page):
    return page.evaluate("""(() => { document.querySelector('#ladder').scrollIntoView();
        const b = document.querySelector('#ladder .view').getBoundingClientRect();
        const c = document.querySelector('#ladder canvas').getBoundingClientRect();
        return [c.left, c.top, c.width, Math.min(b.bottom, innerHeight) - c.top]; })()""")


def point_at(page, word):
    """Moves the pointer down the middle of the diagram until what it is at has the word; its text."""
    left, top, width, height = canvas_box(page)
    for y in range(4, int(height) - 4, 3):
        page.mouse("mouseMoved", left + width * 0.5, top + y)
        tip = page.evaluate(TIP)
        if word in tip:
            return tip, (left + width * 0.5, top + y)
    raise AssertionError(f"nothing in the diagram has {word!r}")


def filter_by_qp(page):
    _, everything, _, _ = shown(page)
    choose_qp(page, "h0 QP 1")
    _, mads, _, _ = shown(page)
    expect(mads == 3, f"QP 1 has the three MADs, not {mads}")
    tip, _ = point_at(page, "CM REQ")
    expect("UD_SEND_ONLY" in tip and "DETH" in tip, tip)
    choose_qp(page, "h0 QP 0x0018f3")
    _, of_qp, _, _ = shown(page)
    expect(of_qp == everything - 3, f"the connection has all but the MADs: {of_qp} of {everything}")
    press(page, "ACKs")
    _, without, _, _ = shown(page)
    expect(0 < without < of_qp, f"without ACKs there are fewer packets: {without} of {of_qp}")
    press(page, "ACKs")
    choose_qp(page, "all")
    expect(shown(page)[1] == everything, "all packets are there again")


def zoom(page):
    press(page, "Whole run")
    seen, everything, start, end = shown(page)
    expect(seen == everything, f"the whole run shows all packets, not {seen} of {everything}")
    page.evaluate("document.querySelector('#ladder .view').focus()")
    for _ in range(4):
        for kind in ("keyDown", "keyUp"):
            page.call("Input.dispatchKeyEvent", type=kind, key="+", text="+" if kind == "keyDown" else "")
    near, _, near_start, near_end = shown(page)
    expect(near < seen and near_end - near_start < end - start, "the key + zooms in")
    page.evaluate("document.querySelector('#ladder .view').scrollTop += 300")
    expect(shown(page)[2] > near_start, "scrolling down goes on in time")
    left, top, width, height = canvas_box(page)
    page.mouse("mouseWheel", left + width / 2, top + height / 2, deltaX=0, deltaY=600, modifiers=2)
    expect(shown(page)[0] > near, "Ctrl and the wheel zoom out")
    press(page, "true to scale")
    press(page, "Whole run")
    expect(shown(page)[0] == everything, "true to scale, the whole run is all packets too")
    press(page, "pauses shortened")


def step(page):
    press(page, "Next ▸")
    first = page.evaluate(TOLD)
    expect(first.startswith("1 of ") and "dropped on sw0/2" in first, first)
    details = page.evaluate(DETAILS)
    expect("lost after 900 ns" in details and "PSN 4717" in details, details)
    press(page, "Next ▸")
    expect("timeout" in page.evaluate(TOLD), page.evaluate(TOLD))
    press(page, "Next ▸")
    details = page.evaluate(DETAILS)
    expect("Retransmission" in details and "PSN 4717" in details, details)
    press(page, "◂")
    expect(page.evaluate(TOLD).startswith("2 of "), page.evaluate(TOLD))


def hover(page):
    page.evaluate("document.querySelector('#ladder .view').scrollTop = 0")
    press(page, "Next ▸")
    tip, at = point_at(page, "RC_SEND_ONLY")
    expect("BTH" in tip and "DestQP 0x" in tip and "AckReq" in tip, tip)
    for kind in ("mousePressed", "mouseReleased"):
        page.mouse(kind, *at, button="left", clickCount=1)
    expect("BTH" in page.evaluate(DETAILS), "a click keeps the headers below the diagram")
    tip, _ = point_at(page, "AETH")
    expect("MSN" in tip, tip)
    lane = page.evaluate("""(() => { const b = document.querySelector('#ladder .heads .lane').getBoundingClientRect();
        return [b.left + b.width / 2, b.bottom]; })()""")
    page.mouse("mouseMoved", lane[0], lane[1] + 60)
    tip = page.evaluate(TIP)
    expect("QP 0x" in tip and any(state in tip for state in ("RESET", "INIT", "RTR", "RTS")), f"a band says its state, not {tip!r}")
    page.evaluate("document.querySelector('#ladder .heads .lane').click()")
    expect(page.evaluate("document.querySelector('#qp-choice').value") != "", "a queue pair's name filters by it")
    choose_qp(page, "all")


def use_rows(page):
    page.evaluate("document.querySelectorAll('#event-table tbody tr')[3].click()")
    expect("corrupted" in page.evaluate(TOLD), page.evaluate(TOLD))
    page.evaluate("document.querySelector('#work-table tbody tr').click()")
    expect("wr_id" in page.evaluate(DETAILS) and "CQE" in page.evaluate(DETAILS), page.evaluate(DETAILS))
    press(page, "Receives")
    expect(shown(page)[1] > 0, "receives can be shown")
    press(page, "Receives")


def use_large(page):
    text = page.evaluate("document.querySelector('.left-out').innerText")
    for part in ("the first 5,000 of 45,000 packets", "--timeline-packets 45000", "200 retransmissions", "12,345 later work requests"):
        expect(part in text, f"{part!r} is not said: {text}")
    choose_qp(page, "h2 QP 0x000102")
    seen = shown(page)
    expect(0 < seen[1] < 500, f"one of 80 queue pairs has {seen[1]} packets")


USES = [filter_by_qp, zoom, step, hover, use_rows]
