import { randomUUID } from 'node:crypto'
import { errorData } from '@atrium/protocol/error-data'
import { errorCodes } from '@atrium/protocol/errors'
import type { RootState } from '@atrium/protocol/root/state'
import { rootUri } from '@atrium/protocol/uri'
import { Skipped, check, fits } from '../kit/check.ts'
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
        const { code } = await client.refused(
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
      title: 'a session that needs a login is refused with -32007 and the resources that it needs',
      source: 'errors: what AuthRequired carries',
      needs: 'session',
      async run(kit) {
        const client = await kit.join()
        const { agents = [] } = (await client.subscribe(rootUri)).state as Partial<RootState>
        const guarded = agents.find(({ protectedResources = [] }) =>
          protectedResources.some(({ required }) => required !== false),
        )
        if (!guarded) throw new Skipped('no agent of the host requires a login')
        const channel = kit.unusedUri()
        kit.made(channel)
        const answer = await client.ask('createSession', { channel, provider: guarded.provider })
        // Somebody may have signed in, and an agent may ask later.
        if (!('error' in answer)) throw new Skipped(`${guarded.provider} creates sessions without a login`)
        const { code, data } = answer.error
        check(code === errorCodes.AuthRequired, 'createSession to be refused with -32007', answer.error)
        const { resources } = fits('the data of AuthRequired', errorData.AuthRequired, data)
        check(resources.length > 0, 'the resources that are needed', data)
      },
    },
  ],
}
