import { bug } from './bug.ts'
import type { Bug } from './bug.ts'

/** Bugs in the feeding of the search index. */
export const searchBugs: readonly Bug[] = [
  bug(
    'the index does not learn after a crash which sessions have changed',
    'parts/search/indexing',
    'versions.get(session) !== listChanges.versionOf(session)',
    '!versions.has(session)',
  ),
  bug('truncated turns stay in the index', 'parts/search/session-changes', 'wanted.cut ?', 'false ?'),
  bug('a disposed session stays in the index', 'parts/session/session', 'core.parts.disposed(session);', ''),
  bug(
    'a chat that comes from elsewhere is indexed without its turns',
    'parts/search/indexing',
    'pending.wholeChat(added);',
    '{}',
  ),
]
