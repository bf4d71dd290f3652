"""A headless Chromium under the DevTools protocol, over a pipe: nothing beyond Python's own library is needed."""
import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find_chromium():
    return shutil.which("chromium")


class Page:
    """One tab: its window's width, its colour scheme, and what it said while it loaded."""

    def __init__(self, browser, session):
        self.browser = browser
        self.session = session
        self.events = []
        browser.pages[session] = self

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise AssertionError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def open(self, url, width, height, scheme):
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.call("Page.navigate", url=url)

    def wait_for(self, expression, seconds):
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {expression}")
            time.sleep(0.02)

    def screenshot(self, whole=False, scale=1):
        size = self.call("Page.getLayoutMetrics")
        seen = size["cssVisualViewport"]
        clip = {"x": seen["pageX"], "y": seen["pageY"], "width": seen["clientWidth"], "height": seen["clientHeight"]}
        if whole:
            clip = {key: size["cssContentSize"][key] for key in ("x", "y", "width", "height")}
        clip["scale"] = scale
        answer = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=whole)
        return base64.b64decode(answer["data"])

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, x0, x1, y):
        self.mouse("mouseMoved", x0, y)
        self.mouse("mousePressed", x0, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseMoved", (x0 + x1) / 2, y, button="left", buttons=1)
        self.mouse("mouseMoved", x1, y, button="left", buttons=1)
        self.mouse("mouseReleased", x1, y, button="left", clickCount=1)

    def close(self):
        self.call("Page.close")
        self.browser.pages.pop(self.session, None)


class Browser:
    def __init__(self, program, seconds=60):
        self.seconds = seconds
        self.pages = {}
        self.sent = 0
        self.buffer = b""
        self.folder = tempfile.mkdtemp(prefix="chromium")
        ends = [*os.pipe(), *os.pipe()]
        # Out of the way of 3 and 4, as which Chromium gets its ends.
        to_read, self.write_end, self.read_end, to_write = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
        for end in ends:
            os.close(end)
        command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
                   "--force-color-profile=srgb", f"--user-data-dir={self.folder}", "--remote-debugging-pipe", "about:blank"]
        shell = ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write} {to_read}<&- {to_write}>&-', "bash"]
        with open(os.path.join(self.folder, "stderr"), "wb") as errors:
            # A session of its own, so that all its processes end with it.
            self.process = subprocess.Popen(shell + command, pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL,
                                            stdout=errors, stderr=errors, start_new_session=True)
        os.close(to_read)
        os.close(to_write)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError, AssertionError):
            self.call("Browser.close")
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 9)
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, session=None, **params):
        self.sent += 1
        message = {"id": self.sent, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + self.seconds
        while True:
            answer = self.receive(end, method)
            if answer.get("id") == self.sent:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            page = self.pages.get(answer.get("sessionId"))
            if page is not None and "method" in answer:
                page.events.append(answer)

    def receive(self, end, what):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(end - time.monotonic(), 0))
            data = os.read(self.read_end, 1 << 20) if ready else b""
            if not data:
                with open(os.path.join(self.folder, "stderr"), encoding="utf-8", errors="replace") as errors:
                    raise AssertionError(f"Chromium does not answer to {what}; it said: {errors.read()[-2000:]}")
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def new_page(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        return Page(self, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
