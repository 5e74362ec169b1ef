// Iterating by hand, and what Map, Set and their weak kin do with iterables and callbacks.

function startIterator(iterable, method) {
  const iterator = %call(method, iterable);
  if (!%isObject(iterator)) %typeError("Result of the Symbol.iterator method is not an object");
  return iterator;
}

function nextResult(iterator, next) {
  const step = %call(next, iterator);
  if (!%isObject(step)) %typeError(`Iterator result ${%describe(step)} is not an object`);
  return step;
}

// visit(item) for each item; an error from it closes the iterator.
function eachItem(iterable, visit) {
  if (iterable === undefined || iterable === null) %notIterable(iterable);
  const method = iterable[%symbolIterator()];
  if (!%isCallable(method)) %notIterable(iterable);
  const iterator = startIterator(iterable, method);
  const next = iterator.next;
  for (;;) {
    const step = nextResult(iterator, next);
    if (step.done) return;
    const item = step.value;
    let isClosing = true;
    try {
      visit(item);
      isClosing = false;
    } finally {
      if (isClosing) iteratorCloseSilent(iterator);
    }
  }
}

function collectionAdder(collection, name) {
  const adder = collection[name];
  if (!%isCallable(adder)) {
    %typeError(`'${%describe(adder)}' returned for property '${name}' of object ` +
      `'${%describe(collection)}' is not a function`);
  }
  return adder;
}

function mapFill(map, iterable) {
  const adder = collectionAdder(map, "set");
  eachItem(iterable, (item) => {
    if (!%isObject(item)) %typeError(`Iterator value ${%describe(item)} is not an entry object`);
    const key = item[0];
    const value = item[1];
    %call(adder, map, key, value);
  });
  return map;
}

function setFill(set, iterable) {
  const adder = collectionAdder(set, "add");
  eachItem(iterable, (item) => { %call(adder, set, item); });
  return set;
}

function checkForEach(callback) {
  if (%isCallable(callback)) return;
  if (callback === undefined) %notCallable(callback);
  const type = typeof callback;
  const isShown = callback === null || type === "number" || type === "boolean";
  const text = type === "string" ? ` "${callback}"` : isShown ? ` ${callback}` : "";
  %typeError(`${type}${text} is not a function`);
}

function Map_prototype_forEach(callback, thisArg) {
  %collectionCheck(this, false, "Map.prototype.forEach");
  checkForEach(callback);
  for (let at = %collectionNext(this, 0); at >= 0; at = %collectionNext(this, at + 1)) {
    %call(callback, thisArg, %collectionValue(this, at), %collectionKey(this, at), this);
  }
}

function Set_prototype_forEach(callback, thisArg) {
  %collectionCheck(this, true, "Set.prototype.forEach");
  checkForEach(callback);
  for (let at = %collectionNext(this, 0); at >= 0; at = %collectionNext(this, at + 1)) {
    const value = %collectionKey(this, at);
    %call(callback, thisArg, value, value, this);
  }
}

// Array iterators over anything that is not a plain array: array-likes, sparse arrays.
function ArrayIterator_prototype_next() {
  const object = %iteratorTarget(this);
  const index = %iteratorPosition(this);
  if (index >= %length(+object.length)) {
    %iteratorMove(this, undefined);
    return { value: undefined, done: true };
  }
  %iteratorMove(this, index + 1);
  const kind = %iteratorKind(this);
  if (kind === 1) return { value: index, done: false };
  const value = object[index];
  return { value: kind === 2 ? value : [index, value], done: false };
}
