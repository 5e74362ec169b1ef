// What declaration files say, as JSON, so that a test can hold it against the engine and the server.
//
//   surface.mjs JOBS    a JSON list of jobs; prints the list of their answers. A job is a list:
//
//   ["flow", EDITOR.d.ts]              the global names, with members, parameters and shapes
//   ["sdk", INDEX.d.ts]                the exported interfaces and classes, member by member
//   ["check", CONFIG, FILE…]           what the compiler says about flows: [{file, line, code, message}]
//   ["library", INDEX.d.ts, FILE…]     the same, for programs that import the library "abide"
//
// A shape is what is known of a type: "any", "name" (text), "names", "number", "flag", "duration" (text or
// number), "instant" (text or Date), "moment" (text, number or Date), {choice: […]}, {options: {…}}, …
//
// The folder of the packages is $ABIDE_TYPES_MODULES.
import fs from "node:fs"
import { createRequire } from "node:module"
import path from "node:path"

const modules = process.env.ABIDE_TYPES_MODULES
const ts = createRequire(path.join(modules, "x.js"))("typescript")

// The compiler's own declarations are read once for all jobs.
const standard = new Map()

function programOf(files, options, sources = new Map()) {
  const host = ts.createCompilerHost(options)
  const { readFile, fileExists, getSourceFile } = host
  host.readFile = name => sources.get(name) ?? readFile(name)
  host.fileExists = name => sources.has(name) || fileExists(name)
  host.getSourceFile = (name, version, ...rest) => {
    if (sources.has(name)) return ts.createSourceFile(name, sources.get(name), version, true)
    if (!name.includes("/node_modules/")) return getSourceFile(name, version, ...rest)
    if (!standard.has(name)) standard.set(name, getSourceFile(name, ts.ScriptTarget.ESNext, ...rest))
    return standard.get(name)
  }
  return ts.createProgram(files, options, host)
}

// ---- shapes ----

const isStandard = symbol => symbol?.declarations?.every(node => node.getSourceFile().fileName.includes("typescript/lib/"))
const nameOf = type => type.aliasSymbol?.name ?? type.symbol?.name

function unionShape(type, checker) {
  const parts = type.types.filter(part => !(part.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void)))
  const kinds = new Set()
  const choices = []
  let object
  for (const part of parts) {
    if (part.isStringLiteral()) choices.push(part.value)
    else if (part.flags & ts.TypeFlags.BooleanLike) kinds.add("flag")
    else if (part.flags & ts.TypeFlags.String) kinds.add("text")
    else if (part.flags & ts.TypeFlags.Number) kinds.add("number")
    else if (part.flags & ts.TypeFlags.Null) kinds.add("null")
    else if (nameOf(part) === "Date") kinds.add("date")
    else [object] = [shape(part, checker), kinds.add("object")]
  }
  const all = [...kinds].sort().join("|")
  const known = {
    "number|text": "duration", "date|text": "instant", "date|number|text": "moment", text: "name", number: "number",
    flag: "flag",
  }
  if (choices.length > 0) return kinds.size === 0 ? { choice: choices.sort() } : `${known[all] ?? all}|${choices.join("|")}`
  if (all === "flag|object" && object === "dictionary") return "schema"
  if (all === "object|text" && object.options) return { textOr: object.options }
  if (all === "object|text" && object === "dictionary") return "filter"
  if (all === "object") return object
  return known[all] ?? all
}

function objectShape(type, checker) {
  const name = nameOf(type)
  if (name === "Date") return "date"
  if (checker.isArrayType(type) || name === "ReadonlyArray") {
    const [item] = checker.getTypeArguments(type)
    return item.flags & ts.TypeFlags.String ? "names" : "list"
  }
  if (name === "Iterable") return "items"
  if (type.getCallSignatures().length > 0) return "function"
  if (isStandard(type.symbol)) return name
  if (type.getProperties().length === 0) return type.getStringIndexType() ? "dictionary" : "object"
  return { options: membersOf(type, checker) }
}

function shape(type, checker) {
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return "any"
  if (type.isUnion()) return unionShape(type, checker)
  if (type.isStringLiteral()) return { choice: [type.value] }
  if (type.flags & ts.TypeFlags.BooleanLike) return "flag"
  if (type.flags & ts.TypeFlags.String) return "name"
  if (type.flags & ts.TypeFlags.Number) return "number"
  if (type.flags & (ts.TypeFlags.Void | ts.TypeFlags.Never | ts.TypeFlags.Undefined)) return "undefined"
  if (type.flags & ts.TypeFlags.TypeParameter) return "any"
  return objectShape(type, checker)
}

function mayBeNull(type) {
  return type.isUnion() && type.types.some(part => part.flags & ts.TypeFlags.Null)
}

function membersOf(type, checker) {
  return Object.fromEntries(type.getProperties().map(symbol => {
    const declared = checker.getTypeOfSymbol(symbol)
    return [symbol.name, {
      shape: shape(declared, checker), required: !(symbol.flags & ts.SymbolFlags.Optional),
      nullable: mayBeNull(declared) || Boolean(declared.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)),
    }]
  }))
}

// ---- calls ----

