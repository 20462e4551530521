import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { member, textMember } from './member.ts'

/**
 * The resources in the error of a request, or in its cause, if it needs a sign-in first. Empty for any other error. The data of an
 * error is not checked when it is received, so the parts that the page shows are checked here.
 */
export function resourcesIn(error: unknown): readonly ProtectedResourceMetadata[] {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (!(cause instanceof AhpError) || cause.code !== errorCodes.AuthRequired) return []
  const listed = member(cause.data, 'resources')
  return Array.isArray(listed) ? listed.flatMap(resourceIn) : []
}

function resourceIn(value: unknown): readonly ProtectedResourceMetadata[] {
  const [resource, name] = [textMember(value, 'resource'), textMember(value, 'resource_name')]
  const methods = member(value, 'bearer_methods_supported')
  if (resource === undefined) return []
  const takesNone = Array.isArray(methods) && methods.length === 0
  return [
    {
      resource,
      ...(name !== undefined && { resource_name: name }),
      ...(takesNone && { bearer_methods_supported: [] }),
    },
  ]
}
