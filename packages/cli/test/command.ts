import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:net'
import { fileURLToPath } from 'node:url'

export const bin = fileURLToPath(new URL('../bin/atrium.mjs', import.meta.url))

export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the real command to its end, without a terminal. `home` is its home directory, with the data folder in it. */
export async function atrium(
  home: string,
  args: readonly string[],
  given: { readonly env?: NodeJS.ProcessEnv; readonly input?: string; readonly cwd?: string } = {},
): Promise<Ended> {
  const env = { PATH: process.env['PATH'], HOME: home, ATRIUM_HOME: `${home}/data`, ...given.env }
  const child = spawn(process.execPath, [bin, ...args], {
    env,
    ...(given.cwd !== undefined && { cwd: given.cwd }),
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (data: Buffer) => void (stdout += data.toString()))
  child.stderr.on('data', (data: Buffer) => void (stderr += data.toString()))
  // A command that reads no input may end before this is written.
  child.stdin.on('error', () => {})
  child.stdin.end(given.input ?? '')
  await once(child, 'close')
  return { status: child.exitCode, stdout, stderr }
}

/** One line of `--json`. */
export type Document = Readonly<Record<string, unknown>>

/** Parses the output of `--json`: one document per line. */
export function documents(stdout: string): readonly Document[] {
  return stdout.split('\n').filter(Boolean).map(documentIn)
}

export function documentIn(line: string): Document {
  // A test compares the fields that it needs.
  return JSON.parse(line) as Document
}

/** Returns the port of a listening TCP server. */
export function portOf(server: Server): number {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port')
  return address.port
}
