// The page: one state, drawn by one function.

const data = JSON.parse(document.getElementById("data").textContent);
const runs = data.runs.map(readRun);
const lastStep = Math.max(0, ...runs.map((run) => run.steps));
const $ = (id) => document.getElementById(id);
const state = { step: lastStep, measure: "peak", chosen: mostUnstable(), timer: null };
const RTL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/g;

// The token of the answer that moved most, so that the page opens on something to see.
function mostUnstable() {
  const run = runs[runs.length - 1];
  if (!run || !run.steps || !run.measured) return null;
  const peaks = run.peak.slice(-run.length).map((value, p) => (run.given[p] ? -1 : value));
  return peaks.indexOf(peaks.reduce((a, b) => Math.max(a, b), -1));
}

function isRightToLeft(run) {
  const text = Array.from(run.canvases[run.steps], (token) => run.pieces[token] || "").join("");
  return (text.match(RTL) || []).length > (text.match(/\p{Script=Latin}/gu) || []).length;
}

class Panel {
  constructor(run, index) {
    this.run = run;
    this.article = $("panel").content.cloneNode(true).firstElementChild;
    const find = (selector) => this.article.querySelector(selector);
    find("h2").textContent = run.method;
    this.cost = find(".cost");
    this.different = find(".different");
    this.verdict(find(".verdict"));
    const lists = [find(".prompt .tokens"), find(".answer")];
    for (const list of lists) list.dir = isRightToLeft(run) ? "rtl" : "ltr";
    find(".prompt").hidden = run.start === 0;
    find(".prompt").open = run.start <= 200;
    this.tokens = new Tokens(run, data.bands, lists, choose);
    this.inspector = new Inspector(find(".inspector"), run, data.bands);
    this.order = new Order(find(".order"), run, choose);
    this.lines = [this.confidence(find(".confidence"))];
    if (run.measured) this.lines.push(new Line(find(".convergence"), run.convergence, SCALES.log, "Mean instability", go));
    else find(".convergence").replaceChildren(element("figcaption", {}, "This method keeps several canvases; its instability is not measured."));
    this.options(find(".options dl"));
    this.rivals = runs.filter((_, i) => (index ? i === 0 : runs.length === 2 && i === 1));
  }

  verdict(mark) {
    if (this.run.right === null) return;
    mark.hidden = false;
    mark.classList.add(this.run.right ? "right" : "wrong");
    mark.textContent = this.run.right ? "✓ right" : "✗ wrong";
  }

  confidence(figure) {
    const { run } = this;
    const means = run.changes.map((change, step) => {
      const sure = change.filter((_, i) => i % 2 === 0).map((p) => run.confidence[step * run.length + p]);
      const known = sure.filter((value) => value > 0);
      return known.length ? known.reduce((a, b) => a + b) / known.length : null;
    });
    return new Line(figure, means, SCALES.share, "Mean confidence", go);
  }

  options(list) {
    for (const [name, value] of Object.entries({ seed: this.run.seed, ...this.run.options })) {
      list.append(element("dt", {}, name), element("dd", {}, String(value)));
    }
  }

  draw() {
    const { run } = this;
    const step = Math.min(state.step, run.steps);
    const rival = $("differences").checked ? this.rivals[0] : undefined;
    const other = rival && rival.canvases[Math.min(state.step, rival.steps)];
    this.tokens.draw(step, state.measure, other);
    this.tokens.select(state.chosen);
    this.order.draw(step, state.chosen);
    for (const line of this.lines) line.move(step);
    this.inspector.show(state.chosen, step);
    const done = step === run.steps ? " · done" : "";
    this.cost.textContent = `step ${step} of ${run.steps} · ${plural(run.passesUntil[step], "pass")} · ${run.secondsUntil[step].toFixed(2)} s${done}`;
    this.tell(rival);
  }

  tell(rival) {
    this.different.hidden = !rival;
    if (!rival) return;
    const count = this.article.querySelectorAll(".differs").length;
    this.different.classList.toggle("none", !count);
    this.different.textContent = count ? `${plural(count, "token")} differ${count === 1 ? "s" : ""} from ${rival.method}` : `no written token differs from ${rival.method}`;
  }
}

