"use strict";
// Options as fields. The server says which there are and checks them; only what was changed is sent.

let fieldsMade = 0;

class Field {
  constructor(option) {
    this.option = option;
    this.input = this.control();
    this.input.id = `field${fieldsMade++}`;
    this.error = element("p", { class: "error", id: `${this.input.id}-error` });
    const help = element("p", { class: "help hint", id: `${this.input.id}-help` }, option.help);
    this.input.setAttribute("aria-describedby", `${help.id} ${this.error.id}`);
    this.box = element("div", { class: "field", title: option.help || "" });
    this.box.append(element("label", { for: this.input.id }, option.label || option.name), this.input, help, this.error);
    this.fill(option.default);
  }

  control() {
    const { choices, low, high } = this.option;
    if (choices) return choice(choices);
    if (this.is("bool")) return element("input", { type: "checkbox" });
    if (!this.is("int", "float")) return element("input", { type: "text", autocomplete: "off" });
    const limits = Object.entries({ min: low, max: high }).filter(([, limit]) => limit !== undefined);
    return element("input", { type: "number", step: "any", ...Object.fromEntries(limits) });
  }

  is(...kinds) {
    return kinds.includes(this.option.kind);
  }

  fill(value) {
    if (this.is("bool")) this.input.checked = value;
    else this.input.value = written(value);
    if (value === null) this.input.placeholder = "none";
  }

  get value() {
    const { input, option } = this;
    if (this.is("bool")) return input.checked;
    if (input.validity.badInput) throw new Refused(400, { message: `${option.name} must be a number`, param: option.name });
    const text = input.value.trim();
    if (text === "") return option.default;
    if (this.is("int", "float")) return Number(text);
    return this.is("dict") || Array.isArray(option.default) ? structured(text) : text;
  }

  get changed() {
    return written(this.value) !== written(this.option.default);
  }

  complain(message) {
    this.error.textContent = message;
    if (message) this.input.setAttribute("aria-invalid", "true");
    else this.input.removeAttribute("aria-invalid");
  }
}

function choice(values) {
  const made = element("select");
  for (const value of values) made.append(element("option", { value }, value));
  return made;
}

function written(value) {
  return value === null ? "" : Array.isArray(value) ? value.join(", ") : String(value);
}

// A list such as `7.5, 5, 2.5` or a JSON object; what is neither is left for the server to refuse.
function structured(text) {
  try {
    return JSON.parse(text.startsWith("{") ? text : `[${text}]`);
  } catch {
    return text;
  }
}

class Fields {
  constructor(box) {
    this.box = box;
    this.fields = [];
  }

  show(options) {
    this.fields = options.map((option) => new Field(option));
    this.box.replaceChildren(...this.fields.map((field) => field.box));
  }

  values() {
    const said = this.fields.filter((field) => field.option.always || field.changed);
    return Object.fromEntries(said.map((field) => [field.option.name, field.value]));
  }

  clear() {
    for (const field of this.fields) field.complain("");
  }

  // Whether one of the fields is the one that a refusal is about: by its parameter, or its words.
  complain(refused) {
    const names = [String(refused.param || "").split(".").pop(), refused.message.split(/\W/, 1)[0]];
    const found = this.fields.find(({ option }) => names.includes(option.name) || names.includes(option.alias));
    if (found) found.complain(refused.message);
    return Boolean(found);
  }
}
