import type { Version } from '@atrium/protocol/versions/negotiate'
import { Chance } from '../chance.ts'

/**
 * Everything that can happen in a run. An op that makes no sense at its time does nothing, so any part of a plan is
 * again a valid plan.
 */
const opNames = [
  'deliver',
  'disk',
  'tick',
  'open',
  'cut',
  'halfOpen',
  'dispatch',
  'subscribe',
  'unsubscribe',
  'create',
  'dispose',
  'chat',
  'list',
  'fetch',
  'agent',
  'terminal',
  'crash',
  'backup',
  'restore',
  'stop',
  'full',
  'break',
  'seal',
  'retention',
  'change',
  'secondHost',
] as const
export type OpName = (typeof opNames)[number]

export interface Op {
  readonly name: OpName
  /** Seed of all random choices of this op. */
  readonly dice: number
}

/**
 * The focus of a plan. `links`: few actions in chats. `turns`: many actions in chats. `windows`: chats have many
 * turns, and clients hold only the newest ones and truncate chats. `lifecycle`: sessions, chats and workers (chats
 * that agents start) are created and disposed. `idle`: no client is subscribed, and the host unloads channels.
 * `moves`: chats are forked, and move between sessions. `decisions`: agents ask, users and clients answer. `changes`: agents and
 * people change files, and clients undo and redo turns, mark hunks and write comments.
 */
export type Theme = 'links' | 'turns' | 'windows' | 'lifecycle' | 'idle' | 'moves' | 'decisions' | 'changes'

/** Plans with this seed, or a higher one, have the theme `changes`. No other plan has it. */
export const firstOfChanges = 1_000_001

export interface Plan {
  readonly seed: number
  readonly clients: number
  /** The host stores the state of a channel (its head) after this many actions. */
  readonly headEvery: number
  /** Number of turns that a chat has in memory when the host has loaded it. */
  readonly tail: number
  /** Whether one of the clients speaks 0.9. */
  readonly oldClient: boolean
  /** Older protocol versions, one for each client that speaks such a version. Empty in three of four plans. */
  readonly older: readonly Version[]
  /** Factor for the bytes that wait on a link: a high value makes the link narrow. */
  readonly weight: number
  /** One of this many disk ops ends a flush; the others answer reads. */
  readonly flushes: number
  /** The focus of the plan. Without one, rare events would hardly ever coincide. */
  readonly theme: Theme
  /** Whether a session exists at the start, and whether all clients are subscribed to it. */
  readonly setup: 'none' | 'unsubscribed' | 'subscribed'
  /**
   * Whether the host poses as a foreign one: it does not announce that resends are safe, and other messages overtake
   * its responses.
   */
  readonly foreignHost: boolean
  readonly ops: readonly Op[]
}

/** Relative frequency of each op in a plan that has no theme. */
const usual: { readonly [N in OpName]: number } = {
  deliver: 30,
  disk: 16,
  tick: 5,
  open: 7,
  cut: 4,
  halfOpen: 8,
  dispatch: 24,
  subscribe: 5,
  unsubscribe: 2,
  create: 5,
  dispose: 2,
  chat: 2,
  list: 2,
  fetch: 3,
  agent: 24,
  terminal: 5,
  crash: 3,
  backup: 1,
  restore: 1,
  stop: 1,
  full: 1,
  break: 1,
  // These ops are not drawn by their frequency: `withSeals`, `withRetention` and `withSecondHost` add them.
  seal: 0,
  retention: 0,
  secondHost: 0,
  // Only the theme `changes` has this op.
  change: 30,
}

const themes: readonly Theme[] = [
  'links',
  'links',
  'decisions',
  'turns',
  'windows',
  'lifecycle',
  'idle',
  'moves',
]

/** For each theme, factors on the usual frequencies. Ops that a theme names are never left out. */
const more: { readonly [T in Theme]: { readonly [N in OpName]?: number } } = {
  links: { cut: 2, open: 2, agent: 2, crash: 2, backup: 3, restore: 4 },
  turns: { agent: 2 },
  windows: { subscribe: 2, fetch: 4, cut: 2, open: 2 },
  lifecycle: { create: 4, dispose: 4, chat: 6, list: 3, terminal: 2 },
  idle: { tick: 4, terminal: 4, subscribe: 0, agent: 0 },
  decisions: {
    agent: 3,
    dispatch: 3,
    deliver: 3,
    disk: 4,
    crash: 1,
    open: 3,
    cut: 0.7,
    tick: 1,
    terminal: 3,
    create: 0.3,
    dispose: 0.3,
    halfOpen: 0.3,
    subscribe: 0.3,
    list: 0,
    fetch: 0,
    break: 0,
    full: 0,
    stop: 0.3,
  },
  changes: {
    agent: 3,
    deliver: 3,
    disk: 5,
    open: 4,
    cut: 0.5,
    crash: 1,
    chat: 3,
    terminal: 1,
    dispatch: 1,
    tick: 0.2,
    create: 0.2,
    dispose: 0.3,
    halfOpen: 0.3,
    subscribe: 0.3,
    stop: 1,
    list: 0,
    fetch: 0,
    break: 0,
    full: 0,
    // An older copy of the store may name captures that were deleted since.
    backup: 0,
    restore: 0,
    change: 2,
  },
  moves: {
    chat: 20,
    deliver: 3,
    disk: 4,
    cut: 0.5,
    open: 0.5,
    halfOpen: 0.5,
    dispatch: 0.3,
    dispose: 0.5,
    terminal: 2,
  },
}

