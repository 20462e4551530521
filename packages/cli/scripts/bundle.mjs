// Bundles the compiled command into dist/bundle. `bin/atrium.mjs` starts sooner from the bundle, because Node finds, reads and
// compiles a few files instead of hundreds. Commands and agents that only some starts need are in separate files, which are
// loaded on demand.
//
//     node packages/cli/scripts/bundle.mjs [--clean] [--into FOLDER --change MODULE]
//
// --clean removes every file of earlier builds. It is for packages that are published.
// --into bundles for a copy of this package in FOLDER. MODULE has a function `change(path, code)`, which gives each compiled file
// its code. Both are for hosts with planted faults.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
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
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { rolldown } from 'rolldown'
import { WebSocket } from 'ws'

const cli = realpathSync(fileURLToPath(new URL('..', import.meta.url)))
const packages = dirname(cli)
const { values: options } = parseArgs({
  options: { clean: { type: 'boolean' }, into: { type: 'string' }, change: { type: 'string' } },
})
const place = join('dist', 'bundle')
const folder = join(options.into ?? cli, place)
const { change = (_, code) => code } = options.change ? await import(pathToFileURL(options.change).href) : {}
/** The files of our own packages that the bundle is made of. */
const inputs = new Set()
/** For each module that every start needs, the name of the bundle file that contains the module. */
const groups = new Map()
const licences = 'third-party-licences.txt'

