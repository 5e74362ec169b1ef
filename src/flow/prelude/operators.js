// What the interpreter calls when an operator, a property key or an iterator needs script code to
// run. Names must match FLOW_HELPERS in realm.h.

function toPrimitive(value, hint) {
  if (!%isObject(value)) return value;
  const exotic = value[%symbolToPrimitive()];
  if (exotic !== undefined && exotic !== null) {
    if (!%isCallable(exotic)) %notCallable(exotic);
    const name = hint === 0 ? "default" : hint === 1 ? "number" : "string";
    const result = %call(exotic, value, name);
    if (!%isObject(result)) return result;
    %typeError("Cannot convert object to primitive value");
  }
  if (hint === 2) {
    const toString = value.toString;
    if (%isCallable(toString)) {
      const text = %call(toString, value);
      if (!%isObject(text)) return text;
    }
  }
  const valueOf = value.valueOf;
  if (%isCallable(valueOf)) {
    const result = %call(valueOf, value);
    if (!%isObject(result)) return result;
  }
  if (hint !== 2) {
    const toString = value.toString;
    if (%isCallable(toString)) {
      const text = %call(toString, value);
      if (!%isObject(text)) return text;
    }
  }
  %typeError("Cannot convert object to primitive value");
}

function binary(op, a, b) {
  if (%isAddition(op)) {
    const left = toPrimitive(a, 0);
    const right = toPrimitive(b, 0);
    return %arithmetic(op, left, right);
  }
  const left = %toNumeric(toPrimitive(a, 1));
  const right = %toNumeric(toPrimitive(b, 1));
  return %arithmetic(op, left, right);
}

function unary(op, a) { return %unaryOperation(op, toPrimitive(a, 1)); }

function compare(op, a, b) {
  const left = toPrimitive(a, 1);
  const right = toPrimitive(b, 1);
  return %comparison(op, left, right);
}

function looseEqual(a, b) {
  if (%isObject(a)) return toPrimitive(a, 0) == b;
  return a == toPrimitive(b, 0);
}

function toStringValue(value) { return %primitiveToString(toPrimitive(value, 2)); }

function toKey(value) {
  const key = toPrimitive(value, 2);
  return typeof key === "symbol" ? key : %primitiveToString(key);
}

function getElement(object, key) { return object[toKey(key)]; }

function setElement(object, key, value) {
  const name = toKey(key);
  if (name === "length" && %isArray(object) && %isObject(value)) {
    const first = +value; // ArraySetLength converts twice
    value = +value;
  }
  object[name] = value;
}

function deleteElement(object, key) { return delete object[toKey(key)]; }

function hasElement(key, object) { return toKey(key) in object; }

function ordinaryHasInstance(constructor, value) {
  if (!%isCallable(constructor)) return false;
  const target = %boundTarget(constructor);
  if (target !== undefined) return value instanceof target;
  if (!%isObject(value)) return false;
  const prototype = constructor.prototype;
  if (!%isObject(prototype)) {
    %typeError("Function has non-object prototype '" + toStringSafe(prototype) + "' in instanceof check");
  }
  for (let at = %protoOf(value); at !== null; at = %protoOf(at)) {
    if (at === prototype) return true;
  }
  return false;
}

function toStringSafe(value) { return typeof value === "symbol" ? %describe(value) : "" + value; }

function instanceOf(value, constructor) {
  const method = constructor[%symbolHasInstance()];
  if (method !== undefined && method !== null) {
    if (!%isCallable(method)) %notCallable(method);
    return !!%call(method, constructor, value);
  }
  if (!%isCallable(constructor)) %typeError("Right-hand side of 'instanceof' is not callable");
  return ordinaryHasInstance(constructor, value);
}

function getMethod(object, key) {
  const method = object[key];
  if (method === undefined || method === null) return undefined;
  if (!%isCallable(method)) %notCallable(method);
  return method;
}

function getIterator(iterable) {
  const method = iterable[%symbolIterator()];
  if (!%isCallable(method)) %notIterable(iterable);
  const iterator = %call(method, iterable);
  if (!%isObject(iterator)) %typeError("Result of the Symbol.iterator method is not an object");
  return iterator;
}

function getAsyncIterator(iterable) {
  const method = getMethod(iterable, %symbolAsyncIterator());
  if (method === undefined) {
    const iterator = getIterator(iterable);
    return %fromSync(iterator, iterator.next);
  }
  const iterator = %call(method, iterable);
  if (!%isObject(iterator)) %typeError("Result of the Symbol.asyncIterator method is not an object");
  return iterator;
}

function iteratorResult(result) {
  const done = !!result.done;
  return { value: done ? undefined : result.value, done };
}

function iteratorRest(iterator, next) {
  const items = [];
  for (;;) {
    const result = %call(next, iterator);
    if (!%isObject(result)) %typeError("Iterator result " + %describe(result) + " is not an object");
    if (result.done) return items;
    %arrayAppend(items, result.value);
  }
}

function iteratorClose(iterator) {
  const method = getMethod(iterator, "return");
  if (method === undefined) return;
  const result = %call(method, iterator);
  if (!%isObject(result)) %typeError(%describe(result) + " is not an object");
}

function iteratorCloseSilent(iterator) {
  try {
    const method = getMethod(iterator, "return");
    if (method !== undefined) %call(method, iterator);
  } catch {}
}

function arraySpread(array, iterable) {
  for (const item of iterable) %arrayAppend(array, item);
}

function copyProperties(target, source) {
  const object = %toObject(source);
  const keys = %allKeys(object);
  for (let i = 0; i < keys.length; i++) {
    if (%isOwnEnumerable(object, keys[i])) %defineData(target, keys[i], object[keys[i]]);
  }
}

function objectRest(source, excluded) {
  const rest = {};
  const object = %toObject(source);
  const keys = %allKeys(object);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    let isExcluded = false;
    for (let j = 0; j < excluded.length; j++) {
      // Keys of the pattern may be numbers; own keys are strings or symbols.
      const other = excluded[j];
      if (other === key || (typeof other === "number" && "" + other === key)) isExcluded = true;
    }
    if (!isExcluded && %isOwnEnumerable(object, key)) %defineData(rest, key, object[key]);
  }
  return rest;
}
