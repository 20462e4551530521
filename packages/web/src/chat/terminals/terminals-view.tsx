import type { Client } from '@atrium/client/client'
import { newId } from '@atrium/client/shared/globals'
import type { SessionState } from '@atrium/protocol/session/state'
import { rootUri, terminalUri } from '@atrium/protocol/uri'
import { Plus } from 'lucide'
import { useState } from 'preact/hooks'
import { useLiveChannel } from '../../link/live-channel.ts'
import { RoleNote } from '../../link/role-note.tsx'
import { useMay } from '../../link/role.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { visibleText } from '../shared/text.ts'
import { TerminalView } from './terminal-view.tsx'

interface Props {
  readonly client: Client
  readonly uri: string
  readonly session: SessionState
  readonly chat: string
  readonly say: (text: string) => void
}

/** The terminals of the host, and a button that opens a new one in the folder of the session. */
export function TerminalsView({ client, uri, session, chat, say }: Props) {
  const { state } = useLiveChannel(client, 'root', rootUri)
  const terminals = state?.terminals ?? []
  const owns = useMay('own')
  const [chosen, setChosen] = useState<string>()
  const shown = terminals.find(({ resource }) => resource === chosen) ?? terminals[0]
  const cwd = session.workingDirectories?.[0]
  const create = () => {
    const channel = terminalUri(newId())
    const claim = { kind: 'client', clientId: client.clientId } as const
    client.ask('createTerminal', { channel, claim, ...(cwd !== undefined && { cwd }) }).then(
      () => setChosen(channel),
      (error: unknown) => say(`No terminal: ${error instanceof Error ? error.message : String(error)}`),
    )
  }
  return (
    <section class="terminals" aria-label="Terminals">
      <div class="scopes" role="group" aria-label="Which terminal">
        {terminals.map(({ resource, title }) => (
          <button
            key={resource}
            type="button"
            class={resource === shown?.resource ? 'selected' : ''}
            aria-pressed={resource === shown?.resource}
            onClick={() => setChosen(resource)}
          >
            {visibleText(title === '' ? 'Terminal' : title)}
          </button>
        ))}
        {owns && (
          <Button icon={Plus} onClick={create}>
            New terminal
          </Button>
        )}
      </div>
      <RoleNote needed="own" to="open terminals or type in them" />
      {shown ? (
        <TerminalView
          key={shown.resource}
          client={client}
          uri={shown.resource}
          chat={{ session: uri, chat }}
          say={say}
        />
      ) : (
        <Empty title="No terminals">
          <p>A terminal runs on the host, in the folder of the session. Everybody here can watch it.</p>
        </Empty>
      )}
    </section>
  )
}
