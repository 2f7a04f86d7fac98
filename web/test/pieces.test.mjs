// The pieces of the page that need no browser.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { at, fromLists, resized, shown, toLists } from "../src/arrays.js";
import { axisWords } from "../src/axis_words.js";
import { point, smallestAt, unit, units } from "../src/places.js";
import { drawn, pcg32 } from "../src/random.js";
import { number, read, readNpy } from "../src/reading.js";
import { answerOf, answersFile, answersFileName, keyOf, noteGraded, solved } from "../src/answers.js";
import { embedding, packedState, publicAddress, unpackedState } from "../src/share.js";
import { toLatex, toTabs, toTypst as tableInTypst } from "../src/table_text.js";
import { toTypst } from "../src/typst.js";

test("PCG32 draws what its authors say it draws", () => {
  const next = pcg32(42, 54);
  assert.deepEqual(Array.from({ length: 6 }, next), [0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e]);
});

test("numbers are drawn by seed and name, within their domain", () => {
  assert.deepEqual(drawn(5, 1, "Q"), drawn(5, 1, "Q"));
  assert.notDeepEqual(drawn(5, 1, "Q"), drawn(5, 2, "Q"));
  assert.notDeepEqual(drawn(5, 1, "Q"), drawn(5, 1, "K"));
  const whole = drawn(500, 3, "I", { kind: "count", bounds: [4] });
  assert.deepEqual([...new Set(whole)].sort(), [1, 2, 3, 4]);
  assert.ok(drawn(500, 3, "p", { kind: "interval", bounds: [0, 1] }).every((x) => x >= 0 && x <= 1));
  const many = drawn(4000, 5, "X");
  const mean = many.reduce((sum, x) => sum + x, 0) / 4000;
  assert.ok(Math.abs(mean) < 0.06 && Math.abs(Math.sqrt(many.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 4000) - 1) < 0.05);
});

for (const [text, lists] of [
  ["[[1, 2], [3, 4]]", [[1, 2], [3, 4]]], ["[1.5, -2e3, nan]", [1.5, -2000, NaN]], ["((1, 2), (3, 4),)", [[1, 2], [3, 4]]], ["array([[1., 2.],\n       [3., 4.]])", [[1, 2], [3, 4]]],
  ["tensor([1, 2], dtype=torch.int64)", [1, 2]], ["np.array([True, False])", [1, 0]], ["1\t2\n3\t4", [[1, 2], [3, 4]]], ["1, 2, 3", [1, 2, 3]], ["1\n2\n3", [1, 2, 3]],
  ["a,b\n1,2\n3,4", [[1, 2], [3, 4]]], ["x\t1\t2\ny\t3\t4", [[1, 2], [3, 4]]], ["7", 7], ["−3", -3], ["[[[1],[2]]]", [[[1], [2]]]], ["[-inf, ∞]", [-Infinity, Infinity]], ["[1_000]", [1000]],
]) test(`reads ${JSON.stringify(text)}`, () => assert.deepEqual(toLists(read(text)), lists));

for (const [text, why] of [["[[1, 2], [3]]", "one length"], ["[1, x]", "x is no number"], ["[1", "not closed"], ["1]", "no number"], ["", "nothing"], ["[1, [2]]", "one length"], ["[[1], 2]", "nested alike"], ["a b", "no number"]])
  test(`refuses ${JSON.stringify(text)}`, () => assert.throws(() => read(text), { message: new RegExp(why) }));

test("reads files of NumPy", () => {
  const code = "import io, sys, numpy as np; f = io.BytesIO(); np.save(f, eval(sys.argv[1])); sys.stdout.buffer.write(f.getvalue())";
  const file = (text) => {
    const bytes = execFileSync(process.env.PYTHON ?? "python3", ["-c", code, text]);
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  };
  assert.deepEqual(toLists(readNpy(file("np.arange(6.).reshape(2, 3)"))), [[0, 1, 2], [3, 4, 5]]);
  assert.deepEqual(toLists(readNpy(file("np.asfortranarray(np.arange(6, dtype='i4').reshape(2, 3))"))), [[0, 1, 2], [3, 4, 5]]);
  assert.deepEqual(toLists(readNpy(file("np.array([1.5, 2], '>f4')"))), [1.5, 2]);
  assert.deepEqual(toLists(readNpy(file("np.array([True, False])"))), [1, 0]);
  assert.throws(() => readNpy(file("np.array(['a'])")), /kind/);
  assert.throws(() => readNpy(file("np.arange(9.)").slice(0, 140)), /ends early/);
  assert.throws(() => readNpy(new ArrayBuffer(20)), /no .npy/);
});

test("a link holds any state, and a broken one holds none", async () => {
  const state = { text: "softmax_{seq}(Q ⊙_{key} K)", values: { Q: [1, -2.5] }, labels: { seq: ["a", "𝕀"] } };
  const link = await packedState(state);
  assert.match(link, /^[\w-]+$/);
  assert.deepEqual(await unpackedState(`#${link}`), state);
  for (const broken of ["", "#", "#%%%", `#${link.slice(0, 20)}`, "#AAAA", `#${await packedState([1])}`, `#${await packedState("x")}`]) assert.equal(await unpackedState(broken), null);
  assert.equal(await unpackedState(`#${await packedState({ text: "a".repeat(2_000_000) })}`), null);
});

