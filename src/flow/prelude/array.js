// Array: methods that take callbacks, and the exact way of those whose fast path is in C
// (builtin_array*.c). Holes: `value === undefined && !(i in object)` asks for a property only when
// there may be none, and %lastHole skips the rest of a gap.

function arraySpeciesCreate(original, length) {
  if (%hasPlainSpecies(original)) return %newArray(length);
  let constructor = original.constructor;
  if (%isObject(constructor)) {
    constructor = constructor[%symbolSpecies()];
    if (constructor === null) constructor = undefined;
  }
  if (constructor === undefined) return %newArray(length);
  if (!%isConstructor(constructor)) {
    %typeError("object.constructor[Symbol.species] is not a constructor");
  }
  return %construct(constructor, constructor, length);
}

// --- callbacks

function Array_prototype_forEach(callback, thisArg) {
  const object = %toObject(this, "Array.prototype.forEach");
  const length = %length(+object.length);
  if (!%isCallable(callback)) %notCallable(callback);
  for (let i = 0; i < length; i++) {
    const value = object[i];
    if (value === undefined && !(i in object)) {
      i = %lastHole(object, i, length);
      continue;
    }
    %call(callback, thisArg, value, i, object);
  }
}

function Array_prototype_map(callback, thisArg) {
  const object = %toObject(this, "Array.prototype.map");
  const length = %length(+object.length);
  if (!%isCallable(callback)) %notCallable(callback);
  const plain = %newPlainArray(object, length);
  if (plain !== undefined) {
    for (let i = 0; i < length; i++) {
      const value = object[i];
      if (value === undefined && !(i in object)) {
        i = %lastHole(object, i, length);
        continue;
      }
      plain[i] = %call(callback, thisArg, value, i, object);
    }
    plain.length = length;
    return plain;
  }
  const result = arraySpeciesCreate(object, length);
  for (let i = 0; i < length; i++) {
    const value = object[i];
    if (value === undefined && !(i in object)) {
      i = %lastHole(object, i, length);
      continue;
    }
    %put(result, i, %call(callback, thisArg, value, i, object));
  }
  return result;
}

function Array_prototype_filter(callback, thisArg) {
  const object = %toObject(this, "Array.prototype.filter");
  const length = %length(+object.length);
  if (!%isCallable(callback)) %notCallable(callback);
  const plain = %newPlainArray(object, 0);
  const result = plain === undefined ? arraySpeciesCreate(object, 0) : plain;
  let count = 0;
  for (let i = 0; i < length; i++) {
    const value = object[i];
    if (value === undefined && !(i in object)) {
      i = %lastHole(object, i, length);
      continue;
    }
    if (!%call(callback, thisArg, value, i, object)) continue;
    if (plain !== undefined) plain[count++] = value;
    else %put(result, count++, value);
  }
  return result;
}

function Array_prototype_every(callback, thisArg) {
  const object = %toObject(this, "Array.prototype.every");
  const length = %length(+object.length);
  if (!%isCallable(callback)) %notCallable(callback);
  for (let i = 0; i < length; i++) {
    const value = object[i];
    if (value === undefined && !(i in object)) {
      i = %lastHole(object, i, length);
      continue;
    }
    if (!%call(callback, thisArg, value, i, object)) return false;
  }
  return true;
}

function Array_prototype_some(callback, thisArg) {
  const object = %toObject(this, "Array.prototype.some");
  const length = %length(+object.length);
  if (!%isCallable(callback)) %notCallable(callback);
  for (let i = 0; i < length; i++) {
    const value = object[i];
    if (value === undefined && !(i in object)) {
      i = %lastHole(object, i, length);
      continue;
    }
    if (%call(callback, thisArg, value, i, object)) return true;
  }
  return false;
}

function Array_prototype_find(callback, thisArg) {
  const object = %toObject(this, "Array.prototype.find");
  const length = %length(+object.length);
  if (!%isCallable(callback)) %notCallable(callback);
  for (let i = 0; i < length; i++) {
    const value = object[i];
    if (%call(callback, thisArg, value, i, object)) return value;
  }
  return undefined;
}

