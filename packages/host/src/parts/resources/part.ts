import { DeferredResponse } from '../../kernel/deferred-response.ts'
import type { Link } from '../../kernel/link.ts'
import { part } from '../../kernel/part.ts'
import { recordClientUris } from './client-files.ts'
import { ClientUriOwners, clientUriOwnersOf } from './client-uri-owners.ts'
import { ReadBudget, readBudgetOf } from './read-budget.ts'
import { answerList, answerRead } from './read.ts'
import {
  resourceCopy,
  resourceDelete,
  resourceMkdir,
  resourceMove,
  resourceRequest,
  resourceResolve,
  resourceWrite,
} from './resources.ts'
import { createResourceWatch } from './watch.ts'

/** Files for clients. */
export const resources = part({
  name: 'resources',
  rules: {
    accepting: [recordClientUris],
    methods: {
      resourceRead: (core, link, params) => reads(link, answerRead(core, link, params)),
      resourceList: (core, link, params) => reads(link, answerList(core, link, params)),
      resourceResolve: (core, link, params) => reads(link, resourceResolve(core, link, params)),
      resourceWrite: (core, link, params) => writes(link, () => resourceWrite(core, link, params)),
      resourceMkdir: (core, link, params) => writes(link, () => resourceMkdir(core, link, params)),
      resourceDelete: (core, link, params) => writes(link, () => resourceDelete(core, link, params)),
      resourceCopy: (core, link, params) => writes(link, () => resourceCopy(core, params)),
      resourceMove: (core, link, params) => writes(link, () => resourceMove(core, params)),
      resourceRequest: (core, _, params) => resourceRequest(core, params),
      createResourceWatch: (core, _, params) => createResourceWatch(core, params),
    },
  },
})

/** Which client can read a resource that is on a client's side. */
export const clientUriOwners = part<ClientUriOwners>({
  name: 'client URI owners',
  key: clientUriOwnersOf,
  open: ({ limits }) => new ClientUriOwners(limits.borrowed),
})

/** The bytes of files that are read and sent at the same time. */
export const readBudget = part<ReadBudget>({
  name: 'read budget',
  key: readBudgetOf,
  open: ({ world, limits }) => new ReadBudget(world, limits),
  linkEnded: (self, link) => self.leave(link),
})

/** Runs a read of files concurrently with other reads, because a client that opens a folder requests a hundred files at once. */
function reads(link: Link, reading: Promise<object>): DeferredResponse {
  const others = readsOf.get(link) ?? new Set()
  readsOf.set(link, others.add(reading))
  void reading.finally(() => others.delete(reading)).catch(() => {})
  return new DeferredResponse(reading)
}

/** Runs a write of files after all earlier reads of the same client. The client's later requests wait for the write. */
async function writes(link: Link, write: () => Promise<object>): Promise<object> {
  const before: readonly Promise<object>[] = [...(readsOf.get(link) ?? [])]
  await Promise.allSettled(before)
  return write()
}

const readsOf = new WeakMap<Link, Set<Promise<object>>>()