test("places of Python are places of the browser", () => {
  const text = "𝕀[a] + ℝ";
  assert.deepEqual([unit(text, 0), unit(text, 1), point(text, 2), point(text, text.length)], [0, 2, 1, 8]);
  assert.equal(text.slice(...units(text, [1, 4])), "[a]");
  const parts = [{ span: [0, 9] }, { span: [2, 5] }, { span: [2, 3] }];
  assert.deepEqual([smallestAt(parts, 4).span, smallestAt(parts, 3).span, smallestAt(parts, 9).span, smallestAt(parts, 10)], [[2, 5], [2, 3], [0, 9], null]);
});

test("axes are told from what else bears their names", () => {
  const names = new Set(["seq", "key", "X"]);
  const words = (text) => axisWords(text, names).map(([from, to]) => `${text.slice(from, to)}@${from}`);
  assert.deepEqual(words("softmax_{seq}(X ⊙_{key} K / √|key|)"), ["seq@9", "key@19", "key@30"]);
  assert.deepEqual(words("X ∈ ℝ^{seq[3] × key} # seq_{seq}\nX_{seq→key}"), ["seq@7", "key@16", "seq@36", "key@40"]);
  assert.deepEqual(words("# _{seq}\nseq"), []);
  assert.deepEqual(words("X_{seq(X)}"), ["seq@3"]);
  assert.deepEqual(words("X_{(seq,key)→X}"), ["seq@4", "key@8", "X@13"]);
});

test("arrays keep their numbers where their sizes change", () => {
  const old = fromLists([[1, 2], [3, 4]]);
  const fresh = { shape: [3, 1], data: Float64Array.of(7, 8, 9) };
  assert.deepEqual(toLists(resized(old, [3, 1], fresh)), [[1], [3], [9]]);
  assert.equal(resized(old, [3], { shape: [3], data: new Float64Array(3) }).data.length, 3);
  assert.equal(at(old, [["a", 2], ["b", 2]], { a: 2 }), 3);
});

test("numbers are written as one reads them", () => {
  assert.deepEqual([0.1 + 0.2, -2, 1e-9, 123456.789, NaN, -Infinity, 1e20].map((x) => shown(x)), ["0.3", "−2", "1.00e−9", "123500", "nan", "−∞", "1.00e20"]);
  assert.deepEqual(["1e3", "−2.5", "+.5", "x", "", "1.2.3", "-inf"].map(number), [1000, -2.5, 0.5, undefined, undefined, undefined, -Infinity]);
});

for (const [here, site, address] of [
  ["http://127.0.0.1:8017/#abc", null, null], ["http://localhost:8017/", undefined, null], ["file:///home/ada/playground.html#x", null, null],
  ["http://127.0.0.1:8017/?embed#abc", "https://example.org/play.html", "https://example.org/play.html"], ["http://127.0.0.1:8017/", "javascript:alert(1)", null],
  ["https://example.org/docs/playground.html?embed#abc", null, "https://example.org/docs/playground.html"], ["https://example.org/a.html", "https://other.org/", "https://example.org/a.html"],
]) test(`others open ${here} at ${address}, the site being ${site}`, () => assert.equal(publicAddress(here, site), address));

test("an embedded page is the link with a word in its query", () => assert.match(embedding("https://example.org/p.html#abc"), /src="https:\/\/example\.org\/p\.html\?embed#abc"/));

test("a file of answers is named after the student, whatever the name is", () => {
  assert.deepEqual(["Ada Lovelace", " ", "../../x", "Émile 2"].map(answersFileName), ["ada-lovelace.nt", "answers.nt", "x.nt", "émile-2.nt"]);
  assert.equal(answersFile([{ name: "a", key: "a" }], "  Ada\n#: exercise b "), "#: student Ada #: exercise b\n");
});

test("a graded answer is handed in although later grading fails, is stopped or does not count", () => {
  const store = new Map();
  globalThis.localStorage = { getItem: (name) => store.get(name) ?? null, setItem: (name, value) => store.set(name, value) };
  const [right, total] = [{ ok: true, correct: true, counts_as_attempt: true }, { name: "total", key: "week 1: total" }];
  noteGraded(total.key, "∑_{n} X", { ...right, correct: false });
  assert.deepEqual(solved.value, []);
  answerOf(total.key).value = "X";
  const handed = "#: exercise total\n∑_{n} X\n\n#: exercise total\n∑_{m} X\n";
  assert.equal(answersFile([total], ""), "#: exercise total\n∑_{n} X\n\n#: exercise total\nX\n"); // not solved: the text is the last attempt
  noteGraded(total.key, "∑_{m} X", right);
  for (const [answer, reply] of [
    ["X", { ok: false, error: new Error("the server of this page does not answer") }],
    ["X ⊙ X", { ok: true, correct: false, counts_as_attempt: false, feedback: "could not be graded in 2 seconds" }],
    ["X +", { ok: true, correct: false, counts_as_attempt: false, feedback: "syntax error 105" }],
  ]) {
    answerOf(total.key).value = answer;
    noteGraded(total.key, answer, reply);
    assert.equal(answersFile([total], ""), handed);
    assert.deepEqual([solved.value, JSON.parse(store.get("named-tensors solved"))], [[total.key], [total.key]]);
  }
  delete globalThis.localStorage;
});

