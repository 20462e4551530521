import { array, boolean, id, object, oneOf, optional, string } from '../schema.ts'
import type { Infer } from '../schema.ts'

const globs = { items: array(string) }
export interface GlobCollection extends Infer<typeof globs> {}
export const GlobCollection = object<GlobCollection>('GlobCollection', globs)

const resourceChange = { uri: id, type: oneOf('ResourceChangeType', ['added', 'updated', 'deleted']) }
export interface ResourceChange extends Infer<typeof resourceChange> {}
export const ResourceChange = object<ResourceChange>('ResourceChange', resourceChange)

const resourceChanges = { items: array(ResourceChange) }
export interface ResourceChanges extends Infer<typeof resourceChanges> {}
export const ResourceChanges = object<ResourceChanges>('ResourceChangeCollection', resourceChanges)

const resourceWatchState = {
  root: id,
  recursive: boolean,
  excludes: optional(GlobCollection),
  includes: optional(GlobCollection),
}
/** The settings of a watch, which never change. Changes on disk are delivered as actions and not kept in the state. */
export interface ResourceWatchState extends Infer<typeof resourceWatchState> {}
export const ResourceWatchState = object<ResourceWatchState>('ResourceWatchState', resourceWatchState)
