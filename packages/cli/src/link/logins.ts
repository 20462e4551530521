import type { AgentInfo } from '@atrium/protocol/root/state'

/** What somebody must have signed in to before such an agent works. */
export function loginsOf({ protectedResources = [] }: AgentInfo): readonly string[] {
  return protectedResources
    .filter(({ required }) => required !== false)
    .map(({ resource, resource_name }) => resource_name ?? resource)
}
