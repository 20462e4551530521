// Bundles the compiled command into dist/bundle. `bin/atrium.mjs` starts sooner from there: Node finds, reads and compiles a
// few files instead of hundreds. Commands and agents that not every start needs are files of their own, loaded on demand.
//
//     node packages/cli/scripts/bundle.mjs
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const cli = realpathSync(fileURLToPath(new URL('..', import.meta.url)))
const packages = dirname(cli)
const folder = join(cli, 'dist', 'bundle')
/** Files of our own that the bundle is made of. */
const inputs = new Set()

const build = await rolldown({
  input: { main: join(cli, 'dist', 'main.js') },
  platform: 'node',
  // Packages with native parts look for those beside themselves. `ws` can do without its optional two.
  external: ['@lydell/node-pty', '@photostructure/sqlite', 'bufferutil', 'utf-8-validate'],
  plugins: [{ name: 'own', load: { filter: { id: /\.js$/ }, handler: load } }],
})
const { output } = await build.generate({
  dir: folder,
  format: 'esm',
  entryFileNames: '[name].js',
  // A host of an earlier build may still load files of that build: the names of two builds differ.
  chunkFileNames: '[name]-[hash].js',
  assetFileNames: '[name]-[hash][extname]',
  sourcemap: true,
  minify: { compress: false, mangle: false, codegen: true },
})
await build.close()

mkdirSync(folder, { recursive: true })
for (const file of output) if (file.fileName !== 'main.js') write(file.fileName, file.code ?? file.source)
write('inputs.json', JSON.stringify(watched()))
// Last: the launcher takes the time of this file for the time of the bundle.
for (const file of output) if (file.fileName === 'main.js') write('main.js', file.code)
removeOld(output.map((file) => file.fileName))

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

/** The files whose change makes the bundle stale, relative to it. The compiler's record stands for all compiled files. */
function watched() {
  const files = [...inputs].map((file) => file.replace(/\/dist\/.*$/, '/dist/.tsbuildinfo'))
  return [...new Set(files)].toSorted().map((file) => relative(folder, file))
}

/** Writes a file whole or not at all: another process may read it meanwhile. */
function write(name, content) {
  const aside = join(folder, `.${name}.${process.pid}`)
  writeFileSync(aside, content)
  renameSync(aside, join(folder, name))
}

/** Removes files of earlier builds. A running host may still load its own, so they stay for a day. */
function removeOld(current) {
  const dayAgo = Date.now() - 24 * 60 * 60_000
  for (const name of readdirSync(folder))
    if (!current.includes(name) && name !== 'inputs.json' && statSync(join(folder, name)).mtimeMs < dayAgo)
      rmSync(join(folder, name))
}
