import { chain } from './chain.ts'
import type { Lens } from './lens.ts'
import { nativeVersion } from './negotiate.ts'
import type { Version } from './negotiate.ts'
import { v01 } from './steps/v0-1.ts'
import { v02 } from './steps/v0-2.ts'
import { v03 } from './steps/v0-3.ts'
import { v04 } from './steps/v0-4.ts'
import { v050 } from './steps/v0-5-0.ts'
import { v051 } from './steps/v0-5-1.ts'
import { v052 } from './steps/v0-5-2.ts'
import { v06 } from './steps/v0-6.ts'
import { v07 } from './steps/v0-7.ts'
import { v08 } from './steps/v0-8.ts'
import { v09 } from './steps/v0-9.ts'

/** The lenses between neighbouring versions, newest first. */
export const steps: readonly [Lens, ...Lens[]] = [v09, v08, v07, v06, v052, v051, v050, v04, v03, v02, v01]

/** The lens from the native version to each version, oldest first. The native version needs none. */
export const lenses: ReadonlyMap<Version, Lens | undefined> = new Map<Version, Lens | undefined>([
  ...steps.map((step, at) => [step.version, chain([v09, ...steps.slice(1, at + 1)])] as const).toReversed(),
  [nativeVersion, undefined],
])
