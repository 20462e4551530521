// Installs and builds a checkout if needed, and then runs a command in it:
//
//     node scripts/ready.mjs [--build | --run] [-- COMMAND ARGS...]
//
// It installs if node_modules does not match the lock file. With --build, it builds if a source is newer than the last build. With
// --run, it then builds the command and its page only, and does not check types, which takes most of the time of a build.
// It tells on stderr how far both steps are. It forwards signals to the running process and exits with the exit code of the command.
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
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { installedPackages, Progress, projectsIn } from './progress.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const bin = join(modules, '.bin')
const lock = join(root, '.ready.lock')
// These files are inside node_modules, so that they disappear whenever node_modules is removed.
const installedFor = join(modules, '.atrium-installed')
const built = join(modules, '.atrium-built')
const runnable = join(modules, '.atrium-runnable')
const bundle = ['node', 'packages/cli/scripts/bundle.mjs']
const page = ['node', 'packages/web/scripts/page.mjs']

const dashes = process.argv.indexOf('--')
const command = dashes < 0 ? [] : process.argv.slice(dashes + 1)
const options = process.argv.slice(2, dashes < 0 ? undefined : dashes)
const wantsAll = options.includes('--build')
const wantsBuild = wantsAll || options.includes('--run')

let running
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'])
  process.on(signal, () => {
    // At a terminal, Ctrl-C has already reached the whole process group. Another SIGINT from here would mean "stop at
    // once".
    if (signal !== 'SIGINT' || !process.stdin.isTTY) running?.kill(signal)
  })

const ready = () => installed() && (!wantsBuild || upToDate())
// The lock is taken only if there is work, because a checkout that is ready may be read-only.
if (!ready()) await withLock(prepare)
if (command.length > 0) process.exit(await run(command, 'inherit'))

async function prepare() {
  if (!installed()) {
    const npm = basename(process.env.npm_execpath ?? '').startsWith('npm')
      ? process.env.npm_execpath
      : undefined
    const program = npm ? ['node', npm] : ['npm']
    // The build needs the development dependencies, even if NODE_ENV is "production". No package needs its install
    // script.
    const install = [...program, 'ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund']
    await runStep(install, 'installing dependencies (npm ci)', { count: installedPackages(root) })
    writeFileSync(installedFor, lockHash())
  }
  if (wantsBuild && !upToDate()) {
    const pretty = process.stderr.isTTY ? ['--pretty'] : []
    const what = wantsAll ? [] : ['--noCheck', 'packages/cli']
    await runStep(['tsc', '-b', '--verbose', ...pretty, ...what], 'building (tsc -b)', projectsIn())
    if (!pageUpToDate()) await runStep(page, 'building the page (vite)')
    // The bundle may fail, because the bundler has no binary for some platforms. The command then starts from its
    // compiled files, which takes longer.
    if ((await shownRun(bundle, 'bundling the command')) !== 0)
      say('not bundled: the command will start more slowly')
    writeFileSync(wantsAll ? built : runnable, '')
  }
}

/** Whether node_modules matches the lock file, according to our own record or, if npm was run by hand, to the record of npm. */
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
  const laboratory = ['bench', 'conformance', 'proof', 'tsconfig.json']
  const sources = ['packages', 'tsconfig.base.json', 'package-lock.json', ...(wantsAll ? laboratory : [])]
  const last = wantsAll ? newest(built) : Math.max(newest(built), newest(runnable))
  return last > Math.max(...sources.map((path) => newest(join(root, path))))
}

/** Whether the page is newer than everything that it is made of. */
function pageUpToDate() {
  const sources = ['packages/web', 'packages/client/src', 'packages/protocol/src', 'package-lock.json']
  return (
    newest(join(root, 'packages/web/dist/page/index.html')) >
    Math.max(...sources.map((path) => newest(join(root, path))))
  )
}

/** The time of the last change of a file, or of any source file below a folder. 0 if the path does not exist. */
function newest(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return 0
  if (!stat.isDirectory()) return stat.mtimeMs
  const names = readdirSync(path).filter((name) => name !== 'dist' && name !== 'node_modules')
  return Math.max(stat.mtimeMs, ...names.map((name) => newest(join(path, name))))
}

/** Runs a task under a lock, so that `npm start` and `npm test` do not install at the same time in a fresh clone. */
async function withLock(task) {
  for (let announced = false; !takeLock();) {
    const holder = lockHolder()
    if (holder === undefined) removeStaleLock()
    else if (!announced) announced = say(`waiting for process ${holder}, which is installing or building`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  try {
    if (!ready()) await task()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function takeLock() {
  try {
    mkdirSync(lock)
    writeFileSync(join(lock, 'pid'), String(process.pid))
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    return false
  }
}

/** The process that holds the lock; undefined if that process has ended. A new lock has two seconds to get its pid file. */
function lockHolder() {
  const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  let pid = 0
  try {
    pid = Number(readFileSync(join(lock, 'pid'), 'utf8'))
  } catch {}
  if (!(pid > 1) || pid === process.pid) return age < 2000 ? '(just started)' : undefined
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (error.code !== 'EPERM') return undefined
  }
  // Process ids are reused, so a lock older than 30 minutes counts as stale. No install takes that long.
  return age < 30 * 60_000 ? pid : undefined
}

/** Removes a stale lock. Renames the lock first, so that only one of several waiting processes removes it. */
function removeStaleLock() {
  const aside = `${lock}.${process.pid}`
  try {
    renameSync(lock, aside)
  } catch {
    return
  }
  rmSync(aside, { recursive: true, force: true })
}

/** Runs one step and exits if it fails. Its output goes to stderr, because stdout belongs to the command. */
async function runStep(step, title, progress) {
  const code = await shownRun(step, title, progress)
  if (code === 0) return
  rmSync(lock, { recursive: true, force: true })
  say(`failed: ${step.join(' ')}`)
  process.exit(code)
}

/** Runs a step and shows how far it is. `progress`: what counts its parts, and what reads each line of its output. */
async function shownRun(step, title, { count, line } = {}) {
  const shown = new Progress(process.stderr, title, count)
  const code = await run(step, ['ignore', 'pipe', 'pipe'], (text) => {
    if (line?.(text) !== true) shown.print(text)
  })
  shown.end(code === 0)
  return code
}

function run([name, ...args], stdio, line) {
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
    for (const stream of line ? [running.stdout, running.stderr] : [])
      createInterface({ input: stream }).on('line', line)
    // All output has been read at `close`. A command that keeps its output open for others ends with `exit`.
    running.on(line ? 'close' : 'exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]))
  })
}

function say(text) {
  return process.stderr.write(`atrium: ${text}\n`)
}
