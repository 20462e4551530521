import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootUri } from '@atrium/protocol/uri'
import { HostProcess } from '../host.ts'
import { SmallDisk } from '../nodes/small-disk.ts'
import { progress } from '../tally.ts'
import { newDataFolder, withTrial } from '../trial.ts'
import type { SceneContext } from './scene.ts'

/**
 * Tests F-07: the disk is full, then has space again. Changes are rejected with a reason, reads go on, and nothing is
 * lost.
 */
export async function fullDisk({ tally, chance }: SceneContext): Promise<void> {
  const disk = SmallDisk.mount(16 * 1024 * 1024)
  if (!disk) return tally.skip('full disk', 'mount failed')
  const data = join(disk.path, 'data')
  mkdirSync(data, { mode: 0o700 })
  await withTrial({ tally, name: 'full', chance: chance.branch(), data }, async (trial) => {
    const [ann, ben] = [trial.client('ann'), trial.client('ben')]
    await trial.mustStart()
    await trial.converge()
    trial.sessions.create(ann)
    await ann.settle()
    const [session = ''] = trial.sessions.live
    await ben.subscribe(session)
    const say = (count: number): void => {
      for (let n = 0; n < count; n++) ann.dispatch(session, titleAction(`${n}${'x'.repeat(2000)}`))
    }
    disk.fill()
    say(100)
    await trial.withTimeout(trial.host.whenStderrHas('"disk full"', 1), 'a full disk')
    await trial.withTimeout(
      ann.until(() => ann.toldFull > 0),
      'the news that the actions wait for space',
    )
    tally.outcome('disk full: the client whose actions wait is told')
    // `ann` has actions that wait for space, so the host does not answer her yet. `cid` has none, so the host rejects
    // the action of `cid` at once.
    const cid = trial.client('cid')
    await cid.connect(trial.address)
    cid.dispatch(session, titleAction('no space for this'))
    await trial.withTimeout(cid.settle(), 'a rejection on a full disk')
    const reason = cid.answers.at(-1)?.rejectionReason
    if (!reason?.includes('full')) tally.problem(`F-07: wrong reason on a full disk: ${reason}`)
    tally.outcome('disk full: changes rejected with a reason')
    await trial.withTimeout(ben.ask('listSessions'), 'the session list on a full disk')
    await trial.withTimeout(cid.subscribe(session), 'a subscription on a full disk')
    tally.outcome('disk full: reads go on')
    disk.free()
    // Actions that waited for space are delivered without a restart.
    await trial.withTimeout(ann.settle(), 'actions that waited for space')
    cid.dispatch(session, titleAction('there is space again'))
    await trial.withTimeout(cid.settle(), 'an action after space was freed')
    const refusal = cid.answers.at(-1)?.rejectionReason
    if (refusal !== undefined) tally.problem(`F-07: rejected after space was freed: ${refusal}`)
    tally.outcome('disk full: recovers without a restart')
    disk.fill()
    say(100)
    await trial.withTimeout(trial.host.whenStderrHas('"disk full"', 2), 'a disk full again')
    await trial.host.kill()
    tally.killed('SIGKILL on a full disk')
    disk.free()
    for (const client of trial.clients) client.cut()
    await trial.finish()
    progress('a full disk')
  }).finally(() => disk.release())
}

/** Tests F-08: a read-only disk. Everything is shown, and changes are rejected with a reason. */
export async function readOnlyDisk({ tally, chance }: SceneContext): Promise<void> {
  await withTrial({ tally, name: 'sealed', chance: chance.branch() }, async (trial) => {
    const ann = trial.client('ann')
    await trial.mustStart()
    await trial.converge()
    trial.sessions.create(ann)
    await ann.settle()
    await trial.host.kill()
    ann.cut()
    await trial.finish()
    const disk = readOnly(trial.data)
    if (typeof disk === 'string') return tally.skip('read-only disk', disk)
    try {
      const host = new HostProcess(disk.path, {})
      const address = await host.ready
      if (!address) {
        tally.problem(`F-08: the host does not start on a read-only disk: ${host.stderr}`)
      } else {
        const reader = trial.client('reader')
        await reader.connect(address)
        for (const uri of trial.sessions.live) await reader.subscribe(uri)
        reader.dispatch(rootUri, { type: 'root/configChanged', config: { 'chaos.sealed': 1 } } as {
          type: string
        })
        await reader.settle()
        const reason = reader.answers.at(-1)?.rejectionReason
        if (!reason?.includes('cannot be written'))
          tally.problem(`F-08: a change was answered with: ${reason}`)
        if (reason?.includes(disk.path)) tally.problem(`S-27: a refusal has a path of the host: ${reason}`)
        tally.outcome('read-only disk: everything shown, changes rejected')
        trial.retire(reader)
      }
      await host.kill()
    } finally {
      disk.release()
    }
  })
}

/**
 * Tests F-11: a second host on the same folder is refused with the pid of the first, and can start after the first
 * has ended.
 */
export async function secondHost({ tally }: SceneContext): Promise<void> {
  const data = newDataFolder()
  const first = new HostProcess(data, {})
  await first.ready
  const second = new HostProcess(data, {})
  if (await second.ready) tally.problem('F-11: a second host started')
  if (!second.stderr.includes(`process ${first.child.pid}`))
    tally.problem(`F-11: the message does not name the first process: ${second.stderr}`)
  await Promise.all([first.kill(), second.kill()])
  const third = new HostProcess(data, {})
  if (!(await third.ready))
    tally.problem(`F-11: the host does not start after the first was killed: ${third.stderr}`)
  await third.kill()
  rmSync(data, { recursive: true })
  tally.outcome('second host refused with the pid of the first')
}

function titleAction(title: string) {
  return { type: 'session/titleChanged', title }
}

/** Mounts a folder read-only, or returns why that is impossible. A test write checks it, because root can often write anyway. */
function readOnly(folder: string): { readonly path: string; release(): void } | string {
  const path = mkdtempSync(join(tmpdir(), 'atrium-bind-'))
  const run = (...command: readonly [string, ...string[]]) =>
    execFileSync(command[0], command.slice(1), { stdio: 'ignore' })
  const release = (): void => {
    run('umount', '-l', path)
    rmSync(path, { recursive: true })
  }
  try {
    run('mount', '--bind', folder, path)
  } catch {
    return 'mount failed'
  }
  try {
    run('mount', '-o', 'remount,ro,bind', path)
    writeFileSync(join(path, 'proof'), '')
    rmSync(join(path, 'proof'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EROFS') return { path, release }
  }
  release()
  return 'the mount is writable'
}