test("an exercise is not solved after a later wrong answer, which is handed in as the last attempt", () => {
  const half = { name: "half", key: "week 2: half" };
  noteGraded(half.key, "X / 2", { ok: true, correct: true });
  noteGraded(half.key, "X / 2", { ok: true, correct: true });
  assert.equal(solved.value.filter((each) => each === half.key).length, 1);
  noteGraded(half.key, "X", { ok: true, correct: false });
  assert.ok(!solved.value.includes(half.key));
});

test("exercises of one name in two sheets have their own answers", () => {
  const store = new Map();
  globalThis.localStorage = { getItem: (name) => store.get(name) ?? null, setItem: (name, value) => store.set(name, value) };
  const exercise = { name: "total", prose: "Sum over n.", given: "X ∈ ℝ^{n × m}" };
  const keys = [keyOf(exercise, "lesson 1 axes"), keyOf(exercise, "lesson 2 sums"), keyOf(exercise), keyOf({ ...exercise, prose: "Sum over m." })];
  assert.deepEqual([new Set(keys).size, keys[0], keyOf({ ...exercise })], [4, "lesson 1 axes: total", keys[2]]);
  keys.forEach((key, n) => {
    answerOf(key).value = `${n} X`;
    noteGraded(key, `${n} X`, { ok: true, correct: n === 1 });
  });
  assert.deepEqual(keys.map((key) => answersFile([{ ...exercise, key }], "")), keys.map((_, n) => `#: exercise total\n${n} X\n`));
  assert.deepEqual(keys.map((key) => solved.value.includes(key)), [false, true, false, false]);
  delete globalThis.localStorage;
});

test("attempts are handed in in their order, repeated ones too, and the first is never dropped", () => {
  const store = new Map();
  globalThis.localStorage = { getItem: (name) => store.get(name) ?? null, setItem: (name, value) => store.set(name, value) };
  const attempts = ["X", ...Array.from({ length: 60 }, (_, n) => `${n} X`), "X", "X"];
  for (const answer of attempts) noteGraded("half", answer, { ok: true, correct: false });
  answerOf("half").value = "1 X";
  const handed = answersFile([{ name: "half", key: "half" }], "").split("#: exercise half\n").slice(1).map((each) => each.trim());
  assert.deepEqual([handed.length, handed[0], ...handed.slice(-3)], [50, "X", "59 X", "X", "1 X"]);
  delete globalThis.localStorage;
});

test("formulas in Typst", () => {
  const axis = "\\htmlClass{nt-axis nt-0}{\\mathsf{seq}}";
  for (const [latex, typst] of [
    ["A + y", "A + y"],
    ["\\frac{Q}{\\sqrt{|\\mathsf{key}|}}", 'frac(Q, sqrt(| sans("key") |))'],
    [`\\mathop{\\mathrm{softmax}}\\limits_{${axis}}\\left(X\\right)`, 'op("softmax", limits: #true)_(sans("seq")) lr(\\( X \\))'],
    [`A \\mathbin{\\mathop{\\odot}\\limits_{${axis}}} B`, 'A op(dot.o, limits: #true)_(sans("seq")) B'],
    ["\\begin{aligned} M &= \\begin{cases} 0 & \\text{if } x \\le 1 \\\\ -\\infty & \\text{otherwise} \\end{cases} \\\\ & M \\end{aligned}", 'M & = cases(0 & "if " x <= 1, - infinity & "otherwise") \\\n & M'],
    ["x''", "x''"], ["\\alpha \\hat{X} \\lVert x \\rVert_{a}", "alpha hat(X) parallel x parallel_(a)"], ["\\mathbb{R}^{n} \\to \\{0, 1\\}", "bb(R)^(n) -> \\{ 0 \\, 1 \\}"],
  ]) {
    const found = toTypst(latex).slice(2, -2);
    assert.equal(found, typst);
  }
});

test("tables as text", () => {
  const cells = [["seq ╲ key", "a_b", "2"], ["the", "−1.5", "1e−7"], ["⋮", "−∞", "…"]];
  assert.equal(toTabs(cells), "seq \\ key\ta_b\t2\nthe\t-1.5\t1e-7\n⋮\t-∞\t…");
  assert.equal(toLatex(cells), "\\begin{array}{r|rr}\n\\text{seq} \\backslash \\text{key} & \\text{a\\_b} & 2 \\\\ \\hline\n\\text{the} & -1.5 & 1 \\cdot 10^{-7} \\\\\n\\vdots & -\\infty & \\dots\n\\end{array}");
  assert.equal(tableInTypst(cells), "#table(\n  columns: 3,\n  align: right,\n  table.header([seq ╲ key], [a\\_b], [2]),\n  [the], [−1.5], [1e−7],\n  [⋮], [−∞], […],\n)");
});
