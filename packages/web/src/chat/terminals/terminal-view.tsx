import type { Client } from '@atrium/client/client'
import type { TerminalClaim } from '@atrium/protocol/terminal/state'
import { useLiveChannel } from '../../link/live-channel.ts'
import { useMay } from '../../link/role.ts'
import { failureOf } from '../../link/outcome-words.ts'
import { Button } from '../../ui/button.tsx'
import { visibleText } from '../shared/text.ts'
import { useScreen } from './use-screen.ts'

interface Props {
  readonly client: Client
  readonly uri: string
  /** The chat that gets the terminal when this client lets go of it. */
  readonly chat: { readonly session: string; readonly chat: string }
  readonly say: (text: string) => void
}

/** Keys that a touch screen does not have. */
const keys: readonly (readonly [label: string, data: string])[] = [
  ['Esc', '\u001b'],
  ['Tab', '\t'],
  ['Ctrl+C', '\u0003'],
  ['Ctrl+D', '\u0004'],
  ['↑', '\u001b[A'],
  ['↓', '\u001b[B'],
  ['←', '\u001b[D'],
  ['→', '\u001b[C'],
]

/**
 * A terminal of the host. All clients see it. Only the client that has claimed it can type, until the claim passes
 * on.
 */
export function TerminalView({ client, uri, chat, say }: Props) {
  const { state, status, dispatch } = useLiveChannel(client, 'terminal', uri)
  const own = { kind: 'client', clientId: client.clientId } as const
  const mine = state?.claim.kind === 'client' && state.claim.clientId === client.clientId
  const owns = useMay('own')
  const running = state?.lifecycle.status === 'running'
  const { place, type } = useScreen(client, uri, mine && running)
  const pass = (claim: TerminalClaim) =>
    void dispatch({ type: 'terminal/claimed', claim }).then((outcome) => {
      const failure = failureOf(outcome)
      if (failure !== undefined) say(failure)
    })
  const close = () =>
    void client
      .ask('disposeTerminal', { channel: uri })
      .catch((error: unknown) => say(error instanceof Error ? error.message : String(error)))
  if (status === 'gone') return <p class="quiet">This terminal is closed.</p>
  return (
    <div class="terminal">
      <div class="changed-row">
        <span class="quiet">{state ? stateWords(state, mine) : 'Opening the terminal…'}</span>
        {owns && state && running && !mine && <Button onClick={() => pass(own)}>Type here</Button>}
        {mine && running && (
          <Button onClick={() => pass({ kind: 'session', ...chat })}>Let others type</Button>
        )}
        {owns && (
          <Button look="quiet" onClick={close}>
            Close the terminal
          </Button>
        )}
      </div>
      <div ref={place} class="screen" />
      {mine && running && (
        <div class="key-bar" role="group" aria-label="Keys">
          {keys.map(([label, data]) => (
            <Button key={label} onClick={() => type(data)}>
              {label}
            </Button>
          ))}
        </div>
      )}
    </div>
  )
}

function stateWords(
  { lifecycle, claim, title }: NonNullable<ReturnType<typeof useLiveChannel<'terminal'>>['state']>,
  mine: boolean,
): string {
  const name = visibleText(title)
  if (lifecycle.status === 'exited')
    return `${name} has ended${lifecycle.exitCode === undefined ? '' : ` with ${lifecycle.exitCode}`}`
  if (mine) return name
  return `${name}, ${claim.kind === 'session' ? 'nobody types' : 'somebody else types'}`
}
