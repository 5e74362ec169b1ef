#!/usr/bin/env node
// Writes what the built-ins need to know about Unicode, asked from the Node that runs this, so that
// our tables and those of the differential oracle are of the same version:
//
//   tools/make_unicode_tables.mjs src/flow
//
// src/flow/builtin/text/unicode_tables.c      case mappings, case classes, normalization
// src/flow/builtin/text/unicode_properties.c  \p{...} of regular expressions
import { writeFileSync } from 'node:fs';

const folder = process.argv[2];
const LAST = 0x10ffff;
const isSurrogate = c => c >= 0xd800 && c <= 0xdfff;
const text = c => String.fromCodePoint(c);
const codes = s => Array.from(s, ch => ch.codePointAt(0));
const head = `// Made by tools/make_unicode_tables.mjs from Unicode ${process.versions.unicode}; do not edit.\n`;

function rows(items) {
  const lines = [];
  let line = '   ';
  for (const item of items) {
    if (line.length + item.length + 2 > 100) { lines.push(line); line = '   '; }
    line += ` ${item},`;
  }
  if (line.trim()) lines.push(line);
  return lines.join('\n');
}
const array = (type, name, items) => `const ${type} ${name}[] = {\n${rows(items)}\n};\n`;
const hex = n => (n < 10 ? String(n) : `0x${n.toString(16).toUpperCase()}`);

// --- case mappings: runs of characters with the same distance, every one or every other character

function mapping(map) {
  const single = [], special = [];
  for (let c = 0x80; c <= LAST; c++) {
    if (isSurrogate(c)) continue;
    const to = codes(map(text(c)));
    if (to.length > 1) special.push([c, to]);
    else if (to[0] !== c) single.push([c, to[0] - c]);
  }
  const runs = [];
  for (const [c, delta] of single) {
    const last = runs.at(-1);
    if (last && last.delta === delta && last.count < 2000) {
      if (last.count === 1 && c - last.first <= 2) { last.step = c - last.first; last.count++; continue; }
      if (last.count > 1 && c === last.first + last.count * last.step) { last.count++; continue; }
    }
    runs.push({ first: c, count: 1, step: 1, delta });
  }
  return { runs, special };
}

function mappingTables(name, map) {
  const { runs, special } = mapping(map);
  const pool = [];
  return array('FlowCaseRun', `flow_unicode_${name}_runs`,
    runs.map(r => `{${hex(r.first)}, ${r.count}, ${r.step}, ${r.delta}}`))
    + `const uint32_t flow_unicode_${name}_run_count = ${runs.length};\n\n`
    + array('FlowCaseSpecial', `flow_unicode_${name}_special`,
      special.map(([c, to]) => `{${hex(c)}, {${[...to, 0, 0].slice(0, 3).map(hex).join(', ')}}}`))
    + `const uint32_t flow_unicode_${name}_special_count = ${special.length};\n\n`;
}

// --- case classes: characters that regular expressions with the flag i hold to be the same

function caseClasses(flags, last) {
  const related = [];
  for (let c = 0; c <= last; c++) {
    if (isSurrogate(c)) continue;
    const s = text(c);
    if (s.toLowerCase() !== s || s.toUpperCase() !== s || /\p{CWCF}/u.test(s)) related.push(c);
  }
  // Mapped-to characters too: ſ maps to S, which is there anyhow, but be complete.
  const all = new Set(related);
  for (const c of related) for (const d of [...codes(text(c).toLowerCase()), ...codes(text(c).toUpperCase())]) all.add(d);
  const haystack = [...all].sort((a, b) => a - b).map(text).join('');
  const seen = new Set(), classes = [];
  for (const c of [...all].sort((a, b) => a - b)) {
    if (seen.has(c)) continue;
    const pattern = flags.includes('u') ? `\\u{${c.toString(16)}}` : `\\u${c.toString(16).padStart(4, '0')}`;
    const members = [...new Set([...haystack.matchAll(new RegExp(pattern, flags))].map(m => m[0].codePointAt(0)))];
    members.forEach(m => seen.add(m));
    if (members.length > 1) classes.push(members.sort((a, b) => a - b));
  }
  return classes;
}

