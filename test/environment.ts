import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, isAbsolute, join } from 'node:path'

/**
 * Gives the whole test run an environment of its own before its first worker starts: a PATH with only the programs
 * below, an empty home, a temporary folder, UTC, one language and one umask. No test sees the agents, keys, shell
 * settings or git settings of the user who runs the tests.
 */
export default function setUp(): () => void {
  // Vitest calls this function for each project of its configuration. Only the first call sets up the environment.
  if (process.env[mark] !== undefined) return () => {}
  const folder = realpathSync(mkdtempSync(join(base(), 'atrium-tests-')))
  // Tests that run as root start programs as other users, and these users must reach the files below this folder.
  chmodSync(folder, 0o755)
  const [bin, home, temporary] = ['bin', 'home', 'tmp'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [bin, home, temporary]) mkdirSync(path, { mode: 0o755 })
  const found = programs.flatMap((name) => {
    const file = name === 'node' ? process.execPath : placeOf(name, process.env['PATH'] ?? '')
    return file === undefined ? [] : [[name, file] as const]
  })
  for (const [name, file] of found) symlinkSync(file, join(bin, name))
  for (const name of Object.keys(process.env)) if (!kept.test(name)) delete process.env[name]
  Object.assign(process.env, {
    PATH: bin,
    HOME: home,
    TMPDIR: temporary,
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    TERM: 'xterm-256color',
    GIT_CONFIG_NOSYSTEM: '1',
    [mark]: folder,
  })
  process.umask(0o022)
  return () => rmSync(folder, { recursive: true, force: true })
}

const mark = 'ATRIUM_TESTS'

/** The folder of this test run. It is removed at its end. */
export function folderOfRun(): string {
  const folder = process.env[mark]
  if (folder === undefined) throw new Error('this is no test run')
  return folder
}

/** The variables that stay: those of the test runner and those that these tests read. */
const kept =
  /^(?:CI|NODE_ENV|TEST|VITEST\w*|FORCE_TTY|SystemRoot|ATRIUM_CHROMIUM|ATRIUM_POSTGRES_URL|ATRIUM_RECORDINGS|ATRIUM_SHOTS|ATRIUM_SEARCH|ATRIUM_SEED|ATRIUM_TIMES)$/

/** The programs that tests start by name. A test that needs another one adds it here. */
const programs = `
  node npm git sh bash zsh cat chmod cksum cp cut date dd dirname echo env expr false find grep head id
  kill ln ls mkdir mkfifo mount mv nohup od printf ps pwd readlink rm rmdir sed seq setsid sleep
  sort stat stty tail test timeout touch tr true tty umount uname wc yes
  chromium chromium-headless-shell chromium-browser google-chrome basename pgbouncer python3
`
  .trim()
  .split(/\s+/)

/**
 * The parent of the folder of the run. Its path is short and plain, because the path of a socket below it may have at
 * most 107 bytes, and the address of a socket must not contain a space.
 */
function base(): string {
  const plain = [tmpdir(), '/tmp', '/var/tmp'].find(
    (path) => /^[\w./-]{1,50}$/.test(path) && isWritable(path),
  )
  return plain ?? tmpdir()
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The first program of that name on the PATH. Folders that cannot be read are skipped. */
function placeOf(name: string, path: string): string | undefined {
  const usual = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin']
  return [...path.split(delimiter).filter(isAbsolute), ...usual]
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file))
}
