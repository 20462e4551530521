import { existsSync } from 'node:fs'
import type { TerminalOutput } from '@atrium/host/ports/terminals'
import { startShell } from '../../host/src/ports/contracts/terminals.contract.ts'
import type { StartedShell } from '../../host/src/ports/contracts/terminals.contract.ts'
import { ptyTerminals } from '../src/terminals/terminals.ts'
import type { PtyOptions } from '../src/terminals/terminals.ts'
import { homeWith, until } from './shells.ts'

/** A command as the terminal reported it. */
export interface CommandRecord {
  readonly line: string
  readonly exitCode?: number | undefined
  readonly done: boolean
  readonly output: string
}

/** A shell that waits at its prompt, and methods to type there. */
export interface ShellPrompt extends StartedShell {
  readonly home: string
  type(text: string): void
  /** Types a line and waits until the command has finished. */
  run(line: string): Promise<CommandRecord>
  /** All reported commands. */
  commands(): readonly CommandRecord[]
  readonly prompts: () => number
}

export const shells = { bash: '/bin/bash', zsh: '/bin/zsh' }
export const isMissing = (name: keyof typeof shells) => !existsSync(shells[name])

/** Starts a shell and waits for its first prompt. */
export async function openPrompt(
  name: keyof typeof shells,
  files: { readonly [name: string]: string } = {},
  options: PtyOptions = {},
): Promise<ShellPrompt> {
  const { home, env } = homeWith({ '.bashrc': 'PS1="$ "', '.zshrc': 'PS1="$ "', ...files })
  const terminals = ptyTerminals({ shell: shells[name], ...options, env: { ...env, ...options.env } })
  const listened = await startShell(terminals, { cwd: home, cols: 200, rows: 50 })
  const { said, shell } = listened
  const commands = () => commandsIn(said)
  const prompts = () => listened.text().split('$ ').length - 1
  await until(() => said.some(({ type }) => type === 'terminal/commandDetectionAvailable') && prompts() > 0)
  return {
    ...listened,
    home,
    commands,
    prompts,
    type: (text) => shell.input(text),
    async run(line) {
      const before = commands().length
      shell.input(`${line}\r`)
      await until(() => commands()[before]?.done)
      const one = commands()[before]
      if (!one) throw new Error('no command was reported')
      return one
    },
  }
}

function commandsIn(outputs: readonly TerminalOutput[]): readonly CommandRecord[] {
  const all = new Map<string, CommandRecord>()
  let running: string | undefined
  for (const one of outputs) {
    if (one.type === 'terminal/commandExecuted') {
      running = one.commandId
      all.set(running, { line: one.commandLine, done: false, output: '' })
    } else if (one.type === 'terminal/commandFinished') {
      const command = all.get(one.commandId)
      if (!command || one.commandId !== running)
        throw new Error('a command that was not running has finished')
      all.set(one.commandId, { ...command, done: true, exitCode: one.exitCode })
      running = undefined
    } else if (one.type === 'terminal/data' && running) {
      const command = all.get(running)
      if (command) all.set(running, { ...command, output: command.output + one.data })
    }
  }
  return [...all.values()].map((command) => ({
    ...command,
    output: command.output.replace(missingNewline, ''),
  }))
}

/**
 * The mark that zsh prints after output without a newline. zsh prints it before the `finished` mark, so it looks like output
 * of the command.
 */
const missingNewline = /\x1b\[1m\x1b\[7m[%#]\x1b\[27m\x1b\[1m\x1b\[0m *\r \r/
