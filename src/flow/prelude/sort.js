// Sorting with a comparator: stable, by runs that are merged. Runs shorter than the minimum are
// extended by binary insertion; up to 63 elements that is all there is, and the comparator is
// called for the same pairs as in V8. Sorting by text is in C (builtin/array_sort.c).

function checkComparator(comparator) {
  if (comparator !== undefined && !%isCallable(comparator)) {
    %typeError("The comparison function must be either a function or undefined");
  }
}

function Array_prototype_sort(comparator) {
  checkComparator(comparator);
  const object = %toObject(this);
  const length = %length(+object.length);
  if (length < 2) return object;
  const list = [];
  let count = 0;
  let undefinedCount = 0;
  for (let i = 0; i < length; i++) {
    const value = object[i];
    if (value !== undefined) %put(list, count++, value);
    else if (i in object) undefinedCount++;
    else i = %lastHole(object, i, length);
  }
  sortList(list, comparator);
  for (let i = 0; i < count; i++) object[i] = list[i];
  const end = count + undefinedCount;
  for (let i = count; i < end; i++) object[i] = undefined;
  for (let i = end; i < length; i++) {
    if (i in object) delete object[i];
    else i = %lastHole(object, i, length);
  }
  return object;
}

function Array_prototype_toSorted(comparator) {
  checkComparator(comparator);
  const object = %toObject(this);
  const length = %length(+object.length);
  checkCopyLength(length);
  const list = [];
  let count = 0;
  for (let i = 0; i < length; i++) {
    const value = object[i];
    if (value !== undefined) %put(list, count++, value);
  }
  sortList(list, comparator);
  for (; count < length; count++) %put(list, count, undefined);
  return list;
}

function sortList(list, comparator) {
  if (comparator === undefined) sortByText(list);
  else if (list.length > 1) sortByComparator(list, comparator);
}

function sortByText(list) {
  const keys = [];
  for (let i = 0; i < list.length; i++) %put(keys, i, `${list[i]}`);
  if (%sortByKeys(list, keys)) return;
  const order = []; // of the places, when comparing the keys takes so long that it has to be stopped in between
  for (let i = 0; i < list.length; i++) %put(order, i, i);
  sortByComparator(order, (a, b) => keys[a] < keys[b] ? -1 : 0);
  for (let i = 0; i < order.length; i++) %put(keys, i, list[order[i]]);
  for (let i = 0; i < keys.length; i++) list[i] = keys[i];
}

// The shortest run: the length itself below 64, else so that the number of runs is a power of two
// or a little less.
function minimumRun(length) {
  let odd = 0;
  while (length >= 64) {
    odd = odd | (length & 1);
    length = length >> 1;
  }
  return length + odd;
}

function sortByComparator(list, comparator) {
  const length = list.length;
  const minimum = minimumRun(length);
  const starts = []; // of the runs not merged yet, then the end of the last one
  const lengths = [];
  let low = 0;
  while (low < length) {
    let run = findRun(list, comparator, low, length);
    if (run < minimum) {
      const forced = length - low < minimum ? length - low : minimum;
      insertRun(list, comparator, low, low + run, low + forced);
      run = forced;
    }
    %put(starts, starts.length, low);
    %put(lengths, lengths.length, run);
    collapseRuns(list, comparator, starts, lengths, false);
    low += run;
  }
  collapseRuns(list, comparator, starts, lengths, true);
}

// Length of the run that begins at `low`; a descending one is turned round.
function findRun(list, comparator, low, end) {
  if (low + 1 === end) return 1;
  let previous = list[low + 1];
  const isDescending = +%call(comparator, undefined, previous, list[low]) < 0;
  let at = low + 2;
  for (; at < end; at++) {
    const current = list[at];
    if (+%call(comparator, undefined, current, previous) < 0 !== isDescending) break;
    previous = current;
  }
  if (isDescending) {
    for (let left = low, right = at - 1; left < right; left++, right--) {
      const kept = list[left];
      list[left] = list[right];
      list[right] = kept;
    }
  }
  return at - low;
}

// [low, start) is sorted; brings [start, end) in.
function insertRun(list, comparator, low, start, end) {
  for (; start < end; start++) {
    const pivot = list[start];
    let left = low;
    let right = start;
    while (left < right) {
      const middle = left + ((right - left) >> 1);
      if (+%call(comparator, undefined, pivot, list[middle]) < 0) right = middle;
      else left = middle + 1;
    }
    for (let at = start; at > left; at--) list[at] = list[at - 1];
    list[left] = pivot;
  }
}

// Merges neighbouring runs until their lengths fall off fast enough (or all, at the end), so that
// no merge is much longer on one side than on the other.
function collapseRuns(list, comparator, starts, lengths, isAll) {
  while (lengths.length > 1) {
    let n = lengths.length - 2;
    const isSteep = (n === 0 || lengths[n - 1] > lengths[n] + lengths[n + 1]) &&
      (n < 2 || lengths[n - 2] > lengths[n - 1] + lengths[n]);
    if (!isAll && isSteep && lengths[n] > lengths[n + 1]) return;
    if (n > 0 && (isAll || !isSteep) && lengths[n - 1] < lengths[n + 1]) n--;
    mergeRuns(list, comparator, starts[n], lengths[n], lengths[n + 1]);
    lengths[n] += lengths[n + 1];
    if (n + 2 < lengths.length) {
      starts[n + 1] = starts[n + 2];
      lengths[n + 1] = lengths[n + 2];
    }
    starts.length = starts.length - 1;
    lengths.length = lengths.length - 1;
  }
}

// Two neighbouring runs, the first from `start` on: the left one is set aside and both are
// merged back.
function mergeRuns(list, comparator, start, leftLength, rightLength) {
  const left = [];
  for (let i = 0; i < leftLength; i++) %put(left, i, list[start + i]);
  let i = 0;
  let j = start + leftLength;
  const end = j + rightLength;
  let out = start;
  while (i < leftLength && j < end) {
    const right = list[j];
    if (+%call(comparator, undefined, right, left[i]) < 0) {
      list[out++] = right;
      j++;
    } else {
      list[out++] = left[i++];
    }
  }
  while (i < leftLength) list[out++] = left[i++];
}
