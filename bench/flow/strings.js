// Strings: building by +=, templates and join; looking at units; the everyday methods.
function append(rounds) {
  let text = "";
  for (let i = 0; i < rounds; i++) text += "item " + i + ", ";
  return text.length;
}

function template(rounds) {
  let size = 0;
  for (let i = 0; i < rounds; i++) size += `${i}: order ${i * 7} of customer-${i % 100}`.length;
  return size;
}

function join(rounds) {
  const parts = [];
  for (let i = 0; i < rounds; i++) parts.push("part" + i);
  return parts.join("-").length;
}

function units(text) {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) | 0;
  let spaces = 0;
  for (let i = 0; i < text.length; i++) if (text[i] === " ") spaces++;
  return hash + spaces;
}

function words(text, rounds) {
  let count = 0;
  for (let r = 0; r < rounds; r++) {
    for (const word of text.split(" ")) {
      if (word.startsWith("qu")) count++;
      count += word.toUpperCase().indexOf("O") + word.slice(1, 3).length;
    }
    count += text.replaceAll("fox", "cat").length + text.trim().lastIndexOf("dog");
  }
  return count;
}

function run() {
  const line = "the quick brown fox jumps over the lazy dog ";
  return append(60000) + template(40000) + join(40000) + units(line.repeat(3000)) + words(line.repeat(20), 60);
}
