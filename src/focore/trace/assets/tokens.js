// The canvas of a run: redrawn when the step or the colours change.

class Tokens extends TokenList {
  constructor(run, bands, lists, choose) {
    super([[lists[0], run.start], [lists[1], run.length - run.start]], choose);
    this.run = run;
    this.bands = bands;
  }

  draw(step, measure, other) {
    const { run } = this;
    const canvas = run.canvases[step];
    const texts = spell(run, canvas);
    const end = this.end(canvas);
    this.spans.forEach((span, p) => {
      const again = run.ends.includes(canvas[p]) && (p > end || canvas[p - 1] === canvas[p]);
      const names = this.classes(step, measure, p, canvas, end);
      if (other && other[p] !== canvas[p] && ![canvas[p], other[p]].includes(run.mask)) {
        names.push("differs");
      }
      const sure = canvas[p] === run.mask ? valueAt(run, "confidence", step, p) : 0;
      this.mark(span, again ? "·" : texts[p], names, sure);
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
