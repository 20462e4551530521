import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { ModelProvider } from './provider.ts'

/** The resource for which clients may pass the API key of a provider. */
export function keyResource({
  resource,
  displayName,
}: Pick<ModelProvider, 'resource' | 'displayName'>): ProtectedResourceMetadata {
  return { resource, resource_name: displayName }
}

/**
 * Returns the resources for which clients may pass an API key. A key is required if it is the only one that can make the agent
 * work. Otherwise a key of another provider, or the one in the host's environment, is enough.
 */
export function protectedResources(
  providers: readonly ModelProvider[],
  isUsable: boolean,
): readonly ProtectedResourceMetadata[] {
  const locked = providers.filter(({ keyVariable }) => keyVariable !== undefined)
  const isOnly = locked.length === 1 && !isUsable
  return locked.map((each) => ({ ...keyResource(each), ...(!isOnly && { required: false }) }))
}

/** Returns the resources of which a user needs a key for one, before the agent can work. */
export function missingKeys(
  providers: readonly ModelProvider[],
  isUsable: boolean,
  hasToken: (resource: string) => boolean,
): readonly ProtectedResourceMetadata[] {
  const resources = protectedResources(providers, isUsable)
  return isUsable || resources.some(({ resource }) => hasToken(resource)) ? [] : resources
}
