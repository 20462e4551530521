import { randomUUID } from 'node:crypto'
import { errorData } from '@atrium/protocol/error-data'
import { errorCodes } from '@atrium/protocol/errors'
import type { RootState } from '@atrium/protocol/root/state'
import { rootUri } from '@atrium/protocol/uri'
import { Skipped, check, checkShape } from '../kit/check.ts'
import { fold } from '../kit/fold.ts'
import type { Topic } from '../kit/rule.ts'

export const auth: Topic = {
  name: 'auth',
  rules: [
    {
      id: 'K170',
      title: 'a token for a resource that the host does not advertise is refused',
      source: 'authentication: an unknown resource is an error',
      async run(kit) {
        const client = await kit.join()
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
      },
    },
    {
      id: 'K171',
      title: 'creating a session that needs a login is refused with -32007 and the needed resources',
      source: 'errors: the data of AuthRequired',
      needs: 'session',
      async run(kit) {
        const client = await kit.join()
        // K41 judges the shape of the state, so a required field may be missing here.
        const { agents = [] } = fold('root', await client.subscribe(rootUri), []) as Partial<RootState>
        const protectedAgent = agents.find(({ protectedResources = [] }) =>
          protectedResources.some(({ required }) => required !== false),
        )
        if (!protectedAgent) throw new Skipped('no agent of the host requires a login')
        const channel = kit.unusedUri()
        kit.disposeLater(channel)
        const answer = await client.request('createSession', { channel, provider: protectedAgent.provider })
        // Success is no fault: a user may already have signed in, or the agent may ask for the login later.
        if (!('error' in answer))
          throw new Skipped(`${protectedAgent.provider} creates sessions without a login`)
        const { code, data } = answer.error
        check(code === errorCodes.AuthRequired, 'createSession to be refused with -32007', answer.error)
        const { resources } = checkShape('the data of AuthRequired', errorData.AuthRequired, data)
        check(resources.length > 0, 'at least one needed resource', data)
      },
    },
  ],
}