function describeStep() {
  const told = runs.map((run) => {
    const step = Math.min(state.step, run.steps);
    const change = step ? run.changes[step - 1] : [];
    const words = change.filter((_, i) => i % 2).slice(0, 6).map((token) => named(run, token).trim());
    return `${runs.length > 1 ? `${run.method}: ` : ""}${plural(change.length / 2, "token")} written${words.length ? `: ${words.join(", ")}` : ""}`;
  });
  return `Step ${state.step} of ${lastStep}. ${told.join(". ")}`;
}

function draw() {
  for (const panel of panels) panel.draw();
  $("slider").value = state.step;
  $("slider").setAttribute("aria-valuetext", `step ${state.step} of ${lastStep}`);
  $("now").textContent = `step ${state.step} of ${lastStep}`;
  if (state.timer === null) $("announce").textContent = describeStep();
}

function go(step) {
  state.step = Math.max(0, Math.min(lastStep, step));
  draw();
}

// Pointing is silent; a token that is focused is also said.
function choose(position, aloud = false) {
  if (position === state.chosen && !aloud) return;
  state.chosen = position;
  for (const panel of panels) {
    const step = Math.min(state.step, panel.run.steps);
    panel.tokens.select(position);
    panel.order.draw(step, position);
    panel.inspector.show(position, step);
  }
  if (aloud) $("announce").textContent = panels.map((panel) => panel.inspector.spoken()).join(". ");
}

function stop() {
  clearInterval(state.timer);
  state.timer = null;
  $("play").textContent = "▶\ufe0e Play";
  $("play").setAttribute("aria-label", "Play");
  draw();
}

function play() {
  if (state.step >= lastStep) go(0);
  const delay = Math.min(400, Math.max(30, 9000 / Math.max(1, lastStep))) / Number($("speed").value);
  state.timer = setInterval(() => (state.step < lastStep ? go(state.step + 1) : stop()), delay);
  $("play").textContent = "❚❚ Pause";
  $("play").setAttribute("aria-label", "Pause");
}

function toggle() {
  if (state.timer === null) play();
  else stop();
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const within = (selector) => event.target.closest(selector) !== null;
  const actions = { ",": () => go(state.step - 1), ".": () => go(state.step + 1) };
  if (!within("input, select")) {
    Object.assign(actions, { ArrowLeft: actions[","], ArrowRight: actions["."] });
    Object.assign(actions, { Home: () => go(0), End: () => go(lastStep) });
    if (!within("button, summary")) actions[" "] = toggle;
  }
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function marks() {
  const found = runs.some((run) => run.measured) ? bandMarks(data.bands) : [];
  found.push(["token core", "core"], ["token hides", "hidden in the second pass"], ["token new", "just written"], ["mask", "open, filled by confidence"]);
  return runs.length > 1 ? [...found, ["token differs", "differs"]] : found;
}

const panels = runs.map((run, index) => new Panel(run, index));
$("panels").append(...panels.map((panel) => panel.article));
$("panels").classList.toggle("several", panels.length > 1);
$("subtitle").textContent = visible(data.title).replaceAll("↵", "");
$("made").textContent = `Model ${runs.map((run) => run.model)[0] || ""} · made by focore ${data.version}`;
$("slider").max = lastStep;
$("differences-choice").hidden = runs.length < 2;
$("measure").hidden = !runs.some((run) => run.measured);
$("slider").addEventListener("input", (event) => go(Number(event.target.value)));
$("play").addEventListener("click", toggle);
for (const [id, by] of Object.entries({ first: -Infinity, back: -1, forward: 1, last: Infinity })) {
  $(id).addEventListener("click", () => go(state.step + by));
}
$("speed").addEventListener("change", () => state.timer !== null && (stop(), play()));
$("differences").addEventListener("change", draw);
$("measure").addEventListener("change", (event) => {
  state.measure = event.target.value;
  draw();
});
document.addEventListener("keydown", press);
drawLegend($("legend"), marks());
const asked = Number(location.hash.slice(1));
go(location.hash && Number.isInteger(asked) ? asked : lastStep);
