import { bug, bugIn, patch } from './bug.ts'
import type { Bug } from './bug.ts'

/**
 * Bugs in the compression of old envelopes (sealing), planted in the store in memory, and in forgetting old actions.
 */
export const segmentBugs: readonly Bug[] = [
  bugIn('adapters', 'a sealed slice deletes one row too many', 'store/memory-disk', [
    'envelopes.splice(0, slice.length);',
    'envelopes.splice(0, slice.length + 1);',
  ]),
  bugIn('adapters', 'a segment lacks its last envelope', 'store/memory-disk', [
    'text: JSON.stringify(slice)',
    'text: JSON.stringify(slice.slice(0, -1))',
  ]),
  bugIn('adapters', 'a client’s sealed actions are not found when it sends them again', 'store/memory-disk', [
    'segments.filter(({ clients }) => clients.has(clientId))',
    'segments.filter(() => false)',
  ]),
  bugIn('adapters', 'a replay leaves out the segment that it begins in', 'store/memory-disk', [
    'segments.filter(({ last }) => last > after)',
    'segments.filter(({ last, text }) => last > after && JSON.parse(text)[0].seq > after)',
  ]),
  bug('a replay leaves out forgotten actions', 'connection/replay', 'if (slice.forgotten)', 'if (false)'),
  bug(
    'a checkpoint is one action behind its number',
    'parts/retention/retention',
    'state = kind.reduce(state, storedAction(action));',
    'const before = state; state = kind.reduce(state, storedAction(action));',
    'resting = { seq, state };',
    'resting = { seq, state: before };',
  ),
  {
    name: 'the work of two days overlaps, and a checkpoint has turns twice',
    patches: [
      patch(
        'host/dist/parts/retention/tidy.js',
        '.finally(() => tidyDaily(core, dayMs));',
        '; tidyDaily(core, dayMs);',
      ),
      patch('host/dist/parts/retention/retention.js', 'if (seq <= creation.seq)', 'if (false)'),
    ],
  },
]
