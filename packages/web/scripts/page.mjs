// Builds the page into dist/page, prints the size of each file, and fails if the first load is too large.
//
//     node packages/web/scripts/page.mjs
//
// Each text file gets a compressed neighbour (`.gz`), so that the host compresses nothing while it runs.
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

/** The limit of what a browser loads before it shows something: page, script and styles, in KB after compression. */
const firstLoadKb = 150

const web = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = join(web, 'dist', 'page')
const fresh = join(web, 'dist', `page.${process.pid}`)
const compat = (name) => fileURLToPath(import.meta.resolve(name))

const vite = await import('vite').catch((error) => {
  // The bundler has no binary for some platforms. The host then runs without the page.
  process.stderr.write(`atrium: the page is not built: ${error.message}\n`)
  process.exit(0)
})
const { output } = await vite.build({
  root: web,
  configFile: false,
  logLevel: 'warn',
  resolve: {
    conditions: ['module', 'browser', 'production'],
    alias: {
      'react/jsx-runtime': compat('preact/jsx-runtime'),
      'react-dom': compat('preact/compat'),
      react: compat('preact/compat'),
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: {
    outDir: fresh,
    emptyOutDir: true,
    target: ['chrome120', 'firefox121', 'safari17.2'],
    // Small files stay files: the policy of the page allows no code and no styles in `data:` addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { output: { chunkFileNames: 'assets/[name]-[hash].js' } },
  },
})

await buildWorker()

const first = new Set(['index.html'])
const entry = output.find((file) => file.type === 'chunk' && file.isEntry)
for (const name of [entry.fileName, ...stylesOf(entry)]) first.add(name)
for (const name of first) for (const next of importsOf(name)) first.add(next)

let total = 0
for (const path of filesBelow(fresh)) {
  const name = relative(fresh, path)
  const bytes = readFileSync(path)
  const packed = gzipSync(bytes, { level: 9 })
  if (packed.length < bytes.length) writeFileSync(`${path}.gz`, packed)
  const size = Math.min(packed.length, bytes.length) / 1024
  if (first.has(name)) total += size
  process.stderr.write(
    `  ${size.toFixed(1).padStart(6)} KB  ${first.has(name) ? 'first' : 'later'}  ${name}\n`,
  )
}
process.stderr.write(
  `  ${total.toFixed(1).padStart(6)} KB  of ${firstLoadKb} KB for the first load, compressed\n`,
)
if (total > firstLoadKb) {
  rmSync(fresh, { recursive: true })
  process.stderr.write('atrium: the first load of the page is too large; load a part of it later\n')
  process.exit(1)
}
rmSync(folder, { recursive: true, force: true })
renameSync(fresh, folder)

/**
 * Builds the service worker. It has the names of all files and the hash of the HTML, so each build of the page has another
 * one, and browsers notice it.
 */
async function buildWorker() {
  const paths = filesBelow(fresh).map((path) => `/${relative(fresh, path).replaceAll('\\', '/')}`)
  const files = ['/', ...paths.filter((path) => path !== '/index.html').toSorted()]
  const shell = createHash('sha256')
    .update(readFileSync(join(fresh, 'index.html')))
    .digest('hex')
  await vite.build({
    root: web,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    define: { __BUILD__: JSON.stringify({ files, shell }) },
    build: {
      outDir: fresh,
      emptyOutDir: false,
      target: ['chrome120', 'firefox121', 'safari17.2'],
      reportCompressedSize: false,
      rolldownOptions: {
        input: join(web, 'src', 'offline', 'service-worker.ts'),
        output: { entryFileNames: 'service-worker.js', format: 'iife' },
      },
    },
  })
}

function importsOf(name) {
  const chunk = output.find((file) => file.fileName === name)
  return chunk?.type === 'chunk' ? [...chunk.imports, ...stylesOf(chunk)] : []
}

function stylesOf(chunk) {
  return [...(chunk.viteMetadata?.importedCss ?? [])]
}

function filesBelow(place) {
  return readdirSync(place, { withFileTypes: true }).flatMap((each) =>
    each.isDirectory() ? filesBelow(join(place, each.name)) : [join(place, each.name)],
  )
}
