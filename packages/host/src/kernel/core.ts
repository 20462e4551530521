import type { Uri } from '@atrium/protocol/channel'
import type { LimitValues } from '@atrium/protocol/limits'
import type { Implementation } from '@atrium/protocol/root/connection'
import type { Epoch } from './log/epochs.ts'
import type { Log } from './log/log.ts'
import type { StepRecords } from './log/step-records.ts'
import type { Store } from '../ports/store.ts'
import type { World } from '../ports/world.ts'
import type { Sealing } from './sealing/sealing.ts'
import type { Clients } from './clients.ts'
import type { Jobs } from './jobs.ts'
import type { Metrics } from './metrics.ts'
import type { OpenParts } from './open-parts.ts'

/** What every part of a host may use. It names no part. */
export interface Core {
  readonly store: Store
  /** A record becomes durable in the same transaction as the actions that are appended with it. */
  readonly records: StepRecords
  readonly world: World
  readonly limits: LimitValues
  readonly log: Log
  /** What the parts of the host offer, their commands, and the moments that they follow. */
  readonly parts: OpenParts<Core>
  readonly clients: Clients
  readonly jobs: Jobs
  readonly sealing: Sealing
  readonly metrics: Metrics
  readonly about: About
  /**
   * Returns why the host is read-only at the moment, if it is. With a client id: why no action of this client can be accepted.
   * On a full disk, an action may wait for space behind earlier ones of its client.
   */
  readonly readOnlyReason: (clientId?: string) => string | undefined
}

/** What a host says about itself. */
interface About {
  readonly info: Implementation
  /** The name of this build, which is shown to users. */
  readonly build: string | undefined
  /** The folder of sessions and terminals that name none. */
  readonly defaultDirectory: Uri | undefined
  /** The earlier runs of the host on this store. */
  readonly earlierEpochs: readonly Epoch[]
}
