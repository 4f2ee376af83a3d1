"use strict";
// The conversation: questions go out, one or two answers denoise under each.

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const state = { model: "", defaults: {}, methods: [], turns: [], abort: null };
const sides = Array.from(document.querySelectorAll(".side"), (section) => ({
  choice: section.querySelector(".method"),
  rule: section.querySelector(".rule"),
  fields: new Fields(section.querySelector(".fields")),
}));
const sampling = new Fields($("sampling"));
const common = new Fields($("common"));
const NONE = "nothing";

function announce(text) {
  $("announce").textContent = text;
}

// --- what the server has ---------------------------------------------------------------------

async function connect() {
  try {
    [state.methods, [{ id: state.model, focore: state.defaults }]] = await Promise.all([list("v1/methods"), list("v1/models")]);
  } catch (error) {
    return refusedEntry(error);
  }
  $("access").hidden = true;
  suit(state.model);
  offer();
  await loaded();
  $("about").textContent = `Model ${state.model}. Every token is coloured by its instability: how much the model's prediction for it keeps shifting.`;
  $("send").disabled = false;
}

async function loaded() {
  while (!(await fetch("ready").catch(() => ({}))).ok) {
    $("about").textContent = `Model ${state.model} is not ready yet …`;
    await pause(1000);
  }
}

function refusedEntry(error) {
  if (error.status !== 401) {
    $("about").textContent = `${error.message}. Load the page again to try once more.`;
    return;
  }
  const again = !$("access").hidden;
  $("about").textContent = "A key is needed.";
  $("access").hidden = false;
  $("key-error").textContent = again ? error.message : "";
  $("key").focus();
}

// The shipped model gives short answers to single questions.
function suit(model) {
  const shipped = model === "tiny";
  $("remember").checked = !shipped;
  sampling.show(suited([
    { name: "max_tokens", alias: "gen_length", label: "tokens", help: "tokens to generate", kind: "int", default: shipped ? 32 : 128, low: 1, always: true },
    { name: "seed", help: "where randomness begins", kind: "int", default: 0, low: 0 },
    { name: "temperature", help: "randomness of tokens; 0 takes the best", kind: "float", default: 0, low: 0 },
    { name: "top_p", help: "keep the fewest tokens with this much probability", kind: "float", default: null, low: 0, high: 1 },
  ]));
}

// Options as this server begins them.
function suited(options) {
  const { options: own } = state.defaults;
  return options.map((option) => ({ ...option, default: own[option.alias || option.name] ?? option.default }));
}

function offer() {
  const names = state.methods.map((method) => method.name);
  sides.forEach((side, second) => {
    side.choice.replaceChildren(...choice(second ? [NONE, ...names] : names).children);
    side.choice.value = second ? NONE : state.defaults.method;
    showMethod(side);
  });
  common.show(suited(state.methods[0].options.filter((option) => option.common)));
}

function showMethod(side) {
  const method = state.methods.find(({ name }) => name === side.choice.value);
  side.rule.textContent = method ? method.rule : "";
  side.fields.show(suited(method ? method.options.filter((option) => !option.common) : []));
}

// --- one question ----------------------------------------------------------------------------

function requestOf(side, index, question) {
  return {
    model: state.model,
    messages: [...saidBefore(index), { role: "user", content: question }],
    stream: true,
    ...sampling.values(),
    focore: { method: side.choice.value, stream: "steps", trace: true, ...common.values(), ...side.fields.values() },
  };
}

// What was said before, as this side answered it.
function saidBefore(index) {
  if (!$("remember").checked) return [];
  return state.turns.flatMap(({ question, answers }) => {
    const answer = answers[index] || answers[0];
    if (answer.state !== "done") return [];
    return [{ role: "user", content: question }, { role: "assistant", content: answer.text }];
  });
}

