import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { check, fact } from '../table.ts'
import { NewUser } from './new-user.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const goalSeconds = 60

/**
 * Measures how long a new user, who has only Node, npm and git, waits for a first answer: once from a clone, and once
 * from the packed command in an empty folder. The home folder and npm's cache are empty, so this needs the network.
 */
export async function firstAnswerBench(): Promise<boolean> {
  if (spawnSync('git', ['-C', root, 'rev-parse', '--verify', 'HEAD']).status !== 0) {
    console.log('\nskipped: no git, or this folder is no clone')
    return true
  }
  const folder = mkdtempSync(join(tmpdir(), 'atrium-first-'))
  try {
    const clone = join(folder, 'clone')
    const met = await fromClone(clone, join(folder, 'home-of-clone'))
    await fromPackage(clone, folder)
    return met
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Times the steps of README: cloning the last commit of this checkout, installing, building and the first answer. */
async function fromClone(clone: string, home: string): Promise<boolean> {
  console.log('\nfrom a clone to the first answer')
  const user = new NewUser(home)
  const parts = [
    await user.time('git clone', ['git', 'clone', '--quiet', root, clone], root),
    await user.time('npm ci', ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], clone),
    await user.time('npm run build', ['npm', 'run', '--silent', 'build'], clone),
    ...(await answers(user, clone)),
  ]
  const seconds = parts.reduce((sum, part) => sum + part, 0)
  const figure = `${seconds.toFixed(1)} s  goal at most ${goalSeconds} s`
  return check('all of it', figure, seconds <= goalSeconds)
}

/** Packs the command in the clone, and installs that one file in an empty folder. */
async function fromPackage(clone: string, folder: string): Promise<void> {
  console.log('\nfrom the packed command to the first answer in an empty folder')
  const [packed, empty] = [join(folder, 'packed'), join(folder, 'empty')]
  mkdirSync(packed)
  mkdirSync(empty)
  const user = new NewUser(join(folder, 'home-of-package'))
  await user.time('npm run pack', ['npm', 'run', '--silent', 'pack', '--', packed], clone)
  const tarballs = readdirSync(packed).map((name) => join(packed, name))
  const install = ['npm', 'install', '--offline', '--no-audit', '--no-fund', ...tarballs]
  const parts = [await user.time('npm install', install, empty), ...(await answers(user, empty))]
  const seconds = parts.reduce((sum, part) => sum + part, 0)
  fact('all of it, without packing', `${seconds.toFixed(1)} s`)
}

/**
 * Runs the same command twice. Prints the three durations of the first run, and the sum of the three durations of the
 * second. Returns the durations of the first run in seconds.
 */
async function answers(user: NewUser, folder: string): Promise<readonly number[]> {
  try {
    const { command, start, answer } = await user.ask(folder)
    fact('npx finds the command', `${command.toFixed(1)} s`)
    fact('the host starts', `${start.toFixed(1)} s`)
    fact('the first answer', `${answer.toFixed(1)} s`)
    const second = await user.ask(folder)
    fact('(the same command again)', `${(second.command + second.start + second.answer).toFixed(1)} s`)
    return [command, start, answer]
  } finally {
    await user.run(['npx', 'atrium', 'stop', '--quiet'], folder)
  }
}
