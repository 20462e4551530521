import { listChangesOf } from '../../catalog/session-list/list-changes.ts'
import { catalogOf } from '../../catalog/catalog.ts'
import { NoParams, checkWritable, command, part } from '../../kernel/part.ts'
import type { SearchIndex } from '../../ports/search-index.ts'
import { SearchParams } from './extensions.ts'
import { openSearch, searchOf } from './search.ts'
import type { Search } from './search.ts'

interface Ports {
  /** Absent: the texts of the sessions are not searched. A read-only host only reads the index. */
  readonly search?: SearchIndex | undefined
  readonly readOnly?: string | undefined
}

/** The search in the texts of all sessions. */
export const search = part<Search | undefined, Ports>({
  name: 'search',
  key: searchOf,
  open: (core, { search: index, readOnly }) =>
    index &&
    openSearch(
      index,
      {
        ...core,
        store: core.store.log,
        catalog: catalogOf(core),
        listChanges: listChangesOf(core),
        earlierEpochs: core.about.earlierEpochs,
      },
      readOnly !== undefined,
    ),
  commands: {
    'x-atrium/search': command('watch', SearchParams, (self, params) => self.find(params)),
    'x-atrium/rebuildSearch': command('own', NoParams, (self, _, __, core) => {
      checkWritable(core)
      return self.rebuild().then(() => ({}))
    }),
  },
  appended: (self, channel, action, core) => {
    const session = action.type === 'chat/truncated' ? catalogOf(core).sessionOf(channel.uri) : undefined
    if (session !== undefined) self.truncating(session)
  },
  committed: (self, channel, action) => self.committed(channel, action),
  disposed: (self, session) => self.disposed(session.uri),
  // The present slice of indexing reads the store. The next start indexes the rest.
  close: (self, inTime) => inTime(self.close()),
})
