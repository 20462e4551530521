import type { JsonObject } from '@atrium/protocol/json'
import { decode, object, oneOf, optional, positive } from '@atrium/protocol/schema'
import type { Infer } from '@atrium/protocol/schema'

const ownSettings = {
  /** What a due instant does while another run of the automation is active. */
  overlap: optional(oneOf('AtriumAutomationOverlap', ['skip', 'queue', 'parallel'])),
  /** The minutes after which a run fails. */
  timeLimitMinutes: optional(positive),
}
/** The settings of an automation that AHP does not have, in `_meta['x-atrium']` of its definition. */
export interface OwnSettings extends Infer<typeof ownSettings> {}
const OwnSettings = object<OwnSettings>('AtriumAutomationSettings', ownSettings)

/** Returns the own settings of a definition, or what is wrong with them. */
export function ownSettingsOf({ _meta }: { readonly _meta?: JsonObject | undefined }): OwnSettings | string {
  const given = _meta?.['x-atrium']
  if (given === undefined) return {}
  const read = decode(OwnSettings, given)
  return read.ok ? read.value : read.problem
}

/** The own settings of an accepted definition. */
export function settingsOf(definition: { readonly _meta?: JsonObject | undefined }): OwnSettings {
  const own = ownSettingsOf(definition)
  return typeof own === 'string' ? {} : own
}