/** Ops of every plan: without them nothing happens. */
const needed: readonly OpName[] = ['deliver', 'disk', 'open', 'dispatch', 'create', 'agent', 'subscribe']

/** Derives a plan from a seed. Each plan leaves some faults out, because too many at once hide one another. */
export function planOf(seed: number, length = 120): Plan {
  const chance = new Chance(seed)
  const theme = seed >= firstOfChanges ? 'changes' : (chance.pick(themes) ?? 'links')
  const weights = opNames.map((name) => {
    if (usual[name] === 0 || (name === 'change' && theme !== 'changes')) return 0
    const often = Math.round((more[theme][name] ?? 1) * usual[name])
    const left = !needed.includes(name) && more[theme][name] === undefined && chance.oneIn(3)
    return left ? 0 : often * (1 + chance.below(4))
  })
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  const ops = Array.from({ length }, () => ({
    name: drawn(weights, chance.below(whole)),
    dice: chance.next(),
  }))
  return {
    seed,
    clients: 2 + chance.below(3),
    headEvery: chance.pick([2, 5, 20]) ?? 5,
    tail: chance.pick([1, 2, 50]) ?? 50,
    oldClient: chance.oneIn(2) && theme !== 'changes',
    older: theme === 'changes' ? [] : olderOf(seed),
    theme,
    weight: chance.pick([1, 200, 2000]) ?? 1,
    flushes: chance.pick([2, 2, 6]) ?? 2,
    setup: setupOf(theme, chance),
    foreignHost: chance.oneIn(4),
    ops: withSecondHost(seed, withRetention(seed, withSeals(seed, ops))),
  }
}

/**
 * Adds a retention period to one of eight plans: days pass at random places, and the host forgets old actions, which
 * takes the disk some time. Like the seals, the retention has its own dice.
 */
function withRetention(seed: number, ops: readonly Op[]): readonly Op[] {
  const chance = new Chance(seed + 0x28f2)
  if (!chance.oneIn(8)) return ops
  const day = () =>
    ['retention' as const, ...Array.from({ length: 8 }, () => 'disk' as const)].map((name): Op => ({
      name,
      dice: chance.next(),
    }))
  return [...day(), ...ops.flatMap((op) => (chance.oneIn(8) ? [op, ...day()] : [op]))]
}

/**
 * Adds seals (compressions of old envelopes) to three of four plans, at random places. They have their own dice, so
 * that the rest of a plan does not depend on them.
 */
function withSeals(seed: number, ops: readonly Op[]): readonly Op[] {
  const chance = new Chance(seed + 0x5ea1)
  const every = chance.pick([0, 4, 10, 30]) ?? 0
  if (every === 0) return ops
  return ops.flatMap((op): Op[] => (chance.oneIn(every) ? [op, { name: 'seal', dice: chance.next() }] : [op]))
}

/**
 * Lets a second host act at random places of one of four plans with files, with dice of its own. It acts seldom: an undo leaves
 * what has changed since.
 */
function withSecondHost(seed: number, ops: readonly Op[]): readonly Op[] {
  if (!hasSecondHost(seed)) return ops
  const chance = new Chance(seed + 0x407e)
  return ops.flatMap((op): Op[] =>
    chance.oneIn(20) ? [op, { name: 'secondHost', dice: chance.next() }] : [op],
  )
}

/** Whether a second host works in the folder of a plan, from the first turns on. */
export function hasSecondHost(seed: number): boolean {
  return seed >= firstOfChanges && new Chance(seed + 0x207e).oneIn(4)
}

/**
 * Returns the versions of the older clients of a plan. Only one of four plans has such clients. They have their own
 * dice, so that the rest of the plan does not depend on them.
 */
function olderOf(seed: number): readonly Version[] {
  const chance = new Chance(seed + 0x01d)
  if (!chance.oneIn(4)) return []
  return Array.from({ length: 1 + chance.below(3) }, () => chance.pick(olderVersions) ?? '0.1.0')
}

const olderVersions: readonly Version[] = ['0.1.0', '0.4.0', '0.6.0']

function setupOf(theme: Theme, chance: Chance): Plan['setup'] {
  if (theme === 'idle') return 'unsubscribed'
  return ['windows', 'moves', 'decisions', 'changes'].includes(theme)
    ? 'subscribed'
    : (chance.pick(['none', 'unsubscribed', 'subscribed', 'subscribed']) ?? 'none')
}

function drawn(weights: readonly number[], at: number): OpName {
  let left = at
  const found = weights.findIndex((weight) => (left -= weight) < 0)
  return opNames[found] ?? 'deliver'
}
