// A run as the page reads it: canvases, measures, what was written when.

function bytesOf(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

function halfToNumber(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

// Rows of (steps, length), each stored from its first to its last value that is not 0.
function spread({ bounds, values }, steps, length) {
  const bytes = new DataView(bytesOf(values).buffer);
  const table = new Float32Array(steps * length);
  let at = 0;
  for (let step = 0; step < steps; step++) {
    for (let p = bounds[2 * step]; p < bounds[2 * step + 1]; p++, at += 2) {
      table[step * length + p] = halfToNumber(bytes.getUint16(at, true));
    }
  }
  return table;
}

function bits(text, count) {
  const bytes = bytesOf(text);
  return Uint8Array.from({ length: count }, (_, i) => (bytes[i >> 3] >> (7 - (i & 7))) & 1);
}

function replay(first, changes) {
  const canvases = [Int32Array.from(first)];
  for (const change of changes) {
    const next = canvases[canvases.length - 1].slice();
    for (let i = 0; i < change.length; i += 2) next[change[i]] = change[i + 1];
    canvases.push(next);
  }
  return canvases;
}

// The step (1, 2, ...) that wrote each position for the last time; 0 for what was given.
function writtenAt(first, changes) {
  const when = new Int32Array(first.length);
  changes.forEach((change, step) => {
    for (let i = 0; i < change.length; i += 2) when[change[i]] = step + 1;
  });
  return when;
}

function accumulated(table, steps, length, combine) {
  const result = table.slice();
  for (let i = length; i < steps * length; i++) result[i] = combine(result[i - length], table[i]);
  return result;
}

function readRun(data) {
  const steps = data.changes.length;
  const length = data.first.length;
  const instability = spread(data.instability, steps, length);
  const divergence = spread(data.divergence, steps, length);
  const run = { ...data, steps, length, instability, divergence };
  run.confidence = spread(data.confidence, steps, length);
  run.peak = accumulated(instability, steps, length, Math.max);
  run.total = accumulated(divergence, steps, length, (sum, value) => sum + value);
  run.core = bits(data.core, steps * length);
  run.hidden = bits(data.hidden, steps * length);
  run.canvases = replay(data.first, data.changes);
  run.when = writtenAt(data.first, data.changes);
  run.given = data.first.map((token) => token !== data.mask);
  run.passesUntil = [0];
  run.secondsUntil = [0];
  for (let step = 0; step < steps; step++) {
    run.passesUntil.push(run.passesUntil[step] + data.passes[step]);
    run.secondsUntil.push(run.secondsUntil[step] + data.seconds[step]);
  }
  return run;
}

// A measure at a position after `step` steps; 0 before the first.
function valueAt(run, table, step, position) {
  return step ? run[table][(step - 1) * run.length + position] : 0;
}

function history(run, table, position) {
  return Array.from({ length: run.steps }, (_, step) => run[table][step * run.length + position]);
}

function bandOf(bands, value) {
  const found = bands.findIndex((band) => value > band.floor);
  return found < 0 ? bands.length - 1 : found;
}