function Array_prototype_findIndex(callback, thisArg) {
  const object = %toObject(this, "Array.prototype.findIndex");
  const length = %length(+object.length);
  if (!%isCallable(callback)) %notCallable(callback);
  for (let i = 0; i < length; i++) {
    if (%call(callback, thisArg, object[i], i, object)) return i;
  }
  return -1;
}

function Array_prototype_findLast(callback, thisArg) {
  const object = %toObject(this, "Array.prototype.findLast");
  const length = %length(+object.length);
  if (!%isCallable(callback)) %notCallable(callback);
  for (let i = length - 1; i >= 0; i--) {
    const value = object[i];
    if (%call(callback, thisArg, value, i, object)) return value;
  }
  return undefined;
}

function Array_prototype_findLastIndex(callback, thisArg) {
  const object = %toObject(this, "Array.prototype.findLastIndex");
  const length = %length(+object.length);
  if (!%isCallable(callback)) %notCallable(callback);
  for (let i = length - 1; i >= 0; i--) {
    if (%call(callback, thisArg, object[i], i, object)) return i;
  }
  return -1;
}

function Array_prototype_reduce(callback, ...initial) {
  const object = %toObject(this, "Array.prototype.reduce");
  const length = %length(+object.length);
  if (!%isCallable(callback)) %notCallable(callback);
  const nobody = initial[initial.length]; // undefined as a variable: see MOVE_CALL_6
  let i = 0;
  let result = initial[0];
  if (initial.length === 0) {
    while (i < length && !(i in object)) i = %lastHole(object, i, length) + 1;
    if (i >= length) %typeError("Reduce of empty array with no initial value");
    result = object[i++];
  }
  for (; i < length; i++) {
    const value = object[i];
    if (value === undefined && !(i in object)) {
      i = %lastHole(object, i, length);
      continue;
    }
    result = %call(callback, nobody, result, value, i, object);
  }
  return result;
}

function Array_prototype_reduceRight(callback, ...initial) {
  const object = %toObject(this, "Array.prototype.reduceRight");
  const length = %length(+object.length);
  if (!%isCallable(callback)) %notCallable(callback);
  const nobody = initial[initial.length];
  let i = length - 1;
  let result = initial[0];
  if (initial.length === 0) {
    while (i >= 0 && !(i in object)) i--;
    if (i < 0) %typeError("Reduce of empty array with no initial value");
    result = object[i--];
  }
  for (; i >= 0; i--) {
    const value = object[i];
    if (value === undefined && !(i in object)) continue;
    result = %call(callback, nobody, result, value, i, object);
  }
  return result;
}

function Array_prototype_flatMap(callback, thisArg) {
  const object = %toObject(this);
  const length = %length(+object.length);
  if (!%isCallable(callback)) %typeError("flatMap mapper function is not callable");
  const result = arraySpeciesCreate(object, 0);
  let count = 0;
  for (let i = 0; i < length; i++) {
    const value = object[i];
    if (value === undefined && !(i in object)) {
      i = %lastHole(object, i, length);
      continue;
    }
    const mapped = %call(callback, thisArg, value, i, object);
    if (%isArray(mapped)) count = flattenInto(result, count, mapped, 0);
    else %put(result, count++, mapped);
  }
  return result;
}

// --- flat: the specification recurses here, and so do we, one frame per level

function flattenInto(target, start, source, depth) {
  let count = start;
  const length = %length(+source.length);
  for (let i = 0; i < length; i++) {
    const value = source[i];
    if (value === undefined && !(i in source)) {
      i = %lastHole(source, i, length);
      continue;
    }
    if (depth > 0 && %isArray(value)) count = flattenInto(target, count, value, depth - 1);
    else %put(target, count++, value);
  }
  return count;
}

