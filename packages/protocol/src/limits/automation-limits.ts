import { KiB, row } from './limit.ts'
import type { Limit } from './limit.ts'

/** The rows of the table of limits (`limits.ts`) about automations. */
export const automationLimits = {
  automations: row(10_000, 'automations', 'H40', 'a further one is refused'),
  automationLength: row(32 * KiB, 'characters of the definition of an automation', 'H40', 'refused'),
  automationMinutes: row(
    1,
    'minutes between due instants',
    'H41',
    'a schedule that is due more often is refused',
  ),
  automationActive: row(10, 'runs of an automation that wait or run', 'H44', 'a further instant is missed'),
  automationRuns: row(32, 'runs at work, of all automations', 'H44', 'further runs wait'),
  automationWaitMs: row(10 * 60_000, 'ms', 'H43', 'a run whose agent or model is missing fails'),
  automationRunMs: row(24 * 3_600_000, 'ms', 'H43', 'a run fails, unless its automation allows another time'),
  automationHistory: row(50, 'ended runs of an automation', 'H46', 'the oldest run is deleted'),
  automationMisses: row(
    1000,
    'notes of missed instants, of an automation',
    'H42',
    'the oldest note is deleted',
  ),
  automationEvents: row(20, 'runs of an automation by events in an hour', 'H45', 'further events are missed'),
} satisfies { readonly [name: string]: Limit }
