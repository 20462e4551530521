import { ErrorInfo, FileEdit, StringOrMarkdown, meta, presence } from '../common/content.ts'
import { array, boolean, id, object, openEnum, optional, string } from '../schema.ts'
import type { Infer } from '../schema.ts'

const changesetCapabilities = { review: optional(presence) }
export interface ChangesetCapabilities extends Infer<typeof changesetCapabilities> {}
export const ChangesetCapabilities = object<ChangesetCapabilities>(
  'ChangesetCapabilities',
  changesetCapabilities,
)

const changeset = {
  label: string,
  uriTemplate: id,
  description: optional(string),
  changeKind: openEnum('ChangeKind', ['session', 'branch', 'uncommitted', 'turn', 'compare-turns']),
  capabilities: optional(ChangesetCapabilities),
}
/** One entry in a list of changesets. Its expanded `uriTemplate` is the URI of the changeset channel. */
export interface Changeset extends Infer<typeof changeset> {}
export const Changeset = object<Changeset>('Changeset', changeset)

const changesetFile = { id, edit: FileEdit, reviewed: optional(boolean), ...meta }
export interface ChangesetFile extends Infer<typeof changesetFile> {}
export const ChangesetFile = object<ChangesetFile>('ChangesetFile', changesetFile)

export const ChangesetOperationStatus = openEnum('ChangesetOperationStatus', [
  'idle',
  'running',
  'error',
  'disabled',
])

const changesetOperation = {
  id,
  label: string,
  description: optional(string),
  scopes: array(openEnum('ChangesetOperationScope', ['changeset', 'resource', 'range'])),
  confirmation: optional(StringOrMarkdown),
  icon: optional(string),
  group: optional(string),
  status: ChangesetOperationStatus,
  error: optional(ErrorInfo),
}
export interface ChangesetOperation extends Infer<typeof changesetOperation> {}
export const ChangesetOperation = object<ChangesetOperation>('ChangesetOperation', changesetOperation)

export const ChangesetStatus = openEnum('ChangesetStatus', ['computing', 'recomputing', 'ready', 'error'])

const changesetState = {
  status: ChangesetStatus,
  error: optional(ErrorInfo),
  files: array(ChangesetFile),
  operations: optional(array(ChangesetOperation)),
}
export interface ChangesetState extends Infer<typeof changesetState> {}
export const ChangesetState = object<ChangesetState>('ChangesetState', changesetState)
