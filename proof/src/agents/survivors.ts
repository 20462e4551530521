import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A process that still runs although its host has ended. */
export interface Survivor {
  readonly pid: number
  readonly command: string
}

/**
 * Returns the processes of a run. They are found by their environment, which contains the path of the folder of the
 * run. Empty on a system without `/proc`.
 */
export function processesOf(folder: string): readonly Survivor[] {
  return pids().flatMap((pid) => {
    if (pid === process.pid || !textIn(`/proc/${pid}/environ`).includes(folder)) return []
    return [{ pid, command: textIn(`/proc/${pid}/cmdline`).split('\0').join(' ').trim() }]
  })
}

/** Waits until no process of the run is left, for at most `ms` milliseconds. Returns the processes that still run. */
export async function survivors(folder: string, ms: number): Promise<readonly Survivor[]> {
  for (const end = Date.now() + ms; ;) {
    const left = processesOf(folder)
    if (left.length === 0 || Date.now() > end) return left
    await sleep(50)
  }
}

function pids(): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

/** Returns the content of a file in `/proc`. Empty if the process has ended, or belongs to another user. */
function textIn(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
