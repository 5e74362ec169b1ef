#!/usr/bin/env node
// Writes random Flow programs: node tools/flow-gen.mjs --seed 7 [--count N] [--features everyday|all] [--wrap]
//
// The same seed gives the same program.  --wrap adds the prelude, so that the program runs on its own
// (`abide run`, or Node inside an async function) and its outcome is one line of text.

import { parseArgs } from 'node:util';
import { generateProgram } from '../test/flow/gen/program.mjs';
import { wrapProgram } from '../test/flow/lib/cases.mjs';

const { values: options } = parseArgs({ options: {
  seed: { type: 'string', default: '1' },
  count: { type: 'string', default: '1' },
  features: { type: 'string', default: 'all' },
  wrap: { type: 'boolean', default: false },
} });

const first = Number(options.seed);
for (let seed = first; seed < first + Number(options.count); seed++) {
  const { source } = generateProgram(seed, options.features);
  console.log(`// seed ${seed} (${options.features})\n${options.wrap ? wrapProgram(source) : source}`);
}
