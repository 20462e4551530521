import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootUri } from '@atrium/protocol/uri'
import { HostProcess } from '../host.ts'
import { progress } from '../tally.ts'
import { Trial, newData } from '../trial.ts'
import type { Stage } from './scene.ts'

/** F-07: the disk is full, and has space again. Changes are refused with a reason, reads go on, nothing is lost. */
export async function fullDisk({ tally, chance }: Stage): Promise<void> {
  const disk = mounted('tmpfs', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs'])
  if (typeof disk === 'string') return tally.skip('full disk', disk)
  const data = join(disk.path, 'data')
  mkdirSync(data, { mode: 0o700 })
  const trial = new Trial(tally, 'full', chance.branch(), data)
  const ann = trial.client('ann')
  const ben = trial.client('ben')
  try {
    if (!(await trial.begin())) throw new Error(`the host does not start: ${trial.host.said}`)
    await trial.converge()
    trial.sessions.make(ann)
    await ann.settle()
    const [session = ''] = trial.sessions.live
    await ben.subscribe(session)
    const ballast = join(disk.path, 'ballast')
    const say = (count: number): void => {
      for (let n = 0; n < count; n++) ann.dispatch(session, titled(`${n}${'x'.repeat(2000)}`))
    }
    fill(ballast)
    say(100)
    await trial.soon(trial.host.says('"disk full"', 1), 'a full disk')
    // Of the others' things nothing waits, so they are answered at once.
    const cid = trial.client('cid')
    await cid.come(trial.address)
    cid.dispatch(session, titled('no space for this'))
    await trial.soon(cid.settle(), 'a refusal on a full disk')
    const reason = cid.ends.at(-1)?.rejectionReason
    if (!reason?.includes('full')) tally.problem(`F-07: on a full disk: ${reason}`)
    tally.outcome('disk full: changes refused with a reason')
    await trial.soon(ben.ask('listSessions'), 'the list on a full disk')
    await trial.soon(cid.subscribe(session), 'a subscription on a full disk')
    tally.outcome('disk full: reads go on')
    rmSync(ballast)
    // What waited for space is told, without a new start.
    await trial.soon(ann.settle(), 'what waited for space')
    cid.dispatch(session, titled('there is space again'))
    await trial.soon(cid.settle(), 'an action with space again')
    const refusal = cid.ends.at(-1)?.rejectionReason
    if (refusal !== undefined) tally.problem(`F-07: with space again: ${refusal}`)
    tally.outcome('disk full: recovers without a new start')
    fill(ballast)
    say(100)
    await trial.soon(trial.host.says('"disk full"', 2), 'a disk full again')
    await trial.host.kill()
    tally.killed('SIGKILL on a full disk')
    rmSync(ballast)
    for (const client of trial.clients) client.cut()
    await trial.finish()
    progress('a full disk')
  } finally {
    await trial.end()
    disk.release()
  }
}

/** F-08: a disk that cannot be written. What is there is shown, and whoever wants a change is told why not. */
export async function sealedDisk({ tally, chance }: Stage): Promise<void> {
  const trial = new Trial(tally, 'sealed', chance.branch())
  const ann = trial.client('ann')
  try {
    if (!(await trial.begin())) throw new Error(`the host does not start: ${trial.host.said}`)
    await trial.converge()
    trial.sessions.make(ann)
    await ann.settle()
    await trial.host.kill()
    ann.cut()
    await trial.finish()
    const disk = mounted('bind', ['--bind', trial.data], ['-o', 'remount,ro,bind'])
    if (typeof disk === 'string') return tally.skip('disk that cannot be written', disk)
    try {
      const host = new HostProcess(disk.path, {})
      const address = await host.ready
      if (!address) {
        tally.problem(`F-08: what is there is not shown: ${host.said}`)
      } else {
        const reader = trial.client('reader')
        await reader.come(address)
        for (const uri of trial.sessions.live) await reader.subscribe(uri)
        reader.dispatch(rootUri, { type: 'root/configChanged', config: { 'chaos.sealed': 1 } } as {
          type: string
        })
        await reader.settle()
        const reason = reader.ends.at(-1)?.rejectionReason
        if (!reason?.includes('cannot be written'))
          tally.problem(`F-08: a change was answered with: ${reason}`)
        tally.outcome('disk read-only: shows everything, refuses changes')
        trial.retire(reader)
      }
      await host.kill()
    } finally {
      disk.release()
    }
  } finally {
    await trial.end()
  }
}

/** F-11: a second host on the folder is refused and told who has it; a life later it may. */
export async function secondHost({ tally }: Stage): Promise<void> {
  const data = newData()
  const first = new HostProcess(data, {})
  await first.ready
  const second = new HostProcess(data, {})
  if (await second.ready) tally.problem('F-11: a second host was let in')
  if (!second.said.includes(`process ${first.child.pid}`))
    tally.problem(`F-11: not told by whom: ${second.said}`)
  await Promise.all([first.kill(), second.kill()])
  const third = new HostProcess(data, {})
  if (!(await third.ready)) tally.problem(`F-11: not let in after the first was killed: ${third.said}`)
  await third.kill()
  rmSync(data, { recursive: true })
  tally.outcome('second host refused, with the pid')
}

function titled(title: string) {
  return { type: 'session/titleChanged', title }
}

/** A mount of its own; or why there can be none here. It is proven to be what it should: root writes where others cannot. */
function mounted(kind: string, how: readonly string[], then?: readonly string[]): Mount | string {
  const path = mkdtempSync(join(tmpdir(), `atrium-${kind}-`))
  const mount = (...args: readonly string[]) => execFileSync('mount', [...args, path], { stdio: 'ignore' })
  const release = (): void => {
    execFileSync('umount', ['-l', path], { stdio: 'ignore' })
    rmSync(path, { recursive: true })
  }
  try {
    mount(...how)
  } catch {
    return 'no mount'
  }
  if (!then) return { path, release }
  try {
    mount(...then)
    writeFileSync(join(path, 'proof'), '')
    rmSync(join(path, 'proof'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EROFS') return { path, release }
  }
  release()
  return 'it can be written all the same'
}

interface Mount {
  readonly path: string
  release(): void
}

/** Takes all the space there is. */
function fill(path: string): void {
  for (let block = 1024 * 1024; block >= 512; block /= 2)
    try {
      for (;;) writeFileSync(path, Buffer.alloc(block), { flag: 'a' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
}
