// Regular expressions: testing, capturing, all matches, replacing.
function run() {
  const lines = [];
  for (let i = 0; i < 400; i++) {
    lines.push(`2024-0${i % 9 + 1}-1${i % 10} user${i}@mail${i % 5}.example.com GET /orders/${i * 31}/items?page=${i % 7} 200 ${i * 3}ms`);
  }
  const text = lines.join("\n");
  let sum = 0;
  for (let r = 0; r < 6; r++) {
    for (const line of lines) {
      const match = /^(\d{4})-(\d{2})-(\d{2}) (\S+)@([\w.]+) (GET|POST) (\/[^ ?]*)(?:\?(\S*))? (\d+) (\d+)ms$/.exec(line);
      sum += match ? Number(match[10]) + match[4].length : 0;
      if (/items\?page=[135]/.test(line)) sum++;
    }
    for (const match of text.matchAll(/user(?<id>\d+)@/g)) sum += match.groups.id.length;
    sum += text.replace(/\d+/g, "#").length;
    sum += text.replace(/(\w+)@(\w+)/g, (_, user, host) => host + "@" + user).length;
    sum += text.split(/\s+/).length;
    sum += (text.match(/[aeiou]{2,}/gi) ?? []).length;
  }
  return sum;
}