const build = await rolldown({
  input: { main: join(cli, 'dist', 'main.js') },
  platform: 'node',
  preserveEntrySignatures: 'allow-extension',
  // Packages with native parts look for these parts beside their own files. The others are
  // optional: for `ws`, and for `pg`.
  external: [
    '@lydell/node-pty',
    '@photostructure/sqlite',
    'bufferutil',
    'utf-8-validate',
    'pg-native',
    'pg-cloudflare',
  ],
  plugins: [{ name: 'own', load: { filter: { id: /\.js$/ }, handler: load }, buildEnd: findGroups }],
})
const { output } = await build.generate({
  dir: folder,
  format: 'cjs',
  // A script that runs from a code cache cannot use `import()`.
  dynamicImportInCjs: false,
  // A host of an earlier build may still load files of that build, so each build has file names of its own.
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
for (const file of output) write(file.fileName, file.code === undefined ? file.source : written(file.code))
write(licences, licenceTexts())
// This file is written last, because the launcher takes its modification time for that of the whole bundle.
const [{ fileName: entry }] = output.filter((file) => file.isEntry && file.name === 'main')
const files = [...output.map((file) => file.fileName), 'bundle.json', licences]
write('bundle.json', JSON.stringify({ entry, inputs: watched(), files }))
removeOld(files)
if (options.clean) copyPage()
if (!options.into)
  await fillCache().catch((error) => process.stderr.write(`atrium: no code cache: ${error.message}\n`))

/** Copies the built page, so that the published command needs no other package. */
function copyPage() {
  const page = join(cli, 'dist', 'page')
  rmSync(page, { recursive: true, force: true })
  cpSync(join(packages, 'web', 'dist', 'page'), page, { recursive: true })
}

/**
 * Loads a file of our own packages. Also bundles the files that it names by `new URL`, and reads its source map, so
 * that stack traces show source lines.
 */
function load(id) {
  if (!id.startsWith(packages)) return null
  inputs.add(id)
  const code = change(id, readFileSync(id, 'utf8')).replaceAll(
    /new URL\((['"])(\.[^'"]+)\1, import\.meta\.url\)/g,
    (_whole, _quote, path) => `new URL(${urlOf(this, join(dirname(id), path))}, import.meta.url)`,
  )
  return { code, map: id.includes('/dist/') ? readFileSync(`${id}.map`, 'utf8') : null }
}

/**
 * The URL, as source text, of a file that a module names. Workers are bundled, scripts are copied, files of this
 * package stay in place.
 */
function urlOf(context, file) {
  inputs.add(file)
  if (file.startsWith(`${cli}/`)) return JSON.stringify(relative(join(cli, place), file))
  // Two files of one name would get one URL, so the name has that of the folder, too.
  const name = `${basename(dirname(file))}-${basename(file, extname(file))}`
  const emitted =
    extname(file) === '.js'
      ? context.emitFile({ type: 'chunk', id: file, name })
      : context.emitFile({ type: 'asset', name: `${name}${extname(file)}`, source: readFileSync(file) })
  return `import.meta.ROLLUP_FILE_URL_${emitted}`
}

/**
 * The code of a file of the bundle as it is written. It is ASCII, because V8 keeps a text with other characters in twice the
 * memory. Lines keep their numbers, so the source map stays right.
 */
function written(code) {
  const escape = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  // Without the flag `u`, the two halves of a character are replaced separately.
  return requiredLate(code).replaceAll(/[\x80-\uffff]/g, escape)
}

/**
 * Requires some modules of Node only where they are used. Few hosts use TLS or compression, and the modules for both take about
 * eight megabytes of memory.
 */
function requiredLate(code) {
  const declared = /^[\t ]*(?:const|let) (\w+) = (require\("(?:node:)?(?:https|tls|zlib)"\));$/m
  const [declaration, name, required] = declared.exec(code) ?? []
  if (declaration === undefined) return code
  const uses = new RegExp(`(?<![\\w.'"/])${name}\\.(?=\\w)`, 'g')
  // The parentheses are for `new`.
  return requiredLate(code.replace(declaration, '').replaceAll(uses, `(${required}).`))
}

/**
 * Puts the modules that every start needs into few files: `common` for all commands, `serve` and `host` for the host
 * alone. The shapes of the protocol have a file of their own: most commands talk to a host of their own build, trust
 * its messages, and so need no shapes.
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
  // The entry waits for the command that it runs. No module of a command may wait for the entry, so the entry is in no
  // group.
  for (const { id, isEntry } of all) if (isEntry) groups.delete(id)
}

/** The named modules, and all modules that they import statically, directly or indirectly. */
function loadedWith(context, ids) {
  const found = new Set(ids)
  for (const id of found) for (const next of context.getModuleInfo(id)?.importedIds ?? []) found.add(next)
  return found
}

/**
 * The files that make the bundle stale when they change, relative to this package. The `.tsbuildinfo` of a package
 * stands for all of its compiled files.
 */
function watched() {
  const files = [...inputs].map((file) => file.replace(/\/dist\/.*$/, '/dist/.tsbuildinfo'))
  return [...new Set(files)].map((file) => relative(cli, file))
}

/** The licences of the packages of others whose code is in the bundle. They ask for their texts to be with the code. */
function licenceTexts() {
  const modules = output.flatMap((file) => Object.keys(file.modules ?? {}))
  const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? [])
  const texts = [...new Set(folders)].toSorted().map((place) => {
    const { name, version, license } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'))
    const names = readdirSync(place).filter((each) => /^(?:licen[cs]e|notice)\b/i.test(each))
    const found = names.map((each) => readFileSync(join(place, each), 'utf8').trim())
    return [`${name} ${version} (${license})`, ...found].join('\n\n')
  })
  return `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

/** Writes a file in one step, because another process may read it at the same time. */
function write(name, content) {
  const aside = join(folder, `.${name}.${process.pid}`)
  writeFileSync(aside, content)
  renameSync(aside, join(folder, name))
}

/**
 * Removes the files of earlier builds. A running host may still load files of its own build, so without --clean they
 * stay for a day.
 */
function removeOld(current) {
  const before = options.clean ? Infinity : Date.now() - 24 * 60 * 60_000
  const kept = [...current, 'cache']
  for (const name of readdirSync(folder))
    if (!kept.includes(name) && statSync(join(folder, name)).mtimeMs < before) rmSync(join(folder, name))
}

/** Runs the host and one command, which write the code that V8 compiles for them into the cache. */
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
