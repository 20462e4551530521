// Makes a checkout ready and then runs a command in it:
//
//     node scripts/ready.mjs [--build] [-- COMMAND ARGS...]
//
// Installs when node_modules does not fit the lock file, builds when a source is newer than the last build, says so on
// stderr, and does neither twice. Signals go on to whatever runs; its exit is ours.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { constants } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const bin = join(modules, '.bin')
const lock = join(root, '.ready.lock')
// Inside node_modules, so that they go when it goes.
const installedFor = join(modules, '.atrium-installed')
const built = join(modules, '.atrium-built')

const dashes = process.argv.indexOf('--')
const command = dashes < 0 ? [] : process.argv.slice(dashes + 1)
const wantsBuild = process.argv.slice(2, dashes < 0 ? undefined : dashes).includes('--build')

let running
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'])
  process.on(signal, () => {
    // At a terminal Ctrl-C reaches the whole group; a second one would mean "at once".
    if (signal !== 'SIGINT' || !process.stdin.isTTY) running?.kill(signal)
  })

const ready = () => installed() && (!wantsBuild || upToDate())
// Only who has something to do needs the lock: a checkout that is ready may be read-only.
if (!ready()) await alone(prepare)
if (command.length > 0) process.exit(await run(command, 'inherit'))

async function prepare() {
  if (!installed()) {
    say('installing dependencies (npm ci)')
    const npm = basename(process.env.npm_execpath ?? '').startsWith('npm')
      ? process.env.npm_execpath
      : undefined
    const program = npm ? ['node', npm] : ['npm']
    // Development tools build the host, so they are wanted whatever NODE_ENV says. No install script is.
    await must([...program, 'ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'])
    writeFileSync(installedFor, lockHash())
  }
  if (wantsBuild && !upToDate()) {
    say('building (tsc -b)')
    await must(['tsc', '-b'])
    writeFileSync(built, '')
  }
}

/** Ours to say after we installed; npm's own record where somebody else did. */
function installed() {
  if (existsSync(installedFor)) return readFileSync(installedFor, 'utf8') === lockHash()
  return newest(join(modules, '.package-lock.json')) >= newest(join(root, 'package-lock.json'))
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
}

function upToDate() {
  const sources = [
    'packages',
    'bench',
    'conformance',
    'proof',
    'tsconfig.json',
    'tsconfig.base.json',
    'package-lock.json',
  ]
  return newest(built) > Math.max(...sources.map((path) => newest(join(root, path))))
}

/** When a file, or anything that is written by hand below a folder, last changed; 0 when there is none. */
function newest(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return 0
  if (!stat.isDirectory()) return stat.mtimeMs
  const names = readdirSync(path).filter((name) => name !== 'dist' && name !== 'node_modules')
  return Math.max(stat.mtimeMs, ...names.map((name) => newest(join(path, name))))
}

/** One at a time: `npm start` and `npm test` in the same fresh clone must not install over each other. */
async function alone(task) {
  for (let told = false; !take();) {
    const holder = holding()
    if (holder === undefined) release()
    else if (!told) told = say(`waiting for process ${holder}, which is making this checkout ready`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  try {
    if (!ready()) await task()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function take() {
  try {
    mkdirSync(lock)
    writeFileSync(join(lock, 'pid'), String(process.pid))
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    return false
  }
}

/** The process that has the lock, unless it is gone. A lock without a name is given a moment to get one. */
function holding() {
  const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  let pid = 0
  try {
    pid = Number(readFileSync(join(lock, 'pid'), 'utf8'))
  } catch {}
  if (!(pid > 1) || pid === process.pid) return age < 2000 ? '(just begun)' : undefined
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (error.code !== 'EPERM') return undefined
  }
  // A process number is used again one day; no install takes this long.
  return age < 30 * 60_000 ? pid : undefined
}

/** Moved aside first, so that of several who find it stale only one takes it away. */
function release() {
  const aside = `${lock}.${process.pid}`
  try {
    renameSync(lock, aside)
  } catch {
    return
  }
  rmSync(aside, { recursive: true, force: true })
}

/** A step of the preparation. Its output is not the command's, so all of it goes to stderr. */
async function must(step) {
  const code = await run(step, ['ignore', 2, 2])
  if (code === 0) return
  rmSync(lock, { recursive: true, force: true })
  say(`failed: ${step.join(' ')}`)
  process.exit(code)
}

function run([name, ...args], stdio) {
  const tool = join(bin, name)
  const program = name === 'node' ? process.execPath : existsSync(tool) ? tool : name
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` }
  const shell = process.platform === 'win32' && program !== process.execPath
  running = spawn(program, args, { cwd: stdio === 'inherit' ? undefined : root, stdio, env, shell })
  return new Promise((resolve) => {
    running.on('error', (error) => {
      say(`cannot run ${name}: ${error.message}`)
      resolve(1)
    })
    running.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]))
  })
}

function say(text) {
  return process.stderr.write(`atrium: ${text}\n`)
}