function Array_prototype_flat(depth) {
  const object = %toObject(this);
  %length(+object.length);
  const levels = depth === undefined ? 1 : %integer(+depth);
  const result = arraySpeciesCreate(object, 0);
  flattenInto(result, 0, object, levels);
  return result;
}

// --- looking

function Array_prototype_at(index) {
  const object = %toObject(this);
  const length = %length(+object.length);
  const relative = %integer(+index);
  const at = relative < 0 ? relative + length : relative;
  return at < 0 || at >= length ? undefined : object[at];
}

function Array_prototype_indexOf(wanted, from) {
  const object = %toObject(this, "Array.prototype.indexOf");
  const length = %length(+object.length);
  if (length === 0) return -1;
  for (let i = %relative(+(from === undefined ? 0 : from), length); i < length; i++) {
    const value = object[i];
    if (value === undefined && !(i in object)) i = %lastHole(object, i, length);
    else if (value === wanted) return i;
  }
  return -1;
}

function Array_prototype_lastIndexOf(wanted, ...from) {
  const object = %toObject(this);
  const length = %length(+object.length);
  if (length === 0) return -1;
  let i = from.length === 0 ? length - 1 : %integer(+from[0]);
  if (i < 0) i += length;
  else if (i >= length) i = length - 1;
  for (; i >= 0; i--) {
    const value = object[i];
    if (value === wanted && (value !== undefined || i in object)) return i;
  }
  return -1;
}

function Array_prototype_includes(wanted, from) {
  const object = %toObject(this);
  const length = %length(+object.length);
  if (length === 0) return false;
  const isNaN = wanted !== wanted;
  for (let i = %relative(+(from === undefined ? 0 : from), length); i < length; i++) {
    const value = object[i];
    if (value === wanted || (isNaN && value !== value)) return true;
  }
  return false;
}

// --- text

function Array_prototype_join(separator) {
  const object = %toObject(this);
  const length = %length(+object.length);
  const between = separator === undefined ? "," : `${separator}`;
  if (%isJoining()) return "";
  let text = "";
  for (let i = 0; i < length; i++) {
    if (i > 0) text += between;
    const value = object[i];
    if (value !== undefined && value !== null) text += `${value}`;
  }
  return text;
}

function Array_prototype_toString() {
  const object = %toObject(this);
  const join = object.join;
  if (%isCallable(join)) return %call(join, object);
  return %call(Object_prototype_toString, object);
}

function Array_prototype_toLocaleString() {
  const object = %toObject(this);
  const length = %length(+object.length);
  if (%isJoining()) return "";
  let text = "";
  for (let i = 0; i < length; i++) {
    if (i > 0) text += ",";
    const value = object[i];
    if (value !== undefined && value !== null) text += `${value.toLocaleString()}`;
  }
  return text;
}

// --- both ends

function Array_prototype_push(...items) {
  const object = %toObject(this);
  let length = %length(+object.length);
  if (length + items.length > 9007199254740991) {
    %typeError(`Pushing ${items.length} elements on an array-like of length ${length} ` +
      "is disallowed, as the total surpasses 2**53-1");
  }
  for (let i = 0; i < items.length; i++) object[length++] = items[i];
  object.length = length;
  return length;
}

function Array_prototype_pop() {
  const object = %toObject(this);
  const length = %length(+object.length);
  if (length === 0) {
    object.length = 0;
    return undefined;
  }
  const value = object[length - 1];
  delete object[length - 1];
  object.length = length - 1;
  return value;
}

function Array_prototype_shift() {
  const object = %toObject(this);
  const length = %length(+object.length);
  if (length === 0) {
    object.length = 0;
    return undefined;
  }
  const first = object[0];
  moveElements(object, 1, 0, length - 1);
  delete object[length - 1];
  object.length = length - 1;
  return first;
}

function Array_prototype_unshift(...items) {
  const object = %toObject(this);
  const length = %length(+object.length);
  if (items.length > 0) {
    if (length + items.length > 9007199254740991) %typeError("Invalid array length");
    moveElements(object, 0, items.length, length);
    for (let i = 0; i < items.length; i++) object[i] = items[i];
  }
  object.length = length + items.length;
  return length + items.length;
}

