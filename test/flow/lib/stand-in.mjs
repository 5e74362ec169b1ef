// Stand-in: a pretended abide for the selftest.  It answers like Node, but for one fault chosen by
// STAND_IN_FAULT: value, message, refuse, crash, lenient, operator, or none.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { FrameReader, frame } from './frames.mjs';
import { oracleEngine, runPrograms } from './engines.mjs';

const fault = process.env.STAND_IN_FAULT ?? '';
const isBatch = process.argv.includes('--batch');

// Which programs the fault touches: those with this construct.
const isTouched = source => /\bswitch \(2\) \{ case 1: out\.push\(1\)/.test(source);

function change(source, answer) {
  if (fault === 'value' && isTouched(source)) return { ok: true, result: `${answer.result} ` };
  if (fault === 'message' && !answer.ok && answer.phase === 'run') return { ...answer, error: { ...answer.error, message: 'other words' } };
  if (fault === 'refuse' && isTouched(source)) return { ok: false, phase: 'load', error: { name: 'SyntaxError', message: 'switch is not supported yet' } };
  if (fault === 'lenient' && !answer.ok && answer.phase === 'load') return { ok: true, result: null };
  return answer;
}

// A VM that computes ">>>" as ">>".
const prepare = source => fault === 'operator' ? source.replaceAll('>>>', '>>') : source;

async function answerAll() {
  const node = spawn(process.execPath, oracleEngine().args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const sources = [];
  const input = new FrameReader();
  const output = new FrameReader();
  node.stdout.on('data', chunk => {
    for (const bytes of output.push(chunk)) {
      const source = sources.shift();
      if (fault === 'crash' && isTouched(source)) process.abort();
      process.stdout.write(frame(Buffer.from(JSON.stringify(change(source, JSON.parse(bytes.toString('utf8')))))));
    }
  });
  for await (const chunk of process.stdin) {
    for (const bytes of input.push(chunk)) {
      const source = bytes.toString('utf8');
      sources.push(source);
      node.stdin.write(frame(Buffer.from(prepare(source))));
    }
  }
  node.stdin.end();
}

async function answerOne(file) {
  const source = readFileSync(file, 'utf8');
  const [answer] = await runPrograms(oracleEngine(), [prepare(source)]);
  if (answer.ok) { console.log(JSON.stringify(answer.result)); return; }
  console.error(`${answer.error.name}: ${answer.error.message}`);
  process.exitCode = answer.phase === 'load' ? 2 : 1;
}

await (isBatch ? answerAll() : answerOne(process.argv.at(-1)));
