"""Drives a headless Chromium through its debugging pipe, with Python's own library only.

Messages are JSON that ends in a zero byte: commands go to the browser's descriptor 3, answers come from its 4.
"""
import base64
import json
import os
import select
import shutil
import struct
import subprocess
import tempfile
import time
import zlib

FLAGS = ["--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--use-gl=angle",
         "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars", "--remote-debugging-pipe",
         "--webgl-antialiasing-mode=none"]  # the last: a processor paints here


class Failure(Exception):
    pass


class Browser:
    """One browser with one tab. `problems` gathers what its console and its scripts complain about."""

    def __init__(self, program, width, height):
        self.profile = tempfile.mkdtemp(prefix="graze-page-")
        to_child, self.out = os.pipe()
        self.into, from_child = os.pipe()
        command = f'exec "$@" 3<&{to_child} 4>&{from_child}'
        self.process = subprocess.Popen(
            ["sh", "-c", command, "sh", program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"],
            pass_fds=(to_child, from_child), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.pending, self.number, self.session, self.problems = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.look()
        self.resize(width, height)

    def close(self):
        try:
            os.close(self.out)
            self.process.wait(timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.into)
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def read(self, limit):
        """The next message, or None after `limit` seconds."""
        end = time.monotonic() + limit
        while b"\0" not in self.pending:
            if not select.select([self.into], [], [], max(0, end - time.monotonic()))[0]:
                return None
            piece = os.read(self.into, 1 << 20)
            if not piece:
                raise Failure("the browser went away")
            self.pending += piece
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        method, values = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(a.get("value", a.get("description"))) for a in values["args"]))
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.problems.append(values["entry"]["text"] + " " + values["entry"].get("url", ""))
        elif method == "Network.requestWillBeSent" and not values["request"]["url"].startswith(("file:", "data:")):
            self.problems.append("asked the network for " + values["request"]["url"])

    def call(self, method, limit=120, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + limit
        while True:
            answer = self.read(max(0, end - time.monotonic()))
            if answer is None:
                raise Failure(f"no answer to {method} within {limit} s")
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def run(self, script):
        """The value of a JavaScript expression; promises are waited for."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failure(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def wait(self, condition, limit=60):
        end = time.monotonic() + limit
        while not self.run(condition):
            if time.monotonic() > end:
                raise Failure(f"never came true: {condition}")
            time.sleep(0.05)

    def open(self, path, fragment="", limit=120):
        """Loads a page from disk and waits until it stands still."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + fragment, limit=limit)
        try:
            self.wait("document.documentElement?.dataset.state === 'ready'", limit)
        except Failure as failure:
            raise Failure(f"{failure}; the page says: {self.problems}") from None
        self.settle(limit)

    def settle(self, limit=60):
        """Until the last frame of a movement is drawn: two rests of the page in a row."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.wait("document.getElementById('canvas').dataset.still === 'yes'", limit)
        self.run("new Promise((done) => setTimeout(done, 60))")
        self.wait("document.getElementById('canvas').dataset.still === 'yes'", limit)

    def resize(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def look(self, dark=False, motion=False):
        """What the reader prefers. Without motion the view arrives at once: flights take most of the time here."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                            {"name": "prefers-reduced-motion", "value": "no-preference" if motion else "reduce"}])

    def place(self, selector):
        """Middle of an element on the screen."""
        box = self.run(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            if (!e) return null; const b = e.getBoundingClientRect();
            return [b.left + b.width / 2, b.top + b.height / 2, b.width]; }})()""")
        if not box or box[2] == 0:
            raise Failure(f"nothing on the screen is {selector}")
        return box[0], box[1]

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click_at(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def click(self, selector):
        self.click_at(*self.place(selector))

    def drag(self, x0, y0, x1, y1, button="left"):
        buttons = {"left": 1, "right": 2}[button]
        self.mouse("mousePressed", x0, y0, button=button, buttons=buttons, clickCount=1)
        for i in range(1, 6):
            self.mouse("mouseMoved", x0 + (x1 - x0) * i / 5, y0 + (y1 - y0) * i / 5, button=button, buttons=buttons)
        self.mouse("mouseReleased", x1, y1, button=button, clickCount=1)

    def key(self, key, text=""):
        more = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def choose(self, selector, value):
        """Picks from a select as a reader does, events and all."""
        self.run(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); e.value = {json.dumps(value)};
            e.dispatchEvent(new Event('input', {{bubbles: true}}));
            e.dispatchEvent(new Event('change', {{bubbles: true}})); }})()""")

    def screenshot(self, selector=None, path=None, scale=1):
        """The PNG's bytes: of the window, or of one element, which may be scaled down."""
        more = {}
        if selector:
            box = self.run(f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                           "return {x: b.left + scrollX, y: b.top + scrollY, width: b.width, height: b.height}; })()")
            box["scale"] = scale
            more["clip"] = box
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png", optimizeForSpeed=True, **more)["data"])
        if path:
            with open(path, "wb") as file:
                file.write(data)
        return data


def pixels(png):
    """Width, height and rows of (r, g, b) of an 8-bit RGB or RGBA PNG without interlacing."""
    at, data, header = 8, b"", None
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", png[at + 8:at + 21])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += length + 12
    width, height, depth, colour, _, _, interlace = header
    if depth != 8 or colour not in (2, 6) or interlace:
        raise Failure("a PNG of a kind that is not expected")
    return width, height, unfiltered(zlib.decompress(data), width, height, 3 if colour == 2 else 4)


def unfiltered(data, width, height, step):
    stride, rows, before = width * step, [], bytes(width * step)
    for y in range(height):
        kind, line = data[y * (stride + 1)], data[y * (stride + 1) + 1:(y + 1) * (stride + 1)]
        if kind == 2:  # what Chromium writes in a hurry
            line = added(line, before)
        elif kind:
            line = predicted(kind, bytearray(line), before, step)
        rows.append(list(zip(line[0::step], line[1::step], line[2::step])))
        before = line
    return rows


def added(line, before):
    """The sums of the bytes of two rows, modulo 256: all at once, the uppermost bits apart."""
    x, y, low = (int.from_bytes(part, "little") for part in (line, before, b"\x7f" * len(line)))
    return ((x & low) + (y & low) ^ (x ^ y) & ~low).to_bytes(len(line), "little")


def predicted(kind, line, before, step):
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        corner = before[i - step] if i >= step else 0
        if kind == 1:
            guess = left
        elif kind == 3:
            guess = (left + before[i]) // 2
        else:
            about = left + before[i] - corner
            guess = min((left, before[i], corner), key=lambda value: abs(about - value))
        line[i] = line[i] + guess & 255
    return line
