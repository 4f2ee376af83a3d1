// Tokens as readers see them.

const LONGEST = 8;

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