// Moves `count` elements of `object` from one place to another, holes as holes, in the direction
// that does not overwrite what is still to be moved.
function moveElements(object, from, to, count) {
  const isForward = from >= to;
  for (let n = 0; n < count; n++) {
    const i = isForward ? n : count - 1 - n;
    if (from + i in object) object[to + i] = object[from + i];
    else delete object[to + i];
  }
}

// --- changing places

function Array_prototype_reverse() {
  const object = %toObject(this);
  const length = %length(+object.length);
  for (let low = 0, high = length - 1; low < high; low++, high--) {
    const hasLow = low in object;
    const lowValue = hasLow ? object[low] : undefined;
    const hasHigh = high in object;
    const highValue = hasHigh ? object[high] : undefined;
    if (hasHigh) object[low] = highValue;
    else if (hasLow) delete object[low];
    if (hasLow) object[high] = lowValue;
    else if (hasHigh) delete object[high];
  }
  return object;
}

function Array_prototype_fill(value, start, end) {
  const object = %toObject(this);
  const length = %length(+object.length);
  const first = %relative(+start, length);
  const last = end === undefined ? length : %relative(+end, length);
  for (let i = first; i < last; i++) object[i] = value;
  return object;
}

function Array_prototype_copyWithin(target, start, end) {
  const object = %toObject(this);
  const length = %length(+object.length);
  const to = %relative(+target, length);
  const from = %relative(+start, length);
  const last = end === undefined ? length : %relative(+end, length);
  const count = last - from < length - to ? last - from : length - to;
  moveElements(object, from, to, count);
  return object;
}

// --- parts and wholes

function Array_prototype_slice(start, end) {
  const object = %toObject(this);
  const length = %length(+object.length);
  const first = %relative(+start, length);
  const last = end === undefined ? length : %relative(+end, length);
  const result = arraySpeciesCreate(object, last > first ? last - first : 0);
  let count = 0;
  for (let i = first; i < last; i++, count++) {
    if (i in object) %put(result, count, object[i]);
  }
  result.length = count;
  return result;
}

function Array_prototype_splice(...args) {
  const object = %toObject(this);
  const length = %length(+object.length);
  const start = %relative(+args[0], length);
  const items = args.length > 2 ? args.length - 2 : 0;
  let removed = args.length === 0 ? 0 : length - start;
  if (args.length > 1) {
    const wanted = %integer(+args[1]);
    removed = wanted < 0 ? 0 : wanted > length - start ? length - start : wanted;
  }
  if (length + items - removed > 9007199254740991) %typeError("Invalid array length");
  const result = arraySpeciesCreate(object, removed);
  for (let i = 0; i < removed; i++) {
    if (start + i in object) %put(result, i, object[start + i]);
  }
  result.length = removed;
  if (items !== removed) {
    moveElements(object, start + removed, start + items, length - start - removed);
    for (let i = length; i > length - removed + items; i--) delete object[i - 1];
  }
  for (let i = 0; i < items; i++) object[start + i] = args[i + 2];
  object.length = length - removed + items;
  return result;
}

function isConcatSpreadable(value) {
  if (!%isObject(value)) return false;
  const spreadable = value[%symbolIsConcatSpreadable()];
  return spreadable === undefined ? %isArray(value) : !!spreadable;
}

function Array_prototype_concat(...args) {
  const object = %toObject(this, "Array.prototype.concat");
  const result = arraySpeciesCreate(object, 0);
  let count = 0;
  for (let n = -1; n < args.length; n++) {
    const item = n < 0 ? object : args[n];
    if (isConcatSpreadable(item)) {
      const length = %length(+item.length);
      if (count + length > 9007199254740991) %typeError("Invalid array length");
      for (let i = 0; i < length; i++) {
        if (i in item) %put(result, count + i, item[i]);
        else i = %lastHole(item, i, length);
      }
      count += length;
    } else {
      %put(result, count++, item);
    }
  }
  result.length = count;
  return result;
}

