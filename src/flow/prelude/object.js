// Object and Function.prototype: what reads other people's properties where a getter may run.

function Object_assign(target, ...sources) {
  const object = %toObject(target);
  for (let n = 0; n < sources.length; n++) {
    if (sources[n] === undefined || sources[n] === null) continue;
    const source = %toObject(sources[n]);
    const keys = %ownKeys(source);
    for (let i = 0; i < keys.length; i++) {
      if (%isEnumerable(source, keys[i])) object[keys[i]] = source[keys[i]];
    }
  }
  return object;
}

function Object_values(value) {
  const object = %toObject(value);
  const keys = %enumerableKeys(object);
  const result = [];
  let count = 0;
  for (let i = 0; i < keys.length; i++) {
    if (%isEnumerable(object, keys[i])) %put(result, count++, object[keys[i]]);
  }
  return result;
}

function Object_entries(value) {
  const object = %toObject(value);
  const keys = %enumerableKeys(object);
  const result = [];
  let count = 0;
  for (let i = 0; i < keys.length; i++) {
    if (%isEnumerable(object, keys[i])) %put(result, count++, [keys[i], object[keys[i]]]);
  }
  return result;
}

function Object_fromEntries(iterable) {
  if (iterable === undefined || iterable === null) %typeError("undefined is not iterable");
  const result = {};
  eachItem(iterable, (item) => {
    if (!%isObject(item)) %typeError(`Iterator value ${%describe(item)} is not an entry object`);
    const key = item[0];
    const value = item[1];
    %put(result, toKey(key), value);
  });
  return result;
}

// ToPropertyDescriptor as a plain copy, without prototype, that can be read without surprises.
function plainDescriptor(source) {
  if (!%isObject(source)) {
    %typeError(`Property description must be an object: ${%describe(source)}`);
  }
  const result = %bareObject();
  if ("enumerable" in source) result.enumerable = source.enumerable;
  if ("configurable" in source) result.configurable = source.configurable;
  if ("value" in source) result.value = source.value;
  if ("writable" in source) result.writable = source.writable;
  if ("get" in source) result.get = source.get;
  if ("set" in source) result.set = source.set;
  return result;
}

function Object_defineProperty(object, name, source) {
  const key = toKey(name);
  const descriptor = plainDescriptor(source);
  if (key === "length" && %isArray(object) && "value" in descriptor) {
    descriptor.value = +descriptor.value;
  }
  return %defineProperty(object, key, descriptor);
}

function Object_defineProperties(object, properties) {
  if (!%isObject(object)) %typeError("Object.defineProperties called on non-object");
  const source = %toObject(properties);
  const keys = %ownKeys(source);
  const names = [];
  const descriptors = [];
  let count = 0;
  for (let i = 0; i < keys.length; i++) {
    if (!%isEnumerable(source, keys[i])) continue;
    %put(names, count, keys[i]);
    %put(descriptors, count++, plainDescriptor(source[keys[i]]));
  }
  for (let i = 0; i < count; i++) Object_defineProperty(object, names[i], descriptors[i]);
  return object;
}

function Object_prototype_toString() {
  if (this === undefined) return "[object Undefined]";
  if (this === null) return "[object Null]";
  const tag = this[%symbolToStringTag()];
  return `[object ${typeof tag === "string" ? tag : %builtinTag(this)}]`;
}

function Object_prototype_toLocaleString() {
  if (this === undefined || this === null) {
    %typeError("Object.prototype.toLocaleString called on null or undefined");
  }
  return this.toString();
}

function Function_prototype_apply(thisArg, list) {
  const length = %length(+list.length);
  const items = [];
  for (let i = 0; i < length; i++) %put(items, i, list[i]);
  const bound = %bind(this, thisArg);
  return bound(...items);
}

function Function_prototype_hasInstance(value) { return ordinaryHasInstance(this, value); }
