import { bug } from '../simulate/bugs/bug.ts'
import type { Bug } from '../simulate/bugs/bug.ts'

/** Bugs by which schedulers lose or repeat runs. */
export const lawBugs: readonly Bug[] = [
  bug(
    'the cursor is stored before the run',
    'parts/automations/due-clock',
    'this.#record(entry, triggerId, moved, evaluation);',
    'this.#core.log.scheduleFlush(); this.#core.world.later(0, () => this.#record(entry, triggerId, moved, evaluation));',
  ),
  bug(
    'a timer is trusted',
    'parts/automations/due-clock',
    'Math.min(this.#catalogue.firstDue - now, wakeMs)',
    'Math.min(this.#catalogue.firstDue - now, 1e9)',
  ),
  bug(
    'a late instant is claimed twice',
    'parts/automations/due-or-missed',
    'cursor: last,',
    'cursor: runs && isLate(last) ? last - 1 : last,',
  ),
  bug(
    'the cursor goes back with the clock',
    'parts/automations/due-clock',
    'evaluate(schedule, cursor.upTo, {',
    'evaluate(schedule, Math.min(cursor.upTo, now), {',
  ),
]
