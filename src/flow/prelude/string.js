// String methods that may meet objects: regular expressions, functions, options.

function requireText(value, method) {
  if (value === undefined || value === null) %typeError("String.prototype." + method + " called on null or undefined");
}

function String_raw(template, ...substitutions) {
  const cooked = %toObject(template);
  const literals = %toObject(cooked.raw);
  const count = %length(+literals.length);
  let out = "";
  for (let i = 0; i < count; i++) {
    out += `${literals[i]}`;
    if (i + 1 < count && i < substitutions.length) out += `${substitutions[i]}`;
  }
  return out;
}

// The order is the same for every locale (text/string_compare.c); options change its strength.
function String_prototype_localeCompare(that, locales, options) {
  requireText(this, "localeCompare");
  const left = `${this}`;
  const right = `${that}`;
  if (options === undefined) return %localeCompare(left, right, 0);
  const settings = %toObject(options);
  let flags = settings.numeric ? 1 : 0;
  const caseFirst = settings.caseFirst;
  if (caseFirst !== undefined && `${caseFirst}` === "upper") flags += 16;
  let sensitivity = settings.sensitivity;
  if (sensitivity !== undefined) {
    sensitivity = `${sensitivity}`;
    if (sensitivity === "base") flags += 2;
    else if (sensitivity === "accent") flags += 4;
    else if (sensitivity === "case") flags += 8;
    else if (sensitivity !== "variant") {
      %rangeError("Value " + sensitivity + " out of range for Intl.Collator options property sensitivity");
    }
  }
  if (settings.ignorePunctuation) %rangeError("The option ignorePunctuation is not available in a workflow");
  return %localeCompare(left, right, flags);
}

function isRegExp(value) {
  if (!%isObject(value)) return false;
  const matcher = value[%symbolMatch()];
  return matcher !== undefined ? !!matcher : %isRegExpObject(value);
}

function requireGlobal(value, method) {
  if (!isRegExp(value)) return;
  const flags = value.flags;
  if (flags === undefined || flags === null) {
    %typeError("The .flags property of the argument to String.prototype." + method + " cannot be null or undefined");
  }
  if (%stringFind(`${flags}`, "g", 0) < 0) {
    %typeError("String.prototype." + method + " called with a non-global RegExp argument");
  }
}

function String_prototype_match(pattern) {
  requireText(this, "match");
  if (%isObject(pattern)) {
    const method = getMethod(pattern, %symbolMatch());
    if (method !== undefined) return %call(method, pattern, this);
  }
  const text = `${this}`;
  const regexp = %regexpCreate(pattern === undefined ? "" : `${pattern}`, "", undefined);
  return regexp[%symbolMatch()](text);
}

function String_prototype_matchAll(pattern) {
  requireText(this, "matchAll");
  if (%isObject(pattern)) {
    requireGlobal(pattern, "matchAll");
    const method = getMethod(pattern, %symbolMatchAll());
    if (method !== undefined) return %call(method, pattern, this);
  }
  const text = `${this}`;
  const regexp = %regexpCreate(pattern === undefined ? "" : `${pattern}`, "g", undefined);
  return regexp[%symbolMatchAll()](text);
}

function String_prototype_search(pattern) {
  requireText(this, "search");
  if (%isObject(pattern)) {
    const method = getMethod(pattern, %symbolSearch());
    if (method !== undefined) return %call(method, pattern, this);
  }
  const text = `${this}`;
  const regexp = %regexpCreate(pattern === undefined ? "" : `${pattern}`, "", undefined);
  return regexp[%symbolSearch()](text);
}

