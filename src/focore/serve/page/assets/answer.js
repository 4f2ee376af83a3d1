"use strict";
// One answer: its canvas as it denoises, what it takes, its text, its errors.

class Canvas extends TokenList {
  constructor(list, length, choose) {
    super([[list, length]], choose);
    this.when = new Array(length).fill(0);
    this.sure = new Array(length).fill(0);
  }

  draw(step, other) {
    this.now = step;
    for (const p of step.committed) {
      this.when[p] = step.step + 1;
      this.sure[p] = step.confidence[p];
    }
    const ends = new Set(step.ends);
    const end = this.end(step.canvas, ends);
    this.spans.forEach((span, p) => {
      const text = step.canvas[p];
      const names = text === null ? ["mask"] : this.names(step, p, end);
      if (other && text !== null && other[p] !== null && other[p] !== text) names.push("differs");
      this.mark(span, this.shown(text, ends.has(p), p > end || ends.has(p - 1)), names, text === null ? step.confidence[p] : 0);
    });
  }

  // Where the answer ends; beyond its last position while that is not known.
  end(canvas, ends) {
    const open = canvas.indexOf(null);
    const first = Math.min(...ends);
    return first < (open < 0 ? canvas.length : open) ? first : canvas.length;
  }

  names(step, p, end) {
    const names = ["token"];
    if (step.bands) names.push(`band${step.bands[p]}`);
    if (step.core.includes(p)) names.push("core");
    if (step.committed.includes(p)) names.push("new");
    if (p >= end) names.push("after");
    return names;
  }

  shown(text, ends, again) {
    if (text === null) return " ";
    if (ends) return again ? "·" : "∎";
    return visible(text) || "⟨⟩";
  }

  described(p) {
    const { now } = this;
    const text = now.canvas[p];
    const said = [text === null ? "open" : `“${visible(text).replace(/\n/g, "").trim() || "␣"}”`, `position ${p + 1}`];
    if (text === null) said.push(`best proposal ${percent(now.confidence[p])}`);
    else said.push(this.when[p] ? `written in step ${this.when[p]} with confidence ${percent(this.sure[p])}` : "given");
    if (text !== null && now.instability) said.push(`S ${shortNumber(now.instability[p])}`);
    if (now.core.includes(p)) said.push("core");
    return said.join(" · ");
  }
}

function percent(share) {
  return `${(share * 100).toFixed(1)}%`;
}

class Answer {
  constructor(method, announce) {
    this.method = method;
    this.announce = announce;
    this.article = document.getElementById("answer").content.cloneNode(true).firstElementChild;
    this.article.setAttribute("aria-label", `Answer by ${method}`);
    this.find("h3").textContent = method;
    this.find(".tokens").setAttribute("aria-label", `Tokens of the answer by ${method}`);
    this.find(".trace").addEventListener("click", (event) => this.openTrace(event));
    this.text = "";
    this.passes = 0;
    this.state = "waiting";
    this.tell("waiting");
  }

  find(selector) {
    return this.article.querySelector(selector);
  }

  tell(text) {
    this.find(".cost").textContent = text;
  }

  // Take in an event of the stream; `drawn` says whether its canvas is shown.
  take(event, drawn) {
    const { choices, focore } = event;
    for (const choice of choices) this.text += (choice.delta && choice.delta.content) || "";
    if (focore && focore.canvas) this.step(focore, drawn);
    if (choices.some((choice) => choice.finish_reason)) this.finish(focore);
  }

  step(step, drawn) {
    this.state = "running";
    this.last = step;
    this.passes += step.passes;
    this.tell(`step ${step.step + 1} · ${plural(this.passes, "pass")}`);
    if (drawn) this.draw();
  }

  draw() {
    if (!this.last) return;
    const choose = (position, aloud) => this.choose(position, aloud);
    this.canvas = this.canvas || new Canvas(this.find(".tokens"), this.last.canvas.length, choose);
    this.canvas.draw(this.last, this.rival && this.rival.last && this.rival.last.canvas);
  }

  choose(position, aloud) {
    this.canvas.select(position);
    this.find(".detail").textContent = this.canvas.described(position);
    if (aloud) this.announce(this.find(".detail").textContent);
  }

  finish(summary) {
    this.state = "done";
    this.draw();
    this.tell(`${plural(summary.steps, "step")} · ${plural(summary.passes, "pass")} · ${summary.seconds.toFixed(2)} s`);
    this.find(".said").textContent = visible(this.text).replaceAll("↵", "");
    this.find(".detail").textContent = "Point at a token, or tab to one, for what is known of it.";
    if (summary.trace) this.find(".trace").href = summary.trace;
    this.find(".trace").hidden = !summary.trace;
  }

  fail(message) {
    this.state = "failed";
    this.tell("not answered");
    this.complain(message);
  }

  stop() {
    this.state = "stopped";
    this.draw();
    this.tell(this.last ? `stopped at step ${this.last.step + 1} · ${plural(this.passes, "pass")}` : "stopped");
  }

  complain(message) {
    this.find(".error").hidden = false;
    this.find(".error").textContent = message;
  }

  async openTrace(event) {
    event.preventDefault();
    await openPage(this.find(".trace").href).catch((error) => this.complain(error.message));
  }

  spoken() {
    const said = { done: this.find(".said").textContent || "no text", failed: this.find(".error").textContent };
    return `${this.method}: ${said[this.state] || this.state}`;
  }
}
