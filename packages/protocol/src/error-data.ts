import { ProtectedResourceMetadata } from './common/auth.ts'
import type { ErrorName } from './errors.ts'
import { resourceRequestShape } from './resource/commands.ts'
import { array, object, optional, string } from './schema.ts'
import type { Schema } from './schema.ts'

const resourceRequest = object('ResourceRequest', resourceRequestShape)

/** The schema of `data` for each error that carries data. */
export const errorData = {
  UnsupportedProtocolVersion: object('UnsupportedProtocolVersionData', { supportedVersions: array(string) }),
  AuthRequired: object('AuthRequiredData', { resources: array(ProtectedResourceMetadata) }),
  PermissionDenied: object('PermissionDeniedData', { request: optional(resourceRequest) }),
} satisfies { readonly [N in ErrorName]?: Schema<unknown> }
