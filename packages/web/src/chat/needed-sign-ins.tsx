import type { Client } from '@atrium/client/client'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { McpServerCustomization } from '@atrium/protocol/session/customization'
import type { SessionState } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLiveChannel } from '../link/live-channel.ts'
import { SignInCard } from '../link/sign-in-card.tsx'
import { useDecide } from './shared/context.ts'

interface Props {
  readonly client: Client
  readonly session: string
  readonly chat: ChatState
}

/** The sign-ins that a session waits for: to MCP servers, and to its agent. After the sign-in to the agent, the turn goes on. */
export function NeededSignIns({ client, session: uri, chat }: Props) {
  const { state: session } = useLiveChannel(client, 'session', uri)
  const decide = useDecide()
  const refused = refusedTurn(chat)
  const isHeldUp = session?.lifecycle === 'creating' && chat.activity !== undefined
  const told = useTold(client)
  const known = useAgentResources(client, session?.provider)
  const ofAgent = refused !== undefined || isHeldUp ? neededOf(known, told) : []
  const servers = useWaitingServers(session)
  return (
    <>
      {servers.map(({ id, resource, why }) => (
        <SignInCard key={id} client={client} resources={[resource]} why={why} onDone={() => {}} />
      ))}
      {ofAgent.length > 0 && (
        <SignInCard
          client={client}
          resources={ofAgent}
          why={isHeldUp ? chat.activity : undefined}
          onDone={() => refused !== undefined && decide({ type: 'chat/turnResume', turnId: refused })}
        />
      )}
    </>
  )
}

type Resources = readonly ProtectedResourceMetadata[]

/** The resources of an agent that the host has named, or else all that the agent has. An agent may also name others. */
function neededOf(known: Resources, told: Resources): Resources {
  const named = known.filter((each) => told.some(({ resource }) => resource === each.resource))
  if (named.length > 0) return named
  return known.length > 0 ? known : told
}

/** The id of the last turn, if this turn failed because nobody was signed in, and can be resumed. */
function refusedTurn({ turns, activeTurn }: ChatState): string | undefined {
  const last = activeTurn ? undefined : turns.at(-1)
  const part = last?.responseParts.at(-1)
  const isRefused =
    part?.kind === 'error' && part.error.errorType === 'auth-required' && part.resumable === true
  return isRefused ? last?.id : undefined
}

/** The resources of the host's notifications about missing sign-ins. They are not sent again to a page that is opened later. */
function useTold(client: Client): Resources {
  const [told, setTold] = useState<Resources>([])
  useEffect(
    () =>
      client.on('auth/required', ({ resource }) =>
        setTold((before) => [...before.filter((each) => each.resource !== resource.resource), resource]),
      ),
    [client],
  )
  return told
}

function useAgentResources(client: Client, provider: string | undefined): Resources {
  const { state } = useLiveChannel(client, 'root', rootUri)
  return state?.agents.find((each) => each.provider === provider)?.protectedResources ?? []
}

interface WaitingServer {
  readonly id: string
  readonly resource: ProtectedResourceMetadata
  readonly why: string
}

/** The MCP servers that wait for a sign-in. A server that starts with a token still waits: the token may be refused. */
function useWaitingServers(session: SessionState | undefined): readonly WaitingServer[] {
  const before = useRef<readonly WaitingServer[]>([])
  const waiting = serversOf(session).flatMap(({ id, name, state }) => {
    if (state.kind === 'starting') return before.current.filter((each) => each.id === id)
    const why = `The MCP server ${name} needs a sign-in.`
    return state.kind === 'authRequired'
      ? [{ id, resource: state.resource, why: state.description ?? why }]
      : []
  })
  useEffect(() => void (before.current = waiting))
  return waiting
}

function serversOf(session: SessionState | undefined): readonly McpServerCustomization[] {
  const all = (session?.customizations ?? []).flatMap((each) =>
    'children' in each ? [each, ...(each.children ?? [])] : [each],
  )
  return all.flatMap((each) => (each.type === 'mcpServer' ? [each] : []))
}
