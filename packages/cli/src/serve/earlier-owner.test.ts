import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { endingOf, recordOwner } from './earlier-owner.ts'

const linux = test.skipIf(process.platform !== 'linux')
const lease = { epoch: 4, node: 'one:1', msLeft: 9000 }
const newFolder = (name: string) => mkdtempSync(join(tmpdir(), `atrium-${name}-`))

/** The record of a process that has ended, with its watchdog, as far as a test changes nothing. */
async function recorded(changes: object = {}) {
  const data = newFolder('owner')
  const folder = newFolder('shells')
  const mark = randomBytes(16).toString('hex')
  await recordOwner(data, { host: 'h', epoch: 4, node: 'one:1', mark, folder })
  const child = spawn('true')
  await once(child, 'exit')
  const file = join(data, 'owner.json')
  const record: object = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...record, pid: child.pid, ...changes }))
  return { data, folder, mark, file }
}

/** Starts a process that is ended after the test. */
function sleeper(args: readonly string[] = [], env: { readonly [name: string]: string } = {}) {
  const child = spawn('sh', ['-c', 'sleep 1000 & wait', ...args], {
    env: { ...process.env, ...env },
    detached: true,
  })
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
    const exited = once(child, 'exit')
    process.kill(-child.pid, 'SIGKILL')
    await exited
    // The child of the shell has got the same signal, and may end a moment later.
    while (groupLives(child.pid)) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  onTestFinished(end)
  return { pid: child.pid, end, child }
}

function groupLives(group: number): boolean {
  try {
    return process.kill(-group, 0)
  } catch {
    return false
  }
}

linux('[L40.4] a process that is gone, whose watchdog has done its work, has ended', async () => {
  const { data, folder } = await recorded()
  rmSync(folder, { recursive: true })
  expect(await endingOf(data, 'h', lease)).toBe('ended')
})

linux(
  '[L40.4] nothing is known of the lease of another epoch, node or host, or in another folder',
  async () => {
    const { data, folder, file } = await recorded()
    rmSync(folder, { recursive: true })
    expect(await endingOf(data, 'h', { ...lease, epoch: 5 })).toBe('unknown')
    expect(await endingOf(data, 'h', { ...lease, node: 'two:1' })).toBe('unknown')
    expect(await endingOf(data, 'other', lease)).toBe('unknown')
    expect(await endingOf(newFolder('owner'), 'h', lease)).toBe('unknown')
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, 40))
    expect(await endingOf(data, 'h', lease)).toBe('unknown')
  },
)

linux(
  '[L40.4] nothing is known of a process of another machine, of an earlier run of this one, or of another user',
  async () => {
    const { file, ...one } = await recorded()
    rmSync(one.folder, { recursive: true })
    // The cast names a member of the record.
    const { place } = JSON.parse(readFileSync(file, 'utf8')) as { readonly place: string }
    for (const part of place.split(' ').filter(Boolean)) {
      const { data, folder } = await recorded({ place: place.replace(part, 'x') })
      rmSync(folder, { recursive: true })
      expect(await endingOf(data, 'h', lease)).toBe('unknown')
    }
  },
)

linux(
  '[L40.4] a stopped process has not ended, and neither has one whose number another process has',
  async () => {
    const { pid, child } = sleeper()
    child.kill('SIGSTOP')
    for (const number of [pid, process.pid, 1]) {
      const { data, folder } = await recorded({ pid: number })
      rmSync(folder, { recursive: true })
      expect(await endingOf(data, 'h', lease)).toBe('unknown')
    }
  },
)

linux('[L40.4] a watchdog at work is waited for, and one that was killed proves nothing', async () => {
  const { data, folder, mark } = await recorded()
  const dog = sleeper([`NAME=${mark}`])
  await once(dog.child, 'spawn')
  expect(await endingOf(data, 'h', lease)).toBe('ending')
  await dog.end()
  expect(await endingOf(data, 'h', lease)).toBe('unknown')
  rmSync(folder, { recursive: true })
  expect(await endingOf(data, 'h', lease)).toBe('ended')
})

linux('[L40.4] while a process of the earlier host is left, it has not ended', async () => {
  const { data, folder, mark } = await recorded()
  rmSync(folder, { recursive: true })
  const left = sleeper([], { TERM_SESSION_ID: mark })
  await once(left.child, 'spawn')
  expect(await endingOf(data, 'h', lease)).toBe('unknown')
  await left.end()
  expect(await endingOf(data, 'h', lease)).toBe('ended')
})
