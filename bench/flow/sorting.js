// Sorting: by comparator, by field, by text; and a quicksort written out.
function numbers(count, seed) {
  const list = [];
  let state = seed;
  for (let i = 0; i < count; i++) {
    state = (state * 1103515245 + 12345) % 2147483648;
    list.push(state % 100000);
  }
  return list;
}

function quicksort(list, low, high) {
  while (low < high) {
    const pivot = list[(low + high) >> 1];
    let i = low;
    let j = high;
    while (i <= j) {
      while (list[i] < pivot) i++;
      while (list[j] > pivot) j--;
      if (i <= j) {
        const swap = list[i];
        list[i++] = list[j];
        list[j--] = swap;
      }
    }
    quicksort(list, low, j);
    low = i;
  }
}

function run() {
  const list = numbers(8000, 42);
  const up = [...list].sort((a, b) => a - b);
  const byField = list.map((value, id) => ({ id, value })).sort((a, b) => b.value - a.value || a.id - b.id);
  const texts = list.map((value) => "k" + value).sort();
  const sorted = [...list, ...numbers(8000, 7)];
  quicksort(sorted, 0, sorted.length - 1);
  return up[100] + byField[200].value + byField[201].id + texts[300].length + sorted[5000];
}
