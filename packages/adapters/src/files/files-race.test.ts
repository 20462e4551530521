import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Files } from '@atrium/host/ports/files'
import { expect, onTestFinished, test } from 'vitest'
import { reasonOf } from '../../../host/src/ports/contracts/files-fixture.contract.ts'
import { trials } from '../../../protocol/test/search.ts'
import { descriptors } from '../../test/descriptors.ts'
import { fingerprint } from '../../test/fingerprint.ts'
import { sandbox } from '../../test/sandbox.ts'

const flips = trials(20_000, 4000)
/** The minimum number of operations. One operation takes many times as long as one swap of the attacker (a flip). */
const minOperations = trials(1500, 300)
const canary = 'canary '.repeat(606)

test(`[S-29] [E1.2] an attacker that swaps directories and files for links, ${flips} times, neither reads nor writes outside`, async () => {
  const { files, root, beside } = sandbox()
  mkdirSync(`${beside}/tree`)
  for (const name of ['secret', 'only-outside', 'tree/secret', 'log'])
    writeFileSync(`${beside}/${name}`, canary)
  mkdirSync(`${root}/flip/tree`, { recursive: true })
  for (const name of ['flip/secret', 'flip/log', 'file', 'plain']) writeFileSync(`${root}/${name}`, 'inside')
  const untouched = fingerprint(beside)
  const open = descriptors()

  const attacker = await attack(root, beside)
  const tally = new Map<string, number>()
  let turn = 0
  const seen = () => operations.every(([name]) => tally.has(`${name}: done`) && tally.has(`${name}: outside`))
  const victim = async () => {
    // The loop runs until each operation has succeeded once and been refused once: the scheduler decides which happens.
    while (attacker.flips() < flips || turn < minOperations || !seen()) {
      const [name, attempt] = operations[turn % operations.length] ?? never()
      const reason = await reasonOf(attempt(files, root, turn++))
      const key = `${name}: ${reason ?? 'done'}`
      tally.set(key, (tally.get(key) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 6 }, victim))
  await attacker.end()

  console.log(
    `${attacker.flips()} flips, ${turn} operations:\n${[...tally]
      .map((each) => each.join(' '))
      .toSorted()
      .join('\n')}`,
  )
  expect(fingerprint(beside)).toBe(untouched)
  expect(textBelow(root)).not.toContain('canary')
  // An operation that never succeeded, or was never refused, proves nothing.
  for (const [name] of operations) {
    expect([name, tally.get(`${name}: done`) ?? 0]).not.toEqual([name, 0])
    expect([name, tally.get(`${name}: outside`) ?? 0]).not.toEqual([name, 0])
  }
  expect(descriptors()).toEqual(open)
})

type Attempt = (files: Files, root: string, turn: number) => Promise<unknown>

/** Operations in the swapped directory, or on the swapped file. */
const operations: readonly (readonly [string, Attempt])[] = [
  ['read', (files, root) => files.read(at(root, 'flip/secret'), 10_000).then(isInside)],
  ['read a file', (files, root) => files.read(at(root, 'file'), 10_000).then(isInside)],
  [
    'look',
    (files, root) =>
      files.stat(at(root, 'flip/secret'), true).then(({ size }) => differs(size, canary.length)),
  ],
  [
    'list',
    (files, root) => files.list(at(root, 'flip'), 10_000).then((all) => isInside(JSON.stringify(all))),
  ],
  ['write', (files, root) => files.write(at(root, 'flip/secret'), data)],
  ['write a file', (files, root) => files.write(at(root, 'file'), data)],
  ['insert', (files, root) => files.write(at(root, 'file'), data, { mode: 'append', position: 1 })],
  ['append', (files, root) => files.write(at(root, 'flip/log'), data, { mode: 'append' })],
  ['create', (files, root, n) => files.write(at(root, `flip/new-${n}`), data, { createOnly: true })],
  ['make', (files, root, n) => files.change({ kind: 'make', place: at(root, `flip/made-${n}/deep`) })],
  ['copy in', (files, root, n) => carry(files, 'copy', at(root, 'plain'), at(root, `flip/copied-${n}`))],
  ['copy out', (files, root) => carry(files, 'copy', at(root, 'flip/secret'), at(root, 'copy'))],
  ['copy all', (files, root, n) => carry(files, 'copy', at(root, 'flip/tree'), at(root, `trees-${n}`))],
  [
    'move in',
    async (files, root, n) => {
      await files.write(at(root, `m-${n}`), data)
      await carry(files, 'move', at(root, `m-${n}`), at(root, `flip/moved-${n}`))
    },
  ],
  [
    'remove',
    async (files, root, n) => {
      await files.write(at(root, `flip/r-${n}`), data)
      await files.change({ kind: 'remove', place: at(root, `flip/r-${n}`), recursive: false })
    },
  ],
  [
    'remove secret',
    async (files, root) => {
      await files
        .change({ kind: 'remove', place: at(root, 'flip/tree/secret'), recursive: false })
        .catch(ifMissing)
    },
  ],
  [
    'remove all',
    async (files, root) => {
      await reasonOf(files.change({ kind: 'make', place: at(root, 'flip/tree/a/b') }))
      await files.change({ kind: 'remove', place: at(root, 'flip/tree'), recursive: true })
    },
  ],
]

const data = Buffer.from('inside')
const at = (root: string, path: string) => ({ path: `${root}/${path}`, roots: [root] })

function carry(files: Files, kind: 'copy' | 'move', from: ReturnType<typeof at>, to: ReturnType<typeof at>) {
  return files.change({ kind, from, to, failIfExists: false })
}

function isInside(seen: Uint8Array | string): void {
  expect(Buffer.from(seen).toString()).not.toMatch(/canary|outside/)
}

function differs(seen: number, wrong: number): void {
  expect(seen).not.toBe(wrong)
}

function ifMissing(error: unknown): void {
  if ((error as { readonly reason?: string }).reason !== 'missing') throw error
}

function never(): never {
  throw new Error('there is no operation')
}

/** The contents of all files, and the names of all other entries, below a directory; links are not followed. */
function textBelow(folder: string): string {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .map((entry) => (entry.isFile() ? readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8') : entry.name))
    .join()
}

/**
 * A process that swaps `flip` and `file` for links to the outside and back, as fast as it can. After enough swaps it rests
 * between them, longer and longer, so that each operation succeeds and is refused however slow the machine is.
 */
async function attack(root: string, beside: string) {
  const child = fork('-', {
    execPath: process.execPath,
    execArgv: ['-e', program],
    env: { ...process.env, ROOT: root, BESIDE: beside, FLIPS: String(flips) },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let count = 0
  child.on('message', (flipped: number) => (count = flipped))
  await once(child, 'message')
  return {
    /** The number of swaps; throws if the attacker has failed. */
    flips() {
      if (child.exitCode !== null && child.exitCode !== 0) throw new Error('the attacker has failed')
      return count
    },
    async end() {
      child.send('end')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

const program = `
  const fs = require('node:fs')
  const { ROOT, BESIDE, FLIPS } = process.env
  let going = true
  process.on('message', () => (going = false))
  const pause = (times = 1) => { for (let i = Math.random() * 20000 * times; i > 0; i--); }
  const gone = (path) => fs.rmSync(path, { recursive: true, force: true })
  // A file that the victim created between two steps is removed.
  const insist = (path, act) => { try { act() } catch { gone(path); act() } }
  const swap = (path, target) => {
    fs.renameSync(path, path + '.real')
    insist(path, () => fs.symlinkSync(target, path))
  }
  const back = (path) => {
    gone(path)
    insist(path, () => fs.renameSync(path + '.real', path))
  }
  const renew = () => {
    for (const name of ['flip', 'flip.real', 'file', 'file.real']) gone(ROOT + '/' + name)
    fs.mkdirSync(ROOT + '/flip/tree', { recursive: true })
    for (const name of ['flip/secret', 'flip/log', 'file']) fs.writeFileSync(ROOT + '/' + name, 'inside', { flag: 'wx' })
  }
  // Victim and attacker may change the same name at once: then everything begins anew.
  const attempt = (act) => { try { act(); flips += 2 } catch { try { renew() } catch {} } }
  const out = () => attempt(() => {
    swap(ROOT + '/flip', BESIDE)
    swap(ROOT + '/file', BESIDE + '/secret')
  })
  const home = () => attempt(() => {
    back(ROOT + '/flip')
    back(ROOT + '/file')
  })
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
  let flips = 0
  let rest = 1
  const some = async () => {
    const isCalm = flips >= Number(FLIPS)
    if (isCalm) rest = Math.min(rest * 1.2, 3000)
    for (let i = isCalm ? 1 : 20; i > 0; i--) {
      out()
      if (isCalm) await sleep(rest)
      else pause()
      home()
      if (isCalm) await sleep(rest)
      else pause(4)
    }
    process.send(flips)
    if (going) setImmediate(some)
    else process.disconnect()
  }
  some()
`
