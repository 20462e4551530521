import { ptyTerminals } from '@atrium/adapters/terminals'
import type { Shell } from '@atrium/host/ports/terminals'
import { bin } from './command.ts'

export interface OnTerminal {
  readonly shell: Shell
  /** The whole output so far. */
  text(): string
  /** Resolves when the output contains the text. */
  until(wanted: string): Promise<void>
  exited: Promise<number | undefined>
}

/** Runs the real command in a pseudo-terminal. */
export async function onTerminal(home: string, args: string): Promise<OnTerminal> {
  const env = { PATH: process.env['PATH'], HOME: home }
  const command = `ATRIUM_HOME='${home}/data' exec '${process.execPath}' '${bin}' ${args}`
  const checks = new Set<() => void>()
  let text = ''
  let end: (code: number | undefined) => void
  const exited = new Promise<number | undefined>((resolve) => (end = resolve))
  const terminals = ptyTerminals({ shell: '/bin/sh', env })
  const shell = await terminals.start({ cwd: home, cols: 200, rows: 50, command }, (output) => {
    if (output.type === 'terminal/data') text += output.data
    if (output.type === 'terminal/exited') end(output.exitCode)
    for (const check of checks) check()
  })
  const until = (wanted: string) =>
    new Promise<void>((resolve) => {
      const check = () => void (text.includes(wanted) && resolve())
      checks.add(check)
      check()
    })
  return { shell, text: () => text, until, exited }
}