// GetSubstitution: captures from 1 on in an array, groups an object or undefined.
function getSubstitution(matched, text, position, captures, groups, template) {
  let out = "";
  let i = 0;
  while (i < template.length) {
    const next = %stringFind(template, "$", i);
    if (next < 0 || next + 1 === template.length) break;
    out += %stringPart(template, i, next);
    const c = template[next + 1];
    i = next + 2;
    if (c === "$") out += "$";
    else if (c === "&") out += matched;
    else if (c === "`") out += %stringPart(text, 0, position);
    else if (c === "'") out += %stringPart(text, position + matched.length, text.length);
    else if (c >= "0" && c <= "9") {
      const second = template[i];
      const hasSecond = second !== undefined && second >= "0" && second <= "9";
      let number = hasSecond ? +(c + second) : 0;
      if (number >= 1 && number <= captures.length) i++;
      else number = +c;
      if (number < 1 || number > captures.length) out += "$" + c;
      else if (captures[number - 1] !== undefined) out += captures[number - 1];
    } else if (c === "<" && groups !== undefined) {
      const end = %stringFind(template, ">", i);
      if (end < 0) out += "$<";
      else {
        const value = groups[%stringPart(template, i, end)];
        if (value !== undefined) out += `${value}`;
        i = end + 1;
      }
    } else {
      out += "$";
      i = next + 1;
    }
  }
  return out + %stringPart(template, i, template.length);
}

function String_prototype_replace(pattern, replacement) {
  requireText(this, "replace");
  if (%isObject(pattern)) {
    const method = getMethod(pattern, %symbolReplace());
    if (method !== undefined) return %call(method, pattern, this, replacement);
  }
  const text = `${this}`;
  const needle = `${pattern}`;
  const isFunction = %isCallable(replacement);
  if (!isFunction) replacement = `${replacement}`;
  const at = %stringFind(text, needle, 0);
  if (at < 0) return text;
  const put = isFunction ? `${replacement(needle, at, text)}` : getSubstitution(needle, text, at, [], undefined, replacement);
  return %stringPart(text, 0, at) + put + %stringPart(text, at + needle.length, text.length);
}

function String_prototype_replaceAll(pattern, replacement) {
  requireText(this, "replaceAll");
  if (%isObject(pattern)) {
    requireGlobal(pattern, "replaceAll");
    const method = getMethod(pattern, %symbolReplace());
    if (method !== undefined) return %call(method, pattern, this, replacement);
  }
  const text = `${this}`;
  const needle = `${pattern}`;
  const isFunction = %isCallable(replacement);
  if (!isFunction) replacement = `${replacement}`;
  const step = needle.length === 0 ? 1 : needle.length;
  let out = "";
  let done = 0;
  for (let at = %stringFind(text, needle, 0); at >= 0; at = %stringFind(text, needle, at + step)) {
    const put = isFunction ? `${replacement(needle, at, text)}` : getSubstitution(needle, text, at, [], undefined, replacement);
    out += %stringPart(text, done, at) + put;
    done = at + needle.length;
  }
  return out + %stringPart(text, done, text.length);
}

function String_prototype_concat(...parts) {
  requireText(this, "concat");
  let text = `${this}`;
  for (let i = 0; i < parts.length; i++) text += `${parts[i]}`;
  return text;
}

function String_prototype_split(separator, limit) {
  requireText(this, "split");
  const method = getMethod(separator, %symbolSplit());
  if (method !== undefined) return %call(method, separator, this, limit);
  const text = `${this}`;
  const most = limit === undefined ? 4294967295 : limit >>> 0;
  const needle = `${separator}`;
  const pieces = [];
  if (most === 0) return pieces;
  let done = 0;
  if (needle.length === 0) {
    for (let i = 0; i < text.length && i < most; i++) %arrayAppend(pieces, text[i]);
    return pieces;
  }
  for (let at = %stringFind(text, needle, 0); at >= 0; at = %stringFind(text, needle, done)) {
    %arrayAppend(pieces, %stringPart(text, done, at));
    if (pieces.length === most) return pieces;
    done = at + needle.length;
  }
  %arrayAppend(pieces, %stringPart(text, done, text.length));
  return pieces;
}
