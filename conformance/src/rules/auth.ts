import { randomUUID } from 'node:crypto'
import { errorData } from '@atrium/protocol/error-data'
import { errorCodes } from '@atrium/protocol/errors'
import type { AgentInfo, RootState } from '@atrium/protocol/root/state'
import type { WireError } from '@atrium/protocol/rpc/shapes'
import { rootUri } from '@atrium/protocol/uri'
import { Skipped, check, checkShape } from '../kit/check.ts'
import type { Client } from '../kit/client.ts'
import { fold } from '../kit/fold.ts'
import type { Kit } from '../kit/kit.ts'
import type { Topic } from '../kit/rule.ts'
import { withClient } from '../kit/openings.ts'

export const auth: Topic = {
  name: 'auth',
  rules: [
    {
      id: 'K170',
      title: 'a token for a resource that the host does not advertise is refused',
      source: 'authentication: an unknown resource is an error',
      sessionless: true,
      run: withClient(async (client) => {
        const params = { resource: `https://${randomUUID()}.example`, token: 'conformance' }
        const { AuthRequired, InvalidParams, MethodNotFound } = errorCodes
        const { code } = await client.mustFail(
          'authenticate',
          params,
          AuthRequired,
          InvalidParams,
          MethodNotFound,
        )
        if (code === MethodNotFound) throw new Skipped('the host does not serve authenticate')
      }),
    },
    {
      id: 'K171',
      title: 'creating a session that needs a login is refused with -32007 and the needed resources',
      source: 'errors: the data of AuthRequired',
      run: withClient(async (client, kit) => {
        // K41 judges the shape of the state, so a required field may be missing here.
        const { agents = [] } = fold('root', await client.subscribe(rootUri), []) as Partial<RootState>
        const needy = agents.filter(({ protectedResources = [] }) => protectedResources.length > 0)
        if (needy.length === 0) throw new Skipped('no agent of the host names a protected resource')
        const error = await refusedCreation(kit, client, needy)
        if (error === undefined) throw new Skipped('every available agent creates sessions without a login')
        const { code, data } = error
        check(code === errorCodes.AuthRequired, 'createSession to be refused with -32007', error)
        const { resources } = checkShape('the data of AuthRequired', errorData.AuthRequired, data)
        check(resources.length > 0, 'at least one needed resource', data)
      }),
    },
  ],
}

/**
 * Creates a session with each agent in turn. Returns the first error that should ask for a login. A success is no
 * fault: a user may already have signed in, or the agent may ask for the login later. The error of an agent that is
 * not installed is left out, because it says nothing about logins.
 */
async function refusedCreation(
  kit: Kit,
  client: Client,
  agents: readonly AgentInfo[],
): Promise<WireError | undefined> {
  for (const { provider, protectedResources = [] } of agents) {
    const channel = kit.unusedUri(provider)
    kit.disposeLater(channel)
    const answer = await client.request('createSession', { channel, provider })
    if (!('error' in answer) || answer.error.code === errorCodes.ProviderNotFound) continue
    const isRequired = protectedResources.some(({ required }) => required !== false)
    if (isRequired || answer.error.code === errorCodes.AuthRequired) return answer.error
  }
  return undefined
}
