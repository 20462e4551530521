import { fstatSync } from 'node:fs'
import { text as readAll } from 'node:stream/consumers'

/** Reads all of stdin as text. Says that it waits if nothing has come for some seconds. */
export async function readStdin(note: (text: string) => void): Promise<string> {
  const timer = setTimeout(() => note('· waiting for the end of stdin'), noteAfterMs)
  const noted = () => clearTimeout(timer)
  process.stdin.once('data', noted)
  try {
    return (await readAll(process.stdin)).trim()
  } finally {
    noted()
  }
}

/**
 * Whether stdin is a pipe of a shell or a file. A terminal, `/dev/null` and a socket do not count. Some programs give a socket
 * to the programs that they start, and often never close it.
 */
export function isPiped(): boolean {
  const stdin = fstatSync(0)
  return stdin.isFIFO() || stdin.isFile()
}

const noteAfterMs = 2000
