import { execFile } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
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
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
      // A program name may contain spaces and parentheses, so the fields are read after the last parenthesis.
      const [state = 'X', , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return Number(session) === leader && !'ZX'.includes(state) ? [Number(pid)] : []
    }),
  )
  return found.flat()
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