// --- copies with a change

function checkCopyLength(length) {
  if (length > 4294967295) %rangeError("Invalid array length");
}

function Array_prototype_toReversed() {
  const object = %toObject(this);
  const length = %length(+object.length);
  checkCopyLength(length);
  const result = [];
  for (let i = length - 1; i >= 0; i--) %put(result, length - 1 - i, object[i]);
  return result;
}

function Array_prototype_toSpliced(...args) {
  const object = %toObject(this);
  const length = %length(+object.length);
  const start = %relative(+args[0], length);
  const items = args.length > 2 ? args.length - 2 : 0;
  let removed = args.length === 0 ? 0 : length - start;
  if (args.length > 1) {
    const wanted = %integer(+args[1]);
    removed = wanted < 0 ? 0 : wanted > length - start ? length - start : wanted;
  }
  if (length + items - removed > 9007199254740991) %typeError("Invalid array length");
  checkCopyLength(length + items - removed);
  const result = [];
  let count = 0;
  for (let i = 0; i < start; i++) %put(result, count++, object[i]);
  for (let i = 0; i < items; i++) %put(result, count++, args[i + 2]);
  for (let i = start + removed; i < length; i++) %put(result, count++, object[i]);
  return result;
}

function Array_prototype_with(index, value) {
  const object = %toObject(this);
  const length = %length(+object.length);
  const relative = %integer(+index);
  const at = relative < 0 ? relative + length : relative;
  checkCopyLength(length);
  if (at >= length || at < 0) %rangeError(`Invalid index : ${index}`);
  const result = [];
  for (let i = 0; i < length; i++) %put(result, i, i === at ? value : object[i]);
  return result;
}

// --- making

function Array_of(...items) {
  const result = %construct(this, this, items.length);
  for (let i = 0; i < items.length; i++) %put(result, i, items[i]);
  result.length = items.length;
  return result;
}

function Array_from(items, mapper, thisArg) {
  if (mapper !== undefined && !%isCallable(mapper)) %notCallable(mapper);
  const isConstructor = %isConstructor(this);
  if (items === undefined || items === null) {
    %notIterable(items);
  }
  const method = items[%symbolIterator()];
  if (method !== undefined && method !== null) {
    if (!%isCallable(method)) {
      %typeError("%Array%.from requires that the property of the first argument, " +
        "items[Symbol.iterator], when exists, be a function");
    }
    if (%iteratesPlainly(this, items)) return arrayFromItems(items, mapper, thisArg);
    const result = isConstructor ? %construct(this, this) : [];
    return arrayFromIterator(result, startIterator(items, method), mapper, thisArg);
  }
  const object = %toObject(items);
  const length = %length(+object.length);
  const result = isConstructor ? %construct(this, this, length) : %newArray(length);
  for (let i = 0; i < length; i++) {
    const value = object[i];
    %put(result, i, mapper === undefined ? value : %call(mapper, thisArg, value, i));
  }
  result.length = length;
  return result;
}

// Array.from itself over what a built-in iterator goes through: nobody can tell it from for-of.
function arrayFromItems(items, mapper, thisArg) {
  if (mapper === undefined) return [...items];
  const result = [];
  let count = 0;
  for (const value of items) {
    %put(result, count, %call(mapper, thisArg, value, count));
    count++;
  }
  return result;
}

function arrayFromIterator(result, iterator, mapper, thisArg) {
  const next = iterator.next;
  let count = 0;
  for (;;) {
    const step = nextResult(iterator, next);
    if (step.done) {
      result.length = count;
      return result;
    }
    const value = step.value;
    let isClosing = true;
    try {
      %put(result, count, mapper === undefined ? value : %call(mapper, thisArg, value, count));
      isClosing = false;
    } finally {
      if (isClosing) iteratorCloseSilent(iterator);
    }
    count++;
  }
}
