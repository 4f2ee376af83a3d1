// The canvas: one element a token, redrawn when the step or the colours change.

function element(name, attributes = {}, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

class Tokens {
  constructor(run, bands, lists, choose) {
    this.run = run;
    this.bands = bands;
    this.choose = choose;
    this.spans = run.first.map((_, position) => {
      const span = element("span", { role: "option", tabindex: "-1", "aria-selected": "false" });
      span.dataset.position = position;
      lists[position < run.start ? 0 : 1].append(span);
      return span;
    });
    for (const list of lists) this.listen(list);
  }

  listen(list) {
    const first = list.firstElementChild;
    if (first) first.tabIndex = 0;
    const point = (event) => {
      const span = event.target.closest("[data-position]");
      if (span) this.choose(Number(span.dataset.position), event.type === "focusin");
    };
    list.addEventListener("pointerover", point);
    list.addEventListener("focusin", point);
    list.addEventListener("click", point);
    list.addEventListener("keydown", (event) => this.move(event, list));
  }

  // Left and right follow the text's direction on the screen.
  move(event, list) {
    const forward = getComputedStyle(list).direction === "rtl" ? -1 : 1;
    const way = { ArrowRight: forward, ArrowLeft: -forward, ArrowDown: 1, ArrowUp: -1 }[event.key];
    const here = event.target.closest("[data-position]");
    if (!way || !here || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = way > 0 ? here.nextElementSibling : here.previousElementSibling;
    if (next) {
      here.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  }

  select(position) {
    for (const span of this.spans) {
      const chosen = Number(span.dataset.position) === position;
      if ((span.getAttribute("aria-selected") === "true") !== chosen) {
        span.setAttribute("aria-selected", String(chosen));
      }
    }
  }

  draw(step, measure, other) {
    const { run } = this;
    const canvas = run.canvases[step];
    const texts = spell(run, canvas);
    const end = this.end(canvas);
    this.spans.forEach((span, p) => {
      const again = run.ends.includes(canvas[p]) && (p > end || canvas[p - 1] === canvas[p]);
      const text = again ? "·" : texts[p];
      if (span.textContent !== text) span.textContent = text;
      const names = this.classes(step, measure, p, canvas, end);
      if (other && other[p] !== canvas[p] && ![canvas[p], other[p]].includes(run.mask)) {
        names.push("differs");
      }
      const joined = names.join(" ");
      if (span.className !== joined) span.className = joined;
      const sure = canvas[p] === run.mask ? valueAt(run, "confidence", step, p) : 0;
      span.style.setProperty("--sure", sure.toFixed(2));
      if (canvas[p] === run.mask) span.setAttribute("aria-label", "mask");
      else span.removeAttribute("aria-label");
    });
  }

  end(canvas) {
    for (let p = this.run.start; p < canvas.length; p++) {
      if (canvas[p] === this.run.mask) return canvas.length;
      if (this.run.ends.includes(canvas[p])) return p;
    }
    return canvas.length;
  }

  classes(step, measure, p, canvas, end) {
    const { run } = this;
    if (canvas[p] === run.mask) return ["mask"];
    const names = ["token"];
    if (run.measured) names.push(`band${bandOf(this.bands, valueAt(run, measure, step, p))}`);
    if (valueAt(run, "core", step, p)) names.push("core");
    else if (valueAt(run, "hidden", step, p)) names.push("hides");
    if (run.given[p] && p >= run.start) names.push("given");
    if (step && run.canvases[step - 1][p] !== canvas[p]) names.push("new");
    if (p >= end) names.push("after");
    return names;
  }
}