function resultOf(signature) {
  const type = signature.getReturnType()
  const name = type.symbol?.name
  if (name === "Handle") return "handle"
  if (name === "Promise") return "promise"
  return type.flags & (ts.TypeFlags.Void | ts.TypeFlags.Never | ts.TypeFlags.Undefined) ? "undefined" : "value"
}

function callOf(symbol, checker) {
  const [signature] = checker.getTypeOfSymbol(symbol).getCallSignatures()
  if (signature === undefined) return { returns: "property" }
  const parameters = signature.getParameters().map(parameter => {
    const declaration = parameter.valueDeclaration
    return {
      name: parameter.name, required: !declaration.questionToken && !declaration.dotDotDotToken,
      shape: shape(checker.getTypeOfSymbol(parameter), checker),
    }
  })
  return { returns: resultOf(signature), parameters }
}

function keyOf(symbol) {
  const match = /^__@(\w+)@/.exec(symbol.escapedName)
  return match ? `Symbol(Symbol.${match[1]})` : symbol.name
}

function globalOf(symbol, checker) {
  const type = checker.getTypeOfSymbol(symbol)
  const members = Object.fromEntries(checker.getPropertiesOfType(type).map(member => [keyOf(member), callOf(member, checker)]))
  const [construct] = type.getConstructSignatures()
  const prototype = type.getProperty("prototype")
  const instance = construct ? construct.getReturnType() : prototype && checker.getTypeOfSymbol(prototype)
  return {
    call: callOf(symbol, checker), members, isOurs: !isStandard(symbol),
    instance: instance && checker.getPropertiesOfType(instance).map(keyOf),
  }
}

function flowSurface(file) {
  const program = programOf([file], { noEmit: true, strict: true, types: [], target: ts.ScriptTarget.ESNext })
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(file)
  const globals = {}
  const interfaces = {}
  for (const symbol of checker.getSymbolsInScope(source, ts.SymbolFlags.Value)) globals[symbol.name] = globalOf(symbol, checker)
  for (const symbol of checker.getSymbolsInScope(source, ts.SymbolFlags.Interface)) {
    if (symbol.declarations.some(node => node.getSourceFile() === source))
      interfaces[symbol.name] = membersOf(checker.getDeclaredTypeOfSymbol(symbol), checker)
  }
  return { globals, interfaces, diagnostics: diagnosticsOf(program) }
}

const LIBRARY_OPTIONS = {
  noEmit: true, strict: true, target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext, typeRoots: [path.join(modules, "node_modules", "@types")],
  types: ["node"],
}

function sdkSurface(file) {
  const program = programOf([file], LIBRARY_OPTIONS)
  const checker = program.getTypeChecker()
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))
  const found = {}
  for (const symbol of exported) {
    if (symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class))
      found[symbol.name] = membersOf(checker.getDeclaredTypeOfSymbol(symbol), checker)
  }
  return { exported: found, diagnostics: diagnosticsOf(program) }
}

// ---- programs ----

// About our files alone: to check the declarations of the compiler and of Node takes longer than all the rest.
function diagnosticsOf(program) {
  const own = program.getSourceFiles().filter(file => !file.fileName.includes("/node_modules/"))
  const all = [program.getOptionsDiagnostics(), program.getGlobalDiagnostics(),
    ...own.flatMap(file => [program.getSyntacticDiagnostics(file), program.getSemanticDiagnostics(file)])].flat()
  return ts.sortAndDeduplicateDiagnostics(all).map(({ file, start, code, messageText }) => ({
    file: file && path.basename(file.fileName), code,
    line: file && file.getLineAndCharacterOfPosition(start).line + 1,
    message: ts.flattenDiagnosticMessageText(messageText, "\n"),
  }))
}

// A block `workflow name(inputs) { … }` is no JavaScript: to the compiler it is an exported function.
const asJavaScript = text => text.replace(/^workflow (\w+)/gm, "export async function $1")

function checkFlows(config, files) {
  const { config: raw, error } = ts.readConfigFile(config, ts.sys.readFile)
  if (error) throw new Error(error.messageText)
  const { options, errors, fileNames } = ts.parseJsonConfigFileContent(raw, ts.sys, path.dirname(config))
  const declarations = path.join(path.dirname(config), "abide.d.ts")
  const found = errors.filter(item => item.code !== 18003).map(item => ({ code: item.code, message: item.messageText }))
  if (!(raw.files ?? []).includes("abide.d.ts")) throw new Error(`${config} leaves out abide.d.ts: ${fileNames}`)
  const sources = new Map(files.map(file => [`${file}.js`, asJavaScript(fs.readFileSync(file, "utf8"))]))
  found.push(...diagnosticsOf(programOf([declarations, ...sources.keys()], options, sources)))
  return found.filter(item => item.code !== 1108) // "return" at the top level is part of the language
}

function checkLibrary(declarations, files) {
  const options = { ...LIBRARY_OPTIONS, paths: { abide: [declarations] }, baseUrl: path.dirname(declarations) }
  return diagnosticsOf(programOf(files, options))
}

const JOBS = { flow: flowSurface, sdk: sdkSurface, check: checkFlows, library: checkLibrary }
const answers = JSON.parse(process.argv[2]).map(([job, first, ...rest]) => JOBS[job](first, rest))
console.log(JSON.stringify(answers))
