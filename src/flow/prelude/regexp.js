// RegExp, step by step as the specification has it: for subclasses, objects with an exec of their
// own, changed prototypes. RegExps nobody has touched are handled in C (regexp/methods.c).

function requireObject(value, method) {
  if (!%isObject(value)) {
    %typeError("Method RegExp.prototype." + method + " called on incompatible receiver " + %describe(value));
  }
}

function RegExp_construct(pattern, flags, newTarget, constructor) {
  const isPattern = isRegExp(pattern);
  let target = newTarget;
  if (newTarget === undefined) {
    target = constructor;
    if (isPattern && flags === undefined && pattern.constructor === target) return pattern;
  }
  let source = pattern;
  let letters = flags;
  if (%isRegExpObject(pattern)) {
    source = %regexpSource(pattern);
    if (flags === undefined) letters = %regexpFlags(pattern);
  } else if (isPattern) {
    source = pattern.source;
    if (flags === undefined) letters = pattern.flags;
  }
  const prototype = target.prototype;
  return %regexpCreate(source === undefined ? "" : `${source}`, letters === undefined ? "" : `${letters}`, prototype);
}

function RegExp_execConverting(regexp, text) {
  return %regexpExecAt(regexp, text, %length(+regexp.lastIndex));
}

function regexpExec(regexp, text) {
  const exec = regexp.exec;
  if (%isCallable(exec)) {
    const result = %call(exec, regexp, text);
    if (result !== null && !%isObject(result)) {
      %typeError("RegExp exec method returned something other than an Object or null");
    }
    return result;
  }
  if (!%isRegExpObject(regexp)) requireObject(undefined, "exec");
  return RegExp_execConverting(regexp, text);
}

function RegExp_prototype_test(text) {
  requireObject(this, "test");
  return regexpExec(this, `${text}`) !== null;
}

function RegExp_prototype_toString() {
  requireObject(this, "toString");
  return `/${this.source}/${this.flags}`;
}

function RegExp_flags() {
  if (!%isObject(this)) %typeError("RegExp.prototype.flags getter called on non-object " + %describe(this));
  let letters = "";
  if (this.hasIndices) letters += "d";
  if (this.global) letters += "g";
  if (this.ignoreCase) letters += "i";
  if (this.multiline) letters += "m";
  if (this.dotAll) letters += "s";
  if (this.unicode) letters += "u";
  if (this.unicodeSets) letters += "v";
  if (this.sticky) letters += "y";
  return letters;
}

function hasFlag(flags, letter) { return %stringFind(flags, letter, 0) >= 0; }

// After an empty match: so that the next one is looked for further on.
function advancePast(regexp, text, isUnicode) {
  const index = %length(+regexp.lastIndex);
  regexp.lastIndex = isUnicode ? %advanceIndex(text, index) : index + 1;
}

function RegExp_prototype_match(string) {
  requireObject(this, "@@match");
  const text = `${string}`;
  const flags = `${this.flags}`;
  if (!hasFlag(flags, "g")) return regexpExec(this, text);
  const isUnicode = hasFlag(flags, "u") || hasFlag(flags, "v");
  this.lastIndex = 0;
  const found = [];
  for (;;) {
    const result = regexpExec(this, text);
    if (result === null) return found.length === 0 ? null : found;
    const matched = `${result[0]}`;
    %arrayAppend(found, matched);
    if (matched === "") advancePast(this, text, isUnicode);
  }
}

function regexpSpecies(regexp) {
  const constructor = regexp.constructor;
  if (constructor === undefined) return %regExpConstructor();
  if (!%isObject(constructor)) %typeError("The .constructor property is not an object");
  const species = constructor[%symbolSpecies()];
  if (species === undefined || species === null) return %regExpConstructor();
  if (!%isConstructor(species)) %typeError("object.constructor[Symbol.species] is not a constructor");
  return species;
}

function RegExp_prototype_matchAll(string) {
  requireObject(this, "@@matchAll");
  const text = `${string}`;
  const constructor = regexpSpecies(this);
  const flags = `${this.flags}`;
  const matcher = %construct(constructor, constructor, this, flags);
  matcher.lastIndex = %length(+this.lastIndex);
  return %regexpStringIterator(matcher, text, hasFlag(flags, "g"), hasFlag(flags, "u") || hasFlag(flags, "v"));
}

function RegExpStringIterator_next() {
  const regexp = %regexpIteratorState(this, 0);
  const text = %regexpIteratorState(this, 1);
  const bits = %regexpIteratorState(this, 3);
  const result = regexpExec(regexp, text);
  if (result === null) {
    %regexpIteratorEnd(this);
    return { value: undefined, done: true };
  }
  if ((bits & 1) === 0) %regexpIteratorEnd(this);
  else if (`${result[0]}` === "") advancePast(regexp, text, (bits & 2) !== 0);
  return { value: result, done: false };
}