async function ask(question) {
  const asked = sides.filter((side) => side.choice.value !== NONE);
  for (const fields of [sampling, common, ...sides.map((side) => side.fields)]) fields.clear();
  const answers = asked.map((side) => new Answer(side.choice.value, announce));
  if (answers.length > 1) answers.forEach((answer, i) => (answer.rival = answers[1 - i]));
  const turn = addTurn(question, answers);
  state.abort = new AbortController();
  busy(true);
  await Promise.all(asked.map((side, i) => follow(side, i, question, answers[i]))).finally(() => busy(false));
  for (const answer of answers) answer.draw();
  state.turns.push({ question, answers });
  turn.scrollIntoView({ block: "nearest" });
  announce(answers.map((answer) => answer.spoken()).join(". "));
}

async function follow(side, index, question, answer) {
  const { signal } = state.abort;
  let drawing = Promise.resolve();
  try {
    for await (const event of steps(requestOf(side, index, question), signal)) {
      // Steps are read as they come, and drawn in their own time.
      drawing = drawing.then(() => show(answer, event, signal));
    }
    await drawing;
  } catch (error) {
    await drawing;
    failed(side, answer, error);
  }
  if (signal.aborted && answer.state !== "done") answer.stop();
}

async function show(answer, event, signal) {
  const pace = $("pace").value;
  if (signal.aborted) return;
  answer.take(event, pace !== "end");
  if (Number(pace)) await pause(Number(pace));
}

function pause(milliseconds) {
  return new Promise((wake) => setTimeout(wake, milliseconds));
}

function failed(side, answer, error) {
  if (error.name === "AbortError") return;
  if (!(error instanceof Refused)) throw error;
  answer.fail(error.message);
  if (error.status === 401) refusedEntry(error);
  else if ([side.fields, sampling, common].some((fields) => fields.complain(error))) $("settings").open = true;
}

function addTurn(question, answers) {
  const turn = $("turn").content.cloneNode(true).firstElementChild;
  turn.querySelector(".question").textContent = visible(question).replaceAll("↵", "");
  const box = turn.querySelector(".answers");
  box.classList.toggle("several", answers.length > 1);
  box.append(...answers.map((answer) => answer.article));
  $("welcome").hidden = true;
  $("talk").append(turn);
  turn.scrollIntoView({ block: "start" });
  return turn;
}

// --- controls --------------------------------------------------------------------------------

function busy(running) {
  $("send").disabled = running;
  $("stop").disabled = !running;
  $("clear").disabled = running;
  $("talk").setAttribute("aria-busy", String(running));
}

function submit(event) {
  event.preventDefault();
  const question = $("question").value.trim();
  if (!question || $("send").disabled) return;
  $("question").value = "";
  ask(question);
}

function clear() {
  state.turns = [];
  $("talk").replaceChildren();
  $("welcome").hidden = false;
  $("clear").disabled = true;
  $("question").focus();
}

function pickExample(event) {
  const example = event.target.closest("button");
  if (!example) return;
  $("question").value = example.textContent;
  $("composer").requestSubmit();
  $("question").focus();
}

function stop() {
  if (state.abort) state.abort.abort();
}

function press(event) {
  if (event.key === "Escape") stop();
  if (event.target !== $("question") || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  $("composer").requestSubmit();
}

function useKey(event) {
  event.preventDefault();
  access.key = $("key").value;
  $("key").value = "";
  connect();
}

drawLegend($("legend"), [...bandMarks(data.bands), ["token core", "core"], ["token new", "just written"], ["mask", "open, filled by confidence"], ["token differs", "differs"]]);
$("made").textContent = `focore ${data.version}`;
$("settings").open = matchMedia("(min-width: 60rem)").matches;
if (matchMedia("(prefers-reduced-motion: reduce)").matches) $("pace").value = "end";
for (const side of sides) side.choice.addEventListener("change", () => showMethod(side));
$("composer").addEventListener("submit", submit);
$("access").addEventListener("submit", useKey);
$("welcome").addEventListener("click", pickExample);
$("stop").addEventListener("click", stop);
$("clear").addEventListener("click", clear);
document.addEventListener("keydown", press);
connect();
