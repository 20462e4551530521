import { boolean, decode, id, object, optional, string } from '@atrium/protocol/schema'
import type { Infer, Schema } from '@atrium/protocol/schema'
import { Implementation } from '@atrium/protocol/root/connection'
import { without } from '@atrium/protocol/update'
import { Permission } from './tool-permissions.ts'

type Meta = { readonly [key: string]: unknown }

/**
 * The key in the `_meta` of a tool call under which the host stores its data. Agents store other members in the
 * object under this key.
 */
const key = 'x-atrium'

/** Which record of a tool call: who decided about the call, or who decided about its result. */
export type Decided = 'decidedBy' | 'resultDecidedBy'
const members = new Set<string>(['decidedBy', 'resultDecidedBy'] satisfies Decided[])

const clientDecision = {
  approved: boolean,
  /** The identity behind the token of the client. */
  principal: string,
  clientId: id,
  /** What the client calls itself. Absent if the client gave no name. */
  client: optional(Implementation),
  /**
   * The name of the device that the client's token was issued to. Absent if the client uses the token of the host,
   * which belongs to no device.
   */
  device: optional(string),
  /** The time by the clock of the host, ISO 8601. Earlier builds did not record it. */
  at: optional(string),
}
/** A decision that a client made. */
export interface ClientDecision extends Infer<typeof clientDecision> {}

const permissionDecision = { permission: Permission }
/** A decision that no client made: a permission allowed the call. */
export interface PermissionDecision extends Infer<typeof permissionDecision> {}

/** Who decided about a tool call. The host writes this; clients and agents cannot (X8). */
export type Decision = ClientDecision | PermissionDecision

const byClient: Schema<ClientDecision> = object<ClientDecision>('ClientDecision', clientDecision)
const byPermission: Schema<PermissionDecision> = object<PermissionDecision>(
  'PermissionDecision',
  permissionDecision,
)

/**
 * Returns who decided, as recorded in the `_meta` of a tool call or of the action with the decision. Undefined if nobody has
 * decided, or if the host did not record it. Clients also call this for states of other hosts, so the value is checked.
 */
export function decisionOf(holder: object, member: Decided): Decision | undefined {
  const value = dataIn('_meta' in holder ? holder._meta : undefined)[member]
  for (const shape of [byClient, byPermission]) {
    const decoded = decode<Decision>(shape, value)
    if (decoded.ok) return decoded.value
  }
  return undefined
}

/** Returns metadata in which `member` of the host's data is the decision `by`. */
export function withDecision(meta: Meta, member: Decided, by: Decision): Meta {
  return { ...meta, [key]: { ...dataIn(meta), [member]: by } }
}

/**
 * Returns the metadata that an agent sent for a call, with the decisions that `before`, the stored metadata of the
 * call, contains. An agent can neither make up a decision nor remove one.
 */
export function withDecisionsOf(meta: Meta, before: Meta | undefined): Meta {
  const kept = filtered(dataIn(before), isMember)
  const own = withoutDecisions(meta)
  return Object.keys(kept).length === 0 ? own : { ...own, [key]: { ...dataIn(own), ...kept } }
}

/** Removes the decisions from metadata, for a call that asks for approval again. */
export function withoutDecisions(meta: Meta): Meta {
  const data = dataIn(meta)
  if (!Object.keys(data).some(isMember)) return meta
  const rest = filtered(data, (name) => !isMember(name))
  return Object.keys(rest).length === 0 ? without(meta, key) : { ...meta, [key]: rest }
}

function isMember(name: string): boolean {
  return members.has(name)
}

function filtered(data: Meta, wanted: (name: string) => boolean): Meta {
  return Object.fromEntries(Object.entries(data).filter(([name]) => wanted(name)))
}

function dataIn(meta: unknown): Meta {
  const data = isObject(meta) ? meta[key] : undefined
  return isObject(data) ? data : {}
}

function isObject(value: unknown): value is Meta {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
