// Makes one file that installs the command `atrium` without a network:
//
//     npm run pack [-- FOLDER]     writes atrium-VERSION-PLATFORM-ARCH.tgz into FOLDER, or into this checkout
//
// The file has the package of the command, the page, and the few packages that the command needs at run time, as `npm pack` with
// `bundleDependencies` packs them. Two of those have binaries, so the file is for the system and the processor of this machine,
// and npm refuses it on others.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const cli = join(root, 'packages', 'cli')
const modules = join(root, 'node_modules')
const started = performance.now()

const target = resolve(process.argv[2] ?? root)
if (!existsSync(target)) fail(`there is no folder ${target}: make it first`)
const stage = mkdtempSync(join(tmpdir(), 'atrium-pack-'))
try {
  const file = join(target, pack())
  const megabytes = (statSync(file).size / 1e6).toFixed(1)
  say(`packed in ${Math.round((performance.now() - started) / 1000)} s, ${megabytes} MB`)
  say(`install it: npm install --global ${shown(file)}`)
} finally {
  rmSync(stage, { recursive: true, force: true })
}

/** Writes the file, and returns its name. */
function pack() {
  const { devDependencies: _tools, scripts: _build, ...manifest } = read(join(cli, 'package.json'))
  say('packing the page and the command')
  copyPage()
  for (const path of filesOf(manifest.name)) copy(join(cli, path), join(stage, path))
  const names = Object.keys(manifest.dependencies)
  for (const name of closure(names)) copy(join(modules, name), join(stage, 'node_modules', name))
  const place = { os: [process.platform], cpu: [process.arch] }
  const bundled = { ...manifest, ...place, bundleDependencies: names }
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(bundled, undefined, 2)}\n`)
  const [{ filename }] = npm(['pack', '--json', '--ignore-scripts'], stage)
  const name = `atrium-${manifest.version}-${process.platform}-${process.arch}.tgz`
  cpSync(join(stage, filename), join(target, `.${name}`))
  renameSync(join(target, `.${name}`), join(target, name))
  return name
}

/** Copies the page into the package of the command, as its own script `prepack` does for a package that is published. */
function copyPage() {
  const page = join(cli, 'dist', 'page')
  rmSync(page, { recursive: true, force: true })
  cpSync(join(root, 'packages', 'web', 'dist', 'page'), page, { recursive: true })
}

/** The files that npm would publish, without the bundles of earlier builds. A host that still runs may need those. */
function filesOf(name) {
  const bundle = 'dist/bundle/'
  const { files: built } = read(join(cli, bundle, 'bundle.json'))
  const [{ files }] = npm(['pack', '--dry-run', '--json', '--ignore-scripts', '--workspace', name], root)
  const paths = files.map(({ path }) => path)
  return paths.filter((path) => !path.startsWith(bundle) || built.includes(path.slice(bundle.length)))
}

/** These packages and all that they need at run time, without optional ones that are not for this machine. */
function closure(names) {
  const found = new Set(names)
  for (const name of found) {
    const { dependencies, optionalDependencies } = read(join(modules, name, 'package.json'))
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies }))
      if (existsSync(join(modules, next))) found.add(next)
  }
  return found
}

/** Runs npm and returns what it prints as JSON. */
function npm(args, cwd) {
  const [program, ...before] = process.env.npm_execpath
    ? [process.execPath, process.env.npm_execpath]
    : ['npm']
  const options = { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: ['ignore', 'pipe', 'ignore'] }
  return JSON.parse(execFileSync(program, [...before, ...args], options))
}

/** Copies a file or a folder, without binaries for other machines. */
function copy(from, to) {
  const binary = /[/\\]prebuilds[/\\]([^/\\]+)/
  const machine = `${process.platform}-${process.arch}`
  const filter = (path) => (binary.exec(path)?.[1] ?? machine) === machine
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { recursive: true, filter })
}

function read(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

function shown(file) {
  const path = relative(process.cwd(), file)
  return path.startsWith('.') ? file : `./${path}`
}

function say(text) {
  process.stderr.write(`atrium: ${text}\n`)
}

function fail(text) {
  say(text)
  process.exit(2)
}
