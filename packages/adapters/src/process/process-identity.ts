import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * What tells a process from all others, also from a later one with the same number. On systems that do not tell some of it, these
 * fields are empty.
 */
export interface ProcessIdentity {
  readonly machine: string
  /** The run of the system. */
  readonly boot: string
  /** The namespace in which the number counts: that of a container, or of the system. */
  readonly namespace: string
  readonly pid: number
  /** When the process was started, in ticks since the system started. */
  readonly started: string
}

let own: ProcessIdentity | undefined

/** The identity of this process. */
export function ownIdentity(): ProcessIdentity {
  own ??= {
    machine: or('', () => readFileSync('/etc/machine-id', 'utf8').trim()) || hostname(),
    boot: or('', () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: or('', () => readlinkSync('/proc/self/ns/pid')),
    pid: process.pid,
    started: startOf(process.pid) ?? '',
  }
  return own
}

/** Whether a process runs. It is unknown if the process is in another container or on another machine, or if the system does not tell. */
export function lifeOf({ machine, boot, namespace, pid, started }: ProcessIdentity): Life {
  const here = ownIdentity()
  if (machine !== here.machine) return 'unknown'
  if (boot !== here.boot) return boot === '' || here.boot === '' ? 'unknown' : 'ended'
  if (namespace !== here.namespace) return 'unknown'
  if (started !== '' && here.started !== '') return startOf(pid) === started ? 'runs' : 'ended'
  return or<Life>('ended', () => (process.kill(pid, 0) ? 'unknown' : 'ended'))
}

export type Life = 'runs' | 'ended' | 'unknown'

/** Returns when a process was started. Undefined if it does not run: a process that has ended may wait for its parent. */
function startOf(pid: number): string | undefined {
  return or(undefined, () => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program is in parentheses, and may contain spaces and parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return 'ZX'.includes(fields[0] ?? 'X') ? undefined : fields[19]
  })
}

function or<T>(otherwise: T, read: () => T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}
