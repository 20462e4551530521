import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/**
 * Ends all processes in the POSIX session of a shell. Each process gets its own signal, because the jobs of a shell
 * have process groups of their own. The signal is SIGHUP first, and SIGKILL after `graceMs`. Resolves when no process
 * is left, at the latest `killTimeoutMs` after SIGKILL.
 */
export async function endSession(leader: number, graceMs: number): Promise<void> {
  const startedAt = performance.now()
  let members = await membersOf(leader)
  // A stopped process receives SIGHUP only after SIGCONT.
  for (const pid of members) for (const signal of ['SIGHUP', 'SIGCONT'] as const) signalTo(pid, signal)
  for (let wait = 5; members.length > 0; wait = Math.min(wait * 2, 100)) {
    const elapsed = performance.now() - startedAt
    if (elapsed >= graceMs) for (const pid of members) signalTo(pid, 'SIGKILL')
    // A process in an uninterruptible system call dies only when the call returns. So the wait for such a process is limited.
    if (elapsed >= graceMs + killTimeoutMs) return
    await sleep(wait)
    members = await membersOf(leader)
  }
}

/** How long `endSession` waits after SIGKILL. */
const killTimeoutMs = 5000

/** Returns the ids of the running processes of a POSIX session. Windows has no such sessions. */
export async function membersOf(leader: number): Promise<readonly number[]> {
  if (process.platform === 'win32') return []
  return process.platform === 'linux' ? fromProc(leader) : fromPs(leader)
}

async function fromProc(leader: number): Promise<readonly number[]> {
  return (await readSoon()).get(leader) ?? []
}

/** The running processes of the machine, by the POSIX session that they are in. */
type Sessions = ReadonlyMap<number, readonly number[]>

let reading: Promise<unknown> = Promise.resolve()
let next: Promise<Sessions> | undefined

/**
 * Reads the processes of the machine. Calls that wait for the end of an earlier reading share the next one: a host that starts or
 * checks many programs at once reads them once. Every caller gets what was there after its call.
 */
function readSoon(): Promise<Sessions> {
  return (next ??= reading.then(() => {
    next = undefined
    const sessions = readSessions()
    reading = sessions.catch(() => {})
    return sessions
  }))
}

async function readSessions(): Promise<Sessions> {
  const sessions = new Map<number, number[]>()
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  for (const [at, pid] of pids.entries()) {
    // A short file of the kernel is read at once: a reading by the thread pool takes the event loop ten times as long.
    if (at % readAtOnce === readAtOnce - 1) await nextTurn()
    const stat = textOf(`/proc/${pid}/stat`)
    // A program name may contain spaces and parentheses, so the fields are read after the last parenthesis.
    const [state = 'X', , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if ('ZX'.includes(state)) continue
    const members = sessions.get(Number(session))
    if (members) members.push(Number(pid))
    else sessions.set(Number(session), [Number(pid)])
  }
  return sessions
}

/** How many processes are read before the event loop may run other work. */
const readAtOnce = 64

/** The text of a file of the kernel. Empty if the process has ended meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/**
 * Finds the processes of a session by `ps`. Not every `ps` shows session ids, so this returns the leader's process group and
 * all processes on the leader's terminal.
 */
async function fromPs(leader: number): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)('/bin/ps', ['-A', '-o', 'pid=,pgid=,tty=,stat='])
  const rows = stdout.split('\n').flatMap((line) => {
    const [pid, group, tty, state] = line.trim().split(/\s+/)
    return pid && tty && state && !state.startsWith('Z')
      ? [{ pid: Number(pid), group: Number(group), tty }]
      : []
  })
  const tty = rows.find(({ pid }) => pid === leader)?.tty
  return rows
    .filter((row) => row.group === leader || (row.tty === tty && !tty?.startsWith('?')))
    .map(({ pid }) => pid)
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended meanwhile, or belongs to another user.
  }
}
