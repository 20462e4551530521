import { errorCodes } from '@atrium/protocol/errors'
import { RootState } from '@atrium/protocol/root/state'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { WireError } from '@atrium/protocol/rpc/shapes'
import { decode } from '@atrium/protocol/schema'
import { rootUri } from '@atrium/protocol/uri'
import { namesOf } from '@atrium/protocol/versions/negotiate'
import { excerpt } from './check.ts'
import { Client } from './client.ts'
import type { Answer, Login, Target } from './link.ts'
import { judgedVersions } from './version.ts'

/** Facts about the host under test that decide which rules can be judged. */
export interface HostFacts {
  readonly version: string
  /** The agent that sessions are created with. */
  readonly provider?: string | undefined
  /** Whether a session of this agent may have several chats. */
  readonly multipleChats?: boolean
  /** Whether a chat can be created as a fork of another chat. */
  readonly forks?: boolean
  /** Whether a chat can be created as a side chat about a turn. */
  readonly sideChats?: boolean
  /** The reason why the host does not support this version. */
  readonly versionRefused?: string | undefined
  /** The reason why no session can be created. */
  readonly noSession?: string | undefined
}

/** Thrown if no connection to the host can be opened. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/**
 * The version to judge if the command line names none: the one that the host selects from all that the kit can judge.
 * A host that selects none of them is judged by the newest.
 */
export async function selectedVersion(target: Target): Promise<string> {
  const offer = namesOf(judgedVersions)
  const [newest = ''] = judgedVersions
  const client = await reach(target, newest)
  try {
    const params = { protocolVersions: offer, clientId: client.clientId }
    const answer = await client.request('initialize', params)
    const result = 'result' in answer ? (answer.result as { protocolVersion?: unknown } | null) : undefined
    return offer.find((version) => version === result?.protocolVersion) ?? newest
  } catch {
    return newest
  } finally {
    client.terminate()
  }
}

async function reach(target: Target, version: string): Promise<Client> {
  const client = new Client(target, version)
  await client.opened().catch(() => {
    throw new Unreachable(client.closed ?? 'the host does not answer')
  })
  return client
}

/** Connects once and reads the facts from the state of the root. `provider` names the agent to use. */
export async function readHostFacts(target: Target, version: string, provider?: string): Promise<HostFacts> {
  const client = await reach(target, version)
  try {
    const params = { protocolVersions: [version], clientId: client.clientId }
    const answer = await client.request('initialize', params)
    if ('error' in answer) return { version, ...refusedVersion(answer.error, version) }
    const root = await client.request('subscribe', { channel: rootUri })
    return { version, ...chosenAgent(root, provider, target.logins) }
  } catch (error) {
    // Rules cannot create sessions after a failed handshake. The rules of the topic `handshake` report the details.
    return { version, noSession: `the handshake failed: ${(error as Error).message}` }
  } finally {
    client.terminate()
  }
}

function refusedVersion(error: WireError, version: string): Omit<HostFacts, 'version'> {
  const reason = `the host refuses ${version}: ${excerpt(error)}`
  return error.code === errorCodes.UnsupportedProtocolVersion
    ? { versionRefused: reason }
    : { noSession: reason }
}

function chosenAgent(
  answer: Answer,
  provider: string | undefined,
  logins: readonly Login[] = [],
): Omit<HostFacts, 'version'> {
  const result = 'result' in answer ? (answer.result as { snapshot?: { state?: unknown } } | null) : undefined
  const root = decode(RootState, result?.snapshot?.state)
  if (!root.ok) return { noSession: `the agents of the host cannot be read from its root: ${root.problem}` }
  const { agents } = root.value
  const agent =
    provider === undefined
      ? (agents.find((each) => needsNoLogin(each, logins)) ?? agents[0])
      : agents.find((each) => each.provider === provider)
  if (agent) return { provider: agent.provider, ...chatCapabilities(agent) }
  const missing = provider === undefined ? 'no agent' : `no agent ${provider}`
  return { noSession: `the host offers ${missing} to create a session with` }
}

function chatCapabilities({ capabilities }: AgentInfo): Omit<HostFacts, 'version'> {
  const { multipleChats } = capabilities ?? {}
  return {
    multipleChats: multipleChats !== undefined,
    forks: multipleChats?.fork === true,
    sideChats: multipleChats?.sideChat === true,
  }
}

function needsNoLogin({ protectedResources = [] }: AgentInfo, logins: readonly Login[]): boolean {
  const given = new Set(logins.map(({ resource }) => resource))
  return protectedResources.every(({ required, resource }) => required === false || given.has(resource))
}
