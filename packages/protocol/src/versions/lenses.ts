import { chain } from './chain.ts'
import type { Lens } from './lens.ts'
import type { Version } from './negotiate.ts'
import { v06 } from './steps/v0-6.ts'
import { v07 } from './steps/v0-7.ts'
import { v08 } from './steps/v0-8.ts'
import { v09 } from './steps/v0-9.ts'

/** The lenses between neighbouring versions, newest first. */
const steps: readonly Lens[] = [v09, v08, v07, v06]

/** The lens from the native version to each older version that can be negotiated. The native version needs none. */
export const lenses: ReadonlyMap<Version, Lens | undefined> = new Map<Version, Lens | undefined>([
  ['1.0.0', undefined],
  ...steps.map((step, at) => [step.version, chain([v09, ...steps.slice(1, at + 1)])] as const),
])
