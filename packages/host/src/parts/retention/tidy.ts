import { changesOf } from '../../catalog/change-tracking.ts'
import type { Core } from '../../kernel/core.ts'
import { shortenGone } from '../../channels/gone.ts'
import { forgetOld } from './retention.ts'

/** The time between the host's start and the first deletion, in milliseconds. Clients reconnect in this time. */
const startMs = 30_000
const dayMs = 24 * 60 * 60_000

/**
 * Deletes records and actions that have expired: 30 s after the host's start, and then a day after each time that this
 * has ended. On a slow disk it may take longer than a day.
 */
export function tidyDaily(core: Core, afterMs = startMs): void {
  core.world.later(afterMs, () => {
    if (core.jobs.stopping) return
    tidy(core)
      .catch((error: unknown) => core.world.report('tidying the records failed', error))
      .finally(() => tidyDaily(core, dayMs))
  })
}

/** Forgets old actions and clients that were away for too long, and shortens the records of used URIs that earlier builds have written. */
async function tidy(core: Core): Promise<void> {
  if (core.readOnlyReason() !== undefined) return
  await core.clients.sweep(core.store.log, core.limits.clientMs)
  if ((await shortenGone(core)) > 0) core.log.scheduleFlush()
  await forgetOld(core)
  await changesOf(core)?.collect()
}
