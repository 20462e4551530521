import { Aliases, aliasesOf } from './aliases.ts'
import { generationOf } from '../kernel/generation.ts'
import { part } from '../kernel/part.ts'
import type { Part } from '../kernel/part.ts'
import { Catalog, catalogOf } from './catalog.ts'
import { ContentRetention, contentRetentionOf } from './content-retention.ts'
import { Machines, machinesOf } from './machines.ts'
import type { Machine } from './machines.ts'
import { Owners, ownersOf } from './owners.ts'
import { SessionFeed, sessionFeedOf } from './session-feed.ts'
import { ListChanges, listChangesOf } from './session-list/list-changes.ts'
import { SessionResources, sessionResourcesOf } from './session-resources.ts'

interface Ports {
  /** The machine of this node. Absent: the host shares its store with nobody. */
  readonly machine?: Machine | undefined
}

/** What is known of the sessions without their channels: the list, names, owners, and what belongs to each. */
export const sessionParts: readonly Part<Ports>[] = [
  part<ListChanges>({
    name: 'list changes',
    key: listChangesOf,
    open: ({ records, limits }) => ListChanges.open(records, limits.removals),
  }),
  part<Catalog>({
    name: 'catalog',
    key: catalogOf,
    open: (core) =>
      Catalog.open(core.records, listChangesOf(core), { store: core.store.log, first: core.log.first }),
  }),
  part<Aliases>({
    name: 'aliases',
    key: aliasesOf,
    async open(core) {
      const aliases = await Aliases.open(core.records, catalogOf(core))
      for (const [session, { alias }] of listChangesOf(core).removals)
        if (alias !== undefined) aliases.rememberDisposed(session, alias)
      return aliases
    },
  }),
  part<Machines, Ports>({
    name: 'machines',
    key: machinesOf,
    open: (core, { machine }) => Machines.open(core.records, catalogOf(core), machine),
  }),
  part<SessionFeed>({
    name: 'session feed',
    key: sessionFeedOf,
    open: (core) => new SessionFeed(core.log, core.world, catalogOf(core), listChangesOf(core)),
    linkOpened: (self, link, { clients }) => {
      const version = clients.versionOf(link.clientId)
      if (version !== undefined && generationOf(version).nested) self.followers.add(link)
    },
    clientReturned: (self, link, seq) => self.catchUp(link, seq),
    linkEnded: (self, link) => void self.followers.delete(link),
  }),
  part<SessionResources>({
    name: 'session resources',
    key: sessionResourcesOf,
    open: ({ records }) => SessionResources.open(records),
  }),
  part<ContentRetention>({
    name: 'content retention',
    key: contentRetentionOf,
    open: ({ records }) => ContentRetention.open(records),
  }),
  part<Owners>({ name: 'owners', key: ownersOf, open: ({ records }) => Owners.open(records) }),
]
