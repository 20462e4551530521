import { AhpError } from '@atrium/protocol/errors'
import type { Subscriber, WrongLog } from './wrong-log.ts'

/** An agent that requires a login. */
export const protectedAgent = {
  provider: 'protected',
  displayName: 'Protected',
  description: '',
  models: [],
  protectedResources: [{ resource: 'https://protected.example' }],
}

export function authenticate(host: WrongLog, link: Subscriber, resource: string): object {
  const known = protectedAgent.protectedResources.some((each) => each.resource === resource)
  if (!known && !host.has('anyResourceAccepted')) throw AhpError.invalidParams('unknown resource')
  host.loggedIn.add(link)
  return {}
}

export function needsLogin(host: WrongLog): AhpError {
  if (host.has('authMiscoded')) return AhpError.permissionDenied('sign in first')
  const resources = host.has('authResourcesMissing') ? [] : protectedAgent.protectedResources
  return AhpError.authRequired('sign in first', resources)
}
