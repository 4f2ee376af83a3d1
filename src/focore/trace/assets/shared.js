// What every page has. All text here becomes text nodes, never markup.

function element(name, attributes = {}, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

const INVISIBLE = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

function codepoint(c) {
  return `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

// Line ends stay and are shown; controls that would reorder or hide other text are named.
function visible(text) {
  const shown = text
    .replace(/\r\n?/g, "\n")
    .replace(/[^\n\t]+/g, (part) => part.replace(INVISIBLE, codepoint))
    .replace(/\n/g, "↵\n");
  return /^\p{M}/u.test(shown) ? `◌${shown}` : shown;
}

function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : noun === "pass" ? "es" : "s"}`;
}

function shortNumber(value) {
  if (value === 0) return "0";
  return Math.abs(value) < 0.001 ? value.toExponential(1) : value.toPrecision(3);
}

// A list of marks and what they mean.
function drawLegend(list, marks) {
  for (const [names, text] of marks) {
    const item = element("li");
    item.append(element("span", { class: names, "aria-hidden": "true" }, names === "mask" ? " " : "ab"), text);
    list.append(item);
  }
}

function bandMarks(bands) {
  return bands.map((band, i) => [`token band${i}`, band.floor ? `${band.name}, > ${band.floor}` : band.name]);
}

// One element a token, to be pointed at or walked through by keys; `lists` are [element, count].
class TokenList {
  constructor(lists, choose) {
    this.choose = choose;
    this.spans = [];
    for (const [list, count] of lists) {
      for (let i = 0; i < count; i++) this.add(list);
      this.listen(list);
    }
  }

  add(list) {
    const span = element("span", { role: "option", tabindex: "-1", "aria-selected": "false" });
    span.dataset.position = this.spans.length;
    list.append(span);
    this.spans.push(span);
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

  // An open position is filled by how sure its proposal is.
  mark(span, text, names, sure) {
    if (span.textContent !== text) span.textContent = text;
    const joined = names.join(" ");
    if (span.className !== joined) span.className = joined;
    span.style.setProperty("--sure", sure.toFixed(2));
    if (names.includes("mask")) span.setAttribute("aria-label", "mask");
    else span.removeAttribute("aria-label");
  }
}
