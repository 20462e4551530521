import { execFile } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/**
 * Ends all that run in the session of a shell: its jobs have process groups of their own, so no signal reaches all of
 * them at once. They are asked to hang up, and after a time ended. Resolves when none is left.
 */
export async function endSession(leader: number, graceMs: number): Promise<void> {
  const asked = performance.now()
  let all = await membersOf(leader)
  // A stopped one hears nothing until it goes on.
  for (const pid of all) for (const signal of ['SIGHUP', 'SIGCONT'] as const) signalTo(pid, signal)
  for (let wait = 5; all.length > 0; wait = Math.min(wait * 2, 100)) {
    const late = performance.now() - asked
    if (late >= graceMs) for (const pid of all) signalTo(pid, 'SIGKILL')
    // One that the kernel itself holds up is gone for all others when it comes back.
    if (late >= graceMs + patienceMs) return
    await sleep(wait)
    all = await membersOf(leader)
  }
}

const patienceMs = 5000

/** The processes of a session that have not ended. */
export async function membersOf(leader: number): Promise<readonly number[]> {
  if (process.platform === 'win32') return []
  return process.platform === 'linux' ? fromProc(leader) : fromPs(leader)
}

async function fromProc(leader: number): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
      // The name of a program may hold anything, spaces and parentheses too.
      const [state = 'X', , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return Number(session) === leader && !'ZX'.includes(state) ? [Number(pid)] : []
    }),
  )
  return found.flat()
}

/** Where a session has no number that can be asked for, its process groups are those on the leader's terminal. */
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
    // It has ended meanwhile, or belongs to somebody else.
  }
}