// Each class: its characters ascending, the last one with the top bit.
function classTable(name, classes) {
  const items = classes.flatMap(members => members.map((m, i) => hex(i + 1 < members.length ? m : (m | 0x80000000) >>> 0)));
  return array('uint32_t', `flow_unicode_${name}`, items)
    + `const uint32_t flow_unicode_${name}_count = ${items.length};\n\n`;
}

// --- normalization

// One character of each canonical combining class, to find the class of others by comparison.
const PROBES = [[1, 820], [6, 94192], [7, 2364], [8, 12441], [9, 2381], [10, 1456], [11, 1457], [12, 1458],
  [13, 1459], [14, 1460], [15, 1461], [16, 1462], [17, 1463], [18, 1464], [19, 1465], [20, 1467], [21, 1468],
  [22, 1469], [23, 1471], [24, 1473], [25, 1474], [26, 64286], [27, 1611], [28, 1612], [29, 1613], [30, 1560],
  [31, 1561], [32, 1562], [33, 1617], [34, 1618], [35, 1648], [36, 1809], [84, 3157], [91, 3158], [103, 3640],
  [107, 3656], [118, 3768], [122, 3784], [129, 3953], [130, 3954], [132, 3956], [202, 801], [214, 7630],
  [216, 795], [218, 7674], [220, 790], [222, 1434], [224, 12334], [226, 119149], [228, 1454], [230, 768],
  [232, 789], [233, 860], [234, 861], [240, 837]];

function combiningClass(c) {
  const m = text(c);
  const swaps = (a, b) => `a${a}${b}`.normalize('NFD') !== `a${a.normalize('NFD')}${b.normalize('NFD')}`;
  if (m.normalize('NFD') !== m) return 0;
  for (const [value, probe] of PROBES) {
    const p = text(probe);
    if (p === m) return value;
    const before = swaps(m, p), after = swaps(p, m);
    if (before) continue;         // m > p: goes behind
    if (after) return -1;         // m < p, and was not equal to a smaller one
    // No reordering either way: equal, or m is a starter.
    const other = text(value === 240 ? 820 : 837);
    return swaps(m, other) || swaps(other, m) ? value : 0;
  }
  return 0;
}

function normalizationTables() {
  const keys = [], pool = [], compositions = [], classes = [];
  for (let c = 0xa0; c <= LAST; c++) {
    if (isSurrogate(c) || (c >= 0xac00 && c <= 0xd7a3)) continue;
    const s = text(c), nfd = s.normalize('NFD'), nfkd = s.normalize('NFKD');
    const add = (to, bit) => {
      keys.push([c, bit, pool.length, to.length]);
      for (let i = 0; i < to.length; i++) pool.push(to.charCodeAt(i));
    };
    if (nfd !== s) add(nfd, 0);
    if (nfkd !== nfd) add(nfkd, 1);
    if (nfd !== s && s.normalize('NFC') === s) {
      const parts = codes(nfd), last = parts.pop();
      const first = codes(parts.map(text).join('').normalize('NFC'));
      if (first.length !== 1 || (text(first[0]) + text(last)).normalize('NFC') !== s) throw new Error(`composition of ${c}`);
      compositions.push([first[0], last, c]);
    }
    if (/\p{M}/u.test(s)) {
      const value = combiningClass(c);
      if (value < 0) throw new Error(`combining class of ${c.toString(16)}`);
      if (value) {
        const run = classes.at(-1);
        if (run && run[2] === value && run[0] + run[1] === c) run[1]++;
        else classes.push([c, 1, value]);
      }
    }
  }
  compositions.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return array('FlowDecomposition', 'flow_unicode_decompositions',
    keys.map(([c, bit, at, len]) => `{${hex(c)}, ${hex(at)}, ${len}, ${bit}}`))
    + `const uint32_t flow_unicode_decomposition_count = ${keys.length};\n\n`
    + array('uint16_t', 'flow_unicode_decomposition_pool', pool.map(hex))
    + '\n'
    + array('FlowComposition', 'flow_unicode_compositions', compositions.map(t => `{${t.map(hex).join(', ')}}`))
    + `const uint32_t flow_unicode_composition_count = ${compositions.length};\n\n`
    + array('FlowCombiningRun', 'flow_unicode_combining_runs', classes.map(t => `{${hex(t[0])}, ${t[1]}, ${t[2]}}`))
    + `const uint32_t flow_unicode_combining_run_count = ${classes.length};\n`;
}

