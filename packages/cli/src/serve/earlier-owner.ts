import { readFile, readdir, readlink, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ending } from '@atrium/host/cluster'
import type { LeaseState } from '@atrium/host/ports/lease'
import { systemCode } from '../terminal/exit.ts'

/**
 * The process of a node that has become the owner, in its data folder, so that the next process there can find out whether it has
 * ended. Nothing here is a guess: whatever is not proved is unknown.
 */
export interface OwnerProcess {
  /** The id of the host, as it stands in the lease that this process took. */
  readonly host: string
  readonly epoch: number
  readonly node: string
  /** The marker in the environment of what it has started, and in the arguments of its watchdog. */
  readonly mark: string
  /** The folder that its watchdog removes when all of that has ended. */
  readonly folder: string
}

const file = (data: string) => join(data, 'owner.json')

/** Records this process as the owner of an epoch. Records nothing on a system that does not tell where a process runs. */
export async function recordOwner(data: string, owner: OwnerProcess): Promise<void> {
  const place = await presentPlace()
  if (place === undefined) return
  const fresh = `${file(data)}.${process.pid}`
  await writeFile(fresh, `${JSON.stringify({ ...owner, place, pid: process.pid })}\n`, { mode: 0o600 })
  await rename(fresh, file(data))
}

/**
 * Returns what is known of the process that has a lease. It has `ended` if it ran from this data folder, in this run of this system,
 * as this user, if no process has its number, if its watchdog has said that it is done, and if nothing has its marker.
 */
export async function endingOf(data: string, host: string, { epoch, node }: LeaseState): Promise<Ending> {
  const known = await recordIn(data)
  if (known?.host !== host || known.epoch !== epoch || known.node !== node) return 'unknown'
  const { place, pid, mark, folder } = known
  if (place !== (await presentPlace()) || isThere(pid)) return 'unknown'
  const left = await marked(mark)
  if (left === 'watchdog') return 'ending'
  // The watchdog removes the folder as its last act. One that was killed has not.
  return left === 'nothing' && (await isGone(folder)) ? 'ended' : 'unknown'
}

async function recordIn(data: string): Promise<(OwnerProcess & { place: string; pid: number }) | undefined> {
  try {
    const { host, epoch, node, mark, folder, place, pid }: Record<string, unknown> = JSON.parse(
      await readFile(file(data), 'utf8'),
    )
    if (typeof host !== 'string' || typeof node !== 'string' || typeof place !== 'string') return undefined
    if (typeof folder !== 'string' || typeof mark !== 'string' || mark.length < 16) return undefined
    if (typeof epoch !== 'number' || typeof pid !== 'number' || !(pid > 0)) return undefined
    return { host, epoch, node, mark, folder, place, pid }
  } catch {
    return undefined
  }
}

/**
 * Where a number means one process: the machine, its start, the namespace of a container, and the user, whose processes can be looked at.
 * Undefined if the system does not tell all of that.
 */
async function presentPlace(): Promise<string | undefined> {
  try {
    const [machine, boot, namespace] = await Promise.all([
      readFile('/etc/machine-id', 'utf8').catch(() => ''),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readlink('/proc/self/ns/pid'),
    ])
    return [machine.trim(), boot.trim(), namespace, process.getuid?.()].join(' ')
  } catch {
    return undefined
  }
}

/** Whether any process has this number: the one that was meant, also if it is stopped, or another one that got its number. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) !== 'ESRCH'
  }
}

/** Which processes have a marker: the watchdog in its arguments, the others in their environment. */
async function marked(mark: string): Promise<'watchdog' | 'others' | 'nothing'> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const has = async (pid: string, name: string) => {
    // A process that has ended meanwhile, or belongs to another user, has none.
    const text = await readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => '')
    return text.includes(mark)
  }
  const found = async (name: string) => (await Promise.all(pids.map((pid) => has(pid, name)))).includes(true)
  if (await found('cmdline')) return 'watchdog'
  return (await found('environ')) ? 'others' : 'nothing'
}

async function isGone(path: string): Promise<boolean> {
  return stat(path).then(
    () => false,
    (error: unknown) => systemCode(error) === 'ENOENT',
  )
}
