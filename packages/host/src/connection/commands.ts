import type { Uri } from '@atrium/protocol/channel'
import type { Method, Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import type { JsonResult } from '@atrium/protocol/rpc/peer'
import type { Channel } from '../log/channel.ts'
import type { Core, Link } from '../core/core.ts'
import { resolveSessionConfig, sessionConfigCompletions } from '../agents/agents.ts'
import { authenticate } from '../auth/auth.ts'
import { createChat, disposeChat } from '../chat/chat.ts'
import { completions } from '../completions/completions.ts'
import { fetchTurns } from '../channels/history.ts'
import { moveChat } from '../session/move-chat.ts'
import {
  resourceCopy,
  resourceDelete,
  resourceList,
  resourceMkdir,
  resourceMove,
  resourceRead,
  resourceRequest,
  resourceResolve,
  resourceWrite,
} from '../resources/resources.ts'
import { createSession, disposeSession } from '../session/session.ts'
import { needsRows } from '../channels/snapshot.ts'
import type { View } from '../channels/snapshot.ts'
import { createTerminal, disposeTerminal } from '../terminal/terminal.ts'
import { wake } from '../channels/wake.ts'
import { createResourceWatch } from '../resources/watch.ts'

/** A link that can follow channels. */
export interface Subscriber extends Link {
  /** Throws where it follows as many as it may. */
  checkRoom(uri: Uri): void
  /** Under the name that its client uses. */
  subscribe(channel: Channel, name: Uri, view?: View, latency?: number): string
  answer(text: string): JsonResult
}

/** `name`: the channel's, as the client wrote it. */
type Run<M extends Method> = (core: Core, link: Subscriber, params: Params<M>, name: Uri) => unknown

/** What an open link may ask. What is not here is an unknown method. */
const table: { readonly [M in Method]?: Run<M> } = {
  subscribe: (core, link, { channel: uri, view, delivery }, name) => {
    link.checkRoom(uri)
    const answer = (channel: Channel | undefined) => {
      if (!channel) throw AhpError.notFound(`no channel ${JSON.stringify(name.slice(0, 200))}`)
      return link.answer(`{"snapshot":${link.subscribe(channel, name, view, delivery?.maxLatencyMs)}}`)
    }
    const awake = core.log.channel(uri)
    if (awake?.committed !== undefined && !needsRows(core, awake, view)) return answer(awake)
    return wake(core, uri, view ?? {}).then(answer)
  },
  authenticate: (core, link, params) => later(core, authenticate(core, link, params), {}),
  listSessions: (core, _, { limit, cursor }) => core.catalog.page(limit, cursor),
  createSession: async (core, link, params) => later(core, await createSession(core, link, params)),
  disposeSession: async (core, _, params) => later(core, await disposeSession(core, params)),
  resolveSessionConfig: (core, _, params) => resolveSessionConfig(core, params),
  sessionConfigCompletions: (core, _, params) => sessionConfigCompletions(core, params),
  createChat: async (core, _, params) => later(core, await createChat(core, params)),
  disposeChat: async (core, _, params) => later(core, await disposeChat(core, params)),
  moveChat: async (core, link, params) => {
    const moving = moveChat(core, link, params)
    const told = async () => {
      const { seq, session } = await moving
      await core.log.reached(seq)
      return { session }
    }
    // An agent may take its time to make a session; what the client says meanwhile need not wait for that.
    if (params.destination.kind !== 'newSession') await moving
    return new Later(told())
  },
  createTerminal: async (core, link, params) => later(core, await createTerminal(core, link, params)),
  disposeTerminal: async (core, _, params) => later(core, await disposeTerminal(core, params)),
  resourceRead: (core, link, params) => looks(link, resourceRead(core, link, params)),
  resourceList: (core, link, params) => looks(link, resourceList(core, link, params)),
  resourceResolve: (core, link, params) => looks(link, resourceResolve(core, link, params)),
  resourceWrite: (core, link, params) => changes(link, () => resourceWrite(core, link, params)),
  resourceMkdir: (core, link, params) => changes(link, () => resourceMkdir(core, link, params)),
  resourceDelete: (core, link, params) => changes(link, () => resourceDelete(core, link, params)),
  resourceCopy: (core, link, params) => changes(link, () => resourceCopy(core, params)),
  resourceMove: (core, link, params) => changes(link, () => resourceMove(core, params)),
  resourceRequest: (core, _, params) => resourceRequest(core, params),
  createResourceWatch: (core, _, params) => createResourceWatch(core, params),
  completions: async (core, _, params, name) => {
    const chat = await chatNamed(core, params.channel, name)
    // Nobody behind it waits for it: it changes nothing, and people type meanwhile.
    return new Later(completions(core, chat, params))
  },
  fetchTurns: async (core, link, { channel: uri, cursor }, name) => {
    const chat = await chatNamed(core, uri, name)
    return later(core, { seq: await fetchTurns(core, link, chat, cursor) }, {})
  },
}

async function chatNamed(core: Core, uri: Uri, name: Uri): Promise<Channel<'chat'>> {
  const chat = await wake(core, uri)
  if (!chat?.is('chat')) throw AhpError.notFound(`no chat ${JSON.stringify(name.slice(0, 200))}`)
  return chat
}

type AnyRun = (core: Core, link: Subscriber, params: unknown, name: Uri) => unknown

export const hostCommands: ReadonlyMap<string, AnyRun> = new Map(Object.entries(table) as [string, AnyRun][])

/** A command that is done, so that the next may run; its answer comes when everyone has been told, or it is known. */
class Later {
  readonly told: Promise<object | null>

  constructor(told: Promise<object | null>) {
    this.told = told
  }
}

function later(core: Core, { seq }: { readonly seq: number }, result: object | null = null): Later {
  return new Later(core.log.reached(seq).then(() => result))
}

/** Many may look at once, and those behind them need not wait: a client that opens a folder asks for a hundred files. */
function looks(link: Subscriber, looking: Promise<object>): Later {
  const others = looksOf.get(link) ?? new Set()
  looksOf.set(link, others.add(looking))
  void looking.finally(() => others.delete(looking)).catch(() => {})
  return new Later(looking)
}

/** Who changes something comes after all that was asked before, and before all that is asked later. */
async function changes(link: Subscriber, change: () => Promise<object>): Promise<object> {
  const before: readonly Promise<object>[] = [...(looksOf.get(link) ?? [])]
  await Promise.allSettled(before)
  return change()
}

const looksOf = new WeakMap<Subscriber, Set<Promise<object>>>()

/** What a command's answer is, once it may be given. */
export function answered(outcome: unknown): unknown {
  return outcome instanceof Later ? outcome.told : outcome
}
