import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessStats } from './probe.ts'

/** The resources of a host at one moment. Figures that the system does not provide are undefined. */
export interface Sample extends ProcessStats {
  /** Seconds since the load began. */
  readonly at: number
  readonly fds: number | undefined
  readonly threads: number | undefined
  readonly children: number | undefined
  /** The bytes of the data folder on the disk. */
  readonly database: number
}

export async function sample(child: ChildProcess, data: string, at: number): Promise<Sample> {
  child.send('stats')
  const [stats] = (await once(child, 'message')) as [ProcessStats]
  return { ...stats, ...kernelStats(child.pid ?? 0), database: sizeOf(data), at }
}

/** Figures from the kernel, on Linux only. */
export function kernelStats(pid: number): Pick<Sample, 'fds' | 'threads' | 'children'> {
  try {
    const fds = readdirSync(`/proc/${pid}/fd`).length
    const threads = readdirSync(`/proc/${pid}/task`).length
    const started = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return { fds, threads, children: started === '' ? 0 : started.split(/\s+/).length }
  } catch {
    return { fds: undefined, threads: undefined, children: undefined }
  }
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { name }) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0)
}
