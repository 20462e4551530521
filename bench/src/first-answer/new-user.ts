import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fact } from '../table.ts'

/** How long one `atrium run` took, split into three consecutive durations in seconds. */
export interface Asked {
  /** From the start of npx until the command has looked for a host. */
  readonly command: number
  /** From then until the host has a session. Short if a host runs already. */
  readonly start: number
  /** From then until the first text of the answer. */
  readonly answer: number
}

/** Runs programs with an empty home, without the settings of the user who measures. */
export class NewUser {
  readonly #env: NodeJS.ProcessEnv

  constructor(home: string) {
    mkdirSync(home)
    const foreign = /^(?:npm_|xdg_|atrium_|git_|node_options$|home$)/i
    const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name))
    this.#env = { ...Object.fromEntries(kept), HOME: home, npm_config_update_notifier: 'false' }
  }

  /** Runs a program to its end. Prints how long it took, and returns that in seconds. Throws if the program fails. */
  async time(what: string, command: readonly string[], cwd: string): Promise<number> {
    const began = performance.now()
    await this.run(command, cwd)
    const seconds = (performance.now() - began) / 1000
    fact(what, `${seconds.toFixed(1)} s`)
    return seconds
  }

  async run(command: readonly string[], cwd: string): Promise<void> {
    const child = this.#start(command, cwd)
    const [, errors] = await Promise.all([ended(child), text(child.stderr), text(child.stdout)])
    if (child.exitCode !== 0) throw new Error(`${command.join(' ')} failed:\n${errors}`)
  }

  /** Asks the agent that needs no key, and measures when each event of the turn comes. */
  async ask(cwd: string): Promise<Asked> {
    const command = ['npx', 'atrium', 'run', '--json', '--agent', 'guide', 'say hello']
    const began = performance.now()
    const child = this.#start(command, cwd)
    const errors = text(child.stderr)
    const at = new Map<string, number>()
    for await (const line of createInterface(child.stdout)) {
      // The command prints one document per line, each with a type.
      const { type } = JSON.parse(line) as { readonly type: string }
      if (!at.has(type)) at.set(type, (performance.now() - began) / 1000)
    }
    await ended(child)
    const [session, answer] = [at.get('session'), at.get('text')]
    if (session === undefined || answer === undefined)
      throw new Error(`${command.join(' ')} gave no answer:\n${await errors}`)
    const found = at.get('host') ?? session
    return { command: found, start: session - found, answer: answer - session }
  }

  #start([program = '', ...args]: readonly string[], cwd: string) {
    return spawn(program, args, { cwd, env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] })
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
