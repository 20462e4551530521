import type { ConfigPropertySchema } from '@atrium/protocol/common/config'

/** The setting of the root config that says for how many days actions are kept. */
export const retentionKey = 'atrium.retention'
export const mostDays = 365

export const retentionProperty: ConfigPropertySchema = {
  type: 'number',
  title: 'Retention',
  description: `The number of days after which the actions behind a state are forgotten, 1 to ${mostDays}. The states, with all turns, stay. Without a number nothing is forgotten.`,
}

export function retentionProblem(value: unknown): string | undefined {
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= mostDays
  return value === null || fits
    ? undefined
    : `${retentionKey} must be a whole number of days, 1 to ${mostDays}, or null`
}
