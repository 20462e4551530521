// Makes a checkout ready and then runs a command in it:
//
//     node scripts/ready.mjs [--build] [-- COMMAND ARGS...]
//
// Installs when node_modules is missing or older than the lock file, builds when a source is newer than the last
// build, says so on stderr, and does neither twice. Signals go on to the command; its exit is ours.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = join(root, 'node_modules', '.bin')
const lock = join(root, '.ready.lock')
const built = join(root, 'node_modules', '.atrium-built')

const dashes = process.argv.indexOf('--')
const command = dashes < 0 ? [] : process.argv.slice(dashes + 1)
const options = process.argv.slice(2, dashes < 0 ? undefined : dashes)

alone(() => {
  if (!installed()) install()
  if (options.includes('--build') && !upToDate()) build()
})
if (command.length > 0) run(command)

function installed() {
  // npm writes this file last, so a broken install has none.
  return newest(join(root, 'node_modules', '.package-lock.json')) >= newest(join(root, 'package-lock.json'))
}

function install() {
  say('installing dependencies (npm ci)')
  const npm = process.env.npm_execpath
  const [program, ...before] = npm ? [process.execPath, npm] : ['npm']
  // Development tools build the host, so they are wanted whatever NODE_ENV says. No install script is.
  must(program, [...before, 'ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'])
}

function upToDate() {
  const sources = [
    'packages',
    'bench',
    'conformance',
    'tsconfig.json',
    'tsconfig.base.json',
    'package-lock.json',
  ]
  return newest(built) > Math.max(...sources.map((path) => newest(join(root, path))))
}

function build() {
  say('building (tsc -b)')
  must(join(bin, 'tsc'), ['-b'])
  writeFileSync(built, '')
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
function alone(task) {
  for (;;) {
    try {
      mkdirSync(lock)
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (!holderLives()) rmSync(lock, { recursive: true, force: true })
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  }
  try {
    writeFileSync(join(lock, 'pid'), String(process.pid))
    task()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function holderLives() {
  try {
    const pid = Number(readFileSync(join(lock, 'pid'), 'utf8'))
    return process.kill(pid, 0)
  } catch {
    // No pid yet: its holder has just begun, unless the lock is old.
    return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) < 2000
  }
}

/** A step of the preparation. Its output is not the command's, so all of it goes to stderr. */
function must(program, args) {
  const { status, error } = spawnSync(program, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: onWindows(program),
  })
  if (status === 0) return
  rmSync(lock, { recursive: true, force: true })
  say(`failed: ${[program, ...args].join(' ')}${error ? `: ${error.message}` : ''}`)
  process.exit(1)
}

function run([name, ...args]) {
  const tool = join(bin, name)
  const program = name === 'node' ? process.execPath : existsSync(tool) ? tool : name
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` }
  const child = spawn(program, args, { stdio: 'inherit', env, shell: onWindows(program) })
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'])
    process.on(signal, () => {
      // At a terminal Ctrl-C reaches the whole group; a second one would mean "at once".
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  child.on('error', (error) => {
    say(`cannot run ${name}: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

function onWindows(program) {
  return process.platform === 'win32' && program !== process.execPath
}

function say(text) {
  process.stderr.write(`atrium: ${text}\n`)
}
