import type { Client } from '@atrium/client/client'
import { rootUri } from '@atrium/protocol/uri'
import { Plus } from 'lucide'
import { useLiveChannel } from '../link/live-channel.ts'
import { useMay } from '../link/role.ts'
import { readinessOf } from '../sessions/readiness.ts'
import { Button } from '../ui/button.tsx'

interface Props {
  readonly client: Client
  readonly onNew: () => void
}

/**
 * The view beside the session list while no session is open: a button for a new session, and the agents of the host.
 */
export function Welcome({ client, onNew }: Props) {
  const { state } = useLiveChannel(client, 'root', rootUri)
  const agents = state?.agents ?? []
  const creates = useMay('prompt')
  return (
    <main class="main welcome">
      <div class="welcome-card">
        <h1>{creates ? 'Choose a session, or begin one' : 'Choose a session'}</h1>
        <p>
          Sessions run on the host. They go on when this page is closed, and every window, editor and terminal
          that opens one sees the same.
        </p>
        {creates && (
          <Button icon={Plus} look="primary" onClick={onNew}>
            New session
          </Button>
        )}
        {agents.length > 0 && (
          <>
            <h2>Agents of this host</h2>
            <ul class="agent-list">
              {agents.map((agent) => {
                const { state: ready, words, problem } = readinessOf(agent)
                return (
                  <li key={agent.provider}>
                    <span class="agent-name">
                      {agent.displayName} <span class={`tag ${ready}`}>{words}</span>
                    </span>
                    <span class="agent-about">{problem ?? agent.description}</span>
                  </li>
                )
              })}
            </ul>
          </>
        )}
      </div>
    </main>
  )
}
