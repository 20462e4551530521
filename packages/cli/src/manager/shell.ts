import type { Client } from '@atrium/client/client'
import type { HostedSession } from '@atrium/client/hosts'
import { newId } from '@atrium/client/shared/globals'
import { terminalUri } from '@atrium/protocol/uri'
import { CommandError, sentenceOf } from '../terminal/exit.ts'

/** Ctrl-] leaves the terminal, as in telnet. No shell uses it. */
const leave = '\u001d'

/** Opens a terminal of the host in the folder of a session, until its shell ends or the user leaves it. */
export async function useShell(client: Client, { workingDirectories = [] }: HostedSession): Promise<void> {
  const { stdin, stdout } = process
  const channel = terminalUri(newId())
  const size = () => ({ cols: stdout.columns || 80, rows: stdout.rows || 24 })
  const [cwd] = workingDirectories
  await client
    .ask('createTerminal', {
      channel,
      claim: { kind: 'client', clientId: client.clientId },
      ...(cwd !== undefined && { cwd }),
      ...size(),
    })
    .catch((error: unknown) => {
      throw new CommandError(`No terminal could be opened: ${sentenceOf(error)}`)
    })
  const terminal = client.subscribe('terminal', channel)
  const undo = [
    client.onAction((envelope) => {
      const { action } = envelope
      if (envelope.channel === channel && action.type === 'terminal/data' && 'data' in action)
        stdout.write(String(action.data))
    }),
  ]
  try {
    const state = await terminal.ready()
    stdout.write(
      '\u001b[2mA terminal in the folder of the session; Ctrl-] comes back to the list.\u001b[0m\r\n',
    )
    for (const part of state.content) stdout.write('value' in part ? part.value : part.output)
    const input = (data: Buffer | string) => {
      const text = String(data)
      if (text.includes(leave)) return left()
      void terminal.dispatch({ type: 'terminal/input', data: text })
    }
    let left = () => {}
    const asked = new Promise<void>((resolve) => (left = resolve))
    const resized = () => void terminal.dispatch({ type: 'terminal/resized', ...size() })
    stdin.setRawMode(true)
    stdin.on('data', input).resume()
    stdout.on('resize', resized)
    undo.push(
      () => void stdin.off('data', input).pause(),
      () => void stdin.setRawMode(false),
      () => void stdout.off('resize', resized),
    )
    const ended = terminal.until(({ lifecycle }) => lifecycle.status === 'exited').catch(() => {})
    await Promise.race([asked, ended])
  } finally {
    for (const each of undo) each()
    terminal.release()
    await client.ask('disposeTerminal', { channel }).catch(() => {})
  }
}
