// Reduce: makes a failing program small while it keeps failing.
//
// Generated programs have one statement per line and blocks by indentation, so three moves suffice:
// drop runs of lines (delta debugging), replace a block by its body, and replace a bracketed
// part of a line by something trivial.  Candidates are tested in batches, because one run
// of the engines can answer many of them.

const BATCH = 48;

const indentOf = line => line.length - line.trimStart().length;

// Ranges [start, end) worth removing: halves, quarters ... and whole blocks.
function removals(lines, size) {
  const found = [];
  for (let at = 0; at < lines.length; at += size) found.push([at, Math.min(lines.length, at + size)]);
  return found;
}

// A block is a line that ends in "{" up to the first later line at its indentation that closes it.
function blocks(lines) {
  const found = [];
  lines.forEach((line, at) => {
    if (!/[{(]$/.test(line)) return;
    for (let end = at + 1; end < lines.length; end++) {
      if (indentOf(lines[end]) > indentOf(line)) continue;
      if (/\{$/.test(lines[end])) continue;
      found.push([at, end + 1]);
      return;
    }
  });
  return found;
}

const without = (lines, [start, end]) => [...lines.slice(0, start), ...lines.slice(end)];

function unwrapped(lines, [start, end]) {
  const inner = lines.slice(start + 1, end - 1).filter(line => !/^\s*\}.*\{$/.test(line));
  return [...lines.slice(0, start), ...inner, ...lines.slice(end)];
}

// Bracketed parts of a line: [start, end) in characters, longest first.
function groups(line) {
  const stack = [];
  const found = [];
  for (let i = 0; i < line.length; i++) {
    if ('([{'.includes(line[i])) stack.push(i);
    else if (')]}'.includes(line[i]) && stack.length) found.push([stack.pop(), i + 1]);
  }
  return found.sort((a, b) => (b[1] - b[0]) - (a[1] - a[0]));
}

function* lineSimplifications(lines) {
  for (let at = 0; at < lines.length; at++) {
    for (const [start, end] of groups(lines[at]).slice(0, 12)) {
      const before = lines[at].slice(0, start);
      const after = lines[at].slice(end);
      const inside = lines[at].slice(start + 1, end - 1);
      const open = lines[at][start];
      const choices = open === '(' ? ['(0)', '()', `${inside}`] : open === '[' ? ['[]', '[0]'] : ['{}'];
      for (const text of choices) {
        if (text.length >= end - start) continue;
        const changed = [...lines];
        changed[at] = before + text + after;
        yield changed;
      }
    }
    const parts = lines[at].split(', ');
    for (let i = 0; parts.length > 1 && i < Math.min(parts.length, 10); i++) {
      const changed = [...lines];
      changed[at] = parts.filter((_, k) => k !== i).join(', ');
      yield changed;
    }
  }
}

// The first candidate that still fails, or null.
async function firstFailing(candidates, stillFails, limit) {
  for (let at = 0; at < candidates.length && Date.now() < limit; at += BATCH) {
    const batch = candidates.slice(at, at + BATCH);
    const verdicts = await stillFails(batch.map(lines => lines.join('\n')));
    const hit = verdicts.indexOf(true);
    if (hit >= 0) return batch[hit];
  }
  return null;
}

// stillFails: async (programs) => booleans.  Gives the smallest failing program found in the time.
export async function reduceProgram(source, stillFails, { seconds = 60 } = {}) {
  const limit = Date.now() + seconds * 1000;
  let lines = source.split('\n');
  for (let isSmaller = true; isSmaller && Date.now() < limit;) {
    isSmaller = false;
    for (let size = Math.ceil(lines.length / 2); size >= 1 && Date.now() < limit; size = size > 1 ? Math.ceil(size / 2) : 0) {
      for (;;) {
        const smaller = await firstFailing(removals(lines, size).map(range => without(lines, range)), stillFails, limit);
        if (!smaller) break;
        lines = smaller;
        isSmaller = true;
      }
    }
    for (;;) {
      const ranges = blocks(lines);
      const smaller = await firstFailing([...ranges.map(r => without(lines, r)), ...ranges.map(r => unwrapped(lines, r))], stillFails, limit);
      if (!smaller) break;
      lines = smaller;
      isSmaller = true;
    }
    for (;;) {
      const smaller = await firstFailing([...lineSimplifications(lines)], stillFails, limit);
      if (!smaller) break;
      lines = smaller;
      isSmaller = true;
    }
  }
  return lines.join('\n');
}
