import type { AgentInfo } from '@atrium/protocol/root/state'

/** Returns the names of the resources that need a sign-in before the agent works. */
export function requiredLogins({ protectedResources = [] }: AgentInfo): readonly string[] {
  return protectedResources
    .filter(({ required }) => required !== false)
    .map(({ resource, resource_name }) => resource_name ?? resource)
}
