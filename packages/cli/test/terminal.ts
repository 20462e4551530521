import { ptyTerminals } from '@atrium/adapters/terminals'
import type { Shell } from '@atrium/host/ports/terminals'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../bin/atrium.mjs', import.meta.url))

export interface OnTerminal {
  readonly shell: Shell
  /** All that stands on it so far. */
  text(): string
  until(wanted: string): Promise<void>
  exited: Promise<number | undefined>
}

/** The real command, with somebody at a terminal before it. */
export async function onTerminal(home: string, args: string): Promise<OnTerminal> {
  const env = { PATH: process.env['PATH'], HOME: home }
  const command = `ATRIUM_HOME='${home}/data' exec '${process.execPath}' '${bin}' ${args}`
  const waiting = new Set<() => void>()
  let text = ''
  let end: (code: number | undefined) => void
  const exited = new Promise<number | undefined>((resolve) => (end = resolve))
  const terminals = ptyTerminals({ shell: '/bin/sh', env })
  const shell = await terminals.start({ cwd: home, cols: 200, rows: 50, command }, (said) => {
    if (said.type === 'terminal/data') text += said.data
    if (said.type === 'terminal/exited') end(said.exitCode)
    for (const look of waiting) look()
  })
  const until = (wanted: string) =>
    new Promise<void>((resolve) => {
      const look = () => void (text.includes(wanted) && resolve())
      waiting.add(look)
      look()
    })
  return { shell, text: () => text, until, exited }
}
