import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { diskUsage } from '@atrium/adapters/store/sqlite/usage'
import type { DiskUsage } from '@atrium/adapters/store/sqlite/usage'
import { table } from '../render/table.ts'
import { CommandError, sentenceOf } from '../terminal/exit.ts'
import { onOneLine } from '../terminal/output.ts'
import type { Output } from '../terminal/output.ts'

/** `atrium doctor --disk`: shows what takes the space in the data folder: by part, and the largest sessions. */
export function printDisk({ json, print, printJson, note, style }: Output, data: string): void {
  const usage = usageOf(data)
  if (json) return printJson({ data, ...usage })
  const { parts, sessions } = usage
  const total = parts.reduce((sum, { bytes }) => sum + bytes, 0)
  // A part without a byte would read as if it were lost.
  const rows = parts
    .filter(({ bytes }) => bytes > 0)
    .map(({ part, bytes, count }) => [part, sizeOf(bytes), count === undefined ? '' : `${count}`])
  print({}, () => table([...rows, [style.dim('together'), sizeOf(total), '']]))
  if (parts.some(({ part, bytes }) => part === 'journal' && bytes > 0))
    note(
      parts.some(({ part, bytes }) => part !== 'journal' && bytes > 0)
        ? 'Data in the journal is not counted for the part that it belongs to. The host moves it into the store from time to time.'
        : 'All of it is still in the journal, which the host moves into the store from time to time. Nothing is missing.',
    )
  if (sessions.length === 0) return
  const largest = sessions.map(({ session, title, bytes }) => [
    sizeOf(bytes),
    onOneLine(session),
    onOneLine(title),
  ])
  print({}, () => `\nThe largest sessions:\n${table(largest)}`)
}

function usageOf(data: string): DiskUsage {
  if (!existsSync(join(data, 'atrium.db')))
    throw new CommandError(`There is no store in ${data}. A host creates it when it starts.`)
  try {
    return diskUsage(data)
  } catch (error) {
    throw new CommandError(
      `The store in ${data} could not be measured (${sentenceOf(error)}). A host may be writing it; try again.`,
    )
  }
}

/** A number of bytes in the largest decimal unit that leaves at least one digit before the point, aligned to the right. */
export function sizeOf(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  let value = bytes
  let at = 0
  for (; value >= 1000 && at < units.length - 1; at++) value /= 1000
  return `${at === 0 ? value : value.toFixed(1)} ${units[at] ?? ''}`.padStart(9)
}
