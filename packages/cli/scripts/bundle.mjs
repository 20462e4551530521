// Bundles the compiled command into dist/bundle. `bin/atrium.mjs` starts sooner from there: Node finds, reads and compiles a
// few files instead of hundreds. Commands and agents that not every start needs are files of their own, loaded on demand.
//
//     node packages/cli/scripts/bundle.mjs [--clean]
//
// With --clean, for a package that is published, no file of an earlier build stays.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { WebSocket } from 'ws'

const cli = realpathSync(fileURLToPath(new URL('..', import.meta.url)))
const packages = dirname(cli)
const folder = join(cli, 'dist', 'bundle')
/** Files of our own that the bundle is made of. */
const inputs = new Set()
/** The file of the bundle in which each module stands, for the modules of every start. */
const groups = new Map()

const build = await rolldown({
  input: { main: join(cli, 'dist', 'main.js') },
  platform: 'node',
  preserveEntrySignatures: 'allow-extension',
  // Packages with native parts look for those beside themselves. `ws` can do without its optional two.
  external: ['@lydell/node-pty', '@photostructure/sqlite', 'bufferutil', 'utf-8-validate'],
  plugins: [{ name: 'own', load: { filter: { id: /\.js$/ }, handler: load }, buildEnd: findGroups }],
})
const { output } = await build.generate({
  dir: folder,
  format: 'cjs',
  // Scripts that come from a code cache cannot use `import()`.
  dynamicImportInCjs: false,
  // A host of an earlier build may still load files of that build: the names of two builds differ.
  entryFileNames: '[name]-[hash].cjs',
  chunkFileNames: '[name]-[hash].cjs',
  assetFileNames: '[name]-[hash][extname]',
  codeSplitting: {
    includeDependenciesRecursively: false,
    groups: [{ debugName: 'start', name: (id) => groups.get(id) ?? null }],
  },
  sourcemap: true,
  comments: { jsdoc: false },
})
await build.close()

mkdirSync(folder, { recursive: true })
for (const file of output) write(file.fileName, file.code ?? file.source)
// Last: the launcher takes the time of this file for the time of the bundle.
const [{ fileName: entry }] = output.filter((file) => file.isEntry && file.name === 'main')
write('bundle.json', JSON.stringify({ entry, inputs: watched() }))
removeOld(output.map((file) => file.fileName))
await fillCache().catch((error) => process.stderr.write(`atrium: no code cache: ${error.message}\n`))

/** Loads a file of our own: the files that it names are bundled too, and stacks show the lines of its source. */
function load(id) {
  if (!id.startsWith(packages)) return null
  inputs.add(id)
  const code = readFileSync(id, 'utf8').replaceAll(
    /new URL\((['"])(\.[^'"]+)\1, import\.meta\.url\)/g,
    (_whole, _quote, path) => `new URL(${urlOf(this, join(dirname(id), path))}, import.meta.url)`,
  )
  return { code, map: id.includes('/dist/') ? readFileSync(`${id}.map`, 'utf8') : null }
}

/** The place of a file that a module names: workers are bundled, scripts are copied, files of this package stay. */
function urlOf(context, file) {
  inputs.add(file)
  if (file.startsWith(`${cli}/`)) return JSON.stringify(relative(folder, file))
  const name = basename(file, extname(file))
  const emitted =
    extname(file) === '.js'
      ? context.emitFile({ type: 'chunk', id: file, name })
      : context.emitFile({ type: 'asset', name: basename(file), source: readFileSync(file) })
  return `import.meta.ROLLUP_FILE_URL_${emitted}`
}

/**
 * Puts the modules of every start into few files: `common` for all commands, `serve` and `host` for the host alone. The shapes of
 * the protocol are apart: most commands trust a host of their own build, and check nothing.
 */
function findGroups() {
  const all = [...this.getModuleIds()].map((id) => this.getModuleInfo(id))
  const from = (start) =>
    loadedWith(
      this,
      all.filter(({ id }) => start.test(id)).map(({ id }) => id),
    )
  const main = from(/\/cli\/dist\/main\.js$/)
  const verbs = from(/\/cli\/dist\/commands\/(?!serve\.js$)/)
  const checks = from(/\/client\/dist\/shared\/schemas\.js$/)
  const serve = from(/\/cli\/dist\/commands\/serve\.js$/)
  const host = from(/\/host\/dist\/host\.js$/)
  for (const id of new Set([...main, ...serve, ...host])) {
    const rest = checks.has(id) ? 'shapes' : serve.has(id) ? 'serve' : 'host'
    groups.set(id, main.has(id) || verbs.has(id) ? 'common' : rest)
  }
  // The entry waits for the command that it runs: no module of a command may wait for the entry.
  for (const { id, isEntry } of all) if (isEntry) groups.delete(id)
}

/** All modules that are loaded with some others, by static imports. */
function loadedWith(context, ids) {
  const found = new Set(ids)
  for (const id of found) for (const next of context.getModuleInfo(id)?.importedIds ?? []) found.add(next)
  return found
}

/** The files whose change makes the bundle stale, relative to the package. The compiler's record stands for all compiled files. */
function watched() {
  const files = [...inputs].map((file) => file.replace(/\/dist\/.*$/, '/dist/.tsbuildinfo'))
  return [...new Set(files)].map((file) => relative(cli, file))
}

/** Writes a file whole or not at all: another process may read it meanwhile. */
function write(name, content) {
  const aside = join(folder, `.${name}.${process.pid}`)
  writeFileSync(aside, content)
  renameSync(aside, join(folder, name))
}

/** Removes files of earlier builds. A running host may still load its own, so they stay for a day unless all must go. */
function removeOld(current) {
  const before = process.argv.includes('--clean') ? Infinity : Date.now() - 24 * 60 * 60_000
  const kept = [...current, 'bundle.json', 'cache']
  for (const name of readdirSync(folder))
    if (!kept.includes(name) && statSync(join(folder, name)).mtimeMs < before) rmSync(join(folder, name))
}

/** Runs the host and a command once: V8 keeps the code that they have compiled. */
async function fillCache() {
  rmSync(join(folder, 'cache'), { recursive: true, force: true })
  const home = mkdtempSync(join(tmpdir(), 'atrium-cache-'))
  const env = { PATH: '', HOME: home, ATRIUM_HOME: join(home, 'data'), ATRIUM_WRITE_CACHE: '1' }
  const start = (...args) =>
    spawn(process.execPath, [join(cli, 'bin', 'atrium.mjs'), ...args], { env, stdio: ['ignore', 'pipe', 2] })
  const host = start('serve', '--json', '--port', '0', '--log-level', 'error')
  const ended = once(host, 'exit')
  try {
    const [line] = await Promise.race([once(createInterface(host.stdout), 'line'), ended])
    if (typeof line !== 'string') throw new Error('the host did not start')
    const { url, token } = JSON.parse(line)
    const socket = new WebSocket(`${url}?tkn=${token}`)
    await once(socket, 'open')
    const params = { channel: 'ahp-root://', protocolVersions: ['1.0.0'], clientId: 'build' }
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }))
    await once(socket, 'message')
    socket.close()
    await once(start('ls', '--quiet'), 'exit')
  } finally {
    host.kill()
    await ended
    rmSync(home, { recursive: true, force: true })
  }
}
