// Writer: what the generator knows while it writes a program: the lines so far, the variables in
// scope with their types, and where it stands (loop, function, async, generator).
//
// Rules that keep programs comparable and finite
//   [W1] Every loop and function body starts with tick(), which throws when the fuel is used up.
//   [W2] Strings, arrays and big integers are cut when they are stored, so nothing grows without end.
//   [W3] Every promise that is started is also caught, so no run has an unhandled rejection.
//   [W4] A callee that may not be a function is a plain name or member: engines word others freely.

import { Random } from './random.mjs';

export const TYPES = ['num', 'str', 'bool', 'arr', 'nums', 'obj', 'fun', 'map', 'set'];

export class Writer {
  constructor(seed, features) {
    this.random = new Random(seed);
    this.isAll = features === 'all';
    this.lines = [];
    this.indent = 0;
    this.serial = 0;
    this.scopes = [[]];
    this.functions = [];
    this.place = { isAsync: true, isGenerator: false, isFunction: false, loops: 0, labels: [], depth: 0, isFinally: false };
    this.hidden = new Set();
    this.parameters = new Set();
    this.budget = 90;
  }

  fresh(prefix) { return `${prefix}${++this.serial}`; }

  emit(line) { this.lines.push('  '.repeat(this.indent) + line); }

  // head { body } tail, with a scope of its own.
  block(head, body, tail = '}') {
    this.emit(head);
    this.nested(body);
    this.emit(tail);
  }

  nested(body) {
    this.indent++;
    this.scopes.push([]);
    this.place = { ...this.place, depth: this.place.depth + 1 };
    const outer = this.place;
    body();
    this.place = outer;
    this.place = { ...this.place, depth: this.place.depth - 1 };
    this.scopes.pop();
    this.indent--;
  }

  // Runs body with other facts about where we are, then puts the old ones back.
  within(change, body) {
    const before = this.place;
    this.place = { ...before, ...change };
    const result = body();
    this.place = before;
    return result;
  }

  // A parameter may not be declared again by the body's let.
  isParameter(name) { return this.parameters.has(name) && this.scopes.at(-1).some(v => v.name === name); }

  declare(name, type, isMutable) { this.scopes.at(-1).push({ name, type, isMutable }); }

  variables(test) {
    const seen = new Set();
    const found = [];
    for (let i = this.scopes.length - 1; i >= 0; i--) {
      for (const variable of this.scopes[i]) {
        if (seen.has(variable.name)) continue;
        seen.add(variable.name);
        if (!this.hidden.has(variable.name) && test(variable)) found.push(variable);
      }
    }
    return found;
  }

  // The name of some variable of this type, or null.
  variable(type, isMutable = false) {
    const found = this.variables(v => v.type === type && (!isMutable || v.isMutable));
    return found.length ? this.random.pick(found).name : null;
  }
}
