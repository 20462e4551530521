import { errorCodes } from '@atrium/protocol/errors'
import { RootState } from '@atrium/protocol/root/state'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { WireError } from '@atrium/protocol/rpc/shapes'
import { decode } from '@atrium/protocol/schema'
import { rootUri } from '@atrium/protocol/uri'
import { shown } from './check.ts'
import { Client } from './client.ts'
import type { Answer, Target } from './link.ts'

/** What a host says of itself, as far as it decides which rules can be judged. */
export interface Offer {
  readonly version: string
  /** The agent that sessions are created with. */
  readonly provider?: string | undefined
  /** Whether its sessions may have more chats than the first. */
  readonly severalChats?: boolean
  /** Whether a chat may begin from a turn of another: with what came before it, or beside it. */
  readonly forks?: boolean
  readonly sideChats?: boolean
  /** The model that turns ask for; else the agent's own choice. */
  readonly model?: string | undefined
  /** What makes the agent ask before it uses a tool, put questions, and begin a chat by a tool. */
  readonly toolPrompt?: string | undefined
  readonly formPrompt?: string | undefined
  readonly workerPrompt?: string | undefined
  /** Why the host does not speak this version. */
  readonly unspoken?: string | undefined
  /** Why no session can be created. */
  readonly sessionless?: string | undefined
}

/** The host cannot be reached at all. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

export async function offerOf(target: Target, version: string, wanted?: string): Promise<Offer> {
  const client = new Client(target, version)
  await client.opened().catch(() => {
    throw new Unreachable(client.closed ?? 'nobody answers there')
  })
  try {
    const answer = await client.ask('initialize', { protocolVersions: [version], clientId: client.clientId })
    if ('error' in answer) return { version, ...refused(answer.error, version) }
    return { version, ...agentOf(await client.ask('subscribe', { channel: rootUri }), wanted) }
  } catch (error) {
    // The rules of the handshake will say what is wrong with it.
    return { version, sessionless: `the handshake failed: ${(error as Error).message}` }
  } finally {
    client.cut()
  }
}

function refused(error: WireError, version: string): Omit<Offer, 'version'> {
  const reason = `the host refuses ${version}: ${shown(error)}`
  return error.code === errorCodes.UnsupportedProtocolVersion ? { unspoken: reason } : { sessionless: reason }
}

function agentOf(answer: Answer, wanted: string | undefined): Omit<Offer, 'version'> {
  const result = 'result' in answer ? (answer.result as { snapshot?: { state?: unknown } } | null) : undefined
  const root = decode(RootState, result?.snapshot?.state)
  if (!root.ok) return { sessionless: `the agents of the host cannot be read from its root: ${root.problem}` }
  const { agents } = root.value
  const agent = wanted === undefined ? (agents.find(open) ?? agents[0]) : agents.find(named(wanted))
  if (agent) return { provider: agent.provider, ...chatsOf(agent) }
  const missing = wanted === undefined ? 'no agent' : `no agent ${wanted}`
  return { sessionless: `the host offers ${missing} to create a session with` }
}

function chatsOf({ capabilities }: AgentInfo): Omit<Offer, 'version'> {
  const { multipleChats: several } = capabilities ?? {}
  return {
    severalChats: several !== undefined,
    forks: several?.fork === true,
    sideChats: several?.sideChat === true,
  }
}

function named(provider: string): (agent: AgentInfo) => boolean {
  return (agent) => agent.provider === provider
}

/** Needs no login. */
function open({ protectedResources = [] }: AgentInfo): boolean {
  return protectedResources.every(({ required }) => required === false)
}