function sameNumberOrValue(a, b) {
  return a === b ? a !== 0 || 1 / a === 1 / b : a !== a && b !== b;
}

function RegExp_prototype_search(string) {
  requireObject(this, "@@search");
  const text = `${string}`;
  const before = this.lastIndex;
  if (!sameNumberOrValue(before, 0)) this.lastIndex = 0;
  const result = regexpExec(this, text);
  if (!sameNumberOrValue(this.lastIndex, before)) this.lastIndex = before;
  return result === null ? -1 : result.index;
}

function callReplacer(replacer, list) {
  if (list.length === 3) return replacer(list[0], list[1], list[2]);
  if (list.length === 4) return replacer(list[0], list[1], list[2], list[3]);
  return replacer(...list);
}

// A pristine RegExp and a function: all matches come first, so nothing the function does matters.
function RegExp_replaceByFunction(regexp, text, replacer) {
  const found = %regexpMatches(regexp, text);
  let out = "";
  let done = 0;
  for (let i = 0; i < found.length; i += 3) {
    const put = `${callReplacer(replacer, found[i + 2])}`;
    out += %stringPart(text, done, found[i]) + put;
    done = found[i + 1];
  }
  return out + %stringPart(text, done, text.length);
}

function collectResults(regexp, text, flags) {
  const isGlobal = hasFlag(flags, "g");
  const isUnicode = isGlobal && (hasFlag(flags, "u") || hasFlag(flags, "v"));
  if (isGlobal) regexp.lastIndex = 0;
  const results = [];
  for (;;) {
    const result = regexpExec(regexp, text);
    if (result === null) return results;
    %arrayAppend(results, result);
    if (!isGlobal) return results;
    if (`${result[0]}` === "") advancePast(regexp, text, isUnicode);
  }
}

function RegExp_prototype_replace(string, replacement) {
  requireObject(this, "@@replace");
  const text = `${string}`;
  const isFunction = %isCallable(replacement);
  if (!isFunction) replacement = `${replacement}`;
  const results = collectResults(this, text, `${this.flags}`);
  let out = "";
  let done = 0;
  for (let i = 0; i < results.length; i++) {
    const result = results[i];
    const count = %length(+result.length);
    const matched = `${result[0]}`;
    const index = %integer(+result.index);
    const position = index < 0 ? 0 : index > text.length ? text.length : index;
    const captures = [];
    for (let n = 1; n < count; n++) {
      const capture = result[n];
      %arrayAppend(captures, capture === undefined ? undefined : `${capture}`);
    }
    let groups = result.groups;
    let put;
    if (isFunction) {
      const list = [matched, ...captures, position, text];
      if (groups !== undefined) %arrayAppend(list, groups);
      put = `${callReplacer(replacement, list)}`;
    } else {
      if (groups !== undefined) groups = %toObject(groups);
      put = getSubstitution(matched, text, position, captures, groups, replacement);
    }
    if (position >= done) {
      out += %stringPart(text, done, position) + put;
      done = position + matched.length;
    }
  }
  return out + %stringPart(text, done, text.length);
}

function RegExp_prototype_split(string, limit) {
  requireObject(this, "@@split");
  const text = `${string}`;
  const constructor = regexpSpecies(this);
  const flags = `${this.flags}`;
  const isUnicode = hasFlag(flags, "u") || hasFlag(flags, "v");
  const splitter = %construct(constructor, constructor, this, hasFlag(flags, "y") ? flags : flags + "y");
  const pieces = [];
  const most = limit === undefined ? 4294967295 : limit >>> 0;
  if (most === 0) return pieces;
  if (text.length === 0) {
    if (regexpExec(splitter, text) === null) %arrayAppend(pieces, text);
    return pieces;
  }
  let done = 0;
  let at = 0;
  while (at < text.length) {
    splitter.lastIndex = at;
    const result = regexpExec(splitter, text);
    let end = done;
    if (result !== null) {
      end = %length(+splitter.lastIndex);
      if (end > text.length) end = text.length;
    }
    if (end === done) {
      at = isUnicode ? %advanceIndex(text, at) : at + 1;
      continue;
    }
    %arrayAppend(pieces, %stringPart(text, done, at));
    if (pieces.length === most) return pieces;
    done = end;
    const count = %length(+result.length);
    for (let i = 1; i < count; i++) {
      %arrayAppend(pieces, result[i]);
      if (pieces.length === most) return pieces;
    }
    at = done;
  }
  %arrayAppend(pieces, %stringPart(text, done, text.length));
  return pieces;
}
