// One token: what it is, how it moved, what else might have stood there.

class Inspector {
  constructor(section, run, bands) {
    this.section = section;
    this.run = run;
    this.bands = bands;
    this.position = null;
  }

  // `step` only moves the figures; another position draws anew.
  show(position, step) {
    if (position === null || position >= this.run.length) return;
    if (position !== this.position) {
      this.position = position;
      this.build();
    }
    for (const [name, value] of Object.entries(this.facts(step))) this.cells[name].textContent = value;
    this.head.textContent = this.title(step);
    for (const line of this.lines) line.move(step);
  }

  build() {
    const { run, position } = this;
    this.head = element("h3");
    const facts = element("dl");
    this.cells = {};
    for (const name of Object.keys(this.facts(run.steps))) {
      const row = element("div");
      this.cells[name] = element("dd");
      row.append(element("dt", {}, name), this.cells[name]);
      facts.append(row);
    }
    const small = element("div", { class: "small" });
    this.lines = this.plots(small, position);
    this.section.replaceChildren(this.head, facts, small, ...this.candidates(position));
  }

  plots(small, position) {
    const { run } = this;
    const lines = [];
    const add = (title, values, scale) => {
      const figure = element("figure");
      figure.append(element("figcaption", {}, title));
      small.append(figure);
      lines.push(new Line(figure, values, scale, title));
    };
    if (run.measured) {
      const written = (value, step) => (run.canvases[step][position] === run.mask ? null : value);
      add("Instability S", history(run, "instability", position).map(written), SCALES.log);
    }
    if (!run.given[position]) {
      const proposed = history(run, "confidence", position).map((value) => value || null);
      add("Confidence of what was proposed", proposed, SCALES.share);
    }
    return lines;
  }

  candidates(position) {
    const found = this.run.candidates[position];
    if (!found) return [];
    const list = element("ol", { class: "candidates" });
    for (let i = 0; i < found.length; i += 2) {
      const item = element("li");
      const bar = element("span", { class: "bar", "aria-hidden": "true" });
      bar.style.setProperty("--share", found[i + 1]);
      const word = element("bdi", {}, named(this.run, found[i]));
      item.append(word, bar, element("span", { class: "share" }, `${(found[i + 1] * 100).toFixed(1)}%`));
      list.append(item);
    }
    return [element("h4", {}, "Likeliest when it was written"), list];
  }

  title(step) {
    const { run, position } = this;
    const inside = position >= run.start;
    const place = inside ? `position ${position - run.start + 1}` : `prompt, position ${position + 1}`;
    return `“${named(run, run.canvases[step][position]).trim() || "␣"}” · ${place}`;
  }

  facts(step) {
    const { run, position } = this;
    const when = run.when[position];
    const facts = { written: when ? `step ${when}` : "given" };
    if (when) {
      const sure = run.confidence[(when - 1) * run.length + position];
      facts.confidence = sure ? `${(sure * 100).toFixed(1)}%` : "none";
    }
    if (!run.measured) return facts;
    const now = valueAt(run, "instability", step, position);
    facts["S now"] = shortNumber(now);
    facts["S largest"] = shortNumber(valueAt(run, "peak", step, position));
    facts["sum of D"] = shortNumber(valueAt(run, "total", step, position));
    facts.core = this.count("core", step);
    if (run.hidden.some(Boolean)) facts["hidden"] = this.count("hidden", step);
    return facts;
  }

  spoken() {
    if (this.position === null) return "";
    const facts = Object.entries(this.cells).map(([name, cell]) => `${name} ${cell.textContent}`);
    return `${this.run.method}: ${this.head.textContent}, ${facts.join(", ")}`;
  }

  count(table, step) {
    let found = 0;
    for (let t = 1; t <= step; t++) found += valueAt(this.run, table, t, this.position);
    return plural(found, "step");
  }
}
