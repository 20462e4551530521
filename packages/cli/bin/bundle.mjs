// Runs the bundle of the command. V8 takes the compiled code of each file from a cache that the build has made; with another
// version of Node than that of the build it compiles the file as usual.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { SourceMap, createRequire } from 'node:module'
import { join } from 'node:path'
import { Script } from 'node:vm'

export function run(folder, entry) {
  const cache = join(folder, 'cache', `${process.version}-${process.platform}-${process.arch}`)
  const requireOther = createRequire(join(folder, entry))
  const modules = new Map()
  /** Scripts that had no cache, by the name of their file. */
  const uncached = new Map()

  const load = (name) => {
    const before = modules.get(name)
    if (before) return before.exports
    const module = { exports: {} }
    modules.set(name, module)
    const filename = join(folder, name)
    const cachedData = readOrNothing(join(cache, name))
    const script = new Script(`${head}\n${readFileSync(filename, 'utf8')}\n})`, {
      filename,
      // The head is a line of its own: all others keep their numbers.
      lineOffset: -1,
      cachedData,
    })
    if (!cachedData || script.cachedDataRejected) uncached.set(name, script)
    const require = (specifier) =>
      specifier.startsWith('./') ? load(specifier.slice(2)) : requireOther(specifier)
    script.runInThisContext()(module.exports, require, module, filename, folder)
    return module.exports
  }

  // For the build alone: what this process has compiled until it ends becomes the cache.
  if (process.env.ATRIUM_WRITE_CACHE === '1') process.on('exit', () => writeCache(cache, uncached))
  Error.prepareStackTrace = (error, frames) =>
    [Error.prototype.toString.call(error), ...frames.map((frame) => `    at ${placeOf(frame, folder)}`)].join(
      '\n',
    )
  load(entry)
}

const head = '(function (exports, require, module, __filename, __dirname) {'

function readOrNothing(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

function writeCache(folder, scripts) {
  mkdirSync(folder, { recursive: true })
  for (const [name, script] of scripts) {
    const aside = join(folder, `.${name}.${process.pid}`)
    writeFileSync(aside, script.createCachedData())
    renameSync(aside, join(folder, name))
  }
}

const maps = new Map()

/** A line of a stack, with its place in the sources. */
function placeOf(frame, folder) {
  const text = String(frame)
  const file = frame.getFileName()
  if (!file?.startsWith(folder)) return text
  try {
    let map = maps.get(file)
    if (!map) maps.set(file, (map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')))))
    const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()]
    const { originalSource, originalLine, originalColumn } = map.findEntry(line - 1, column - 1)
    if (originalSource === undefined) return text
    const source = join(folder, originalSource)
    return text.replace(`${file}:${line}:${column}`, `${source}:${originalLine + 1}:${originalColumn + 1}`)
  } catch {
    return text
  }
}
