import { existsSync } from 'node:fs'
import type { TerminalOutput } from '@atrium/host/ports/terminals'
import { listen } from '../../host/src/ports/terminals.contract.ts'
import type { Listened } from '../../host/src/ports/terminals.contract.ts'
import { ptyTerminals } from '../src/terminals/terminals.ts'
import type { PtyOptions } from '../src/terminals/terminals.ts'
import { homeWith, until } from './shells.ts'

/** A command as it was told. */
export interface Told {
  readonly line: string
  readonly exitCode?: number | undefined
  readonly done: boolean
  readonly output: string
}

/** A shell at whose prompt somebody types. */
export interface Prompt extends Listened {
  readonly home: string
  type(text: string): void
  /** Types a line and waits until it is done. */
  run(line: string): Promise<Told>
  /** All that was told of commands. */
  told(): readonly Told[]
  readonly prompts: () => number
}

export const shells = { bash: '/bin/bash', zsh: '/bin/zsh' }
export const missing = (name: keyof typeof shells) => !existsSync(shells[name])

/** Its first prompt has come. */
export async function promptOf(
  name: keyof typeof shells,
  files: { readonly [name: string]: string } = {},
  options: PtyOptions = {},
): Promise<Prompt> {
  const { home, env } = homeWith({ '.bashrc': 'PS1="$ "', '.zshrc': 'PS1="$ "', ...files })
  const terminals = ptyTerminals({ shell: shells[name], ...options, env: { ...env, ...options.env } })
  const listened = await listen(terminals, { cwd: home, cols: 200, rows: 50 })
  const { said, shell } = listened
  const told = () => commandsIn(said)
  const prompts = () => listened.text().split('$ ').length - 1
  await until(() => said.some(({ type }) => type === 'terminal/commandDetectionAvailable') && prompts() > 0)
  return {
    ...listened,
    home,
    told,
    prompts,
    type: (text) => shell.input(text),
    async run(line) {
      const before = told().length
      shell.input(`${line}\r`)
      await until(() => told()[before]?.done)
      const one = told()[before]
      if (!one) throw new Error('no command was told')
      return one
    },
  }
}

function commandsIn(said: readonly TerminalOutput[]): readonly Told[] {
  const all = new Map<string, Told>()
  let running: string | undefined
  for (const one of said) {
    if (one.type === 'terminal/commandExecuted') {
      running = one.commandId
      all.set(running, { line: one.commandLine, done: false, output: '' })
    } else if (one.type === 'terminal/commandFinished') {
      const told = all.get(one.commandId)
      if (!told || one.commandId !== running) throw new Error('a command ended that did not run')
      all.set(one.commandId, { ...told, done: true, exitCode: one.exitCode })
      running = undefined
    } else if (one.type === 'terminal/data' && running) {
      const told = all.get(running)
      if (told) all.set(running, { ...told, output: told.output + one.data })
    }
  }
  return [...all.values()].map((told) => ({ ...told, output: told.output.replace(unended, '') }))
}

/** zsh marks where a line has no end, before anybody can say that the command is over. */
const unended = /\x1b\[1m\x1b\[7m[%#]\x1b\[27m\x1b\[1m\x1b\[0m *\r \r/
