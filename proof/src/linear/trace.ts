import type { Frame } from './frames.ts'
import { secondReading } from './frames.ts'

/**
 * Reads the trace of a run of the simulation. A restored copy of the disk lost what clients knew, so each part between two losses
 * is read by itself.
 */
export function readTrace(lines: readonly string[]): string | undefined {
  const parts: Frame[][] = [[]]
  for (const [at, line] of lines.entries()) {
    if (line === '-- restore') parts.push([])
    const [, client, does, text] = /^(c\d+) (sends|receives|has no link) ?(\{.*)?$/.exec(line) ?? []
    if (client === undefined) continue
    const way = does === 'sends' ? 'out' : does === 'receives' ? 'in' : 'shut'
    parts.at(-1)?.push({ at, client, way, ...(text !== undefined && { text }) })
  }
  return parts.flatMap(secondReading)[0]
}
