import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { must } from '../agents/failure.ts'

const bin = fileURLToPath(new URL('../../../packages/cli/bin/atrium.mjs', import.meta.url))

/** A session as `atrium ls --json` prints it. */
export interface Listed {
  readonly resource: string
  readonly title: string
  readonly status: number
  readonly workingDirectories?: readonly string[]
  readonly chats: readonly { readonly resource: string; readonly title: string }[]
}

/** The command line of the project, as a user of the machine runs it. */
export class CommandLine {
  readonly #env: Readonly<Record<string, string>>
  readonly #data: string
  readonly #folder: string

  constructor(data: string, folder: string, env: Readonly<Record<string, string>>) {
    this.#data = data
    this.#folder = folder
    this.#env = env
  }

  /** Runs `atrium VERB --data … ARGS` and returns its stdout. Fails if the exit code is not 0. */
  async run(verb: string, ...args: readonly string[]): Promise<string> {
    const child = spawn(process.execPath, [bin, verb, '--data', this.#data, ...args], {
      cwd: this.#folder,
      env: { PATH: process.env['PATH'], ...this.#env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    await once(child, 'close')
    must(child.exitCode === 0, `atrium ${verb} ends with ${child.exitCode}: ${err.trim()}`)
    return out
  }

  /** Returns the sessions whose title contains the text. */
  async sessions(title: string): Promise<readonly Listed[]> {
    const lines = (await this.run('ls', '--all', '--json')).split('\n').filter((line) => line !== '')
    return lines.map((line) => JSON.parse(line) as Listed).filter((each) => each.title.includes(title))
  }

  /** Returns the only session whose title contains the text. */
  async session(title: string): Promise<Listed> {
    const found = await this.sessions(title)
    const [only] = found
    must(only !== undefined && found.length === 1, `atrium ls has ${found.length} sessions "${title}", not 1`)
    return only
  }

  /** Returns the turns of a session as `atrium logs` prints them. */
  async logs(title: string): Promise<string> {
    return this.run('logs', idOf(await this.session(title)))
  }
}

/** Returns the id by which commands name a session. */
export function idOf({ resource }: Listed): string {
  return resource.slice(resource.indexOf('/') + 1)
}
