"""The page in a real browser, on a real server with the shipped model."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("fastapi")

import uvicorn

import focore
from focore.loading import Model
from focore.serve.app import create_app
from focore.serve.service import Service
from focore.serve.settings import ServeSettings
from tests.browsing import CONTRASTS, NAMELESS, Reader

PROBLEM = "What is (12+8)*3?"
HOSTILE = '<script>document.title="owned"</script><img src=x onerror=alert(1)> \u202eabc'
NOISE = "How are you?"  # the model knows no such question
TOKENS = 8
# What the reader saw: for each change, the number of masks; every announcement.
WATCH = """
window.masks = []; window.said = [];
new MutationObserver(() => {
  const now = document.querySelectorAll('.tokens .mask').length;
  const some = document.querySelectorAll('.tokens span').length;
  if (some && now !== masks.at(-1)) masks.push(now);
}).observe(document.getElementById('talk'), {childList: true, subtree: true, attributes: true});
new MutationObserver(() => said.push(document.getElementById('announce').textContent))
  .observe(document.getElementById('announce'), {childList: true});
"""


@contextmanager
def serving(settings: ServeSettings) -> Iterator[tuple[str, Service]]:
    """A server of our own: its address, and what is behind it."""
    app = create_app(settings)
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, ws="none", timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    service: Service = app.state.service
    limit = time.monotonic() + 120
    while not service.ready:
        assert time.monotonic() < limit and thread.is_alive(), "the server does not start"
        time.sleep(0.05)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/", service
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def tiny() -> Model:
    return focore.load("tiny")


@pytest.fixture(scope="module")
def server(browser: Any) -> Iterator[tuple[str, Service]]:
    with serving(ServeSettings()) as found:
        yield found


class Asker(Reader):
    """Someone who asks."""

    def open(self, address: str, tokens: int = TOKENS) -> None:
        self.visit(address)
        self.wait(lambda: self.find("#send").is_enabled())
        self.set("max_tokens", tokens)
        self.run(WATCH)

    def set(self, option: str, value: object) -> None:
        """Write into the field of an option, as a user does."""
        self.run("document.querySelectorAll('details').forEach(e => { e.open = true; })")
        field = self.field(option)
        field.clear()
        field.send_keys(str(value))

    def field(self, option: str) -> Any:
        label = {"max_tokens": "tokens"}.get(option, option)
        return self.driver.find_element("xpath", f"//div[label[text()='{label}']]/input")

    def compare(self, method: str, other: str = "nothing") -> None:
        for side, name in enumerate((method, other)):
            self.run(f"""const choice = document.querySelectorAll('.side .method')[{side}];
                choice.value = '{name}'; choice.dispatchEvent(new Event('change'))""")

    def ask(self, question: str) -> None:
        from selenium.webdriver.common.keys import Keys

        self.find("#question").send_keys(question, Keys.ENTER)
        self.done()

    def done(self) -> None:
        self.wait(lambda: self.find("#send").is_enabled() and not self.find("#stop").is_enabled())


@pytest.fixture
def asker(browser: Any, server: tuple[str, Service]) -> Iterator[Asker]:
    """An asker with the page before them; whatever they did, the console has nothing to say."""
    made = Asker(browser)
    made.open(server[0])
    yield made
    assert made.complaints() == []


def answer_of(tiny: Model, question: str, method: str = "focore", **options: Any) -> str:
    return focore.generate(tiny, question, method=method, gen_length=TOKENS, **options).text


def test_an_example_is_answered_step_by_step(asker: Asker, tiny: Model) -> None:
    assert asker.count(".examples button") >= 3 and PROBLEM in asker.texts(".examples button")
    asker.run("document.querySelector('.examples li:last-child button').click()")
    asker.done()
    assert asker.run("return masks") == list(range(TOKENS - 1, -1, -1))
    wanted = answer_of(tiny, PROBLEM)
    assert asker.texts(".question") == [PROBLEM] and asker.texts(".said") == [wanted]
    assert asker.texts(".cost")[0].startswith(f"{TOKENS} steps · {2 * TOKENS} passes · ")
    assert asker.run("return said") == [f"focore: {wanted}"]  # once, not at every step
    assert asker.count(".tokens .token[class*=band]") == TOKENS
    assert asker.count(".tokens .core") > 0 and asker.count(".tokens .new") == 1


def test_two_methods_answer_side_by_side(asker: Asker, tiny: Model) -> None:
    asker.compare("random", "margin")
    asker.set("seed", 3)
    asker.set("temperature", 2)
    asker.ask(NOISE)
    assert asker.texts(".answers h3") == ["random", "margin"]
    options = {"seed": 3, "temperature": 2.0}
    wanted = [answer_of(tiny, NOISE, method, **options) for method in ("random", "margin")]
    assert asker.texts(".said") == wanted and wanted[0] != wanted[1]
    first, second = (asker.texts(f".panel:nth-child({i}) .tokens span") for i in (1, 2))
    different = sum(a != b for a, b in zip(first, second, strict=True))
    assert asker.count(".differs:not(.legend *)") == 2 * different > 0
    boxes = asker.run("return Array.from(document.querySelectorAll('.answers .panel'),"
                      "e => e.getBoundingClientRect().top)")  # fmt: skip
    assert boxes[0] == boxes[1]


def test_stopping_lets_the_row_go(asker: Asker, server: tuple[str, Service]) -> None:
    from selenium.webdriver.common.keys import Keys

    for stop in (lambda: asker.find("#stop").click(), lambda: asker.press(Keys.ESCAPE)):
        asker.set("max_tokens", 200)
        asker.find("#question").send_keys(PROBLEM, Keys.ENTER)
        asker.wait(lambda: asker.count(".turn:last-child .token"))
        stop()
        asker.done()
        assert "stopped at step" in asker.texts(".cost")[-1]
        assert asker.count(".turn:last-child .mask") > 0
        asker.wait(lambda: server[1].engine.running == 0)
    assert asker.texts(".said") == ["", ""] and asker.count(".error:not([hidden]):not(:empty)") == 0
    asker.set("max_tokens", TOKENS)
    asker.ask(PROBLEM)
    assert asker.texts(".said")[-1]


def test_a_bad_option_is_told_beside_its_field(asker: Asker) -> None:
    asker.compare("confidence", "focore")
    asker.set("core_tokens", -4)
    asker.ask(PROBLEM)
    told = [text for text in asker.texts(".error") if text]
    assert len(told) == 2 and told[0] == told[1] and "core_tokens=-4 is not allowed" in told[0]
    assert "\n" not in told[0]
    assert asker.field("core_tokens").get_attribute("aria-invalid") == "true"
    assert asker.texts(".cost")[1] == "not answered"
    assert asker.texts(".said")[0] and asker.texts("#announce")[0].endswith(told[0])
    asker.set("core_tokens", 4)
    asker.set("temperature", "e")
    asker.ask(PROBLEM)
    assert "temperature must be a number" in asker.texts(".turn:last-child .error")
    assert asker.field("core_tokens").get_attribute("aria-invalid") is None
    asker.set("temperature", 99)
    asker.ask(PROBLEM)
    beside = asker.field("temperature").find_element("xpath", "../p[@class='error']").text
    assert beside.startswith("temperature")
    refused = asker.complaints()
    assert refused and all("400 (Bad Request)" in each["message"] for each in refused)


def test_an_answer_links_to_its_trace(asker: Asker) -> None:
    asker.ask(PROBLEM)
    with opened(asker, ".trace"):
        asker.wait(lambda: asker.driver.title == "FoCore trace")
        assert asker.count(".answer .token") == TOKENS
        assert asker.run("return runs[0].steps") == TOKENS
        assert asker.complaints() == []


@contextmanager
def opened(asker: Asker, selector: str) -> Iterator[None]:
    """Follow a link into its new window, and come back."""
    driver = asker.driver
    here, before = driver.current_window_handle, set(driver.window_handles)
    asker.find(selector).click()
    driver.switch_to.window(*asker.wait(lambda: set(driver.window_handles) - before))
    try:
        yield
    finally:
        driver.close()
        driver.switch_to.window(here)


def test_a_server_with_a_key_is_asked_with_it(browser: Any) -> None:
    asker = Asker(browser)
    with serving(ServeSettings(api_key="open sesame")) as (address, _):
        asker.visit(address)
        asker.wait(lambda: asker.find("#key").is_displayed())
        assert not asker.find("#send").is_enabled()
        asker.find("#key").send_keys("wrong\n")
        asker.wait(lambda: "API key is missing or wrong" in asker.texts("#key-error")[0])
        asker.find("#key").send_keys("open sesame\n")
        asker.wait(lambda: asker.find("#send").is_enabled())
        assert not asker.find("#access").is_displayed()
        asker.set("max_tokens", TOKENS)
        refused = asker.complaints()
        assert refused and all("401 (Unauthorized)" in each["message"] for each in refused)
        asker.ask(PROBLEM)
        assert asker.texts(".said")[0]
        with opened(asker, ".trace"):
            asker.wait(lambda: asker.count(".answer .token") == TOKENS)
        kept = asker.run("return document.documentElement.outerHTML + document.cookie"
                         " + JSON.stringify([localStorage, sessionStorage])")  # fmt: skip
        assert "sesame" not in kept and asker.complaints() == []


def test_the_page_begins_as_the_server_does(browser: Any) -> None:
    asker = Asker(browser)
    options = {"gen_length": 6, "threshold": 0.7, "steps": 5}
    with serving(ServeSettings(method="threshold", options=options)) as (address, _):
        asker.visit(address)
        asker.wait(lambda: asker.find("#send").is_enabled())
        assert asker.find(".side .method").get_attribute("value") == "threshold"
        shown = {"max_tokens": "6", "threshold": "0.7", "steps": "5", "temperature": "0"}
        assert {name: asker.field(name).get_attribute("value") for name in shown} == shown
        asker.ask(PROBLEM)
        assert asker.count(".answers .tokens span") == 6 and asker.complaints() == []


def test_no_key_is_asked_for_without_need(asker: Asker) -> None:
    assert not asker.find("#access").is_displayed()


def test_a_connection_that_breaks_is_told_and_the_page_goes_on(asker: Asker) -> None:
    asker.run("""const real = window.fetch; window.broken = true;
        window.fetch = async (path, options) => {
          if (!options.body || !broken) return real(path, options);
          broken = false;
          return new Response(new ReadableStream({ start: (c) => c.error(new TypeError("lost")) }));
        }""")
    asker.ask(PROBLEM)
    assert "the server cannot be reached" in asker.texts(".error")
    asker.ask(PROBLEM)
    assert asker.texts(".said")[-1]


def test_text_is_text(asker: Asker) -> None:
    asker.ask(HOSTILE)
    assert asker.driver.title == "FoCore" and asker.count("img, #talk script") == 0
    shown = asker.texts(".question")[0]
    assert shown.startswith("<script>document.title=") and "\u202e" not in shown


def test_questions_stand_alone_unless_the_conversation_is_sent_along(asker: Asker) -> None:
    asker.run("""window.sent = []; const real = window.fetch;
        window.fetch = (path, options) => {
          if (options.body) sent.push(JSON.parse(options.body).messages);
          return real(path, options);
        }""")
    asker.compare("confidence")
    asker.set("max_tokens", 4)
    asker.ask("What is 1+2?")
    asker.ask("What is 2+3?")
    asker.find("#remember").click()
    asker.ask("What is 3+4?")
    roles = [[message["role"] for message in each] for each in asker.run("return sent")]
    assert roles == [["user"], ["user"], ["user", "assistant", "user", "assistant", "user"]]
    asker.find("#clear").click()
    assert asker.count(".turn") == 0 and asker.find("#welcome").is_displayed()
    asker.ask("What is 3+4?")
    assert len(asker.run("return sent")[-1]) == 1


def test_keys_walk_through_the_tokens(asker: Asker) -> None:
    from selenium.webdriver.common.keys import Keys

    asker.find("#question").send_keys("What is", Keys.SHIFT, Keys.ENTER, Keys.NULL)
    assert asker.count(".turn") == 0
    asker.ask(" 4+5?")
    assert asker.texts(".question") == ["What is\n 4+5?"]
    asker.run("document.querySelector('.tokens span').focus()")
    asker.press(Keys.ARROW_RIGHT)
    said = asker.texts("#announce")[0]
    assert "position 2 · written in step" in said and " · S " in said
    assert asker.texts(".detail") == [said] and asker.count("[aria-selected=true]") == 1


def test_who_wants_less_motion_sees_the_result_only(asker: Asker, server: Any) -> None:
    with asker.screen(width=1200, **{"prefers-reduced-motion": "reduce"}):
        asker.open(server[0], tokens=4)
        asker.ask(PROBLEM)
    assert asker.run("return masks") == [0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_enough_and_a_phone_is_wide_enough(
    asker: Asker, server: tuple[str, Service], scheme: str
) -> None:
    with asker.screen(scheme):
        asker.open(server[0], tokens=4)
        asker.compare("focore_a", "klass")
        asker.ask("a" * 60)
        assert asker.run("return document.documentElement.scrollWidth") <= 400
        for pair, contrast in asker.run(CONTRASTS).items():
            assert contrast >= 4.5, f"{scheme}: {pair} {contrast:.2f}"


def test_everything_has_a_name(asker: Asker) -> None:
    asker.compare("focore", "prophet")
    asker.set("max_tokens", 4)
    asker.ask(PROBLEM)
    assert asker.run(NAMELESS) == []
    assert asker.count("[role=listbox] > :not([role=option])") == 0
    assert asker.count("[role=option][tabindex='0']") == asker.count("[role=listbox]") == 2