writeFileSync(`${folder}/builtin_unicode_tables.c`, head
  + '//\n// Case mappings as runs of characters with the same distance, classes of characters that ignoring\n'
  + '// case makes equal, decompositions, compositions and combining classes.\n'
  + '//   [unicode-tables-1], [unicode-tables-2] of text/unicode_tables.h.\n'
  + '#include "flow/builtin/text/unicode_tables.h"\n\n'
  + mappingTables('upper', s => s.toUpperCase()) + mappingTables('lower', s => s.toLowerCase())
  + classTable('case_classes', caseClasses('giu', LAST))
  + classTable('case_classes_basic', caseClasses('gi', 0xffff))
  + normalizationTables());

// --- properties

const CATEGORIES = 'C=Other Cc=Control=cntrl Cf=Format Cn=Unassigned Co=Private_Use Cs=Surrogate L=Letter LC=Cased_Letter Ll=Lowercase_Letter Lm=Modifier_Letter Lo=Other_Letter Lt=Titlecase_Letter Lu=Uppercase_Letter M=Mark=Combining_Mark Mc=Spacing_Mark Me=Enclosing_Mark Mn=Nonspacing_Mark N=Number Nd=Decimal_Number=digit Nl=Letter_Number No=Other_Number P=Punctuation=punct Pc=Connector_Punctuation Pd=Dash_Punctuation Pe=Close_Punctuation Pf=Final_Punctuation Pi=Initial_Punctuation Po=Other_Punctuation Ps=Open_Punctuation S=Symbol Sc=Currency_Symbol Sk=Modifier_Symbol Sm=Math_Symbol So=Other_Symbol Z=Separator Zl=Line_Separator Zp=Paragraph_Separator Zs=Space_Separator';
const SCRIPTS = 'Adlm=Adlam Aghb=Caucasian_Albanian Ahom Arab=Arabic Armi=Imperial_Aramaic Armn=Armenian Avst=Avestan Bali=Balinese Bamu=Bamum Bass=Bassa_Vah Batk=Batak Beng=Bengali Berf=Beria_Erfe Bhks=Bhaiksuki Bopo=Bopomofo Brah=Brahmi Brai=Braille Bugi=Buginese Buhd=Buhid Cakm=Chakma Cans=Canadian_Aboriginal Cari=Carian Cham Cher=Cherokee Chrs=Chorasmian Copt=Coptic=Qaac Cpmn=Cypro_Minoan Cprt=Cypriot Cyrl=Cyrillic Deva=Devanagari Diak=Dives_Akuru Dogr=Dogra Dsrt=Deseret Dupl=Duployan Egyp=Egyptian_Hieroglyphs Elba=Elbasan Elym=Elymaic Ethi=Ethiopic Gara=Garay Geor=Georgian Glag=Glagolitic Gong=Gunjala_Gondi Gonm=Masaram_Gondi Goth=Gothic Gran=Grantha Grek=Greek Gujr=Gujarati Gukh=Gurung_Khema Guru=Gurmukhi Hang=Hangul Hani=Han Hano=Hanunoo Hatr=Hatran Hebr=Hebrew Hira=Hiragana Hluw=Anatolian_Hieroglyphs Hmng=Pahawh_Hmong Hmnp=Nyiakeng_Puachue_Hmong Hung=Old_Hungarian Ital=Old_Italic Java=Javanese Kali=Kayah_Li Kana=Katakana Kawi Khar=Kharoshthi Khmr=Khmer Khoj=Khojki Kits=Khitan_Small_Script Knda=Kannada Krai=Kirat_Rai Kthi=Kaithi Lana=Tai_Tham Laoo=Lao Latn=Latin Lepc=Lepcha Limb=Limbu Lina=Linear_A Linb=Linear_B Lisu Lyci=Lycian Lydi=Lydian Mahj=Mahajani Maka=Makasar Mand=Mandaic Mani=Manichaean Marc=Marchen Medf=Medefaidrin Mend=Mende_Kikakui Merc=Meroitic_Cursive Mero=Meroitic_Hieroglyphs Mlym=Malayalam Modi Mong=Mongolian Mroo=Mro Mtei=Meetei_Mayek Mult=Multani Mymr=Myanmar Nagm=Nag_Mundari Nand=Nandinagari Narb=Old_North_Arabian Nbat=Nabataean Newa Nkoo=Nko Nshu=Nushu Ogam=Ogham Olck=Ol_Chiki Onao=Ol_Onal Orkh=Old_Turkic Orya=Oriya Osge=Osage Osma=Osmanya Ougr=Old_Uyghur Palm=Palmyrene Pauc=Pau_Cin_Hau Perm=Old_Permic Phag=Phags_Pa Phli=Inscriptional_Pahlavi Phlp=Psalter_Pahlavi Phnx=Phoenician Plrd=Miao Prti=Inscriptional_Parthian Rjng=Rejang Rohg=Hanifi_Rohingya Runr=Runic Samr=Samaritan Sarb=Old_South_Arabian Saur=Saurashtra Sgnw=SignWriting Shaw=Shavian Shrd=Sharada Sidd=Siddham Sidt=Sidetic Sind=Khudawadi Sinh=Sinhala Sogd=Sogdian Sogo=Old_Sogdian Sora=Sora_Sompeng Soyo=Soyombo Sund=Sundanese Sunu=Sunuwar Sylo=Syloti_Nagri Syrc=Syriac Tagb=Tagbanwa Takr=Takri Tale=Tai_Le Talu=New_Tai_Lue Taml=Tamil Tang=Tangut Tavt=Tai_Viet Tayo=Tai_Yo Telu=Telugu Tfng=Tifinagh Tglg=Tagalog Thaa=Thaana Thai Tibt=Tibetan Tirh=Tirhuta Tnsa=Tangsa Todr=Todhri Tols=Tolong_Siki Toto Tutg=Tulu_Tigalari Ugar=Ugaritic Vaii=Vai Vith=Vithkuqi Wara=Warang_Citi Wcho=Wancho Xpeo=Old_Persian Xsux=Cuneiform Yezi=Yezidi Yiii=Yi Zanb=Zanabazar_Square Zinh=Inherited=Qaai Zyyy=Common';
const BINARIES = 'ASCII ASCII_Hex_Digit=AHex Alphabetic=Alpha Any Assigned Bidi_Control=Bidi_C Bidi_Mirrored=Bidi_M Case_Ignorable=CI Cased Changes_When_Casefolded=CWCF Changes_When_Casemapped=CWCM Changes_When_Lowercased=CWL Changes_When_NFKC_Casefolded=CWKCF Changes_When_Titlecased=CWT Changes_When_Uppercased=CWU Dash Default_Ignorable_Code_Point=DI Deprecated=Dep Diacritic=Dia Emoji Emoji_Component=EComp Emoji_Modifier=EMod Emoji_Modifier_Base=EBase Emoji_Presentation=EPres Extended_Pictographic=ExtPict Extender=Ext Grapheme_Base=Gr_Base Grapheme_Extend=Gr_Ext Hex_Digit=Hex IDS_Binary_Operator=IDSB IDS_Trinary_Operator=IDST ID_Continue=IDC ID_Start=IDS Ideographic=Ideo Join_Control=Join_C Logical_Order_Exception=LOE Lowercase=Lower Math Noncharacter_Code_Point=NChar Pattern_Syntax=Pat_Syn Pattern_White_Space=Pat_WS Quotation_Mark=QMark Radical Regional_Indicator=RI Sentence_Terminal=STerm Soft_Dotted=SD Terminal_Punctuation=Term Unified_Ideograph=UIdeo Uppercase=Upper Variation_Selector=VS White_Space=space XID_Continue=XIDC XID_Start=XIDS';

