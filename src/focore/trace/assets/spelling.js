// Tokens as readers see them. Everything here becomes text nodes, never markup.

const LONGEST = 8;
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

function named(run, token) {
  if (token === run.mask) return "[MASK]";
  const text = run.pieces[token];
  return text === undefined || text === "" ? `⟨${token}⟩` : visible(text).replace(/\n/g, "");
}

// The text at each position of a canvas: a character of several tokens stands at its first one.
function spell(run, canvas) {
  const texts = new Array(canvas.length);
  for (let p = 0; p < canvas.length; p++) {
    const size = joinedSize(run, canvas, p);
    if (size > 1) {
      texts[p] = visible(run.joined[canvas.slice(p, p + size).join(",")]);
      texts.fill("‥", p + 1, p + size);
      p += size - 1;
    } else if (canvas[p] === run.mask) texts[p] = " ";
    else if (run.ends.includes(canvas[p])) texts[p] = "∎";
    else texts[p] = visible(run.pieces[canvas[p]] || `⟨${canvas[p]}⟩`);
  }
  return texts;
}

function joinedSize(run, canvas, p) {
  if (!(run.pieces[canvas[p]] || "").includes("\ufffd")) return 1;
  for (let size = 2; size <= Math.min(LONGEST, canvas.length - p); size++) {
    if (canvas.slice(p, p + size).join(",") in run.joined) return size;
  }
  return 1;
}

function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : noun === "pass" ? "es" : "s"}`;
}

function shortNumber(value) {
  if (value === 0) return "0";
  return Math.abs(value) < 0.001 ? value.toExponential(1) : value.toPrecision(3);
}
