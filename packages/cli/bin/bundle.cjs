// Runs the bundle of the command. V8 takes the compiled code of each file from a cache. The build makes the cache for its own
// version of Node. For another version, the first start compiles the files as usual and adds them to the cache. This file
// is CommonJS, because Node loads CommonJS sooner.
const { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs')
const { SourceMap, createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { Script } = require('node:vm')

const own = dirname(__dirname)
const folder = join(own, 'dist', 'bundle')
const cache = join(folder, 'cache', `${process.version}-${process.platform}-${process.arch}`)
const modules = new Map()
/** The scripts that had no cached code, by file name. */
const uncached = new Map()
/** Set while the build makes the cache. */
const isBuild = process.env.ATRIUM_WRITE_CACHE === '1'
/** The time after which a process that goes on adds to the cache, in milliseconds: a host has then answered its first client. */
const settledMs = 10_000

/** Runs the bundle if there is one that is up to date. Returns whether it ran. */
exports.runBundle = function runBundle() {
  const entry = entryOf(join(folder, 'bundle.json'))
  if (entry === undefined) return false
  // The cache is written at the exit, so that it holds every function that this process has compiled. A host may never come
  // to its exit, so it does not wait for that.
  process.on('exit', writeCache)
  if (!isBuild) setTimeout(writeCache, settledMs).unref()
  Error.prepareStackTrace = (error, frames) => {
    const place = isFromOutside(error) ? String : placeOf
    return [Error.prototype.toString.call(error), ...frames.map((frame) => `    at ${place(frame)}`)].join(
      '\n',
    )
  }
  load(entry)
  return true
}

/**
 * The first file of the bundle; undefined if the bundle is missing or stale. In a checkout, ATRIUM_UNBUNDLED=1 runs the compiled
 * files without a bundle, for tools that look at the classes of single files.
 */
function entryOf(list) {
  // A published package has neither sources nor compiled files: its bundle is all that it can run, and is never stale.
  const isCheckout = existsSync(join(own, 'src'))
  if ((isCheckout && process.env.ATRIUM_UNBUNDLED === '1') || !existsSync(list)) return undefined
  const { entry, inputs } = JSON.parse(readFileSync(list, 'utf8'))
  if (!isCheckout) return entry
  const built = statSync(list).mtimeMs
  const isOlder = (input) => statSync(join(own, input), { throwIfNoEntry: false })?.mtimeMs <= built
  return inputs.every(isOlder) ? entry : undefined
}

const head = '(function (exports, require, module, __filename, __dirname) {'
const requireOther = createRequire(join(folder, 'bundle.json'))

function load(name) {
  const before = modules.get(name)
  if (before) return before.exports
  const module = { exports: {} }
  modules.set(name, module)
  const filename = join(folder, name)
  const cachedData = readOrNothing(join(cache, name))
  // The head takes a line of its own. The offset of -1 keeps the line numbers of the file.
  const options = { filename, lineOffset: -1, cachedData }
  const script = new Script(`${head}\n${readFileSync(filename, 'utf8')}\n})`, options)
  // Code that V8 has refused is not replaced, except by the build: it may be right for a process with other flags of V8.
  if (!cachedData || (isBuild && script.cachedDataRejected)) uncached.set(name, script)
  script.runInThisContext()(module.exports, requireFrom, module, filename, folder)
  return module.exports
}

function requireFrom(specifier) {
  return specifier.startsWith('./') ? load(specifier.slice(2)) : requireOther(specifier)
}

function readOrNothing(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

/**
 * Adds the scripts that had no cached code to the cache. Failures are ignored: without a cache, a start only takes longer. A user
 * who does not own the bundle writes nothing, because the owner could not remove it.
 */
function writeCache() {
  try {
    if (uncached.size === 0 || statSync(folder).uid !== process.getuid?.()) return
    mkdirSync(cache, { recursive: true })
    for (const [name, script] of uncached) {
      const aside = join(cache, `.${name}.${process.pid}`)
      writeFileSync(aside, script.createCachedData())
      renameSync(aside, join(cache, name))
    }
  } catch {
    // See above.
  }
  uncached.clear()
}

/**
 * The source maps in use, by file. A stack is rare in a host that runs for days, and a parsed map takes many megabytes. So the
 * garbage collector may take a map, which is then read again for the next stack.
 */
const maps = new Map()

function mapOf(file) {
  const known = maps.get(file)?.deref()
  if (known) return known
  // The texts of the sources are not needed for a position.
  const { sourcesContent: _, ...positions } = JSON.parse(readFileSync(`${file}.map`, 'utf8'))
  const map = new SourceMap(positions)
  maps.set(file, new WeakRef(map))
  return map
}

/**
 * Whether an error comes from a system call or from a WebSocket frame. Node asks for the stack of each error that ends a socket, and
 * clients cause as many of them as they like. So no source map is read for them.
 */
function isFromOutside({ syscall, code }) {
  return syscall !== undefined || String(code).startsWith('WS_ERR_')
}

/** One line of a stack trace, with its position in the bundle replaced by the position in the source. */
function placeOf(frame) {
  const text = String(frame)
  const file = frame.getFileName()
  if (!file?.startsWith(folder)) return text
  try {
    const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()]
    const { originalSource, originalLine, originalColumn } = mapOf(file).findEntry(line - 1, column - 1)
    if (originalSource === undefined) return text
    const source = join(folder, originalSource)
    return text.replace(`${file}:${line}:${column}`, `${source}:${originalLine + 1}:${originalColumn + 1}`)
  } catch {
    return text
  }
}
