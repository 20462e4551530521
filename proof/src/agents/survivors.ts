import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A process that is there although nobody needs it any more. */
export interface Survivor {
  readonly pid: number
  readonly command: string
}

/** Processes that know of a folder by their environment, as all that a run starts does. None where the system does not tell. */
export function knowing(folder: string): readonly Survivor[] {
  return pids().flatMap((pid) => {
    if (pid === process.pid || !textIn(`/proc/${pid}/environ`).includes(folder)) return []
    return [{ pid, command: textIn(`/proc/${pid}/cmdline`).split('\0').join(' ').trim() }]
  })
}

/** Those that are still there after so many milliseconds. */
export async function survivors(folder: string, ms: number): Promise<readonly Survivor[]> {
  for (const end = Date.now() + ms; ;) {
    const left = knowing(folder)
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

/** Nothing of one that has gone meanwhile, or is somebody else's. */
function textIn(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
