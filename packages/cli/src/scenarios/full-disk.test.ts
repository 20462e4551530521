import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atrium, documents } from '../../test/command.ts'
import { clientOf, sessionOf, setTitle } from '../../test/client.ts'
import { HostProcess } from '../../test/host-process.ts'
import { running } from '../../test/running.ts'
import { onTerminal } from '../../test/terminal.ts'

/** Mounts a small disk with the home of a host on it; undefined if this user may not. */
function smallDisk(): { readonly home: string; readonly release: () => void } | undefined {
  const home = mkdtempSync(join(tmpdir(), 'atrium-full-'))
  if (process.getuid?.() !== 0) return undefined
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', home]).status !== 0) return undefined
  return { home, release: () => void spawnSync('umount', ['-l', home]) }
}

/** Fills a disk to its last byte. */
function fill(path: string): void {
  for (const size of [65_536, 4096, 1])
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: 'a' })
    } catch {
      // The disk has no room for this size.
    }
}

test('[L4.7] F-07: a host does not start on a full disk and says why; it serves reads with --read-only', async (context) => {
  const disk = smallDisk()
  if (!disk) return context.skip('not root')
  context.onTestFinished(disk.release)
  const { home } = disk
  const ballast = join(home, 'ballast')
  const first = await HostProcess.start(home)
  const client = clientOf(first)
  await sessionOf(client, 'one')
  client.close()
  await first.stop()
  fill(ballast)
  const data = join(home, 'data')
  const sentence = `The disk of ${data} is full; free some space and start again, or read what is there with --read-only.`
  // A new folder, too, is refused with the sentence about its disk.
  for (const folder of [data, data, join(home, 'new')]) {
    const { status, stdout, stderr } = await atrium(home, ['serve', '--data', folder, '--port', '0'])
    expect([status, stdout], stderr).toEqual([1, ''])
    expect(stderr).toContain(`atrium: ${sentence.replace(data, folder)}`)
  }
  const reader = await HostProcess.start(home, undefined, undefined, ['--read-only'])
  const reading = clientOf(reader)
  expect(await reading.ask('listSessions', {})).toMatchObject({ items: [{ title: 'about one' }] })
  reading.close()
  await reader.stop()
  rmSync(ballast)
  const again = await HostProcess.start(home)
  const last = clientOf(again)
  expect(await last.ask('listSessions', {})).toMatchObject({ items: [{ title: 'about one' }] })
  last.close()
  await again.stop()
})

test('[L4.6] F-07: a client whose action waits for space on a full disk is told so', async (context) => {
  const disk = smallDisk()
  if (!disk) return context.skip('not root')
  context.onTestFinished(disk.release)
  const { home } = disk
  const ballast = join(home, 'ballast')
  const host = await HostProcess.start(home)
  context.onTestFinished(() => host.kill())
  const client = clientOf(host)
  await sessionOf(client, 'one')
  fill(ballast)
  const told = new Promise<string>((resolve) =>
    client.onProblem(({ kind, detail }) => kind === 'full' && resolve(detail)),
  )
  const title = 'x'.repeat(200_000)
  const waiting = setTitle(client, 'ahp-session:/one', title)
  expect(await told).toContain('waits for space')
  expect(client.diskFull).toContain('waits for space')
  expect(client.pending).toHaveLength(1)
  const command = await atrium(home, ['config', 'defaultProvider', 'guide'])
  expect(command).toMatchObject({ status: 1, stdout: '' })
  expect(command.stderr).toMatch(/^atrium: The disk of the host is full\. What was sent/m)
  expect(command.stderr).toMatch(/^atrium: The host refuses this: the disk of the host is full/m)
  rmSync(ballast)
  await waiting
  expect(client.diskFull).toBeUndefined()
  client.close()
  await host.stop()
  expect(readFileSync(join(home, 'data', 'atrium.db')).includes(title.slice(0, 1000))).toBe(true)
})

const full = 'The disk of the host is full.'
const space = 'The disk of the host has space again.'

test('[Z11] F-07: run and attach say once that the disk of the host is full, and once that it has space again', async (context) => {
  const disk = smallDisk()
  if (!disk) return context.skip('not root')
  context.onTestFinished(disk.release)
  const { home } = disk
  const ballast = join(home, 'ballast')
  const host = await HostProcess.start(home)
  context.onTestFinished(() => host.kill())
  const client = clientOf(host)
  await sessionOf(client, 'one')
  const attached = await onTerminal(home, 'attach one')
  context.onTestFinished(() => attached.shell.end())
  await attached.until('idle')
  const run = running(home, ['run', 'slow 600', '--cwd', home])
  const json = running(home, ['run', 'slow 600', '--cwd', home, '--json'])
  await run.said('· session')
  await json.lines.next()
  const told = async (isFull: boolean) => {
    while (!(await json.lines.next()).value.includes(`"type":"disk","full":${isFull}`));
  }
  fill(ballast)
  const waiting = setTitle(client, 'ahp-session:/one', 'x'.repeat(200_000))
  await Promise.all([run.said(full), attached.until(full), told(true)])
  rmSync(ballast)
  await waiting
  await Promise.all([run.said(space), attached.until(space), told(false)])
  run.interrupt()
  json.interrupt()
  const { stderr } = await run.ended
  expect([full, space].map((text) => stderr.split(text).length - 1)).toEqual([1, 1])
  const notes = documents((await json.ended).stdout).filter(({ type }) => type === 'disk')
  expect(notes).toEqual([
    { type: 'disk', full: true, message: expect.stringContaining(full) },
    { type: 'disk', full: false, message: space },
  ])
  client.close()
  await host.stop()
})

test('[Z11] F-07: run says that the disk of the host is full also before its session exists', async (context) => {
  const disk = smallDisk()
  if (!disk) return context.skip('not root')
  context.onTestFinished(disk.release)
  const { home } = disk
  const ballast = join(home, 'ballast')
  const host = await HostProcess.start(home)
  context.onTestFinished(() => host.kill())
  fill(ballast)
  // If the host knows already that its disk is full, it refuses the session; else the session waits for space.
  const run = running(home, ['run', 'say hello', '--cwd', home])
  await run.said(full)
  rmSync(ballast)
  await run.ended
  await host.stop()
})
