// Lines over the steps, and the strip of the order. Labels are HTML, so that they keep their size.

const SVG = "http://www.w3.org/2000/svg";
const CIVIDIS = [[0, 32, 77], [65, 77, 107], [124, 123, 120], [188, 175, 111], [255, 234, 70]];
const LOG_TICKS = [1, 0.1, 0.01, 0.001, 0.0001];

function svg(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function cividis(share) {
  const place = Math.min(share, 0.9999) * (CIVIDIS.length - 1);
  const low = Math.floor(place);
  const mixed = CIVIDIS[low].map((c, i) => c + (CIVIDIS[low + 1][i] - c) * (place - low));
  return `rgb(${mixed.map(Math.round).join(",")})`;
}

const SCALES = {
  log: {
    place: (value) => Math.min(1, Math.max(0, -Math.log10(Math.max(value, 1e-9)) / 4)),
    ticks: LOG_TICKS,
  },
  share: { place: (value) => 1 - Math.min(1, Math.max(0, value)), ticks: [1, 0.5, 0] },
};

// One line over the steps; `values` has null where nothing was measured.
class Line {
  constructor(figure, values, scale, name, go) {
    this.steps = values.length;
    const box = element("div", { class: "plot" });
    const labels = element("div", { class: "ticks", "aria-hidden": "true" });
    this.drawn = svg("svg", {
      viewBox: `0 0 ${Math.max(1, this.steps)} 100`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": this.described(values, name),
    });
    for (const tick of scale.ticks) {
      const y = scale.place(tick) * 100;
      this.drawn.append(svg("line", { class: "grid", x1: 0, x2: this.steps, y1: y, y2: y }));
      const label = element("span", {}, String(tick));
      label.style.setProperty("top", `${y}%`);
      labels.append(label);
    }
    this.drawn.append(svg("path", { class: "line", d: this.path(values, scale) }));
    this.cursor = svg("line", { class: "cursor", y1: 0, y2: 100 });
    this.drawn.append(this.cursor);
    box.append(labels, this.drawn);
    figure.append(box, this.feet());
    if (go) this.drawn.addEventListener("click", (event) => go(this.stepAt(event)));
  }

  path(values, scale) {
    let pen = "M";
    let path = "";
    values.forEach((value, step) => {
      if (value === null || Number.isNaN(value)) pen = "M";
      else {
        const y = scale.place(value) * 100;
        path += `${pen}${step} ${y.toFixed(2)}L${step + 1} ${y.toFixed(2)}`;
        pen = "L";
      }
    });
    return path;
  }

  described(values, name) {
    const known = values.filter((value) => value !== null && !Number.isNaN(value));
    if (!known.length) return `${name}: not measured`;
    const [first, last] = [known[0], known[known.length - 1]].map(shortNumber);
    return `${name} by step: ${first} first, ${last} last, at most ${shortNumber(known.reduce((a, b) => Math.max(a, b)))}`;
  }

  feet() {
    const feet = element("div", { class: "feet", "aria-hidden": "true" });
    feet.append(element("span", {}, "step 1"), element("span", {}, `step ${this.steps}`));
    return feet;
  }

  stepAt(event) {
    const box = this.drawn.getBoundingClientRect();
    return Math.min(this.steps, Math.floor(((event.clientX - box.left) / box.width) * this.steps) + 1);
  }

  move(step) {
    const x = Math.max(0, step - 0.5);
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
  }
}

// A cell for each position to decide, dark for the first written, light for the last.
class Order {
  constructor(figure, run, choose) {
    this.run = run;
    this.positions = Array.from(run.when.keys()).filter((p) => !run.given[p]);
    this.drawn = svg("svg", {
      viewBox: `0 0 ${Math.max(1, this.positions.length)} 10`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": this.described(),
    });
    this.cells = this.positions.map((_, i) => svg("rect", { x: i, y: 0, width: 1, height: 10 }));
    this.drawn.append(...this.cells);
    const feet = element("div", { class: "feet", "aria-hidden": "true" });
    feet.append(element("span", {}, "start of the answer"), element("span", { class: "ramp" }, "first … last written"), element("span", {}, "end"));
    figure.append(this.drawn, feet);
    const point = (event) => {
      const i = this.cells.indexOf(event.target);
      if (i >= 0) choose(this.positions[i]);
    };
    this.drawn.addEventListener("pointerover", point);
    this.drawn.addEventListener("click", point);
  }

  described() {
    const ordered = [...this.positions].sort((a, b) => this.run.when[a] - this.run.when[b]);
    const first = ordered.slice(0, 5).map((p) => p - this.run.start + 1);
    return `Order of decoding: ${this.positions.length} positions; written first: ${first.join(", ")}`;
  }

  draw(step, chosen) {
    this.cells.forEach((cell, i) => {
      const p = this.positions[i];
      const when = this.run.when[p];
      const written = when && when <= step;
      cell.setAttribute("fill", written ? cividis((when - 1) / Math.max(1, this.run.steps - 1)) : "transparent");
      cell.classList.toggle("chosen", p === chosen);
    });
  }
}
