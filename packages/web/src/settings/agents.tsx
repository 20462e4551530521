import type { Client } from '@atrium/client/client'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { useState } from 'preact/hooks'
import { SignInCard } from '../link/sign-in-card.tsx'
import { useMay } from '../link/role.ts'
import { readinessOf } from '../sessions/readiness.ts'
import { Button } from '../ui/button.tsx'
import { Row, Section } from './row.tsx'

interface Props {
  readonly client: Client
  readonly agents: readonly AgentInfo[]
}

/** The agents of the host: whether each can work, its models, and its sign-in. */
export function Agents({ client, agents }: Props) {
  const [signingIn, setSigningIn] = useState<string>()
  const owns = useMay('own')
  return (
    <Section title="Agents">
      {agents.map((agent) => {
        const { provider, displayName, description, models, protectedResources = [] } = agent
        const { state, words, problem } = readinessOf(agent)
        const signsIn = owns && protectedResources.length > 0
        return (
          <div key={provider}>
            <Row
              title={displayName}
              about={[problem ?? description, models.map(({ name }) => name).join(', ')]
                .filter(Boolean)
                .join(' · ')}
              command={signsIn ? `atrium login ${provider}` : 'atrium agents'}
            >
              <span class={`tag ${state}`}>{words}</span>
              {signsIn && <Button onClick={() => setSigningIn(provider)}>Sign in</Button>}
            </Row>
            {signingIn === provider && (
              <SignInCard
                client={client}
                resources={protectedResources}
                onDone={() => setSigningIn(undefined)}
              />
            )}
          </div>
        )
      })}
    </Section>
  )
}
