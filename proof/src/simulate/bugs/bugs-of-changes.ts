import { firstOfChanges } from '../plan.ts'
import { bug, bugIn } from './bug.ts'
import type { Bug } from './bug.ts'

/** Bugs in captures, changesets, undo, annotations and marks, and in answers about the past. */
export const changeBugs: readonly Bug[] = [
  bug(
    'an undo sets back a file that was changed after its turn',
    'parts/changes/undo/undo-decision',
    'if (!isSame(now, left))',
    'if (false)',
  ),
  bug(
    'an undo takes what others changed during its turn',
    'parts/changes/undo/undo-decision',
    'if (shared === true || pathsOf(change).some((path) => shared?.includes(path)))',
    'if (false)',
  ),
  bug(
    'an undo takes what a person wrote while a command ran',
    'parts/changes/undo/undo-decision',
    'turn && uncertainty(turn, change) !== undefined',
    'false',
  ),
  bug(
    'the copies of an undo leave out where a renamed file was before',
    'parts/changes/undo/copies',
    'edits.filter(({ expected }) => expected !== undefined)',
    'edits.filter(({ expected, wanted }) => expected !== undefined && wanted === undefined)',
  ),
  bug(
    'what a terminal changes before the end capture counts for the turn',
    'parts/changes/running/running-turns',
    'this.#ending.set(turn, chat);',
    '',
  ),
  bug(
    'an undo records no safety capture',
    'parts/changes/undo/turn-undo',
    'return { ...folder, safety: plan.safety, undone: union(folder.undone ?? [], paths) };',
    'return { ...folder, undone: union(folder.undone ?? [], paths) };',
  ),
  bug(
    'what a terminal changes during a call counts for the call',
    'parts/changes/running/running-turns',
    'turn.disturbed();',
    '{}',
  ),
  bug(
    'what changed while the host was down counts for the turn before',
    'parts/changes/turn-captures',
    'const period = { calls: [], others: true, changes: taken.changes };',
    'const period = { calls: [{ writes: { has: () => true } }], others: false, changes: taken.changes };',
  ),
  bug(
    'an agent begins before its start capture is durable',
    'parts/changes/turn-captures',
    'if (isFirst || !turn.isAsExpected)',
    'if (false)',
  ),
  bug(
    'an end capture that a crash has prevented is never taken',
    'parts/changes/turn-captures',
    'of this.#records.owed)',
    'of [])',
  ),
  bug(
    'an end capture after a crash is not marked as late',
    'parts/changes/turn-captures',
    'late: true',
    'late: undefined',
  ),
  bug(
    'a turn that ended before its agent began loses its end capture',
    'parts/changes/turn-captures',
    'if (chat.head.activeTurn?.id !== turnId)',
    'if (false)',
  ),
  bug(
    'the end capture of a turn that ended before its agent began counts as late',
    'parts/changes/turn-captures',
    'if (!record || record.order !== undefined)',
    'if (!record)',
  ),
  bug(
    'a change during a call whose author is not known counts as the turn’s own',
    'parts/changes/attribution',
    'if (unknown.length === 0)',
    'if (unknown.length > 0) return before; if (true)',
  ),
  bug(
    'the marks of another host are not read',
    'parts/changes/captured-turn',
    'return others || this.#others || isBesideHost;',
    'return others || this.#others;',
  ),
  bug(
    'a turn is not noted for other hosts',
    'parts/changes/running/running-turns',
    'this.#otherHosts?.note(directory, count);',
    '',
  ),
  bug('a fork has no captures', 'parts/changes/turn-captures', 'this.#records.publishCopy(chat.uri);', ''),
  bug(
    'a truncation leaves the captures of its turns',
    'parts/changes/turn-captures',
    'this.#sweepLater(uri);',
    '',
  ),
  bug(
    'the changeset of a turn shows later changes, too',
    'parts/changes/undo/undo',
    'const changes = await captures.compare(start, end);',
    'const changes = await captures.compare(start, safety);',
  ),
  bug(
    'the mark of a hunk is not stored',
    'parts/changes/review/reviews',
    'this.#records.putReviews(owner, id, { ...record, [name]: next });',
    '',
  ),
  bugIn('protocol', 'an annotation is acknowledged before it is stored', 'annotations/actions', [
    'client({ annotation: Annotation })',
    "client({ annotation: Annotation }, 'relaxed')",
  ]),
  bug(
    'a past state lacks the action with its number',
    'parts/history/reading',
    'state: kind.reduce(found.state, action) };',
    'state: at === seq ? found.state : kind.reduce(found.state, action) };',
  ),
].map((each) => ({ ...each, from: firstOfChanges }))