// Every character with a space between would double the work; only surrogates need care.
const below = Array.from({ length: 0xd800 }, (_, c) => text(c)).join('');
const above = Array.from({ length: LAST - 0xe000 + 1 }, (_, i) => text(0xe000 + i)).join('');

function rangesOf(property) {
  const out = [];
  const push = (first, last) => {
    if (out.length && out.at(-1)[1] === first - 1) out.at(-1)[1] = last;
    else out.push([first, last]);
  };
  const scan = s => {
    for (const m of s.matchAll(new RegExp(`\\p{${property}}+`, 'gu'))) {
      const first = m[0].codePointAt(0), end = m[0].length;
      const lastUnit = m[0].charCodeAt(end - 1);
      push(first, lastUnit >= 0xdc00 && lastUnit <= 0xdfff ? m[0].codePointAt(end - 2) : lastUnit);
    }
  };
  scan(below);
  const one = new RegExp(`\\p{${property}}`, 'u');
  for (let c = 0xd800; c <= 0xdfff; c++) if (one.test(String.fromCharCode(c))) push(c, c);
  scan(above);
  return out;
}

const stream = [];
const known = new Map();
function store(ranges) {
  const bytes = [];
  const put = n => { while (n > 127) { bytes.push(n & 127 | 128); n = Math.floor(n / 128); } bytes.push(n); };
  let next = 0;
  for (const [first, last] of ranges) { put(first - next); put(last - first); next = last + 1; }
  const key = bytes.join();
  if (!known.has(key)) {
    known.set(key, stream.length);
    for (const b of bytes) stream.push(b);
  }
  return [known.get(key), bytes.length];
}

