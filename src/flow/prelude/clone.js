// structuredClone: a walk over everything reachable; `memory` maps originals to copies, so that
// cycles and shared references stay what they are. The kinds are those of builtin/clone.c.

function Global_structuredClone(...args) {
  if (args.length === 0) %typeError("The value argument must be specified");
  return cloneValue(args[0], %cloneMemory());
}

function cloneValue(value, memory) {
  const kind = %cloneKind(value);
  if (kind === 0) return value;
  if (kind === 1) %cloneRefuse(value);
  const known = %cloneFind(memory, value);
  if (known !== undefined) return known;
  switch (kind) {
    case 2: return cloneProperties(value, %newArray(value.length), memory);
    case 3: return cloneProperties(value, {}, memory);
    case 5: return cloneMap(value, memory);
    case 6: return cloneSet(value, memory);
    case 7: return cloneErrorValue(value, memory);
  }
  const copy = %cloneSlots(value);
  %collectionPut(memory, value, copy);
  return copy;
}

function cloneProperties(source, copy, memory) {
  %collectionPut(memory, source, copy);
  const keys = %enumerableKeys(source);
  for (let i = 0; i < keys.length; i++) {
    if (%isEnumerable(source, keys[i])) %put(copy, keys[i], cloneValue(source[keys[i]], memory));
  }
  return copy;
}

function cloneMap(source, memory) {
  const copy = %cloneCollection(source);
  %collectionPut(memory, source, copy);
  const entries = [];
  for (let at = %collectionNext(source, 0); at >= 0; at = %collectionNext(source, at + 1)) {
    %put(entries, entries.length, %collectionKey(source, at));
    %put(entries, entries.length, %collectionValue(source, at));
  }
  for (let i = 0; i < entries.length; i += 2) {
    const key = cloneValue(entries[i], memory);
    %collectionPut(copy, key, cloneValue(entries[i + 1], memory));
  }
  return copy;
}

function cloneSet(source, memory) {
  const copy = %cloneCollection(source);
  %collectionPut(memory, source, copy);
  const values = [];
  for (let at = %collectionNext(source, 0); at >= 0; at = %collectionNext(source, at + 1)) {
    %put(values, values.length, %collectionKey(source, at));
  }
  for (let i = 0; i < values.length; i++) {
    %collectionPut(copy, cloneValue(values[i], memory), undefined);
  }
  return copy;
}

function cloneErrorValue(source, memory) {
  const name = source.name;
  const copy = %cloneError(source, name === undefined ? "Error" : `${name}`);
  %collectionPut(memory, source, copy);
  if (%hasOwn(source, "cause")) %hide(copy, "cause", cloneValue(source.cause, memory));
  return copy;
}
