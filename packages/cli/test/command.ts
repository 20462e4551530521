import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export const bin = fileURLToPath(new URL('../bin/atrium.mjs', import.meta.url))

export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The real command, to its end, without a terminal. `home` is its whole world. */
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
  child.stdin.end(given.input ?? '')
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, stdout, stderr }
}