const entries = [];
function add(kind, list, query) {
  for (const names of list.split(' ')) {
    const aliases = names.split('=');
    const [at, size] = store(rangesOf(query(aliases[0])));
    for (const name of aliases) {
      new RegExp(`\\p{${query(name)}}`, 'u');
      entries.push(`{"${name}", ${at}, ${size}, ${kind}}`);
    }
  }
}
add('UNICODE_BINARY', BINARIES, n => n);
add('UNICODE_CATEGORY', CATEGORIES, n => `gc=${n}`);
add('UNICODE_SCRIPT', SCRIPTS, n => `sc=${n}`);
add('UNICODE_SCRIPT_EXTENSIONS', SCRIPTS, n => `scx=${n}`);

writeFileSync(`${folder}/builtin_unicode_properties.c`, head
  + '//\n// Each property is a piece of the stream: distance from the end of the last range, length - 1,\n'
  + '// and so on, as varints of seven bits, low ones first.\n'
  + '// Names are looked up from the start, so a binary property comes before a category.\n'
  + '#include "flow/builtin/text/unicode_tables.h"\n\n'
  + array('FlowUnicodeProperty', 'flow_unicode_properties', entries)
  + `const uint32_t flow_unicode_property_count = ${entries.length};\n\n`
  + array('uint8_t', 'flow_unicode_property_stream', stream.map(String)));
console.log(`${entries.length} properties, ${stream.length} bytes`);
